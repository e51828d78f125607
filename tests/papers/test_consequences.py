"""Statements without a derivation that follow from other statements: tuned step sizes, best weights, averages."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from boundcheck.theory.decide import Point
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Statement

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


@pytest.mark.parametrize("gamma", [F(0), F(1, 20)])
@pytest.mark.parametrize("B2", [1, 4, 9])
def test_feasible_weights_of_theorem_3(B2: int, gamma: Fraction) -> None:
    at = {"L": 1, "B2": B2, "gamma": gamma}
    least, best = (exact(f"feasibility_mu/{reading}", **at) for reading in ("least", "best"))
    top = exact("feasibility_decrease/convex", **at)
    assert rho("theorem_3/as_printed", **{**at, "mu": least}) == 0
    assert rho("theorem_3/as_printed", **{**at, "mu": best}) == top
    for near in (F(99, 100), F(101, 100)):
        assert rho("theorem_3/as_printed", **{**at, "mu": near * best}) < top
    # Theorem 5 without curvature, which gives the L for which a weight is the best
    L = exact("feasibility_mu/best_nonconvex", lam=0, m=17, gamma=gamma, B2=B2)
    assert exact("feasibility_mu/best", L=L, gamma=gamma, B2=B2) == 17
    decrease = exact("feasibility_decrease/nonconvex", lam=0, m=17, gamma=gamma, B2=B2)
    assert exact("feasibility_decrease/convex", L=L, gamma=gamma, B2=B2) == decrease
    limit = exact("feasibility_gamma", B2=B2)
    assert statement("feddane/feasibility_mu").evaluate(L=1, B2=B2, gamma=limit).in_scope is False


@pytest.mark.parametrize(("lam", "B2", "m"), [("1/2", 1, 6), ("1/2", 9, 38), (1, 100, 400)])
def test_the_best_weight_of_theorem_5(lam: Any, B2: int, m: int) -> None:
    L = exact("feasibility_mu/best_nonconvex", lam=lam, B2=B2, gamma=0, m=m)
    top = exact("feasibility_decrease/nonconvex", lam=lam, B2=B2, gamma=0, m=m)
    at = {"lam": lam, "B2": B2, "L": L}
    assert rho("theorem_5/as_printed", **at, mu=m + F(lam)) == top
    for near in (F(99, 100), F(101, 100)):
        assert rho("theorem_5/as_printed", **at, mu=near * m + F(lam)) < top
    least = F(float(statement("feddane/feasibility_mu/least_nonconvex").evaluate(**at, gamma=0).value))
    below, above = (rho("theorem_5/as_printed", **at, mu=least * (1 + sign * F(1, 10**9))) for sign in (-1, 1))
    assert below < 0 < above


@pytest.mark.parametrize("B2", [1, 4, 100])
def test_corollary_4_is_theorem_3_at_its_weight(B2: int) -> None:
    corrected, printed, sharp = (
        rho(f"corollary_4/{reading}", B2=B2, mu=5 * B2) for reading in ("corrected", "as_printed", "sharp")
    )
    assert corrected == rho("theorem_3/as_printed", B2=B2, mu=5 * B2) < printed < sharp
    assert sharp == rho("theorem_3/sharp_any_cohort", B2=B2, mu=5 * B2)
    step = exact("minibatch_gd", L=1, B2=B2, mu=20)
    assert step - rho("theorem_3/as_printed", B2=B2, mu=20) == exact("minibatch_gd/advantage", L=1, B2=B2, mu=20)


def test_the_rate_under_bounded_variance_is_that_of_the_best_weight() -> None:
    L, gap, sigma2, eps = F(3), F(2), F(5), F(1, 10)
    decrease = exact("feasibility_decrease/convex", L=L, B2=1 + sigma2 / eps, gamma=0)
    found = exact("remark_sgd_rate", L=L, gap_0=gap, sigma2=sigma2, eps=eps)
    assert found == gap / (decrease * eps) == 10 * L * gap / eps + 8 * L * gap * sigma2 / eps**2


def test_shares_of_weighted_draws_without_replacement() -> None:
    weights, share = (F(1, 2), F(1, 3), F(1, 6)), [F(0)] * 3
    for first, second in itertools.permutations(range(3), 2):
        for k in (first, second):
            share[k] += weights[first] * weights[second] / (1 - weights[first]) / 2
    for k, (i, j) in enumerate(((1, 2), (0, 2), (0, 1))):
        assert exact("remark_sampling", p_i=weights[k], p_j=weights[i], p_k=weights[j]) == share[k] != weights[k]
