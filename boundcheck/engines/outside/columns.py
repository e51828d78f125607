"""Which columns of a table hold the rounds, the seeds and the metrics: as the user names them, or by their usual names.

Read are long tables (a row for each round, seed and metric) and wide ones (a column for each metric, run or seed),
among them what Weights & Biases, MLflow and TensorBoard export. What was taken is said in `Series.how`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from boundcheck.engines.outside.tables import NO_NUMBERS, Table
from boundcheck.errors import BadInput, UnknownName, shown

# Names by which a column is found where the user names none, the best first; letters of either case.
ROUND = ("round", "rounds", "communication_round", "_step", "step", "global_step", "trainer/global_step", "iteration")
SEED = ("seed", "run", "run_id", "run id", "run_name", "trial", "replicate")
KEY = ("key", "metric", "tag", "variable")
VALUE = ("value", "values", "mean")
ERROR = ("stderr", "standard_error", "std_err", "sem")
CLOCK = ("wall time", "timestamp", "_timestamp", "_runtime", "time", "relative time", "index", "unnamed: 0", "")

ROLES = ("round", "value", "seed", "key", "stderr")
_WANDB = re.compile(r"(?P<run>.+) - (?P<metric>.+?)(?P<end>__MIN|__MAX)?")
_OF_SEED = re.compile(r"(?:(?P<metric>.+?)[ _./-]+)?(?:seed|run)[ _-]?(?P<seed>\d+)", re.IGNORECASE)
_ERROR_OF = re.compile(r"(?P<metric>.+)[ _](?:stderr|standard_error|std_err|sem)", re.IGNORECASE)


@dataclass(frozen=True)
class Series:
    """The cells of one metric. rows: (round cell, seed or None, value cell, standard error cell or None, row number).

    name: of the metric in the table; None where the table does not say what its values are. how: which columns were
    taken, as one phrase. round_column: that of the rounds. seeded: whether the table tells seeds apart.
    """

    name: str | None
    rows: Sequence[tuple[Any, Any, Any, Any, int]]
    how: str
    round_column: str
    seeded: bool
    with_error: bool


def find_series(table: Table, roles: Mapping[str, str], wanted: str | None = None) -> list[Series]:
    """The metrics of a table: the one that `roles["value"]` names, else the one called `wanted`, else all.

    roles: "round", "value", "seed", "key" (names of metrics in a long table) and "stderr" (standard error of the
    mean) -> name of the column; what is left out is found by its usual names. Raises UnknownName and BadInput where a
    column is missing or it is open which one is meant.
    """
    for role in roles:
        if role not in ROLES:
            raise UnknownName(f"the curve {table.where}: the role of a column", role, ROLES)
    columns = {role: _named(table, roles, role) for role in ("round", "seed", "key", "stderr")}
    columns["round"] = columns["round"] or _usual(table, ROUND, ())
    if columns["round"] is None:
        raise BadInput(
            f"the curve {table.where} has no column of rounds ({table.named()}); name it, such as round = "
            f"'{shown(next(iter(table.columns)))}'."
        )
    taken = {c for c in columns.values() if c is not None}
    for role, names in (("seed", SEED), ("key", KEY)):
        columns[role] = columns[role] or _usual(table, names, taken)
        taken |= {columns[role] or columns["round"]}
    if columns["key"] is not None and "key" not in roles and _usual(table, VALUE, taken) is None:
        taken -= {columns["key"]}  # a metric that is called metric
        columns["key"] = None
    other = {*CLOCK, *ROUND} - {str(roles.get("value")).lower()}  # what else counts time
    rest = [name for name in table.columns if name not in taken and name.lower() not in other]
    found = _long(table, columns, rest) if columns["key"] is not None else _wide(table, columns, roles, rest)
    return _chosen(table, found, roles.get("value"), wanted)


def _named(table: Table, roles: Mapping[str, str], role: str) -> str | None:
    name = roles.get(role)
    if name is not None and name not in table.columns:
        raise UnknownName(f"the curve {table.where}: the column of {role}", name, table.columns)
    return name


def _usual(table: Table, names: Sequence[str], taken: Any) -> str | None:
    """The first of the usual names that is a column, whatever its case."""
    lower = {name.lower(): name for name in reversed(list(table.columns)) if name not in taken}
    return next((lower[name] for name in names if name in lower), None)


def _chosen(table: Table, found: Mapping[str | None, Series], value: str | None, wanted: str | None) -> list[Series]:
    names = [name for name in found if name is not None]
    if value is not None:
        if value not in found and not (None in found and value.lower() in VALUE):
            raise UnknownName(f"the curve {table.where}: the column of values", value, names or VALUE)
        return [found[value] if value in found else found[None]]
    if not found:
        raise BadInput(f"the curve {table.where} has no column of values ({table.named()}).")
    if wanted is None:
        return list(found.values())
    if wanted in found:
        return [found[wanted]]
    if None in found:
        return [found[None]]
    told = ", ".join(f"'{shown(name)}'" for name in names)
    raise BadInput(
        f"the curve {table.where} holds {told}, none of which is called '{wanted}', the metric that the statement is "
        f"about; if one of them is that metric, say so: value = '{shown(names[0])}'."
    )


def _long(table: Table, columns: Mapping[str, str | None], rest: Sequence[str]) -> dict[str | None, Series]:
    """A row for each metric: its names stand in a column."""
    own = _usual(table, VALUE, [c for c in columns.values() if c is not None])
    key = columns["key"]
    if own is None or own not in rest or key is None:
        raise BadInput(f"the curve {table.where} has the metrics of '{key}' but no column of values ({table.named()}).")
    error = columns["stderr"] or _usual(table, ERROR, [c for c in columns.values() if c is not None])
    names = dict.fromkeys(str(name) for name in table.columns[key] if name is not None)
    how = _how(columns, f"values '{own}' of the metric that '{key}' names")
    every = list(_rows(table, columns, own, error))
    picked: dict[str, list[Any]] = {name: [] for name in names}
    for row, name in zip(every, table.columns[key], strict=True):
        if name is not None:
            picked[str(name)].append(row)
    return {
        name: Series(name, _present(rows), how, str(columns["round"]), columns["seed"] is not None, error is not None)
        for name, rows in picked.items()
    }


def _wide(
    table: Table, columns: Mapping[str, str | None], roles: Mapping[str, str], rest: Sequence[str]
) -> dict[str | None, Series]:
    """A column for each metric; or for each run ("run - metric" of Weights & Biases) or seed ("gap seed 3")."""
    for pattern, group in ((_WANDB, "run"), (_OF_SEED, "seed")):
        parts = {name: m for name in rest if (m := pattern.fullmatch(name)) is not None}
        if parts and roles.get("value") not in table.columns and columns["seed"] is None:
            return _of_runs(table, columns, parts, group)
    found: dict[str | None, Series] = {}
    lower = {name.lower() for name in rest}
    errors = {
        name: m["metric"]
        for name in rest
        if (m := _ERROR_OF.fullmatch(name)) is not None and (m["metric"].lower() in lower)
    }
    ends = {f"{name}_{end}" for name in lower for end in ("low", "high")}  # of enclosures
    common = columns["stderr"] or next((n for n in rest if n.lower() in ERROR), None)
    skipped = {*errors, common, *(n for n in rest if n.lower() in ends)}
    values = [n for n in rest if n not in skipped and _holds_numbers(table.columns[n])]
    value = roles.get("value")
    if value in table.columns and value not in values:
        values = [str(value)]
    for name in values:
        own = next((e for e, of in errors.items() if of.lower() == name.lower()), common if len(values) == 1 else None)
        if columns["stderr"] is not None and name == (value or name):
            own = columns["stderr"]
        how = _how(columns, f"values '{name}'") + (f", standard errors '{own}'" if own else "")
        rows = _present(list(_rows(table, columns, name, own)))
        key = None if name.lower() in VALUE and value is None else name
        found[key] = Series(key, rows, how, str(columns["round"]), columns["seed"] is not None, own is not None)
    return found


def _of_runs(
    table: Table, columns: Mapping[str, str | None], parts: Mapping[str, re.Match[str]], group: str
) -> dict[str | None, Series]:
    picked: dict[str | None, list[Any]] = {}
    runs: dict[str | None, list[str]] = {}
    for name, match in parts.items():
        if group == "run" and match["end"] is not None:
            _check_single(table, name, name.removesuffix(match["end"]))
            continue
        metric = match["metric"]
        runs.setdefault(metric, []).append(match[group])
        for at, _, value, _, number in _rows(table, columns, name, None):
            picked.setdefault(metric, []).append((at, match[group], value, None, number))
    return {
        metric: Series(
            metric,
            _present(rows),
            _how(
                columns,
                f"values of {len(runs[metric])} {group}{'s' if len(runs[metric]) > 1 else ''} in columns "
                f"such as '{next(n for n, m in parts.items() if m['metric'] == metric)}'",
            ),
            str(columns["round"]),
            len(runs[metric]) > 1 or group == "seed",
            with_error=False,
        )
        for metric, rows in picked.items()
    }


def _check_single(table: Table, end: str, middle: str) -> None:
    """BadInput where a chart of Weights & Biases averages runs or steps, of which it gives least and largest value."""
    if middle not in table.columns:
        return
    for number, (own, other) in enumerate(zip(table.columns[middle], table.columns[end], strict=True), 1):
        if own is not None and other is not None and str(own) != str(other):
            raise BadInput(
                f"the curve {table.where}: in row {number} '{shown(end)}' is {shown(str(other))} and '{shown(middle)}' "
                f"is {shown(str(own))}, so that this is a mean over runs or steps; export the runs one by one, without "
                "grouping or smoothing."
            )


def _rows(table: Table, columns: Mapping[str, str | None], value: str, error: str | None) -> Any:
    count = len(table)
    nothing: Sequence[Any] = [None] * count
    seed = nothing if columns["seed"] is None else table.columns[columns["seed"]]
    errors = nothing if error is None else table.columns[error]
    rounds = table.columns[str(columns["round"])]
    return zip(rounds, seed, table.columns[value], errors, range(1, count + 1), strict=True)


def _present(rows: Sequence[Any]) -> list[Any]:
    """Rows with a value: trackers leave the cells of what was not recorded at a step empty."""
    return [row for row in rows if row[2] is not None]


def _how(columns: Mapping[str, str | None], values: str) -> str:
    seeds = "" if columns["seed"] is None else f", seeds '{columns['seed']}'"
    return f"rounds '{columns['round']}'{seeds}, {values}"


def _holds_numbers(cells: Sequence[Any]) -> bool:
    """Whether the first entry looks like a number: columns of text are no metrics."""
    first = next((cell for cell in cells if cell is not None), None)
    if isinstance(first, str):
        return first.lower().lstrip("+-") in NO_NUMBERS or first.lstrip("+-")[:1].isdigit() or first[:1] == "."
    return first is not None and not isinstance(first, bool | Mapping | list)
