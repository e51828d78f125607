"""What derivations say, against numbers by hand, exact enumeration, and instances on which a bound is an equality."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import pytest
import sympy as sp
from derivation_tools import fresh

from boundcheck.methods.parts.exchange import Blocks
from boundcheck.proof.discovery import citations, derivation, derived_readings
from boundcheck.theory.discovery import statement

F = Fraction
R = sp.Rational


def claim(id: str, name: str) -> sp.Expr:
    return next(s.claim for s in derivation(id).steps if s.name == name)


# what derivations rest on, and what their readings share


@pytest.mark.parametrize(
    ("id", "names"),
    [
        ("feddane/theorem_5/as_printed", "smooth_clients lower_curvature inexact_solves unbiased_gradient_cohort "
         "dissimilarity_at_start"),  # neither that F is convex nor that the cohorts are independent
        ("scgd/fedavg_full_participation/corrected", "strong_quasi_convexity smooth_clients finite_gradient_noise"),
    ],
)  # fmt: skip
def test_no_other_assumption_is_transcribed(id: str, names: str) -> None:
    assert {f.assumption for f in derivation(id).facts if f.assumption} == set(names.split())


@pytest.mark.parametrize(
    ("id", "written"),
    [
        ("drift_of_a_visit/corrected", {"local step", "divisor", "start"}),
        ("gradient_of_a_visit/corrected", set()),
        ("progress_of_a_visit/corrected", set()),
        ("movement_of_a_round_gen/corrected", {"participation"}),
        ("lemma_e_3/raw", {"round"}),
        ("recursion_convex_gen/sharp", set()),
        ("recursion_nonconvex_gen/sharp", set()),
    ],
)
def test_no_expectation_is_transcribed(id: str, written: set[str]) -> None:
    """Unbiased cohorts, whole epochs and means over the clients are laws; what is written says what symbols are."""
    facts = derivation(f"fedshuffle/{id}").facts
    assert {f.name for f in facts if f.kind == "algorithm"} == written
    assert all(f.instance is not None for f in facts if f.kind == "assumption")


def test_feddane_theorem_3_is_theorem_5_without_curvature() -> None:
    three, five = (derivation(f"feddane/theorem_{n}/as_printed") for n in (3, 5))
    both = [
        [(s.name, s.claim, s.by, {*s.uses} - {"condition positive decrease"}) for s in d.steps] for d in (three, five)
    ]
    assert [a[0] for a, b in zip(*both, strict=True) if a != b] == ["m > 0", "(16)"]
    assert [a.name for a in three.facts if a.kind == "assumption" and a not in five.facts] == ["curvature"]


@pytest.mark.parametrize(
    ("id", "shared"),
    [("scgd/lemma_3_1", {"E0.4", "E3", "E7", "E8", "E9"}), ("fedshuffle/lemma_c_2", {"step 1", "step 2", "display"})],
)
def test_readings_share_the_steps_before_their_constants(id: str, shared: set[str]) -> None:
    proofs = [derivation(f"{id}/{r}") for r in derived_readings(*id.split("/"))]
    assert len(proofs) >= 3
    for name in shared:
        assert len({next(s.claim for s in p.steps if s.name == name) for p in proofs}) == 1


def test_asynchronous_theorem_1_cites_the_lemmas_of_its_reading() -> None:
    names = ("lemma_2", "lemma_3", "lemma_3_gradients", "lemma_4", "lemma_5", "lemma_6")
    steps = {f"async_fl/equation_{k}_constraints/corrected" for k in (97, 98)}
    assert set(citations("async_fl/theorem_1/sharp")) == {f"async_fl/{x}/corrected" for x in names}
    assert set(citations("async_fl/theorem_1/corrected")) == {*citations("async_fl/theorem_1/sharp"), *steps}


# asynchronous


def test_lemma_1_by_enumeration() -> None:
    """Three clients, all eight cohorts of independent coins: E w_i w_j = q_i q_j for i != j, so alpha = 1."""
    chance, weight, x = (F(1, 2), F(1, 3), F(3, 4)), (F(2), F(1), F(5, 3)), (F(1), F(-2), F(3))
    second = F(0)
    for cohort in product((0, 1), repeat=3):
        p = F(1)
        for c, q in zip(cohort, chance, strict=True):
            p *= q if c else 1 - q
        second += p * sum((c * w * v for c, w, v in zip(cohort, weight, x, strict=True)), F(0)) ** 2
    q = [c * w for c, w in zip(chance, weight, strict=True)]
    own = sum(((c * w**2 - m**2) * v**2 for c, w, m, v in zip(chance, weight, q, x, strict=True)), F(0))
    together = sum((m * v for m, v in zip(q, x, strict=True)), F(0)) ** 2
    assert second == own + together
    values = {"own": own, "together": together, "alpha": 1}
    assert statement("async_fl/lemma_1/corrected").evaluate(**values).exact == second


def test_the_witness_against_105_by_the_papers_formulas() -> None:
    v = {k: R(x) for k, x in fresh("async_fl/equation_105/as_printed").result("conclusion").witness.items()}
    spread = v["gap_n"] + v["spread_n"]
    assert v["far"] <= 4 * v["L"] * v["chi2_n"] * spread / v["q"] + 4 * v["L"] * v["absent"]
    assert v["slope2"] <= 2 * v["L"] * v["gap_n"] / v["q"]
    assert v["g2"] <= 2 * v["far"] + 2 * v["slope2"]
    assert v["g2"] > 4 * v["L"] * ((v["chi2_n"] / v["q"] + 1 / v["q"] ** 2) * v["gap_n"] + v["absent"]) + (
        4 * v["L"] * v["chi2_n"] / v["q"] * v["spread_n"]
    )


def test_the_cross_term_of_lemma_2_for_one_client_and_two_steps() -> None:
    """w is 0 or d with the chance c: E<w g, v(1)> is not q E<g, v(1)>, since v(1) = v(0) - et w g."""
    c, d, et, v0, g0, g1 = map(R, ("1/2", "1", "1/4", "3", "2", "1"))
    outcomes = ((c, d), (1 - c, sp.Integer(0)))
    cross = sum(chance * w * g1 * (v0 - et * w * g0) for chance, w in outcomes)
    printed = c * d * g1 * sum(chance * (v0 - et * w * g0) for chance, w in outcomes)
    assert printed - cross == et * c * (1 - c) * d**2 * g0 * g1 > 0


def test_the_limits_of_97_leave_no_room_and_those_of_98_some() -> None:
    """(97): at rho = alpha = beta = 1 and equality, c = 1/2 + 1/4 + 1/4. (98): y = 144 rho^2 h L <= 1/(tau + 1)."""
    assert F(24, 48) + 12 * 3 * (F(1, 144) + F(16, 2304)) == 1
    for tau in range(200):
        y = F(1, tau + 1)
        c = [F(24, 48**2) + 12 * (2 + b) * (y / 144 + F(16, 144**2) * (y * tau) ** 2) for b in (9, 11)]
        assert c[0] < 1
        assert tau or c[1] > 1


# partial averaging


def test_the_step_condition_by_numbers() -> None:
    """Lmax^2 eta^2 tau (tau - 1) + eta Lmax <= 1 exactly when eta Lmax tau <= 1, on a grid that has the limit on it."""
    for interval in range(1, 9):
        for n in range(4 * interval + 1):
            e = F(n, 2 * interval)
            assert (e**2 * interval * (interval - 1) + e <= 1) is (e * interval <= 1)
    t, Lmax, tau = sp.symbols("t Lmax tau", real=True)
    forth, back = (claim("partial_averaging/step_condition/factored", n) for n in ("necessary", "sufficient"))
    assert forth.args == back.args[::-1]
    assert forth.args == (sp.Le(Lmax**2 * t**2 * tau * (tau - 1) + t * Lmax, 1), sp.Le(t * Lmax * tau, 1))


@pytest.mark.parametrize("partition", ["even", "whole"])
@pytest.mark.parametrize("period", [1, 2, 3, 5])
def test_the_stretches_of_a_block_are_its_iterations(partition: str, period: int) -> None:
    """By the method's own schedule: each begins in agreement, has at most tau steps, and together they are 0..K-1."""
    pattern = Blocks(period, partition).pattern(6)
    for K, coordinate in product((1, period, 2 * period + 1, 11), range(6)):
        averaged = [k + 1 for k in range(K) if coordinate in pattern[k % len(pattern)]]
        lengths = [b - a for a, b in pairwise(sorted({0, *averaged, K}))]
        assert sum(lengths) == K
        assert all(1 <= length <= period for length in lengths)
        assert sum(length * (length - 1) for length in lengths) <= K * (period - 1)  # (49), (63): 0 + 1 + ...


