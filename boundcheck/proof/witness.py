"""Rational counterexamples: from a solver's model to a short exact point that is checked on the original relations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.proof.exact import Undefined, enclose, holds

Point = dict[str, Fraction]
Solve = Callable[[list[tuple[tuple[Any, str], ...]], frozenset[str]], tuple[str, dict[str, tuple[Fraction, bool]], str]]
MAX_TRIES = 40  # further questions to the solver while pinning irrational coordinates


@dataclass(frozen=True)
class Search:
    """A checked point, or why there is none."""

    point: Point | None
    reason: str = ""


def refutes(point: Mapping[str, Fraction], claim: Any, hypotheses: Sequence[Any], integers: frozenset[str]) -> bool:
    """Whether every hypothesis is true and the claim false at the point, in exact arithmetic."""
    if any(point[name].denominator != 1 for name in integers & point.keys()):
        return False
    return holds(claim, point) is False and all(holds(h, point) is True for h in hypotheses)


def complete(point: Point, eliminated: Mapping[Any, Any]) -> Point | None:
    """The point with the values of the symbols that were substituted away; None where one is not rational."""
    full = dict(point)
    for symbol, expression in eliminated.items():
        try:
            low, high = enclose(expression, point)
        except Undefined:
            return None
        if low != high:
            return None
        full[symbol.name] = low
    return full


def find_witness(
    solve: Solve,
    claim: Any,
    hypotheses: Sequence[Any],
    names: Sequence[str],
    eliminated: Mapping[Any, Any],
    integers: frozenset[str],
) -> Search:
    """A rational point that refutes `claim`, or the reason why none was found.

    `solve(extra, integers)` answers the negation with further constraints. Where a coordinate of the model is
    irrational or violates integrality it is pinned to rationals nearby, one coordinate after another, and the
    question is asked again.
    """
    pinned: list[tuple[tuple[Any, str], ...]] = []
    answer, values, reason = solve([], frozenset())
    if answer == "sat" and any(values.get(n, (Fraction(0), True))[0].denominator != 1 for n in integers):
        answer, values, reason = solve([], integers)
    if answer == "unsat":
        return Search(None, "the negation of what could be encoded has no solution")
    if answer != "sat":
        return Search(None, reason)
    tries = 0
    for _ in range(len(names) + 1):
        point = {name: values.get(name, (Fraction(0), True))[0] for name in names}
        for rest in (0, 1):  # what the question does not mention is free
            free = {name: Fraction(rest) for name in names if name not in values}
            full = complete(point | free, eliminated)
            if full is not None and refutes(full, claim, hypotheses, integers):
                return Search(full)
        rough = [n for n in names if not values.get(n, (Fraction(0), True))[1]]
        if not rough:
            return Search(None, "the solver's model does not survive the exact check on the original relations")
        symbol = sp.Symbol(rough[0], real=True)
        for candidate in _nearby(point[rough[0]]):
            tries += 1
            if tries > MAX_TRIES:
                return Search(None, "a counterexample exists over the reals, but no rational one was found")
            pin = ((sp.expand(symbol * candidate.denominator - candidate.numerator), "=="),)
            answer, again, _ = solve([*pinned, pin], frozenset())
            if answer == "sat":
                pinned.append(pin)
                values = again
                break
        else:
            return Search(None, "a counterexample exists over the reals, but no rational one was found")
    return Search(None, "no rational counterexample survived the exact check")


def _nearby(value: Fraction) -> Iterator[Fraction]:
    seen: set[Fraction] = set()
    for bits in range(1, 24, 2):
        scale = 1 << bits
        floor = (value.numerator * scale) // value.denominator
        for candidate in (Fraction(floor, scale), Fraction(floor + 1, scale)):
            if candidate not in seen:
                seen.add(candidate)
                yield candidate


def shorten(
    point: Point, claim: Any, hypotheses: Sequence[Any], eliminated: Mapping[Any, Any], integers: frozenset[str]
) -> Point:
    """The point with each free coordinate replaced by a shorter fraction where the refutation survives it."""
    removed = {s.name for s in eliminated}
    short = {name: value for name, value in point.items() if name not in removed}
    for name in sorted(short, key=lambda n: short[n].denominator, reverse=True):
        value = short[name]
        for bits in range(16):
            candidate = value.limit_denominator(1 << bits)
            if candidate.denominator >= value.denominator:
                break
            full = complete(short | {name: candidate}, eliminated)
            if full is not None and refutes(full, claim, hypotheses, integers):
                short[name] = candidate
                break
    return complete(short, eliminated) or point
