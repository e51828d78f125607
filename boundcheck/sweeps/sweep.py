"""A checked sweep: what it computes, row by row."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

from boundcheck.core.numbers import format_exact
from boundcheck.sweeps.axes import Axis, Latin, Path

CHUNKS: Mapping[str, int] = {"bound": 131_072, "compare": 200, "tune": 10}  # rows; seconds of work each
# The columns of the results, which no axis may be called.
RESULTS: Mapping[str, tuple[str, ...]] = {
    "bound": ("label", "bound", "in_scope", "vacuous", "reason"),
    "compare": (
        "label", "outcome", "grade", "tightness", "slope", "bound_end", "metric_low_end", "metric_high_end", "reason",
    ),
    "tune": (
        "label", "ratio", "step_ratio", "recommended_step", "best_step", "promised_rounds", "needed_rounds",
        "best_rounds", "reason",
    ),
}  # fmt: skip


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

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The levels of every axis; the points of the Latin hypercube are the last one."""
        grid = tuple(len(axis.values) for axis in self.axes)
        return grid if self.latin is None else (*grid, self.latin.points)

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        found = 1
        for length in self.shape:
            found *= length
        return found

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return -(-self.rows // self.chunk)

    def range_of(self, number: int) -> tuple[int, int]:
        """First row of a chunk and the one after its last."""
        return number * self.chunk, min(self.rows, (number + 1) * self.chunk)

    @property
    def names(self) -> list[str]:
        """The columns of the axes, in order."""
        return [a.name for a in self.axes] + ([] if self.latin is None else [r.name for r in self.latin.ranges])

    def table(self, values: Mapping[Path, Any]) -> dict[str, Any]:
        """The keys of a claim with the given values at their paths."""
        return with_values(self.base, values)

    def to_dict(self) -> dict[str, Any]:
        """What the sweep computes, as JSON-able data: the same sweep has the same form."""
        latin = None
        if self.latin is not None:
            ranges = [[".".join(r.path), r.low, r.high, r.log, r.integer] for r in self.latin.ranges]
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


def plain(value: Any) -> Any:
    """Nested tables, lists and numbers as JSON-able data, exactly."""
    if isinstance(value, Fraction):
        return format_exact(value)
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in cast("Sequence[Any]", value)]
    return value


def with_values(base: Mapping[str, Any], values: Mapping[Path, Any]) -> dict[str, Any]:
    """A copy of nested tables with values at some paths, numbers as exact text or integers."""
    found: dict[str, Any] = copy.deepcopy(dict(base))
    for path, value in values.items():
        table = found
        for part in path[:-1]:
            table = table.setdefault(part, {})
        table[path[-1]] = written(value)
    return found


def written(value: Any) -> Any:
    """A value as a specification has it."""
    if not isinstance(value, Fraction):
        return value
    return int(value) if value.denominator == 1 else format_exact(value)
