"""Driving all seeds of a method through its rounds at once, metrics on the grid only."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core import streams
from boundcheck.core.arrays import MALFORMED
from boundcheck.core.digest import package_version
from boundcheck.core.store import Checkpoint
from boundcheck.engines.curve import Arithmetic, Curve, Floats, Ints
from boundcheck.engines.simulate.lowering import Lowered, lower
from boundcheck.engines.simulate.metrics import EPOCH_GRAD2
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.method import Method
from boundcheck.networks.engine.device import (
    Settings,
    Tensor,
    device_of,
    environment,
    library,
    name_of,
)
from boundcheck.networks.engine.local_step import prepare
from boundcheck.networks.engine.memory import Lanes, is_memory_error, lanes_that_fit
from boundcheck.networks.engine.metrics import METRICS, Metrics, metrics_of
from boundcheck.networks.engine.rounds import Looked, Rounds
from boundcheck.networks.engine.task import resolved, task_of
from boundcheck.problems.problem import Problem
from boundcheck.setting.metrics import of_a_round

MEMORY = 2 << 30  # bytes of recorded metrics and points


@dataclass(frozen=True, repr=False)
class NeuralCurve(Curve):
    """points: (S, G, dim) float64, the server's points at the recorded rounds, if they were kept."""

    points: Floats | None = None


def run_neural(
    method: Method,
    problem: Problem,
    rounds: int,
    seeds: int | range,
    metrics: Sequence[str],
    grid: Sequence[int] | None = None,
    settings: Settings | None = None,
    *,
    on_progress: Callable[[int, int], None] | None = None,
    checkpoint: Checkpoint | None = None,
    keep_points: bool = False,
) -> NeuralCurve:
    """Train a model with a method for many seeds at once and record metrics on a grid of rounds.

    seeds: a count (0..seeds-1) or a range; rows of the curve's samples follow its order. The plan of a seed (cohorts,
    work, samples) is that of `engines.simulate.plan`, bit for bit. metrics: see `networks.engine.metrics`. grid: rounds
    after which to record, increasing, at most `rounds`; by default every round.
    checkpoint: where the state is saved when that is due, and from which an interrupted run continues;
    it belongs to this very run. keep_points: the curve holds the server's points, at most 2 GiB of them.

    A seed whose point is not finite any more has diverged: all its metrics are +inf from then on, and it costs no more
    work. The same seeds, device, precision and lanes give the same bits. A method without randomness is run once and
    its row repeated.
    Raises BadInput, UnknownName, Unsupported (a method or problem that this engine cannot carry, a single visit that
    does not fit into the memory) and MissingExtra (torch is not installed).
    """
    began = time.perf_counter()
    settings = Settings() if settings is None else settings
    device = library().device(device_of(settings))
    wanted = seeds if isinstance(seeds, range) else range(seeds)
    recorded = _grid(grid, rounds)
    if not len(wanted):
        raise BadInput(f"seeds = {seeds} holds no seed; give a count of at least 1 or a range.")
    for seed in (wanted[0], wanted[-1]):
        streams.check_seed(seed)
    names = tuple(dict.fromkeys(metrics))
    for name in names:
        own = of_a_round().get(name)
        if own is not None and name not in METRICS:
            where = "sampled" if own.formula is None else "exact"
            raise Unsupported(f"the neural engine does not measure '{name}'; engine = '{where}' does.")
    with environment(settings, device):
        task = task_of(problem, settings)
        # "epoch_grad2" at a recorded round is about the one that starts there
        lowered = lower(resolved(method, problem), task.known, int(recorded[-1]) + (EPOCH_GRAD2 in names))
        check_method(lowered)
        look = metrics_of(task, problem, names, lowered)
        random = method.is_random(task.known)
        runs = np.array(wanted if random else wanted[:1], dtype=np.uint64)
        record = _record(names, len(runs), len(recorded), task.network.dim if keep_points else 0)
        lanes = Lanes(settings.lanes or lanes_that_fit(task, lowered, len(runs)))
        local = prepare(task, settings)
        try:
            steps = Rounds(lowered, local, runs, lanes)
            saving = checkpoint or Checkpoint()
            _carry_out(steps, look, record, recorded, saving, on_progress)
        except (RuntimeError, MemoryError) as error:
            if not is_memory_error(error):
                raise
            raise Unsupported(
                f"the memory does not hold the models of {len(runs)} seeds; run fewer seeds, or fewer clients that "
                "keep models."
            ) from None
    count = len(wanted)

    def rows(of_runs: Floats) -> Floats:
        return of_runs if random else np.repeat(of_runs, count, axis=0)

    samples = {name: rows(v) for name, v in record.values.items()}
    info: dict[str, object] = {
        "engine": "neural",
        "generator": "Philox4x32-10",
        "device": name_of(str(device)),
        "precision": settings.precision,
        "lanes": lanes.limit,
        "torch": package_version("torch"),
        "notices": [*lanes.notices, *local.notices],
        "seeds": {"start": wanted.start, "step": wanted.step, "count": count},
        "complete": True,
        "threads": settings.threads,
        "seconds": time.perf_counter() - began,
    }
    with np.errstate(over="ignore"):  # a sum of huge values is +inf, as a diverged one is
        values = {name: np.asarray(v.sum(axis=0) / len(v)) for name, v in samples.items()}
    return NeuralCurve(
        rounds=recorded,
        values=values,
        arithmetic=Arithmetic.SAMPLED,
        samples=samples,
        expectation=random,
        info=info,
        points=None if record.points is None else rows(record.points),
    )


