"""The asynchronous paper's theorems, conditions and rates against counterexamples in closed form and exact algebra.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates".
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy as sp

from boundcheck.theory.discovery import all_ids, readings, statement
from boundcheck.theory.statement import Belief, Statement

F = Fraction
NAMES = sorted({id.split("/")[1] for id in all_ids() if id.startswith("async_fl/")})
EVERY = [s for name in NAMES for s in readings("async_fl", name)]
FAR = 10**40  # so many windows that what is left of the start is nothing


def get(name: str, reading: str = "corrected") -> Statement:
    return statement(f"async_fl/{name}/{reading}")


def only(s: Statement, values: dict[str, Any]) -> dict[str, Any]:
    names = {symbol.name for symbol in s.symbols}
    return {name: value for name, value in values.items() if name in names}


def bound(s: Statement, values: dict[str, Any]) -> Fraction:
    found = s.evaluate(**only(s, values)).exact
    assert isinstance(found, Fraction)
    return found


def symbol(name: str) -> sp.Symbol:
    return sp.Symbol(name, real=True)


# --- all of them ---------------------------------------------------------------------------------------------


def test_the_numbered_statements_are_there() -> None:
    theorems = {"theorem_1", "theorem_2", "theorem_3", "theorem_3_gradient", "corollary_1", "corollary_2"}
    lemmas = {f"lemma_{k}" for k in range(1, 8)}
    equations = {f"equation_{k}" for k in (33, 35, 36, 38, 40, 42, 96, 97, 98, 105, 106, 107, 108)}
    assert theorems | lemmas | equations | {"example_1", "example_2"} <= set(NAMES)


def test_what_is_not_printed_says_why_and_what_is_false_has_a_remark() -> None:
    for s in EVERY:
        assert s.reading.startswith("as_printed") or (s.belief is Belief.TRUE and len(s.why) > 20), s.id
        assert s.belief is not Belief.FALSE or s.remark, s.id


def test_units_flag_the_gradient_bound_and_nothing_corrected() -> None:
    assert [s.id for s in EVERY if s.dimension_errors()] == ["async_fl/theorem_3_gradient/as_printed"]


# --- Theorem 1: clients drawn at random ----------------------------------------------------------------------


def uniform_of_two(K: int, eta_g: Fraction) -> tuple[Fraction, Fraction, dict[str, Any]]:
    """Limits of the mean of L^n - min L^n at virtual and real models, for (theta -+ 1)^2/2 and one client a round.

    theta' = (1 - a) theta +- a with a = eta_g (1 - (1 - eta)^K), so that E theta^2 tends to a/(2 - a).
    """
    eta = F(1, 48 * K) * min(F(1), 1 / (3 * eta_g))
    a = [eta_g * (1 - (1 - eta) ** k) for k in range(K + 1)]
    square = a[K] / (2 - a[K])
    virtual = sum((((1 - v) ** 2 * square + v**2) / 2 for v in a[:K]), F(0)) / K
    values = {
        "L": 1,
        "K": K,
        "eta_l": eta,
        "eta_g": eta_g,
        "rho": 1,
        "alpha": 0,
        "beta": 1,
        "tau": 0,
        "R": 0,
        "S1": 1,
        "S2": F(1, 2),
        "Sigma": 1,
        "period": 1,
        "s": FAR,
        "dist2_0": 1,
        "q_min": 1,
        "q_bar": 1,
        "q_max": F(1, 2),
    }
    return virtual, square / 2, values


def test_theorem_1_as_printed_fails_for_many_local_steps() -> None:
    virtual, real, values = uniform_of_two(100, F(1))
    printed = bound(get("theorem_1", "as_printed_used"), values)
    assert float(virtual) == pytest.approx(0.0017322, abs=5e-8)
    assert float(printed) == pytest.approx(0.00070026, abs=5e-9)
    assert virtual > 2 * printed
    used = get("theorem_1", "as_printed_used")
    assert used.scope(**{k: values[k] for k in _names(used)}).in_scope is True
    literal = get("theorem_1", "as_printed")
    assert literal.scope(**{k: values[k] for k in _names(literal)}).in_scope is False  # alpha = 0
    for reading in ("corrected", "corrected_sigma", "sharp"):
        found = get("theorem_1", reading).evaluate(**only(get("theorem_1", reading), values))
        assert found.in_scope is True
        assert isinstance(found.exact, Fraction)
        assert real <= found.exact
    assert float(bound(get("theorem_1"), values)) == pytest.approx(600 / 14400 + 12 * (99 / 14400) ** 2, rel=1e-12)


def test_the_failure_of_theorem_1_grows_with_the_local_steps() -> None:
    for K in (48, 96):
        virtual, _, values = uniform_of_two(K, F(10**6))
        ratio = float(virtual / bound(get("theorem_1", "as_printed_used"), values))
        assert ratio == pytest.approx(K / 24, rel=0.1)
    for eta_g in (F(1), F(1000)):  # one step: nothing virtual
        virtual, real, values = uniform_of_two(1, eta_g)
        assert virtual == real <= bound(get("theorem_1", "as_printed_used"), values)


def test_corrected_theorem_1_on_the_whole_way() -> None:
    """From a start far away, exactly round by round: E theta^2 satisfies a linear recursion."""
    K, eta_g = 5, F(4)
    _, _, values = uniform_of_two(K, eta_g)
    a = eta_g * (1 - (1 - values["eta_l"]) ** K)
    square, total = F(25), F(0)
    for n in range(60):
        total += square / 2
        for reading in ("corrected", "sharp"):
            right = bound(get("theorem_1", reading), {**values, "s": n + 1, "dist2_0": 25})
            assert total / (n + 1) <= right
        square = (1 - a) ** 2 * square + a**2


@pytest.mark.parametrize(("alpha", "printed"), [(1, 8.33e-8), (0, 4.17e-8)])
def test_theorem_1_as_printed_fails_for_alternating_clients(alpha: int, printed: float) -> None:
    """Clients (theta -+ 1)^2/2 in turn: nothing is random, and the models run into a cycle of two points."""
    K, eta_g = 10**6, 10**8
    eta = F(1, 48 * K * 3 * eta_g)
    with mpmath.workdps(60):
        r = 1 - mpmath.mpf(eta.numerator) / eta.denominator
        a = eta_g * (1 - r**K)

        def mean(base: Any) -> Any:
            return (1 - base**K) / (1 - base) / K

        # (1 - a_k)^2 with 1 - a_k = 1 - eta_g + eta_g r^k, and the distance 2/(2 - a) to the minimiser of the round
        share = (1 - eta_g) ** 2 + 2 * (1 - eta_g) * eta_g * mean(r) + eta_g**2 * mean(r * r)
        left = (2 / (2 - a)) ** 2 * share / 2
        real = (2 / (2 - a)) ** 2 / 2
        excess = left - mpmath.mpf(1) / 2
        assert float(excess) == pytest.approx(2.03e-6, rel=0.01)
    values = {
        "L": 1,
        "K": K,
        "eta_l": eta,
        "eta_g": eta_g,
        "rho": 1,
        "alpha": alpha,
        "beta": 1 - alpha,
        "tau": 0,
        "R": F(1, 2),
        "S1": 0,
        "S2": 0,
        "period": 2,
        "s": FAR,
        "dist2_0": 1,
        "q_bar": 1,
    }
    s = get("theorem_1", "as_printed")
    right = sp.nsimplify(s.bound - symbol("R"))
    errors = right.subs({symbol(k): sp.Rational(str(v)) for k, v in values.items()})
    assert float(errors) == pytest.approx(printed, rel=0.01)
    assert float(excess) > 20 * float(errors)
    assert float(real) <= float(bound(get("theorem_1"), values))


def test_sharp_theorem_1_is_below_the_corrected_one() -> None:
    _, _, values = uniform_of_two(10, F(2))
    for more in ({}, {"tau": 3, "eta_l": F(1, 10**5)}, {"alpha": 1, "beta": 0}, {"rho": 2, "beta": 2, "R": 3}):
        at = {**values, **more, "s": 100}
        at["eta_l"] = min(at["eta_l"], F(1, 48 * 10 * 3 * at["rho"] ** 2 * 2 * (at["tau"] + 1)))
        assert bound(get("theorem_1", "sharp"), at) < bound(get("theorem_1"), at)


def test_corollary_1_as_printed_drops_the_weight() -> None:
    """A single client theta^2/2 with a small weight c: theta' = (1 - c eta) theta."""
    c, eta, rounds = F(1, 1000), F(1, 144), 1000
    gap = sum(((1 - c * eta) ** (2 * n) for n in range(rounds)), F(0)) / rounds / 2
    values = {
        "L": 1,
        "K": 1,
        "eta_l": eta,
        "eta_g": 1,
        "rho": 1,
        "alpha": F(1, 2),
        "beta": 0,
        "tau": 0,
        "S1": 0,
        "S2": 0,
        "period": 1,
        "s": rounds,
        "dist2_0": 1,
        "q_min": c,
    }
    assert gap > 3 * bound(get("corollary_1", "as_printed"), values)
    assert gap <= bound(get("corollary_1"), {**values, "alpha": 1})


