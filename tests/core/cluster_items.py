"""Items of the tests of clusters; workers import this module."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boundcheck.core.digest import digest
from boundcheck.core.store import Checkpoint, Store, run_stored


@dataclass(frozen=True)
class Item:
    """number: of the item. folder: holds the store and the notes of who began what. kind: what happens."""

    number: int
    folder: Path
    kind: str = ""


@dataclass(frozen=True)
class Found:
    """lacking: see `Executor.map`."""

    lacking: str = ""


def stored(item: Item) -> float:
    """A run that is computed, unless the store has it, in as long as its kind says."""
    spec = {"number": item.number}

    def compute(checkpoint: Checkpoint) -> tuple[dict[str, Any], Mapping[str, Any]]:
        note(item)
        waited = item.folder / "go"
        if item.kind == "waits":
            while not waited.exists():
                time.sleep(0.02)
        return {"x": np.sqrt(np.arange(float(item.number + 2)))}, {"number": item.number}

    return float(run_stored(Store(item.folder / "store"), digest(spec), spec, compute).arrays["x"].sum())


def note(item: Item) -> None:
    """Says on the disk that the item is begun, and by which process."""
    with (item.folder / f"begun-{item.number}").open("a") as log:
        log.write(f"{os.getpid()}\n")


def begun(folder: Path, number: int) -> list[int]:
    """The processes that have begun an item."""
    path = folder / f"begun-{number}"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def faulty(item: Item) -> str:
    """Does what its kind says."""
    note(item)
    if item.kind == "exits":
        os.write(2, b"one line\nthe last line\n")
        os._exit(7)
    if item.kind == "kills":  # the Dask worker, as the system does for want of memory
        os.kill(os.getpid(), signal.SIGKILL)
    if item.kind == "hangs":
        time.sleep(600)
    if item.kind == "grows":
        kept: list[bytearray] = []
        while True:
            kept.append(bytearray(os.urandom(1)) * (8 << 20))
            time.sleep(0.02)
    return item.kind


def told(item: Item, tell: Callable[[float], None]) -> int:
    """Tells of its progress."""
    tell(0.25)
    return item.number


def lacks(item: Item) -> Found:
    """Whether the machine, which the tests make by the environment of a worker, has what the item needs."""
    note(item)
    return Found("" if os.environ.get("CLUSTER_TEST_HAS") == item.kind else f"no '{item.kind}' here.")
