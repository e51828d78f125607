"""Records: the file of a table that was carried out, its page, and one of its rows run again.

A file holds the whole `[[training]]` table and the numbers of every seed, so that its page is made as that of new runs,
and a row runs again where `configs/` is not there.
"""

from __future__ import annotations

import datetime
import itertools
import json
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationError

from boundcheck.core.digest import Undigestible, canonical, code_digest, package_version
from boundcheck.core.numbers import format_short
from boundcheck.core.places import reason, write_whole
from boundcheck.errors import BadInput, BoundcheckError, UnknownName
from boundcheck.evidence.ordering import OUTCOMES, half_width, rankings
from boundcheck.evidence.stored import code_of
from boundcheck.evidence.studies.study import Study, StudyTable
from boundcheck.networks.study.check import check
from boundcheck.networks.study.page import outcomes, page
from boundcheck.networks.study.runs import Recorded, Row, Runs, Text, as_data
from boundcheck.networks.study.spec import Case, Choice, Spec, settings

if TYPE_CHECKING:
    from boundcheck.core.store import Store

MAX_READ = 16 * 1024 * 1024  # bytes of a file
SAME = 1e-6  # relative difference up to which a number is the recorded one
UNSEEN = ("cases", "scaled", "pictures", "estimate", "source")  # keys that change no run of a case
REPLACED = "the code"
# The folders of boundcheck that training runs: an edit of a theorem, a page or a proof changes no run.
ROOMS = ("core", "certified", "problems", "methods", "engines", "setting", "networks")


class Record(Recorded):
    """A table and what came out.

    recorded: the day (ISO). command: makes the file. code: the digest of `ROOMS` and `modules`, which compute.
    versions: of boundcheck, Python and packages, and the kind of processor. unfinished: processor hours of rows that
    were cut off.
    """

    schema_: Literal[1] = Field(alias="schema")
    kind: Literal["boundcheck recorded training"]
    recorded: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    command: Text
    code: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    modules: list[Annotated[str, Field(pattern=r"^boundcheck([.][a-z0-9_]+)+$", max_length=200)]]
    versions: dict[str, Text]
    table: dict[str, Any]
    rows: list[Row]
    unfinished: dict[str, float] = Field(default_factory=dict[str, float])

    @cached_property
    def spec(self) -> Spec:
        """The table."""
        return Spec.model_validate(self.table)

    @property
    def processor_hours(self) -> float:
        """Of all rows."""
        return sum(row.processor_hours for row in self.rows)

    def chosen(self, row: Row) -> dict[str, Choice]:
        """Method -> the setting that was run. Raises BadInput for a row that does not fit the table."""
        spec, found = self.spec, dict[str, Choice]()
        if row.case not in spec.all_cases:
            raise UnknownName("the row", row.case, spec.all_cases)
        for run, method in itertools.zip_longest(row.runs, spec.methods):
            if run is None or method is None or run.method != method.label:
                raise BadInput(f"the row '{row.case}' does not have the methods of its table, in their order.")
            fits = (c for c in settings(spec.all_cases[row.case], method) if as_data(c.tried) == as_data(run.tried))
            shapes = {(name, len(own), len(seed)) for name, own in run.samples.items() for seed in own}
            if (one := next(fits, None)) is None:
                raise BadInput(f"the row '{row.case}' has a setting of '{run.method}' that the table does not try.")
            if shapes != {(name, spec.seeds, len(run.x)) for name in spec.measured} or sorted(run.x) != run.x:
                what = f"{', '.join(spec.measured)} of '{run.method}' of {spec.seeds} seeds at increasing rounds."
                raise BadInput(f"the row '{row.case}' does not hold {what}")
            found[run.method] = one
        return found

    def differences(self) -> list[str]:
        """What is not as it was when the record was made: the code, versions."""
        try:
            changed = code_digest(self.modules, ROOMS) != self.code
        except Undigestible:  # a module is not there any more
            changed = True
        now = versions()
        names = [f"{name} {now.get(name)} for {old}" for name, old in self.versions.items() if now.get(name) != old]
        return [REPLACED] * changed + names


def versions() -> dict[str, str]:
    """What the bits of a run depend on besides the code and the specification."""
    import platform

    from boundcheck.networks.engine.device import library

    found = {name: package_version(name) or "absent" for name in ("boundcheck", "numpy", "numba", "scipy", "torch")}
    kind = "" if found["torch"] == "absent" else str(library().backends.cpu.get_cpu_capability())
    processor = " ".join(filter(None, (platform.machine(), kind, _model_of_processor())))
    return {**found, "python": platform.python_version(), "processor": processor}