# --- the conditions on the step ------------------------------------------------------------------------------


def test_97_is_just_enough() -> None:
    s = get("equation_97")
    tight = {"L": 1, "rho": 1, "alpha": 1}
    h, htau = F(1, 144), F(1, 48)  # of L: the limits of the second and third condition
    K = symbol("K")
    at = {symbol("eta_l"): sp.sqrt(sp.Rational(1, 48)) / (K - 1)}
    at |= {symbol("eta_g"): sp.Rational(1, 144) / (K * at[symbol("eta_l")]), symbol("tau"): sp.Rational(htau / h)}
    limit = s.metric.value.subs({symbol(k): v for k, v in tight.items()}).subs(at)
    assert sp.simplify(limit.subs(symbol("beta"), 1)) == 1
    assert sp.simplify(limit.subs(symbol("beta"), 2)) > 1


def cap(K: int, tau: int, rho: Fraction, eta_g: Fraction) -> dict[str, Any]:
    values: dict[str, Any] = {"L": 1, "K": K, "tau": tau, "rho": rho, "eta_g": eta_g, "beta": rho, "alpha": 1}
    return {**values, "eta_l": bound(get("equation_98"), values)}


def test_98_implies_97_and_all_conditions_of_the_proof() -> None:
    sharp = get("theorem_1", "sharp")
    for K in (1, 2, 10, 1000):
        for tau in (0, 1, 5, 100):
            for rho in (F(1), F(3, 2), F(20)):
                for eta_g in (F(1, 10), F(1), F(100)):
                    at = cap(K, tau, rho, eta_g)
                    if 3 * rho**2 * eta_g * (tau + 1) >= 1:
                        assert 48 * (at["eta_l"] * (K - 1)) ** 2 <= F(1, 48)
                        assert 144 * rho**2 * eta_g * at["eta_l"] * K == F(1, tau + 1)
                        delay = 2304 * rho**3 * (eta_g * at["eta_l"] * K * tau) ** 2
                        assert delay == F(tau**2, 1) / (9 * rho * (tau + 1) ** 2)
                    corrected = get("equation_97")
                    assert corrected.scope(**{k: v for k, v in at.items() if k in _names(corrected)}).in_scope is True
                    for alpha in (0, 1):
                        here = {**at, "alpha": alpha, "beta": 9 * rho}
                        names = {c: here[c] for c in _names(sharp) if c in here}
                        assert sharp.scope(**names).in_scope is True
                    tight = get("equation_98", "sharp").evaluate(**only(get("equation_98", "sharp"), at)).value
                    assert float(tight) >= float(at["eta_l"]) * (1 - 1e-12)


