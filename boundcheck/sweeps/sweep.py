"""A checked sweep: its axes, the points of its rows, and the chunks that they are computed in.

A sweep is the product of its grids and, as the last axis, the points of a Latin hypercube. Rows are numbered with the
last axis fastest.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.numbers import format_exact, nearest_float, parse_grid

Path = tuple[str, ...]
Box = tuple[range, ...]  # the rows of a chunk: levels of every axis

CONSTANTS = ("constants", "at")  # tables of symbols of the statement; the axes of these are the inner ones
CHUNKS: Mapping[str, int] = {"bound": 131_072, "compare": 200, "tune": 10}  # rows; seconds of work each
METRIC = "metric"  # in the place of a unit: that of the statements' metric
_LABEL = ("label", "", "the class of the row on maps and in counts")
_REASON = ("string", "", "why, in words; of a row that was not run, what was refused")
# Kind -> column of the results, which no axis may be called -> its type, unit and meaning.
RESULTS: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
    "bound": {
        "label": _LABEL,
        "bound": ("double", METRIC, "the value of the bound"),
        "in_scope": ("bool", "", "whether all conditions of the statement hold, decided exactly"),
        "vacuous": ("bool", "", "whether the bound is not below its trivial value"),
        "reason": _REASON,
    },
    "compare": {
        "label": _LABEL,
        "outcome": ("string", "", "the verdict"),
        "grade": ("string", "", "the grade of the evidence"),
        "tightness": ("double", "1", "least bound over metric"),
        "slope": ("double", "1", "log-log slope of the metric over the last half of the log range of rounds"),
        "bound_end": ("double", METRIC, "the bound at the last compared point"),
        "metric_low_end": ("double", METRIC, "the metric at the last compared point, from below"),
        "metric_high_end": ("double", METRIC, "the metric at the last compared point, from above"),
        "reason": _REASON,
    },
    "tune": {
        "label": _LABEL,
        "ratio": ("double", "1", "rounds that the bound promises over rounds of the best choice found by running"),
        "step_ratio": ("double", "1", "best step found by running over the step that the bound recommends"),
        "recommended_step": ("double", "", "the step that the bound recommends"),
        "best_step": ("double", "", "the best step found by running"),
        "promised_rounds": ("double", "rounds", "rounds to the target that the bound promises at its step"),
        "needed_rounds": ("double", "rounds", "rounds to the target that this step needs"),
        "best_rounds": ("double", "rounds", "rounds to the target that the best choice needs"),
        "reason": _REASON,
    },
}


@dataclass(frozen=True)
class Axis:
    """A grid: path in the specification, name of the column, its values, all of them exact numbers or none of them.

    given: the list or range as the specification has it. A range travels to workers as its text.
    """

    path: Path
    name: str
    values: tuple[Any, ...]
    given: Any = None

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers."""
        return isinstance(self.values[0], Fraction)

    @cached_property
    def column(self) -> NDArray[Any]:
        """Its values as doubles, or as they stand where they are no numbers."""
        if self.is_numeric:
            return np.array([nearest_float(v) for v in self.values])
        return objects(self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        if isinstance(self.given, str):
            return range_axis, (self.path, self.name, self.given)
        return Axis, (self.path, self.name, self.values, self.given)


@lru_cache(maxsize=64)
def range_axis(path: Path, name: str, given: str) -> Axis:
    """The grid of a range such as log:1:100:3 or lin:1:9:5:integer; raises BadInput."""
    whole = given.removesuffix(":integer")
    values = parse_grid(whole, f"grid: {'.'.join(path)}", integer=whole != given)
    return Axis(path, name, tuple(values), given)


@dataclass(frozen=True)
class Range:
    """An axis of the Latin hypercube: low to high, on a logarithmic scale where `log`; whole numbers if `integer`."""

    path: Path
    name: str
    low: float
    high: float
    log: bool
    integer: bool

    def exact(self, value: float) -> Fraction:
        """An end of the range as the number that is tried."""
        return Fraction(round(value)) if self.integer else Fraction(value)

    def at(self, share: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values at shares of the range in [0, 1)."""
        low, high = self.low, self.high + self.integer
        found = low * np.exp(share * math.log(high / low)) if self.log else low + share * (high - low)
        return np.clip(np.floor(found) if self.integer else found, low, self.high)


@dataclass(frozen=True)
class Latin:
    """A Latin hypercube: `points` strata of every axis, each met once, in an order drawn from `seed`."""

    ranges: tuple[Range, ...]
    points: int
    seed: int

    @property
    def table(self) -> NDArray[np.float64]:
        """(points, axes) values, doubles within the ranges."""
        return _latin_table(self)


@lru_cache(maxsize=4)
def _latin_table(latin: Latin) -> NDArray[np.float64]:
    from scipy.stats import qmc

    shares = qmc.LatinHypercube(len(latin.ranges), rng=np.random.default_rng(latin.seed)).random(latin.points)
    return np.stack([axis.at(shares[:, k]) for k, axis in enumerate(latin.ranges)], axis=1)


@dataclass(frozen=True)
class Sweep:
    """A checked sweep. base: the keys of a claim as the file has them. axes: the grids, those of statement, problem,
    method and engine before those of constants and index. units: name of an axis -> (unit, meaning).
    """

    kind: str
    base: Mapping[str, Any]
    axes: tuple[Axis, ...]
    latin: Latin | None
    chunk: int
    tight: float
    target: Fraction
    units: Mapping[str, tuple[str, str]]

    @property
    def every_axis(self) -> tuple[Axis | Range, ...]:
        """The grids, then the axes of the Latin hypercube."""
        return (*self.axes, *(() if self.latin is None else self.latin.ranges))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The levels of every axis; the points of the Latin hypercube are the last one."""
        grid = tuple(len(axis.values) for axis in self.axes)
        return grid if self.latin is None else (*grid, self.latin.points)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return math.prod(self.shape)

    @cached_property
    def _cut(self) -> tuple[int, int]:
        """The axis that chunks cut, and how many of its levels are in one; those after it are whole in each chunk."""
        axis, inner = len(self.shape) - 1, 1
        while axis and inner * self.shape[axis] <= self.chunk:
            inner *= self.shape[axis]
            axis -= 1
        levels = self.shape[axis]
        parts = -(-levels // max(1, self.chunk // inner))
        return axis, -(-levels // parts)  # of about the same size

    @property
    def chunks(self) -> int:
        """The number of chunks, of `chunk` rows at most and more than half of that on average."""
        axis, step = self._cut
        return math.prod(self.shape[:axis]) * -(-self.shape[axis] // step)

    def box(self, number: int) -> Box:
        """The rows of a chunk, which follow each other."""
        axis, step = self._cut
        before, part = divmod(number, -(-self.shape[axis] // step))
        levels = np.unravel_index(before, self.shape[:axis]) if axis else ()
        fixed = tuple(range(int(level), int(level) + 1) for level in levels)
        cut = range(part * step, min(self.shape[axis], (part + 1) * step))
        return (*fixed, cut, *map(range, self.shape[axis + 1 :]))

    def range_of(self, number: int) -> tuple[int, int]:
        """First row of a chunk and the one after its last."""
        box = self.box(number)
        start = int(np.ravel_multi_index([side.start for side in box], self.shape))
        return start, start + math.prod(map(len, box))

    def point(self, levels: Sequence[int]) -> dict[Path, Any]:
        """The value of each axis at its level, exactly; of the first axes where there are fewer levels."""
        found = {axis.path: axis.values[level] for axis, level in zip(self.axes, levels, strict=False)}
        if self.latin is not None and len(levels) > len(self.axes):
            row = self.latin.table[levels[-1]]
            found |= {axis.path: Fraction(float(v)) for axis, v in zip(self.latin.ranges, row, strict=True)}
        return found

    def table(self, values: Mapping[Path, Any]) -> dict[str, Any]:
        """The keys of a claim with the given values at their paths, numbers as exact text or integers."""
        found: dict[str, Any] = copy.deepcopy(dict(self.base))
        for path, value in values.items():
            inner = found
            for part in path[:-1]:
                inner = inner.setdefault(part, {})
            whole = isinstance(value, Fraction) and value.denominator == 1
            inner[path[-1]] = int(value) if whole else plain(value)
        return found

    def to_dict(self) -> dict[str, Any]:
        """What the sweep computes, as JSON-able data: the same sweep has the same form."""
        latin = None
        if self.latin is not None:
            ranges = [[".".join(r.path), r.name, r.low, r.high, r.log, r.integer] for r in self.latin.ranges]
            latin = {"points": self.latin.points, "seed": self.latin.seed, "ranges": ranges}
        return {
            "kind": self.kind,
            "base": plain(self.base),
            "grid": [[".".join(a.path), a.name, plain(a.given)] for a in self.axes],
            "latin": latin,
            "chunk": self.chunk,
            "tight": self.tight,
            "target": format_exact(self.target),
        }


def objects(values: Sequence[Any]) -> NDArray[Any]:
    """A one-dimensional array of Python objects."""
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def plain(value: Any) -> Any:
    """Nested tables, lists and numbers as JSON-able data, exactly."""
    if isinstance(value, Fraction):
        return format_exact(value)
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in cast("Sequence[Any]", value)]
    return value
