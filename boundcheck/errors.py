"""Every error that boundcheck raises on purpose.

Each message is one sentence for the user: which statement or file, which quantity, which value,
what is allowed. `exit_code` is what the command line returns for it. Values that users wrote are quoted with `shown`;
`shortened`, which every message passes, cuts what is long all the same.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager

LONGEST_VALUE = 60  # characters of a value that a message quotes
LONGEST_WORD = 240  # characters of a message without a space: room for a path
LONGEST_LINE = 2500  # characters of one line of a message: room for the list of a paper's statements


class BoundcheckError(Exception):
    """Base of all deliberate errors; never raised itself."""

    exit_code = 2

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(shortened(a) if isinstance(a, str) else a for a in arguments))


class BadInput(BoundcheckError, ValueError):
    """A value outside what its declaration allows, or text that does not parse."""


class UnknownName(BadInput, LookupError):
    """A name that does not exist; the message lists the nearest ones."""

    def __init__(self, what: str, name: object, known: Iterable[str]) -> None:
        self.name = name if isinstance(name, str) else shown(name)  # users write numbers, too, where a name is due
        self.known = tuple(known)
        self.what = what
        hint = nearest(self.name, self.known)
        super().__init__(f"{what} '{shown(name)}' is unknown{hint}" + ("" if hint.endswith("?") else "."))

    def __reduce__(self) -> tuple[object, ...]:
        return (UnknownName, (self.what, self.name, self.known))


class SpecError(BadInput):
    """A specification file with mistakes; holds all of them, each with its line (0: unknown)."""

    def __init__(self, path: str, problems: Iterable[tuple[int, str]]) -> None:
        self.path = path
        self.problems = tuple(sorted((line, shortened(text)) for line, text in problems))
        lines = [f"{path}:{line}: {text}" if line else f"{path}: {text}" for line, text in self.problems]
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[object, ...]:
        return (SpecError, (self.path, self.problems))


class DataNotFetched(BadInput, FileNotFoundError):
    """A data set that is not on this machine; the message names the command that fetches it."""

    def __str__(self) -> str:  # FileNotFoundError would print errno decorations
        return str(self.args[0])


class MissingExtra(BoundcheckError, ImportError):
    """An optional dependency is absent; the message names the command that installs it."""


class StoreError(BoundcheckError, OSError):
    """The result store cannot be written or read (full disk, permissions)."""

    def __str__(self) -> str:
        return str(self.args[0])


class WorkerLost(BoundcheckError):
    """The process that worked on an item was ended from outside, twice."""


class Unsupported(BoundcheckError, TypeError):
    """An engine or engine mode cannot carry this method or problem; the message names one that can."""


class Mistakes:
    """Errors that are collected, so that one of them does not hide the others."""

    def __init__(self) -> None:
        self.errors: list[BoundcheckError] = []

    @contextmanager
    def noting(self) -> Generator[None]:
        """Keeps an error that is raised inside."""
        try:
            yield
        except BoundcheckError as error:
            if str(error) not in [str(e) for e in self.errors]:
                self.errors.append(error)

    def raise_all(self) -> None:
        """Raises a single error as it is, several as one BadInput with a sentence for each; nothing where none is."""
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            raise BadInput(" ".join(str(e) for e in self.errors))


# characters that no name needs and that change how the text around them reads: controls, marks of writing direction,
# characters without width, line separators, tags
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)


def escaped(text: str) -> str:
    """The text with hidden characters, such as U+202E, written as their numbers."""
    return _HIDDEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def hidden_character(text: str) -> str:
    """The first hidden character of a text, such as "U+202E"; empty without one. Tabs and line breaks are none."""
    match = _HIDDEN.search(text)
    return "" if match is None else f"U+{ord(match[0]):04X}"


def nearest(name: object, known: Iterable[str], limit: int = 3) -> str:
    """A clause such as "; did you mean 'mu'?" with the nearest known names, or what is known."""
    names = list(known)
    close = difflib.get_close_matches(shown(name), names, n=limit, cutoff=0.5)
    if close:
        return "; did you mean " + " or ".join(f"'{c}'" for c in close) + "?"
    if names and len(names) <= 12:
        return "; known: " + ", ".join(names)
    return ""


def shown(value: object, most: int = LONGEST_VALUE) -> str:
    """A value that a user wrote, on one line of at most `most` characters; text as it is, anything else as its repr."""
    try:
        text = value if isinstance(value, str) else repr(value)
    except (ValueError, RecursionError):  # integers of more digits than Python prints, lists inside themselves
        text = f"a value of type {type(value).__name__} that is too long to be shown"
    return _cut(escaped(" ".join(text.split())), most, 0)


def shortened(message: str) -> str:
    """The message with its long words and long lines cut in the middle; a message of usual length as it is."""
    if len(message) <= LONGEST_WORD:
        return message
    lines = (re.sub(rf"\S{{{LONGEST_WORD + 1},}}", _short_word, line) for line in message.split("\n"))
    return "\n".join(_cut(line, LONGEST_LINE, LONGEST_LINE // 3) for line in lines)


def _short_word(match: re.Match[str]) -> str:
    return _cut(match[0], LONGEST_WORD, LONGEST_WORD // 3)


def _cut(text: str, most: int, end: int) -> str:
    """At most `most` characters of a text, `end` of them its last ones."""
    if len(text) <= most:
        return text
    return f"{text[: most - end - 3]}...{text[len(text) - end :]}"
