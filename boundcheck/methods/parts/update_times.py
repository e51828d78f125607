"""Participation that follows from the clients' update times (Y. Fraboni et al., Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from boundcheck.core.numbers import round_down
from boundcheck.errors import Unsupported
from boundcheck.methods import schedules
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts.participation import Drawing

MAX_SETS = 5000  # sets of clients whose probability of filling a buffer is computed


@dataclass(frozen=True)
class Timed:
    """Who takes part follows from how long the clients work and when the server aggregates.

    Fixed times give a pattern of cohorts that repeats. Exponential times are memoryless: at each aggregation the
    remaining time of every client is exponential with its own rate, whatever happened before, whether it has just
    started or not. The cohorts of different rounds are then independent and alike: client i alone with probability
    rate_i/sum of rates (first to arrive), each client independently with probability 1 - exp(-dt rate_i) (a window;
    `finish_probability`), or the m first of a successive sampling by rate (a buffer; `first_to_finish`).
    """

    times: schedules.Times
    policy: schedules.Policy

    def parameters(self) -> dict[str, Fraction]:
        """dt of a window, and how many updates a buffer holds."""
        if isinstance(self.policy, schedules.Window):
            return {"dt": self.policy.dt}
        return {"buffer": Fraction(self.policy.m)} if isinstance(self.policy, schedules.Buffer) else {}

    @property
    def always_full(self) -> bool:
        """Whether all clients take part in every round for any number of clients that the times allow."""
        if isinstance(self.policy, schedules.WaitForAll):
            return True
        slowest = self.times.slowest
        return slowest is not None and isinstance(self.policy, schedules.Window) and self.policy.dt >= slowest

    @property
    def timing(self) -> Timed:
        """See `methods.answers`."""
        return self

    def of(self, count: int) -> schedules.Fixed | schedules.Exponential:
        """The times of this many clients. Raises BadInput where they are given for another number."""
        return self.times.of(count)

    @cached_property
    def _plans(self) -> dict[int, schedules.Plan | None]:
        return {}  # engines ask round by round

    def __reduce__(self) -> tuple[Any, ...]:
        return (Timed, (self.times, self.policy))

    def plan(self, count: int) -> schedules.Plan | None:
        """The schedule of fixed times as a whole; None for exponential ones."""
        if count not in self._plans:
            times = self.of(count)
            self._plans[count] = schedules.plan_of(times, self.policy) if isinstance(times, schedules.Fixed) else None
        return self._plans[count]

    def timetable(self, count: int, rounds: int, seed: int = 0) -> schedules.Timetable:
        """The first rounds; of exponential times, the draw that belongs to the seed. Raises BadInput if too large."""
        times = self.of(count)
        if isinstance(times, schedules.Fixed):
            return schedules.fixed_timetable(times, self.policy, rounds)
        return schedules.drawn_timetable(times, self.policy, rounds, seed)

    def period(self, clients: Clients) -> int:
        """Raises Unsupported where it is too long to be found."""
        plan = self.plan(clients.count)
        return 1 if plan is None else plan.period

    def first(self, clients: Clients) -> int:
        """The round from which on the pattern repeats: buffers may need some rounds first."""
        plan = self.plan(clients.count)
        return 0 if plan is None else plan.first

    def share(self, i: int, clients: Clients) -> Fraction:
        """The share of a period's rounds in which client i takes part, or the probability that it does."""
        plan = self.plan(clients.count)
        if plan is not None:
            return plan.shares[i]
        drawing = self.drawing(clients)
        return Fraction(1) if drawing is None else drawing.inclusion(i)

    def law(self, clients: Clients) -> list[tuple[Fraction, tuple[int, ...]]] | None:
        """The cohorts of a period with their shares; None for random times. Raises Unsupported where too many."""
        plan = self.plan(clients.count)
        return None if plan is None else plan.law

    def fixed(self, round_index: int, clients: Clients) -> tuple[int, ...] | None:
        plan = self.plan(clients.count)
        if plan is not None:
            return plan.cohort(round_index)
        return tuple(range(clients.count)) if self._sure(clients.count) else None

    def _sure(self, count: int) -> bool:
        """Whether all take part in every round although their times are random."""
        if isinstance(self.policy, schedules.Buffer):
            self.policy.check(count)
            return self.policy.m == count
        return isinstance(self.policy, schedules.WaitForAll)

    def drawing(self, clients: Clients) -> Drawing | None:
        times, n = self.of(clients.count), clients.count
        if isinstance(times, schedules.Fixed) or self._sure(n):
            return None
        if isinstance(self.policy, schedules.Window):
            chances = tuple(finish_probability(r, self.policy.dt) for r in times.rates)
            return Drawing("independent", n, probabilities=chances)
        subsets, chances = first_to_finish(times.rates, self.policy.arrivals or n)
        return Drawing("subsets", n, probabilities=chances, subsets=subsets)


def finish_probability(rate: Fraction, dt: Fraction) -> Fraction:
    """1 - exp(-dt rate), that an exponential time ends within dt, rounded down to 13 digits: less by at most 1e-12."""
    x = rate * dt
    if x > 40:  # exp(-40) < 1e-17
        return 1 - Fraction(1, 10**13)
    digits = 60 + max(0, x.denominator.bit_length() - x.numerator.bit_length()) // 3
    context = Context(prec=digits)
    power = context.exp(-context.divide(Decimal(x.numerator), Decimal(x.denominator)))
    # quotient and exponential are each rounded to `digits` digits, so that 40 of them are good for any x up to 40
    return round_down((1 - Fraction(power)) * (1 - Fraction(1, 10**35)))


@lru_cache(maxsize=16)
def first_to_finish(rates: tuple[Fraction, ...], m: int) -> tuple[tuple[tuple[int, ...], ...], tuple[Fraction, ...]]:
    """Every set of m clients, and the probability that they are the first m to finish.

    By the last of them: P(S) = sum over i in S of P(S without i) rate_i/(sum of the rates outside S without i).
    Raises Unsupported for more than `MAX_SETS` sets of up to m clients.
    """
    total = sum(rates, Fraction(0))
    found: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for _ in range(m):
        larger: dict[tuple[int, ...], Fraction] = {}
        for chosen, p in found.items():
            left = total - sum((rates[i] for i in chosen), Fraction(0))
            for i in range(len(rates)):
                if i not in chosen:
                    key = tuple(sorted((*chosen, i)))
                    larger[key] = larger.get(key, Fraction(0)) + p * rates[i] / left
        if len(larger) > MAX_SETS:
            raise Unsupported(
                f"{m} out of {len(rates)} clients fill a buffer in more than {MAX_SETS} ways, whose probabilities are "
                "too many to compute; draw a timetable instead."
            )
        found = larger
    return tuple(found), tuple(found.values())
