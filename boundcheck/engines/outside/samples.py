"""Rounds and values as a `Curve`: of one run, of many seeds, or of means with their standard errors."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import parse_number
from boundcheck.engines.curve_parts import Arithmetic
from boundcheck.engines.outside import ENGINE
from boundcheck.engines.outside.columns import Series, find_series
from boundcheck.engines.outside.tables import NO_NUMBERS, Table
from boundcheck.errors import BadInput, shown

if TYPE_CHECKING:
    from boundcheck.engines.curve import Curve

LEVEL = 0.999
_PLAIN = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,4})?")


def curve_of_table(
    cls: type[Curve],
    table: Table,
    roles: Mapping[str, str],
    metric: str | None,
    *,
    wanted: str | None = None,
    level: float = LEVEL,
    deterministic: bool = False,
) -> Curve:
    """The curve of a table.

    metric: what its values are called; wanted: the metric that a statement is about.
    """
    found = find_series(table, roles, wanted or metric)
    if metric is not None and len(found) > 1:
        named = ", ".join(f"'{s.name}'" for s in found)
        raise BadInput(f"the curve {table.where} has several metrics ({named}); name the column of the one: value.")
    parts = [_of_series(cls, table, series, metric or wanted or series.name, level, deterministic) for series in found]
    facts: dict[str, Any] = {"source": table.where, "columns": "; ".join(dict.fromkeys(s.how for s in found))}
    facts["round_column"] = found[0].round_column
    facts |= {"sha256": table.sha256} if table.sha256 else {}
    return merged(cls, parts, f"the curve {table.where}", {**facts, "names": [s.name for s in found]})


def merged(cls: type[Curve], parts: Sequence[Curve], where: str, facts: Mapping[str, Any] | None = None) -> Curve:
    """One curve with the metrics of several, which have the same rounds and seeds. facts: further entries of `info`."""
    first = parts[0]
    for other in parts[1:]:
        if not np.array_equal(first.rounds, other.rounds) or first.info["seeds"] != other.info["seeds"]:
            names = [next(iter(part.values)) for part in (first, other)]
            raise BadInput(
                f"{where}: '{names[0]}' and '{names[1]}' have values at other rounds or seeds; read one of them."
            )
    rows: dict[str, Any] = {
        part: {name: row for curve in parts for name, row in getattr(curve, part).items()}
        for part in ("values", "low", "high", "samples")
    }
    errors = {name: row for curve in parts for name, row in curve.info.get("standard_error", {}).items()}
    info = {**first.info, **(facts or {}), **({"standard_error": errors} if errors else {})}
    return cls(rounds=first.rounds, arithmetic=first.arithmetic, expectation=first.expectation, info=info, **rows)


def _of_series(
    cls: type[Curve], table: Table, series: Series, metric: str | None, level: float, deterministic: bool
) -> Curve:
    where = f"the curve {table.where}"
    if metric is None:
        raise BadInput(f"{where} does not say what its values are; name the metric, such as metric = 'gap'.")
    rows: dict[Any, tuple[list[int], list[float], list[float]]] = {}
    seen: dict[tuple[Any, int], int] = {}
    for at, seed, value, error, number in series.rows:
        place = f"{where}: row {number}"
        if series.seeded and seed is None:
            raise BadInput(f"{place} has no seed; each row of a table with seeds has one.")
        done = _round(at, place)
        before = seen.setdefault((seed, done), number)
        if before != number:
            raise BadInput(
                f"{place} gives round {done}{_of(seed)} again, which row {before} has; each round"
                + (" of a seed stands once." if series.seeded else " stands once, or a column 'seed' tells runs apart.")
            )
        rounds, values, errors = rows.setdefault(seed, ([], [], []))
        if rounds and done < rounds[-1]:
            raise BadInput(f"{place} has round {done}{_of(seed)} after round {rounds[-1]}; rounds increase.")
        rounds.append(done)
        values.append(_number(value, f"{place}: the value"))
        if series.with_error:
            errors.append(_error(error, place))
    if not rows:
        raise BadInput(f"{where} has no values of '{metric}'.")
    first, (rounds, values, errors) = next(iter(rows.items()))
    for seed, (own, _, _) in rows.items():
        if own != rounds:
            odd = min(set(own) ^ set(rounds))
            lacking, other = (first, seed) if odd in own else (seed, first)
            raise BadInput(
                f"{where}: seed {shown(str(lacking))} has no round {odd}, which seed {shown(str(other))} has; each "
                "seed has all rounds."
            )
    table_of_seeds = [row for _, row, _ in rows.values()] if series.seeded else values
    if series.with_error and series.seeded:
        raise BadInput(f"{where} has seeds and standard errors; take the seeds, or one row a round of their means.")
    seeds = [str(seed) for seed in rows] if series.seeded else None
    return from_samples(
        cls,
        rounds,
        table_of_seeds,
        metric,
        standard_error=errors if series.with_error else None,
        seeds=seeds,
        level=level,
        deterministic=deterministic,
        where=where,
    )


def from_samples(
    cls: type[Curve],
    rounds: Any,
    values: Any,
    metric: str,
    *,
    standard_error: Any = None,
    seeds: Iterable[Any] | None = None,
    level: float = LEVEL,
    deterministic: bool = False,
    where: str = "the curve",
) -> Curve:
    """See `Curve.from_samples`."""
    if not isinstance(cast("Any", metric), str) or not metric:
        raise BadInput(f"{where}: metric = {shown(metric)} is not allowed; a name such as 'gap' is.")
    places = [_round(v, f"{where}: round number {i}") for i, v in enumerate(_list(rounds, f"{where}: rounds"))]
    if not places:
        raise BadInput(f"{where} has no rounds; at least one is needed.")
    late = next((i for i in range(1, len(places)) if places[i] <= places[i - 1]), None)
    if late is not None:
        raise BadInput(f"{where} has round {places[late]} after round {places[late - 1]}; rounds increase strictly.")
    rows = _list(values, f"{where}: values")
    nested = bool(rows) and not isinstance(rows[0], str) and hasattr(rows[0], "__len__")
    table = [_floats(row, len(places), where, f" of seed {i}") for i, row in enumerate(rows if nested else [rows])]
    found = np.array(table)
    labels = None if seeds is None else [str(s) for s in _list(seeds, f"{where}: seeds")]
    info: dict[str, Any] = {"engine": ENGINE, "seeds": None, **({"deterministic": True} if deterministic else {})}
    if nested or labels is not None:
        if deterministic and len(found) > 1:
            raise BadInput(
                f"{where} has {len(found)} seeds, but is said to be deterministic; one row a round is allowed."
            )
        return _of_seeds(cls, np.array(places), found, metric, labels, info, where, standard_error)
    low, high = {}, {}
    if standard_error is not None:
        if not 0.5 <= level < 1:
            raise BadInput(f"{where}: level = {shown(level)} is not allowed; 0.5 <= level < 1 is.")
        errors = np.array(_floats(standard_error, len(places), where, " of the standard errors"))
        if not ((errors >= 0) & np.isfinite(errors)).all():
            raise BadInput(f"{where}: a standard error is {errors.min():g}; finite ones of at least 0 are allowed.")
        reach = NormalDist().inv_cdf(1 - (1 - level) / (2 * len(places))) * errors
        low, high = {metric: found[0] - reach}, {metric: found[0] + reach}
        info["standard_error"] = {metric: errors.tolist()}
        info["normal"] = (
            f"that the mean at each of the {len(places)} rounds is normal about the expectation with the given "
            f"standard error (all within their intervals with probability {level:g})"
        )
    return cls(np.array(places), {metric: found[0]}, Arithmetic.FLOAT64, low=low, high=high, info=info)


def _of_seeds(
    cls: type[Curve],
    rounds: NDArray[Any],
    found: NDArray[np.float64],
    metric: str,
    labels: list[str] | None,
    info: Mapping[str, Any],
    where: str,
    standard_error: Any,
) -> Curve:
    if standard_error is not None:
        raise BadInput(f"{where} has seeds and standard errors; take the seeds, or their means with standard errors.")
    labels = [str(i) for i in range(len(found))] if labels is None else labels
    if len(labels) != len(found):
        raise BadInput(f"{where} has {len(found)} rows of values and {len(labels)} seeds; each row has one seed.")
    twice = next((s for s in labels if labels.count(s) > 1), None)
    if twice is not None:
        raise BadInput(f"{where} has the seed {shown(twice)} twice; seeds are independent runs and differ.")
    if len(found) > 1 and (found == found[0]).all() and len(np.unique(found[0])) > 1:
        raise BadInput(
            f"{where}: all {len(found)} seeds have the same values; random runs need seeds that differ, and a run "
            "without anything random is one row a round without seeds."
        )
    with np.errstate(over="ignore"):
        mean = found.mean(axis=0)
    return cls(
        rounds,
        {metric: mean},
        Arithmetic.SAMPLED,
        samples={metric: found},
        expectation=True,
        info={**info, "seeds": {"count": len(found), "names": labels}},
    )


# --- cells ------------------------------------------------------------------------------------------------


def _list(given: Any, what: str) -> list[Any]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise BadInput(f"{what} = {shown(given)} is not allowed; a list of numbers is.")
    return list(cast("Iterable[Any]", given))


def _floats(row: Any, count: int, where: str, which: str) -> list[float]:
    cells = _list(row, f"{where}: the row{which}")
    if len(cells) != count:
        raise BadInput(f"{where} has {count} rounds and {len(cells)} values{which}; each round has one value.")
    return [_number(cell, f"{where}: value number {i}{which}") for i, cell in enumerate(cells)]


def _number(cell: Any, what: str) -> float:
    """The nearest double; infinity is a diverged run, NaN is refused."""
    value: float
    if isinstance(cell, str):
        if cell.lower().lstrip("+") in NO_NUMBERS:
            value = float(cell)
        elif _PLAIN.fullmatch(cell) is not None:
            value = _finite(float(cell), cell, what)
        else:
            value = _finite(nearest_float(parse_number(cell, what)), cell, what)
    elif isinstance(cell, bool):
        raise BadInput(f"{what} = {cell} is a truth value; a number is needed.")
    elif isinstance(cell, Fraction | int):
        value = _finite(nearest_float(Fraction(cell)), cell, what)
    elif isinstance(cell, numbers.Real):
        value = float(cell)
    else:
        value = _other(cell, what)
    if math.isnan(value) or value == -math.inf:
        raise BadInput(
            f"{what} is {value:g}; a diverged run has the value inf, and where nothing was recorded the cell is empty."
        )
    return value


def _finite(value: float, cell: Any, what: str) -> float:
    if not math.isfinite(value):
        raise BadInput(f"{what} = {shown(str(cell))} is beyond the largest double; a diverged run has the value inf.")
    return value


def _other(cell: Any, what: str) -> float:
    """Of a 0-dimensional array or tensor, a Decimal or an Integral of another library."""
    item = getattr(cell, "item", None)
    if item is not None and getattr(cell, "ndim", 0) == 0:
        return _number(item(), what)
    if type(cell).__name__ == "Decimal":
        return _number(str(cell), what)
    raise BadInput(f"{what} = {shown(cell)} is not a number; write 3, 1e-3, 1/3 or inf.")


def _error(cell: Any, place: str) -> float:
    if cell is None:
        raise BadInput(f"{place} has no standard error; each mean has one (0 where nothing is random).")
    return _number(cell, f"{place}: the standard error")


def _round(cell: Any, place: str) -> int:
    """A whole number of rounds, from 0."""
    if cell is None:
        raise BadInput(f"{place} has no round.")
    if isinstance(cell, str) and cell.lower().lstrip("+-") in {"inf", "infinity", "nan"}:
        raise BadInput(f"{place}: the round is {cell}; whole numbers from 0 are allowed.")
    if isinstance(cell, str):
        exact = parse_number(cell, f"{place}: the round")
    else:
        value = cell.item() if hasattr(cell, "item") and getattr(cell, "ndim", 0) == 0 else cell
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value):
            raise BadInput(f"{place}: the round {shown(value)} is not allowed; whole numbers from 0 are.")
        exact = Fraction(value) if isinstance(value, int | Fraction) else Fraction(float(value))
    if exact.denominator != 1 or not 0 <= exact < 2**62:
        raise BadInput(f"{place}: the round {shown(str(cell))} is not allowed; whole numbers from 0 are.")
    return int(exact)


def _of(seed: Any) -> str:
    return "" if seed is None else f" of seed {shown(str(seed))}"
