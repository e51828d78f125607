"""The lemmas behind Theorem 5.1 of FedShuffle against exact enumeration: of orders, cohorts, subsets, sequences."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.theory.discovery import readings, statement
from boundcheck.theory.statement import Belief, Kind, Statement

F = Fraction
LEMMAS = (
    *("lemma_b_1", "lemma_b_2", "lemma_b_3", "lemma_b_4", "lemma_b_5", "lemma_b_6", "lemma_b_6_sum", "lemma_e_5"),
    *("lemma_c_1", "lemma_c_2", "lemma_c_2_nonconvex", "drift_of_a_round", "movement_of_a_round"),
    *("recursion_convex", "recursion_nonconvex"),
)
EVERY = [s for name in LEMMAS for s in readings("fedshuffle", name)]


def exact(expr: sp.Expr, **values: object) -> Fraction:
    """The value of a bound at exact numbers, where it is rational."""
    found: Any = expr.subs([(sp.Symbol(k, real=True), sp.Rational(str(v))) for k, v in values.items()])
    assert found.is_Rational, found
    return F(int(found.p), int(found.q))


def bound(name: str, **values: object) -> Fraction:
    return exact(statement(f"fedshuffle/{name}").bound, **values)


# --- declarations ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("s", EVERY, ids=lambda s: s.id)
def test_only_the_readings_that_lost_an_l_have_a_wrong_unit(s: Statement) -> None:
    lost = s.reading == "as_printed" and s.name in ("lemma_c_2", "recursion_convex", "recursion_nonconvex")
    errors = s.dimension_errors()
    assert bool(errors) == lost
    if lost:
        assert s.belief is Belief.FALSE
        assert len(errors) == 1
        assert errors[0].startswith("the bound:")


def test_what_is_bounded() -> None:
    assert statement("fedshuffle/lemma_b_5").kind is Kind.EQUALITY
    c_2 = statement("fedshuffle/lemma_c_2")
    assert (c_2.metric.quantity, c_2.metric.rounds, c_2.metric.index) == ("drift", 0, None)
    assert statement("fedshuffle/lemma_c_1").metric.rounds == 1
    assert statement("fedshuffle/recursion_nonconvex").metric.quantity == "gap"


@pytest.mark.parametrize("name", ["lemma_c_2", "recursion_convex", "recursion_nonconvex"])
def test_both_sides_of_the_step_condition(name: str) -> None:
    """P2 = 27/4 is P = 3/2 of Lemma C.2; with B = 2 and M = 3/4 beta = 1 + 5/2*2 + 3 = 9."""
    s = statement(f"fedshuffle/{name}")
    at = {"mu": 0, "L": 2, "P2": "27/4", "B2": 4, "M": "3/4", "G2": 1, "sigma2": 1, "E": 3, "eta_g": 2}
    at |= {"gap_0": 1, "dist2_0": 1, "grad2_0": 1}
    values = {k: v for k, v in at.items() if k in [x.name for x in s.symbols]}
    assert s.scope(**values, eta_l=F(1, 432)).in_scope is True  # 6*eta_l = 1/(4*9*2)
    assert s.scope(**values, eta_l=F(1, 431)).in_scope is False
    assert s.scope(**(values | {"eta_g": F(1, 2)}), eta_l=F(1, 1000)).in_scope is False


def test_c_1_needs_b_at_least_1_in_its_corrected_reading_only() -> None:
    at = {"mu": 0, "L": 1, "G2": 0, "B2": F(1, 4), "M": 2, "E": 1, "eta_l": F(1, 6), "eta_g": 1}
    at |= {"dist2_0": 1, "gap_0": 1, "drift_0": 0}
    assert statement("fedshuffle/lemma_c_1/as_printed").scope(**at).in_scope is True
    assert statement("fedshuffle/lemma_c_1/corrected").scope(**at).in_scope is False


def test_mu_above_l_is_bad_input() -> None:
    with pytest.raises(BadInput):
        statement("fedshuffle/lemma_b_1").evaluate(mu=2, L=1, rise=0, norm2_yz=1, norm2_zx=1)


# --- Appendix B --------------------------------------------------------------------------------------------------


def dot(u: tuple[Fraction, ...], v: tuple[Fraction, ...]) -> Fraction:
    return sum((a * b for a, b in zip(u, v, strict=True)), F(0))


def plus(*vectors: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return tuple(sum(column, F(0)) for column in zip(*vectors, strict=True))


def times(factor: Fraction, v: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return tuple(factor * a for a in v)


def norm2(v: tuple[Fraction, ...]) -> Fraction:
    return dot(v, v)


def test_b_1_on_a_parabola() -> None:
    """h = x^2 (mu = L = 2) at x = 1, y = 0, z = 3: <2, -3> = -6 <= -9 - 9/2 + 8 = -11/2."""
    assert bound("lemma_b_1", mu=2, L=2, rise=-9, norm2_yz=9, norm2_zx=4) == F(-11, 2)
    rng = random.Random(1)
    for _ in range(200):
        low, high = sorted(F(rng.randint(0, 9), 4) for _ in range(2))
        x, y, z = (tuple(F(rng.randint(-9, 9), 2) for _ in range(2)) for _ in range(3))
        h = lambda v, a=low, b=high: (a * v[0] ** 2 + b * v[1] ** 2) / 2  # noqa: E731
        left = dot((low * x[0], high * x[1]), plus(y, times(F(-1), z)))
        yz, zx = norm2(plus(y, times(F(-1), z))), norm2(plus(z, times(F(-1), x)))
        if high > 0:
            at = {"mu": low, "L": high, "rise": h(y) - h(z), "norm2_yz": yz, "norm2_zx": zx}
            assert left <= bound("lemma_b_1/sharp", **at) <= bound("lemma_b_1", **at)


def test_b_5_by_all_subsets() -> None:
    vectors = [(F(0), F(1)), (F(2), F(-1)), (F(5), F(3)), (F(-1), F(1))]
    n, mean = 4, times(F(1, 4), plus(*vectors))
    sigma2 = sum(norm2(plus(v, times(F(-1), mean))) for v in vectors) / n
    assert sigma2 == F(29, 4)
    for k in range(1, n + 1):
        drawn = [plus(times(F(1, k), plus(*some)), times(F(-1), mean)) for some in combinations(vectors, k)]
        for reading in ("as_printed", "corrected"):
            assert sum(map(norm2, drawn)) / len(drawn) == bound(f"lemma_b_5/{reading}", n=n, k=k, sigma2=sigma2)
    assert bound("lemma_b_5", n=4, k=3, sigma2=sigma2) == F(29, 36)


def test_b_6_is_attained() -> None:
    assert bound("lemma_b_6", a="1/2", norm2_u=4, norm2_v=1) == 9 == (2 + 1) ** 2  # a u = v in one dimension
    assert bound("lemma_b_6_sum", tau=3, squares=12) == 36 == (2 + 2 + 2) ** 2
    assert bound("lemma_b_6", a=1, norm2_u=4, norm2_v=1) == 10
    assert bound("lemma_b_6/sharp", norm2_u=4, norm2_v=1) == 9  # the least over a, here at a = 1/2
    assert bound("lemma_b_6/sharp", norm2_u=4, norm2_v=0) == 4  # a = 0, which (22) does not allow


def cohort_variance(
    cohorts: dict[tuple[int, ...], Fraction], scaled: dict[tuple[int, ...], list[tuple[Fraction, ...]]]
) -> Fraction:
    """E |X - E X|^2 of X = the sum over the cohort of the scaled vectors of its members."""
    totals = {s: plus(*scaled[s]) for s in cohorts}
    mean = plus(*(times(p, totals[s]) for s, p in cohorts.items()))
    return sum((p * norm2(plus(totals[s], times(F(-1), mean))) for s, p in cohorts.items()), F(0))


def test_b_4_is_attained_by_uniform_pairs_and_opposite_vectors() -> None:
    """2 of 3 clients: s = (n - b)/(n - 1) = 1/2, tight for vectors that sum to 0."""
    weights, p, s = (F(1, 6), F(1, 3), F(1, 2)), F(2, 3), F(1, 2)
    cohorts = {pair: F(1, 3) for pair in combinations(range(3), 2)}
    for vectors, tight in (
        ([(F(6), F(0)), (F(-3), F(3)), (F(0), F(-2))], True),  # w_i z_i sum to 0
        ([(F(1), F(2)), (F(3), F(-1)), (F(2), F(2))], False),
    ):
        scaled = {c: [times(weights[i] / p, vectors[i]) for i in c] for c in cohorts}
        squares = sum(weights[i] ** 2 * s / p * norm2(vectors[i]) for i in range(3))
        variance = cohort_variance(cohorts, scaled)
        limit = bound("lemma_b_4", weighted_squares=squares)
        assert variance == limit if tight else variance < limit


def test_uniform_b_4_is_the_variance_for_every_size() -> None:
    """By hand: 2 of 3 of the numbers 1, 2, 3 make 3/2 * (3, 4, 5), with the variance 9/4 * 2/3 = 3/2."""
    assert bound("lemma_b_4/uniform", n=3, b=2, squares=14, norm2_sum=36) == F(3, 2)
    own = [(F(1), F(2)), (F(3), F(-1)), (F(0), F(5)), (F(-2), F(1))]  # w_i z_i
    for n in range(1, 5):
        squares, norm2_sum = sum(map(norm2, own[:n])), norm2(plus(*own[:n]))
        for b in range(1, n + 1):
            subsets = list(combinations(range(n), b))
            cohorts = {c: F(1, len(subsets)) for c in subsets}
            scaled = {c: [times(F(n, b), own[i]) for i in c] for c in cohorts}
            found = cohort_variance(cohorts, scaled)
            assert found == bound("lemma_b_4/uniform", n=n, b=b, squares=squares, norm2_sum=norm2_sum)
            s = F(n - b, max(1, n - 1))
            assert found <= bound("lemma_b_4/as_printed", weighted_squares=s * n / b * squares)


def test_e_5_for_weights_that_are_normalised_by_the_cohort() -> None:
    """q_i^S = sum of w_j over S, 2 of 3 clients: the shares w_i/q_i are 7/36, 16/45, 9/20."""
    weights = (F(1, 6), F(1, 3), F(1, 2))
    cohorts = {pair: F(1, 3) for pair in combinations(range(3), 2)}
    share = {c: sum(weights[i] for i in c) for c in cohorts}
    inverse = [sum((p / share[c] for c, p in cohorts.items() if i in c), F(0)) for i in range(3)]
    assert [w * q for w, q in zip(weights, inverse, strict=True)] == [F(7, 36), F(16, 45), F(9, 20)]
    h = [
        [sum((p / share[c] ** 2 for c, p in cohorts.items() if i in c and j in c), F(0)) / (inverse[i] * inverse[j])
         for j in range(3)] for i in range(3)
    ]  # fmt: skip
    s = 3  # always admissible
    matrix = sp.Matrix(3, 3, lambda i, j: sp.Rational(*(h[i][j] - 1).as_integer_ratio()))
    matrix = sp.diag(*(s * sp.Rational(*h[i][i].as_integer_ratio()) for i in range(3))) - matrix
    assert all(minor > 0 for minor in (matrix[0, 0], matrix[:2, :2].det(), matrix.det()))
    rng = random.Random(2)
    for _ in range(50):
        vectors = [tuple(F(rng.randint(-5, 5)) for _ in range(2)) for _ in range(3)]
        scaled = {c: [times(weights[i] / share[c], vectors[i]) for i in c] for c in cohorts}
        squares = sum(h[i][i] * s * norm2(times(weights[i] * inverse[i], vectors[i])) for i in range(3))
        assert cohort_variance(cohorts, scaled) <= bound("lemma_e_5", weighted_squares=squares)


def psi(d: list[Fraction], eta: Fraction, mu: Fraction, c1: Fraction, c2: Fraction) -> Fraction:
    """The weighted mean of the increments as Lemmas B.2 and B.3 (mu = 0) define it."""
    weights = [(1 - mu * eta) ** (1 - r) for r in range(1, len(d))]
    terms = [((1 - mu * eta) * d[r - 1] - d[r]) / eta + c1 * eta + c2 * eta**2 for r in range(1, len(d))]
    return sum((v * x for v, x in zip(weights, terms, strict=True)), F(0)) / sum(weights, F(0))


def test_fixed_steps_are_attained_by_sequences_that_end_at_0() -> None:
    rng = random.Random(3)
    for _ in range(60):
        count = rng.randint(1, 5)
        d = [F(rng.randint(1, 9)) for _ in range(count)] + [F(0)]
        eta, mu, c1, c2 = (F(rng.randint(1, 9), 10) for _ in range(4))
        at = {"d0": d[0], "c1": c1, "c2": c2, "K": count, "eta": eta}
        assert psi(d, eta, F(0), c1, c2) == bound("lemma_b_3/fixed_step", **at)
        assert psi(d, eta, mu, c1, c2) == bound("lemma_b_2/fixed_step", mu=mu, **at)
        d[-1] = F(1)
        assert psi(d, eta, F(0), c1, c2) < bound("lemma_b_3/fixed_step", **at)
        assert psi(d, eta, mu, c1, c2) < bound("lemma_b_2/fixed_step", mu=mu, **at)


def test_tuned_steps_reach_the_tuned_bounds() -> None:
    """At the steps of the lemmas, computed here, the attained fixed-step bounds stay below the tuned ones."""
    rng = random.Random(4)
    sublinear, linear = (statement(f"fedshuffle/{name}") for name in ("lemma_b_3/as_printed", "lemma_b_2/corrected"))
    worst = {"sublinear": 0.0, "linear": 0.0}
    for _ in range(150):
        d0, c1, c2, eta_max = (10 ** rng.uniform(-3, 3) for _ in range(4))
        count = round(10 ** rng.uniform(0, 4))
        step = min(eta_max, math.sqrt(d0 / (c1 * count)), (d0 / (c2 * count)) ** (1 / 3))
        at = {"d0": d0, "c1": c1, "c2": c2, "K": count, "eta_max": eta_max}
        found = float(sublinear.evaluate(**at).value)
        worst["sublinear"] = max(worst["sublinear"], (d0 / (step * count) + c1 * step + c2 * step**2) / found)
        mu = rng.uniform(0.51, 0.99) / eta_max * max(1 / count, rng.random())
        if count < 1 / (2 * mu * eta_max):
            continue
        ell = max(0.5, math.log(max(1, min(mu**2 * count * d0 / c1, mu**3 * count**2 * d0 / c2))))
        step = min(eta_max, ell / (mu * count))
        rest = math.exp(count * math.log1p(-mu * step))
        attained = mu * d0 * rest / -math.expm1(count * math.log1p(-mu * step)) + c1 * step + c2 * step**2
        worst["linear"] = max(worst["linear"], attained / float(linear.evaluate(mu=mu, **at).value))
    assert 0.5 < worst["sublinear"] <= 1
    assert 0.3 < worst["linear"] <= 1


def test_tuned_bounds_without_an_error_term() -> None:
    """c1 = c2 = 0: only what is left of the start, at the largest step."""
    at = {"d0": 2, "c1": 0, "c2": 0, "K": 10, "eta_max": F(1, 4)}
    assert float(statement("fedshuffle/lemma_b_3").evaluate(**at).value) == pytest.approx(0.8)
    assert float(statement("fedshuffle/lemma_b_2").evaluate(mu=1, **at).value) == pytest.approx(6 * math.exp(-2.5))


# --- one round of FedShuffle by enumeration ----------------------------------------------------------------------
# f_ij = (curvature/2) |x - e_ij|^2 with diagonal curvatures; clients are lists of (curvature, centre)

Sample = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
Client = list[Sample]


def gradient(sample: Sample, x: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return tuple(a * (b - e) for a, e, b in zip(*sample, x, strict=True))


def value(sample: Sample, x: tuple[Fraction, ...]) -> Fraction:
    return sum((a * (b - e) ** 2 / 2 for a, e, b in zip(*sample, x, strict=True)), F(0))


def mean_gradient(client: Client, x: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return times(F(1, len(client)), plus(*(gradient(s, x) for s in client)))


class Round:
    """All numbers of one round from x, exactly: cohorts are all subsets of `size` clients, orders all permutations."""

    def __init__(self, clients: list[Client], x: tuple[Fraction, ...], eta_l: Fraction, eta_g: Fraction, E: int,
                 size: int) -> None:  # fmt: skip
        samples = [s for c in clients for s in c]
        n, every = len(clients), len(samples)
        curvature = plus(*(s[0] for s in samples))
        self.minimiser = tuple(
            sum((s[0][k] * s[1][k] for s in samples), F(0)) / curvature[k] for k in range(len(x))
        )  # fmt: skip
        self.f = lambda y: sum((value(s, y) for s in samples), F(0)) / every
        visits: list[list[tuple[Fraction, ...]]] = []  # displacement of client i in each of its orders
        drift = F(0)
        for c in clients:
            ends: list[tuple[Fraction, ...]] = []
            away = F(0)
            for orders in product(permutations(c), repeat=E):
                y = x
                for s in (s for order in orders for s in order):
                    away += norm2(plus(y, times(F(-1), x)))
                    y = plus(y, times(-eta_l / len(c), gradient(s, y)))
                ends.append(plus(y, times(F(-1), x)))
            visits.append(ends)
            drift += away / len(ends)
        self.drift = drift / (every * E)
        p = F(size, n)
        cohorts = list(combinations(range(n), size))
        gaps, moved, dist2 = F(0), F(0), F(0)
        low = self.f(self.minimiser)
        for cohort in cohorts:
            chosen = list(product(*(visits[i] for i in cohort)))
            for some in chosen:
                parts = (times(F(len(clients[i]), every) / p, v) for i, v in zip(cohort, some, strict=True))
                step = times(eta_g, plus(*parts))
                share = F(1, len(chosen) * len(cohorts))
                end = plus(x, step)
                gaps += share * (self.f(end) - low)
                moved += share * norm2(step)
                dist2 += share * norm2(plus(end, times(F(-1), self.minimiser)))
        self.gap, self.moved, self.dist2 = gaps, moved, dist2
        weights = [F(len(c), every) for c in clients]
        slopes = [mean_gradient(c, x) for c in clients]
        self.at: dict[str, object] = {
            "L": max(max(s[0]) for s in samples),
            "mu": min(min(s[0]) for s in samples),
            "E": E,
            "eta_l": eta_l,
            "eta_g": eta_g,
            "M": F(0) if size == n else F(n - size, n - 1) / p * max(weights),
            "gap_0": self.f(x) - low,
            "dist2_0": norm2(plus(x, times(F(-1), self.minimiser))),
            "grad2_0": norm2(plus(*(times(w, g) for w, g in zip(weights, slopes, strict=True)))),
            "client_grad2_0": sum((w * norm2(g) for w, g in zip(weights, slopes, strict=True)), F(0)),
            "drift_0": self.drift,
        }

    def bound(self, name: str, **values: object) -> Fraction:
        s = statement(f"fedshuffle/{name}")
        known = {k: v for k, v in (self.at | values).items() if k in [x.name for x in s.symbols]}
        assert s.scope(**known).in_scope
        return exact(s.bound, **known)


def unit(k: int) -> tuple[Fraction, ...]:
    return tuple(F(int(j == k)) for j in range(6))


ONES = (F(1),) * 6
# equation (36): B = 1, G^2 = 1/3, sigma_i^2 = (0, 1/2, 2/3), P_i = 0, so that sigma2 = 7/36
CLIENTS_36: list[Client] = [[(ONES, unit(k)) for k in ks] for ks in ((0,), (1, 2), (3, 4, 5))]
AT_36 = {"G2": F(1, 3), "B2": 1, "P2": 0, "sigma2": F(7, 36)}


@pytest.mark.parametrize(
    ("start", "E", "eta_g", "size"),
    [(F(0), 1, F(1), 2), (F(1), 1, F(2), 1), (F(0), 2, F(3, 2), 3), (F(1, 6), 1, F(1), 1), (F(1, 6), 2, F(1), 3)],
)
def test_every_bound_on_equation_36(start: Fraction, E: int, eta_g: Fraction, size: int) -> None:
    beta = 2 + {1: F(1), 2: F(3, 8), 3: F(0)}[size] * (1 if size != 1 else F(3, 2))
    eta_l = 1 / (4 * beta * E * eta_g)
    found = Round(CLIENTS_36, (start,) * 5 + (start / 2,), eta_l, eta_g, E, size)
    et = E * eta_g * eta_l
    assert found.at["M"] == {1: F(3, 2), 2: F(3, 8), 3: F(0)}[size]
    for reading in ("corrected", "sharp", "as_printed"):  # L = 1, so that the lost factor does not show
        assert 3 * et * found.drift <= found.bound(f"lemma_c_2/{reading}", **AT_36)
        assert found.dist2 <= found.bound(f"recursion_convex/{reading}", **AT_36)
        assert found.gap <= found.bound(f"recursion_nonconvex/{reading}", **AT_36)
    assert found.drift <= found.bound("drift_of_a_round", **AT_36)
    assert found.drift <= found.bound("lemma_c_2_nonconvex", **AT_36)
    assert found.moved <= found.bound("movement_of_a_round")
    for reading in ("corrected", "raw"):
        assert found.dist2 <= found.bound(f"lemma_c_1/{reading}", **AT_36)


def test_drift_by_hand() -> None:
    """(lam/2)(x -+ 1)^2 from 0: the second step starts at +-eta lam/2, so the drift is eta^2 lam^2/8."""
    for lam in (F(4), F(5)):
        eta = 1 / (8 * lam)
        found = Round([[((lam,), (F(1),)), ((lam,), (F(-1),))]], (F(0),), eta, F(1), 1, 1)
        assert found.drift == eta**2 * lam**2 / 8
        assert found.at["gap_0"] == 0


@pytest.mark.parametrize(("lam", "breaks"), [(F(4), False), (F(41, 10), True), (F(40), True)])
def test_the_printed_drift_bound_fails_beyond_4(lam: Fraction, breaks: bool) -> None:
    """The same client: sigma2 = lam^2/2, and 3 L et drift = 3/8 lam^3 eta^3 against 3/2 lam^2 eta^3 as printed."""
    eta = 1 / (8 * lam)
    at = {"G2": 0, "B2": 1, "P2": 0, "sigma2": lam**2 / 2}
    found = Round([[((lam,), (F(1),)), ((lam,), (F(-1),))]], (F(0),), eta, F(1), 1, 1)
    left = 3 * lam * eta * found.drift
    assert left == F(3, 8) * lam**3 * eta**3
    printed, corrected, sharp = (found.bound(f"lemma_c_2/{r}", **at) for r in ("as_printed", "corrected", "sharp"))
    assert printed == F(3, 2) * lam**2 * eta**3
    assert (left > printed) is breaks
    assert left <= sharp <= corrected


@pytest.mark.parametrize(("name", "limit"), [("recursion_convex", F(192)), ("recursion_nonconvex", F(96))])
def test_the_printed_recursions_fail_on_the_same_client(name: str, limit: Fraction) -> None:
    """After the round it is at -+eta^2 lam^2/4: the bounds without the L fail beyond lam = 192 and 96."""
    for lam, breaks in ((limit, False), (limit + 1, True)):
        eta = 1 / (8 * lam)
        at = {"G2": 0, "B2": 1, "P2": 0, "sigma2": lam**2 / 2}
        found = Round([[((lam,), (F(1),)), ((lam,), (F(-1),))]], (F(0),), eta, F(1), 1, 1)
        left = found.dist2 if name == "recursion_convex" else found.gap
        assert left == (eta * lam) ** 4 / 16 * (1 if name == "recursion_convex" else lam / 2)
        assert (left > found.bound(f"{name}/as_printed", **at)) is breaks
        assert left <= found.bound(f"{name}/sharp", **at) <= found.bound(f"{name}/corrected", **at)


def test_bounds_with_different_curvatures() -> None:
    """Clients that curve differently: L = 3, mu = 1/2, and (5) with B^2 = 2, G^2 twice that of the minimiser."""
    a, b, c = (F(3), F(1, 2)), (F(1), F(2)), (F(1, 2), F(3))
    clients: list[Client] = [[(a, (F(1), F(0))), (b, (F(0), F(1)))], [(c, (F(2), F(-1))), (c, (F(-1), F(0)))]]
    probe = Round(clients, (F(0), F(0)), F(1, 100), F(1), 1, 1)
    at_minimum = [mean_gradient(client, probe.minimiser) for client in clients]
    rng = random.Random(5)
    worst = {"c_1": F(0), "drift": F(0), "moved": F(0)}
    for _ in range(12):
        x = tuple(F(rng.randint(-8, 8), 4) for _ in range(2))
        eta_g, E = F(rng.randint(4, 8), 4), rng.randint(1, 2)
        found = Round(clients, x, F(1, 40 * E), eta_g, E, 1)
        noise = [max(norm2(plus(gradient(s, x), times(F(-1), mean_gradient(cl, x)))) for s in cl) for cl in clients]
        at = {
            "G2": sum(norm2(g) for g in at_minimum),
            "B2": 2,
            "P2": 0,
            "sigma2": sum(noise) / 4,
        }
        raw = found.bound("lemma_c_1/raw", **at)
        assert found.dist2 <= raw
        drift, moved = found.bound("drift_of_a_round", **at), found.bound("movement_of_a_round")
        assert found.drift <= drift
        assert found.moved <= moved
        worst = {
            "c_1": max(worst["c_1"], found.dist2 / raw),
            "drift": max(worst["drift"], found.drift / drift if drift else F(0)),
            "moved": max(worst["moved"], found.moved / moved if moved else F(0)),
        }
    assert worst["c_1"] > F(1, 2)
    assert worst["drift"] > F(1, 20)
    assert worst["moved"] > F(1, 4)
