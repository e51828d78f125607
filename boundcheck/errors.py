"""Every error that boundcheck raises on purpose.

Each message is one sentence for the user: which statement or file, which quantity, which value,
what is allowed. `exit_code` is what the command line returns for it.
"""

from __future__ import annotations

import difflib
from collections.abc import Generator, Iterable
from contextlib import contextmanager

__all__ = [
    "BadInput",
    "BoundcheckError",
    "DataNotFetched",
    "MissingExtra",
    "Mistakes",
    "SpecError",
    "StoreError",
    "UnknownName",
    "Unsupported",
    "nearest",
]


class BoundcheckError(Exception):
    """Base of all deliberate errors; never raised itself."""

    exit_code = 2


class BadInput(BoundcheckError, ValueError):
    """A value outside what its declaration allows, or text that does not parse."""


class UnknownName(BadInput, LookupError):
    """A name that does not exist; the message lists the nearest ones."""

    def __init__(self, what: str, name: object, known: Iterable[str]) -> None:
        self.name = str(name)  # users write numbers, too, where a name is asked for
        self.known = tuple(known)
        self.what = what
        hint = nearest(self.name, self.known)
        super().__init__(f"{what} '{self.name}' is unknown{hint}" + ("" if hint.endswith("?") else "."))

    def __reduce__(self) -> tuple[object, ...]:
        return (UnknownName, (self.what, self.name, self.known))


class SpecError(BadInput):
    """A specification file with mistakes; holds all of them, each with its line (0: unknown)."""

    def __init__(self, path: str, problems: Iterable[tuple[int, str]]) -> None:
        self.path = path
        self.problems = tuple(sorted(problems))
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


def nearest(name: object, known: Iterable[str], limit: int = 3) -> str:
    """A clause such as "; did you mean 'mu'?" with the nearest known names, or what is known."""
    names = list(known)
    close = difflib.get_close_matches(str(name), names, n=limit, cutoff=0.5)
    if close:
        return "; did you mean " + " or ".join(f"'{c}'" for c in close) + "?"
    if names and len(names) <= 12:
        return "; known: " + ", ".join(names)
    return ""
