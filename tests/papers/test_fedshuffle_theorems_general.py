"""Theorems 5.2 and E.1 of FedShuffle as statements, and the printed sign."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from fedshuffle_tools import AT, FIXED, GENERAL, ON_36, gaps_on_36, get, number, only, some_instances

# --- Theorem 5.2 ------------------------------------------------------------------------------------------


def test_momentum_bound_by_hand() -> None:
    at = {"L": 2, "G2": 3, "B2": 1, "P2": 0, "sigma2": 5, "E": 2, "eta_l": "1/200", "R": 10, "gap_0": 7}
    at |= {"delta": 1, "a": "1/2", "warm_up": 4}
    # 5*7/(10/100) + 63*3/(20) + 25*4*5/40000 + 255*3/2
    exact = 350 + Fraction(189, 20) + Fraction(1, 80) + Fraction(765, 2)
    found = get("theorem_5_2").evaluate(**at)
    assert (found.exact, found.in_scope) == (exact, True)
    printed = get("theorem_5_2", "as_printed").evaluate(**{**at, "warm_up": 10})
    assert printed.exact == 350 + Fraction(63 * 3, 50) + Fraction(1, 80) + 293760 * 3
    assert printed.in_scope is True
    assert get("theorem_5_2", "as_printed").scope(**only(get("theorem_5_2"), at)).in_scope is False


@pytest.mark.parametrize(
    ("condition", "change"),
    [
        ("step size and smoothness", {"L": 51}),
        ("step size and similarity", {"delta": "13/5", "a": 1}),
        ("momentum from below", {"a": "1/10"}),
        ("momentum from above", {"a": 2}),
        ("B is 1", {"B2": "11/10"}),
        ("P is 0", {"P2": "1/100"}),
    ],
)
def test_each_condition_of_theorem_5_2_can_fail_alone(condition: str, change: dict[str, Any]) -> None:
    # 4*L*eta = 1, 40*delta*E*eta = 4/5 and 1152*(E*delta*eta)^2 = 0.4608
    at = {"L": 50, "B2": 1, "P2": 0, "E": 2, "eta_l": "1/200", "delta": 2, "a": "1/2"}
    assert get("theorem_5_2").scope(**at).in_scope is True
    assert [c.name for c in get("theorem_5_2").scope(**{**at, **change}).failed] == [condition]


@pytest.mark.parametrize("reading", ["corrected", "corrected_proof"])
def test_the_tuned_momentum_bound_is_above_the_fixed_one(reading: str) -> None:
    s, fixed = get("theorem_5_2_tuned", reading), get("theorem_5_2")
    largest = 0.0
    for at in some_instances(60):
        delta = at["L"] / at["E"]
        here = {**only(fixed, at), "B2": Fraction(1), "P2": Fraction(0), "delta": delta}
        chosen = {name: number(expr, here) for name, expr in s.choices}
        exact = {name: Fraction(value) for name, value in chosen.items()}
        # from below by the rounding of floats: the conditions hold at the rational next to the chosen step
        exact["eta_l"] *= 1 - Fraction(1, 10**12)
        found = fixed.evaluate(**here, **exact)
        assert found.in_scope is True
        above = number(s.bound, here)
        assert float(found.value) <= above * (1 + 1e-9)
        largest = max(largest, float(found.value) / above)
    assert largest > 0.5  # constants are not idle


def test_constants_of_the_tuned_momentum_bounds() -> None:
    assert pytest.approx(388.75, abs=5e-3) == 10 * 58752 ** (1 / 3)
    assert 200 + Fraction(293760, 1600) <= 384
    ones = {"L": 1, "G2": 0, "B2": 1, "P2": 0, "sigma2": 1, "E": 1, "R": 1000, "gap_0": 1, "delta": 1}
    assert number(get("theorem_5_2_tuned").bound, ones) == pytest.approx(384 / 100 + 200 / 1000)
    assert number(get("theorem_5_2_tuned", "corrected_proof").bound, ones) == pytest.approx(390 / 100 + 220 / 1000)
    # step: min(1/40, (1/1000)^(1/3)/40) = 1/400, and a = max(1152/160000, 1/1000)
    steps = dict(get("theorem_5_2_tuned").choices)
    assert number(steps["eta_l"], ones) == pytest.approx(1 / 400)
    assert number(steps["a"], ones) == pytest.approx(1152 / 160000)
    assert number(steps["warm_up"], ones) == 1000


# --- Theorem E.1 and its lemmas ---------------------------------------------------------------------------

GEN: dict[str, Any] = {
    "L": 2,
    "mu": 1,
    "G2": 3,
    "B2": 4,
    "M1": "1/2",
    "M2": 1,
    "P2_gen": "1/4",
    "sigma2_gen": 5,
    "eta_g": 3,
    "R": 2,
    "W": "1/2",
    "eta_l": "1/96",
    "dist2_0": 7,
    "gap_0": 5,
    "drift_0": "1/9",
}
# beta = 6 (7 with M2): eta_l <= 1/48 and et = 1/64 <= 1/48; middle term (5/4*3 + 5) = 35/4 times eta_l^2 = 1/9216


@pytest.mark.parametrize(
    ("name", "reading", "expected"),
    [
        ("theorem_e_1_convex", "corrected", 35 * 64 + Fraction(30, 64) + Fraction(1575, 9216)),
        ("theorem_e_1_convex", "sharp", Fraction(7, 2) * 64 + Fraction(3, 64) + Fraction(175, 2) / 9216),
        ("theorem_e_1_convex", "as_printed", 35 * 64 + Fraction(30, 64) + Fraction(1575, 8) / 9216),
        ("theorem_e_1_nonconvex", "corrected", 20 * 64 + Fraction(24, 64) + Fraction(630, 9216)),
        ("theorem_e_1_nonconvex", "sharp", 10 * 64 + Fraction(12, 64) + Fraction(210, 9216)),
        ("lemma_e_3", "corrected", 7 * (1 - Fraction(1, 128)) + (-5 + Fraction(2, 3)) / 64 + 3 * Fraction(1, 64) ** 2),
        ("lemma_e_4", "corrected", Fraction(9, 128) + Fraction(18 * 35, 4) / 64 / 9216),
        ("lemma_e_4", "sharp", Fraction(30, 448) + Fraction(96 * 35, 28) / 64 / 9216),
        ("lemma_e_4", "as_printed", Fraction(9, 128) + Fraction(35, 4) / 64**3),
    ],
)
def test_the_general_method_by_hand(name: str, reading: str, expected: Fraction) -> None:
    s = get(name, reading)
    assert s.evaluate(**only(s, GEN)).exact == expected
    assert s.metric.surrogate


@pytest.mark.parametrize(("W", "slower"), [("1/2", 1), ("1/6", 2)])
def test_the_tuned_general_method_without_errors(W: str, slower: int) -> None:
    """beta = 6: 4*6*2*d0/R, and twice that where W eta_g = 1/2 limits the effective step."""
    at = {**GEN, "W": W, "G2": 0, "sigma2_gen": 0}
    for name, reading, d0 in (
        ("theorem_e_1_convex_tuned", "corrected", 70),
        ("theorem_e_1_convex_tuned", "sharp", 7),
        ("theorem_e_1_nonconvex_tuned", "corrected", 40),
        ("theorem_e_1_nonconvex_tuned", "sharp", 20),
    ):
        s = get(name, reading)
        assert s.evaluate(**only(s, at)).exact == 24 * d0 * slower
        assert s.metric.surrogate


@pytest.mark.parametrize("reading", ["corrected", "sharp"])
@pytest.mark.parametrize("name", ["theorem_e_1_convex", "theorem_e_1_nonconvex"])
def test_the_tuned_general_method_is_the_theorem_at_its_step(name: str, reading: str) -> None:
    """Each term decides the step once; the step is allowed, and the tuned bound is 1 to 3 times that at the step."""
    fixed, tuned = get(name, reading), get(f"{name}_tuned", reading)
    ratios = []
    for change in (
        {"R": 1},
        {"R": 10**6},
        {"R": 10**6, "M1": "1/100000"},
        {"R": 10, "W": "1/9"},
        {"R": 10**9, "W": 5, "G2": 0},
    ):
        at = {**GEN, **change}
        step = dict(tuned.choices)["eta_l"]
        values = {s: Fraction(at[s.name]) for s in step.free_symbols}
        eta_l = Fraction(float(step.subs({s: str(v) for s, v in values.items()}))) * (1 - Fraction(1, 10**12))
        there = only(fixed, {**at, "eta_l": eta_l})
        assert fixed.scope(**there).in_scope is True
        ratios.append(float(tuned.evaluate(**only(tuned, at)).value) / float(fixed.evaluate(**there).value))
    assert min(ratios) >= 1 - 1e-9
    assert max(ratios) <= 3


def test_the_logarithm_of_the_tuned_general_method_by_hand() -> None:
    """mu' = 1/2, d0 = D = 4, W = 1/2 and eta_g = 4, so that W eta_g = 2; M1 = 1/2 and beta = 1 + 1 + 1/2 = 5/2."""
    s = get("theorem_e_1_strongly_convex_tuned", "sharp")
    at = {"L": 1, "mu": 1, "G2": 1, "B2": 1, "P2_gen": 0, "sigma2_gen": 0, "M1": "1/2", "W": "1/2", "eta_g": 4}
    at |= {"R": 1000, "dist2_0": 4}
    # (1/4)(1000)(4)/c1 = 1000 with c1 = 2/2, and (1/8)(10^6)(4)/c2 = 400000 with c2 = 5/4
    ell = math.log(1000)
    assert number(s.choices[0][1], at) == pytest.approx(2 * ell / 1000 / 2, rel=1e-12)
    expected = 6 * math.exp(-1000 / 20) + 2 * (3 + ell) / 1000 + 20 * (3 + ell**2) / (2 * 1000) ** 2
    assert number(s.bound, at) == pytest.approx(expected, rel=1e-12)
    # W eta_g = 1/2: the largest step is 1/20, at which the exponential term is that of twice the rounds
    slow = {**at, "W": "1/8", "M1": 0, "G2": 0}  # beta = 2
    assert number(s.choices[0][1], slow) == pytest.approx(Fraction(1, 16) / Fraction(1, 2), rel=1e-12)
    assert number(s.bound, slow) == pytest.approx(6 * math.exp(-1000 / 32), rel=1e-12)
    assert s.scope(**{**slow, "R": 15}).in_scope is False  # 4 beta L/(W eta_g mu) = 16
    assert s.scope(**{**slow, "R": 16}).in_scope is True


