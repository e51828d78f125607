"""Constants of a schedule's update times, and hypotheses about them.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates", Section 4 and Table 2. The constants are those of the catalogue (`theory.keys`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods import answers
from boundcheck.methods.parts.participation import cohort_sizes
from boundcheck.papers.async_fl.theories.rounds import rounds_of
from boundcheck.setting.theories import Row, Theory, constants, hypotheses, maybe, unless

if TYPE_CHECKING:
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.methods.parts import Timed
    from boundcheck.methods.schedules import Plan
    from boundcheck.problems.problem import Problem


MAX_COUNTED = 100_000  # rounds of a period that are counted


@dataclass(frozen=True, eq=False)
class Times:
    """Update times of the clients of a method; values: the times, where they are fixed."""

    timing: Timed
    method: Method
    clients: Clients
    values: tuple[Fraction, ...] | None

    @cached_property
    def plan(self) -> Plan | None:
        """The schedule that the times give; None for random times."""
        return self.timing.plan(self.clients.count)

    @cached_property
    def visits(self) -> list[int] | None:
        """ceil(tau_i/dt), for a server that aggregates after every dt."""
        dt = self.timing.policy.dt
        return None if dt is None or self.values is None else [math.ceil(t / dt) for t in self.values]

    @cached_property
    def period(self) -> Plan | None:
        """The schedule, where its period is known and can be counted; full buffers may repeat only from later on."""
        if self.timing.policy.arrivals not in (None, 1) or self.plan is None:
            return None
        try:
            return self.plan if self.plan.period <= MAX_COUNTED else None
        except Unsupported:
            return None

    def rounds_in_time(self) -> int:
        """The rounds that end within the time of a period, counted."""
        assert self.period is not None
        table = self.period.timetable(self.period.period + 1)
        return sum(table.end(n) <= self.period.length for n in range(table.rounds))


def times_of(method: Method, clients: Clients) -> Times | None:
    """The update times of a method's clients; None where participation does not follow from any."""
    timing = answers.timing(method.participation)
    try:
        return None if timing is None else Times(timing, method, clients, timing.of(clients.count).values)
    except BadInput:  # times of other clients, which the run itself refuses
        return None


def _of_rounds(method: Method, problem: Problem) -> Times | None:
    rounds = rounds_of(method, problem)
    return None if rounds is None else times_of(method, rounds.clients)


def _several_a_round(t: Times) -> str | None:
    if t.plan is not None:
        return None if t.plan.single else "clients that finish together make one round."
    single = cohort_sizes(t.method.participation, t.clients) == {1}  # random times are never equal
    return None if single else "several clients can make one round."


def _broken_time(t: Times) -> str | None:
    broken = next((v for v in t.values or () if v.denominator != 1), None)
    return None if broken is None else f"the update time {broken} is no whole number."


def _slowest_inside(t: Times) -> str | None:
    own = t.values or (Fraction(0),)
    at_an_end = max(own) in (own[0], own[-1])
    return None if at_an_end else "the slowest client is in the middle of the order of ties."


def _fixed(name: str, value: Callable[[Sequence[Fraction]], Any], how: str) -> Row[Times]:
    """The row of a constant of fixed times."""
    return maybe(name, lambda t: None if t.values is None else value(t.values), how)


TIMES = Theory(
    _of_rounds,
    constants=constants(
        _fixed("time_slowest", max, "largest update time"),
        _fixed("time_fastest", min, "smallest update time"),
        _fixed("time_ratio", lambda own: max(own) / min(own), "largest over smallest update time"),
        _fixed("time_1", lambda own: own[0], "update time of the first client"),
        _fixed("time_rates", lambda own: sum(1 / t for t in own), "sum of 1/tau_i"),
        _fixed(
            "updates_of_slowest",
            lambda own: sum(math.ceil(max(own) / t) for t in own) - 1,
            "sum of ceil(tau_M/tau_j) over the other clients",
        ),
        _fixed(
            "time_lcm",
            lambda own: math.lcm(*map(int, own)) if all(t.denominator == 1 for t in own) else None,
            "least common multiple of the update times",
        ),
        maybe("period_time", lambda t: t.period and t.period.length, "how long a period of the schedule takes"),
        Row(
            "rounds_in_time",
            Times.rounds_in_time,
            "rounds that end in the time of a period, counted",
            lambda t: t.period is not None,
        ),
        maybe("visit_rounds", lambda t: t.visits and max(t.visits), "ceil(tau_M/dt)"),
        maybe(
            "visits_lcm",
            lambda t: t.visits and math.lcm(*t.visits),
            "least common multiple of the ceil(tau_i/dt)",
        ),
    ),
    hypotheses=hypotheses(
        unless("fixed_times", lambda t: t.plan is not None, "the update times are random."),
        Row("one_by_one", _several_a_round),
        Row("whole_times", _broken_time, known=lambda t: t.plan is not None),
        Row("slowest_at_an_end", _slowest_inside, known=lambda t: t.plan is not None),
    ),
)
