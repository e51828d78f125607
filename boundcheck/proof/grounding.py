"""Claims about indexed vectors at explicit integers: sums written out, indices replaced, ranges enumerated.

A function of an index has explicit values up to the last of a window, and keeps that value beyond it. So a claim for
all values of an unbounded index is one claim for each value in the window, and one with the index left in it for all
values beyond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil, floor
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.proof.contexts import context, declared
from boundcheck.proof.exact import Undefined, enclose
from boundcheck.proof.step import Context
from boundcheck.proof.vectors import Inner, Vector, VectorEquality, inner

MOST = 12  # values of one index, or terms of one sum, that are written out

Numbers = Mapping[Any, Any]  # symbol -> rational number


class NotExplicit(Exception):
    """The claim has no explicit form here: a real index, a derivative, an open end, or too many terms."""


class Window:
    """The integers at which claims are taken.

    last: where functions of an index stop changing; values: symbol -> number, of all that is put in.
    """

    def __init__(self, last: int, values: Numbers) -> None:
        self.last, self.values = last, values

    def explicit(self, claim: Any, indices: Numbers) -> Any:
        """The claim with numbers for its symbols and indices, without sums; raises NotExplicit."""
        put = {**self.values, **indices}
        if isinstance(claim, VectorEquality):
            return VectorEquality(*(self._vector_of(side, put) for side in (claim.left, claim.right)))
        if not isinstance(claim, sp.Rel):
            raise NotExplicit(str(claim))
        return claim.func(*(self._number(side.xreplace(put)) for side in claim.args), evaluate=False)

    def _vector_of(self, vector: Vector, put: Numbers) -> Vector:
        total = Vector(())
        for atom, coefficient in vector.terms:
            total = total + self._vector(atom.xreplace(put)) * self._number(coefficient.xreplace(put))
        return total

    def _number(self, expr: Any) -> Any:
        if expr.is_Rational or expr.is_Symbol:
            return expr
        if isinstance(expr, Inner):
            return inner(*(self._vector(atom) for atom in expr.args))
        if isinstance(expr, sp.Sum):
            return sp.Add(*(self._number(term) for term in self._terms(expr)))
        if isinstance(expr, AppliedUndef):
            return expr.func(*(self._place(a) for a in expr.args))
        if isinstance(expr, sp.Derivative) or not expr.args:
            raise NotExplicit(str(expr))
        return expr.func(*(self._number(a) for a in expr.args))

    def _vector(self, atom: Any) -> Vector:
        if isinstance(atom, sp.Sum):
            return sum((self._vector(term) for term in self._terms(atom)), Vector(()))
        if isinstance(atom, AppliedUndef):
            atom = atom.func(*(self._place(a) for a in atom.args))
        return Vector(((atom, sp.Integer(1)),))

    def _terms(self, expr: Any) -> Iterator[Any]:
        own, low, high = expr.limits[-1]
        if not (low.is_Integer and high.is_Integer) or high < low - 1 or high - low > MOST:
            raise NotExplicit(str(expr))
        inside = expr.function if len(expr.limits) == 1 else expr.func(expr.function, *expr.limits[:-1])
        return (inside.xreplace({own: sp.Integer(k)}) for k in range(int(low), int(high) + 1))

    def _place(self, argument: Any) -> Any:
        if argument.is_Integer:
            return sp.Min(argument, self.last)
        free = argument.free_symbols
        beyond = argument.xreplace(dict.fromkeys(free, sp.Integer(self.last + 1)))
        # an index beyond the window, shifted by a number
        if len(free) == 1 and (argument - next(iter(free))).is_Integer and beyond >= self.last:
            return sp.Integer(self.last)
        raise NotExplicit(str(argument))

    def cases(self, claim: Any, setting: Context, number: Callable[[Any], Any]) -> Iterator[tuple[Numbers, list[Any]]]:
        """(values of the indices, those that are left for all values beyond the window) that make up the claim.

        number: the value of an expression of numbers, as a fraction; raises NotExplicit for a range that has none.
        """
        about = context([claim], setting)
        yield from self._cases([i for i in declared(setting) if i in about], {}, [], setting, number)

    def _cases(
        self, left: Sequence[Any], chosen: dict[Any, Any], open_: list[Any], setting: Context, number: Any
    ) -> Iterator[tuple[Numbers, list[Any]]]:
        if not left:
            yield dict(chosen), list(open_)
            return
        index, *rest = left
        if index.name not in setting.integers:
            raise NotExplicit(f"{index} is a real variable")
        low, high = self._ends(index, chosen, setting, number)
        if low is None or (high is not None and high - low > MOST):
            raise NotExplicit(f"the range of {index}")
        for k in range(low, (max(self.last, low) if high is None else high) + 1):
            yield from self._cases(rest, {**chosen, index: sp.Integer(k)}, open_, setting, number)
        if high is None:
            yield from self._cases(rest, chosen, [*open_, index], setting, number)

    def _ends(self, index: Any, chosen: Numbers, setting: Context, number: Any) -> tuple[int | None, int | None]:
        low: list[int] = []
        high: list[int] = []
        for symbol, relation in setting.ranges:
            if symbol == index:
                end = number(relation.rhs.xreplace({**self.values, **chosen}))
                if isinstance(relation, sp.Ge | sp.Gt):
                    low.append(ceil(end) if isinstance(relation, sp.Ge) else floor(end) + 1)
                else:
                    high.append(floor(end) if isinstance(relation, sp.Le) else ceil(end) - 1)
        return max(low, default=None), min(high, default=None)


def exact_number(expr: Any) -> Any:
    """The value of an expression of rational numbers, where it is rational; raises NotExplicit."""
    try:
        low, high = enclose(expr, {})
    except Undefined as error:
        raise NotExplicit(str(expr)) from error
    if low != high:
        raise NotExplicit(f"{expr} is not rational")
    return low
