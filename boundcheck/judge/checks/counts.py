"""Exact tests of how often something random happens, by counts that have a binomial law.

Of J events with known probabilities each is tested on both sides at rate/(2J). So a right implementation fails with
probability at most `rate`, under any dependence between the events.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

POWER = 0.99  # with which the smallest error would have been seen


@dataclass(frozen=True)
class Event:
    """What happened `count` times out of `trials`, each time with probability p, independently. words: a clause."""

    words: str
    p: float
    count: int
    trials: int


def refuted(events: Sequence[Event], rate: float) -> Event | None:
    """The event with the most improbable count, if that is improbable enough."""
    from scipy.stats import binom

    tails = [(min(binom.cdf(e.count, e.trials, e.p), binom.sf(e.count - 1, e.trials, e.p)), e) for e in events]
    least, event = min(tails, key=lambda pair: pair[0])
    return event if least < rate / (2 * len(events)) else None


def smallest(events: Sequence[Event], rate: float) -> float:
    """The largest, over the events, of the least changes of a probability that are seen with probability POWER."""
    return max(_change(e, rate / (2 * len(events))) for e in events)


def _change(event: Event, alpha: float) -> float:
    from scipy.special import bdtri
    from scipy.stats import binom

    n, p = event.trials, event.p
    low, high = int(binom.ppf(alpha, n, p)) - 1, int(binom.isf(alpha, n, p)) + 1  # at most and at least these refute
    down = [p - float(bdtri(low, n, POWER))] if low >= 0 else []
    up = [float(bdtri(high - 1, n, 1 - POWER)) - p] if high <= n else []
    return max(down + up, default=1.0)
