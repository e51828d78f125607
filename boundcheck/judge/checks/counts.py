"""Exact tests of how often something random happens, by counts that have a binomial law.

Of J events with known probabilities each is tested on both sides at rate/(2J). So a right implementation fails with
probability at most `rate`, under any dependence between the events.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

POWER = 0.99  # with which the smallest error would have been seen
STEPS = 60


@dataclass(frozen=True)
class Event:
    """What happened `count` times out of `trials`, each time with probability p, independently. words: a clause."""

    words: str
    p: float
    count: int
    trials: int


def refuted(events: Sequence[Event], rate: float) -> Event | None:
    """The event with the most improbable count, if that is improbable enough."""
    from scipy.special import bdtr, bdtrc

    found: tuple[float, Event] | None = None
    for event in events:
        below = float(bdtr(event.count, event.trials, event.p))
        above = 1.0 if event.count == 0 else float(bdtrc(event.count - 1, event.trials, event.p))
        tail = min(below, above)
        if tail < rate / (2 * len(events)) and (found is None or tail < found[0]):
            found = tail, event
    return None if found is None else found[1]


def smallest(events: Sequence[Event], rate: float) -> float:
    """The largest, over the events, of the least changes of a probability that are seen with probability POWER."""
    return max(_change(e, rate / (2 * len(events))) for e in events)


def _change(event: Event, alpha: float) -> float:
    from scipy.special import bdtr, bdtrc

    n, p = event.trials, event.p
    # counts of at most `low`, and of at least `high`, refute
    low = _first(n, lambda k: float(bdtr(k, n, p)) >= alpha) - 1
    high = _first(n, lambda k: k > 0 and float(bdtrc(k - 1, n, p)) < alpha)
    down = _least(p, 0.0, lambda q: low >= 0 and float(bdtr(low, n, q)) >= POWER)
    up = _least(p, 1.0, lambda q: high <= n and float(bdtrc(high - 1, n, q)) >= POWER)
    return max([abs(q - p) for q in (down, up) if q is not None], default=1.0)


def _first(n: int, holds) -> int:  # pyright: ignore
    """The least k in 0, ..., n for which a monotone condition holds; n + 1 without one."""
    low, high = 0, n + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _least(p: float, end: float, seen) -> float | None:  # pyright: ignore
    """The nearest probability to p, towards `end`, at which a condition holds; None without one."""
    if p == end or not seen(end):
        return None
    near, far = p, end
    for _ in range(STEPS):
        middle = (near + far) / 2
        near, far = (near, middle) if seen(middle) else (middle, far)
    return far
