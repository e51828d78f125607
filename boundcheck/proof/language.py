"""What a derivation may be written in: the expressions that records know, with real symbols and no more.

Polynomials, quotients, roots, powers, Min, Max and Abs of real symbols; inner products of vector atoms; sums
as `proof.sums` makes them; real functions without a definition and their derivatives. A symbol that carries an
assumption of its own (positive, integer) would have signs decided by SymPy, unseen, and a name that begins with an
underscore could be one of the finder's own; both are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.step import Context
from boundcheck.proof.vectors import Inner, Vector, VectorEquality

_REAL = sp.Symbol("x", real=True).assumptions0
_FREE = sp.Symbol("x").assumptions0
_SIGNS = [("real", True), *((word, None) for word in ("positive", "negative", "zero", "integer", "rational"))]
_RELATIONS = (sp.Le, sp.Lt, sp.Ge, sp.Gt, sp.Eq, sp.Ne)
_PLAIN = (sp.Add, sp.Mul, sp.Pow, sp.Min, sp.Max, sp.Abs)


def parts(claim: Any) -> tuple[Any, ...]:
    """A conjunction in its parts."""
    return tuple(claim.args) if isinstance(claim, sp.And) else (claim,)


def named(name: str, claim: Any) -> dict[str, Any]:
    """The parts of a claim by the names of their lines: `name`, `name.1`, `name.2`, ..."""
    return {f"{name}.{k}" if k else name: part for k, part in enumerate(parts(claim))}


def direction(relation: Any) -> Any:
    """The gap of an inequality or equation: `gap >= 0`, `gap > 0` or `gap == 0`."""
    left, right = relation.args
    return right - left if isinstance(relation, sp.Le | sp.Lt) else left - right


def same(first: Any, second: Any) -> bool:
    """Whether two rational expressions are identical (wherever both are defined)."""
    gap = sp.expand(first - second)
    if gap == 0:
        return True
    names = {a: sp.Dummy("term") for a in gap.atoms(AppliedUndef, Inner, sp.Sum)}
    return bool(sp.cancel(sp.together(gap.xreplace(names))) == 0)


def has_terms(claim: Any) -> bool:
    """Whether the proposition is about vectors, sums or functions."""
    return isinstance(claim, VectorEquality) or claim.has(Inner, sp.Sum, AppliedUndef)


def symbols_of(claim: Any) -> set[Any]:
    """The free symbols of a proposition, those inside its vectors included."""
    if isinstance(claim, VectorEquality):
        return {s for side in (claim.left, claim.right) for term in side.terms for e in term for s in e.free_symbols}
    return set(claim.free_symbols)


def scalars(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that a certificate of scalars can use."""
    return {k: f for k, f in facts.items() if not isinstance(f, VectorEquality | sp.Implies)}


def whole(count: Any, setting: Context) -> bool:
    """Whether the expression is an integer: a polynomial with integer coefficients in integer symbols."""
    if not all(s.name in setting.integers for s in count.free_symbols):
        return False
    if not count.free_symbols:
        return bool(count.is_Integer)
    return all(c.is_Integer for c in sp.Poly(count, *count.free_symbols).coeffs()) if count.is_polynomial() else False


def check_proposition(claim: Any, where: str, names: dict[str, str]) -> None:
    """Raises BadInput where the proposition is outside the language.

    names: what each name stands for ("number", "vector", "function", "vector function"), filled and held to.
    """
    _Reader(where, names).proposition(claim)


def check_method(method: Any, where: str, names: dict[str, str]) -> None:
    """The same for the terms with which a method of a step was made."""
    reader = _Reader(where, names)
    for value in terms_of(method, keys=True):
        if isinstance(value, Vector):
            reader.vector(value)
        else:
            reader.number(value, frozenset())


