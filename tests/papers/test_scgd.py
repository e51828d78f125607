"""The statements about SCGD against numbers computed by hand, in fractions, or by a direct recursion.

S. Ma, "Semi-Cyclic Gradient Descent Outperforms Federated Averaging with Sufficiently Small Learning Rate".
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.errors import BadInput
from boundcheck.evidence.claim import Claim, RateClaim, run_claim
from boundcheck.theory.discovery import readings, statement
from boundcheck.theory.statement import Belief
from boundcheck.verdict import Grade, Outcome

CONSTANTS = {"mu": 1, "L": 2, "n": 2, "E": 3, "sigma2": 7, "dist2_0": 5}


def value(id: str, **values: Any) -> float:
    return float(statement(id).evaluate(**values).value)


# --- Lemma 3.1, Theorem 3.3 and the constant C ------------------------------------------------------------


@pytest.mark.parametrize("reading", ["as_printed_main", "as_printed_appendix", "corrected", "conservative"])
def test_lemma_and_theorem_at_s_of_six_hundredths(reading: str) -> None:
    # s = 2*3/100: contraction 1 - 0.02, noise 4*4*0.06^3*7 = 0.024192 a cycle and 12*4*0.06^2*7 = 1.2096 in the end
    step = {**CONSTANTS, "eta": "1/100"}
    assert statement(f"scgd/lemma_3_1/{reading}").evaluate(**step).exact == Fraction("4.924192")
    theorem = statement(f"scgd/theorem_3_3/{reading}")
    assert theorem.evaluate(**step, K=2).exact == Fraction("6.0116")
    assert theorem.evaluate(**step, K=0).exact == 5 + Fraction("1.2096")


def test_the_sharp_lemma_and_theorem_by_hand() -> None:
    # s = 6/100: factor (1 - 0.06 + 4*0.0036)/(1 - 0.03) + 4*16*0.000216/(1 - 8*0.0036), noise 8*0.000216/(1 - 8*0.0036)
    step = {**CONSTANTS, "eta": "1/100"}
    factor = Fraction(9544, 9700) + Fraction(13824, 971200)
    noise = Fraction(1728, 971200) * 7
    assert statement("scgd/lemma_3_1/sharp").evaluate(**step).exact == factor * 5 + noise
    theorem = statement("scgd/theorem_3_3/sharp")
    assert [theorem.evaluate(**step, K=K).exact for K in (0, 1, 2)] == [
        5,
        factor * 5 + noise,
        factor * (factor * 5 + noise) + noise,
    ]


def test_the_sharp_factor_is_one_exactly_at_the_edge() -> None:
    """s = mu/(4 L^2) = 1/16: 0.953125/0.96875 + 0.015625/0.96875; a larger step does not contract."""
    at = {"mu": 1, "L": 2, "n": 1, "E": 1, "sigma2": 0, "dist2_0": 1}
    lemma, theorem = statement("scgd/lemma_3_1/sharp"), statement("scgd/theorem_3_3/sharp")
    assert lemma.evaluate(**at, eta="1/16").exact == 1
    assert lemma.evaluate(**at, eta="17/256").value > 1
    scopes = [theorem.scope(**at, eta=eta).in_scope for eta in ("16/257", "1/16")]
    assert scopes == [True, False]
    assert [lemma.scope(**at, eta=eta).in_scope for eta in ("35355/100000", "35356/100000")] == [True, False]
    for mu in ("1/1000", 1, 2):  # how much larger than the constant of the appendix the step may be
        factor = float(Fraction(mu) / 16) / C("as_printed_appendix", mu, 2)
        assert 2.78 < factor < 3.44


def test_the_sharp_factor_makes_the_printed_rule_for_e_of_the_order_of_the_noise() -> None:
    """E = 4/(mu ell): T^2 times the sharp contraction of T/n cycles tends to 1; the rounded one only gives T^(-4/3)."""
    theorem = statement("scgd/theorem_3_3/sharp")
    at: dict[str, Any] = {"mu": 1, "L": 1, "n": 2, "E": 4, "sigma2": 0, "dist2_0": 1}
    excess = []
    for power in (4, 6, 8):
        T = 10**power
        eta = Fraction(math.log(T) / T)
        excess.append(theorem.evaluate(**at, eta=eta, K=T // 2).value * T**2)
        assert value("scgd/epsilon_rate/as_printed", **at, ell=1, T=T) == pytest.approx(T ** (-4 / 3), rel=1e-12)
    assert excess == sorted(excess, reverse=True)
    assert excess[-1] == pytest.approx(1, abs=1e-3)


def test_full_participation_has_the_same_bound_with_n_times_smaller_s() -> None:
    # s = 3/100: contraction 0.99, floor 12*4*0.03^2*7 = 0.3024
    at = {k: v for k, v in CONSTANTS.items() if k != "n"}
    exact = statement("scgd/fedavg_full_participation").evaluate(**at, eta="1/100", R=2).exact
    assert exact == Fraction("0.9801") * 5 + Fraction("0.3024")


def C(reading: str, mu: Any, L: Any) -> float:
    return value(f"scgd/equation_2/{reading}", mu=mu, L=L)


@pytest.mark.parametrize(
    ("reading", "mu", "L", "expected"),
    [
        ("as_printed_appendix", 1, 1, math.sqrt(177) / 48 - 3 / 16),
        ("conservative", 1, 1, math.sqrt(273) / 96 - 3 / 32),
        ("as_printed_main", 1, 1, math.sqrt(177) / 48 - 3 / 16),  # the two agree at mu = 1
        ("as_printed_appendix", "1/10", 1, 0.00728897),
        ("conservative", "1/10", 1, 0.00660487),
        ("as_printed_main", "1/10", 1, 0.225272),
        ("as_printed_appendix", "1/2", 1, 0.0382138),
        ("conservative", "1/2", 1, 0.0343662),
        ("as_printed_main", "1/100", "1/10", 5),  # 1/(2L); the other entry is 24.689
        ("as_printed_main", "3/2", 2, 0.0129442),
        ("as_printed_appendix", "3/2", 2, 0.0305656),
        ("as_printed_main", 2, 10, -1.76e-4),
    ],
)
def test_the_constant_C(reading: str, mu: Any, L: Any, expected: float) -> None:
    assert C(reading, mu, L) == pytest.approx(expected, rel=3e-3 if expected < 0 else 5e-6)


def test_C_for_a_small_mu_over_L() -> None:
    tiny = Fraction(1, 10**8)
    assert C("as_printed_appendix", tiny, 1) * 10**8 == pytest.approx(math.sqrt(15) / 12 - 1 / 4, rel=1e-7)
    assert C("conservative", tiny, 1) * 10**8 == pytest.approx(math.sqrt(21) / 24 - 1 / 8, rel=1e-7)
    ratios = [C("as_printed_appendix", x, 1) / C("conservative", x, 1) for x in (tiny, "1/10", "1/2", 1)]
    assert ratios == sorted(ratios)
    assert (ratios[0], ratios[-1]) == pytest.approx((1.10324, 1.1443), rel=1e-4)


def test_the_edge_of_the_printed_condition_is_met_exactly() -> None:
    # s = 2*64*10/256 = 5 = 1/(2L)
    at = {"mu": "1/100", "L": "1/10", "n": 2, "E": 64, "eta": "10/256"}
    printed = statement("scgd/theorem_3_3/as_printed_main").scope(**at)
    assert printed.in_scope is True
    assert printed.conditions[0].exact == 0
    for reading in ("corrected", "conservative", "as_printed_appendix"):
        assert statement(f"scgd/theorem_3_3/{reading}").scope(**at).in_scope is False


def test_the_printed_equation_2_and_what_rests_on_it_do_not_scale() -> None:
    wrong = {
        s.id
        for name in (
            "equation_2",
            "lemma_3_1",
            "theorem_3_3",
            "theorem_3_4",
            "choice_of_e",
            "fedavg_full_participation",
        )
        for s in readings("scgd", name)
        if s.dimension_errors()
    }
    assert wrong == {
        "scgd/equation_2/as_printed_main",
        "scgd/lemma_3_1/as_printed_main",
        "scgd/theorem_3_3/as_printed_main",
        "scgd/theorem_3_4/as_printed",  # its b lacks the mean of sigma_i^2
    }


def test_readings_and_beliefs() -> None:
    assert statement("scgd/theorem_3_3").id == "scgd/theorem_3_3/corrected"
    beliefs = {s.reading: s.belief for s in readings("scgd", "theorem_3_3")}
    assert beliefs == {
        "corrected": Belief.TRUE,
        "as_printed_main": Belief.FALSE,
        "as_printed_appendix": Belief.TRUE,
        "conservative": Belief.TRUE,
        "sharp": Belief.TRUE,
    }
    with pytest.raises(BadInput, match="mu <= L is needed"):
        statement("scgd/theorem_3_3").scope(mu=2, L=1, n=1, E=1, eta=1)


# --- the horizon-dependent step ---------------------------------------------------------------------------


def test_choice_of_e_by_hand() -> None:
    # E mu ell/3 = 1: T^-1 * 5 + 12*4*7*(2*3)^2 * log(100)^2/100^2
    at = {"mu": 1, "L": 2, "n": 2, "E": 3, "ell": 1, "sigma2": 7, "T": 100}
    expected = 0.05 + 12096 * math.log(100) ** 2 / 10**4
    assert value("scgd/choice_of_e/corrected", **at, dist2_0=5) == pytest.approx(expected, rel=1e-14)
    assert value("scgd/choice_of_e/as_printed", **at, norm2_0=5) == pytest.approx(expected, rel=1e-14)
    assert value("scgd/choice_of_e/as_printed", **at, norm2_0=0) < expected


def test_the_printed_rule_for_e_gives_an_exponent_of_four_thirds() -> None:
    rule = statement("scgd/choice_of_e_rule/as_printed").evaluate(mu="1/3", ell=2).exact
    assert rule == 6
    assert statement("scgd/choice_of_e_rule/corrected").evaluate(mu="1/3", ell=2).exact == 9
    assert statement("scgd/choice_of_e_rule/as_printed").evaluate(mu="1/3", ell="5/2").exact == 5  # ceil(24/5)
    at = {"mu": "1/3", "L": 1, "n": 1, "ell": 2, "sigma2": 0, "dist2_0": 1, "T": 1000}
    assert value("scgd/choice_of_e/corrected", E=6, **at) == pytest.approx(1e-4, rel=1e-14)  # T^(-4/3)
    assert value("scgd/choice_of_e/corrected", E=9, **at) == pytest.approx(1e-6, rel=1e-14)  # T^(-2)
    assert value("scgd/epsilon_rate/as_printed", E=6, **at) == pytest.approx(1e-4, rel=1e-14)
    assert value("scgd/epsilon_rate/corrected", E=9, **at) == pytest.approx(1e-6, rel=1e-14)
    # the explicit orders are claimed for E from the rule on
    assert statement("scgd/epsilon_rate/corrected").scope(mu="1/3", L=1, n=1, E=8, ell=2, T=10**6).in_scope is False


def test_the_coefficient_of_the_noise_at_the_rule_for_e() -> None:
    # E = 6/(mu ell): 432 L^2 n^2 sigma2/mu^4 * (log T/T)^2
    mu, L, n, sigma2, T = Fraction(1, 2), 3, 5, 7, 10**4
    found = value("scgd/epsilon_rate", mu=mu, L=L, n=n, E=12, ell=1, sigma2=sigma2, dist2_0=0, T=T)
    assert found == pytest.approx(432 * L**2 * n**2 * sigma2 * 2**4 * math.log(T) ** 2 / T**2, rel=1e-13)


def test_epsilon_complexity_suffices_and_its_noise_condition_is_the_right_size() -> None:
    claimed = statement("scgd/epsilon_complexity")
    at: dict[str, Any] = {"mu": 1, "L": 1, "n": 3, "E": 6, "ell": 1, "sigma2": 2, "dist2_0": 4}
    needed = math.sqrt(24) * 6 * 3 * math.sqrt(2) / math.sqrt(1e-4)  # T/log T, for eps = 1e-4
    T = 10.0
    for _ in range(200):
        T = needed * math.log(T)
    for rounds, inside in ((3 * math.ceil(T * 1.001 / 3), True), (3 * math.floor(T * 0.999 / 3), False)):
        assert claimed.scope(**at, eps="1e-4", T=rounds).in_scope is inside
        assert value("scgd/epsilon_rate", **at, T=rounds) == pytest.approx(0.5e-4, rel=0.01)
    # the printed order without the logarithm is met much earlier, where the bound is still far above eps
    early = math.ceil(needed * 1.001)
    printed = statement("scgd/epsilon_complexity/as_printed").scope(**{**at, "E": 6}, eps="1e-4", T=early)
    assert [c.holds for c in printed.conditions if c.name == "rounds for the noise"] == [True]
    assert value("scgd/epsilon_rate", **at, T=early) > 20e-4


def test_the_step_condition_of_the_horizon_forces_many_rounds() -> None:
    # T/log T >= ell n E/C with E = 6/(mu ell): 6 n/(mu C) = 82.5 n (L/mu)^2 for small mu/L, 55.0 with the rule of 4
    mu = Fraction(1, 1000)
    forced = 6 / (float(mu) * C("as_printed_appendix", mu, 1))
    assert forced * float(mu) ** 2 == pytest.approx(82.5, rel=1e-3)
    assert forced * float(mu) ** 2 * 4 / 6 == pytest.approx(55.0, rel=1e-3)


# --- Chung's lemma and Theorem 3.4 ------------------------------------------------------------------------


def chung(a: float, b: float, last: int) -> float:
    """k^2 u_k of the recursion with equality, from k^2 u_k = b/(a - 2) at k = 10."""
    u = b / (a - 2) / 100
    for k in range(10, last):
        u = (1 - a / k) * u + b / k**3
    return last**2 * u


@pytest.mark.parametrize(("a", "b", "limit"), [(3, 1, Fraction(1)), ("5/2", 2, Fraction(4)), (9, 5, Fraction(5, 7))])
def test_chungs_limit_is_attained(a: Any, b: int, limit: Fraction) -> None:
    assert statement("scgd/lemma_3_2").evaluate(a=a, b=b).exact == limit
    # it leaves that value for a while and comes back like k^-1 or k^(2-a), whichever is slower
    assert chung(float(Fraction(a)), b, 300_000) == pytest.approx(float(limit), rel=1e-2)
    with pytest.raises(BadInput):
        statement("scgd/lemma_3_2").evaluate(a=a, b=-1)
    assert statement("scgd/lemma_3_2").scope(a=2).in_scope is False


def test_chungs_quantifier_as_printed_is_refuted_by_a_sequence() -> None:
    """u obeys the recursion for all k <= k0 = 100, as printed, and is A/k^2 from then on, whatever A is."""
    table = {4: 0.0}
    for k in range(4, 100):
        table[k + 1] = (1 - 3 / k) * table[k] + 0.9 / k**3
        assert table[k + 1] <= (1 - 3 / k) * table[k] + 1 / k**3
    assert max(k**2 * u for k, u in table.items()) <= 1  # while it obeys it, it stays below the limit b/(a - 2)
    free = [run_claim(Claim("scgd/lemma_3_2/as_printed", at={"a": 3, "b": 1, "A": A})).verdict for A in (1, "101/100")]
    assert [v.outcome for v in free] == [Outcome.HOLDS, Outcome.VIOLATED]


def test_chungs_lemma_is_met_by_what_obeys_the_recursion() -> None:
    """b is what the recursion leaves at k, by hand: A = 2, k = 4, a = 5 gives 2 (64/25 - 4 + 5) = 178/25, and slack."""
    found = run_claim(Claim("scgd/lemma_3_2/corrected", at={"A": 2, "k": 4, "a": 5, "slack": "1/25"}))
    assert found.bound == (pytest.approx(179 / 75),)
    assert (found.verdict.outcome, found.verdict.grade) == (Outcome.HOLDS, Grade.EXACT)


def test_the_explicit_limit_of_theorem_3_4() -> None:
    claimed = statement("scgd/theorem_3_4")
    # the best total step s0 = 9/mu gives 2916 L^2 sigma2/mu^4
    at = {"mu": "1/2", "L": 3, "n": 2, "E": 3, "sigma2": 5}
    best = claimed.evaluate(**at, eta0=3).exact
    assert best == 2916 * 9 * 5 * 16
    for eta0 in ("29/10", "31/10"):
        assert claimed.evaluate(**at, eta0=eta0).value > best
    # mu n E eta0/3 > 2 is strict
    step = {"mu": "1/2", "L": 3, "n": 2, "E": 3}
    assert claimed.scope(**step, eta0=2).in_scope is False
    assert claimed.scope(**step, eta0="2001/1000").in_scope is True


def two(loud: int = 1) -> dict[str, Any]:
    """Two heterogeneous clients; sigma2 grows with the square of `loud`."""
    return {
        "kind": "quadratics",
        "clients": [
            {"A": [["3/2", 0], [0, "1/2"]], "b": [loud, 0]},
            {"A": [["1/2", 0], [0, "3/2"]], "b": [0, -loud]},
        ],
    }


def test_theorem_3_4_on_heterogeneous_quadratics() -> None:
    """mu = 1, L = 3/2, sigma2 = 1/8, s0 = 2*8/2 = 8: the limit is 12*(9/4)*512/8/(8 - 6) = 864."""
    claim = Claim(
        "scgd/theorem_3_4",
        two(),
        {"kind": "scgd", "E": 8, "eta0": "1/2"},
        at={"K": "log:100:3000:20"},
        rate=RateClaim("dist2", Fraction(-21, 10), Fraction(-19, 10)),
    )
    result = run_claim(claim)
    assert (result.verdict.outcome, result.verdict.grade, result.failures) == (Outcome.HOLDS, Grade.SUPPORTED, ())
    assert result.bound == pytest.approx([864] * len(result.bound), rel=1e-12)
    scaled = np.array(result.metric_high)
    assert (scaled < 864).all()
    # K^2 dist2 settles, and is not zero
    assert scaled[-1] == pytest.approx(scaled[-5], rel=0.02)
    assert scaled[-1] > 0.1
    assert result.rate is not None
    assert result.rate.slope == pytest.approx(-2, abs=0.03)


def test_theorem_3_4_without_the_mean_noise_is_too_small_a_bound_for_loud_clients() -> None:
    """The b that the printed proof names does not grow with sigma2; the metric does."""
    method = {"kind": "scgd", "E": 8, "eta0": "1/2"}
    printed = run_claim(Claim("scgd/theorem_3_4/as_printed", two(400), method, at={"K": "log:100:1000:10"}))
    assert printed.verdict.outcome is Outcome.UNDECIDED
    assert min(printed.metric_low) > max(printed.bound)
    sound = run_claim(Claim("scgd/theorem_3_4", two(400), method, at={"K": "log:100:1000:10"}))
    assert sound.verdict.outcome is Outcome.HOLDS
