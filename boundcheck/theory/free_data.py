"""Claims about numbers: a metric with a value of its own, in symbols that are free within their domains."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.theory.choices import prescribed
from boundcheck.theory.scope import check_domain, read_needed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boundcheck.theory.statement import Statement


def about_numbers(statement: Statement) -> bool:
    """Whether both sides of the claim are expressions, so that it is compared without a run."""
    return statement.metric.value is not None


def in_free_data(statement: Statement) -> Statement:
    """The same claim with the symbols of `metric.where` replaced by what they are in terms of the others.

    The domains of the replaced symbols become relations of the others, and assumptions that the data satisfy are left
    out. A statement without such symbols is returned as it is.
    """
    metric = statement.metric
    if not metric.where and not metric.meets:
        return statement
    known: dict[Any, Any] = {}
    for name, expr in metric.where:
        known[statement.symbol(name).expr] = expr.subs(known)

    def put(expr: Any) -> Any:
        return None if expr is None else expr.subs(known)

    domain = [put(relation) for relation in statement.domain]
    for symbol, expr in known.items():
        declared = statement.symbol(symbol.name)
        if declared.low is not None:
            domain.append((sp.Gt if declared.low_open else sp.Ge)(expr, _rational(declared.low)))
        if declared.high is not None:
            domain.append((sp.Lt if declared.high_open else sp.Le)(expr, _rational(declared.high)))
        if declared.integer and not expr.is_Integer:
            domain.append(sp.Eq(sp.floor(expr), expr))
    conditions = tuple(replace(c, relation=put(c.relation)) for c in statement.conditions)
    parts: dict[str, Any] = {
        "metric": replace(metric, value=put(metric.value), where=(), meets=()),
        "assumptions": tuple(a for a in statement.assumptions if a.name not in metric.meets),
        "bound": put(statement.bound),
        "trivial": put(statement.trivial),
        "printed_rate": None,
        "domain": tuple(r for r in domain if r is not sp.true),
        "conditions": tuple(c for c in conditions if c.relation is not sp.true),
        "choices": tuple((name, put(expr)) for name, expr in statement.choices),
    }
    used = {name for name, _ in parts["choices"]}
    relations = [*parts["domain"], *(c.relation for c in parts["conditions"]), *(e for _, e in parts["choices"])]
    for expr in (parts["metric"].value, parts["bound"], parts["trivial"], *relations):
        used |= set() if expr is None else {s.name for s in expr.free_symbols}
    return replace(statement, symbols=tuple(s for s in statement.symbols if s.name in used), **parts)


def freed(statement: Statement) -> Statement:
    """The claim in its free data, every symbol of which a reader may choose: none takes its value from a problem."""
    own = in_free_data(statement)
    return replace(own, symbols=tuple(s.but(free=True, key="") for s in own.symbols))


def numbers_at(statement: Statement, at: Mapping[str, Any]) -> dict[str, Fraction]:
    """The values of all symbols of a claim in free data; what the statement prescribes may be left out.

    Raises UnknownName for a name that is no symbol, BadInput for a missing value or one outside its domain.
    """
    chosen = dict(statement.choices)
    for name, value in at.items():
        if isinstance(value, list | tuple | dict):
            raise BadInput(f"{statement.best_id}: {name} takes one value; a claim about numbers is made at one point.")
    needed = [s.name for s in statement.symbols if s.name not in chosen]
    values = read_needed(statement, at, needed, "the claim")
    for name in chosen:
        if name not in values:
            values[name] = prescribed(statement, name, values)
    check_domain(statement, values)
    return values


def _rational(value: Fraction) -> Any:
    return sp.Rational(value.numerator, value.denominator)
