"""Records as JSON: how each field of an object is written and read, without SymPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from boundcheck.core.numbers import LONG_TEXT, format_exact, parse_number
from boundcheck.theory.dimension import Dimension
from boundcheck.theory.symbols import Symbol


class Form(NamedTuple):
    """How a value is written and read."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


@dataclass(frozen=True)
class Field:
    """A field under its own name. written: also where it is empty; needed: reading without it is an error."""

    name: str
    form: Form
    written: bool = True
    needed: bool = True


def _same(value: Any) -> Any:
    return value


def _is_empty(value: Any) -> bool:
    return value is None or value is False or value == ()


def optional(form: Form) -> Form:
    """A value of this form, or None."""

    def through(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda value: None if value is None else convert(value)

    return Form(through(form.write), through(form.read))


def several(form: Form) -> Form:
    """A tuple of values of this form."""
    return Form(lambda found: [form.write(v) for v in found], lambda found: tuple(form.read(v) for v in found))


def word(words: type[StrEnum]) -> Form:
    """One of these words."""
    return Form(lambda own: own.value, words)


def record(make: Callable[..., Any], *parts: Field) -> Form:
    """An object of these fields as a table."""

    def write(value: Any) -> dict[str, Any]:
        found = {part: getattr(value, part.name) for part in parts}
        return {part.name: part.form.write(own) for part, own in found.items() if part.written or not _is_empty(own)}

    def read(data: Mapping[str, Any]) -> Any:
        own = {part.name: part.form.read(data[part.name]) for part in parts if part.needed or part.name in data}
        return make(**own)

    return Form(write, read)


def plain(*names: str) -> tuple[Field, ...]:
    """Fields of text, whole numbers and truth values."""
    return tuple(Field(name, PLAIN) for name in names)


def rare(name: str, form: Form) -> Field:
    """A field that is left out where it is empty."""
    return Field(name, form, written=False, needed=False)


PLAIN = Form(_same, _same)
LIST = several(PLAIN)
END = optional(Form(format_exact, lambda text: parse_number(text, "an end of a domain", max_text=LONG_TEXT)))
DIMENSION = Form(
    lambda value: {name: format_exact(power) for name, power in asdict(value).items()},
    lambda found: Dimension(**{name: parse_number(power, name) for name, power in found.items()}),
)
SYMBOL = record(
    Symbol,
    *plain("name", "meaning", "integer", "low_open", "high_open", "index", "latex", "key"),
    rare("free", PLAIN),
    Field("dimension", DIMENSION),
    Field("low", END),
    Field("high", END),
)