def _model_of_processor() -> str:
    """Vendor and numbers of the model: processors with the same instructions still round sums in float32 differently.

    "" where the system has no /proc/cpuinfo.
    """
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0]
    except OSError:
        return ""
    lines = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first.splitlines())}
    return "-".join(lines[key] for key in ("vendor_id", "cpu family", "model", "stepping") if lines.get(key))


def read(path: Path, *, begun: bool = False) -> Record:
    """The record in a file. begun: also one without rows. Raises BadInput, one sentence, for what is none."""
    try:
        with path.open("rb") as file:
            record = Record.model_validate_json(file.read(MAX_READ + 1))
        check(record.spec)
        for row in record.rows:
            record.chosen(row)
        if len({row.case for row in record.rows}) < len(record.rows) or not (begun or record.rows):
            raise BadInput("it has a row twice, or no rows.")
    except OSError as error:
        raise BadInput(f"the record {path} cannot be read: {reason(error)}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "its top"
        raise BadInput(f"the file {path} is no record of training: at {where}: {first['msg']}.") from error
    except (BoundcheckError, ValueError) as error:
        raise BadInput(f"the record {path} is malformed: {error}") from error
    return record


def text_of(record: Record) -> str:
    """The file of a record: JSON, a line for each key and each run."""
    return _text(record.model_dump(by_alias=True, mode="json"), ("rows", "*", "runs", "*")) + "\n"


def _text(value: Any, spread: Sequence[str]) -> str:
    """JSON; spread: the path of keys and items that stand on lines of their own."""
    if not spread or not value:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    if isinstance(value, list):
        return "[\n" + ",\n".join(_text(one, spread[1:]) for one in value) + "\n]"
    own = [f"{json.dumps(name)}: {_text(one, spread[1:] if name == spread[0] else ())}" for name, one in value.items()]
    return "{" + ",\n".join(own) + "}"


def record(
    table: dict[str, Any],
    path: Path,
    command: str,
    *,
    rows: Sequence[str] = (),
    store: Store | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Record:
    """Carry out the rows of a table that its file does not have yet, and write the file after each of them.

    rows: labels; all by default. tell: is called with a sentence for each row. A row that is cut off goes on from the
    store's checkpoint, and the processor time that it took so far is kept. Rows that the table no longer has as they
    were are left out; a file of other code or versions is begun anew. Raises BadInput for another file at `path`.
    """
    runs = Runs(Spec.model_validate(table), store)
    spec, cases = runs.spec, runs.spec.all_cases
    for label in rows:
        if label not in cases:
            raise UnknownName("the row", label, cases)
    firsts = [(case, next(settings(case, method))) for case in cases.values() for method in spec.methods]
    modules = sorted({m for case, one in firsts for m in code_of(runs.problem(case), one.spec, spec.engine)})
    found = Record(
        schema=1,
        kind="boundcheck recorded training",
        recorded=datetime.datetime.now(datetime.UTC).date().isoformat(),
        command=command,
        code=code_digest(modules, ROOMS),
        modules=modules,
        versions=versions(),
        table=table,
        rows=[],
    )
    if path.exists():
        old = read(path, begun=True)
        if old.differences():
            tell(f"begun anew, for this is not as recorded: {', '.join(old.differences())}")
        else:
            kept = {_of_runs(old.table, case) for case in old.spec.all_cases.values()}
            same = [label for label, case in cases.items() if _of_runs(table, case) in kept]
            left = {label: hours for label, hours in old.unfinished.items() if label in same}
            found = found.model_copy(update={"rows": [r for r in old.rows if r.case in same], "unfinished": left})
    for label, case in cases.items():
        known = {row.case: row for row in found.rows}
        if label in known:
            tell(f"{label or 'the table'} is recorded already")
        if label in known or (rows and label not in rows):
            continue
        began, left = time.process_time(), dict(found.unfinished)
        spent = left.pop(label, 0.0)
        try:
            row = runs.row(case)
            known[label] = row.model_copy(update={"processor_hours": float(f"{spent + row.processor_hours:.4g}")})
            tell(f"{label or 'the table'} recorded")
        except BaseException:
            left[label] = spent + (time.process_time() - began) / 3600
            raise
        finally:
            own = [known[name] for name in cases if name in known]
            found = found.model_copy(update={"rows": own, "unfinished": left})
            write_whole(path, text_of(found).encode())
    return found


def _of_runs(table: dict[str, Any], case: Case) -> str:
    """All of a table that the runs of a case depend on."""
    return canonical([{k: v for k, v in table.items() if k not in UNSEEN}, case.model_dump()])


def run_again(record: Record, label: str | None) -> dict[str, Any]:
    """Run a row (None: the first) with the settings that were chosen and all its seeds, without the store.

    Found are the row, whether it agrees, what differs from the record, and a row of numbers for each method and
    comparison. It agrees if every seed has its number to a relative `SAME` or, where code or versions differ, if the
    means lie in the recorded confidence intervals.
    """
    old = next((row for row in record.rows if label in (None, row.case)), None)
    if old is None:
        raise UnknownName("the row", label, [row.case for row in record.rows])
    new = Runs(record.spec).row(record.spec.all_cases[old.case], record.chosen(old))
    numbers: list[dict[str, Any]] = []
    for (run, again), by in itertools.product(zip(old.runs, new.runs, strict=True), record.spec.comparisons):
        then, now = run.values(by), again.values(by)
        with np.errstate(invalid="ignore", divide="ignore"):
            each = np.abs(now - then) / np.maximum(np.abs(then), np.finfo(float).tiny)
        each = np.where((then == now) | (np.isnan(then) & np.isnan(now)), 0.0, np.nan_to_num(each, nan=np.inf))
        half, means = half_width(then, float(record.spec.confidence)), (float(then.mean()), float(now.mean()))
        near = "within the interval" if abs(means[1] - means[0]) <= half else "different"
        one = {"method": run.method, "metric": by.metric, "then": means[0], "half_width": half, "now": means[1]}
        same = {"largest_relative_difference": float(each.max()), "outcome": "the same" if each.max() <= SAME else near}
        numbers.append(one | same)
    differs = record.differences()
    allowed = ("the same", "within the interval") if differs else ("the same",)
    agrees = all(one["outcome"] in allowed for one in numbers)
    return {"row": old.case, "agrees": agrees, "differs": differs, "numbers": numbers}


def recorded_study(record: Record, path: Path) -> Study:
    """The page of a record."""
    own = page(record.spec, record.rows)
    made_with = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    again = shlex.join(["boundcheck", "record", path.name, "--compare", "--row", record.rows[0].case])
    changed = REPLACED in record.differences()
    fits = "no longer fits: the code has changed since" if changed else "is that of the code here"
    missing = ", ".join(label for label in record.spec.all_cases if label not in [row.case for row in record.rows])
    words = (
        f"RECORDED, not run for this report: on {record.recorded}, in {format_short(record.processor_hours, 2)} "
        f"processor hours, with {made_with}. The digest of the code that computed it, {record.code[:12]}, {fits}. "
        f"{again} runs a row again and compares.",
        *([f"Rows of the table that are not recorded: {missing}."] if missing else []),
    )
    facts = record.model_dump(include={"recorded", "command", "code", "modules", "versions"})
    data = {**own.data, "record": facts | {"processor_hours": {row.case: row.processor_hours for row in record.rows}}}
    return replace(own, kind="recorded", name=f"Recorded: {record.spec.name}", words=(*words, *own.words), data=data)


def summary_row(record: Record) -> dict[str, str]:
    """A record in one row: when, by which version, with how many seeds, the state of the rankings, in which time."""
    counts = outcomes(record.spec, record.rows)
    return {
        "table": record.spec.name,
        "recorded": record.recorded,
        "version": record.versions["boundcheck"],
        "rows": f"{len(record.rows)} of {len(record.spec.all_cases)}",
        "seeds": str(record.spec.seeds),
        "rankings": str(sum(counts.values())),
        **{name: str(count) for name, count in counts.items()},
        "processor hours": format_short(record.processor_hours, 2),
    }


def summary_study(records: Sequence[Record]) -> Study:
    """One page for all records, one row each."""
    rows = [summary_row(record) for record in records]
    total = {name: sum(int(row[name]) for row in rows) for name in OUTCOMES}
    hours = format_short(sum(record.processor_hours for record in records), 2)
    old = sum(REPLACED in record.differences() for record in records)
    words = (
        f"RECORDED, not run for this report, in {hours} processor hours. {rankings(total)}. A reversal says "
        "that the order does not hold at our size, not that the paper is wrong at its own.",
        f"The code that computed {old} of {len(records)} tables has changed since; boundcheck record --compare "
        "runs a row again.",
    )
    shown = (StudyTable.of("Recorded tables", rows),)
    return Study("recorded", "Recorded: all tables of neural results", words, shown, data={"pairs": total})
