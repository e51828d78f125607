"""Table 2, the weights, and Examples 1 and 2 of the asynchronous paper against schedules and models gone through.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates".
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Kind, Statement

F = Fraction


def get(name: str, reading: str = "corrected") -> Statement:
    return statement(f"async_fl/{name}/{reading}")


def value(name: str, reading: str = "corrected", **values: Any) -> Fraction:
    found = get(name, reading).evaluate(**values).exact
    assert isinstance(found, Fraction)
    return found


# --- schedules -----------------------------------------------------------------------------------------------


def arrivals(taus: Sequence[int], until: int) -> list[tuple[int, int]]:
    """(time, client) one by one; of clients that finish together the faster first."""
    return sorted((k * tau, i) for i, tau in enumerate(taus) for k in range(1, until // tau + 1))


def delays(cohorts: Sequence[Sequence[int]], clients: int) -> int:
    """The largest n - rho_i(n)."""
    last, largest = [0] * clients, 0
    for n, cohort in enumerate(cohorts):
        for i in cohort:
            largest = max(largest, n - last[i])
            last[i] = n + 1
    return largest


# times -> W one by one, largest delay one by one and with ties joint, rounds a cycle with ties joint, weights d_i
ASYNC: list[tuple[tuple[int, ...], int, int, int, int, list[Fraction]]] = [
    ((1, 2), 3, 2, 1, 2, [F(3, 4), F(3, 2)]),
    ((2, 3, 5), 31, 5, 3, 22, [F(31, 45), F(31, 30), F(31, 18)]),
    ((1, 1, 1), 3, 2, 0, 1, [F(1)] * 3),
    ((2, 4), 3, 2, 1, 2, [F(3, 4), F(3, 2)]),
    ((3, 4, 6), 9, 4, 2, 6, [F(3, 4), F(1), F(3, 2)]),
    ((1, 2, 3, 4, 5), 137, 12, 4, 60, [F(137, 300), F(137, 150), F(137, 100), F(137, 75), F(137, 60)]),
]


@pytest.mark.parametrize(("taus", "W", "delay", "joint_delay", "joint_rounds", "weights"), ASYNC)
def test_asynchronous_fedavg(
    taus: tuple[int, ...], W: int, delay: int, joint_delay: int, joint_rounds: int, weights: list[Fraction]
) -> None:
    M, nu = len(taus), math.lcm(*taus)
    rates = sum((F(1, t) for t in taus), F(0))
    order = arrivals(taus, 3 * nu)
    once = [(i,) for _, i in arrivals(taus, nu)]
    together = [tuple(i for _, i in own) for _, own in itertools.groupby(order, key=lambda a: a[0])]
    assert value("equation_35", "as_printed", nu=nu, rate_sum=rates) == W == len(once)
    assert len(together) == 3 * joint_rounds
    exact = delays([(i,) for _, i in order], M)
    updates = sum(math.ceil(F(max(taus), t)) for t in sorted(taus)[:-1])
    assert value("table_2_async_tau", "sharp", updates=updates) == exact == delay
    assert exact <= value("table_2_async_tau", tau_M=max(taus), tau_0=min(taus), M=M)
    assert delays(together, M) == joint_delay
    for i, (tau, d) in enumerate(zip(taus, weights, strict=True)):
        p = F(1, M)
        assert value("weights_time_based", "as_printed", rate_sum=rates, tau_i=tau, p_i=p) == d
        assert value("equation_36", "as_printed", d_i=d, tau_i=tau, rate_sum=rates) == p
        assert d * once.count((i,)) / W == p  # the definition
    largest = max(weights)
    assert largest <= value("table_2_async_beta", "as_printed", tau_M=max(taus), tau_0=min(taus))
    assert largest <= value("table_2_async_beta", tau_M=max(taus), tau_0=min(taus), M=M, p_max=F(1, M))
    tight = value("table_2_async_window", tau_M=max(taus), M=M)
    assert W <= tight <= value("table_2_async_window", "as_printed", tau_M=max(taus), M=M)
    assert value("table_2_async_rounds", "as_printed", T=nu, rate_sum=rates) == len(once)


def test_the_delay_as_printed_is_an_order_only() -> None:
    assert delays([(i,) for _, i in arrivals((2, 3), 60)], 2) == 2
    assert value("table_2_async_tau", "as_printed", tau_M=3, tau_0=2, M=2) == F(3, 2)
    assert value("table_2_async_tau", tau_M=3, tau_0=2, M=2) == 2


def test_unequal_importance_needs_more_than_the_ratio_of_times() -> None:
    taus, p = (1, 2), (F(1, 10), F(9, 10))
    d = [
        value("weights_time_based", "as_printed", rate_sum=F(3, 2), tau_i=t, p_i=v)
        for t, v in zip(taus, p, strict=True)
    ]
    assert max(d) == F(27, 10) > value("table_2_async_beta", "as_printed", tau_M=2, tau_0=1)
    assert max(d) <= value("table_2_async_beta", tau_M=2, tau_0=1, M=2, p_max=F(9, 10))


FEDFIX: list[tuple[tuple[int, ...], int, tuple[int, ...], int, int, Fraction]] = [
    ((2, 3, 5), 1, (2, 3, 5), 30, 4, F(4, 15)),
    ((2, 3, 5), 2, (1, 2, 3), 6, 2, F(0)),
    ((2, 3, 5), 5, (1, 1, 1), 1, 0, F(0)),
    ((3, 4, 6), 2, (2, 2, 3), 6, 2, F(1, 3)),
]


@pytest.mark.parametrize(("taus", "dt", "every", "W", "delay", "empty"), FEDFIX)
def test_fedfix(taus: tuple[int, ...], dt: int, every: tuple[int, ...], W: int, delay: int, empty: Fraction) -> None:
    M = len(taus)
    starts, cohorts = [0] * M, list[tuple[int, ...]]()
    for n in range(3 * W):  # round n ends at (n + 1) dt; a client that has arrived by then starts anew
        cohort = tuple(i for i in range(M) if starts[i] + taus[i] <= (n + 1) * dt)
        for i in cohort:
            starts[i] = (n + 1) * dt
        cohorts.append(cohort)
    assert cohorts[:W] == cohorts[W : 2 * W]
    assert F(sum(not c for c in cohorts), len(cohorts)) == empty
    assert delays(cohorts, M) == delay == value("table_2_fedfix_tau", tau_M=max(taus), dt=dt)
    assert value("table_2_fedfix_tau", "as_printed_text", tau_M=max(taus), dt=dt) == delay + 1
    assert value("table_2_fedfix_window", "sharp", visits_lcm=math.lcm(*every)) == W
    assert value("table_2_fedfix_window", tau_M=max(taus), dt=dt, M=M) >= W
    for i, tau in enumerate(taus):
        d = value("equation_40", "as_printed", tau_i=tau, dt=dt, p_i=F(1, M))
        assert d == F(every[i], M)
        assert d * sum(i in c for c in cohorts) / len(cohorts) == F(1, M)


def test_fedfix_entries_as_printed() -> None:
    assert value("table_2_fedfix_tau", "as_printed", tau_M=5, tau_0=2) == 2 < 4  # times 2, 3, 5 and dt = 1
    assert value("table_2_fedfix_window", "as_printed", tau_M=10, tau_0=7, M=3) == 24 < math.lcm(7, 9, 10)
    assert value("table_2_fedfix_window", tau_M=10, dt=1, M=3) == 1000 >= 630
    # random update times: E w^2/q - q = d - P d
    d, P = F(2), F(1, 3)
    assert value("table_2_fedfix_beta", d_i=d, chance=P) == d**2 * P / (d * P) - d * P


def test_f80_and_f0() -> None:
    assert value("section_5_f80", "as_printed_times", X=80) == 5
    assert value("section_5_f80", "as_printed_slower", X=80) == F(9, 5)
    taus = [1 + F(4, 9) * i for i in range(10)]
    rates = sum((1 / t for t in taus), F(0))
    d = [value("weights_time_based", "as_printed", rate_sum=rates, tau_i=t, p_i=F(1, 10)) for t in taus]
    expected = [0.4256, 0.6148, 0.8039, 0.9931, 1.1823, 1.3714, 1.5606, 1.7497, 1.9389, 2.1281]
    assert [round(float(v), 4) for v in d] == expected
    assert float(sum(d)) == pytest.approx(12.7684, abs=1e-4)
    share = [1 / t / rates for t in taus]  # identical weights
    chi2 = sum(((F(1, 10) - v) ** 2 / v for v in share), F(0))
    assert float(chi2) == pytest.approx(0.276836, abs=1e-6)
    two = [F(5, 6), F(1, 6)]
    assert sum(((F(1, 2) - v) ** 2 / v for v in two), F(0)) == F(4, 5)
    # F0: FedFix-0.5 has d_i = 2 p_i in every other round, and no delay: FedAvg with eta_g = 2
    alike = {"eta_g": 1, "tau_M": 1, "tau_0": 1, "dt": F(1, 2)}
    assert value("section_5_fedfix_f0", **alike) == 2
    assert value("section_5_fedfix_f0", "as_printed", **alike) == 2
    fast = [F(1, 5) + F(4, 45) * i for i in range(10)]
    visits = [math.ceil(t / F(1, 2)) for t in fast]
    assert visits == [1] * 4 + [2] * 6
    model = mirror = F(3)
    received = [model, model]
    for n in range(8):
        if n % 2:
            model += 2 * sum(
                (F(1, 2) * (y - F(1, 4) * (y - t) - y) for y, t in zip(received, (0, 1), strict=True)), F(0)
            )
            received = [model, model]
            mirror += 2 * sum((F(1, 2) * F(-1, 4) * (mirror - t) for t in (0, 1)), F(0))
        assert model == mirror


@pytest.mark.parametrize(
    ("M", "m", "alpha", "beta"),
    [
        (2, 1, F(0), F(1)),
        (3, 2, F(3, 4), F(1, 4)),
        (10, 5, F(8, 9), F(1, 9)),
        (10, 10, F(1), F(0)),
        (1000, 2, F(500, 999), F(499, 999)),
    ],
)
def test_uniform_sampling(M: int, m: int, alpha: Fraction, beta: Fraction) -> None:
    assert value("table_2_uniform_alpha", "as_printed", M=M, m=m) == alpha
    assert value("table_2_uniform_beta", "as_printed", M=M, m=m, p_max=F(1, M)) == beta
    if M <= 10:  # by counting cohorts
        sets = list(itertools.combinations(range(M), m))
        pair = F(sum({0, 1} <= set(c) for c in sets), len(sets))
        single = F(sum(0 in c for c in sets), len(sets))
        assert pair == alpha * single**2
        assert beta == F(1, m) - alpha * F(1, M)  # d - alpha q


def test_sampling_with_replacement() -> None:
    M, m = 4, 2
    assert value("table_2_uniform_alpha", "as_printed", M=M, m=m) == F(2, 3)
    assert value("table_2_md_alpha", "as_printed", m=m) == F(1, 2)
    p = [F(1, 10), F(2, 10), F(3, 10), F(4, 10)]
    draws = [(math.prod((p[i] for i in c), start=F(1)), c) for c in itertools.product(range(M), repeat=m)]
    for i, j in itertools.combinations(range(M), 2):
        both = sum((v * c.count(i) * c.count(j) for v, c in draws), F(0)) / m**2
        assert both == F(1, 2) * p[i] * p[j]
    for i in range(M):
        square = sum((v * c.count(i) ** 2 for v, c in draws), F(0)) / m**2
        assert square - F(1, 2) * p[i] ** 2 == p[i] * value("table_2_md_beta", "as_printed", m=m)


def test_entries_that_are_numbers() -> None:
    for name, number in (("alpha", 1), ("beta", 0), ("tau", 0), ("window", 1), ("residual", 0)):
        assert get(f"table_2_sync_{name}", "as_printed").bound == number
    assert get("table_2_centralised_tau", "as_printed").bound == 1
    assert get("table_2_centralised_tau").bound == 0
    assert get("table_2_centralised_alpha", "as_printed").bound == get("table_2_fedfix_alpha", "as_printed").bound == 1
    assert value("table_2_sync_rounds", "as_printed", T=10, tau_M=5) == 2
    assert value("table_2_fedfix_rounds", "as_printed", T=10, dt=F(1, 2)) == 20


def test_the_residual_of_one_client_a_round() -> None:
    """(37) and (41): in the mean d_i [L_i(theta*) - L_i*], clients (theta - t_i)^2/2 of equal importance."""
    taus, t = (2, 3, 5), (F(0), F(1), F(5))
    M, best = 3, sum(t, F(0)) / 3
    rates = sum((F(1, v) for v in taus), F(0))
    d = [rates * v / M for v in taus]
    once = [i for _, i in arrivals(taus, 30)]
    residual = sum((d[i] * (best - t[i]) ** 2 / 2 for i in once), F(0)) / len(once)
    alone = sum(((best - v) ** 2 / 2 for v in t), F(0)) / M
    assert residual == value("table_2_async_residual", "as_printed", F_het=alone) == alone
    assert value("table_2_fedfix_residual", "as_printed", F_het=alone) == alone


# --- Examples 1 and 2 ----------------------------------------------------------------------------------------


def models(phi: Fraction, theta: Fraction, start: Fraction, rounds: int) -> list[Fraction]:
    """Example 1 by the recursion's own statement, from two equal models."""
    found = [start, start]
    for _ in range(rounds):
        found.append(
            value("example_1_recursion", eta_g=1, phi=phi, theta_opt=theta, theta_n=found[-2], theta_n1=found[-1])
        )
    return found


