"""The dimension of an expression, which is the same for all terms of a sum or the formula does not scale."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.theory.dimension import ONE, Dimension


class DimensionError(ValueError):
    """Two terms that must scale alike do not, or a function's argument is not dimensionless."""


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