def test_the_tuned_strongly_convex_general_method_is_the_theorem_at_its_step() -> None:
    """The step is allowed, and the tuned bound is at least that of the theorem there, for either decisive error."""
    for reading in ("corrected", "sharp"):
        fixed, tuned = get("theorem_e_1_strongly_convex", reading), get("theorem_e_1_strongly_convex_tuned", reading)
        ratios = []
        for change in ({"R": 48}, {"R": 500, "M1": 0}, {"R": 10**5}, {"R": 10**4, "W": 5, "M1": "1/100000"}):
            at = {**GEN, **change}
            eta_l = Fraction(float(number(tuned.choices[0][1], at))) * (1 - Fraction(1, 10**12))
            there = only(fixed, {**at, "eta_l": eta_l})
            assert fixed.scope(**there).in_scope is True
            ratios.append(float(tuned.evaluate(**only(tuned, at)).value) / float(fixed.evaluate(**there).value))
        assert min(ratios) >= 1 - 1e-9
        assert min(ratios) < 2.5  # no idle factor


def test_the_printed_order_of_the_general_method_by_hand() -> None:
    """sqrt(c/R) + cbrt(.) + L . beta/R with beta = 7: G^2 = 3, middle (5/4*3 + 5)/9 = 35/36, R = 2."""
    convex, nonconvex = (get(f"theorem_e_1_{k}_tuned", "as_printed") for k in ("convex", "nonconvex"))
    found = float(convex.evaluate(**only(convex, GEN)).value)
    assert found == pytest.approx((7 * 1.5 / 2) ** 0.5 + (3.5**2 * 35 / 36) ** (1 / 3) + 49, rel=1e-12)
    found = float(nonconvex.evaluate(**only(nonconvex, GEN)).value)
    assert found == pytest.approx((5 * 3 / 2) ** 0.5 + (2.5**2 * 70 / 36) ** (1 / 3) + 35, rel=1e-12)


