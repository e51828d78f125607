"""Tables of training that were carried out before: a file with the numbers of every seed, and what made them.

A file holds the whole `[[training]]` table, so that its page is made by the code that makes that of new runs, and so
that a row can be run again where `configs/` is not there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from boundcheck.core.digest import Undigestible, code_digest, package_version
from boundcheck.core.places import reason
from boundcheck.errors import BadInput, BoundcheckError, UnknownName, shown
from boundcheck.methods.build import build as build_method
from boundcheck.networks.study.check import check
from boundcheck.networks.study.runs import Array, Ran, Tried
from boundcheck.networks.study.spec import Case, Spec, Trained, settings

SCHEMA = 1
KIND = "boundcheck recorded training"
MAX_READ = 16 * 1024 * 1024  # bytes of a file
DIGITS = 9  # significant digits of the numbers in a file, more than float32 has


def _finite_or_text(value: Any) -> Any:
    """JSON has no infinity: a diverged run is written as text."""
    return float(value) if value in ("inf", "-inf", "nan") else value


Value = Annotated[float, BeforeValidator(_finite_or_text)]
Text = Annotated[str, Field(max_length=500)]
Hours = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class RecordedRun(_Model):
    """A method of a row: the setting that was chosen, and metric -> a list of values for each seed, at every x."""

    method: Text
    tried: dict[str, Any]
    rounds: Annotated[int, Field(ge=0)]
    certain: bool
    x: list[Value]
    samples: dict[str, list[list[Value]]]


class RecordedTried(_Model):
    """A setting that was tried out; see `runs.Tried`."""

    method: Text
    values: dict[str, str]
    value: Value


class RecordedRow(_Model):
    """A case of the table. processor_hours: of all its runs, those that chose the settings included."""

    case: Text
    processor_hours: Hours
    tried: list[RecordedTried]
    runs: list[RecordedRun]


class Record(_Model):
    """A table and what came out.

    recorded: the day (ISO). command: makes the file, all rows at once. code: the digest of `modules`, those that
    computed the runs. versions: of Python and packages, and the kind of processor. unfinished: processor hours of rows
    that were cut off.
    """

    schema_: Literal[1] = Field(alias="schema")
    kind: Literal["boundcheck recorded training"]
    recorded: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    command: Text
    code: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    modules: list[Annotated[str, Field(pattern=r"^boundcheck([.][a-z0-9_]+)+$", max_length=200)]]
    versions: dict[str, Text]
    table: dict[str, Any]
    rows: list[RecordedRow]
    unfinished: dict[str, Hours] = Field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the table."""
        return self.spec.name

    @cached_property
    def spec(self) -> Spec:
        """The table."""
        return Spec.model_validate(self.table)

    @property
    def processor_hours(self) -> float:
        """Of all rows."""
        return sum(row.processor_hours for row in self.rows)

    @cached_property
    def cases(self) -> tuple[RecordedCase, ...]:
        """The rows as the page wants them. Raises BadInput for rows that the table does not have, or has once."""
        labels = [row.case for row in self.rows]
        for label in labels:
            if labels.count(label) > 1:
                raise BadInput(f"it has the row '{label}' twice.")
        return tuple(self._case(row) for row in self.rows)

    def _case(self, row: RecordedRow) -> RecordedCase:
        spec = self.spec
        case = next((c for c in spec.all_cases if c.label == row.case), None)
        if case is None:
            raise UnknownName("the row", row.case, [c.label for c in spec.all_cases])
        if [run.method for run in row.runs] != [m.label for m in spec.methods]:
            raise BadInput(f"the row '{row.case}' does not have the methods of its table, in their order.")
        runs: list[Ran] = []
        for run, method in zip(row.runs, spec.methods, strict=True):
            one = next((t for t in settings(case, method) if _texts(t.tried) == _texts(run.tried)), None)
            if one is None:
                raise BadInput(f"the row '{row.case}' has a setting of '{run.method}' that the table does not try.")
            samples = {name: np.array(values, dtype=np.float64) for name, values in run.samples.items()}
            shape = (spec.seeds, len(run.x))
            if set(samples) != set(spec.measured) or any(values.shape != shape for values in samples.values()):
                raise BadInput(
                    f"the row '{row.case}' does not hold {', '.join(spec.measured)} of '{run.method}', "
                    f"{shape[0]} seeds at {shape[1]} rounds each."
                )
            x = np.array(run.x, dtype=np.float64)
            if len(x) == 0 or not (np.isfinite(x).all() and (np.diff(x) >= 0).all()):
                raise BadInput(f"the row '{row.case}' has rounds or times of '{run.method}' that are not in order.")
            runs.append(Ran(one, build_method(one.spec), run.rounds, x, samples, run.certain, one.spec))
        tried = tuple(Tried(t.method, t.values, t.value) for t in row.tried)
        return RecordedCase(case, tuple(runs), tried)

    def code_now(self) -> str | None:
        """The digest of the same modules here; None where one of them is not there any more."""
        try:
            return code_digest(self.modules)
        except Undigestible:
            return None


