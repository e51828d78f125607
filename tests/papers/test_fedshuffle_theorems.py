"""FedShuffle's theorems and remarks against numbers computed by hand, in fractions, or by enumeration.

S. Horvath et al., "FedShuffle: Recipes for Better Use of Local Work in Federated Learning".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from fedshuffle_tools import (
    ALL,
    AT,
    EVERY,
    FIXED,
    GENERAL,
    ON_36,
    SCALED,
    TUNED,
    gaps_on_36,
    get,
    number,
    only,
    some_instances,
)

from boundcheck.theory.decide import Point
from boundcheck.theory.discovery import readings
from boundcheck.theory.statement import ROUND, Belief, Kind, Statement

# --- all of them ------------------------------------------------------------------------------------------


def test_what_is_not_printed_says_why_and_a_bound_is_about_a_method() -> None:
    for s in EVERY:
        assert s.reading.startswith("as_printed") or (s.belief is Belief.TRUE and len(s.why) > 20), s.id
        if s.kind is Kind.UPPER_BOUND:
            assert s.algorithm is not None, s.id
            assert s.assumptions, s.id


def test_the_best_reading_is_never_a_printed_one_where_there_is_another() -> None:
    for name in ALL:
        own = readings("fedshuffle", name)
        if len({s.reading.startswith("as_printed") for s in own}) == 2:
            assert own[0].reading == ("general" if name == "section_4_2_sum_one" else "corrected")


def test_units_alone_tell_the_lost_factors() -> None:
    flagged = {s.id.removeprefix("fedshuffle/") for s in EVERY if s.dimension_errors()}
    printed = {f"{name}/as_printed" for name in (*FIXED, *TUNED, *GENERAL, "lemma_e_4", "section_5_middle_term")}
    assert flagged == printed | {"theorem_5_2_tuned/as_printed_proof"}
    assert all(get(*id.split("/")).belief is Belief.FALSE for id in flagged)


@pytest.mark.parametrize("s", [s for s in EVERY if s.kind is Kind.UPPER_BOUND], ids=lambda s: s.id)
def test_a_bound_scales_with_f_and_x_or_its_units_are_wrong(s: Statement) -> None:
    f, x = Fraction(16), Fraction(9)  # f -> 16 f, x -> 9 x
    before = {k: Fraction(v) for k, v in only(s, SCALED).items()}
    powers = {symbol.name: symbol.dimension for symbol in s.symbols}
    after = {k: v * f ** int(powers[k].f) * x ** int(powers[k].x) for k, v in before.items()}
    unit = s.metric.dimension
    assert unit is not None
    factor = float(f ** int(unit.f) * x ** int(unit.x))
    same = number(s.bound, after) == pytest.approx(factor * number(s.bound, before), rel=1e-12)
    choices = all(
        number(expr, after) == pytest.approx(number(expr, before) * float(after[name] / before[name]), rel=1e-12)
        for name, expr in s.choices
    )
    assert (same and choices) is not bool(s.dimension_errors())


# --- Theorem 5.1 at a fixed step --------------------------------------------------------------------------

# B = 2, P = 1/2: beta = 1 + 3/2*2 + 1/2*4 = 6; et = 2*3/2/144 = 1/48 = 1/(4*6*2). Numerator of the middle term:
# (4 + 1/4)*3 + 5 = 71/4 with Section 5's P^2 and sigma^2, (4 + 1/12)*3 + 5/3 = 167/12 with C.2's; (eta_g E)^2 = 9.
REST = Fraction(9025, 191)  # r/(1-r) for r = (1 - 1/96)^2


@pytest.mark.parametrize(
    ("name", "reading", "expected"),
    [
        ("convex", "corrected", 70 * 24 + Fraction(5, 8) + 355 * Fraction(1, 2304)),
        ("convex", "sharp", 7 * 24 + Fraction(1, 16) + Fraction(1670, 108) / 2304),
        ("convex", "as_printed", 70 * 24 + Fraction(5, 8) + Fraction(355, 2) / 2304),
        ("strongly_convex", "corrected", 35 * REST + Fraction(5, 8) + Fraction(355, 2304)),
        ("strongly_convex", "sharp", Fraction(7, 2) * REST + Fraction(1, 16) + Fraction(1670, 108) / 2304),
        ("strongly_convex", "as_printed", 70 * math.exp(-1 / 48) + 6 / 48 + 35.5 / 2304),
        ("nonconvex", "corrected", 40 * 24 + Fraction(1, 2) + Fraction(142, 2304)),
        ("nonconvex", "sharp", 20 * 24 + Fraction(1, 4) + Fraction(334, 9) / 2304),
        ("nonconvex", "as_printed", 40 * 24 + Fraction(1, 2) + Fraction(71, 2304)),
    ],
)
def test_fixed_steps_by_hand(name: str, reading: str, expected: Any) -> None:
    s = get(f"theorem_5_1_{name}", reading)
    found = s.evaluate(**only(s, AT))
    if isinstance(expected, Fraction):
        assert found.exact == expected
    assert float(found.value) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize(
    ("M", "strongly", "convex"),
    [("0", 0.03124, 0.04444), ("3/8", 0.04875, 0.06421), ("1", 0.07058, 0.08938)],
)
def test_sharp_bounds_on_equation_36(M: str, strongly: float, convex: float) -> None:
    step = 1 / (4 * (2 + Fraction(M)))
    for name, expected in (("theorem_5_1_strongly_convex", strongly), ("theorem_5_1_convex", convex)):
        s = get(name, "sharp")
        found = s.evaluate(**only(s, ON_36), M=M, eta_l=step)
        assert float(found.value) == pytest.approx(expected, abs=6e-6)
        assert found.in_scope is True


def test_exact_gaps_on_equation_36_stay_below_the_bounds_with_the_declared_weights() -> None:
    gaps = gaps_on_36(Fraction(1, 8), 100)
    assert gaps[0] == Fraction(1, 12)
    for name, expected in (("theorem_5_1_strongly_convex", 7.346e-5), ("theorem_5_1_convex", 3.683e-3)):
        s = get(name, "sharp")
        at = {**only(s, ON_36), "M": 0, "eta_l": Fraction(1, 8)}
        # 1 - mu*et/2 = 15/16 and so (16/15)^r, or 1
        weights = [Fraction(Point(s.metric.weights, {**at, ROUND.name: r}).exact() or 0) for r in range(100)]
        assert weights[2] == (Fraction(256, 225) if "strongly" in name else 1)
        average = sum((w * g for w, g in zip(weights, gaps, strict=True)), Fraction(0)) / sum(weights)
        assert float(average) == pytest.approx(expected, rel=1e-3)
        for reading in ("sharp", "corrected"):
            assert float(average) <= float(get(name, reading).evaluate(**at).value)


BREAKS: dict[str, dict[str, Any]] = {
    "step size": {"eta_l": "1/100"},
    "server step size": {"eta_g": "1/2", "eta_l": "1/200"},
    "B at least 1": {"B2": "1/2"},
    "rounds": {"R": 47},
    "step size from below": {"eta_l": "1/1000"},
}


def breaking(names: tuple[str, ...]) -> Iterator[tuple[Statement, str]]:
    for name in names:
        for s in readings("fedshuffle", name):
            for condition in s.conditions:
                yield s, condition.name


@pytest.mark.parametrize(("s", "condition"), list(breaking(FIXED)), ids=lambda v: getattr(v, "id", v))
def test_each_condition_of_theorem_5_1_can_fail_alone(s: Statement, condition: str) -> None:
    at = {**only(s, AT), "R": 96}  # 96 = 4*beta*L/mu*2, so that et = 1/48 is above 1/(mu R)
    assert s.scope(**at).in_scope is True
    broken = s.scope(**{**at, **BREAKS[condition]})
    assert condition in {c.name for c in broken.failed}
    assert broken.in_scope is False
    if condition in ("B at least 1", "rounds", "server step size") and s.reading != "as_printed":
        assert [c.name for c in broken.failed] == [condition]


@pytest.mark.parametrize("name", FIXED)
def test_the_edge_of_the_step_condition_is_within(name: str) -> None:
    at = {**only(get(name), AT), "R": 96}
    step = next(c for c in get(name).scope(**at).conditions if c.name == "step size")
    assert step.exact == 0
    assert get(name).largest("eta_l", **{k: v for k, v in at.items() if k != "eta_l"}) == Fraction(1, 144)
    # the sharp reading divides P^2 by 3, and so allows more
    room = get(name, "sharp").largest("eta_l", **{k: v for k, v in at.items() if k != "eta_l"})
    beta = 1 + (1 + math.sqrt(1 / 12)) * 2 + 2
    assert float(room) == pytest.approx(1 / (8 * beta) / 3, rel=1e-10)


# --- Theorem 5.1 at the tuned step ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "reading", "constant"),
    [
        ("convex", "corrected", 41.60),
        ("convex", "sharp", 3.42),
        ("nonconvex", "corrected", 20.97),
        ("nonconvex", "sharp", 9.16),
    ],
)
def test_tuned_constants_of_the_middle_term(name: str, reading: str, constant: float) -> None:
    """G = 0 leaves the last term and the middle one; everything else is 1."""
    s = get(f"theorem_5_1_{name}_tuned", reading)
    noise = 3 if reading == "sharp" else 1  # Lemma C.2's sigma^2 is then 1
    ones = {"L": 1, "G2": 0, "B2": 1, "P2": 0, "sigma2": noise, "M": 0, "E": 1, "eta_g": 1, "R": 10**6}
    found = number(s.bound, only(s, {**ones, "dist2_0": 1, "gap_0": 1}))
    last = {"corrected": {"convex": 40, "nonconvex": 32}, "sharp": {"convex": 4, "nonconvex": 16}}[reading][name]
    assert (found - 2 * last / 10**6) * 10**4 == pytest.approx(constant, abs=6e-3)


@pytest.mark.parametrize(
    ("name", "reading", "constant"),
    [
        ("convex", "corrected", 20 * math.sqrt(2)),
        ("convex", "sharp", 2 * math.sqrt(2)),
        ("nonconvex", "corrected", 16),
        ("nonconvex", "sharp", 8),
    ],
)
def test_tuned_constants_of_the_first_term(name: str, reading: str, constant: float) -> None:
    """The first term is the one that remains for many rounds."""
    s = get(f"theorem_5_1_{name}_tuned", reading)
    ones = {"L": 1, "G2": 1, "B2": 1, "P2": 0, "sigma2": 0, "M": 1, "E": 1, "eta_g": 1, "R": 10**24}
    assert number(s.bound, only(s, {**ones, "dist2_0": 1, "gap_0": 1})) * 10**12 == pytest.approx(constant, rel=1e-2)


@pytest.mark.parametrize("reading", ["corrected", "sharp"])
@pytest.mark.parametrize("name", FIXED)
def test_the_tuned_bound_is_above_the_fixed_one_at_its_step_and_not_far_above_the_best(name: str, reading: str) -> None:
    fixed, tuned = get(name, reading), get(f"{name}_tuned", reading)
    (chosen, formula), *more = tuned.choices
    assert (chosen, more) == ("eta_l", [])
    tightest: list[float] = []
    for at in some_instances(40):
        if any(c.name == "rounds" and not c.holds for c in tuned.scope(**only(tuned, at)).conditions):
            continue
        here = only(fixed, at)
        step = number(formula, here)
        above = number(tuned.bound, here)
        below = float(fixed.evaluate(**here, eta_l=Fraction(step)).value)
        assert below <= above * (1 + 1e-12)
        tightest.append(below / above if above else 1.0)
        room = float(fixed.largest("eta_l", **here))
        assert step <= room * (1 + 1e-9)
        if not fixed.metric.weights.free_symbols:  # each of the three terms is at most the least sum
            steps = [room * 10 ** (-k / 8) for k in range(80)]
            assert above <= 3.3 * min(fixed.evaluate(**here, eta_l=steps).value)
    assert len(tightest) >= 15
    assert max(tightest) > 0.3


def test_the_logarithm_of_the_tuned_step_against_its_definition() -> None:
    """ell = max(1/2, log(min of the two ratios)) where the cap is not met; the caps keep noise-free cases defined."""
    s = get("theorem_5_1_strongly_convex_tuned", "sharp")
    at = {"L": 1, "mu": 1, "G2": 1, "B2": 1, "P2": 0, "sigma2": 0, "M": "1/2", "E": 1, "eta_g": 1, "R": 1000}
    at["dist2_0"] = 4
    # m = 1/2: m^2 R d0/c1 = 1000/(2/2) = 1000, m^3 R^2 d0/c2 = 500000/5 = 100000
    ell = math.log(1000)
    assert number(s.choices[0][1], at) == pytest.approx(2 * ell / 1000, rel=1e-12)
    expected = 6 * math.exp(-1000 / 20) + 2 * (3 + ell) / 1000 + 20 * (3 + ell**2) / 10**6
    assert number(s.bound, at) == pytest.approx(expected, rel=1e-12)
    # full participation: the second ratio alone
    alone = {**at, "M": 0}
    assert number(s.choices[0][1], alone) == pytest.approx(2 * math.log(10**5) / 1000, rel=1e-12)
    # a short log: 1/2
    far = {**at, "G2": 1000}
    assert number(s.choices[0][1], far) == pytest.approx(1 / 1000, rel=1e-12)
    # no noise at all: the largest step, beta = 2, and the exponential term alone
    still = {**at, "G2": 0, "M": 0}
    assert number(s.choices[0][1], still) == pytest.approx(1 / 8, rel=1e-12)
    assert number(s.bound, still) == pytest.approx(6 * math.exp(-1000 / 16), rel=1e-12)


def test_the_printed_tuned_step() -> None:
    s = get("theorem_5_1_strongly_convex_tuned", "as_printed")
    at = {"L": 1, "mu": 1, "G2": 1, "B2": 1, "P2": 0, "sigma2": 0, "M": 1, "E": 1, "eta_g": 1, "R": 1000, "dist2_0": 4}
    # log(max(1, mu^2 R d/c1))/(mu R) with d = 10 D = 40 and c1 = 4
    assert number(s.choices[0][1], at) == pytest.approx(math.log(10**4) / 1000, rel=1e-12)
    # c1 = 0: the logarithm is infinite, the step the largest one
    assert number(s.choices[0][1], {**at, "M": 0}) == pytest.approx(1 / 8, rel=1e-12)
