"""The state of an unfinished run as arrays: what a resumed run needs to give the same bits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.engines.curve import Floats
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


def restore(arrays: Mapping[str, NDArray[Any]], rounds: Rounds, record: Record) -> None:
    """Inverse of `saved`, into a run of the same seeds and method that has not begun."""
    told = json.loads(str(arrays["told"]))
    rounds.state.copy_(library().from_numpy(np.ascontiguousarray(arrays["state"])))
    if rounds.buffers is not None:
        rounds.buffers.copy_(library().from_numpy(np.ascontiguousarray(arrays["buffers"])))
    rounds.alive[:] = arrays["alive"]
    record.reached, record.column = told["reached"], told["column"]
    for name, values in record.values.items():
        values[:] = arrays[f"values/{name}"]
    if record.points is not None:
        record.points[:] = arrays["points"]
    lanes: Lanes = rounds.lanes
    lanes.limit, lanes.notices = told["limit"], list(told["notices"])
    lanes.tally = Tally(told["samples"], told["padded"])
