"""A `Curve` from and to data frames and xarray, and its plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.certified.constant import Constant
from boundcheck.core.cards import axis, frame
from boundcheck.core.extras import needed_for
from boundcheck.engines.curve_parts import Arithmetic
from boundcheck.engines.outside.columns import ROUND, SEED
from boundcheck.engines.outside.samples import from_samples, merged
from boundcheck.errors import BadInput, shown

if TYPE_CHECKING:
    from boundcheck.engines.curve import Curve


def columns_of(curve: Curve) -> dict[str, Any]:
    """The curve as columns: round, metrics and, where it has them, their ends and standard errors; or a row for each
    seed and round."""
    count = len(curve.rounds)
    if curve.samples:
        seeds = len(next(iter(curve.samples.values())))
        facts = curve.info.get("seeds")
        names = facts.get("names") if isinstance(facts, Mapping) else None
        labels = np.array(names) if names is not None and len(names) == seeds else np.arange(seeds)
        columns: dict[str, Any] = {"seed": np.repeat(labels, count), "round": np.tile(curve.rounds, seeds)}
        return columns | {name: rows.reshape(-1) for name, rows in curve.samples.items()}
    columns = {"round": np.array(curve.rounds)}
    errors = curve.info.get("standard_error", {})
    for name, row in curve.values.items():
        columns[name] = np.array(row)
        if name in errors:
            columns[f"{name}_stderr"] = np.array(errors[name])
        elif name in curve.low:
            columns |= {f"{name}_low": np.array(curve.low[name]), f"{name}_high": np.array(curve.high[name])}
    return columns


def to_frame(curve: Curve, library: str = "") -> Any:
    """See `Curve.to_frame`."""
    return frame(columns_of(curve), library)


def from_dict(cls: type[Curve], data: Mapping[str, Any]) -> Curve:
    """See `Curve.from_dict`."""
    try:
        arrays: dict[str, Any] = {
            part: {name: np.array(v, dtype=np.float64) for name, v in data[part].items()}
            for part in ("values", "low", "high", "samples")
        }
        return cls(
            np.array(data["rounds"], dtype=np.int64),
            arithmetic=Arithmetic(data["arithmetic"]),
            **arrays,
            exact={name: tuple(Fraction(v) for v in row) for name, row in data["exact"].items()},
            expectation=data["expectation"],
            start={name: Fraction(v) for name, v in data["start"].items()},
            constants={name: Constant.from_dict(c) for name, c in data["constants"].items()},
            assumptions=data["assumptions"],
            violations=data["violations"],
            algorithms=None if data["algorithms"] is None else tuple(data["algorithms"]),
            info=data["info"],
            summaries={name: from_dict(cls, own) for name, own in data.get("summaries", {}).items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"the data describe no curve: {type(error).__name__}: {shown(str(error))}.") from error


def to_xarray(curve: Curve) -> Any:
    """See `Curve.to_xarray`."""
    xarray = _xarray()
    columns = columns_of(curve)
    if not curve.samples:
        rows = {name: ("round", row) for name, row in columns.items() if name != "round"}
        return xarray.Dataset(rows, coords={"round": columns["round"]})
    labels = columns["seed"][:: len(curve.rounds)]
    tables = {name: (("seed", "round"), np.array(rows)) for name, rows in curve.samples.items()}
    return xarray.Dataset(tables, coords={"seed": labels, "round": np.array(curve.rounds)})


def from_xarray(
    cls: type[Curve],
    data: Any,
    metric: str | None,
    roles: Mapping[str, str],
    *,
    level: float,
    deterministic: bool,
    where: str = "the xarray data",
) -> Curve:
    """See `Curve.from_xarray`."""
    if hasattr(data, "to_dataset") and not hasattr(data, "data_vars"):
        data = data.to_dataset(name=metric or data.name or "value")
    if not hasattr(data, "data_vars"):
        raise BadInput(f"{where} is {shown(type(data).__name__)}; an xarray Dataset or DataArray is allowed.")
    names = [str(name) for name in data.data_vars]
    errors = {name: f"{name}_stderr" for name in names if f"{name}_stderr" in names}
    kept = [n for n in names if n not in errors.values() and not _is_end(n, names)]
    if metric is not None and len(kept) == 1:
        renamed = {kept[0]: metric}
    elif metric is not None:
        if metric not in kept:
            raise BadInput(f"{where} holds {', '.join(kept) or 'nothing'}, not the metric '{shown(metric)}'.")
        kept, renamed = [metric], {}
    else:
        renamed = {}
    parts: list[Curve] = []
    for name in kept:
        rows = data[name]
        at, seed = _dimensions(rows, roles, f"{where}: '{name}'")
        table = rows.transpose(*((seed, at) if seed else (at,))).values
        error = data[errors[name]].values if name in errors else None
        seeds = None if seed is None else [str(s) for s in rows[seed].values]
        parts.append(
            from_samples(
                cls,
                rows[at].values,
                table,
                renamed.get(name, name),
                standard_error=error,
                seeds=seeds,
                level=level,
                deterministic=deterministic,
                where=where,
            )
        )
    if not parts:
        raise BadInput(f"{where} holds no metric.")
    return merged(cls, parts, where)


def _dimensions(rows: Any, roles: Mapping[str, str], where: str) -> tuple[str, str | None]:
    """The dimension of the rounds and that of the seeds."""
    own = [str(d) for d in rows.dims]
    named = {role: roles.get(role) for role in ("round", "seed")}
    for role, name in named.items():
        if name is not None and name not in own:
            raise BadInput(f"{where} has the dimensions {', '.join(own)}, none of which is the {role} '{shown(name)}'.")
    at = named["round"] or _usual(own, ROUND)
    seed = named["seed"] or _usual(own, SEED)
    if at is None or len(own) > 1 + (seed is not None):
        raise BadInput(f"{where} has the dimensions {', '.join(own)}; 'round', or 'seed' and 'round', are allowed.")
    return at, seed


def _usual(own: Sequence[str], names: Sequence[str]) -> str | None:
    return next((d for name in names for d in own if d.lower() == name), None)


def _is_end(name: str, names: Sequence[str]) -> bool:
    return any(name == f"{other}_{end}" for other in names for end in ("low", "high"))


def _xarray() -> Any:
    with needed_for("an xarray Dataset"):
        return import_module("xarray")


def plot(curve: Curve, ax: Any, metric: str | None) -> Any:
    """See `Curve.plot`."""
    if metric is not None and metric not in curve.values:
        raise BadInput(f"the curve holds {', '.join(curve.values) or 'nothing'}, not the metric '{shown(metric)}'.")
    ax = axis(ax)
    for name, row in curve.values.items() if metric is None else [(metric, curve.values[metric])]:
        (line,) = ax.plot(curve.rounds, row, label=name)
        band = None
        if name in curve.low:
            band = curve.low[name], curve.high[name]
        elif name in curve.samples and len(curve.samples[name]) > 1:
            band = curve.samples[name].min(axis=0), curve.samples[name].max(axis=0)
        if band is not None:
            ax.fill_between(curve.rounds, *band, color=line.get_color(), alpha=0.2, linewidth=0)
    finite = [row[np.isfinite(row)] for row in curve.values.values()]
    if all((row > 0).all() and len(row) for row in finite):
        ax.set_yscale("log")
    ax.set_xlabel("communication round")
    ax.legend()
    return ax
