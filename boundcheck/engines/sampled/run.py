"""Driving many seeds through a method: blocks of seeds on a pool of threads, metrics on the grid only."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from boundcheck.core import streams
from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import parse_grid
from boundcheck.engines.curve import Arithmetic, Curve, Floats, Ints
from boundcheck.engines.sampled.lowering import Lowered, lower
from boundcheck.engines.sampled.measure import Measure, measures, ratios
from boundcheck.engines.sampled.metrics import (
    DISSIMILARITY,
    EPOCH_GRAD2,
    INEXACTNESS,
    LOCAL,
    Solves,
    discrepancy,
    dissimilarity,
    epochs_of_visits,
    is_discrepancy,
    local_losses,
)
from boundcheck.engines.sampled.paths import Path, Runner, choose_path, flat_arrays, known_clients
from boundcheck.engines.sampled.planning import typical
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.method import Method
from boundcheck.methods.parts import ExactSolve, Proximal
from boundcheck.problems.problem import Arrays, Problem

# metrics that only the exact engine has
ELSEWHERE = ("drift", "momentum_error2", "round_gap", "virtual_round_gap", "virtual_gap", "virtual_grad2")
_APART = (INEXACTNESS, DISSIMILARITY, *LOCAL)  # measured by what stands beside `measures`
BLOCK_BYTES = 4 << 20  # recorded points that one thread holds at a time
LEG_SECONDS = 0.3  # how long a thread works before it looks whether to stop, roughly
POLL_SECONDS = 0.1


@dataclass(frozen=True)
class _Leg:
    """A stretch of rounds: run from `first` to the last stop and keep the points if `columns` says where."""

    first: int
    stops: Ints
    columns: slice | None


def run_sampled(
    method: Method,
    problem: Problem,
    rounds: int,
    seeds: int | range,
    metrics: Sequence[str] = ("dist2",),
    grid: Sequence[int] | str | None = None,
    *,
    path: Path = "auto",
    threads: int | None = None,
    block: int | None = None,
    memory_limit: int = 2 << 30,
    on_progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Curve:
    """Run a method on a problem for many seeds and record metrics on a grid of rounds.

    rounds: how many rounds to run. seeds: a count (0..seeds-1) or a range of seeds; rows follow its order, and
    the row of a seed is the same, bit for bit, whatever else is asked for (other seeds, grid, metrics, `block`
    seeds at a time, `threads`). metrics: names out of `problem.metrics`, and "epoch_grad2" (the mean of |grad F|^2
    over the points before each epoch of the round that starts at r, for one client a round); for clients that average
    blocks "discrepancy", "discrepancy:<block>" and those of `looking.LOCAL` (see `local_losses`); "B2" (sum of
    w_k |grad f_k|^2 over |grad F|^2); for proximal local work "inexactness" (the largest over the cohort of the round
    that ends at r, see `Solves`). grid: rounds after which to record, increasing, at most `rounds`, as integers or as
    text such as "log:1:1000:40"; by default 0 and at most 60 rounds on a log scale up to `rounds`.
    path: "numpy" is the reference, "numba" the compiled one (problems with flat arrays, or with data made client by
    client): specialised kernels where they apply, else the general one, which "general" always takes; "auto" takes
    numba where it can. All read the same plan; their numbers agree to rounding.
    threads: how many, by default as many as this process may use. memory_limit: bytes for results and recorded points.
    on_progress(done, total): called in the caller's thread now and then, in units of rounds times seeds.
    should_stop(): asked about ten times a second in the caller's thread; once true, the run ends
    within about a second and the curve holds the leading seeds that were complete (`info["complete"]` is then
    False, and there may be none). Ctrl-C stops the threads too.

    Values that are not finite (divergence) are recorded as +inf. The curve's `values` are means over seeds. A method
    without randomness is run once and its row repeated.
    Raises BadInput and UnknownName for impossible arguments, Unsupported where a problem without components
    is asked for reshuffled epochs or the numba path cannot carry out a method.
    """
    began = time.perf_counter()
    wanted = _seeds(seeds)
    recorded = _grid(grid, rounds)
    names = tuple(dict.fromkeys(metrics))
    arrays = flat_arrays(problem)
    known = known_clients(problem, arrays)
    probed = EPOCH_GRAD2 in names
    lowered = lower(method, known, int(recorded[-1]) + probed)
    measure = _measures(problem, arrays, names, lowered)
    kept = {name: discrepancy(lowered, name, problem.dim) for name in names if is_discrepancy(name)}
    local = local_losses(lowered, problem, arrays, names) if set(names) & set(LOCAL) else None
    solves = Solves(lowered, problem, arrays) if INEXACTNESS in names else None
    if solves is not None and not isinstance(method.local, ExactSolve | Proximal):
        raise Unsupported(f"'{method.name}' solves no proximal subproblems, which the metric '{INEXACTNESS}' is about.")
    random = method.is_random(known)
    runs = np.array(wanted if random else wanted[:1], dtype=np.uint64)
    size = 8 * len(wanted) * len(recorded) * len(names)
    if size > memory_limit:
        raise BadInput(
            f"{len(wanted)} seeds, {len(recorded)} recorded rounds and {len(names)} metrics need {size} bytes, above "
            f"the limit of {memory_limit}; record fewer rounds or run fewer seeds."
        )
    workers = threads if threads is not None else _available_threads()
    if workers < 1 or (block is not None and block < 1):
        raise BadInput(f"threads = {threads} and block = {block} are not allowed; both are at least 1.")

    steps = lowered.largest * max(typical(lowered)) if recorded[-1] else 0
    steps += 0 if lowered.momentum is None else lowered.momentum.warm_up
    if 4 * steps > memory_limit:
        raise BadInput(
            f"a round of '{method.name}' takes about {steps} local steps over its clients, above the "
            f"{memory_limit // 4} that the sampled engine plans; do less local work, such as fewer local steps."
        )
    runner = choose_path(path, problem, lowered, arrays)
    cost = _cost(lowered, arrays, problem.dim, runner.path)
    at_once = block or _block(len(runs), workers, len(recorded) * problem.dim, int(recorded[-1]), cost, runner.path)
    state = 8 * (1 + lowered.models + lowered.buffers + lowered.controls) * problem.dim
    if state > memory_limit - size:
        raise BadInput(
            f"the {'control variates' if lowered.controls else 'models'} that {lowered.models or lowered.clients} "
            f"clients keep need {state} bytes for each seed, above the limit of "
            f"{memory_limit}; take fewer clients."
        )
    at_once = max(1, min(at_once, (memory_limit - size) // (workers * state)))
    room = min(BLOCK_BYTES, max(0, memory_limit - size) // workers) // (8 * at_once * problem.dim)
    last_alone = solves is not None or local is not None
    alone = probed or bool(kept) or last_alone
    stride = max(1, int(LEG_SECONDS * 1e9 / cost.of(at_once)))
    legs = list(_legs(recorded, 1 if alone else max(1, room), stride, last_alone))
    epochs = epochs_of_visits(lowered) if probed else 0
    start = np.array([nearest_float(v) for v in problem.start], dtype=np.float64)
    if np.isinf(start).any():
        raise BadInput(
            f"the start of '{problem.name}' is above the largest number in double precision, 1.8e308, with which the "
            "sampled engine computes; take a smaller start."
        )
    out = {name: np.empty((len(runs), len(recorded))) for name in names}

    def work(first_row: int, job: _Job) -> bool:
        rows = slice(first_row, min(first_row + at_once, len(runs)))
        chosen = runs[rows]
        with np.errstate(all="ignore"):  # divergence is a result here, not an accident
            state = runner.begin(chosen, start)
            for leg in legs:
                if job.stop.is_set():
                    return False
                points = np.empty((len(chosen), len(leg.stops), problem.dim))
                if solves is not None and leg.columns is not None:
                    out[INEXACTNESS][rows, leg.columns] = _inexactness(solves, runner, chosen, state, leg)
                models = None
                if local is not None and leg.columns is not None:
                    models = _returned(runner, chosen, state, leg, lowered)
                runner.advance(chosen, state, leg.first, leg.stops, points)
                if leg.columns is not None:
                    for name in set(measure) - {EPOCH_GRAD2}:
                        out[name][rows, leg.columns] = measure[name](points)
                    if local is not None and models is not None:
                        for name, values in local(points[:, -1], models).items():
                            out[name][rows, leg.columns] = _recorded(values)
                    for name, of_models in kept.items():
                        out[name][rows, leg.columns] = _recorded(of_models(state))
                    if probed:
                        met = runner.epoch_starts(chosen, state, int(leg.stops[0]), epochs)
                        out[EPOCH_GRAD2][rows, leg.columns] = measure[EPOCH_GRAD2](met).mean(axis=1, keepdims=True)
                job.add(len(chosen) * (int(leg.stops[-1]) - leg.first))
        return True

    job = _Job(total=len(runs) * int(recorded[-1]), on_progress=on_progress, should_stop=should_stop)
    firsts = range(0, len(runs), at_once)
    finished = job.run(work, firsts, workers)
    rows = min(finished * at_once, len(runs))
    if not random:
        rows *= len(wanted)
    samples = {name: v[:rows] if random else np.repeat(v[:rows], rows, axis=0) for name, v in out.items()}
    info: dict[str, object] = {
        "engine": "sampled",
        "path": runner.path,
        "kernel": runner.kernel,
        "generator": "Philox4x32-10",
        "precision": "float64",
        "seeds": {"start": wanted.start, "step": wanted.step, "count": rows},
        "complete": rows == len(wanted),
        "threads": workers,
        "seconds": time.perf_counter() - began,
    }
    return _curve(recorded, samples, random, info)


def concatenate(curves: Sequence[Curve]) -> Curve:
    """One curve from runs of the same thing on further seeds; rows in the order given.

    The runs of seeds 0..99 and 100..199 give the curve of seeds 0..199. Raises BadInput when grids or metrics differ
    or when the seeds of one do not follow those of the one before.
    """
    if not curves:
        raise BadInput("there is no curve to concatenate; give at least one.")
    first = curves[0]
    following = None
    for c in curves:
        if not np.array_equal(c.rounds, first.rounds) or list(c.samples) != list(first.samples):
            raise BadInput("curves with different grids or metrics cannot be concatenated.")
        seeds = c.info["seeds"]
        if following is not None and seeds["start"] != following:
            raise BadInput(f"the seeds of a curve start at {seeds['start']} where {following} should follow.")
        following = seeds["start"] + seeds["step"] * seeds["count"]
    samples = {name: np.concatenate([c.samples[name] for c in curves]) for name in first.samples}
    info = dict(first.info)
    info["seeds"] = {**first.info["seeds"], "count": sum(c.info["seeds"]["count"] for c in curves)}
    info["complete"] = all(c.info["complete"] for c in curves)
    info["seconds"] = sum(c.info["seconds"] for c in curves)
    return _curve(first.rounds, samples, first.expectation, info)


def _curve(rounds: Ints, samples: dict[str, Floats], random: bool, info: dict[str, object]) -> Curve:
    def mean(rows: Floats) -> Floats:
        if not len(rows):
            return np.full(rows.shape[1], np.nan)
        with np.errstate(over="ignore"):  # a sum of huge values is +inf, as a diverged one is
            return np.asarray(rows.sum(axis=0) / len(rows))

    return Curve(
        rounds=rounds,
        values={name: mean(rows) for name, rows in samples.items()},
        arithmetic=Arithmetic.SAMPLED,
        samples=samples,
        expectation=random,
        info=info,
    )


def _seeds(seeds: int | range) -> range:
    wanted = seeds if isinstance(seeds, range) else range(seeds)
    if not len(wanted):
        raise BadInput(f"seeds = {seeds} holds no seed; give a count of at least 1 or a range.")
    streams.check_seed(wanted[0])
    streams.check_seed(wanted[-1])
    return wanted


def _grid(grid: Sequence[int] | str | None, rounds: int) -> Ints:
    if rounds < 0:
        raise BadInput(f"rounds = {rounds} is not allowed; it is at least 0.")
    if grid is None:
        points = [0, *parse_grid(f"log:1:{rounds}:60", "grid", integer=True)] if rounds > 1 else range(rounds + 1)
    elif isinstance(grid, range) and grid:
        points = grid  # as it is: fractions of ten thousand rounds would be dear
    else:
        points = parse_grid(grid, "grid", integer=True)
    values = [int(p) for p in points]
    if values[0] < 0 or values[-1] > rounds or any(b <= a for a, b in pairwise(values)):
        raise BadInput(f"grid = {grid} is not allowed; recorded rounds increase and lie between 0 and {rounds}.")
    return np.array(values, dtype=np.int64)


def _available_threads() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _measures(problem: Problem, arrays: Arrays | None, names: tuple[str, ...], lowered: Lowered) -> dict[str, Measure]:
    """How to measure each name; that of "epoch_grad2" measures "grad2"."""
    for name in set(names) & set(ELSEWHERE) - set(problem.metrics):
        raise Unsupported(f"the sampled engine does not measure '{name}'; use engine = 'exact'.")
    known = {*problem.metrics, *ratios(problem)}
    own = tuple(n for n in names if n in known or not (n in _APART or is_discrepancy(n)))
    found = {DISSIMILARITY: dissimilarity(problem)} if DISSIMILARITY in set(names) - set(own) else {}
    if EPOCH_GRAD2 not in names:
        return found | measures(problem, arrays, own) if own or not names else found
    epochs_of_visits(lowered)
    of_points = tuple(n for n in own if n != EPOCH_GRAD2)
    slopes = measures(problem, arrays, ("grad2",))["grad2"]
    return found | (measures(problem, arrays, of_points) if of_points else {}) | {EPOCH_GRAD2: slopes}


def _recorded(values: Floats) -> Floats:
    """A column of values, +inf where one is not finite."""
    return np.where(np.isfinite(values), values, np.inf)[:, None]


def _inexactness(solves: Solves, runner: Runner, seeds: streams.Words, state: Floats, leg: _Leg) -> Floats:
    """That of the leg's one round, which follows `state`; 0 before the first round."""
    if int(leg.stops[0]) == 0:
        return np.zeros((len(seeds), 1))
    returned = runner.returned(seeds, state, leg.first, solves.lowered.largest)
    return _recorded(solves.largest(runner.whole, seeds, state, leg.first, returned))


