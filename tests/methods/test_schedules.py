"""Timetables: by hand, against a plain loop over a heap, and against what is known of periods, delays and windows."""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.errors import BadInput
from boundcheck.methods.schedules import (
    F0,
    F80,
    F80_LITERAL,
    Buffer,
    Exponential,
    FirstToArrive,
    Fixed,
    Policy,
    Spread,
    Ties,
    Timetable,
    WaitForAll,
    Window,
    drawn_timetable,
    fixed_timetable,
    plan_of,
)

F = Fraction
Rounds = list[tuple[F, list[tuple[int, int]]]]


def times(*values: int | str | F) -> Fixed:
    return Fixed(tuple(F(v) for v in values))


def simulated(own: Fixed, policy: Policy, rounds: int) -> Rounds:
    """Algorithm 1 with a clock a client, in exact rationals: (time of aggregation, (client, delay) of the cohort)."""
    finish = [(t, i) for i, t in enumerate(own.values)]
    heapq.heapify(finish)
    received = [0] * len(own.values)
    found: Rounds = []
    now = F(0)
    for n in range(rounds):
        cohort: list[int] = []
        if isinstance(policy, WaitForAll):
            now += max(own.values)
        elif isinstance(policy, Window):
            now += policy.dt
        else:
            size = policy.m if isinstance(policy, Buffer) else 1
            for _ in range(size):
                now, i = heapq.heappop(finish)
                cohort.append(i)
        if isinstance(policy, WaitForAll | Window) or policy.ties == "joint":
            while finish and finish[0][0] <= now:
                cohort.append(heapq.heappop(finish)[1])
        found.append((now, [(i, n - received[i]) for i in sorted(cohort)]))
        for i in cohort:
            received[i] = n + 1
            heapq.heappush(finish, (now + own.values[i], i))
    return found


def told(table: Timetable) -> Rounds:
    pairs = (list(zip(table.cohort(n), table.delays_of(n), strict=True)) for n in range(table.rounds))
    return [(F(table.end(n)), own) for n, own in enumerate(pairs)]


POLICIES = (
    *(WaitForAll(), FirstToArrive(), FirstToArrive("joint"), Window(F(1, 2)), Window(F(7, 3)), Window(F(50))),
    *(Buffer(1), Buffer(2), Buffer(2, "joint"), Buffer(3), Buffer(4)),
)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_timetables_are_those_of_the_clocks(policy: Policy) -> None:
    draw = random.Random(7)
    for _ in range(12):
        own = times(*(F(draw.randint(1, 12), draw.choice((1, 2, 3))) for _ in range(draw.randint(4, 7))))
        assert told(fixed_timetable(own, policy, 60)) == simulated(own, policy, 60)


def test_many_clients_and_rounds() -> None:
    own = F80.of(40)
    for policy in (FirstToArrive(), Buffer(7), Window(F(1, 9))):
        assert told(fixed_timetable(own, policy, 400)) == simulated(own, policy, 400)


def test_times_beyond_the_machine_integers() -> None:
    own = times(F(10**30), F(10**30 + 1), F(2 * 10**29))
    for policy in (
        WaitForAll(),
        FirstToArrive(),
        FirstToArrive("joint"),
        Buffer(2),
        Buffer(2, "joint"),
        Window(F(10**29)),
    ):
        assert told(fixed_timetable(own, policy, 25)) == simulated(own, policy, 25)


# times | rounds of a period (35) | of joint ties | largest delay one by one | joint
ASYNCHRONOUS = [
    ((1, 2), 3, 2, 2, 1),
    ((2, 3, 5), 31, 22, 5, 3),
    ((1, 1, 1), 3, 1, 2, 0),
    ((2, 4), 3, 2, 2, 1),
    ((3, 4, 6), 9, 6, 4, 2),
    ((1, 2, 3, 4, 5), 137, 60, 12, 4),
]


@pytest.mark.parametrize(("own", "alone", "together", "delay", "joint"), ASYNCHRONOUS, ids=str)
def test_asynchronous_periods_and_delays(
    own: tuple[int, ...], alone: int, together: int, delay: int, joint: int
) -> None:
    plan, tied = plan_of(times(*own), FirstToArrive()), plan_of(times(*own), FirstToArrive("joint"))
    assert (plan.period, plan.window, plan.max_delay) == (alone, alone, delay)
    assert (tied.period, tied.window, tied.max_delay) == (together, together, joint)
    for each in (plan, tied):
        rounds = simulated(times(*own), each.policy, 3 * each.period)
        assert max(d for _, cohort in rounds for _, d in cohort) == each.max_delay
        cohorts = [tuple(i for i, _ in cohort) for _, cohort in rounds]
        assert cohorts[: each.period] == cohorts[each.period : 2 * each.period] == cohorts[2 * each.period :]
        assert [each.cohort(n) for n in range(3 * each.period)] == cohorts
        assert each.shares == [F(sum(i in c for c in cohorts), len(cohorts)) for i in range(len(own))]


