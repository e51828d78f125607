"""Whether an expression has a value: denominators that do not vanish, roots of numbers that are not negative.

A proved step is true and has a value wherever its facts hold; so what a claim, an instance of a rule or a definition
divides by is read off before any substitution can cancel it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp

from boundcheck.proof.contexts import context, declared, without
from boundcheck.proof.gram import Combine
from boundcheck.proof.language import scalars, whole
from boundcheck.proof.polynomial import factorised
from boundcheck.proof.scalar import decide
from boundcheck.proof.step import Context, Status
from boundcheck.proof.vectors import Inner, VectorEquality

Alternatives = tuple[tuple[Any, ...], ...]  # relations; all of one of the groups must hold


def needs(proposition: Any, setting: Context) -> list[Alternatives]:
    """What must hold for every part of the proposition to have a value."""
    found: dict[Alternatives, None] = {}
    for expr in _expressions(proposition):
        stack: list[tuple[Any, frozenset[Any]]] = [(expr, frozenset())]
        while stack:
            node, bound = stack.pop()
            if isinstance(node, sp.Sum):
                bound = bound | {limit[0] for limit in node.limits}
            elif node.is_Pow:
                inside = bool(bound & node.free_symbols)
                for needed in _power(node.base, node.exp, setting):
                    # of a term of a sum nothing is known that holds for every index
                    found[((sp.false,),) if inside else needed] = None
            stack += [(part, bound) for part in node.args]
    return list(found)


def _expressions(proposition: Any) -> Iterable[Any]:
    if isinstance(proposition, VectorEquality):
        return [e for side in (proposition.left, proposition.right) for term in side.terms for e in term]
    return [proposition]


def _power(base: Any, exponent: Any, setting: Context) -> list[Alternatives]:
    if exponent.is_Integer:
        return [] if exponent > 0 else [((sp.Ne(f, 0),),) for f in _factors(base)]
    if exponent.is_Rational:
        return [((sp.Ge(base, 0) if exponent > 0 else sp.Gt(base, 0),),)]
    ways: list[tuple[Any, ...]] = [(sp.Gt(base, 0),)]
    if whole(exponent, setting):
        ways = [(sp.Ge(exponent, 0),), *ways, (sp.Ne(base, 0),)]
    return [tuple(ways)]


def _factors(base: Any) -> list[Any]:
    if not base.free_symbols or not base.is_polynomial():
        return [base]
    return sorted((f for f, _ in factorised(base)[1]), key=sp.default_sort_key)


def valueless(proposition: Any, facts: Mapping[str, Any], setting: Context) -> str:
    """The first need of the proposition that is not shown, in words; empty where all are.

    They may be shown from the facts, and from what holds throughout the derivation (`setting.background`); the ranges
    of indices that the proposition does not mention might be empty, and are left out of that.
    """
    known = scalars(facts)
    others = set(declared(setting)) - context([proposition], setting)
    lasting = without({f"background {name}": f for name, f in setting.background}, others, setting) | known
    for ways in needs(proposition, setting):
        if not any(all(_shown(relation, known, lasting, setting) for relation in way) for way in ways):
            return " or ".join(str(sp.And(*way)) for way in ways)
    return ""


def _shown(relation: Any, facts: Mapping[str, Any], lasting: Mapping[str, Any], setting: Context) -> bool:
    if relation in (sp.true, sp.false):
        return relation is sp.true
    near = {k: f for k, f in facts.items() if _simple(f) and f.free_symbols & relation.free_symbols}
    tries: list[Mapping[str, Any]] = []
    for known in (near, facts, lasting):
        if known not in tries:
            tries.append(known)
            found = (
                Combine().check(relation, known, setting) if relation.has(Inner) else decide(relation, known, setting)
            )
            if found.status is Status.PROVED:
                return True
    return False


def _simple(fact: Any) -> bool:
    """A relation of polynomials."""
    sides: tuple[Any, ...] = fact.args
    return isinstance(fact, sp.Rel) and all(side.is_polynomial() for side in sides)
