"""Indices: a claim holds for all values, within their ranges, of the declared indices that it mentions.

A range may mention indices declared before it; those belong to the *context* of a claim as well. A step whose claim
no longer mentions an index of its facts needs a value of that index to take them at, and a rule that uses a claim
for every value of an index may do so for a declared one only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import sympy as sp

from boundcheck.proof.language import scalars, symbols_of, whole
from boundcheck.proof.scalar import decide
from boundcheck.proof.step import Context, Status


def declared(setting: Context) -> list[Any]:
    """The indices in the order of their declaration."""
    return list(dict.fromkeys(symbol for symbol, _ in setting.ranges))


def context(propositions: Iterable[Any], setting: Context) -> set[Any]:
    """The indices that the propositions mention, and those that their ranges mention."""
    free = {s for p in propositions for s in symbols_of(p)}
    indices = set(declared(setting))
    found = free & indices
    while True:
        more = {s for symbol, relation in setting.ranges if symbol in found for s in relation.free_symbols & indices}
        if more <= found:
            return found
        found |= more


def depends(other: Any, index: Any, setting: Context) -> bool:
    """Whether the range of one index changes with another."""
    return other != index and index in context([sp.Ge(other, 0, evaluate=False)], setting)


def without(facts: Mapping[str, Any], indices: Iterable[Any], setting: Context) -> dict[str, Any]:
    """The facts that mention none of the indices."""
    out = set(indices)
    return {name: f for name, f in facts.items() if not context([f], setting) & out}


def empty_range(indices: set[Any], facts: Mapping[str, Any], setting: Context) -> Any:
    """The first of the indices whose range is not shown to have a value in it, or None.

    Shown from the facts that mention none of them. Each is given one value, in the order of declaration: an end
    point of its range, or a value between or beside these.
    """
    known = scalars(without(facts, indices, setting))
    chosen: dict[Any, Any] = {}
    for index in declared(setting):
        if index not in indices:
            continue
        relations = [r.xreplace(chosen) for symbol, r in setting.ranges if symbol == index]
        for value in _candidates(index, relations, setting):
            if all(_shown(r.xreplace({index: value}), known, setting) for r in relations):
                chosen[index] = value
                break
        else:
            return index
    return None


def _shown(relation: Any, facts: Mapping[str, Any], setting: Context) -> bool:
    if relation in (sp.true, sp.false):
        return relation is sp.true
    return decide(relation, facts, setting).status is Status.PROVED


def _candidates(index: Any, relations: list[Any], setting: Context) -> Iterator[Any]:
    low: list[Any] = [r.rhs for r in relations if isinstance(r, sp.Ge | sp.Gt)]
    high: list[Any] = [r.rhs for r in relations if isinstance(r, sp.Le | sp.Lt)]
    ends = [*low, *high]
    if index.name in setting.integers:
        yield from (e for e in [*ends, *(e + 1 for e in low), *(e - 1 for e in high)] if whole(e, setting))
        return
    yield from [*ends, *((a + b) / 2 for a in low for b in high), *(a + 1 for a in low), *(b - 1 for b in high)]
