"""The runs of a `[[training]]` table: settings tuned on seeds of their own, then every method with the same seeds.

Each run, of all seeds of a method at once, goes through the result store, so that what is there is not run again and
what was cut off goes on from its checkpoint.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.digest import canonical
from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, Unsupported
from boundcheck.evidence.stored import run_or_recall
from boundcheck.methods.build import build as build_method
from boundcheck.methods.parts import Timed
from boundcheck.networks.study.client_losses import SURROGATE, Watched, watch
from boundcheck.networks.study.spec import (
    Case,
    Comparison,
    MethodSpec,
    Spec,
    Trained,
    problem_spec,
    settings,
    with_values,
)
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


@dataclass(frozen=True)
class Ran:
    """One method of one case, run. x: rounds or times (G,); samples: metric -> (S, G), one row a seed.

    certain: whether the method draws nothing at random. spec: the method's specification, as it was run.
    """

    trained: Trained
    method: Method
    rounds: int
    x: Array
    samples: Mapping[str, Array]
    certain: bool = False
    spec: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def label(self) -> str:
        """Of the method."""
        return self.trained.label


@dataclass(frozen=True)
class Tried:
    """A setting that was tried out: parameter -> value as text, and the mean of the comparison (inf: diverged)."""

    label: str
    values: Mapping[str, str]
    value: float


class CaseOutcome(Protocol):
    """What a page shows of a case: its runs, new or recorded, and what was tried out before."""

    @property
    def case(self) -> Case: ...

    @property
    def runs(self) -> tuple[Ran, ...]: ...

    @property
    def tried(self) -> tuple[Tried, ...]: ...


@dataclass(frozen=True)
class CaseRuns:
    """A case: its problem, the runs in the order of the table's methods, and what was tried out before."""

    case: Case
    problem: Problem
    watched: Watched | None
    runs: tuple[Ran, ...]
    tried: tuple[Tried, ...]


def carry_out(
    spec: Spec, store: Store | None = None, on_progress: Callable[[float], None] | None = None
) -> list[CaseRuns]:
    """All runs of a table. Raises Unsupported for a method that the engine cannot carry, by name."""
    work = _Work(spec, store, on_progress)
    return [work.case(case) for case in spec.all_cases]


def carry_out_case(
    spec: Spec,
    case: Case,
    store: Store | None = None,
    on_progress: Callable[[float], None] | None = None,
    chosen: Mapping[str, Trained] | None = None,
) -> CaseRuns:
    """One case. chosen: by method, the setting that is run; by default settings are tuned."""
    return _Work(spec.model_copy(update={"cases": [case] if spec.cases else []}), store, on_progress).case(case, chosen)


