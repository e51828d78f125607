"""The statements about FedDANE against numbers worked out by hand, and their verdicts on exact runs.

T. Li et al., "FedDANE: A Federated Newton-Type Method".
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from boundcheck.engines.curve import Curve
from boundcheck.engines.run import run
from boundcheck.evidence.compare import compare
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import Setting
from boundcheck.setting.constants import joint_objections
from boundcheck.theory.discovery import all_ids, statement
from boundcheck.theory.statement import Belief, Statement
from boundcheck.verdict import Grade, Outcome, Verdict

IDS = [name for name in all_ids() if name.startswith("feddane/")]


def get(name: str) -> Statement:
    return statement(f"feddane/{name}")


def exact(name: str, **values: Any) -> Fraction:
    s = get(name)
    known = {symbol.name for symbol in s.symbols}
    found = s.evaluate(**{k: v for k, v in values.items() if k in known}).exact
    assert isinstance(found, Fraction)
    return found


def rho(name: str, **values: Any) -> Fraction:
    return 1 - exact(name, **{"gamma": 0, "lam": 0, "L": 1, **values}, gap_0=1, grad2_0=1)


def test_only_the_misprint_has_a_wrong_unit() -> None:
    wrong = {name for name in IDS if get(name.removeprefix("feddane/")).dimension_errors()}
    assert wrong == {"feddane/equation_11/as_printed"}
    false = {name for name in IDS if get(name.removeprefix("feddane/")).belief is Belief.FALSE}
    assert {"feddane/theorem_7/as_printed", "feddane/remark_sampling/as_printed"} <= false
    assert all(name.endswith("as_printed") for name in false)


def test_compact_forms() -> None:
    mu, lam, gamma, L, B2, K = (sp.Symbol(name, real=True) for name in ("mu", "lam", "gamma", "L", "B2", "K"))
    gap_0, grad2_0 = (sp.Symbol(name, real=True) for name in ("gap_0", "grad2_0"))
    rho_3, rho_5, sharp_5 = (
        (gap_0 - get(name).bound) / grad2_0
        for name in ("theorem_3/as_printed", "theorem_5/as_printed", "theorem_5/sharp")
    )
    m, half = mu - lam, sp.Rational(1, 2)
    compact = 1 / mu - gamma * (B2 + half) / m - L * B2 * (1 + gamma) ** 2 / m**2 - L * (B2 + half) / (mu * m)
    assert sp.simplify(rho_5 - compact) == 0
    assert sp.simplify(rho_5.subs(lam, 0) - rho_3) == 0
    # the paper's |g|^2 <= 2 |grad f|^2 + 2 |g - grad f|^2 puts 2 B^2 for 1 + (B^2 - 1)/K
    assert sp.simplify(sharp_5.subs(K, (B2 - 1) / (2 * B2 - 1)) - rho_5) == 0


@pytest.mark.parametrize(
    ("B2", "at_5", "best", "least", "largest"),
    [
        (1, "1/10", "1/10", "5/2", 5),
        (4, "23/800", "1/34", "17/2", 17),
        (9, "53/4050", "1/74", "37/2", 37),
        (100, "599/500000", "1/802", "401/2", 401),
    ],
)
def test_theorem_3_with_exact_solutions(B2: int, at_5: str, best: str, least: str, largest: int) -> None:
    assert exact("feasibility_mu/least", L=1, B2=B2, gamma=0) == Fraction(least)
    assert exact("feasibility_mu/best", L=1, B2=B2, gamma=0) == largest
    assert rho("theorem_3/as_printed", B2=B2, mu=5 * B2) == Fraction(at_5)
    assert rho("theorem_3/as_printed", B2=B2, mu=largest) == Fraction(best)
    assert rho("theorem_3/as_printed", B2=B2, mu=Fraction(least)) == 0
    for near in (largest - Fraction(1, 100), largest + Fraction(1, 100)):
        assert rho("theorem_3/as_printed", B2=B2, mu=near) < Fraction(best)
    assert rho("theorem_3/as_printed", B2=B2, mu=5 * B2) / Fraction(best) == Fraction(
        24 * B2**2 + 2 * B2 - 1, 25 * B2**2
    )


def test_theorem_3_at_b_100() -> None:
    assert float(rho("theorem_3/as_printed", B2=10**4, mu=5 * 10**4)) == pytest.approx(1.19998e-5, rel=1e-5)
    assert exact("feasibility_mu/least", L=1, B2=10**4, gamma=0) == Fraction(40001, 2)


def test_corollary_4() -> None:
    for B2 in (1, 4, 9, 100):
        corrected = rho("corollary_4/corrected", B2=B2, mu=5 * B2)
        assert corrected == rho("theorem_3/as_printed", B2=B2, mu=5 * B2)
        printed = rho("corollary_4/as_printed", B2=B2, mu=5 * B2)
        assert corrected / printed == 1 - Fraction(1, 6 * B2)
        # the printed value is what Theorem 3 does not give but its sharp form does
        sharp = rho("corollary_4/sharp", B2=B2, mu=5 * B2)
        assert corrected < printed < sharp == rho("theorem_3/sharp_any_cohort", B2=B2, mu=5 * B2)
    assert rho("corollary_4/as_printed", B2=1, mu=5) == Fraction(3, 25)
    assert get("corollary_4").evaluate(L=1, B2=4, mu=20, gamma=0, gap_0=1, grad2_0=1).in_scope is True
    assert get("corollary_4").evaluate(L=1, B2=4, mu=21, gamma=0, gap_0=1, grad2_0=1).in_scope is False


def test_feasibility_with_inexact_solutions() -> None:
    largest = [exact("feasibility_gamma", B2=B2) for B2 in (1, 4, 100)]
    assert largest[:2] == [Fraction(2, 3), Fraction(2, 9)]
    assert float(largest[2]) == pytest.approx(0.00995, abs=1e-5)
    for B2, gamma in itertools.product((1, 4, 9), (Fraction(0), Fraction(1, 20))):
        a = 1 - gamma * (B2 + Fraction(1, 2))
        c = B2 * ((1 + gamma) ** 2 + 1) + Fraction(1, 2)
        least, best = (exact(f"feasibility_mu/{r}", L=1, B2=B2, gamma=gamma) for r in ("least", "best"))
        assert (least, best) == (c / a, 2 * c / a)
        assert rho("theorem_3/as_printed", B2=B2, gamma=gamma, mu=best) == a**2 / (4 * c)
        # the largest B for this mu is where rho vanishes
        mu = 2 * least
        B = get("feasibility_b").evaluate(L=1, mu=mu, gamma=gamma)
        square = ((2 - gamma) * mu - 1) / (2 * ((1 + gamma) ** 2 + 1 + gamma * mu))
        assert float(B.value) == pytest.approx(math.sqrt(square), rel=1e-12)
        assert rho("theorem_3/as_printed", B2=square, gamma=gamma, mu=mu) == 0
    assert get("feasibility_mu").evaluate(L=1, B2=4, gamma="2/9").in_scope is False
    assert get("feasibility_b").evaluate(L=1, mu="5/2", gamma=0).in_scope is False  # needs mu > 5/2
    assert exact("feasibility_b", L=1, mu=Fraction(17, 2), gamma=0) == 2


@pytest.mark.parametrize(
    ("lam", "B2", "least", "best", "value"),
    [
        ("1/2", 1, 3.1861, 6.0151, 0.0881549),
        ("1/2", 9, 19.2401, 38.1081, 0.0132492),
        ("1/2", 100, 201.249, 402.12, 0.00124456),
        ("1", 1, 3.8508, 6.9763, 0.0793662),
        ("1", 9, 19.9743, 39.2033, 0.0129984),
    ],
)
def test_theorem_5_with_exact_solutions(lam: str, B2: int, least: float, best: float, value: float) -> None:
    from scipy.optimize import minimize_scalar

    found = get("feasibility_mu/least_nonconvex").evaluate(L=1, lam=lam, B2=B2, gamma=0)
    assert float(found.value) == pytest.approx(least, rel=1e-4)

    def of(mu: float) -> float:
        return float(rho("theorem_5/as_printed", lam=lam, B2=B2, mu=Fraction(mu)))

    edge = float(found.value)
    assert of(edge * (1 - 1e-9)) < 0 < of(edge * (1 + 1e-9))
    top = minimize_scalar(lambda mu: -of(mu), bounds=(least, 4 * best), method="bounded", options={"xatol": 1e-6})
    assert top.x == pytest.approx(best, rel=1e-4)
    assert -top.fun == pytest.approx(value, rel=1e-5)


def test_strict_conditions_and_domain() -> None:
    given = {"L": 1, "gamma": 0, "gap_0": 1, "grad2_0": 1}
    assert get("theorem_3").scope(**given, B2=1, mu="5/2").in_scope is False  # rho = 0
    at_edge = get("theorem_5").scope(**given, B2=1, lam=1, mu=1)
    assert at_edge.in_scope is False
    assert any(c.name == "proximal weight" for c in at_edge.failed)
    vacuous = [c.name for c in get("theorem_5").conditions if c.vacuity]
    assert vacuous == ["positive decrease"]
    # below lam rho can be positive and means nothing
    assert get("theorem_5").scope(**given, B2=1, lam=100, mu=1).in_scope is False
    from boundcheck.errors import BadInput

    with pytest.raises(BadInput, match="B2"):
        get("theorem_3").evaluate(**given, B2="1/2", mu=5)


@pytest.mark.parametrize(
    ("lam", "B2", "best", "largest"),
    [
        ("1/2", 1, 6.0151, 0.0881549),
        ("1/2", 9, 38.1081, 0.0132492),
        ("1/2", 100, 402.12, 0.00124456),
        (1, 1, 6.9763, 0.0793662),
        (1, 9, 39.2033, 0.0129984),
    ],
)
def test_the_best_mu_of_theorem_5(lam: Any, B2: int, best: float, largest: float) -> None:
    """L = 1 and exact solutions: a mu and the decrease there that were found by bisection, elsewhere."""
    at = {"lam": lam, "B2": B2, "gamma": 0}
    m = Fraction(best).limit_denominator(10**6) - Fraction(lam)
    assert float(exact("feasibility_mu/best_nonconvex", m=m, **at)) == pytest.approx(1, rel=2e-5)
    assert float(exact("feasibility_decrease/nonconvex", m=m, **at)) == pytest.approx(largest, rel=2e-5)
    # a larger and a smaller mu guarantee less, at the L for which m is the best
    L = exact("feasibility_mu/best_nonconvex", m=m, **at)
    there = exact("feasibility_decrease/nonconvex", m=m, **at)
    for other in (m * Fraction(99, 100), m * Fraction(101, 100)):
        mu = Fraction(lam) + other
        decrease = 1 / mu - L * B2 / other**2 - L * (B2 + Fraction(1, 2)) / (mu * other)
        assert decrease < there


def test_the_best_decrease_of_theorem_3_is_theorem_5s_without_curvature() -> None:
    assert exact("feasibility_decrease/convex", L=1, B2=4, gamma=0) == Fraction(1, 34)  # 1/(2 (4*4 + 1))
    for gamma, B2, m in (("1/20", 3, 21), (0, 4, 17)):
        L = exact("feasibility_mu/best_nonconvex", lam=0, m=m, gamma=gamma, B2=B2)
        assert exact("feasibility_mu/best", L=L, gamma=gamma, B2=B2) == m
        convex = exact("feasibility_decrease/convex", L=L, gamma=gamma, B2=B2)
        assert exact("feasibility_decrease/nonconvex", lam=0, m=m, gamma=gamma, B2=B2) == convex


def test_rounds_are_exact_at_integers() -> None:
    assert exact("theorem_6_rounds", gap_0=3, rho="1/10", eps="3/10") == 100
    assert exact("theorem_6_rounds", gap_0=3, rho="1/10", eps="2999/10000") == 101
    assert exact("theorem_6_rounds/as_printed", gap_0=3, rho="1/10", eps="3/10") == 100


def test_minibatch_gradient_descent_is_never_worse() -> None:
    for B2, mu in itertools.product((1, 4, 9), (3, 20, 1000)):
        step = exact("minibatch_gd", L=1, B2=B2, mu=mu)
        assert step - rho("theorem_3/as_printed", B2=B2, mu=mu) == exact("minibatch_gd/advantage", L=1, B2=B2, mu=mu)
        best, theirs = exact("minibatch_gd", L=1, B2=B2, mu=B2), Fraction(1, 2 * (4 * B2 + 1))
        assert best / theirs == 4 + Fraction(1, B2)


def test_rate_under_bounded_variance() -> None:
    L, gap, sigma2, eps = Fraction(3), Fraction(2), Fraction(5), Fraction(1, 10)
    B2 = 1 + sigma2 / eps
    best = exact("feasibility_mu/best", L=L, B2=B2, gamma=0)
    decrease = rho("theorem_3/as_printed", L=L, B2=B2, mu=best)
    found = exact("remark_sgd_rate", L=L, gap_0=gap, sigma2=sigma2, eps=eps)
    assert found == gap / (decrease * eps) == 10 * L * gap / eps + 8 * L * gap * sigma2 / eps**2
    printed = get("remark_sgd_rate/as_printed")
    at = [float(printed.evaluate(L=1, B2=4, gap_0=1, eps=e).value) for e in (Fraction(1, 10), Fraction(1, 100))]
    assert at[1] / at[0] == pytest.approx(10)  # 1/eps, not 1/eps^2


def test_definition_1_certified_from_the_gradient() -> None:
    """F = 0, lam = 0, mu = 2, g = 6 at 0: the solution is -3; at -2.5 it is 1/6-inexact, at -3.5 too."""
    for w in (Fraction(-5, 2), Fraction(-7, 2)):
        true = get("definition_1").evaluate(error2=(w + 3) ** 2, step2=9).exact
        assert true == Fraction(1, 6)
        told = get("definition_1/certified").evaluate(lam=0, mu=2, residual2=(6 + 2 * w) ** 2, moved2=w**2)
        assert told.in_scope is True
        assert isinstance(told.exact, Fraction)
        assert told.exact == Fraction(1, 2) / (abs(w) - Fraction(1, 2)) >= Fraction(1, 6)
    hopeless = get("definition_1/certified").evaluate(lam=0, mu=2, residual2=16, moved2=1)
    assert hopeless.in_scope is False


# --- the example on the line ------------------------------------------------------------------------------------


def line(mu: Any, rounds: int, *, K: int | None = None, start: Any = 1, **more: Any) -> Curve:
    shape = {"participation": "full"} if K is None else {"K": K}
    method = build_method({"kind": "feddane", "mu": mu, **shape, **more})
    problem = build_problem({"kind": "feddane_1d", "start": start})
    return run(method, problem, rounds=rounds, arithmetic="rational")


def verdict(name: str, curve: Curve, **constants: Any) -> Verdict:
    return compare(get(name), curve, constants)


@pytest.mark.parametrize(
    ("mu", "factor"),
    [("1/5", Fraction(-19, 11)), (1, Fraction(1, 3)), (18, Fraction(341, 360)), ("1/3", Fraction(-5, 7))],
)
def test_multiplier_of_full_participation(mu: Any, factor: Fraction) -> None:
    m = Fraction(mu)
    assert factor == (m**2 + m - 1) / (m * (m + 2))
    assert line(mu, 3).exact["x"] == (1, factor, factor**2, factor**3)


def test_threshold_of_convergence() -> None:
    edge = (math.sqrt(17) - 3) / 4
    assert edge == pytest.approx(0.280776, abs=1e-6)
    for mu, grows in ((Fraction(28, 100), True), (Fraction(2815, 10000), False)):
        gaps = line(mu, 2).exact["gap"]
        assert (gaps[2] > gaps[1] > gaps[0]) is grows


def test_theorem_3_on_the_line() -> None:
    assert verdict("theorem_3/as_printed", line(9, 1)).outcome is Outcome.VACUOUS
    curve = line(18, 1)
    assert rho("theorem_3/as_printed", L=2, B2=2, mu=18) == Fraction(1, 36)
    assert float(curve.exact["gap"][0] - curve.exact["gap"][1]) == pytest.approx(0.051385, abs=1e-6)
    for name in ("theorem_3/as_printed", "theorem_3/sharp", "theorem_5/as_printed", "theorem_5/sharp"):
        found = verdict(name, curve)
        assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.EXACT), name


def test_theorem_6_on_the_line() -> None:
    curve = line(18, 60, K=1)
    for name in ("corrected", "as_printed", "sharp"):
        found = verdict(f"theorem_6/{name}", curve)
        assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.EXACT), name
    # against the mean by hand: rho = 1/36 and Delta = 1/2
    slopes = curve.exact["grad2"]
    for T in (1, 10, 60):
        assert sum(slopes[:T], Fraction(0)) / T <= 18 / Fraction(T)
        assert sum(slopes[1 : T + 1], Fraction(0)) / T <= 18 / Fraction(T)
    printed = get("theorem_6/as_printed").evaluate(L=2, lam=0, mu=18, gamma=0, B2=2, gap_0="1/2", grad2_0=1, T=10)
    assert printed.exact == Fraction(18, 10) + Fraction(1, 10)


def test_which_devices_are_averaged() -> None:
    """Equation (3): E over S_t and S'_t by enumeration, and the engine's runs."""
    mu = Fraction(3)
    H, slope = (Fraction(0), Fraction(2)), (Fraction(0), Fraction(2))  # at w = 1
    ends = {(s, k): (1 - slope[s] / (H[k] + mu)) ** 2 for s in (0, 1) for k in (0, 1)}
    independent = sum(ends.values(), Fraction(0)) / 4
    same = (ends[0, 0] + ends[1, 1]) / 2
    given = {"mu": mu, "gamma": 0, "K": 1, "K2": 1, "gap_0": "1/2"}
    for T in (0, 1, 3):
        assert exact("equation_3", **given, T=T) == independent**T / 2
        assert exact("equation_3/as_printed", **given, T=T) == same**T / 2
    curve = line(mu, 3, K=1)
    assert verdict("equation_3", curve).outcome is Outcome.HOLDS
    assert verdict("equation_3/as_printed", curve).outcome is Outcome.VIOLATED
    equal = line(mu, 3, K=1, same=True)
    assert verdict("equation_3", equal).outcome is Outcome.OUT_OF_SCOPE
    assert equal.exact["gap"][3] == same**3 / 2


# --- Theorem 7 ---------------------------------------------------------------------------------------------------


def test_theorem_7_on_two_devices() -> None:
    """F_1 = 16 w, F_2 = 8 w^2 from w = 1."""
    problem = build_problem({"kind": "quadratics", "clients": [{"A": 0, "b": -16}, {"A": 16, "b": 0}], "start": [1]})

    def after(mu: list[int]) -> Curve:
        return run(
            build_method({"kind": "feddane", "mu": mu, "participation": "full"}),
            problem,
            rounds=1,
            metrics=["gap"],
            arithmetic="rational",
        )

    rising = after([1, 1000])
    assert rising.exact["gap"][1] > 8 * rising.exact["gap"][0] > 0
    assert verdict("theorem_7/as_printed", rising).outcome is Outcome.VIOLATED
    assert verdict("theorem_7/corrected", rising).outcome is Outcome.VACUOUS
    falling = after([40, 1000])  # here f falls, but by less than printed
    printed = verdict("theorem_7/as_printed", falling)
    assert (printed.outcome, printed.grade) == (Outcome.VIOLATED, Grade.EXACT)
    for name in ("theorem_7/corrected", "theorem_7/sharp"):
        found = verdict(name, falling)
        assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.EXACT)


# --- hypotheses about cohorts --------------------------------------------------------------------------------------

THREE = {"kind": "quadratics", "clients": [{"A": 1}, {"A": 2}, {"A": 3}]}


def hypotheses(weights: list[str] | None = None, **method: Any) -> dict[str, str | None]:
    problem = build_problem({**THREE, "weights": weights} if weights else THREE)
    return joint_objections(build_method({"kind": "feddane", "mu": 5, **method}), problem)


UNBIASED, SPREAD, APART = "unbiased_gradient_cohort", "gradient_cohort_variance", "independent_cohorts"


def test_sampling_with_and_without_replacement() -> None:
    unequal = ["1/2", "1/3", "1/6"]
    for weights in (None, unequal):
        found = hypotheses(weights, K=2)
        assert found[UNBIASED] is None
        assert found[SPREAD] is None
        assert found[APART] is None
    assert hypotheses(K=2, participation="uniform")[UNBIASED] is None
    biased = hypotheses(unequal, K=2, participation="uniform")
    assert biased[UNBIASED] == "client 0 has the weight 1/2, but the expected share 1/3 in the mean gradient."
    assert biased[SPREAD] is not None
    # two of three, one after the other by weight; with inclusion probabilities 2 w_k it is unbiased again
    pairs = [[0, 1], [0, 2], [1, 2]]
    w = [Fraction(v) for v in unequal]
    drawn = [w[i] * w[j] / (1 - w[i]) + w[j] * w[i] / (1 - w[j]) for i, j in pairs]
    ordered = {"kind": "subsets", "subsets": pairs, "probabilities": [str(p) for p in drawn]}
    assert hypotheses(unequal, participation=ordered)[UNBIASED] is not None
    proportional = {"kind": "subsets", "subsets": pairs[:2], "probabilities": ["2/3", "1/3"]}
    assert hypotheses(unequal, participation={**proportional, "subsets": pairs[:2]})[UNBIASED] is None
    assert hypotheses(unequal, participation="full")[UNBIASED] is not None  # a plain mean of unequal weights


def test_unbiased_cohorts_that_vary_more_than_draws() -> None:
    """Always both of a pair: as unbiased as one draw out of two groups, and no better than that."""
    pairs = {"kind": "subsets", "subsets": [[0, 1], [2, 3]], "probabilities": ["1/2", "1/2"]}
    problem = build_problem({"kind": "quadratics", "clients": [{"A": k} for k in (1, 2, 3, 4)]})
    found = joint_objections(build_method({"kind": "feddane", "mu": 5, "participation": pairs}), problem)
    assert found[UNBIASED] is None
    assert "varies more" in str(found[SPREAD])


def test_cohorts_that_depend_on_each_other() -> None:
    assert "S_t is S'_t" in str(hypotheses(K=2, same=True)[APART])
    assert "round before" in str(hypotheses(K=2, pipelined=True)[UNBIASED])
    assert "factor" in str(hypotheses(K=2, decay="inverse")[UNBIASED])
    assert hypotheses(K=2)["inexact_solves"] is None
    plain = build_method({"kind": "fedavg", "E": 1, "eta": "1/10"})
    assert not {UNBIASED, SPREAD, APART, "inexact_solves"} & set(joint_objections(plain, build_problem(THREE)))


def test_iid_devices_are_not_alike() -> None:
    """B(w) is 1 for equal devices, and not for two samples of one distribution."""
    from boundcheck.evidence.constant_claims import curve_without_run

    method = build_method({"kind": "feddane", "mu": 5, "K": 1})
    alike = build_problem({"kind": "quadratics", "clients": [{"A": 1, "b": 3}] * 2, "start": [1]})
    drawn = build_problem({"kind": "quadratics", "clients": [{"A": 1, "b": 3}, {"A": 2, "b": 4}], "start": [0]})
    corrected, printed = get("remark_iid"), get("remark_iid/as_printed")
    assert compare(corrected, curve_without_run(corrected, Setting(method, alike))).outcome is Outcome.HOLDS
    found = compare(printed, curve_without_run(printed, Setting(method, drawn)))
    assert found.outcome is Outcome.VIOLATED
    assert drawn.constants()["B2_0"].value == Fraction(9 + 16, 2) / Fraction(49, 4)
