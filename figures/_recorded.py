"""Recorded runs: results too long for `make report`, kept in files of the repository by the command that makes them.

A file under figures/results/ has, for every method on a problem (a row), the specification of both and the values of
each seed, and for all of them the command, the digest of the code, the versions and the processor hours. It is written
anew after every run, so that a command that was stopped goes on where it was. A row is used where the specifications
asked for are equal to its own; the code that made it may be older than the code that reads it, and says so.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck._version import __version__
from boundcheck.core.digest import code_digest, package_version

Array = NDArray[np.float64]
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
        self.path, self.mode, self.command = folder / f"{name}.json", mode, f"python figures/{name}.py --full"
        there = json.loads(self.path.read_text(encoding="utf-8")) if mode != "off" and self.path.is_file() else {}
        self.rows: list[dict[str, Any]] = there.get("rows", [])
        self.seconds: float = there.get("processor_hours", 0) * 3600
        self.provenance: dict[str, Any] = {k: v for k, v in there.items() if k not in ("rows", "schema")}

    def find(self, problem: Mapping[str, Any], method: Mapping[str, Any], grid: Sequence[int]) -> dict[str, Any] | None:
        """The row of these specifications and recorded rounds."""
        asked = {"problem": dict(problem), "method": dict(method), "rounds": list(grid)}
        return next((row for row in self.rows if {k: row[k] for k in asked} == asked), None)

    def known(
        self, problem: Mapping[str, Any], method: Mapping[str, Any], grid: Sequence[int], seeds: Sequence[int]
    ) -> Array | None:
        """Values (seeds, rounds), inf where not finite; None where a seed of them is not in the file."""
        row = self.find(problem, method, grid)
        if row is None or any(str(seed) not in row["seeds"] for seed in seeds):
            return None
        return np.array([[np.inf if v is None else v for v in row["seeds"][str(s)]] for s in seeds], dtype=np.float64)

    def complete(self, problem: Mapping[str, Any], method: Mapping[str, Any], grid: Sequence[int]) -> int:
        """How many seeds, from 0 on, the file has of these specifications."""
        row = self.find(problem, method, grid)
        return 0 if row is None else next(s for s in range(len(row["seeds"]) + 1) if str(s) not in row["seeds"])

    def row(
        self,
        problem: Mapping[str, Any],
        method: Mapping[str, Any],
        grid: Sequence[int],
        seeds: Sequence[int],
        compute: Callable[[int], Array],
    ) -> Array:
        """Values (seeds, rounds); what the file lacks is computed by compute(seed), as the mode says."""
        if self.mode != "extend":
            found = self.known(problem, method, grid, seeds)
            if found is None and self.mode == "read":
                raise NotRecorded(f"{self.path.name} lacks runs of {json.dumps(dict(method))}")
            return np.array([compute(seed) for seed in seeds]) if found is None else found
        row = self.find(problem, method, grid)
        if row is None:
            row = {"problem": dict(problem), "method": dict(method), "rounds": list(grid), "seeds": {}}
            self.rows.append(row)
        for seed in seeds:
            if str(seed) in row["seeds"]:
                continue
            began = time.process_time()
            values = compute(seed)
            self.seconds += time.process_time() - began
            row["seeds"][str(seed)] = [float(f"{v:.{DIGITS}g}") if np.isfinite(v) else None for v in values]
            self._write()
        found = self.known(problem, method, grid, seeds)
        assert found is not None
        return found

    def words(self) -> str:
        """Where the numbers come from, for a caption; empty where nothing is read."""
        hours = self.provenance.get("processor_hours")
        if hours is None:
            return ""
        old = "" if self.provenance.get("code") == code_digest(MODULES) else ", by an older state of the code"
        return f"Recorded in figures/results/{self.path.name} ({hours:.2g} processor hours{old}). "

    def _write(self) -> None:
        self.provenance = {
            "command": self.command,
            "code": code_digest(MODULES),
            "versions": {
                "boundcheck": __version__,
                "python": platform.python_version(),
                **{name: package_version(name) for name in ("numpy", "numba")},
            },
            "machine": platform.machine(),
            "processor_hours": round(self.seconds / 3600, 4),
        }
        rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in self.rows)
        head = json.dumps({"schema": 1, **self.provenance}, indent=1).rstrip("}\n")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_name(f".{self.path.name}.{os.getpid()}.partial")
        partial.write_text(f'{head},\n "rows": [\n{rows}\n]}}\n', encoding="utf-8")
        os.replace(partial, self.path)