def _returned(runner: Runner, seeds: streams.Words, state: Floats, leg: _Leg, lowered: Lowered) -> Floats:
    """The clients' models (S, n, d) at the end of the leg's one round, before they are averaged; at 0 the start."""
    if int(leg.stops[0]) == 0:
        return state[:, 1 : 1 + lowered.models].copy()
    return runner.returned(seeds, state, leg.first, lowered.largest)


@dataclass(frozen=True)
class _Cost:
    """Rough nanoseconds of one round, to size the pieces of work; no result depends on them."""

    a_round: float  # however many seeds share it
    a_seed: float  # for each of them

    def of(self, seeds: int) -> float:
        return self.a_round + seeds * self.a_seed


def _cost(lowered: Lowered, arrays: Arrays | None, dim: int, path: str) -> _Cost:
    steps, gradients = typical(lowered)
    whole = lowered.whole or lowered.momentum is not None or lowered.correction is not None
    if whole:
        gradients = max(1, 2 * gradients + steps)
    matrices = arrays is not None and (arrays.kind == "quadratic" or (whole and len(arrays.client_A) > 0))
    width = dim * dim if matrices else dim
    m = lowered.largest
    if path == "numba":
        return _Cost(0.0, 1 + m * (5 + gradients * (4 + width / 2)))
    if arrays is None:
        return _Cost(m * 3e4, m * gradients * 1e4)
    visits = m * min(lowered.clients, 1024) if lowered.law is not None else m  # one pass for each client drawn
    return _Cost(visits * (3e4 + gradients * 4e3 * (1 + width / dim)), m * gradients * 5 * width)


