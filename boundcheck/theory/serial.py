"""Statements and expressions as JSON: every expression a tree of operations, so that nothing is ever parsed as code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

import sympy as sp

from boundcheck.core.numbers import LONG_TEXT, format_exact, parse_number
from boundcheck.errors import BadInput
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.declarations import Algorithm, Belief, Kind, Metric, Source
from boundcheck.theory.paper import Paper
from boundcheck.theory.records import (
    DIMENSION,
    LIST,
    PLAIN,
    SYMBOL,
    Field,
    Form,
    optional,
    plain,
    rare,
    record,
    several,
    word,
)
from boundcheck.theory.relations import Condition

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


_EXPR = Form(expr_to_json, expr_from_json)
_PAIRS = several(Form(lambda pair: [pair[0], expr_to_json(pair[1])], lambda pair: (pair[0], expr_from_json(pair[1]))))
_PAPER = record(Paper, *plain("title"), Field("authors", LIST), *plain("year", "venue", "kind", "doi", "arxiv"))
_SOURCE = record(Source, Field("paper", _PAPER), *plain("number", "where"))
_METRIC = record(
    Metric,
    *plain("quantity", "index", "average", "expectation", "surrogate"),
    Field("dimension", optional(DIMENSION)),
    Field("rounds", _EXPR),
    Field("scale", _EXPR),
    Field("weights", optional(_EXPR)),
    rare("with_last", PLAIN),
    rare("measured", PLAIN),
    rare("value", _EXPR),
    rare("where", _PAIRS),
    rare("meets", LIST),
)
_ALGORITHM = record(
    Algorithm, *plain("kind"), Field("parameters", LIST), Field("steps", _PAIRS), rare("any_value", LIST)
)
_CONDITION = record(
    Condition, *plain("name"), Field("relation", _EXPR), *plain("meaning"), Field("vacuity", PLAIN, needed=False)
)
_ASSUMPTION = record(Assumption, *plain("name", "meaning"), Field("inequality", optional(_EXPR)))


def _statement(make: Callable[..., T]) -> Form:
    return record(
        make,
        *plain("reading", "title", "replaces", "why", "remark", "name", "id"),
        Field("source", _SOURCE),
        Field("kind", word(Kind)),
        Field("belief", word(Belief)),
        Field("symbols", several(SYMBOL)),
        Field("metric", _METRIC),
        Field("bound", _EXPR),
        *plain("any_method"),
        Field("algorithm", optional(_ALGORITHM)),
        Field("domain", several(_EXPR)),
        Field("conditions", several(_CONDITION)),
        Field("assumptions", several(_ASSUMPTION)),
        Field("trivial", optional(_EXPR)),
        Field("printed_rate", optional(_EXPR)),
        Field("choices", _PAIRS),
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
