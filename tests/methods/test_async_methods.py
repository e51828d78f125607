"""The compositions of the asynchronous paper: their parts, their limits, and the laws of memoryless clocks."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.errors import Unsupported
from boundcheck.methods.build import algorithms, build
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts import (
    Average,
    Pattern,
    Same,
    Sole,
    Timed,
    WithReplacement,
    inclusion,
)
from boundcheck.methods.parts.update_times import finish_probability, first_to_finish
from boundcheck.methods.schedules import Buffer, Exponential, FirstToArrive, Fixed, Policy, Window
from boundcheck.problems.build import build as problem

F = Fraction
THREE = Clients.alike(3)
STEPS: dict[str, Any] = {"K": 2, "eta_l": "1/4"}


def fixed(*values: int) -> Fixed:
    return Fixed(tuple(F(v) for v in values))


def quadratics() -> Any:
    clients = [{"A": [[1]], "b": [0]}, {"A": [[2]], "b": [3]}, {"A": [["1/2"]], "b": [-1]}]
    return problem({"kind": "quadratics", "clients": clients, "start": [5]})


def test_asynchronous_fedavg() -> None:
    method = build({"kind": "fedavg_async", "times": [1, 2, 3], **STEPS})
    # (sum of 1/T_j) T_i p_i with p_i = 1/3
    assert method.factors((0, 1, 2), THREE) == [F(11, 18), F(11, 9), F(11, 6)]
    identical = build({"kind": "fedavg_async", "times": [1, 2, 3], "weights": "identical", "ties": "joint", **STEPS})
    assert identical.aggregation == Same(F(1))
    assert identical.participation == Timed(fixed(1, 2, 3), FirstToArrive("joint"))
    assert pickle.loads(pickle.dumps(identical)) == identical


def test_weights_follow_the_clients_importance() -> None:
    method = build({"kind": "fedfix", "times": [1, 2, 3], "dt": 1, "eta_g": 2, **STEPS})
    clients = Clients((F(1, 2), F(1, 3), F(1, 6)), (1, 1, 1))
    assert method.factors((0, 1, 2), clients) == [2 * F(1, 2), 2 * F(2, 3), 2 * F(3, 6)]  # eta_g ceil(T_i/dt) p_i
    assert [inclusion(method.participation, i, clients) for i in range(3)] == [1, F(1, 2), F(1, 3)]


def test_sampling() -> None:
    md = build({"kind": "md_sampling", "m": 4, **STEPS})
    assert (md.participation, md.aggregation, md.exchange) == (WithReplacement(4), Same(F(1, 4)), None)
    uniform = build({"kind": "uniform_sampling", "m": 2, **STEPS})
    assert uniform.factors((0, 2), THREE) == [F(1, 2), F(1, 2)]  # (M/m) p_i
    biased = build({"kind": "biased_sampling", "cohorts": [[1, 0], [2]], **STEPS})
    assert (biased.participation, biased.aggregation) == (Pattern(((0, 1), (2,))), Average())
    even = build({"kind": "biased_sampling", "cohorts": [[0, 1], [0, 2]], "weights": "time_based", **STEPS})
    assert even.factors((0, 1), THREE) == [F(1, 3), F(2, 3)]
    assert [algorithms(m) for m in (md, uniform, biased)] == [
        ("md_sampling",),
        ("uniform_sampling",),
        ("biased_sampling",),
    ]


def test_centralised_learning_has_one_client() -> None:
    method = build({"kind": "centralised", "eta_l": "1/2", "K": 3})
    assert method.participation == Sole()
    assert set(algorithms(method)) == {"centralised", "fedavg_sync"}
    method.check(Clients.alike(1))


def exponential_below(x: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of 1 - exp(-x) for 0 < x <= 1: two neighbouring sums of the alternating series."""
    sums, term = [F(0)], F(1)
    for k in range(1, 40):
        term *= -x / k
        sums.append(sums[-1] - term)
    return min(sums[-2:]), max(sums[-2:])


@pytest.mark.parametrize("x", [F(1), F(1, 3), F(1, 10**6), F(1, 10**30), F(7, 9)])
def test_the_probability_of_finishing_in_a_window(x: Fraction) -> None:
    low, high = exponential_below(x)
    assert high - low < low * F(1, 10**30)
    found = finish_probability(x, F(1))
    assert low * (1 - F(1, 10**12)) < found <= low
    for rate, dt in ((30, 1), (500, 3)):  # long windows
        assert 1 - F(2, 10**12) < finish_probability(F(rate), F(dt)) < 1


def test_who_fills_a_buffer_first() -> None:
    rates = (F(1), F(2), F(3))
    sets, chances = first_to_finish(rates, 2)
    found = dict(zip(sets, chances, strict=True))
    # in order: i first with probability r_i/6, then j with r_j/(6 - r_i)
    for i, j in itertools.combinations(range(3), 2):
        by_hand = sum(rates[a] / 6 * rates[b] / (6 - rates[a]) for a, b in ((i, j), (j, i)))
        assert found[i, j] == by_hand
    assert sum(chances) == 1
    assert first_to_finish(rates, 1) == (((0,), (1,), (2,)), (F(1, 6), F(1, 3), F(1, 2)))
    with pytest.raises(Unsupported, match="too many"):
        first_to_finish(tuple(F(1) for _ in range(40)), 8)


RATES = Exponential((F(1), F(2), F(1, 2)))


@pytest.mark.parametrize("policy", [FirstToArrive(), Window(F(2, 3)), Buffer(2)], ids=str)
def test_memoryless_clocks_give_independent_cohorts(policy: Policy) -> None:
    """Simulated clocks, pieces of work that last over several rounds included, against the law that is claimed."""
    timed = Timed(RATES, policy)
    drawing = timed.drawing(THREE)
    assert drawing is not None
    rounds = 40_000
    table = timed.timetable(3, rounds, seed=1)
    present = np.zeros((rounds, 3))
    for i in range(3):
        owner = np.repeat(np.arange(rounds), np.diff(table.offsets))
        present[owner[table.members == i], i] = 1
    for i, j in itertools.product(range(3), repeat=2):
        p = float(drawing.pair(i, j))
        spread = 4.5 * (p * (1 - p) / rounds) ** 0.5
        assert abs(np.mean(present[:, i] * present[:, j]) - p) <= spread + 1e-9
        # the round before says nothing
        now, before = float(drawing.inclusion(i)), float(drawing.inclusion(j))
        joint = float(np.mean(present[1:, i] * present[:-1, j]))
        assert abs(joint - now * before) < 4.5 / rounds**0.5
        # nor does how long the client has been at work
        waited = (present[1:-1, i] == 0) & (present[:-2, i] == 0)
        assert abs(np.mean(present[2:, i][waited]) - now) < 4.5 / waited.sum() ** 0.5


def test_waiting_for_all_needs_no_law() -> None:
    sync = build({"kind": "fedavg_sync", "times": {"kind": "exponential", "rates": [1, 2, 3]}, **STEPS})
    assert sync.participation.drawing(THREE) is None
    assert sync.participation.fixed(5, THREE) == (0, 1, 2)
    assert sync.factors((0, 1, 2), THREE) == [F(1, 3)] * 3
    assert not sync.is_random(THREE)
    assert Timed(RATES, Buffer(3)).fixed(0, THREE) == (0, 1, 2)
