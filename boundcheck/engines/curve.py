"""What every engine returns: metrics by round, with what is known of their error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from boundcheck.certified.constant import Constant
from boundcheck.core.cards import Card
from boundcheck.engines.curve_parts import Arithmetic, Envelope, Floats, Ints, Rarest, checked_parts
from boundcheck.methods.parts import ServerMomentum
from boundcheck.setting.step_sizes import StepSizes
from boundcheck.verdict import plain


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

    # --- from and to other tools ----------------------------------------------------------------------------------

    @classmethod
    def from_samples(
        cls,
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
        from boundcheck.engines.outside.samples import from_samples

        return from_samples(
            cls,
            rounds,
            values,
            metric,
            standard_error=standard_error,
            seeds=seeds,
            level=level,
            deterministic=deterministic,
        )

    @classmethod
    def from_file(
        cls,
        path: Path | str,
        metric: str | None = None,
        *,
        level: float = 0.999,
        deterministic: bool = False,
        **columns: str,
    ) -> Curve:
        """The curve in a file: CSV, JSON, JSON lines or Parquet, by the file's name.

        The plain form has the columns round and value, and seed where there are several runs. Tables that Weights &
        Biases, MLflow and TensorBoard export are read, too. columns: round, value, seed, key (names of metrics in a
        long table) and stderr -> name of the column, where it has not its usual name; `info["columns"]` says what was
        taken. metric: what the values are, where the table does not say it. level: see `from_samples`.
        Raises BadInput in one sentence, MissingExtra for Parquet without a library that reads it.
        """
        from boundcheck.engines.outside.samples import curve_of_table
        from boundcheck.engines.outside.tables import read_table

        return curve_of_table(cls, read_table(path), columns, metric, level=level, deterministic=deterministic)

    @classmethod
    def from_csv(
        cls,
        path: Path | str,
        metric: str | None = None,
        *,
        level: float = 0.999,
        deterministic: bool = False,
        **columns: str,
    ) -> Curve:
        """The curve in a CSV file, whatever its name ends in; otherwise as `from_file`."""
        from boundcheck.engines.outside.samples import curve_of_table
        from boundcheck.engines.outside.tables import read_table

        return curve_of_table(
            cls, read_table(path, suffix=".csv"), columns, metric, level=level, deterministic=deterministic
        )

    @classmethod
    def from_frame(
        cls, frame: Any, metric: str | None = None, *, level: float = 0.999, deterministic: bool = False, **columns: str
    ) -> Curve:
        """The curve in a data frame of pandas, polars or pyarrow, in a mapping of columns, or in anything that pyarrow
        reads through `__arrow_c_stream__` or `__dataframe__`; otherwise as `from_file`.
        """
        from boundcheck.engines.outside.samples import curve_of_table
        from boundcheck.engines.outside.tables import frame_table

        return curve_of_table(cls, frame_table(frame), columns, metric, level=level, deterministic=deterministic)

    @classmethod
    def from_xarray(
        cls, data: Any, metric: str | None = None, *, level: float = 0.999, deterministic: bool = False, **columns: str
    ) -> Curve:
        """The curve in an xarray Dataset (one variable a metric) or DataArray.

        The dimensions are round, or seed and round; columns: "round" and "seed" -> other names. Raises BadInput.
        """
        from boundcheck.engines.outside.conversions import from_xarray

        return from_xarray(cls, data, metric, columns, level=level, deterministic=deterministic)

    def to_frame(self, library: str = "") -> Any:
        """A data frame with the columns round and one a metric, or a row for each seed and round.

        library: "pandas", "polars" or "pyarrow"; by default the first that is installed. Raises MissingExtra.
        """
        from boundcheck.engines.outside.conversions import to_frame

        return to_frame(self, library)

    def to_xarray(self) -> Any:
        """An xarray Dataset: one variable a metric, over round, or over seed and round. Raises MissingExtra."""
        from boundcheck.engines.outside.conversions import to_xarray

        return to_xarray(self)

    def plot(self, ax: Any = None, metric: str | None = None) -> Any:
        """Draws the metrics by round on a matplotlib axis (default: a new one) and returns the axis.

        The band is the enclosure of the value, or reaches from the least to the largest seed. metric: only this one.
        """
        from boundcheck.engines.outside.conversions import plot

        return plot(self, ax, metric)

    def _words(self) -> str:
        last = f", rounds {self.rounds[0]} to {self.rounds[-1]}" if len(self.rounds) else ""
        ends = ", ".join(f"{name} {v[0]:.4g} to {v[-1]:.4g}" for name, v in self.values.items() if len(v))
        how = self.info.get("engine", "sampled") if self.arithmetic is Arithmetic.SAMPLED else self.arithmetic.value
        return f"{how}, {len(self.rounds)} points{last}" + (f"; {ends}" if ends else "")

    def __repr__(self) -> str:
        return f"<Curve {self._words()}>"

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Curve:
        """Inverse of `to_dict`; what that leaves out (limits of samples, step sizes) is not there.

        Raises BadInput where an entry is missing or a part is wrong.
        """
        from boundcheck.engines.outside.conversions import from_dict

        return from_dict(Curve, data)

    def _card(self) -> Card:
        from boundcheck.engines.outside.conversions import columns_of

        columns = {name: column.tolist() for name, column in columns_of(self).items()}
        lines = {name: list(zip(self.rounds.tolist(), v.tolist(), strict=True)) for name, v in self.values.items()}
        return Card(f"Curve: {self._words()}", columns=columns, lines=lines)

    def _repr_html_(self) -> str:
        return self._card().html()

    def _repr_markdown_(self) -> str:
        return self._card().markdown()