def _names(s: Statement) -> set[str]:
    return {v.name for c in s.conditions for v in c.relation.free_symbols}


def test_how_large_beta_may_be() -> None:
    printed, corrected = get("equation_97", "as_printed").metric.value, get("equation_97").metric.value

    def left(expr: Any, K: int, factor: int) -> Fraction:
        at = {**cap(K, 0, F(1), F(1)), "beta": factor}
        return F(str(expr.subs({symbol(k): sp.Rational(str(v)) for k, v in at.items()})))

    assert max(left(printed, K, 10) for K in (1, 2, 5, 1000)) == 1  # K = 1
    assert max(left(corrected, K, 9) for K in (1, 2, 5, 1000)) < 1
    assert left(corrected, 1000, 10) > 1
    assert left(printed, 1, 11) > 1


# --- the coefficients of the proof, as identities ----------------------------------------------------------------


def test_lemmas_3_to_5_follow_from_their_steps() -> None:
    eta, K, L, tau, q, Qs, Z, sg1, sg2 = (symbol(n) for n in ("eta_l", "K", "L", "tau", "q", "Qs", "Z", "sg1", "sg2"))
    e = eta**2 * (K - 1) ** 2
    D = 6 * e * L**2
    phi = symbol("phi")
    gradients = 3 * L**2 * phi + 6 * L * Z / q + 3 * sg1  # (68)
    right = sp.expand(2 * tau * Qs + 2 * e * gradients)  # (66), (69)
    assert sp.expand(right - (2 * tau * Qs + D * phi + 2 * D * Z / (L * q) + 6 * e * sg1)) == 0  # (70)
    first = get("lemma_3").bound
    assert sp.expand(2 * right.subs(phi, 0) - first) == 0  # 1/(1 - D) <= 2
    slack = sp.expand(get("lemma_3_gradients").bound - gradients.subs(phi, first))
    assert sp.simplify(slack - (1 - 2 * D) * (6 * L * Z / q + 3 * sg1)) == 0  # at least 0, as D <= 1/2
    slack = sp.expand(get("lemma_5").bound - (3 * L**2 * first + 18 * L * Z / q + 6 * sg2 / K))
    assert sp.simplify(slack - (1 - 2 * D) * 6 * L * Z / q) == 0
    assert sp.expand(get("lemma_4").bound - (-2 * symbol("Xi") + L * q * first)) == 0
    for name, term in (("lemma_3", 6 * e * sg1), ("lemma_4", 6 * e * q * L * sg1), ("lemma_5", 3 * D * sg1)):
        lost = sp.expand(get(name).bound - get(name, "as_printed").bound)
        assert sp.expand(lost).coeff(sg1) == sp.expand(term).coeff(sg1)