# textbooks and SCGD


@pytest.mark.parametrize(("step_size", "smooth", "last"), [(R(1), 1, 5), (R(1, 2), 3, 4), (R(3, 4), 2, 7)])
def test_the_potential_is_constant_on_the_worst_function(step_size: sp.Rational, smooth: int, last: int) -> None:
    """On the Huber function of the bound, run here step by step, the potential keeps its value to the last step."""
    own, value = step_size / smooth, sp.Integer(0)
    edge = 1 / (2 * last * step_size + 1)  # |x| <= edge is the quadratic part, from the start 1
    x, values = sp.Integer(1), set[sp.Expr]()
    for k in range(last + 1):
        slope = smooth * min(x, edge)
        value = smooth * x**2 / 2 if x <= edge else smooth * (edge * x - edge**2 / 2)
        here = own * k
        values.add(2 * here * value + x**2 + here * (here + R(1, smooth)) * slope**2)
        x -= own * slope
    assert values == {1}
    assert value == 1 / (4 * own * last + R(2, smooth))


def test_the_series_of_scgd_is_what_the_recursion_sums_to() -> None:
    """By hand: mu = 1, L = 2, s = 1/20, sigma2 = 3, D0 = 7, in exact fractions."""
    factor, noise, worst = 1 - F(1, 60), 4 * 4 * F(1, 20) ** 3 * 3, F(7)
    bound = claim("scgd/theorem_3_3/corrected", "conclusion").rhs
    for cycles in range(6):
        at = {"mu": 1, "L": 2, "s": R(1, 20), "sigma2": 3, "dist2_0": 7, "K": cycles}
        found = bound.subs({sp.Symbol(n, real=True): x for n, x in at.items()})
        assert worst <= F(str(found)) == F(59, 60) ** cycles * 7 + F(12 * 4 * 3, 400)
        worst = factor * worst + noise


