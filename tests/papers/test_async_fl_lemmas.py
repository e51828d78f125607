"""Lemmas 1 to 7, (96) and (105) of the asynchronous paper against exact histories of small instances.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates".
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest
from async_scalar import Quantities, Setting, histories, moved, real, virtual

from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Statement

F = Fraction
ONE = F(1)


def get(name: str, reading: str = "corrected") -> Statement:
    return statement(f"async_fl/{name}/{reading}")


def bound(s: Statement, values: dict[str, Any]) -> Fraction:
    names = {symbol.name for symbol in s.symbols}
    found = s.evaluate(**{name: value for name, value in values.items() if name in names}).exact
    assert isinstance(found, Fraction)
    return found


def alternating(n: int) -> list[tuple[Fraction, tuple[int, ...]]]:
    return [(F(1), (n % 2,))]


def one_of_two(_: int) -> list[tuple[Fraction, tuple[int, ...]]]:
    return [(F(1, 2), (0,)), (F(1, 2), (1,))]


def each_or_not(_: int) -> list[tuple[Fraction, tuple[int, ...]]]:
    return [(F(1, 4), cohort) for cohort in ((), (0,), (1,), (0, 1))]


def both(_: int) -> list[tuple[Fraction, tuple[int, ...]]]:
    return [(F(1), (0, 1))]


# law -> (alpha, beta for weights d = (1, 1) times the factor, whether contributions can be stale with a known delay)
LAWS: dict[str, tuple[Any, Fraction, Fraction, int]] = {
    "alternating": (alternating, F(0), F(1), 1),
    "alternating, alpha = 1": (alternating, F(1), F(0), 1),
    "uniform": (one_of_two, F(0), F(1), 0),
    "independent": (each_or_not, F(1), F(1, 2), 0),
    "all": (both, F(1), F(0), 0),
}


def settings(name: str, K: int, noise: Fraction, weight: Fraction = ONE, eta_g: Fraction = ONE) -> Setting:
    law, _, _, tau = LAWS[name]
    d = (weight, weight)
    return Setting((F(1), F(1, 2)), (F(1), F(-1)), (noise, noise), d, law, K, F(1, 16), eta_g, F(2), tau > 0)


def checks(name: str, s: Setting, rounds: int, kind: str) -> dict[str, list[tuple[Fraction, Fraction]]]:
    """Left and right sides of Lemmas 2 to 5, round by round, in the reading of that kind."""
    _, alpha, beta, tau = LAWS[name]
    x = s.minimiser([F(1), F(1)])
    before = histories(s, rounds)
    steps = [F(0)] * tau + [moved(after) for after in before[1:]]
    found: dict[str, list[tuple[Fraction, Fraction]]] = {}
    for n in range(rounds):
        own = real(s, before[n], before[n + 1], n, x) if kind == "corrected" else virtual(s, before[n], n, x)
        values = {
            **{symbol: getattr(own, symbol) for symbol in Quantities.__annotations__},
            "L": 1,
            "K": s.K,
            "eta_l": s.eta_l,
            "eta_g": s.eta_g,
            "tau": tau,
            "Qs": sum(steps[n : n + tau], F(0)),
            "alpha": alpha,
            "beta": beta * max(s.d),
        }
        left = {
            "lemma_2": own.change,
            "lemma_3": own.phi,
            "lemma_3_gradients": own.Sn,
            "lemma_4": -2 * own.inner,
            "lemma_5": own.Rn,
        }
        for lemma, value in left.items():
            found.setdefault(lemma, []).append((value, bound(get(lemma, kind), values)))
    return found


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(("K", "noise", "weight", "eta_g"), [
    (1, F(0), F(1), F(1)), (2, F(1, 2), F(1), F(1)), (3, F(0), F(1, 8), F(6)), (2, F(0), F(2), F(1, 3)),
])  # fmt: skip
def test_the_corrected_lemmas_hold(name: str, K: int, noise: Fraction, weight: Fraction, eta_g: Fraction) -> None:
    s = settings(name, K, noise, weight, eta_g)
    rounds = 4 if not noise else 1 if name in ("uniform", "independent") else 2  # histories double at every step
    for lemma, sides in checks(name, s, rounds, "corrected").items():
        for left, right in sides:
            assert left <= right, lemma


def test_lemma_2_as_printed_misses_a_covariance() -> None:
    s = settings("uniform", 2, F(0))
    broken = checks("uniform", s, 2, "as_printed")["lemma_2"]
    assert any(left > right for left, right in broken)
    single = checks("uniform", settings("uniform", 1, F(0)), 2, "as_printed")["lemma_2"]
    assert all(left <= right for left, right in single)
    # one client that takes part with probability P: the excess at k = 1 is 2 P (1-P) d^2 et^2 theta^2 (1 - eta_l)
    P, d, eta = F(1, 3), F(2), F(1, 16)
    one = Setting((F(1),), (F(0),), (F(0),), (d,), lambda _: [(P, (0,)), (1 - P, ())], 2, eta, F(1), F(1), stale=False)
    own = virtual(one, histories(one, 0)[0], 0, F(0))
    values = {"inner": own.inner, "Rn": own.Rn, "Sn": own.Sn, "q": own.q, "eta_l": eta, "eta_g": 1}
    printed = bound(get("lemma_2", "as_printed"), {**values, "alpha": 1, "beta": d - P * d})
    assert own.change - printed == P * (1 - P) * d**2 * eta**2 * (1 - eta)  # the mean over k = 0, 1 halves it


def test_lemma_3_as_printed_is_false_for_small_weights_and_for_large_server_steps() -> None:
    s = settings("alternating", 1, F(0), F(1, 8))
    sides = checks("alternating", s, 4, "as_printed")
    for left, right in sides["lemma_3"][1:]:
        assert left > right  # the delay of one round: Q(n-1) on the left, 4 q Q(n-1) on the right
        assert right == left * 4 * F(1, 8)
    # one client, two steps, no delay: phi = eta_l^2 (eta_g - 1)^2/2 times the squared gradient
    eta = F(1, 16)
    for eta_g, fails in ((F(1), False), (F(2), False), (F(6), True)):
        one = Setting((F(1),), (F(0),), (F(0),), (F(1),), lambda _: [(F(1), (0,))], 2, eta, eta_g, F(1))
        own = virtual(one, histories(one, 0)[0], 0, F(0))
        assert own.phi == eta**2 * (eta_g - 1) ** 2 / 2
        values = {"L": 1, "K": 2, "eta_l": eta, "tau": 0, "Qs": 0, "Z": own.Z, "q": 1, "sg1": 0}
        assert (own.phi > bound(get("lemma_3", "as_printed"), values)) is fails


def test_lemma_6_on_means_over_rounds() -> None:
    for name, weight in itertools.product(LAWS, (F(1), F(1, 8))):
        s = settings(name, 2, F(0), weight)
        _, alpha, beta, tau = LAWS[name]
        rounds = 4
        before = histories(s, rounds)
        own = [real(s, before[n], before[n + 1], n, F(0)) for n in range(rounds)]
        values = {
            "L": 1,
            "K": 2,
            "eta_l": s.eta_l,
            "eta_g": 1,
            "tau": tau,
            "alpha": alpha,
            "beta": beta * weight,
            "rho": max([F(1), *(o.q for o in own)]),
            "Z_mean": sum((o.Z for o in own), F(0)) / rounds,
            "S1": sum((o.sg1 for o in own), F(0)) / rounds,
            "S2": sum((o.sg2 for o in own), F(0)) / rounds,
        }
        found = get("lemma_6").evaluate(**values)
        assert found.in_scope is True
        assert isinstance(found.exact, Fraction)
        assert sum((o.sq for o in own), F(0)) / rounds <= found.exact


def test_lemma_1_for_pairs_of_clients() -> None:
    x, d = (F(2), F(-3)), (F(1), F(1, 2))
    for name, (law, alpha, _, _) in LAWS.items():
        q = [d[i] * sum((p for p, cohort in law(0) if i in cohort), F(0)) for i in (0, 1)]
        left = sum((p * sum((d[i] * x[i] for i in cohort), F(0)) ** 2 for p, cohort in law(0)), F(0))
        square = [d[i] ** 2 * sum((p for p, cohort in law(0) if i in cohort), F(0)) for i in (0, 1)]
        own = sum(((square[i] - alpha * q[i] ** 2) * x[i] ** 2 for i in (0, 1)), F(0))
        together = (q[0] * x[0] + q[1] * x[1]) ** 2
        assert bound(get("lemma_1"), {"own": own, "together": together, "alpha": alpha}) == left, name
        gamma = sum(bound(get("lemma_1_gamma"), {"d": d[i], "q_i": q[i], "alpha": alpha}) * x[i] ** 2 for i in (0, 1))
        assert gamma == own
        for i in (0, 1):
            printed = bound(get("lemma_1_gamma", "as_printed"), {"d": d[i], "q_i": q[i], "alpha": alpha})
            assert square[i] - alpha * q[i] ** 2 <= printed


def test_the_jensen_remark_is_false() -> None:
    q, x = (F(1, 2), F(1, 2)), (F(3), F(-3))
    cross = 2 * q[0] * q[1] * x[0] * x[1]
    assert cross == -(x[0] ** 2) / 2
    together, single = (q[0] * x[0] + q[1] * x[1]) ** 2, sum(v**2 * y**2 for v, y in zip(q, x, strict=True))
    assert cross < bound(get("lemma_1_jensen", "as_printed"), {"together": together, "qt_max": q[0]}) == 0
    assert cross == bound(get("lemma_1_jensen"), {"together": together, "single": single})


# --- Lemma 7 and (105) ---------------------------------------------------------------------------------------


def point(draw: random.Random, *, full: bool) -> tuple[Fraction, Fraction, dict[str, Fraction]]:
    """|grad L|^2, |grad L - grad L^n/q|^2 and what the bounds need, for random scalar quadratics with L = 1."""
    J = draw.randint(1, 4)
    c = [F(draw.randint(1, 8), 8) for _ in range(J)]
    t = [F(draw.randint(-8, 8), 2) for _ in range(J)]
    raw = [F(draw.randint(1, 9)) for _ in range(J)]
    r = [v / sum(raw) for v in raw]
    s = [F(draw.randint(1 if full else 0, 6), draw.choice((1, 2, 8))) for _ in range(J)]
    if not any(s):
        s[0] = F(1)
    q, x = sum(s, F(0)), F(draw.randint(-20, 20), 4)
    inside = [j for j in range(J) if s[j]]
    chi2 = sum(((r[j] - s[j] / q) ** 2 / (s[j] / q) for j in inside), F(0))
    best = sum((s[j] * c[j] * t[j] for j in inside), F(0)) / sum((s[j] * c[j] for j in inside), F(0))

    def loss(y: Fraction) -> Fraction:
        return sum((s[j] * c[j] * (y - t[j]) ** 2 / 2 for j in inside), F(0))

    gradient = [c[j] * (x - t[j]) for j in range(J)]
    whole = sum((r[j] * gradient[j] for j in range(J)), F(0))
    own = sum((s[j] * gradient[j] for j in range(J)), F(0)) / q
    absent = sum((r[j] * c[j] * (x - t[j]) ** 2 / 2 for j in range(J) if not s[j]), F(0))
    values = {
        "L": F(1),
        "q": q,
        "chi2_n": chi2,
        "gap_n": loss(x) - loss(best),
        "spread_n": loss(best),
        "absent": absent,
    }
    return whole**2, (whole - own) ** 2, values


def test_lemma_7_and_105_on_random_points() -> None:
    draw = random.Random(3)
    most_printed = F(0)
    for _ in range(300):
        square, difference, values = point(draw, full=False)
        assert difference <= bound(get("lemma_7", "as_printed"), values)
        assert square <= bound(get("equation_105"), values)
        printed = bound(get("equation_105", "as_printed"), values)
        if printed > 0:
            most_printed = max(most_printed, square / printed)
    assert most_printed > 1
    for _ in range(200):
        square, _, values = point(draw, full=True)
        assert square <= bound(get("equation_105", "corrected_every_type"), values)


def test_105_for_one_client_with_weight_4() -> None:
    x = F(3)
    values = {"L": 1, "q": 4, "chi2_n": 0, "gap_n": 4 * x**2 / 2, "spread_n": 0, "absent": 0}
    assert bound(get("equation_105", "as_printed"), values) == x**2 / 2 < x**2
    assert bound(get("equation_105", "corrected_every_type"), values) == 2 * x**2
    assert bound(get("equation_105", "as_printed"), {**values, "q": 1, "gap_n": x**2 / 2}) == 2 * x**2


# --- (96) ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("c", "fails"), [(F(1, 4), True), (F(2, 5), True), (F(1, 2), False), (F(1), False)])
def test_96_for_one_client_with_a_small_weight(c: Fraction, fails: bool) -> None:
    noise = F(7)  # S1 = E|g|^2 at the minimiser, Sigma = c E|g|^2, R = 0
    values = {"L": 1, "R": 0, "Sigma": c * noise, "q_min": c, "q_max": c}
    assert (noise > bound(get("equation_96", "as_printed"), values)) is fails
    assert noise <= bound(get("equation_96"), values) == 2 * noise
    assert noise <= bound(get("equation_96_second"), values)


def test_96_on_random_rounds() -> None:
    draw = random.Random(5)
    for _ in range(100):
        M, rounds = 3, 2
        c, t = [F(draw.randint(1, 4), 4) for _ in range(M)], [F(draw.randint(-4, 4)) for _ in range(M)]
        noise = [F(draw.randint(0, 3)) for _ in range(M)]
        q = [[F(draw.randint(0, 4), 3) for _ in range(M)] for _ in range(rounds)]
        if any(not sum(row) for row in q):
            continue
        s = Setting(tuple(c), tuple(t), tuple(noise), (F(1),) * M, both, 1, F(1), F(1), F(1))
        mean = [sum((row[i] for row in q), F(0)) / rounds for i in range(M)]
        center = s.minimiser(mean)

        def square(i: int, x: Fraction, s: Setting = s) -> Fraction:
            return (s.c[i] * (x - s.t[i])) ** 2 + s.noise[i] ** 2

        first = second = residual = F(0)
        for row in q:
            best, total = s.minimiser(row), sum(row, F(0))
            residual += (s.loss(row, center) - s.loss(row, best)) / rounds
            first += sum((row[i] / total * square(i, best) for i in range(M)), F(0)) / rounds
            second += sum(((row[i] / total) ** 2 * square(i, best) for i in range(M)), F(0)) / rounds
        values = {
            "L": 1,
            "R": residual,
            "Sigma": sum((mean[i] * square(i, center) for i in range(M)), F(0)),
            "q_min": min(sum(row, F(0)) for row in q),
            "q_max": max(v for row in q for v in row),
        }
        assert first <= bound(get("equation_96"), values)
        assert second <= bound(get("equation_96_second"), values)
