"""The state of an unfinished run as arrays: what a resumed run needs to give the same bits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.neural.lanes import Lanes, Tally
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.rounds import Rounds

__all__ = ["Record", "restore", "saved"]


@dataclass
class Record:
    """What a run has measured. column: recorded rounds so far; points: (S, G, dim), or None where they are not kept."""

    values: dict[str, Floats]
    points: Floats | None
    column: int = 0
    reached: int = field(default=0)


def saved(rounds: Rounds, record: Record) -> dict[str, NDArray[Any]]:
    """Everything after `record.reached` rounds."""
    lanes = rounds.lanes
    told = {
        "reached": record.reached,
        "column": record.column,
        "limit": lanes.limit,
        "notices": lanes.notices,
        "samples": lanes.tally.samples,
        "padded": lanes.tally.padded,
    }
    arrays: dict[str, NDArray[Any]] = {
        "told": np.array(json.dumps(told)),
        "state": rounds.state.cpu().numpy(),
        "alive": rounds.alive,
    }
    if rounds.buffers is not None:
        arrays["buffers"] = rounds.buffers.cpu().numpy()
    arrays |= {f"values/{name}": values for name, values in record.values.items()}
    return arrays if record.points is None else {**arrays, "points": record.points}


def restore(arrays: Mapping[str, NDArray[Any]], rounds: Rounds, record: Record, grid: Ints) -> None:
    """Inverse of `saved`, into a run of the same seeds, method and grid of rounds that has not begun.

    Raises one of `core.arrays.MALFORMED`, and leaves the run as it is, for arrays that `saved` does not make of it.
    """
    told: dict[str, Any] = json.loads(str(arrays["told"]))
    numbers = {name: told[name] for name in ("reached", "column", "limit", "samples", "padded")}
    if any(not isinstance(n, int) or isinstance(n, bool) or n < 0 for n in numbers.values()) or numbers["limit"] < 1:
        raise ValueError("numbers that no run has")
    if numbers["reached"] > grid[-1] or numbers["column"] != np.searchsorted(grid, numbers["reached"], side="right"):
        raise ValueError("another grid of rounds")
    notices = [str(notice) for notice in told["notices"]]
    expected: dict[str, Any] = {"state": rounds.state, "alive": rounds.alive}
    expected |= {} if rounds.buffers is None else {"buffers": rounds.buffers}
    expected |= {f"values/{name}": values for name, values in record.values.items()}
    expected |= {} if record.points is None else {"points": record.points}
    for name, target in expected.items():
        found = arrays[name]
        kind = "b" if name == "alive" else "f"
        if found.shape != tuple(target.shape) or found.dtype.kind != kind:
            raise ValueError(f"{name} has the shape {found.shape} and the type {found.dtype}")
    for name, target in expected.items():
        if isinstance(target, np.ndarray):
            target[:] = arrays[name]
        else:
            target.copy_(library().from_numpy(np.ascontiguousarray(arrays[name])))
    record.reached, record.column = numbers["reached"], numbers["column"]
    lanes: Lanes = rounds.lanes
    lanes.limit, lanes.notices = numbers["limit"], notices
    lanes.tally = Tally(numbers["samples"], numbers["padded"])