@pytest.mark.parametrize(("a", "b"), [*product([F(5, 2), F(3), F(9)], [F(1), F(1, 3), F(7)])])
def test_chungs_recursion_with_equality_stays_below_the_comparison(a: Fraction, b: Fraction) -> None:
    """u(k+1) = (1 - a/k) u(k) + b/k^3 from k = 9 on, in exact arithmetic up to the power C k^(-a)."""
    u = F(1)
    for k in range(9, 60):
        assert float(u) <= float(b / (a - 2)) / k**2 + float(F(9, k)) ** float(a) + 1e-12
        u = (1 - a / k) * u + b / k**3


def test_bernoulli_for_whole_exponents() -> None:
    for p, base in product(range(6), (F(1, 3), F(1), F(7, 2), F(40))):
        assert (base + 1) ** -p >= (1 - p / base) * base**-p


# FedShuffle


def test_what_the_repaired_split_of_lemma_d_1_gives() -> None:
    """8 (N+1)/(5N+3) <= 2 and 2 (N-1)(2N-1)/(5N+3) <= N for every N >= 1, with equality for N = 1."""
    for n in range(1, 200):
        room = 1 - F(3, 8) * F(n - 1, n)  # 1 - 3/2 * eta^2 L^2 (N-1)/N at eta = 1/(2L)
        assert F(3, 2) * 4 * F(n + 1, 6 * n) / room == F(8 * (n + 1), 5 * n + 3) <= 2
        assert (F(8 * (n + 1), 5 * n + 3) == 2) is (n == 1)
        assert F(3, 2) * F((n - 1) * (2 * n - 1), 6 * n) / room == F(2 * (n - 1) * (2 * n - 1), 5 * n + 3) <= n


def test_the_constants_of_lemma_d_4() -> None:
    """At eta_l = 1/(4L) = 1/(40 delta E): 10.43, 10.43, 3.48, 6.10, below the printed 24, 24, 4, 8."""
    outer = 3 * (1 + 2 * F(1, 16))
    of_h, of_grads, of_noise = outer * 3 * (1 + F(48, 1600)), outer * (1 + F(48, 1600)), 6 + outer * F(48, 1600)
    assert (of_h, of_grads, of_noise) == (F(8343, 800), F(2781, 800), F(4881, 800))
    gap = sp.expand(claim("fedshuffle/lemma_d_4/corrected", "length.3").rhs)
    names = ["h2", "gam2", "S", "sigma2_i", "D_i", "E", "eta_l", "L", "a"]
    at = dict(zip((sp.Symbol(n, real=True) for n in names), (0, 0, 0, 0, 1, 1, 1, 1, 1), strict=True))
    found = [F(str(gap.subs({**at, symbol: 1}))) for symbol in list(at)[:4]]
    assert found == [of_h, of_h, of_grads, of_noise]


def test_the_printed_ratio_of_remark_e_2_is_not_what_follows() -> None:
    """At W = 2/3, eta_g = 2, three steps of three: 2/3 of the other's step, where 1 is printed."""
    corrected, printed = (statement(f"fedshuffle/remark_e_2/{r}") for r in ("corrected", "as_printed"))
    values = {"work": 3, "largest": 3}
    assert corrected.evaluate(**values, W="2/3", eta_g=2).exact == R(2, 3)
    assert printed.evaluate(**values).exact == 1