def terms_of(value: Any, *, keys: bool = False) -> Iterator[Any]:
    """The expressions and vectors in a method or in a collection of such; keys: also those that have an image."""
    if isinstance(value, Vector | sp.Basic):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from (key,) if keys and isinstance(key, sp.Basic) else ()
            yield from (sp.Integer(item),) if type(item) is int else terms_of(item, keys=keys)
    elif isinstance(value, tuple):
        for item in value:
            yield from terms_of(item, keys=keys)
    elif is_dataclass(value):
        for entry in fields(value):
            yield from terms_of(getattr(value, entry.name), keys=keys)


class _Reader:
    def __init__(self, where: str, names: dict[str, str]) -> None:
        self.where, self.names = where, names

    def _refuse(self, what: str) -> BadInput:
        return BadInput(f"{self.where} {what}.")

    def _name(self, name: str, kind: str) -> None:
        if name.startswith("_"):
            raise self._refuse(f"uses the name '{name}'; names that begin with an underscore are the finder's own")
        if self.names.setdefault(name, kind) != kind:
            raise self._refuse(f"uses '{name}' as a {kind}, elsewhere it is a {self.names[name]}")

    def proposition(self, claim: Any) -> None:
        if claim in (sp.true, sp.false):
            return
        if isinstance(claim, VectorEquality):
            self.vector(claim.left)
            self.vector(claim.right)
        elif isinstance(claim, sp.And | sp.Implies):
            for part in claim.args:
                self.proposition(part)
        elif isinstance(claim, _RELATIONS):
            for side in claim.args:
                self.number(side, frozenset())
        else:
            raise self._refuse(f"says '{claim}', which is no relation, conjunction, implication or vector equality")

    def vector(self, vector: Vector) -> None:
        for atom, coefficient in vector.terms:
            self.atom(atom, frozenset())
            self.number(coefficient, frozenset())

    def number(self, expr: Any, bound: frozenset[Any]) -> None:
        if expr in bound or expr.is_Rational:
            return
        if expr.is_Symbol:
            if expr.assumptions0 != _REAL:
                raise self._refuse(f"uses {expr} with assumptions other than being real")
            self._name(expr.name, "number")
        elif isinstance(expr, Inner):
            for atom in expr.args:
                self.atom(atom, bound)
        elif isinstance(expr, sp.Sum):
            self.number(expr.function, self._summed(expr, bound))
        elif isinstance(expr, sp.Derivative):
            for part in (expr.expr, *expr.variables):
                self.number(part, bound)
        elif isinstance(expr, AppliedUndef):
            if any(getattr(expr, f"is_{word}") is not value for word, value in _SIGNS):
                raise self._refuse(f"uses the function {expr}, which must be declared real and nothing else")
            self._applied(expr, "function", bound)
        elif isinstance(expr, _PLAIN):
            for part in expr.args:
                self.number(part, bound)
        else:
            raise self._refuse(f"has '{expr}' in it, which records do not know")

    def atom(self, atom: Any, bound: frozenset[Any]) -> None:
        if isinstance(atom, sp.Sum):
            self.atom(atom.function, self._summed(atom, bound))
        elif isinstance(atom, AppliedUndef):
            if atom.is_real is not None:
                raise self._refuse(f"uses the number {atom} as a vector")
            self._applied(atom, "vector function", bound)
        elif atom.is_Symbol and atom.assumptions0 == _FREE:
            self._name(atom.name, "vector")
        else:
            raise self._refuse(f"uses {atom} as a vector")

    def _applied(self, expr: Any, kind: str, bound: frozenset[Any]) -> None:
        self._name(type(expr).__name__, kind)
        for part in expr.args:
            self.number(part, bound)

    def _summed(self, expr: Any, bound: frozenset[Any]) -> frozenset[Any]:
        """The bound symbols inside a sum; it must be one that `proof.sums` could have made."""
        limits: Any = expr.limits
        own = {limit[0] for limit in limits}
        regular = all(len(limit) == 3 and limit[1] == 0 and limit[0].name.startswith("_i") for limit in limits)
        if not regular or len(own) != len(limits) or own & bound:
            raise self._refuse(f"has the sum {expr}; sums are made with `total` or `vector_total`")
        for limit in limits:
            self.number(limit[2], bound | own)
        return bound | own