def test_the_formula_of_the_largest_delay_is_met() -> None:
    """sum over j of ceil(T_M/T_j) without the slowest, where it is first or last; elsewhere it is gone through."""
    draw = random.Random(3)
    below = 0
    for _ in range(120):
        own = [draw.randint(1, 8) for _ in range(draw.randint(2, 5))]
        draw.shuffle(own)
        plan = plan_of(times(*own), FirstToArrive())
        largest = max(d for _, c in simulated(times(*own), FirstToArrive(), 2 * plan.period) for _, d in c)
        assert plan.max_delay == largest
        place = own.index(max(own))
        formula = sum(-(-own[place] // t) for j, t in enumerate(own) if j != place)
        assert largest <= formula
        below += largest < formula
    assert below  # another order of ties gives other delays


# times, dt, N'_i, W, largest delay, share of empty rounds
WINDOWS = [
    ((2, 3, 5), 1, [2, 3, 5], 30, 4, F(8, 30)),
    ((2, 3, 5), 2, [1, 2, 3], 6, 2, F(0)),
    ((2, 3, 5), 5, [1, 1, 1], 1, 0, F(0)),
    ((3, 4, 6), 2, [2, 2, 3], 6, 2, F(1, 3)),
]


@pytest.mark.parametrize(("own", "dt", "every", "window", "delay", "empty"), WINDOWS, ids=str)
def test_windows(own: tuple[int, ...], dt: int, every: list[int], window: int, delay: int, empty: F) -> None:
    plan = plan_of(times(*own), Window(F(dt)))
    assert plan.every == every
    assert (plan.period, plan.window, plan.max_delay, plan.empty_share) == (window, window, delay, empty)
    rounds = simulated(times(*own), plan.policy, 2 * window)
    assert F(sum(not c for _, c in rounds), 2 * window) == empty
    assert max(d for _, c in rounds for _, d in c) == delay
    assert plan.shares == [F(1, e) for e in every]


@pytest.mark.parametrize("ties", ["one_by_one", "joint"])
def test_buffers_repeat_from_some_round_on(ties: Ties) -> None:
    draw = random.Random(11)
    leads = 0
    for _ in range(20):
        own = times(*(draw.randint(1, 7) for _ in range(draw.randint(3, 5))))
        plan = plan_of(own, Buffer(draw.randint(2, 3), ties))
        rounds = simulated(own, plan.policy, plan.first + 4 * plan.period)
        cohorts = [tuple(i for i, _ in c) for _, c in rounds]
        later = cohorts[plan.first :]
        assert all(later[n] == later[n % plan.period] for n in range(len(later)))
        assert [plan.cohort(n) for n in range(len(cohorts))] == cohorts
        assert plan.max_delay == max(d for _, c in rounds for _, d in c)
        if plan.window is not None:
            blocks = [cohorts[n : n + plan.window] for n in range(0, len(cohorts) - plan.window + 1, plan.window)]
            counted = [sorted(itertools.chain.from_iterable(b)) for b in blocks]
            assert all(c == counted[0] for c in counted)
        leads += plan.first > 0
    assert leads


def test_buffers_and_waiting_by_hand() -> None:
    plan = plan_of(times(1, 1, 1, 1), Buffer(2))  # its window is shorter than the period could be
    assert plan.law == [(F(1, 2), (0, 1)), (F(1, 2), (2, 3))]
    assert (plan.first, plan.period, plan.window) == (0, 2, 2)
    plan = plan_of(times(1, 2, 3), Buffer(2))  # a first round of its own
    assert [plan.cohort(n) for n in range(8)] == [(0, 1), (0, 2), (0, 1), (0, 1), (0, 2), (0, 1), (0, 1), (0, 2)]
    assert plan.period == 3
    plan = plan_of(times(1, 3, 2), WaitForAll())
    assert (plan.period, plan.window, plan.max_delay, plan.length) == (1, 1, 0, 3)
    assert plan.law == [(1, (0, 1, 2))]


def test_named_times() -> None:
    assert F0.of(3) == times(1, 1, 1)
    assert F80.of(5) == times("1/5", "2/5", "3/5", "4/5", 1)
    assert F80_LITERAL.of(3) == times("5/9", "7/9", 1)
    assert Spread(F(3)).of(1) == times(1)
    assert plan_of(F80.of(10), Window(F(1, 2))).every == [1] * 4 + [2] * 6


def test_time_based_weights_on_f80() -> None:
    """d_i = (sum of 1/T_j) T_i/M on ten clients from 1 to 5: .4256 to 2.1281, 12.7684 together."""
    shares = plan_of(F80.of(10), FirstToArrive()).shares
    weights = [F(1, 10) / share for share in shares]
    printed = [0.4256, 0.6148, 0.8039, 0.9931, 1.1823, 1.3714, 1.5606, 1.7497, 1.9389, 2.1281]
    assert [float(w) for w in weights] == pytest.approx(printed, abs=5e-5)
    assert float(sum(weights)) == pytest.approx(12.7684, abs=5e-5)
    assert [float(s) for s in shares] == pytest.approx(
        [0.235, 0.1627, 0.1244, 0.1007, 0.0846, 0.0729, 0.0641, 0.0572, 0.0516, 0.047], abs=5e-5
    )


def test_a_period_that_no_computer_counts_is_no_hindrance() -> None:
    plan = plan_of(F80.of(50), FirstToArrive())
    assert plan.period > 10**60
    assert plan.max_delay == sum(-(-1 // t) for t in F80.of(50).values[:-1])
    assert [plan.cohort(n) for n in range(500)] == [
        tuple(i for i, _ in c) for _, c in simulated(F80.of(50), FirstToArrive(), 500)
    ]
    assert sum(plan.shares) == 1


RATES = Exponential((F(1), F(2), F(1, 2)))


@pytest.mark.parametrize("policy", [WaitForAll(), FirstToArrive(), Window(F(1, 2)), Buffer(2)], ids=str)
def test_drawn_timetables_are_reproducible_and_consistent(policy: Policy) -> None:
    table, again = drawn_timetable(RATES, policy, 300, 5), drawn_timetable(RATES, policy, 300, 5)
    assert table.members.tolist() == again.members.tolist()
    assert table.ends.tolist() == again.ends.tolist()
    assert drawn_timetable(RATES, policy, 300, 6).ends.tolist() != table.ends.tolist() or isinstance(policy, Window)
    longer = drawn_timetable(RATES, policy, 400, 5)
    assert longer.cohorts()[:300] == table.cohorts()  # more rounds continue the same draw
    received = [0] * 3
    for n, _i, start, finished, end in table.visits():
        begun = 0.0 if received[_i] == 0 else table.ends[received[_i] - 1]
        assert start == begun
        assert finished <= end * (1 + 1e-12)
        if isinstance(policy, Window) and n:
            assert finished > table.ends[n - 1] * (1 - 1e-12)
        received[_i] = n + 1


def test_drawn_times_have_their_mean() -> None:
    table = drawn_timetable(RATES, FirstToArrive(), 20000, 0)
    for i, rate in enumerate(RATES.rates):
        own = table.work[table.members == i]
        assert np.mean(own) * float(rate) == pytest.approx(1, abs=5 / len(own) ** 0.5)


def test_what_a_timetable_tells() -> None:
    table = fixed_timetable(times(2, 3), Window(F(1)), 6)
    assert table.cohorts() == [(), (0,), (1,), (0,), (), (0, 1)]
    assert (table.empty, table.counts.tolist(), table.max_delay) == (2, [3, 2], 2)
    assert table.inspect(1, 3) == [["1", "2", "0:1"], ["2", "3", "1:2"]]
    assert table.inspect()[0] == ["0", "1", "-"]
    assert table.to_dict()["delays"] == [[], [1], [2], [1], [], [1, 2]]
    assert table.to_dict()["ends"] == ["1", "2", "3", "4", "5", "6"]
    assert list(table.visits())[:3] == [(1, 0, 0, 2, 2), (2, 1, 0, 3, 3), (3, 0, 2, 4, 4)]


BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: times(1, 0), "above 0"),
    (lambda: times(1, 2).of(3), "2 update times were given for 3 clients"),
    (lambda: Exponential((F(1), F(2))).of(1), "2 rates were given for 1 clients"),
    (lambda: Exponential((F(-1),)), "above 0"),
    (lambda: Spread(F(1, 2)), "at least 1"),
    (lambda: Window(F(0)), "above 0"),
    (lambda: plan_of(times(1, 2), Buffer(3)), "never fills"),
    (lambda: FirstToArrive("alphabetical"), "alphabetical"),  # pyright: ignore[reportArgumentType]
    (lambda: fixed_timetable(F0.of(1000), WaitForAll(), 10**6), "fewer rounds"),
]


@pytest.mark.parametrize(("made", "said"), BAD)
def test_bad_input(made: Callable[[], Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        made()
