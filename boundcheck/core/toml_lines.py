"""TOML files whose mistakes can be named by line: reading them and finding the line of every key.

`tomllib` reads the values and refuses what is no TOML; the scanner below then walks the same text, which
is known to be valid, only to note on which line each key and each array element stands.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from boundcheck.core.places import reason
from boundcheck.errors import BadInput, SpecError, hidden_character, shown

KeyPath = tuple[str | int, ...]

MAX_BYTES = 5_000_000
MAX_DEPTH = 32  # names of a dotted key; readers of TOML take the square of it in time
MAX_BITS = 13_288  # of an integer: 4000 decimal digits, as of a number in text (`core.numbers`)
_TOO_LONG = "a number has too many digits to be read; write it as text or with an exponent."


@dataclass(frozen=True)
class TomlFile:
    """A TOML file as read: where it came from, its values, and the line of each key path (1 is the first line)."""

    path: str
    data: dict[str, Any]
    lines: dict[KeyPath, int] = field(repr=False)

    def line_of(self, keypath: KeyPath) -> int:
        """The line where `keypath` stands, or its nearest table that has one; 0 for the file as a whole.

        A key path alternates names and indices: ("claim", 2, "method", "eta").
        """
        for end in range(len(keypath), 0, -1):
            line = self.lines.get(tuple(keypath[:end]))
            if line is not None:
                return line
        return 0

    def at(self, keypath: KeyPath) -> Any:
        """The value at `keypath`; KeyError or IndexError if there is none."""
        value: Any = self.data
        for part in keypath:
            value = value[part]
        return value


def load_toml(path: Path | str, parse_float: Callable[[str], Any] = float) -> TomlFile:
    """Reads a TOML file (UTF-8, at most 5 MB); `parse_float` gets the text of each float.

    Raises BadInput where there is no such file or it cannot be read, SpecError with the line where it is
    no TOML or no UTF-8.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise BadInput(f"the file {path} does not exist.") from error
    except IsADirectoryError as error:
        raise BadInput(f"{path} is a folder; a TOML file is needed.") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise BadInput(f"the file {path} cannot be read: {why}.") from error
    if len(content) > MAX_BYTES:
        raise BadInput(f"the file {path} is larger than {MAX_BYTES // 10**6} MB, the most that is read.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"the byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8."
        raise SpecError(str(path), [(line, problem)]) from error
    return parse_toml(text, str(path), parse_float)


def parse_toml(text: str, name: str = "<text>", parse_float: Callable[[str], Any] = float) -> TomlFile:
    """Like `load_toml`, for text that is already here; `name` stands for the file in messages."""
    text = text.replace("\r\n", "\n")
    deep = _DEEP_KEY.search(_STRING_OR_COMMENT.sub(_flat, text))
    if deep is not None:
        reason = f"a key has more than {MAX_DEPTH} names joined by dots, the most that is read."
        raise SpecError(name, [(text.count("\n", 0, deep.start()) + 1, reason)])
    try:
        data = tomllib.loads(text, parse_float=parse_float)
        file = TomlFile(name, data, _Scanner(text).lines)
    except RecursionError as error:
        raise SpecError(name, [(0, "the values are nested too deeply to be read.")]) from error
    except ValueError as error:  # TOMLDecodeError, and integers of thousands of digits
        raise SpecError(name, [_toml_problem(str(error), text)]) from error
    # decimal integers of more than 4300 digits are refused above; hexadecimal ones of that size are not
    problems = [(file.line_of(place), why) for place, value in _parts(data, ()) if (why := _unreadable(value))]
    if problems:
        raise SpecError(name, problems)
    return file


def _parts(value: Any, place: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    """Every key, and every value that is neither table nor list, with its key path."""
    if isinstance(value, dict):
        for key, member in cast("dict[str, Any]", value).items():
            yield (*place, key), key
            yield from _parts(member, (*place, key))
    elif isinstance(value, list):
        for index, member in enumerate(cast("list[Any]", value)):
            yield from _parts(member, (*place, index))
    else:
        yield place, value


def _unreadable(value: Any) -> str:
    """Why a key or value is refused; '' where it is not."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return _TOO_LONG
    hidden = hidden_character(value) if isinstance(value, str) else ""
    return f"the text has the hidden character {hidden}; remove it." if hidden else ""


def _toml_problem(message: str, text: str) -> tuple[int, str]:
    match = re.fullmatch(r"(.*) \((?:at line (\d+), column (\d+)|at end of document)\)", message, re.DOTALL)
    if match is None:  # Python's limit of digits; no statement of the file can be that long otherwise
        digits = re.search(r"[0-9][0-9_]{500,}", text)
        line = 0 if digits is None else text.count("\n", 0, digits.start()) + 1
        return line, _TOO_LONG
    said = match[1][:1].lower() + match[1][1:]
    if match[2] is None:
        return max(text.count("\n", 0, len(text.rstrip())) + 1, 1), f"{said}, at the end of the file."
    line = text.split("\n")[int(match[2]) - 1]
    return int(match[2]), f"{said}, at column {match[3]} of: {shown(line)}"


_SPACE = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}\n#]+")
_STRING = re.compile(
    r'''"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}'''  # up to two quotes may stand before the closing three
    r"""|'''(?:[^']|'{1,2}(?!'))*'{3,5}"""
    r'''|"(?:[^"\\\n]|\\.)*"'''
    r"""|'[^'\n]*'""",
    re.DOTALL,
)


