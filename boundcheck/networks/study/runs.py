"""The runs of a `[[training]]` table, as the page and the records have them.

Settings are chosen on seeds of their own; then every method runs with the same seeds. All runs go through the result
store: what is there is not run again, and what was cut off goes on from its checkpoint.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from boundcheck.core.digest import canonical
from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, Unsupported
from boundcheck.evidence.stored import run_or_recall
from boundcheck.methods.build import build as build_method
from boundcheck.methods.parts import Timed
from boundcheck.networks.study import surrogate
from boundcheck.networks.study.spec import Case, Choice, Comparison, MethodSpec, Spec, settings, with_values
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of
from boundcheck.setting import Setting

if TYPE_CHECKING:
    from boundcheck.core.store import Store
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

Array = NDArray[np.float64]
LOOKS = 12  # measurements within the last share of a run that a comparison takes a mean over
MAX_ROUNDS = 2_000_000  # aggregations up to the time of a run
DIGITS = 9  # significant digits of the numbers in a file, more than float32 has


def _read(value: Any) -> Any:
    return float(value) if value in ("inf", "-inf", "nan") else value


def _written(value: float) -> float | str:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)


# A diverged run is infinite, which JSON has no number for.
Value = Annotated[float, BeforeValidator(_read), PlainSerializer(_written, when_used="json")]
Text = Annotated[str, Field(max_length=500)]


class Recorded(BaseModel):
    """A part of the file of a record."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Tried(Recorded):
    """A setting that was tried out: parameter -> value as text, and the mean of the comparison (inf: diverged)."""

    method: Text
    values: dict[str, str]
    value: Value


class Run(Recorded):
    """A method of a case. tried: its setting; certain: it draws nothing at random; specification: as it was run.

    x: rounds or times (G,); samples: metric -> (S, G), one row a seed.
    """

    method: Text
    tried: dict[str, Any]
    rounds: Annotated[int, Field(ge=0)]
    certain: bool
    x: list[Value]
    samples: dict[str, list[list[Value]]]
    specification: dict[str, Any] = {}

    def values(self, comparison: Comparison) -> Array:
        """What methods are compared by, (S,): at the end, or over the last share of the run; nan: diverged."""
        x, samples = np.array(self.x), np.array(self.samples[comparison.metric])
        late = samples[:, x >= x[-1] * (1 - float(comparison.over)) - 1e-9] if comparison.over else samples[:, -1:]
        with np.errstate(invalid="ignore"):
            found = late.mean(axis=1) if comparison.take == "mean" else late.std(axis=1)
        return np.where(np.isfinite(found), found, np.nan)


class Row(Recorded):
    """A case: its runs in the order of the table's methods, and the settings that were tried out."""

    case: Text
    processor_hours: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    tried: list[Tried]
    runs: list[Run]


