"""What every engine returns: metrics by round, with what is known of their error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from boundcheck.certified.constant import Constant
from boundcheck.core import providers
from boundcheck.core.cards import Card, axis, frame
from boundcheck.core.extras import needed_for
from boundcheck.engines.curve_parts import Arithmetic, Envelope, Floats, Ints, Rarest, checked_parts
from boundcheck.errors import BadInput, shown
from boundcheck.methods.parts import ServerMomentum
from boundcheck.setting.step_sizes import StepSizes
from boundcheck.verdict import plain


def _external() -> Any:
    """What reads curves that were measured elsewhere, in the room of evidence."""
    return providers.load(providers.CURVES, "external")


def _empty() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, repr=False)
class Curve:
    """Metrics of one run (or of many seeds of it) on a grid of rounds.

    Construction checks the parts and raises BadInput on the first one that is wrong: shapes, the order of the rounds,
    numbers (infinity is a diverged run and allowed, NaN is not), low <= value <= high, and that the arithmetic has the
    parts that belong to it and no others. The arrays are stored as read-only views.

    rounds: (R,) int64, rounds completed before the measurement, strictly increasing; 0 is the start.
    values: metric name -> (R,) float64: the value, or its expectation (exact engine) or mean over seeds.
    arithmetic: how they were computed.
    low, high: metric -> (R,) enclosure, rounded outwards; both for every metric of a RATIONAL or BALL curve, where it
    is rigorous. A FLOAT64 curve may have them; a SAMPLED one has none.
    exact: metric -> R fractions (every metric of a RATIONAL curve, none of another).
    samples: metric -> (S, R) one row a seed (every metric of a SAMPLED curve, none of another), seeds 0..S-1 in order.
    Their mean is `values`, which is NaN only where S = 0.
    envelopes: metric -> certain upper limits of every sample and how they are known (SAMPLED only; metrics without one
    are left out). rarest: the least probable of the random choices that the method makes in every round, None where no
    choice has a known probability.
    expectation: whether values are expectations over the method's randomness (False: one deterministic run, of which
    all rows of `samples` are equal).
    diverged: first round of the grid at which a value is not finite, or None.
    start: metric -> its exact value at round 0, where it is rational and recorded.
    constants: of the problem and of the method, by symbol name. assumptions: assumption name -> how it is known to hold
    at these constants, "decided" (by the problem, exactly) or "sampled" (at many points); violations: assumption
    name -> why the problem breaks it; a name in neither was not asked about or could not be answered.
    algorithms: names of the compositions that the method is an instance of (None: not recorded).
    parameters: names of the constants that are the method's own (None: not recorded). chosen: of each kind in
    algorithms the parameters with another value than their default (None: likewise). rounded_steps: whether the step
    sizes that ran are those of the method's formula only up to a rounding. step_sizes: those of the method, round by
    round (None: it has none, or they are not recorded). momentum: of its server (None: likewise).
    info: JSON-able facts (engine, seconds, precision, peak memory, specification digest).
    summaries: summaries over rounds ("mean gap", "least gap"; `engines.summaries`), each a curve of one metric whose
    value at round r is over the points after 0, ..., r rounds. again: finds a further one by carrying the
    same run out again; neither stored nor copied.
    """

    rounds: Ints
    values: Mapping[str, Floats]
    arithmetic: Arithmetic
    low: Mapping[str, Floats] = field(default_factory=_empty)
    high: Mapping[str, Floats] = field(default_factory=_empty)
    exact: Mapping[str, tuple[Fraction, ...]] = field(default_factory=_empty)
    samples: Mapping[str, Floats] = field(default_factory=_empty)
    envelopes: Mapping[str, Envelope] = field(default_factory=_empty)
    rarest: Rarest | None = None
    expectation: bool = False
    start: Mapping[str, Fraction] = field(default_factory=_empty)
    constants: Mapping[str, Constant] = field(default_factory=_empty)
    assumptions: Mapping[str, str] = field(default_factory=_empty)
    violations: Mapping[str, str] = field(default_factory=_empty)
    algorithms: tuple[str, ...] | None = None
    parameters: tuple[str, ...] | None = None
    chosen: Mapping[str, tuple[str, ...]] | None = None
    rounded_steps: bool = False
    step_sizes: StepSizes | None = None
    momentum: ServerMomentum | None = None
    info: Mapping[str, Any] = field(default_factory=_empty)
    summaries: Mapping[str, Curve] = field(default_factory=_empty)
    again: Callable[[Curve, Any], Curve | None] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name, part in checked_parts(self).items():
            object.__setattr__(self, name, part)

    @property
    def diverged(self) -> int | None:
        """First round of the grid with a value that is not finite, or None."""
        bad = np.zeros(len(self.rounds), dtype=bool)
        for v in self.values.values():
            bad |= ~np.isfinite(v)
        return int(self.rounds[int(np.argmax(bad))]) if bad.any() else None

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form: floats that JSON lacks as "inf", "-inf", "nan", fractions as text such as "1/3"."""

        def floats(of: Mapping[str, Floats]) -> dict[str, Any]:
            return {name: plain(v.tolist()) for name, v in of.items()}

        return {
            "schema": 1,
            "arithmetic": self.arithmetic.value,
            "rounds": self.rounds.tolist(),
            "values": floats(self.values),
            "low": floats(self.low),
            "high": floats(self.high),
            "exact": {name: [str(v) for v in row] for name, row in self.exact.items()},
            "samples": floats(self.samples),
            "expectation": self.expectation,
            "start": {name: str(v) for name, v in self.start.items()},
            "constants": {name: c.to_dict() for name, c in self.constants.items()},
            "assumptions": dict(self.assumptions),
            "violations": dict(self.violations),
            "algorithms": None if self.algorithms is None else list(self.algorithms),
            "info": plain(self.info),
            "summaries": {name: own.to_dict() for name, own in self.summaries.items()},
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Curve:
        """Inverse of `to_dict`; what that leaves out (limits of samples, step sizes) is not there.

        Raises BadInput where an entry is missing or a part is wrong.
        """
        try:
            arrays: dict[str, Any] = {
                part: {name: np.array(v, dtype=np.float64) for name, v in data[part].items()}
                for part in ("values", "low", "high", "samples")
            }
            return Curve(
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
                summaries={name: Curve.from_dict(own) for name, own in data.get("summaries", {}).items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, BadInput):
                raise
            raise BadInput(f"the data describe no curve: {type(error).__name__}: {shown(str(error))}.") from error

    # --- from and to other tools ----------------------------------------------------------------------------------

    @staticmethod
    def from_samples(
        rounds: Any,
        values: Any,
        metric: str,
        *,
        standard_error: Any = None,
        seeds: Iterable[Any] | None = None,
        level: float = 0.999,
        deterministic: bool = False,
    ) -> Curve:
        """A curve that was measured elsewhere.

        rounds: (R,) whole numbers from 0, increasing. values: (R,) of one run, or (S, R), one row a seed; numbers as
        everywhere (1e-3, "1/3"; inf is a diverged run). metric: what they are, such as "gap" or "dist2".
        standard_error: (R,) of values that are means; they are then taken to be normal about the expectation, and the
        curve has intervals that hold at all rounds together with probability `level`. seeds: names of the rows.
        deterministic: whether nothing in the run is random, so that one run has the expectation as its value.
        Raises BadInput in one sentence for anything malformed.
        """
        how: dict[str, Any] = {"standard_error": standard_error, "seeds": seeds, "level": level}
        return _external().from_samples(rounds, values, metric, deterministic=deterministic, **how)

    @staticmethod
    def from_file(
        path: Path | str,
        metric: str | None = None,
        *,
        level: float = 0.999,
        deterministic: bool = False,
        **columns: str,
    ) -> Curve:
        """The curve in a file: CSV, JSON, JSON lines or Parquet, by the file's name; pandas reads it.

        columns: round, value, seed (several runs), stderr (standard error of means) and key (names of metrics, where
        each has rows of its own) -> name of the column. A column that is called as its role need not be named, nor
        one of values that is called as the metric. A value with `*`, such as "gap seed *", names one column a seed.
        `info["columns"]` says what was taken. metric: what the values are; by default all metrics are read, by their
        columns. level: see `from_samples`. Raises BadInput in one sentence, MissingExtra without pandas.
        """
        external = _external()
        return external.curve_of_table(external.read_table(path), columns, metric, level, deterministic)

    @staticmethod
    def from_csv(
        path: Path | str,
        metric: str | None = None,
        *,
        level: float = 0.999,
        deterministic: bool = False,
        **columns: str,
    ) -> Curve:
        """The curve in a CSV file, whatever its name ends in; otherwise as `from_file`."""
        external = _external()
        table = external.read_table(path, suffix=".csv")
        return external.curve_of_table(table, columns, metric, level, deterministic)

    @staticmethod
    def from_frame(
        frame: Any, metric: str | None = None, *, level: float = 0.999, deterministic: bool = False, **columns: str
    ) -> Curve:
        """The curve in a data frame of pandas, polars or pyarrow, in a mapping of columns, or in anything that pyarrow
        reads through `__arrow_c_stream__` or `__dataframe__`; otherwise as `from_file`.
        """
        external = _external()
        return external.curve_of_table(external.frame_table(frame), columns, metric, level, deterministic)

    @staticmethod
    def from_xarray(
        data: Any, metric: str | None = None, *, level: float = 0.999, deterministic: bool = False, **columns: str
    ) -> Curve:
        """The curve in an xarray Dataset (one variable a metric) or DataArray.

        The dimensions are round, or seed and round; dimensions and variables are named as columns in `from_file`.
        """
        if hasattr(data, "to_dataset") and not hasattr(data, "data_vars"):
            data = data.to_dataset(name=metric or data.name or "value")
        if not hasattr(data, "data_vars"):
            raise BadInput(f"the data is {shown(type(data).__name__)}; an xarray Dataset or DataArray is allowed.")
        frame = data.to_dataframe().reset_index()
        return Curve.from_frame(frame, metric, level=level, deterministic=deterministic, **columns)

    def _columns(self) -> dict[str, Any]:
        """The curve as columns: round, metrics and, where it has them, their ends and standard errors; or a row for
        each seed and round."""
        count = len(self.rounds)
        if self.samples:
            seeds = len(next(iter(self.samples.values())))
            facts = self.info.get("seeds")
            names = facts.get("names") if isinstance(facts, Mapping) else None
            labels = np.array(names) if names is not None and len(names) == seeds else np.arange(seeds)
            columns: dict[str, Any] = {"seed": np.repeat(labels, count), "round": np.tile(self.rounds, seeds)}
            return columns | {name: rows.reshape(-1) for name, rows in self.samples.items()}
        columns = {"round": np.array(self.rounds)}
        errors = self.info.get("standard_error", {})
        for name, row in self.values.items():
            columns[name] = np.array(row)
            if name in errors:
                columns[f"{name}_stderr"] = np.array(errors[name])
            elif name in self.low:
                columns |= {f"{name}_low": np.array(self.low[name]), f"{name}_high": np.array(self.high[name])}
        return columns

    def to_frame(self, library: str = "") -> Any:
        """A data frame with the columns round and one a metric, or a row for each seed and round.

        library: "pandas", "polars" or "pyarrow"; by default the first that is installed. Raises MissingExtra.
        """
        return frame(self._columns(), library)

    def to_xarray(self) -> Any:
        """An xarray Dataset: one variable a metric, over round, or over seed and round. Raises MissingExtra."""
        with needed_for("an xarray Dataset"):
            xarray = import_module("xarray")
        columns = self._columns()
        if not self.samples:
            rows = {name: ("round", row) for name, row in columns.items() if name != "round"}
            return xarray.Dataset(rows, coords={"round": columns["round"]})
        labels = columns["seed"][:: len(self.rounds)]
        tables = {name: (("seed", "round"), np.array(rows)) for name, rows in self.samples.items()}
        return xarray.Dataset(tables, coords={"seed": labels, "round": np.array(self.rounds)})

    def plot(self, ax: Any = None, metric: str | None = None) -> Any:
        """Draws the metrics by round on a matplotlib axis (default: a new one) and returns the axis.

        The band is the enclosure of the value, or reaches from the least to the largest seed. metric: only this one.
        """
        if metric is not None and metric not in self.values:
            raise BadInput(f"the curve holds {', '.join(self.values) or 'nothing'}, not the metric '{shown(metric)}'.")
        ax = axis(ax)
        for name, row in self.values.items() if metric is None else [(metric, self.values[metric])]:
            (line,) = ax.plot(self.rounds, row, label=name)
            band = None
            if name in self.low:
                band = self.low[name], self.high[name]
            elif name in self.samples and len(self.samples[name]) > 1:
                band = self.samples[name].min(axis=0), self.samples[name].max(axis=0)
            if band is not None:
                ax.fill_between(self.rounds, *band, color=line.get_color(), alpha=0.2, linewidth=0)
        finite = [row[np.isfinite(row)] for row in self.values.values()]
        if all((row > 0).all() and len(row) for row in finite):
            ax.set_yscale("log")
        ax.set_xlabel("communication round")
        ax.legend()
        return ax

    def _words(self) -> str:
        last = f", rounds {self.rounds[0]} to {self.rounds[-1]}" if len(self.rounds) else ""
        ends = ", ".join(f"{name} {v[0]:.4g} to {v[-1]:.4g}" for name, v in self.values.items() if len(v))
        how = self.info.get("engine", "sampled") if self.arithmetic is Arithmetic.SAMPLED else self.arithmetic.value
        return f"{how}, {len(self.rounds)} points{last}" + (f"; {ends}" if ends else "")

    def __repr__(self) -> str:
        return f"<Curve {self._words()}>"

    def _card(self) -> Card:
        columns = {name: column.tolist() for name, column in self._columns().items()}
        lines = {name: list(zip(self.rounds.tolist(), v.tolist(), strict=True)) for name, v in self.values.items()}
        return Card(f"Curve: {self._words()}", columns=columns, lines=lines)

    def _repr_html_(self) -> str:
        return self._card().html()

    def _repr_markdown_(self) -> str:
        return self._card().markdown()