_STRING_OR_COMMENT = re.compile(rf"{_STRING.pattern}|#[^\n]*", re.DOTALL)
_DEEP_KEY = re.compile(rf"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]+(?:[ \t]*\.[ \t]*[A-Za-z0-9_-]+){{{MAX_DEPTH}}}")


def _flat(found: re.Match[str]) -> str:
    """A name or blanks in place of a string or comment, with as many characters and the same lines."""
    return re.sub(r"[^\n]", " " if found[0][0] == "#" else "q", found[0])


class _Scanner:
    """Walks valid TOML and notes in `lines` where each key path begins."""

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._text = text
        self._at = 0
        self._breaks = [match.start() for match in re.finditer("\n", text)]
        self._tables: dict[KeyPath, int] = {}  # how many [[tables]] each array has so far
        table: KeyPath = ()
        while self._next():
            if self._text.startswith("[[", self._at):
                table = self._header(2)
            elif self._text.startswith("[", self._at):
                table = self._header(1)
            else:
                self._assignment(table)

    def _line(self) -> int:
        return bisect_left(self._breaks, self._at) + 1

    def _next(self) -> str:
        """Skips space and comments; the character that follows, or nothing at the end."""
        self._skip(_SPACE)
        return self._text[self._at : self._at + 1]

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        found = "" if match is None else match[0]
        self._at += len(found)
        return found

    def _key(self) -> list[str]:
        names: list[str] = []
        while True:
            if self._next() in ('"', "'"):
                quoted = self._skip(_STRING)
                names.append(tomllib.loads(f"key = {quoted}")["key"] if "\\" in quoted else quoted[1:-1])
            else:
                names.append(self._skip(_BARE_KEY))
            if self._next() != ".":
                return names
            self._at += 1

    def _header(self, brackets: int) -> KeyPath:
        line = self._line()
        self._at += brackets
        *above, last = self._key()
        self._next()
        self._at += brackets
        path: KeyPath = ()
        for name in above:
            path = (*path, name)
            self.lines.setdefault(path, line)
            if path in self._tables:
                path = (*path, self._tables[path] - 1)
        path = (*path, last)
        if brackets == 2:
            self.lines.setdefault(path, line)
            count = self._tables.get(path, 0)
            self._tables[path] = count + 1
            path = (*path, count)
        self.lines[path] = line  # also where [a.b] has stood before [a]
        return path

    def _assignment(self, table: KeyPath) -> None:
        line = self._line()
        path = table
        for name in self._key():
            path = (*path, name)
            self.lines.setdefault(path, line)
        self._at += 1  # the equals sign
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        first = self._next()
        if first in ('"', "'"):
            self._skip(_STRING)
        elif first == "[":
            self._at += 1
            index = 0
            while self._next() != "]":
                self.lines[(*path, index)] = self._line()
                self._value((*path, index))
                index += 1
                if self._next() == ",":
                    self._at += 1
            self._at += 1
        elif first == "{":
            self._at += 1
            while self._next() != "}":
                self._assignment(path)
                if self._next() == ",":
                    self._at += 1
            self._at += 1
        else:
            self._skip(_SCALAR)
