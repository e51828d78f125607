"""Indices: a claim holds for all values, within their ranges, of the declared indices that it mentions.

A range may mention indices declared before it; those belong to the *context* of a claim as well. A step whose claim
no longer mentions an index of its facts needs a value of that index to take them at, and a rule that uses a claim
for every value of an index may do so for a declared one only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import sympy as sp

from boundcheck.proof.language import symbols_of, whole
from boundcheck.proof.step import Context


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


def values_in(index: Any, relations: list[Any], setting: Context) -> Iterator[Any]:
    """Values of an index to try: the ends of its range, and values between or beside these."""
    low: list[Any] = [r.rhs for r in relations if isinstance(r, sp.Ge | sp.Gt)]
    high: list[Any] = [r.rhs for r in relations if isinstance(r, sp.Le | sp.Lt)]
    ends = [*low, *high]
    if index.name in setting.integers:
        yield from (e for e in [*ends, *(e + 1 for e in low), *(e - 1 for e in high)] if whole(e, setting))
        return
    yield from [*ends, *((a + b) / 2 for a in low for b in high), *(a + 1 for a in low), *(b - 1 for b in high)]