def clients_in_turn(eta: Fraction, K: int, ends: Sequence[Fraction], start: Fraction, rounds: int) -> list[Fraction]:
    """Example 1 by its definition: four clients, K gradient steps each from the model that they received last."""
    model, received, found = start, [start] * 4, [start]
    for n in range(rounds):
        step = F(0)
        turn = (0, 2) if n % 2 else (1, 3)
        for i in turn:
            y = received[i]
            for _ in range(K):
                y -= eta * (y - ends[i])
            step += F(1, 2) * (y - received[i])
        model += step
        for i in turn:
            received[i] = model
        found.append(model)
    return found


def test_the_recursion_of_example_1() -> None:
    expected = [F(0), F(0), F(1), F(2), F(5, 2), F(5, 2), F(9, 4), F(2)]
    assert models(F(1, 2), F(2), F(0), 6) == expected
    assert clients_in_turn(F(1, 2), 1, (F(1), F(1), F(3), F(3)), F(0), 6) == expected[1:]
    orbit = models(F(1), F(0), F(0), 6)
    assert orbit == [0] * 8
    assert models(F(1), F(0), F(1), 10)[1:] == [1, 0, -1, -1, 0, 1, 1, 0, -1, -1, 0]  # period 6
    K, eta = 3, F(1, 4)
    phi = 1 - (1 - eta) ** K
    ends = (F(1), F(1), F(3), F(3))
    assert clients_in_turn(eta, K, ends, F(7), 9) == models(phi, F(2), F(7), 9)[1:]