def _block(seeds: int, workers: int, points: int, rounds: int, cost: _Cost, path: str) -> int:
    """Seeds a thread takes at once: many on the NumPy path, about 50 ms of work on the compiled one.

    Every thread gets equally many blocks of about one size, so that none waits for another at the end.
    """
    fair = -(-seeds // workers)
    memory = max(1, BLOCK_BYTES // (8 * max(1, points)))
    wish = 1024 if path == "numpy" else max(1, int(5e7 / max(1.0, rounds * cost.a_seed)))
    pieces = -(-fair // min(memory, wish))
    return -(-fair // pieces)


def _legs(grid: Ints, columns: int, stride: int, last_alone: bool = False) -> Iterator[_Leg]:
    """Cut the grid into legs of at most `columns` recorded points and about `stride` rounds.

    last_alone: a leg with a recorded point holds the one round that ends there; `columns` is then 1.
    """
    at, g = 0, 0
    while g < len(grid):
        reach = 1 if last_alone else stride
        while grid[g] - at > reach:
            to = min(at + stride, int(grid[g]) - 1) if last_alone else at + stride
            yield _Leg(at, np.array([to], dtype=np.int64), None)
            at = to
        end = g + 1
        while end < len(grid) and end - g < columns and grid[end] - at <= stride:
            end += 1
        yield _Leg(at, grid[g:end], slice(g, end))
        at, g = int(grid[end - 1]), end


@dataclass
class _Job:
    """Work on a pool of threads that can be watched and stopped from the caller's thread."""

    total: int
    on_progress: Callable[[int, int], None] | None
    should_stop: Callable[[], bool] | None
    done: int = 0
    stop: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, amount: int) -> None:
        """Count finished work."""
        with self.lock:
            self.done += amount

    def run(self, work: Callable[[int, _Job], bool], firsts: Sequence[int], workers: int) -> int:
        """Carry out work(first, self) for all `firsts`; returns how many leading ones were completed."""
        pool = ThreadPoolExecutor(max_workers=min(workers, len(firsts)), thread_name_prefix="boundcheck-sampled")
        try:
            futures = [pool.submit(work, first, self) for first in firsts]
            pending = set(futures)
            while pending:
                finished, pending = wait(pending, timeout=POLL_SECONDS, return_when=FIRST_EXCEPTION)
                for future in finished:
                    future.result()  # an error in a thread is raised here
                if self.on_progress is not None:
                    self.on_progress(self.done, self.total)
                if self.should_stop is not None and pending and self.should_stop():
                    self.stop.set()
        finally:
            self.stop.set()  # also on Ctrl-C: no thread outlives the call
            pool.shutdown(wait=True, cancel_futures=True)
        completed = [future.result() for future in futures]
        return completed.index(False) if False in completed else len(completed)
