"""Statements and expressions as JSON: every expression a tree of operations, so that nothing is ever parsed as code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import sympy as sp

from boundcheck.core.numbers import LONG_TEXT, format_exact, parse_number
from boundcheck.errors import BadInput
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.declarations import Algorithm, Belief, Kind, Metric, Source
from boundcheck.theory.dimension import Dimension
from boundcheck.theory.paper import Paper
from boundcheck.theory.relations import Condition
from boundcheck.theory.symbols import Symbol

SCHEMA = 1
T = TypeVar("T")

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": sp.Add,
    "*": sp.Mul,
    "^": sp.Pow,
    "min": sp.Min,
    "max": sp.Max,
    "abs": sp.Abs,
    "exp": sp.exp,
    "log": sp.log,
    "floor": sp.floor,
    "ceiling": sp.ceiling,
    "<=": sp.Le,
    "<": sp.Lt,
    ">=": sp.Ge,
    ">": sp.Gt,
    "=": sp.Eq,
    "!=": sp.Ne,
}
_NAMES = {operation: name for name, operation in _OPERATIONS.items()}
_CONSTANTS: dict[str, Any] = {"oo": sp.oo, "-oo": -sp.oo, "pi": sp.pi, "e": sp.E}
_CONSTANT_NAMES = {value: name for name, value in _CONSTANTS.items()}
_ONE_ARGUMENT = ("abs", "exp", "log", "floor", "ceiling")
_TWO_ARGUMENTS = ("^", "<=", "<", ">=", ">", "=", "!=")


def expr_to_json(expr: Any) -> Any:
    """A number as text ("1/3", of any length), a symbol as {"symbol": name}, pi, e and oo as {"constant": name}, and
    everything else as [operation, ...].

    Raises BadInput for a floating number or a function that statements do not use.
    """
    if expr.is_Rational:
        return format_exact(Fraction(int(expr.p), int(expr.q)))
    if expr.is_Symbol:
        return {"symbol": expr.name}
    if expr in _CONSTANT_NAMES:
        return {"constant": _CONSTANT_NAMES[expr]}
    name = _NAMES.get(expr.func)
    if name is None:
        raise BadInput(f"{expr} cannot be written as JSON: {expr.func.__name__} is not used in statements.")
    args = expr.args if name in (*_ONE_ARGUMENT, *_TWO_ARGUMENTS) else sorted(expr.args, key=sp.default_sort_key)
    return [name, *(expr_to_json(a) for a in args)]


def expr_from_json(data: Any) -> Any:
    """Inverse of `expr_to_json`. Raises BadInput naming the part that is malformed."""
    if isinstance(data, str):
        value = parse_number(data, "an expression's number", max_text=LONG_TEXT)
        return sp.Rational(value.numerator, value.denominator)
    if isinstance(data, dict) and len(data) == 1:
        name = data.get("symbol")
        if isinstance(name, str) and name:
            return sp.Symbol(name, real=True)
        constant = data.get("constant")
        if isinstance(constant, str) and constant in _CONSTANTS:
            return _CONSTANTS[constant]
    if isinstance(data, list) and data and isinstance(data[0], str) and data[0] in _OPERATIONS:
        name, args = data[0], [expr_from_json(a) for a in data[1:]]
        wanted = 1 if name in _ONE_ARGUMENT else 2 if name in _TWO_ARGUMENTS else None
        if args and wanted in (None, len(args)):
            return _OPERATIONS[name](*args)
    raise BadInput(f"{str(data)[:60]} is no expression; write a number, a symbol, a constant or [operation, ...].")


class _Form(NamedTuple):
    """How a value is written and read."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


@dataclass(frozen=True)
class _Field:
    """A field under its own name. written: also where it is empty; needed: reading without it is an error."""

    name: str
    form: _Form
    written: bool = True
    needed: bool = True


def _same(value: Any) -> Any:
    return value


def _is_empty(value: Any) -> bool:
    return value is None or value is False or value == ()


