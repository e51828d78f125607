"""Whether a statement scales: the dimension of an expression is the same for all terms of a sum, and of both sides."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.theory.declarations import ROUND
from boundcheck.theory.dimension import ONE, QUANTITIES, Dimension
from boundcheck.theory.keys import CATALOGUE
from boundcheck.theory.statement_data import StatementData


class DimensionError(ValueError):
    """Two terms that must scale alike do not, or a function's argument is not dimensionless."""


def dimension_errors(statement: StatementData) -> list[str]:
    """Sentences about every part that does not scale as it must; found from the declarations alone.

    The sides of the bound, of conditions and of the domain must scale alike; the metric as its quantity times its
    scale; its rounds are a count; and a symbol with a key has the dimension that the catalogue gives it. A
    statement whose metric has no dimension (a numeric example) is not checked.
    """
    metric = statement.metric
    if metric.dimension is None:
        return []
    table = {s.name: s.dimension for s in statement.symbols}
    errors: list[str] = []

    def sides(where: str, *parts: Any, target: Dimension | None = None) -> Dimension | None:
        try:
            found = [d for d in (dimension_of(p, table) for p in parts) if d is not None]
        except DimensionError as error:
            errors.append(f"{where}: {error}.")
            return None
        every = found if target is None else [*found, target]
        if len(set(every)) > 1:
            errors.append(f"{where}: the sides are {' and '.join(str(d) for d in every)}.")
        return found[0] if found else None

    for symbol in statement.symbols:
        constant = CATALOGUE.get(symbol.key)
        if constant is not None and symbol.dimension != constant.dimension:
            errors.append(
                f"symbol {symbol.name}: it is declared {symbol.dimension}, but its key {symbol.key} is "
                f"'{constant.definition}', which is {constant.dimension}."
            )
    scale = sides("the metric's scale", metric.scale)
    quantity = QUANTITIES.get(metric.quantity)
    if scale is not None and quantity is not None and metric.dimension != quantity * scale:
        times = "" if metric.scale == 1 else f" times {metric.scale}"
        errors.append(
            f"the metric: {metric.quantity}{times} is {quantity * scale}, but is declared {metric.dimension}."
        )
    sides("the metric's rounds", metric.rounds, target=ONE)
    if metric.weights is not None:
        table[ROUND.name] = ONE
        sides("the metric's weights", metric.weights)
        table.pop(ROUND.name)
    for name, expr in statement.choices:
        sides(f"the choice of {name}", expr, target=table[name])
    if metric.value is not None:
        sides("the metric's value", metric.value, target=metric.dimension)
    for name, expr in metric.where:
        sides(f"the data behind {name}", expr, target=table[name])
    sides("the bound", statement.bound, target=metric.dimension)
    for c in statement.conditions:
        sides(f"condition '{c.name}'", *c.relation.args)
    for r in statement.domain:
        sides("the domain", *r.args)
    if statement.trivial is not None:
        sides("the trivial value", statement.trivial, target=metric.dimension)
    return errors


def dimension_of(expr: sp.Basic, symbols: Mapping[str, Dimension]) -> Dimension | None:
    """The dimension of an expression; None for an exact zero, which fits everywhere.

    Raises DimensionError, naming the two terms, where a sum, a minimum or an argument does not scale.
    """
    if isinstance(expr, sp.Symbol):
        return symbols[expr.name]
    if expr.is_number:
        return None if expr.is_zero else ONE
    if isinstance(expr, sp.Add | sp.Min | sp.Max):
        return _alike(expr.args, symbols)
    if isinstance(expr, sp.Mul):
        product = ONE
        for arg in expr.args:
            part = dimension_of(arg, symbols)
            if part is None:
                return None
            product = product * part
        return product
    if isinstance(expr, sp.Pow):
        return _power(expr.base, expr.exp, symbols)
    if isinstance(expr, sp.Abs | sp.floor | sp.ceiling):
        if isinstance(expr, sp.Abs):
            return dimension_of(expr.args[0], symbols)
        _dimensionless(expr.args[0], symbols)
        return ONE
    if isinstance(expr, sp.exp | sp.log):
        _dimensionless(expr.args[0], symbols)
        return ONE
    raise DimensionError(f"{expr.func.__name__} has no dimension rule")


def _alike(terms: tuple[Any, ...], symbols: Mapping[str, Dimension]) -> Dimension | None:
    first: tuple[Any, Dimension] | None = None
    for term in terms:
        dimension = dimension_of(term, symbols)
        if dimension is None:
            continue
        if first is None:
            first = (term, dimension)
        elif dimension != first[1]:
            raise DimensionError(f"{first[0]} is {first[1]}, but {term} beside it is {dimension}")
    return None if first is None else first[1]


def _power(base: Any, exponent: Any, symbols: Mapping[str, Dimension]) -> Dimension | None:
    if base == sp.E:
        _dimensionless(exponent, symbols)
        return ONE
    inner = dimension_of(base, symbols)
    if exponent.is_Rational:
        return None if inner is None else inner.power(Fraction(int(exponent.p), int(exponent.q)))
    _dimensionless(exponent, symbols)
    if inner is not None and inner != ONE:
        raise DimensionError(f"{base} is {inner}, but is raised to the symbolic power {exponent}")
    return ONE


def _dimensionless(expr: Any, symbols: Mapping[str, Dimension]) -> None:
    dimension = dimension_of(expr, symbols)
    if dimension is not None and dimension != ONE:
        raise DimensionError(f"{expr} is {dimension}, where a dimensionless argument is needed")