@dataclass(frozen=True)
class RecordedCase:
    """A row: its case, the runs in the order of the table's methods, and what was tried out before."""

    case: Case
    runs: tuple[Ran, ...]
    tried: tuple[Tried, ...]

    @property
    def chosen(self) -> dict[str, Trained]:
        """By method, the setting that was run."""
        return {run.label: run.trained for run in self.runs}


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items()}


def versions() -> dict[str, str]:
    """What the bits of a run depend on besides the code and the specification."""
    import platform

    names = ("numpy", "numba", "scipy", "torch")
    found = {name: package_version(name) or "absent" for name in ("boundcheck", *names)}
    kind = "" if found["torch"] == "absent" else _processor()
    return {**found, "python": platform.python_version(), "processor": f"{platform.machine()} {kind}".strip()}


def _processor() -> str:
    from boundcheck.networks.engine.device import library

    return str(library().backends.cpu.get_cpu_capability())


def read(path: Path, *, begun: bool = False) -> Record:
    """The record in a file. begun: also one without rows. Raises BadInput, one sentence, for what is none."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_READ + 1)
    except OSError as error:
        raise BadInput(f"the record {path} cannot be read: {reason(error)}.") from error
    except ValueError as error:  # a NUL in the name
        raise BadInput(f"the record {path} cannot be read: {error}.") from error
    if len(content) > MAX_READ:
        raise BadInput(f"the record {path} has more than {MAX_READ // 2**20} MiB, which is more than is read.")
    try:
        data = json.loads(content)
    except RecursionError as error:
        raise BadInput(f"the record {path} is nested too deeply to be read.") from error
    except ValueError as error:
        raise BadInput(f"the record {path} is not JSON: {error}.") from error
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise BadInput(f'the file {path} is no record of training: it lacks "kind": "{KIND}".')
    if data.get("schema") != SCHEMA:
        raise BadInput(f"the record {path} has schema {shown(repr(data.get('schema')))}; this version reads {SCHEMA}.")
    try:
        record = Record.model_validate(data)
        check(record.spec)
        assert len(record.cases) == len(record.rows)  # reads every row
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"the record {path} is malformed at {where or 'its top'}: {first['msg']}.") from error
    except BoundcheckError as error:
        raise BadInput(f"the record {path} is malformed: {error}") from error
    if not (begun or record.rows):
        raise BadInput(f"the record {path} has no rows.")
    return record


def text_of(record: Record) -> str:
    """The file of a record: JSON, one line for each entry and each run."""

    def short(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    data = record.model_dump(by_alias=True, exclude={"rows"})
    if not data["unfinished"]:
        del data["unfinished"]
    lines = [f" {short(name)}: {short(value)}," for name, value in data.items()]
    rows: list[str] = []
    for row in record.rows:
        parts = [f'  {{"case": {short(row.case)}, "processor_hours": {row.processor_hours:.4g}, "tried": [']
        parts += _listed(short(_plain(t.model_dump())) for t in row.tried)
        parts += ['   ], "runs": [', *_listed(short(_plain(run.model_dump())) for run in row.runs), "   ]}"]
        rows.append("\n".join(parts))
    return "\n".join(["{", *lines, ' "rows": [', ",\n".join(rows), " ]", "}"]) + "\n"


def _listed(texts: Iterable[str]) -> list[str]:
    found = [f"    {text}," for text in texts]
    return [*found[:-1], found[-1][:-1]] if found else []


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(v) for name, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
    return value


def row_of(case: str, runs: Sequence[Ran], tried: Sequence[Tried], processor_hours: float) -> RecordedRow:
    """The row of a case that was carried out."""

    def values(samples: Array) -> list[list[float]]:
        return [[float(v) for v in row] for row in samples]

    return RecordedRow(
        case=case,
        processor_hours=processor_hours,
        tried=[RecordedTried(method=t.label, values=dict(t.values), value=float(t.value)) for t in tried],
        runs=[
            RecordedRun(
                method=run.label,
                tried=dict(run.trained.tried),
                rounds=run.rounds,
                certain=run.certain,
                x=[float(v) for v in run.x],
                samples={name: values(samples) for name, samples in run.samples.items()},
            )
            for run in runs
        ],
    )
