"""The theorems' constants for the runs of a table: measured along a run, and those of surrogate problems.

What is measured is an estimate at points of one run, no bound; claims with the key `estimate` put it into the theorems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.certified.constant import Constant, Known
from boundcheck.core.digest import Undigestible, run_key
from boundcheck.core.numbers import format_short
from boundcheck.core.store import Checkpoint, run_stored
from boundcheck.evidence.stored import code_of
from boundcheck.evidence.studies.study import StudyTable
from boundcheck.methods.build import build as build_method
from boundcheck.methods.parts import Blocks
from boundcheck.networks.engine.device import Settings, environment
from boundcheck.networks.engine.probing import Effort, probe
from boundcheck.networks.engine.task import resolved, task_of
from boundcheck.networks.provider import run_facts
from boundcheck.networks.study import surrogate
from boundcheck.networks.study.page import More

if TYPE_CHECKING:
    from boundcheck.networks.study.runs import Row, Runs
    from boundcheck.networks.study.spec import Estimate

MEANING = (
    "Constants of the theorems were estimated at points of a run of seed 0 ({}). They are the largest values seen "
    "there and no bounds: nothing is known of other points.",
    "B2 is the sum of w_i |grad f_i|^2 over |grad F|^2, G2 that sum minus |grad F|^2; L is the largest |eigenvalue| of "
    "Hess f_i, lam its largest negative curvature, delta the largest |eigenvalue| of Hess f_i - Hess F; sigma2_i is "
    "the largest variance of a client's gradients of single samples. sigma_j, kappa_j and beta_j are the same of the "
    "coordinates of block j of the model alone (S. Lee et al., Assumptions 3 and 4).",
)


def of_surrogates(runs: Runs, rows: Sequence[Row]) -> Iterator[More]:
    """The constants of every method and its surrogate problem, if the table looks at one."""
    for row in rows if runs.spec.surrogate else ():
        problem = runs.problem(runs.spec.all_cases[row.case])
        found = {run.method: surrogate.constants(problem, build_method(run.specification)) for run in row.runs}
        names = dict.fromkeys(name for own in found.values() for name in own)
        cells = [{"constant": name} | {label: _cell(own.get(name)) for label, own in found.items()} for name in names]
        caption = f"The theorem's constants{f': {row.case}' if row.case else ''}"
        data = {label: {name: c.to_dict() for name, c in own.items()} for label, own in found.items()}
        yield More([], [StudyTable.of(caption, cells)], {"surrogate": [{"case": row.case, "methods": data}]})


def _cell(constant: Constant | None) -> str:
    return str(constant).partition(" (")[0] if constant else ""


def estimated(runs: Runs, rows: Sequence[Row]) -> Iterator[More]:
    """What is measured along the runs that the table names; it goes through the store."""
    found = [_measured(runs, rows, estimate) for estimate in runs.spec.estimate]
    named = "; ".join(f"{_where(one)}, after {', '.join(map(str, one['rounds']))} rounds" for one in found)
    for k, one in enumerate(found):
        yield More([text.format(named) for text in MEANING if k == 0], list(_tables(one)), {"estimates": [one]})


def _measured(runs: Runs, rows: Sequence[Row], estimate: Estimate) -> dict[str, Any]:
    """The constants (`networks.engine.probing.Probe.to_dict`) at the server's points after some rounds of a run."""
    from boundcheck.networks.engine.run import run_neural  # needs numba, which other tables do without

    row = next(row for row in rows if estimate.case in (None, row.case))
    run = next(run for run in row.runs if run.method == estimate.method)
    method, problem = build_method(run.specification), runs.problem(runs.spec.all_cases[row.case])
    how, effort = Settings.of(runs.spec.neural), Effort.of(estimate.effort)
    grid = sorted({round(run.rounds * k / estimate.points) for k in range(estimate.points + 1)})

    def compute(checkpoint: Checkpoint) -> tuple[dict[str, Any], dict[str, Any]]:
        curve = run_neural(method, problem, grid[-1], 1, ("f",), grid, how, checkpoint=checkpoint, keep_points=True)
        assert curve.points is not None
        finite = np.isfinite(curve.points[0]).all(axis=1)
        exchange, task = resolved(method, problem).exchange, task_of(problem, how)
        blocks = exchange.blocks(problem.dim) if isinstance(exchange, Blocks) else ()
        with environment(how, task.device):
            seen = probe(task, curve.points[0][finite], blocks=blocks, effort=effort)
        return {}, {"rounds": [n for n, known in zip(grid, finite, strict=True) if known], **seen.to_dict()}

    facts = {"engine": "neural", "points": grid, "neural": run_facts(how), "effort": asdict(effort)}
    spec = {"problem": dict(problem.spec), "method": run.specification, "run": facts, "seeds": [0]}
    code = (*code_of(problem, run.specification, "neural"), "boundcheck.networks.engine.probing")
    named = {"method": run.method, "case": row.case, "seed": 0}
    try:
        store, key = runs.store, "" if runs.store is None else run_key(spec, code)
    except Undigestible:
        store, key = None, ""
    return {**named, **run_stored(store, key, spec, compute, lambda read: [*_tables({**named, **read.meta})]).meta}


def _where(measured: Mapping[str, Any]) -> str:
    return f"{measured['method']}, {measured['case']}".removesuffix(", ")


def _tables(measured: Mapping[str, Any]) -> Iterator[StudyTable]:
    """The constants by round, those by block if the model is averaged in blocks, and how each was measured."""
    along = {name: list(map(_short, values)) for name, values in measured["along"].items()}
    rounds = _turned({"round": list(map(str, measured["rounds"])), **along})
    yield StudyTable.of(f"Estimated along the run of {_where(measured)}, seed 0", rounds)
    if measured["kappa2"]:
        names = ("sigma_j\u00b2", "kappa_j\u00b2 where beta\u00b2 = 1", "beta_j\u00b2 where kappa\u00b2 = 0")
        largest = np.max(np.array(measured["block_noise"], dtype=float), axis=0)  # over rounds and clients
        found = zip(names, (largest, measured["kappa2"], measured["beta2"]), strict=True)
        columns = {
            "block": list(map(str, range(len(largest)))),
            **{name: list(map(_short, own)) for name, own in found},
        }
        yield StudyTable.of(f"Estimated by block of the model: {_where(measured)}", _turned(columns))
    own = {name: c for name, c in measured["constants"].items() if c["known"] == Known.ESTIMATED.value}
    how = [{"constant": name, "value": _short(Fraction(c["value"])), "how": c["how"]} for name, c in own.items()]
    yield StudyTable.of(f"How it was estimated: {_where(measured)}", how)


def _turned(columns: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _short(value: Any) -> str:
    return format_short(float(value), 4)