def _optional(form: _Form) -> _Form:
    def through(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda value: None if value is None else convert(value)

    return _Form(through(form.write), through(form.read))


def _several(form: _Form) -> _Form:
    return _Form(lambda found: [form.write(v) for v in found], lambda found: tuple(form.read(v) for v in found))


def _word(words: type[StrEnum]) -> _Form:
    return _Form(lambda word: word.value, words)


def _record(make: Callable[..., Any], *parts: _Field) -> _Form:
    """An object of these fields as a table."""

    def write(value: Any) -> dict[str, Any]:
        found = {part: getattr(value, part.name) for part in parts}
        return {part.name: part.form.write(own) for part, own in found.items() if part.written or not _is_empty(own)}

    def read(data: Mapping[str, Any]) -> Any:
        own = {part.name: part.form.read(data[part.name]) for part in parts if part.needed or part.name in data}
        return make(**own)

    return _Form(write, read)


def _plain(*names: str) -> tuple[_Field, ...]:
    return tuple(_Field(name, _PLAIN) for name in names)


def _rare(name: str, form: _Form) -> _Field:
    return _Field(name, form, written=False, needed=False)


_PLAIN = _Form(_same, _same)
_LIST = _several(_PLAIN)
_EXPR = _Form(expr_to_json, expr_from_json)
_PAIRS = _several(_Form(lambda pair: [pair[0], expr_to_json(pair[1])], lambda pair: (pair[0], expr_from_json(pair[1]))))
_END = _optional(_Form(format_exact, lambda text: parse_number(text, "an end of a domain", max_text=LONG_TEXT)))
_DIMENSION = _Form(
    lambda value: {name: format_exact(power) for name, power in asdict(value).items()},
    lambda found: Dimension(**{name: parse_number(power, name) for name, power in found.items()}),
)
_PAPER = _record(Paper, *_plain("title"), _Field("authors", _LIST), *_plain("year", "venue", "kind", "doi", "arxiv"))
_SOURCE = _record(Source, _Field("paper", _PAPER), *_plain("number", "where"))
_SYMBOL = _record(
    Symbol,
    *_plain("name", "meaning", "integer", "low_open", "high_open", "index", "latex", "key"),
    _rare("free", _PLAIN),
    _Field("dimension", _DIMENSION),
    _Field("low", _END),
    _Field("high", _END),
)
_METRIC = _record(
    Metric,
    *_plain("quantity", "index", "average", "expectation", "surrogate"),
    _Field("dimension", _optional(_DIMENSION)),
    _Field("rounds", _EXPR),
    _Field("scale", _EXPR),
    _Field("weights", _optional(_EXPR)),
    _rare("with_last", _PLAIN),
    _rare("measured", _PLAIN),
    _rare("value", _EXPR),
    _rare("where", _PAIRS),
    _rare("meets", _LIST),
)
_ALGORITHM = _record(
    Algorithm, *_plain("kind"), _Field("parameters", _LIST), _Field("steps", _PAIRS), _rare("any_value", _LIST)
)
_CONDITION = _record(
    Condition, *_plain("name"), _Field("relation", _EXPR), *_plain("meaning"), _Field("vacuity", _PLAIN, needed=False)
)
_ASSUMPTION = _record(Assumption, *_plain("name", "meaning"), _Field("inequality", _optional(_EXPR)))


def _statement(make: Callable[..., T]) -> _Form:
    return _record(
        make,
        *_plain("reading", "title", "replaces", "why", "remark", "name", "id"),
        _Field("source", _SOURCE),
        _Field("kind", _word(Kind)),
        _Field("belief", _word(Belief)),
        _Field("symbols", _several(_SYMBOL)),
        _Field("metric", _METRIC),
        _Field("bound", _EXPR),
        *_plain("any_method"),
        _Field("algorithm", _optional(_ALGORITHM)),
        _Field("domain", _several(_EXPR)),
        _Field("conditions", _several(_CONDITION)),
        _Field("assumptions", _several(_ASSUMPTION)),
        _Field("trivial", _optional(_EXPR)),
        _Field("printed_rate", _optional(_EXPR)),
        _Field("choices", _PAIRS),
    )


def statement_to_dict(statement: Any) -> dict[str, Any]:
    """A JSON-able form of the whole statement."""
    return {"schema": SCHEMA, **_statement(dict).write(statement)}


def statement_from_dict(data: Mapping[str, Any], make: Callable[..., T]) -> T:
    """Inverse of `statement_to_dict`: an equal statement, with all its checks made again. make: the class.

    Raises BadInput for another schema, a field that is missing or has another form.
    """
    if data.get("schema") != SCHEMA:
        raise BadInput(f"the statement has schema {data.get('schema')}; this version reads schema {SCHEMA}.")
    try:
        return _statement(make).read(data)
    except BadInput:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadInput(f"the statement's JSON form is not as written by to_dict(): {error!r}.") from error