@pytest.mark.parametrize(
    ("eta", "K", "radius"), [("3/2", 1, math.sqrt(1.5)), ("3/2", 2, math.sqrt(0.75)), ("3/2", 3, 1.0607), ("1", 1, 1)]
)
def test_when_example_1_converges(eta: str, K: int, radius: float) -> None:
    found = get("example_1_radius").evaluate(eta_l=eta, eta_g=1, K=K)
    assert float(found.value) == pytest.approx(radius, abs=5e-5)
    phi = 1 - (1 - F(eta)) ** K
    root = cmath.sqrt(1 - 4 * float(phi))
    assert float(found.value) == pytest.approx(max(abs(1 + root), abs(1 - root)) / 2)
    s = get("example_1")
    assert s.kind is Kind.LIMIT
    assert s.scope(eta_l=eta, eta_g=1, K=K).in_scope is (radius < 1)
    assert get("example_1", "as_printed").scope(eta_l=eta, eta_g=1).in_scope is True
    away = [abs(v) for v in models(phi, F(0), F(1), 60)]
    assert (max(away[-6:]) < max(away[:6])) is (radius < 1)


def test_the_radius_for_real_and_negative_roots() -> None:
    for eta, K, eta_g in ((F(1, 10), 1, F(1)), (F(1, 4), 1, F(1)), (F(5, 2), 2, F(1)), (F(1, 10), 1, F(9))):
        phi = eta_g * (1 - (1 - eta) ** K)
        root = cmath.sqrt(1 - 4 * float(phi))
        found = get("example_1_radius").evaluate(eta_l=eta, eta_g=eta_g, K=K)
        assert float(found.value) == pytest.approx(max(abs(1 + root), abs(1 - root)) / 2)
        assert get("example_1").scope(eta_l=eta, eta_g=eta_g, K=K).in_scope is (float(found.value) < 1)