def test_lemma_6_and_theorem_1_follow_from_their_steps() -> None:
    eta, eta_g, K, L, tau, rho, alpha, beta, R, S1, S2, Z = (
        symbol(n) for n in ("eta_l", "eta_g", "K", "L", "tau", "rho", "alpha", "beta", "R", "S1", "S2", "Z_mean")
    )
    h, e = K * eta_g * eta, eta**2 * (K - 1) ** 2
    D = 6 * e * L**2
    # (84) without the delays: rho times [alpha q^2 R + beta q S]/rho at q = rho
    movement = 12 * rho * (2 * alpha + beta) * L * Z + 3 * rho**2 * (2 * alpha * D + 2 * beta) * S1
    movement += 6 * rho**2 * alpha * S2 / K
    assert sp.expand(2 * h**2 * movement - get("lemma_6").bound) == 0  # (85)
    # (87) to (90): 8 rho L tau^2 times the mean movement, beside h times the same terms
    spread = h + 16 * rho * L * h**2 * tau**2
    both = sp.expand(8 * rho * L * tau**2 * get("lemma_6").bound + h * movement)
    assert sp.expand(both - spread * movement) == 0
    assert sp.expand(4 * rho * L * tau + 12 * rho**2 * (alpha + beta) * h * L**2 * tau).equals(
        4 * rho * L * tau * (1 + 3 * rho * (alpha + beta) * h * L)
    )
    # the right side: 4 D Z + 12 rho e L S1 and these, with Z = R, as the corrected theorem has it
    whole = 4 * D * R + 12 * rho * e * L * S1 + spread * movement.subs(Z, R)
    rounded = 24 * alpha * e * L * S1 - spread * 6 * rho**2 * alpha * D * S1
    start = symbol("dist2_0") / (h * symbol("s") * symbol("period"))
    assert sp.expand(get("theorem_1").bound - (R + start + whole + rounded)) == 0
    # what was rounded: rho^2 L spread <= 2/3 under 3 rho^2 h L <= 1 and 48 rho^3 (h tau L)^2 <= 1
    x, y = sp.symbols("x y", nonnegative=True)
    assert (x / 3 + 16 * y / 48).subs({x: 1, y: 1}) == sp.Rational(2, 3)
    assert sp.expand(6 * alpha * D * sp.Rational(2, 3) / L - 24 * alpha * e * L) == 0


