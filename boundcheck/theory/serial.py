"""Statements and expressions as JSON: every expression a tree of operations, so that nothing is ever parsed as code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp

from boundcheck.core.numbers import LONG_TEXT, format_exact, parse_number
from boundcheck.errors import BadInput
from boundcheck.theory.dimension import Dimension

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement


SCHEMA = 1

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


def optional(write: Callable[[Any], Any], value: Any) -> Any:
    """The written value; None for None."""
    return None if value is None else write(value)


def _fraction_text(value: Fraction | None) -> str | None:
    return None if value is None else format_exact(value)


def _dimension(value: Dimension) -> dict[str, str]:
    return {f.name: format_exact(getattr(value, f.name)) for f in fields(Dimension)}


def _plain(value: Any, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


TEXTS = ("reading", "title", "replaces", "why", "remark", "name", "id")
SYMBOL_FIELDS = ("name", "meaning", "integer", "low_open", "high_open", "index", "latex", "key")
METRIC_FIELDS = ("quantity", "index", "average", "expectation", "surrogate")


def statement_to_dict(statement: Statement) -> dict[str, Any]:
    """A JSON-able form of the whole statement."""
    metric, algorithm = statement.metric, statement.algorithm
    return {
        "schema": SCHEMA,
        **_plain(statement, TEXTS),
        "source": {"paper": asdict(statement.source.paper), **_plain(statement.source, ("number", "where"))},
        "kind": statement.kind.value,
        "belief": statement.belief.value,
        "symbols": [
            {
                **_plain(s, SYMBOL_FIELDS),
                **({"free": True} if s.free else {}),
                "dimension": _dimension(s.dimension),
                "low": _fraction_text(s.low),
                "high": _fraction_text(s.high),
            }
            for s in statement.symbols
        ],
        "metric": {
            **_plain(metric, METRIC_FIELDS),
            "dimension": optional(_dimension, metric.dimension),
            "rounds": expr_to_json(metric.rounds),
            "scale": expr_to_json(metric.scale),
            "weights": optional(expr_to_json, metric.weights),
            **{name: True for name in ("with_last", "measured") if getattr(metric, name)},
            **({} if metric.value is None else {"value": expr_to_json(metric.value)}),
            **({"where": [[name, expr_to_json(expr)] for name, expr in metric.where]} if metric.where else {}),
            **({"meets": list(metric.meets)} if metric.meets else {}),
        },
        "bound": expr_to_json(statement.bound),
        "any_method": statement.any_method,
        "algorithm": None
        if algorithm is None
        else {
            "kind": algorithm.kind,
            "parameters": list(algorithm.parameters),
            "steps": [[n, expr_to_json(e)] for n, e in algorithm.steps],
            **({"any_value": list(algorithm.any_value)} if algorithm.any_value else {}),
        },
        "domain": [expr_to_json(r) for r in statement.domain],
        "conditions": [
            {"name": c.name, "relation": expr_to_json(c.relation), "meaning": c.meaning, "vacuity": c.vacuity}
            for c in statement.conditions
        ],
        "assumptions": [
            {"name": a.name, "meaning": a.meaning, "inequality": optional(expr_to_json, a.inequality)}
            for a in statement.assumptions
        ],
        "trivial": optional(expr_to_json, statement.trivial),
        "printed_rate": optional(expr_to_json, statement.printed_rate),
        "choices": [[name, expr_to_json(expr)] for name, expr in statement.choices],
    }
