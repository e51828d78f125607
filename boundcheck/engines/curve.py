"""What every engine returns: metrics by round, with what is known of their error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.constants.constant import Constant

__all__ = ["Arithmetic", "Curve", "Floats", "Ints"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Arithmetic(StrEnum):
    """How the numbers of a curve were computed, and so what is known of their error."""

    RATIONAL = "rational"  # exact; `exact` holds the fractions
    BALL = "ball"  # rigorous enclosure low <= value <= high
    FLOAT64 = "float64"  # plain double precision, no rounding bound
    SAMPLED = "sampled"  # `samples` holds one row a seed


def _empty() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class Curve:
    """Metrics of one run (or of many seeds of it) on a grid of rounds.

    rounds: (R,) int64, rounds completed before the measurement, increasing; 0 is the start.
    values: metric name -> (R,) float64: the value, or its expectation (exact engine) or mean over seeds.
    arithmetic: how they were computed.
    low, high: metric -> (R,) rigorous enclosure, rounded outwards (RATIONAL and BALL only).
    exact: metric -> R fractions (RATIONAL only).
    samples: metric -> (S, R) one row a seed (SAMPLED only), seeds 0..S-1 in order.
    expectation: whether values are expectations over the method's randomness (False: one deterministic run).
    diverged: first round of the grid at which a value is not finite, or None.
    start: metric -> its exact value at round 0, where it is rational and recorded.
    constants: of the problem and of the method, by symbol name. assumptions: assumption name -> how it is known to hold
    at these constants, "decided" (by the problem, exactly) or "sampled" (at many points); violations: assumption
    name -> why the problem breaks it; a name in neither was not asked about or could not be answered.
    algorithms: names of the compositions that the method is an instance of (None: not recorded).
    info: JSON-able facts (engine, seconds, precision, peak memory, specification digest).
    """

    rounds: Ints
    values: Mapping[str, Floats]
    arithmetic: Arithmetic
    low: Mapping[str, Floats] = field(default_factory=_empty)
    high: Mapping[str, Floats] = field(default_factory=_empty)
    exact: Mapping[str, tuple[Fraction, ...]] = field(default_factory=_empty)
    samples: Mapping[str, Floats] = field(default_factory=_empty)
    expectation: bool = False
    start: Mapping[str, Fraction] = field(default_factory=_empty)
    constants: Mapping[str, Constant] = field(default_factory=_empty)
    assumptions: Mapping[str, str] = field(default_factory=_empty)
    violations: Mapping[str, str] = field(default_factory=_empty)
    algorithms: tuple[str, ...] | None = None
    info: Mapping[str, Any] = field(default_factory=_empty)

    @property
    def diverged(self) -> int | None:
        """First round of the grid with a value that is not finite, or None."""
        bad = np.zeros(len(self.rounds), dtype=bool)
        for v in self.values.values():
            bad |= ~np.isfinite(v)
        return int(self.rounds[int(np.argmax(bad))]) if bad.any() else None
