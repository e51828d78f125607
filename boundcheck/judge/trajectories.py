"""Run an implementation, check what it returns, and make a curve of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.errors import BadInput
from boundcheck.judge.task import Task
from boundcheck.problems.problem import Floats, Problem, optional
from boundcheck.setting.metrics import unknown_metric

Run = Callable[[Task, int], Any]


@dataclass(frozen=True)
class Trajectories:
    """What an implementation returned, one row a seed.

    points: (S, rounds + 1, d) iterates from the start on, or None where it returned metrics. metrics: name ->
    (S, rounds + 1), or (S, rounds) where the start was left out: `first` is the round of the first column. roundoff:
    of the numbers as they were returned, 2^-53 for float64 and 2^-24 for float32.
    """

    points: Floats | None
    metrics: Mapping[str, Floats]
    first: int
    roundoff: float = 2.0**-53

    def measured(self, problem: Problem, names: Sequence[str]) -> dict[str, Floats]:
        """Metrics by name, (S, columns): of the iterates, or as returned. Raises BadInput for a missing one."""
        if self.points is None:
            for name in names:
                if name not in self.metrics:
                    given = ", ".join(sorted(self.metrics))
                    raise BadInput(f"the implementation returned no metric '{name}'; it returned {given}.")
            return {name: self.metrics[name] for name in names}
        flat = self.points.reshape(-1, self.points.shape[-1])
        shape = self.points.shape[:2]
        return {name: _metric(problem, name, flat).reshape(shape) for name in names}

    def curve(self, problem: Problem, names: Sequence[str]) -> Curve:
        """A sampled curve of these metrics; nothing is known of the method that made it."""
        found = self.measured(problem, names)
        columns = next(iter(found.values())).shape[1]
        return Curve(
            rounds=np.arange(self.first, self.first + columns),
            values={name: rows.mean(axis=0) for name, rows in found.items()},
            arithmetic=Arithmetic.SAMPLED,
            samples=found,
            expectation=True,
            info={"engine": "implementation"},
        )


def follow(run: Run, task: Task, seeds: Sequence[int]) -> Trajectories:
    """What `run(task, seed)` returns for each seed.

    Iterates: (rounds + 1, d) from the start on, or (rounds, d) without it; metrics: a mapping from names to as many
    values. Torch and JAX arrays are converted. Raises BadInput where a shape is another, iterates do not begin at the
    start, or seeds return different things. An error inside `run` is the caller's own and passes through.
    """
    both = [_parsed(run(task, seed), task, seed) for seed in seeds]
    if not both:
        raise BadInput("seeds: an implementation needs at least 1.")
    returned, roundoff = [found for found, _ in both], max(unit for _, unit in both)
    names = sorted(returned[0])
    for seed, found in zip(seeds, returned, strict=True):
        if sorted(found) != names or any(found[n].shape != returned[0][n].shape for n in names):
            raise BadInput(f"seed {seed} returned {_words(found)}, seed {seeds[0]} {_words(returned[0])}.")
    stacked = {name: np.stack([found[name] for found in returned]) for name in names}
    if names == [""]:
        return Trajectories(stacked[""], {}, 0, roundoff)
    columns = stacked[names[0]].shape[1]
    return Trajectories(None, stacked, task.rounds + 1 - columns, roundoff)


def _words(found: Mapping[str, Floats]) -> str:
    return ", ".join(f"{name or 'iterates'} of shape {rows.shape}" for name, rows in sorted(found.items()))


def _parsed(value: Any, task: Task, seed: int) -> tuple[dict[str, Floats], float]:
    """The iterates with the start under the name "", or the metrics by name; and the roundoff of these numbers."""
    if isinstance(value, Mapping):
        if not value or not all(isinstance(name, str) and name for name in value):
            raise BadInput(f"seed {seed}: the implementation returned a mapping that does not go from names to values.")
        given = {str(name): _numbers(rows, f"seed {seed}: the metric '{name}'") for name, rows in value.items()}
        found = {name: rows for name, (rows, _) in given.items()}
        lengths = {rows.shape for rows in found.values()}
        if len(lengths) != 1 or lengths.pop() not in ((task.rounds,), (task.rounds + 1,)):
            raise BadInput(
                f"seed {seed}: the implementation returned {_words(found)}; each metric needs {task.rounds} values, "
                f"one after each round, or {task.rounds + 1} with the start."
            )
        return found, max(unit for _, unit in given.values())
    points, unit = _numbers(value, f"seed {seed}: the iterates")
    if points.ndim == 1 and task.dimension == 1:
        points = points[:, None]
    if points.shape == (task.rounds, task.dimension):
        return {"": np.concatenate([np.asarray(task.problem.start, dtype=np.float64)[None], points])}, unit
    if points.shape != (task.rounds + 1, task.dimension):
        raise BadInput(
            f"seed {seed}: the implementation returned iterates of shape {points.shape}; ({task.rounds}, "
            f"{task.dimension}), one after each round, or ({task.rounds + 1}, {task.dimension}) with the start, is "
            "needed."
        )
    begin = np.asarray(task.problem.start, dtype=np.float64)
    if not np.allclose(points[0], begin, rtol=max(1e-6, 2 * unit), atol=1e-12):
        raise BadInput(f"seed {seed}: {task.rounds + 1} iterates begin with the start {begin}, not with {points[0]}.")
    return {"": points}, unit


def _numbers(value: Any, what: str) -> tuple[Floats, float]:
    """An array in double precision, and the unit roundoff of what was given."""
    rows: Any = value
    if isinstance(value, list | tuple):
        parts: list[Any] = [_detached(v) for v in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        rows = parts
    odd = ""
    try:
        given = np.asarray(_detached(rows))
        kind, odd = given.dtype.kind, f"{type(value).__name__} of {given.dtype}"
        if kind in "cSUmM" or (kind == "O" and not all(isinstance(v, Real) for v in given.flat)):
            raise TypeError(odd)
        found = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"{what}: {odd or type(value).__name__} is no array of real numbers.") from error
    lost = np.argwhere((found != given) & (given == given))
    if len(lost):
        first = given[tuple(lost[0])]
        raise BadInput(f"{what} are of type {given.dtype}; {first} of them is no number in double precision.")
    return found, float(np.finfo(given.dtype).eps) / 2 if kind == "f" else 2.0**-53


def _detached(value: Any) -> Any:
    """A tensor of torch without its graph; anything else as it is."""
    detach = getattr(value, "detach", None)
    return value if detach is None else detach().cpu().numpy()


def _metric(problem: Problem, name: str, points: Floats) -> Floats:
    """A metric at each row of points; infinite where a point is not finite."""
    found = np.full(len(points), np.inf)
    finite = np.isfinite(points).all(axis=1)
    if name not in problem.metrics:
        raise unknown_metric(problem, name)
    if not finite.any():
        return found
    many = optional(problem, "metric_many")
    if many is not None:
        found[finite] = many(name, points[finite])
    else:
        found[finite] = [float(problem.metric(name, row)) for row in points[finite]]
    return found
