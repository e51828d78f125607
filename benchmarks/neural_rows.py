"""One row of every file of `configs/neural/full`, for some rounds: seconds a round, memory, hours in all.

A row is the first case of the first table whose data set is here; its first method runs with its first settings. The
hours that are printed for the whole table are those of its rounds and seeds, in proportion.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from boundcheck.errors import DataNotFetched, Unsupported
from boundcheck.evidence.studies import load_studies
from boundcheck.methods.build import build as build_method
from boundcheck.networks.engine.device import Settings
from boundcheck.networks.engine.run import run_neural
from boundcheck.networks.study.runs import ends_until, resolved
from boundcheck.networks.study.spec import Spec, settings
from boundcheck.problems.build import build as build_problem

FULL = Path(__file__).resolve().parents[1] / "configs" / "neural" / "full"
ROUNDS = 20


@dataclass(frozen=True)
class Row:
    """What a stretch of a row took. hours: of all rounds, seeds and settings of this method in this case."""

    file: str
    table: str
    case: str
    method: str
    device: str
    graphs: bool
    rounds: int
    first_loss: float
    last_loss: float
    seconds_a_round: float
    bytes: int
    lanes: int
    hours: float
    notices: list[str]


def rows(folder: Path, device: str, rounds: int, *, graphs: bool) -> Iterator[Row | str]:
    """A row of each file, or a sentence where there is none: no data set is here, or the device refuses."""
    for path in sorted(folder.glob("*.toml")):
        tables = [asked.spec for asked in load_studies(path) if isinstance(asked.spec, Spec)]
        for spec in (s for s in tables if s.engine == "neural"):
            try:
                yield _row(path, spec, device, rounds, graphs)
            except DataNotFetched as error:
                yield f"{path.name}, {spec.name}: {error}"
                continue
            except Unsupported as error:
                yield f"{path.name}, {spec.name}: {error}"
            break


def _row(path: Path, spec: Spec, device: str, rounds: int, graphs: bool) -> Row:
    case, method = next(iter(spec.all_cases.values())), spec.methods[0]
    problem = build_problem(spec.problem_of(case))
    options = list(settings(case, method))
    own = build_method(resolved(options[0], problem))
    last, until = spec.length(case)
    whole = last if until is None else len(ends_until(own, problem, until))
    assert whole is not None
    stretch = min(rounds, whole)
    how = replace(Settings.of(spec.neural), device=device, graphs=graphs)
    run_neural(own, problem, 1, 1, ("f",), [1], how)  # the first round sets up libraries
    curve = run_neural(own, problem, stretch, 1, ("f",), [0, stretch], how)
    began = time.perf_counter()
    run_neural(own, problem, stretch, 1, ("f",), [stretch], how)
    each = (time.perf_counter() - began) / stretch
    info: Any = curve.info
    runs = spec.seeds + (len(options) > 1) * len(options) * spec.tuning.seeds
    return Row(
        path.name,
        spec.name,
        case.label,
        method.label,
        info["device"],
        graphs,
        stretch,
        float(curve.values["f"][0]),
        float(curve.values["f"][1]),
        each,
        info["peak_memory"]["bytes"],
        info["lanes"],
        each * whole * runs / 3600,
        list(info["notices"]),
    )


def report(folder: Path, device: str, rounds: int, *, graphs: bool, out: Path | None = None) -> list[Row]:
    """Print a line for each file, and write the rows to a JSON file if one is given."""
    found = list[Row]()
    for row in rows(folder, device, rounds, graphs=graphs):
        if isinstance(row, str):
            print(row)
            continue
        found.append(row)
        print(
            f"{row.file}, {row.case or row.table}, {row.method}: {row.seconds_a_round:.3g} s a round, "
            f"{row.bytes / 1e6:.0f} MB, {row.lanes} visits at once, loss {row.first_loss:.4g} to {row.last_loss:.4g} "
            f"after {row.rounds} rounds; {row.hours:.3g} hours for all rounds and seeds"
        )
        for notice in row.notices:
            print(f"  {notice}")
    if out is not None:
        out.write_text(json.dumps([asdict(row) for row in found], indent=1) + "\n")
    return found