class Runs:
    """What the runs of a table share: problems that are built once, the store, and how much of the work is done."""

    def __init__(self, spec: Spec, store: Store | None = None, tell: Callable[[float], None] | None = None) -> None:
        self.spec, self.store, self.tell = spec, store, tell
        self.problems: dict[str, Problem] = {}
        counts = [len(list(settings(case, m))) for case in spec.all_cases.values() for m in spec.methods]
        self.done, self.total = 0, sum(count + (count > 1) for count in counts)

    def problem(self, case: Case) -> Problem:
        """The problem of a case."""
        key = canonical(self.spec.problem_of(case))
        if key not in self.problems:
            self.problems[key] = build_problem(self.spec.problem_of(case))
        return self.problems[key]

    def row(self, case: Case, chosen: Mapping[str, Choice] | None = None) -> Row:
        """Run a case. chosen: method -> setting; by default settings are tuned.

        Raises Unsupported for a method that the engine cannot carry, by name.
        """
        began, tried, runs = time.process_time(), list[Tried](), list[Run]()
        for method in self.spec.methods:
            one = self._tuned(case, method, tried) if chosen is None else chosen[method.label]
            runs.append(self._run(case, one, range(self.spec.seeds), self.spec.comparisons, self.spec.measured))
        return Row(case=case.label, processor_hours=(time.process_time() - began) / 3600, tried=tried, runs=runs)

    def _tuned(self, case: Case, method: MethodSpec, tried: list[Tried]) -> Choice:
        """The setting with the best mean, the first of equal ones; all of them are appended to `tried`."""
        options, by = list(settings(case, method)), self.spec.compare
        if len(options) == 1:
            return options[0]
        seeds, ranks = range(self.spec.seeds, self.spec.seeds + self.spec.tuning.seeds), list[float]()
        for option in options:
            value = float(self._run(case, option, seeds, [by], [by.metric], points=1).values(by).mean())
            tried.append(Tried(method=method.label, values={k: str(v) for k, v in option.tried.items()}, value=value))
            ranks.append((value if by.best == "lowest" else -value) if math.isfinite(value) else math.inf)
        return options[ranks.index(min(ranks))]

    def _run(
        self, case: Case, choice: Choice, seeds: range, by: Sequence[Comparison], names: list[str], points: int = 0
    ) -> Run:
        """points: rounds to measure at, by default those of the table; 1 is the last alone."""
        on = problem = self.problem(case)
        spec = resolved(choice, problem)
        method = build_method(spec)
        rounds, until = self.spec.length(case)
        ends = [0.0, *ends_until(method, problem, until)] if until is not None else range((rounds or 0) + 1)
        last, recorded, u = len(ends) - 1, names, None
        spread = [*np.linspace(last if points == 1 else 0, last, min(points or self.spec.points, last + 1))]
        for over in (float(c.over) for c in by if c.over):
            spread += [*np.linspace(last * (1 - over), last, LOOKS)]
        grid = sorted({math.ceil(v - 1e-9) for v in spread})
        if self.spec.surrogate is not None and set(names) & set(surrogate.METRICS):
            followed = next(m for m in self.spec.methods if m.label == self.spec.surrogate)
            u = surrogate.weights(problem, build_method(resolved(next(settings(case, followed)), problem)))
            on, recorded = surrogate.watched(problem, names)
        how: dict[str, Any] = {"neural": dict(self.spec.neural)} if self.spec.engine == "neural" else {}
        how |= {"engine": self.spec.engine, "rounds": grid, "metrics": tuple(recorded)}
        curve = run_or_recall(self.store, Setting(method, on), spec, seeds=seeds, on_progress=self._show, **how)
        self.done += 1
        self._show(0)
        samples = {name: np.asarray(curve.samples[name], dtype=np.float64) for name in recorded}
        samples |= {} if u is None else surrogate.complete(problem, u, samples, names)
        return Run(
            method=choice.method.label,
            tried=choice.tried,
            rounds=last,
            certain=not method.is_random(clients_of(problem)),
            x=[float(ends[n]) for n in grid],
            samples={name: samples[name].tolist() for name in names},
            specification=as_data(spec),
        )

    def _show(self, share: float) -> None:
        if self.tell is not None:
            self.tell(min(1.0, (self.done + share) / self.total))


def as_data(value: Any) -> Any:
    """A specification as JSON has it, fractions as text."""
    if isinstance(value, Mapping):
        return {str(name): as_data(v) for name, v in value.items()}
    if isinstance(value, list | tuple):
        return [as_data(v) for v in value]
    return str(value) if isinstance(value, Fraction) else value


def resolved(choice: Choice, problem: Problem) -> dict[str, Any]:
    """The method's specification, a step size of the busiest client turned into the method's own parameter."""
    name, clients = choice.method.of_busiest, clients_of(problem)
    if name is None:
        return dict(choice.spec)
    local = build_method(with_values(choice.spec, {name: 1})).local
    if local.by_cohort:
        raise Unsupported(f"'{choice.method.label}': of_busiest needs local work that does not depend on the cohort.")
    scales = [visit.scale for i in range(clients.count) for _, visit in local.visits(i, (i,), clients)]
    return with_values(choice.spec, {name: as_fraction(choice.tried[name], name) / min(scales)})


def ends_until(method: Method, problem: Problem, until: Fraction) -> list[float]:
    """The times of the aggregations up to a time. Raises Unsupported for random times, BadInput for none or many."""
    participation, count, found = method.participation, 16, list[float]()
    plan = participation.plan(clients_of(problem).count) if isinstance(participation, Timed) else None
    if plan is None:
        raise Unsupported(f"{method.name} has no fixed update times, which a run up to a time needs.")
    while len(found := [float(t) for t in map(plan.timetable(count).end, range(count)) if t <= until]) == count:
        if count >= MAX_ROUNDS:
            raise BadInput(f"{method.name} has more than {MAX_ROUNDS} aggregations up to the time {float(until):g}.")
        count *= 2
    if not found:
        raise BadInput(f"{method.name} has no aggregation up to the time {float(until):g}.")
    return found
