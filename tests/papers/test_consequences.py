"""Statements without a derivation: tuned step sizes and weights, which follow from others, and claims about numbers."""

from __future__ import annotations

import math
import operator as op
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from boundcheck.theory.decide import Point
from boundcheck.theory.discovery import all_statements, statement
from boundcheck.theory.free_data import about_numbers, in_free_data
from boundcheck.theory.statement import Belief, Kind, Statement
from boundcheck.theory.symbols import Symbol

F = Fraction


def only(s: Statement, values: dict[str, Any]) -> dict[str, Any]:
    names = {symbol.name for symbol in s.symbols}
    return {name: value for name, value in values.items() if name in names}


def number(expr: Any, values: dict[str, Any]) -> float:
    """An expression at exact constants, as the nearest float."""
    return float(Point(expr, {k: F(v) for k, v in values.items()}).accurate_ball(64).mid())


# --- FedShuffle: tuned step sizes -----------------------------------------------------------------------------------


def instances(count: int, rng: random.Random) -> Iterator[dict[str, Fraction]]:
    """Constants of every size; a fifth of them without noise."""

    def size(low: float, high: float) -> Fraction:
        return F(10 ** rng.uniform(low, high)).limit_denominator(10**6)

    for _ in range(count):
        L = size(-1, 2)
        at = {"L": L, "mu": L / (1 + size(-1, 2)), "B2": 1 + size(-2, 1), "P2": size(-2, 1), "W": size(-1, 1)}
        quiet = rng.random() < 0.2
        at |= dict.fromkeys(("G2", "sigma2", "sigma2_gen"), F(0) if quiet else size(-2, 3))
        at |= dict.fromkeys(("M", "M1"), rng.choice([F(0), size(-2, 1)])) | {"M2": size(-1, 1), "P2_gen": at["P2"]}
        at |= {"E": F(rng.randint(1, 5)), "eta_g": 1 + size(-2, 1), "dist2_0": size(-2, 3), "gap_0": size(-2, 3)}
        yield at | {"R": F(math.ceil(10 ** rng.uniform(1, 7)))}


THEOREMS = [
    (f"theorem_{theorem}_{kind}", reading)
    for theorem in ("5_1", "e_1")
    for kind in ("strongly_convex", "convex", "nonconvex")
    for reading in ("corrected", "sharp")
]


@pytest.mark.parametrize(
    ("name", "reading"), [*THEOREMS, ("theorem_5_2", "corrected"), ("theorem_5_2", "corrected_proof")]
)
def test_a_tuned_bound_is_at_least_the_bound_at_its_step_which_is_allowed(name: str, reading: str) -> None:
    tuned = statement(f"fedshuffle/{name}_tuned/{reading}")
    fixed = statement(f"fedshuffle/{name}/{reading.removesuffix('_proof')}")
    tightest: list[float] = []
    for at in instances(30, random.Random(5)):
        if name == "theorem_5_2":
            at |= {"B2": F(1), "P2": F(0), "delta": at["L"] / at["E"]}
        if any(c.name == "rounds" and not c.holds for c in tuned.scope(**only(tuned, at)).conditions):
            continue
        chosen = {symbol: F(number(expr, at)) for symbol, expr in tuned.choices}
        chosen["eta_l"] *= 1 - F(1, 10**12)  # the conditions hold at a rational just below the chosen step
        found = fixed.evaluate(**only(fixed, {**at, **chosen}))
        assert found.in_scope is True
        above = number(tuned.bound, at)
        assert float(found.value) <= above * (1 + 1e-9)
        tightest.append(float(found.value) / above if above else 1.0)
    assert len(tightest) >= 10
    assert max(tightest) > 0.3  # no idle factor


# --- FedDANE: the best proximal weight ------------------------------------------------------------------------------


def rho(name: str, **values: Any) -> Fraction:
    """The guaranteed decrease of a statement: gap_0 - bound with gap_0 = grad2_0 = 1."""
    s = statement(f"feddane/{name}")
    found = s.evaluate(**only(s, {"gamma": 0, "lam": 0, "L": 1, **values, "gap_0": 1, "grad2_0": 1})).exact
    assert isinstance(found, Fraction)
    return 1 - found


def exact(name: str, **values: Any) -> Fraction:
    found = statement(f"feddane/{name}").evaluate(**values).exact
    assert isinstance(found, Fraction)
    return found


@pytest.mark.parametrize("B2", [1, 4, 100])
def test_corollary_4_is_theorem_3_at_its_weight(B2: int) -> None:
    corrected, printed, sharp = (
        rho(f"corollary_4/{reading}", B2=B2, mu=5 * B2) for reading in ("corrected", "as_printed", "sharp")
    )
    assert corrected == rho("theorem_3/as_printed", B2=B2, mu=5 * B2) < printed < sharp
    assert sharp == rho("theorem_3/sharp_any_cohort", B2=B2, mu=5 * B2)
    step = exact("minibatch_gd", L=1, B2=B2, mu=20)
    assert step - rho("theorem_3/as_printed", B2=B2, mu=20) == exact("minibatch_gd/advantage", L=1, B2=B2, mu=20)


# --- claims about numbers -------------------------------------------------------------------------------------------

NUMBERS = {s.id: s for s in all_statements() if about_numbers(s) and s.belief is Belief.TRUE}
ORDER = {"<=": op.le, ">=": op.ge, "<": op.lt, ">": op.gt, "==": op.eq}


def drawn(symbol: Symbol, rng: random.Random) -> Fraction:
    """A small number, now and then 0; not always in the symbol's domain."""
    if rng.random() < 0.1:
        return F(0)
    if symbol.high is not None and not symbol.integer:
        return F(rng.randint(1, 60), 61)
    size = F(rng.randint(1, 6 if symbol.integer else 60))
    if not symbol.integer and rng.random() < 0.7:
        size /= rng.randint(1, 60) * 10 ** rng.randint(0, 2)
    return -size if symbol.low is None and rng.random() < 0.5 else size + (symbol.low or 0)


@pytest.mark.parametrize("id", NUMBERS)
def test_a_claim_about_numbers_holds_at_random_numbers(id: str) -> None:
    claim, rng, within = in_free_data(NUMBERS[id]), random.Random(id), 0
    relations = [*claim.domain, *(c.relation for c in claim.conditions)]
    for _ in range(2000):
        at = {s.name: drawn(s, rng) for s in claim.symbols}
        if not all(s.admits(at[s.name]) for s in claim.symbols):
            continue
        if not all(ORDER[r.rel_op](number(r.lhs, at), number(r.rhs, at)) for r in relations):
            continue
        left, right = number(claim.metric.value, at), number(claim.bound, at)
        close = math.isclose(left, right, rel_tol=1e-12)
        assert close or (claim.kind is not Kind.EQUALITY and ORDER[claim.kind.sign](left, right)), at
        within += 1
        if within == 10:
            return
    assert within