def _carry_out(
    steps: Rounds, look: Metrics, record: Record, grid: Ints, checkpoint: Checkpoint,
    on_progress: Callable[[int, int], None] | None,
) -> None:  # fmt: skip
    """Run the rounds that are left, and measure at those of the grid."""
    found = checkpoint.load()
    if found is not None:
        try:
            restore(found, steps, record, grid)
        except MALFORMED as error:
            checkpoint.refuse(error)
    last = int(grid[-1])

    def due() -> bool:
        return record.column < len(grid) and record.reached == grid[record.column]

    with np.errstate(all="ignore"):  # divergence is a result here, not an accident
        if due():
            _measure(steps, look, record)
        while record.reached < last:
            looked = None
            if look.of_returned and record.reached + 1 == grid[record.column]:
                looked = Looked(returned=steps.state[:, : steps.lowered.models].clone())
            steps.advance(record.reached, looked)
            record.reached += 1
            if due():  # before a checkpoint, which does not hold what the clients returned
                _measure(steps, look, record, None if looked is None else looked.returned)
            if on_progress is not None:
                on_progress(record.reached, last)
            if checkpoint.due():
                checkpoint.save(saved(steps, record))


def _measure(steps: Rounds, look: Metrics, record: Record, returned: Tensor | None = None) -> None:
    steps.look()
    starts = None
    if look.epochs > 1:
        starts = steps.state[:, :1].expand(-1, look.epochs, -1).clone() * float("nan")
        steps.look_into(record.reached, Looked(starts=starts))
        starts = starts[:, 1:]
    for name, values in look(steps.state, returned, starts).items():
        record.values[name][:, record.column] = np.where(steps.alive, values, np.inf)
    if record.points is not None:
        record.points[:, record.column] = steps.state[:, 0].double().cpu().numpy()
    record.column += 1


def _record(names: tuple[str, ...], seeds: int, rounds: int, dim: int) -> Record:
    size = 8 * seeds * rounds * (len(names) + dim)
    if size > MEMORY:
        what = "points" if dim else "metrics"
        raise BadInput(
            f"the {what} of {seeds} seeds at {rounds} recorded rounds need {size} bytes, above the limit of {MEMORY}; "
            "record fewer rounds or run fewer seeds."
        )
    points = np.full((seeds, rounds, dim), np.nan) if dim else None
    return Record({name: np.full((seeds, rounds), np.inf) for name in names}, points)