class _Work:
    """What the runs share: problems that are built once, the store, and how much of the work is done."""

    def __init__(self, spec: Spec, store: Store | None, on_progress: Callable[[float], None] | None) -> None:
        self.spec, self.store, self.on_progress = spec, store, on_progress
        self.problems: dict[str, Problem] = {}
        self.done = 0.0
        self.total = sum(self._weight(case, method) for case in spec.all_cases for method in spec.methods)

    def _weight(self, case: Case, method: MethodSpec) -> float:
        """Rounds times seeds of a method with its tuning, in a unit of the case (for the progress shown alone)."""
        count = sum(1 for _ in settings(case, method))
        rounds = self.spec.length(case)[0]
        share = 1.0 if rounds is None or self.spec.tuning.rounds is None else self.spec.tuning.rounds / rounds
        return (rounds or 1) * (self.spec.seeds + (count > 1) * count * self.spec.tuning.seeds * share)

    def case(self, case: Case, chosen: Mapping[str, Trained] | None = None) -> CaseRuns:
        wanted = problem_spec(self.spec, case)
        key = canonical(wanted)
        if key not in self.problems:
            self.problems[key] = build_problem(wanted)
        problem = self.problems[key]
        watched = None
        if self.spec.surrogate is not None:
            by = next(m for m in self.spec.methods if m.label == self.spec.surrogate)
            first = next(iter(settings(case, by)))
            watched = watch(problem, build_method(_resolved(first, problem)))
        runs: list[Ran] = []
        tried: list[Tried] = []
        for method in self.spec.methods:
            if chosen is None:
                found, one = self._tuned(case, method, problem, watched)
                tried += found
            else:
                one = chosen[method.label]
            runs.append(self._run(one, problem, watched))
        return CaseRuns(case, problem, watched, tuple(runs), tuple(tried))

    def _tuned(
        self, case: Case, method: MethodSpec, problem: Problem, watched: Watched | None
    ) -> tuple[list[Tried], Trained]:
        """What was tried out, and the setting with the best mean; the first of equal ones."""
        options = list(settings(case, method))
        if len(options) == 1:
            return [], options[0]
        comparison = self.spec.comparisons[0]
        sign = 1.0 if comparison.best == "lowest" else -1.0
        seeds = range(self.spec.seeds, self.spec.seeds + self.spec.tuning.seeds)
        found: list[Tried] = []
        for option in options:
            _, _, x, samples = self._samples(option, problem, watched, seeds, (comparison.metric,), tuning=True)
            value = float(value_of(comparison, x, samples[comparison.metric]).mean())
            found.append(Tried(method.label, {k: str(v) for k, v in option.tried.items()}, value))
        ranks = [sign * t.value if math.isfinite(t.value) else math.inf for t in found]
        return found, options[ranks.index(min(ranks))]

    def _run(self, trained: Trained, problem: Problem, watched: Watched | None) -> Ran:
        names = self.spec.measured
        method, rounds, x, samples = self._samples(trained, problem, watched, range(self.spec.seeds), names)
        certain = not method.is_random(clients_of(problem))
        return Ran(trained, method, rounds, x, samples, certain, _resolved(trained, problem))

    def _samples(
        self,
        trained: Trained,
        problem: Problem,
        watched: Watched | None,
        seeds: range,
        names: Sequence[str],
        *,
        tuning: bool = False,
    ) -> tuple[Method, int, Array, dict[str, Array]]:
        """The method, its rounds, x (G,) and metric -> (S, G)."""
        spec = _resolved(trained, problem)
        method = build_method(spec)
        rounds, time = self.spec.length(trained.case)
        if tuning and self.spec.tuning.rounds is not None and rounds is not None:
            rounds = min(rounds, self.spec.tuning.rounds)
        last = rounds if time is None else rounds_until(method, problem, time)
        assert last is not None
        grid = self._grid(last, few=tuning)
        own, on = tuple(names), problem
        derived = [] if watched is None else [name for name in names if name in SURROGATE]
        if watched is not None and derived:
            own, on = (*(name for name in names if name not in SURROGATE), *watched.losses), watched.problem
        how: dict[str, Any] = {"engine": self.spec.engine, "rounds": grid, "metrics": own}
        if self.spec.engine == "neural":
            how["neural"] = dict(self.spec.neural)
        size = last * len(seeds) if time is None else len(seeds)
        curve = run_or_recall(
            self.store,
            Setting(method, on),
            spec,
            seeds=seeds,
            on_progress=lambda share: self._show(share * size),
            **how,
        )
        self.done += size
        self._show(0)
        samples = {name: np.asarray(curve.samples[name], dtype=np.float64) for name in own}
        if watched is not None and derived:
            samples = watched.complete(samples, derived)
        x = np.array(grid, dtype=float) if time is None else _ends(method, problem, grid)
        return method, last, x, {name: samples[name] for name in names}

    def _grid(self, last: int, *, few: bool) -> list[int]:
        """The rounds to measure at: evenly spread, and some more in the last shares that are compared."""
        spread = [*np.linspace(last if few else 0, last, 1 if few else min(self.spec.points, last + 1))]
        for comparison in self.spec.comparisons[: 1 if few else None]:
            if comparison.over:
                spread += [*np.linspace(last * (1 - float(comparison.over)), last, LOOKS)]
        return sorted({math.ceil(v - 1e-9) for v in spread})

    def _show(self, more: float) -> None:
        if self.on_progress is not None:
            self.on_progress(min(1.0, (self.done + more) / max(self.total, 1.0)))


def _resolved(trained: Trained, problem: Problem) -> dict[str, Any]:
    """The specification, with a step size of the busiest client turned into the method's own parameter."""
    name = trained.method.of_busiest
    if name is None:
        return dict(trained.spec)
    clients = clients_of(problem)
    local = build_method(with_values(trained.spec, {name: 1})).local
    if local.by_cohort:
        raise Unsupported(f"'{trained.label}': of_busiest goes with local work that does not depend on the cohort.")
    scales = [visit.scale for i in range(clients.count) for _, visit in local.visits(i, (i,), clients)]
    return with_values(trained.spec, {name: as_fraction(trained.tried[name], name) / min(scales)})


def rounds_until(method: Method, problem: Problem, time: Fraction) -> int:
    """How many aggregations there are up to a time. Raises Unsupported for random times, BadInput for none or many."""
    plan = _plan(method, problem)
    count = 16
    while True:
        table = plan.timetable(count)
        if table.end(count - 1) > time:
            break
        if count >= MAX_ROUNDS:
            raise BadInput(f"{method.name} has more than {MAX_ROUNDS} aggregations up to the time {float(time):g}.")
        count *= 2
    found = sum(1 for n in range(count) if table.end(n) <= time)
    if found == 0:
        raise BadInput(f"{method.name} has no aggregation up to the time {float(time):g}.")
    return found


def _ends(method: Method, problem: Problem, grid: Sequence[int]) -> Array:
    """The times at which the rounds of a grid end."""
    table = _plan(method, problem).timetable(max(grid[-1], 1))
    return np.array([0.0 if n == 0 else float(table.end(n - 1)) for n in grid])


def _plan(method: Method, problem: Problem) -> Any:
    participation = method.participation
    if not isinstance(participation, Timed):
        raise BadInput(f"{method.name} has no update times, which a run up to a time needs.")
    plan = participation.plan(clients_of(problem).count)
    if plan is None:
        raise Unsupported(f"{method.name} has random update times; a run up to a time needs fixed ones.")
    return plan


def value_of(comparison: Comparison, x: Array, samples: Array) -> Array:
    """What methods are compared by, (S,): at the end, or the mean or deviation over the last share; nan: diverged."""
    if comparison.over == 0:
        found = samples[:, -1]
    else:
        late = samples[:, x >= x[-1] * (1 - float(comparison.over)) - 1e-9]
        with np.errstate(invalid="ignore"):
            found = late.mean(axis=1) if comparison.take == "mean" else late.std(axis=1)
    return np.where(np.isfinite(found), found, np.nan)