def test_the_sum_over_local_steps() -> None:
    for K in range(1, 21):
        for at in range(K):  # (69) is linear in x, so that unit vectors are enough
            assert sum(k * (1 if at < k else 0) for k in range(K)) <= (K - 1) ** 2


# --- rates ---------------------------------------------------------------------------------------------------


def test_the_rates_lose_a_factor_in_the_window() -> None:
    K, N, W, unit = (symbol(n) for n in ("K", "N", "W", "eta_unit"))
    for name in ("equation_38", "equation_42"):
        found = sp.expand(get(name).bound.subs(symbol("q_bar"), 1)).coeff(W)
        printed = sp.expand(get(name, "as_printed").bound.subs(symbol("q_bar"), 1)).coeff(W)
        assert sp.simplify(found / printed / (K * symbol("rho"))) == 1
    rate = sp.expand(get("equation_33").bound)
    assert sp.simplify(rate.coeff(symbol("dist2_0")) * unit * sp.sqrt(K * N)) == 1
    noise = sp.simplify(rate.coeff(symbol("Sigma")) - 6 * unit / (symbol("M") * sp.sqrt(K * N)))
    assert sp.simplify(noise - 36 * unit**2 * (K - 1) ** 2 * symbol("L") / (K * N)) == 0


def test_107_needs_the_local_steps_with_beta() -> None:
    beta, K = symbol("beta"), symbol("K")
    found = sp.expand(get("equation_107").bound).coeff(beta)
    printed = sp.expand(get("equation_107", "as_printed").bound).coeff(beta)
    assert sp.simplify(found / printed) == K


def test_106_on_a_noisy_quadratic() -> None:
    """theta' = (1 - eta) theta - eta noise: the exact mean gap of SGD."""
    eta, noise, square, total = F(1, 288), F(3), F(4), F(0)
    values = {"L": 1, "K": 1, "eta_l": eta, "Sigma": noise, "period": 1, "dist2_0": 4, "eta_g": 1}
    for n in range(200):
        total += square / 2
        assert total / (n + 1) <= bound(get("equation_106"), {**values, "s": n + 1})
        assert get("equation_106", "as_printed").bound == get("equation_106").bound
        square = (1 - eta) ** 2 * square + eta**2 * noise


def test_corollary_2() -> None:
    s = get("corollary_2", "as_printed")
    assert float(s.evaluate(N=10**6, a=0, b=0, c="1/2").value) == pytest.approx(1e-3)
    for a, b, c in (("1/2", "1/4", "3/4"), ("0", "1/2", "2/3")):
        found = s.evaluate(N=10**6, a=a, b=b, c=c)
        assert found.in_scope is True
        assert float(found.value) < 1
        assert get("corollary_2", "sharp").evaluate(N=10**6, a=a, b=b, c=c).value <= found.value
    assert s.scope(a=1, b=0, c="1/2").in_scope is False
    assert s.scope(a=0, b=0, c=1).in_scope is False
