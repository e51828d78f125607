"""Making a record of a table, row by row, and running one of its rows again."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.core.digest import canonical, code_digest
from boundcheck.core.places import write_whole
from boundcheck.errors import UnknownName
from boundcheck.evidence.ordering import half_width
from boundcheck.evidence.stored import code_of
from boundcheck.networks.study.recorded import KIND, SCHEMA, Record, RecordedRow, read, row_of, text_of, versions
from boundcheck.networks.study.runs import carry_out_case, value_of
from boundcheck.networks.study.spec import Comparison, Spec, problem_spec, settings
from boundcheck.problems.build import build as build_problem

if TYPE_CHECKING:
    from boundcheck.core.store import Store
    from boundcheck.networks.study.runs import Ran
    from boundcheck.networks.study.spec import Case

SAME = 1e-6  # relative difference up to which a number is the recorded one


def modules_of(spec: Spec, cases: Sequence[Case]) -> list[str]:
    """The modules that compute the runs of these cases."""
    found: set[str] = set()
    for case in cases:
        problem = build_problem(problem_spec(spec, case))
        for method in spec.methods:
            found |= set(code_of(problem, next(iter(settings(case, method))).spec, spec.engine))
    return sorted(found)


def _runs_of(table: dict[str, Any], case: Case) -> str:
    """All of a table that the runs of a case depend on: the case, and the table without words and other cases."""
    words = ("cases", "scaled", "pictures", "estimate", "source")
    return canonical([{k: v for k, v in table.items() if k not in words}, case.model_dump()])


def _all_runs(table: dict[str, Any], spec: Spec) -> set[str]:
    return {_runs_of(table, case) for case in spec.all_cases}


def record(
    table: dict[str, Any],
    path: Path,
    command: str,
    *,
    rows: Sequence[str] = (),
    store: Store | None = None,
    on_row: Callable[[RecordedRow], None] = lambda _: None,
) -> Record:
    """Carry out the rows of a table that its file does not have yet, and write the file after each of them.

    rows: the labels of those that are wanted; all by default. A row that is cut off goes on from the store's
    checkpoint, and the processor time that it took so far is kept. Rows that the table no longer has as they were are
    left out; a file of other code or other versions is begun anew. Raises BadInput where something else than a record
    is at `path`.
    """
    spec = Spec.model_validate(table)
    labels = [case.label for case in spec.all_cases]
    for row in rows:
        if row not in labels:
            raise UnknownName("the row", row, labels)
    wanted = [case for case in spec.all_cases if not rows or case.label in rows]
    modules = modules_of(spec, spec.all_cases)
    fresh = Record.model_validate(
        {
            "schema": SCHEMA,
            "kind": KIND,
            "recorded": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "command": command,
            "code": code_digest(modules),
            "modules": modules,
            "versions": versions(),
            "table": table,
            "rows": [],
        }
    )
    found = fresh
    if path.exists():
        old = read(path, begun=True)
        if (old.code, old.versions) == (fresh.code, fresh.versions):
            before = Spec.model_validate(old.table)
            same = [case.label for case in spec.all_cases if _runs_of(table, case) in _all_runs(old.table, before)]
            left = {label: hours for label, hours in old.unfinished.items() if label in same}
            found = fresh.model_copy(update={"rows": [row for row in old.rows if row.case in same], "unfinished": left})
    for case in wanted:
        if case.label in [row.case for row in found.rows]:
            continue
        began = time.process_time()
        spent = found.unfinished.get(case.label, 0.0)
        try:
            done = carry_out_case(spec, case, store)
        except BaseException:
            left = {**found.unfinished, case.label: spent + (time.process_time() - began) / 3600}
            write_whole(path, text_of(found.model_copy(update={"unfinished": left})).encode())
            raise
        row = row_of(case.label, done.runs, done.tried, spent + (time.process_time() - began) / 3600)
        known = {r.case: r for r in (*found.rows, row)}
        left = {label: hours for label, hours in found.unfinished.items() if label != case.label}
        ordered = [known[label] for label in labels if label in known]
        found = found.model_copy(update={"rows": ordered, "unfinished": left})
        write_whole(path, text_of(found).encode())
        on_row(row)
    return found


@dataclass(frozen=True)
class Again:
    """One compared number of a method of a row that was run again.

    then, now: means over the seeds; half: half the width of the recorded confidence interval; apart: the largest
    relative difference of a seed. outcome: "the same" (every seed to `SAME`), "within the interval" or "different".
    """

    method: str
    comparison: Comparison
    then: float
    now: float
    half: float
    apart: float
    outcome: str


@dataclass(frozen=True)
class RunAgain:
    """A row that was run again. differs: what is not as it was recorded, in words; where nothing is, numbers must be
    the same, seed by seed."""

    row: str
    differs: tuple[str, ...]
    found: tuple[Again, ...]

    @property
    def agrees(self) -> bool:
        """Whether every number is the same or, where code or versions differ, within the recorded interval."""
        allowed = ("the same", "within the interval") if self.differs else ("the same",)
        return all(again.outcome in allowed for again in self.found)


def run_again(record: Record, row: str | None) -> RunAgain:
    """Run one row with the settings that were chosen and all its seeds, without the store. row: None, the first."""
    labels = [r.case for r in record.rows]
    if row is not None and row not in labels:
        raise UnknownName("the row", row, labels)
    old = record.cases[0 if row is None else labels.index(row)]
    new = carry_out_case(record.spec, old.case, chosen=old.chosen)
    found = tuple(
        _compare(record.spec, comparison, then, now)
        for then, now in zip(old.runs, new.runs, strict=True)
        for comparison in record.spec.comparisons
    )
    return RunAgain(old.case.label, differences(record), found)


def differences(record: Record) -> tuple[str, ...]:
    """What is not as it was when the record was made: the code, versions."""
    found = [] if record.code_now() == record.code else ["the code"]
    now = versions()
    found += [f"{name} {now.get(name)} for {old}" for name, old in record.versions.items() if now.get(name) != old]
    return tuple(found)


def _compare(spec: Spec, comparison: Comparison, then: Ran, now: Ran) -> Again:
    old, new = (value_of(comparison, run.x, run.samples[comparison.metric]) for run in (then, now))
    with np.errstate(invalid="ignore", divide="ignore"):
        each = np.where(old == new, 0.0, np.abs(new - old) / np.maximum(np.abs(old), np.finfo(float).tiny))
    each = np.where(np.isnan(old) & np.isnan(new), 0.0, np.nan_to_num(each, nan=np.inf))
    apart, half = float(each.max()), half_width(old, float(spec.confidence))
    outcome = "different"
    if apart <= SAME:
        outcome = "the same"
    elif abs(float(new.mean() - old.mean())) <= half:  # false where one of them is nan
        outcome = "within the interval"
    return Again(then.label, comparison, float(old.mean()), float(new.mean()), half, apart, outcome)