def test_the_general_theorem_at_w_1_is_theorem_5_1() -> None:
    """W = 1, M1 = M, and P^2, sigma^2 of Appendix E: those of Lemma C.2 over E^2, with E times the local step."""
    own = {**AT, "P2": 0}
    gen = {**own, "W": 1, "M1": own["M"], "P2_gen": 0, "sigma2_gen": Fraction(5, 3) / 4, "eta_l": Fraction(1, 72)}
    # et = 1/48, eta_g E = 3, H = 4*3 + 5/3 = 41/3, r/(1-r) = 9025/191 for r = (1 - 1/96)^2
    middle = Fraction(41, 3) / 9 / 2304
    by_hand = (
        Fraction(7, 2) * Fraction(9025, 191) + Fraction(1, 16) + 10 * middle,
        7 * 24 + Fraction(1, 16) + 10 * middle,
        20 * 24 + Fraction(1, 4) + 24 * middle,
    )
    for name, general, expected in zip(FIXED, GENERAL, by_hand, strict=True):
        left, right = get(name, "sharp"), get(general, "sharp")
        assert left.evaluate(**only(left, own)).exact == right.evaluate(**only(right, gen)).exact == expected


@pytest.mark.parametrize("name", GENERAL)
def test_both_steps_of_the_general_method_have_a_condition(name: str) -> None:
    s = get(name)
    at = only(s, GEN)
    assert s.scope(**at).in_scope is True
    assert [c.name for c in s.scope(**{**at, "W": 1}).failed] == ["effective step size"]  # et = 1/32
    assert [c.name for c in s.scope(**{**at, "eta_l": "1/40", "eta_g": 1}).failed] == ["local step size"]
    assert [c.name for c in s.scope(**{**at, "B2": "1/2"}).failed] == ["B at least 1"]
    printed = get(name, "as_printed")
    wide = {**only(printed, GEN), "R": 10**4, "eta_l": "1/168"}  # 4*7*2*3 = 168
    assert printed.scope(**wide).in_scope is True
    assert printed.scope(**{**wide, "W": 100}).in_scope is True  # whatever W is
    assert s.scope(**only(s, {**wide, "W": 100})).in_scope is False


# --- the sign ---------------------------------------------------------------------------------------------


def test_the_printed_sign_moves_away_on_equation_36() -> None:
    at = {**ON_36, "M": 0, "eta_l": "1/8", "mu": 1}
    bound = get("algorithm_1").evaluate(**only(get("algorithm_1"), at))
    assert bound.in_scope is True
    # contraction 15/16 of 1/6, and 9*(1/512)*(1/3 + 7/108)
    assert bound.exact == Fraction(5, 32) + Fraction(9, 512) * Fraction(43, 108)
    down, up = (2 * gaps_on_36(Fraction(1, 8), 2, signs)[1] for signs in (1, -1))  # dist2 is twice the gap
    assert isinstance(bound.exact, Fraction)
    assert down <= bound.exact < up
    printed = get("algorithm_1", "as_printed")
    assert printed.bound == get("algorithm_1").bound
    assert printed.algorithm is not None
    assert printed.algorithm.kind == "fedshuffle_ascending"
