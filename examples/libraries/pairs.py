"""The pairs of library and algorithm with the composition that each is held against, and the problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import boundcheck as bc
from libraries import HERE, table

if TYPE_CHECKING:
    from libraries.runs import Run

TOLERANCES = {"double": 1e-12, "single": 1e-5, "limit": 1e-6}
OWN_KINDS = ("feddyn", "fedopt")  # of examples/methods


@dataclass(frozen=True, eq=False)
class Pair:
    """One algorithm of one library; the fields are those of `pairs.toml`."""

    library: str
    algorithm: str
    source: str
    method: Mapping[str, Any]
    problem: str
    setup: str = ""
    tolerance: str = "double"

    def runs(self, drawing: bool = False) -> Run:
        """(task, seed) -> Record; drawing: with the cohorts that the library draws at random."""
        adapter = import_module(f"libraries.on_{self.library.lower()}")
        return getattr(adapter, "DRAWN" if drawing and hasattr(adapter, "DRAWN") else "RUNS")[self.algorithm]


def pairs() -> tuple[Pair, ...]:
    """All pairs; the kinds of examples/methods that they name are loaded."""
    for name in OWN_KINDS:
        bc.load(HERE.parent / "methods" / f"{name}.py")
    return tuple(Pair(**row) for row in table("pairs")["pair"])


def problem(name: str) -> dict[str, Any]:
    """The specification of the quadratics of that name in `problems.toml`."""
    given = table("problems")
    own = given["problem"][name]
    samples = zip(given["A"], given["b"], own["sizes"], strict=True)
    clients = [{"components": [{"A": A, "b": b}] * size} for A, b, size in samples]
    rest = {"weights": own["weights"], "start": given["start"], "name": own["name"]}
    return {"kind": "quadratics", "clients": clients, **rest}