def _grid(grid: Sequence[int] | None, rounds: int) -> Ints:
    if rounds < 0:
        raise BadInput(f"rounds = {rounds} is not allowed; it is at least 0.")
    values = [int(r) for r in (range(rounds + 1) if grid is None else grid)]
    increasing = all(b > a for a, b in itertools.pairwise(values))
    if not values or values[0] < 0 or values[-1] > rounds or not increasing:
        raise BadInput(f"grid = {grid} is not allowed; recorded rounds increase and lie between 0 and {rounds}.")
    return np.array(values, dtype=np.int64)


@dataclass
class Record:
    """What a run has measured. column: recorded rounds so far; points: (S, G, dim), or None if they are not kept."""

    values: dict[str, Floats]
    points: Floats | None
    column: int = 0
    reached: int = field(default=0)


def saved(rounds: Rounds, record: Record) -> dict[str, NDArray[Any]]:
    """Everything after `record.reached` rounds."""
    rounds.look()
    lanes = rounds.lanes
    facts = {
        "reached": record.reached,
        "column": record.column,
        "limit": lanes.limit,
        "notices": lanes.notices,
    }
    arrays: dict[str, NDArray[Any]] = {
        "facts": np.array(json.dumps(facts)),
        "state": rounds.state.cpu().numpy(),
        "alive": rounds.alive,
    }
    arrays |= {f"values/{name}": values for name, values in record.values.items()}
    return arrays if record.points is None else {**arrays, "points": record.points}


def restore(arrays: Mapping[str, NDArray[Any]], rounds: Rounds, record: Record, grid: Ints) -> None:
    """Inverse of `saved`, into a run of the same seeds, method and grid of rounds that has not begun.

    Raises one of `core.arrays.MALFORMED`, and leaves the run as it is, for arrays that `saved` does not make of it.
    """
    facts: dict[str, Any] = json.loads(str(arrays["facts"]))
    numbers = {name: facts[name] for name in ("reached", "column", "limit")}
    if any(not isinstance(n, int) or isinstance(n, bool) or n < 0 for n in numbers.values()) or numbers["limit"] < 1:
        raise ValueError("numbers that no run has")
    if numbers["reached"] > grid[-1] or numbers["column"] != np.searchsorted(grid, numbers["reached"], side="right"):
        raise ValueError("another grid of rounds")
    notices = [str(notice) for notice in facts["notices"]]
    expected: dict[str, Any] = {"state": rounds.state, "alive": rounds.alive}
    expected |= {f"values/{name}": values for name, values in record.values.items()}
    expected |= {} if record.points is None else {"points": record.points}
    for name, target in expected.items():
        found = arrays[name]
        kind = "b" if name == "alive" else "f"
        if found.shape != tuple(target.shape) or found.dtype.kind != kind:
            raise ValueError(f"{name} has the shape {found.shape} and the type {found.dtype}")
    for name, target in expected.items():
        if isinstance(target, np.ndarray):
            target[:] = arrays[name]
        else:
            target.copy_(library().from_numpy(np.ascontiguousarray(arrays[name])))
    record.reached, record.column = numbers["reached"], numbers["column"]
    lanes: Lanes = rounds.lanes
    lanes.limit, lanes.notices = numbers["limit"], notices


def check_method(lowered: Lowered) -> None:
    """Raises Unsupported for exact minimisers."""
    if lowered.sampling == "exact":
        raise Unsupported(
            f"engine = 'neural' does not carry out {lowered.method.name} with exact local solves, since a network has "
            "no minimiser in closed form; give it local steps (E, eta), or take engine = 'sampled' where that carries "
            "the problem."
        )
