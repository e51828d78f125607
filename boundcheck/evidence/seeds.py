"""About how many seeds would decide a comparison that this many have left open."""

from __future__ import annotations

import math

import numpy as np

from boundcheck.core.numbers import format_short
from boundcheck.engines.curve import Floats


def about_seeds(samples: Floats, bound: Floats, level: float) -> int | None:
    """The number of seeds after which the sequential test decides, if mean and spread stay what they are.

    samples: (S, P) of the rounds that are open; bound: (P,). On values of variance v and mean b - d a capital grows by
    a factor of about exp(d^2/(2 v)) a seed (`evidence.eprocess`), and 2/(1 - level) decides; the horizons over which
    bets are averaged, and the spread's own uncertainty, cost about as much again. None for fewer than 2 seeds,
    a diverged seed, a mean at its bound, or no round.
    """
    if len(samples) < 2 or not samples.size or not np.isfinite(samples).all() or not np.isfinite(bound).all():
        return None
    distance = np.abs(bound - samples.mean(axis=0))
    if (distance == 0).any():
        return None
    with np.errstate(over="ignore"):
        needed = 2 * samples.var(axis=0, ddof=1) / distance**2 * math.log(2 / (1 - level))
        # a bet is at most 1/b, so that a seed gains at most about d/b
        needed = 2 * np.maximum(needed, np.maximum(bound, 0) / distance * math.log(2 / (1 - level)))
    most = float(needed.max(initial=0.0))
    return math.ceil(most) if most < 1e15 else None


def words_for(seeds: int | None, now: int) -> str:
    """The sentence of a reason about them; '' where nothing can be said."""
    if seeds is None:
        return ""
    if seeds <= now:
        return " A few more seeds would probably decide."
    rounded = math.ceil(seeds / 10 ** (len(str(seeds)) - 2)) * 10 ** (len(str(seeds)) - 2) if seeds > 99 else seeds
    return f" About {format_short(rounded)} seeds would decide, if their mean and spread stay what they are."