def two_in_turn(a: Fraction, b: Fraction, ends: tuple[Fraction, Fraction], rounds: int) -> list[Fraction]:
    """Example 2: each client moves by its share of the way from the model that it received last."""
    model, received, found = F(0), [F(0), F(0)], [F(0)]
    for n in range(rounds):
        i = n % 2
        model += (a, b)[i] * (ends[i] - received[i])
        received[i] = model
        found.append(model)
    return found


def ends_of(q1: Any, q2: Any, eta: Any, t: tuple[Any, Any]) -> tuple[Fraction, Fraction, Fraction]:
    """Even and odd limit, and the printed one; K = 1 and eta_g = 1, so that phi is the step size."""
    at = {"q_1": q1, "q_2": q2, "theta_1": t[0], "theta_2": t[1]}
    step = {"eta_l": eta, "eta_g": 1, "K": 1}
    even, odd = (value("example_2", reading, **at, **step) for reading in ("corrected", "corrected_odd"))
    return even, odd, value("example_2", "as_printed", **at, **step)


def test_example_2_is_a_cycle_of_two_points() -> None:
    even, odd, printed = ends_of(1, F(1, 2), F(3, 10), (0, 3))
    assert (even, odd, printed) == (F(13, 11), F(10, 11), 1)
    small = ends_of(1, F(1, 2), F(1, 100), (0, 3))
    assert float(small[0]) == pytest.approx(1.00664452, abs=1e-8)
    assert float(small[1]) == pytest.approx(0.996677741, abs=1e-9)
    same = ends_of(F(2, 3), F(2, 3), F(1, 4), (1, 5))
    assert (same[0] + same[1]) / 2 == 3
    for q1, q2, eta, t in ((F(1), F(1, 2), F(3, 10), (F(0), F(3))), (F(1, 3), F(2), F(1, 5), (F(-1), F(1)))):
        a, b = eta * q1, eta * q2
        course = two_in_turn(a, b, t, 400)
        even, odd, _ = ends_of(q1, q2, eta, t)
        assert float(course[400] - even) == pytest.approx(0, abs=1e-12)
        assert float(course[399] - odd) == pytest.approx(0, abs=1e-12)
        # the difference of the even limit to (30)
        e, (x, y) = eta, t
        assert even - (q1 * x + q2 * y) / (q1 + q2) == -e * q1**2 * q2 * (x - y) / ((q1 + q2) * (e * q1 * q2 + q1 + q2))


def test_example_2_without_stability() -> None:
    s = get("example_2")
    for q1, q2, stable in ((F(1), F(1, 2), True), (F(3), F(1, 4), False), (F(2), F(1), False)):
        scope = s.scope(q_1=q1, q_2=q2, eta_l=1, eta_g=1, K=1)
        course = two_in_turn(q1, q2, (F(0), F(3)), 200)
        away = [abs(float(course[k + 2] - course[k])) for k in range(190, 198)]
        assert scope.in_scope is stable
        assert (max(away) < 1e-6) is stable
