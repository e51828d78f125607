"""The statements in canonical form, one function a field: another way of writing statements changes these alone.

Bounds, conditions, domains and choices of step sizes are held by the values in `tests/papers/values`. A formula that
remains becomes a tree of its operations with sorted arguments, so the order of symbols and terms does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.theory.discovery import all_statements
from boundcheck.theory.statement import Statement
from boundcheck.theory.symbols import Symbol
from tests.oracle.frozen import digest

_SWAPPED = {sp.Ge: sp.Le, sp.Gt: sp.Lt}
_SORTED = (sp.Add, sp.Mul, sp.Min, sp.Max, sp.Eq, sp.Ne)


def tree(expr: Any) -> Any:
    """The tree of an expression; None for no expression."""
    if expr is None:
        return None
    expr = sp.sympify(expr)
    if expr.is_Atom:
        return str(expr)
    if type(expr) in _SWAPPED:
        left, right = expr.args
        return tree(_SWAPPED[type(expr)](right, left, evaluate=False))
    parts = [tree(part) for part in expr.args]
    if isinstance(expr, _SORTED):
        parts.sort(key=repr)
    return [type(expr).__name__, *parts]


def _number(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


def _dimension(value: Any) -> dict[str, str] | None:
    return None if value is None else {f.name: str(getattr(value, f.name)) for f in fields(value)}


def _listed(parts: list[Any]) -> list[Any]:
    return sorted(parts, key=repr)


# --- one function a field ---
def assumptions(s: Statement) -> Any:
    return _listed([[a.name, tree(a.inequality)] for a in s.assumptions])


def _symbol(symbol: Symbol) -> dict[str, Any]:
    return {
        "name": symbol.name,
        "dimension": _dimension(symbol.dimension),
        "integer": symbol.integer,
        "low": [_number(symbol.low), symbol.low_open],
        "high": [_number(symbol.high), symbol.high_open],
        "index": symbol.index,
        "free": symbol.free,
    }


def symbols(s: Statement) -> Any:
    return _listed([_symbol(symbol) for symbol in s.symbols])


def constants(s: Statement) -> Any:
    """The key of the constant from which each symbol takes its value; empty for one that the user gives."""
    return _listed([[symbol.name, symbol.key] for symbol in s.symbols])


def metric(s: Statement) -> Any:
    m = s.metric
    return {
        "quantity": m.quantity,
        "dimension": _dimension(m.dimension),
        "index": m.index,
        "rounds": tree(m.rounds),
        "scale": tree(m.scale),
        "average": m.average,
        "weights": tree(m.weights),
        "surrogate": m.surrogate,
        **({} if m.value is None else {"value": tree(m.value), "where": {n: tree(e) for n, e in m.where}}),
    }


def algorithm(s: Statement) -> Any:
    return (
        None
        if s.algorithm is None
        else [
            s.algorithm.kind,
            sorted(s.algorithm.parameters),
            _listed([[name, tree(size)] for name, size in s.algorithm.steps]),
        ]
    )


def words(s: Statement) -> Any:
    return {
        "texts": [s.title, s.remark, s.replaces, s.why],
        "source": [str(s.source.paper), s.source.number, s.source.where],
        "expectation": s.metric.expectation,
        "symbols": _listed([[symbol.name, symbol.meaning, symbol.latex] for symbol in s.symbols]),
        "conditions": _listed([[c.name, c.meaning] for c in s.conditions]),
        "assumptions": _listed([[a.name, a.meaning] for a in s.assumptions]),
    }


DIGESTED: tuple[Callable[[Statement], Any], ...] = (assumptions, symbols, constants, metric, words)


def described() -> dict[str, dict[str, Any]]:
    """Full id -> field -> digest or value, of every reading of every shipped statement."""
    found: dict[str, dict[str, Any]] = {}
    best: set[str] = set()
    for s in all_statements():
        name = s.id.rpartition("/")[0]
        found[s.id] = {
            **{field.__name__: digest(field(s)) for field in DIGESTED},
            "algorithm": algorithm(s),
            "kind": s.kind.value,
            "belief": s.belief.value,
            "best": name not in best,  # the first of its readings is what a bare id means
        }
        best.add(name)
    return found
