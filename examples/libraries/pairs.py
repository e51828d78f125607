"""The pairs of library and algorithm with the composition that each is held against, from `pairs.toml`."""

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


@dataclass(frozen=True)
class Pair:
    """One algorithm of one library; the fields are those of `pairs.toml`."""

    library: str
    algorithm: str
    source: str
    method: Mapping[str, Any]
    problem: str
    setup: str = ""
    tolerance: str = "double"

    def _module(self) -> Any:
        return import_module(f"libraries.on_{self.library.lower()}")

    @property
    def run(self) -> Run:
        """(task, seed) -> Record."""
        return self._module().RUNS[self.algorithm]

    @property
    def drawing(self) -> Run:
        """As `run`, with the cohorts that the library draws at random."""
        return getattr(self._module(), "DRAWN", {}).get(self.algorithm, self.run)


def pairs() -> tuple[Pair, ...]:
    """All pairs; the kinds of examples/methods that they name are loaded."""
    for name in OWN_KINDS:
        bc.load_paper(HERE.parent / "methods" / f"{name}.py")
    return tuple(Pair(**row) for row in table("pairs")["pair"])
