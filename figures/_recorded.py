"""Recorded runs: results too long for `make report`, kept in files of the repository by the command that makes them.

A file under figures/results/ has, for every method on a problem (a row), the specification of both and the values of
each seed, and for all of them the command, the digest of the code, the versions and the processor hours. It is written
anew after every run, so that a command that was stopped goes on where it was. A row is used where the specifications
asked for are equal to its own; the code that made it may be older than the code that reads it, and says so.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.digest import code_digest, package_version
from boundcheck.core.places import write_whole
from boundcheck.engines.simulate import run_sampled
from boundcheck.methods.build import build as build_method
from boundcheck.networks.study import surrogate
from boundcheck.problems.problem import Problem

Array = NDArray[np.float64]
Table = Mapping[str, Any]
Found = TypeVar("Found")
Size = TypeVar("Size")
FOLDER = Path(__file__).parent / "results"
DIGITS = 7  # significant ones of a value
MODULES = ("boundcheck.engines.simulate.run", "boundcheck.methods.build", "boundcheck.problems.build")


class NotRecorded(Exception):
    """A run that is asked for is not in the file."""


class Recorded:
    """The rows of one file.

    mode: "read" refuses what is not there (NotRecorded); "extend" computes it and writes it; "off" computes everything
    and writes nothing.
    """

    def __init__(self, name: str, mode: str, folder: Path = FOLDER) -> None:
        self.path, self.mode = folder / f"{name}.json", mode
        there = json.loads(self.path.read_text(encoding="utf-8")) if mode != "off" and self.path.is_file() else {}
        self.rows: list[dict[str, Any]] = there.pop("rows", [])
        self.provenance: dict[str, Any] = there

    def find(self, problem: Table, method: Table, grid: Sequence[int]) -> dict[str, Any] | None:
        """The row of these specifications and recorded rounds."""
        asked = {"problem": dict(problem), "method": dict(method), "rounds": list(grid)}
        return next((row for row in self.rows if {k: row[k] for k in asked} == asked), None)

    def known(self, problem: Table, method: Table, grid: Sequence[int], seeds: Sequence[int]) -> Array | None:
        """Values (seeds, rounds), inf where not finite; None where a seed of them is not in the file."""
        row = self.find(problem, method, grid)
        if row is None or any(str(seed) not in row["seeds"] for seed in seeds):
            return None
        return np.array([[np.inf if v is None else v for v in row["seeds"][str(s)]] for s in seeds], dtype=np.float64)

    def complete(self, problem: Table, method: Table, grid: Sequence[int]) -> int:
        """How many seeds, from 0 on, the file has of these specifications."""
        row = self.find(problem, method, grid)
        return 0 if row is None else next(s for s in range(len(row["seeds"]) + 1) if str(s) not in row["seeds"])

    def row(
        self, problem: Table, method: Table, grid: Sequence[int], seeds: Sequence[int], compute: Callable[[int], Array]
    ) -> Array:
        """Values (seeds, rounds); what the file lacks is computed by compute(seed), as the mode says."""
        found = self.known(problem, method, grid, seeds)
        if found is not None:
            return found
        if self.mode == "read":
            raise NotRecorded(f"{self.path.name} lacks runs of {json.dumps(dict(method))}")
        if self.mode == "off":
            return np.array([compute(seed) for seed in seeds])
        row = self.find(problem, method, grid)
        if row is None:
            row = dict[str, Any](problem=dict(problem), method=dict(method), rounds=list(grid), seeds={})
            self.rows.append(row)
        for seed in (seed for seed in seeds if str(seed) not in row["seeds"]):
            began = time.process_time()
            values = compute(seed)
            row["seeds"][str(seed)] = [float(f"{v:.{DIGITS}g}") if np.isfinite(v) else None for v in values]
            self._write(time.process_time() - began)
        return self.row(problem, method, grid, seeds, compute)

    def words(self) -> str:
        """Where the numbers come from, for a caption; empty where nothing is read."""
        hours = self.provenance.get("processor_hours")
        if hours is None:
            return ""
        old = "" if self.provenance.get("code") == code_digest(MODULES) else ", by an older state of the code"
        return f"Recorded in figures/results/{self.path.name} ({hours:.2g} processor hours{old}). "

    def _write(self, seconds: float) -> None:
        versions = {name: package_version(name) for name in ("boundcheck", "numpy", "numba")}
        self.provenance = {
            "schema": 1,
            "command": f"python figures/{self.path.stem}.py --full",
            "code": code_digest(MODULES),
            "versions": {**versions, "python": platform.python_version()},
            "machine": platform.machine(),
            "processor_hours": round(self.provenance.get("processor_hours", 0) + seconds / 3600, 6),
        }
        rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in self.rows)
        head = json.dumps(self.provenance, indent=1).rstrip("}\n")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self.path, f'{head},\n "rows": [\n{rows}\n]}}\n'.encode())


def computed(
    name: str, compute: Callable[[Size, Recorded], Found], paper: Size, quick: Size, full: bool, **given: Any
) -> tuple[Found, Size, Recorded]:
    """What `compute` finds, at which size, and from which record.

    The paper's size is read from the record, with `full` computed where the record lacks it. Where it is not there, or
    a part of the size is given, the quick size, with what is given, is computed and kept nowhere.
    """
    named = {key: value for key, value in given.items() if value is not None}
    if not named:
        kept = Recorded(name, "extend" if full else "read")
        try:
            return compute(paper, kept), paper, kept
        except NotRecorded:
            pass
    small: Any = quick
    size, kept = replace(small, **named), Recorded(name, "off")
    return compute(size, kept), size, kept


def losses(method: Table, problem: Problem, grid: Sequence[int], seed: int, u: Sequence[Fraction]) -> dict[str, Array]:
    """The losses along a run, each (T,): their mean over the clients "f" and deviation "spread", and both under the
    weights u of a surrogate problem, "surrogate_f" and "surrogate_spread".
    """
    on, names = surrogate.watched(problem, ())
    curve = run_sampled(build_method(method), on, grid[-1], range(seed, seed + 1), names, list(grid), threads=1)
    return {name: values[0] for name, values in surrogate.complete(problem, u, curve.samples, ()).items()}


def evenly(last: int, points: int, first: int = 0) -> list[int]:
    """At most this many rounds from the first to the last."""
    return sorted({round(v) for v in np.linspace(first, last, min(points, last - first + 1))})


class Tuned(NamedTuple):
    """The best value of a grid, and what each value gave."""

    best: Fraction
    tried: dict[str, float]

    @property
    def data(self) -> dict[str, Any]:
        """Both, for the facts of a figure."""
        return {"best": str(self.best), "tried": self.tried}


def tuned(grid: Sequence[Fraction], end: Callable[[Fraction], float], most: int = 8) -> Tuned:
    """The value of least `end`: the grid goes on, by the ratio of its last two, until the best lies inside it or is 0.

    Raises ValueError where it does not after `most` more on a side.
    """
    values = sorted(grid)
    found = {v: end(v) for v in values}
    for _ in range(2 * most):
        best = min(values, key=lambda v: found[v])
        if best == 0 or best not in (values[0], values[-1]):
            return Tuned(best, {str(v): found[v] for v in values})
        more = values[-1] ** 2 / values[-2] if best == values[-1] else values[0] ** 2 / values[1]
        found[more] = end(more)
        values = sorted(found)
    raise ValueError(f"the best of {', '.join(map(str, values))} lies at the end of the grid.")
