"""Driving many seeds through a method: blocks of seeds on a pool of threads, metrics on the grid only."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from boundcheck.core import streams
from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import parse_grid
from boundcheck.engines.curve import Arithmetic, Curve, Floats, Ints
from boundcheck.engines.simulate.job import BLOCK_BYTES, Job, Leg, block_of, cost_of, legs_of
from boundcheck.engines.simulate.lowering import Lowered, lower
from boundcheck.engines.simulate.measure import Measure, measures, ratios
from boundcheck.engines.simulate.metrics import (
    DISCREPANCY,
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
from boundcheck.engines.simulate.paths import Path, Runner, choose_path, known_clients
from boundcheck.engines.simulate.planning import typical
from boundcheck.engines.simulate.vectors import Asked, Solve
from boundcheck.engines.summaries import Running, Summary, places_of
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.method import Method
from boundcheck.methods.parts import ExactSolve, Proximal
from boundcheck.problems.problem import Arrays, Problem, flat_arrays
from boundcheck.setting.metrics import of_a_round

_APART = (INEXACTNESS, DISSIMILARITY, *LOCAL)  # measured by what stands beside `measures`
MOST_POINTS = 512  # of a seed that are held at a time, to size the blocks of seeds
LEG_SECONDS = 0.3  # how long a thread works before it looks whether to stop, roughly


def run_sampled(
    method: Method,
    problem: Problem,
    rounds: int,
    seeds: int | range,
    metrics: Sequence[str] = ("dist2",),
    grid: Sequence[int] | str | None = None,
    *,
    summaries: Sequence[Summary] = (),
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
    text such as "log:1:1000:40"; by default 0 and at most 60 rounds on a log scale up to `rounds`. summaries: of
    metrics of `metrics`, kept as one running number a seed; every round is then measured.
    path: "numpy" is the definition, "numba" the compiled one, for methods of which the coefficients can be read and
    problems with flat arrays, or with data made client by client; "auto" takes numba where it can. Both read the same
    plan; their numbers agree to rounding.
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
    every = np.arange(int(recorded[-1]) + 1) if summaries else recorded  # the rounds that are measured
    places = places_of(recorded.tolist()) if summaries else recorded
    size = 8 * len(wanted) * (len(recorded) * len(names) + len(places) * len(summaries))
    if size > memory_limit:
        raise BadInput(
            f"{len(wanted)} seeds, {len(recorded)} recorded rounds and {len(names)} metrics need {size} bytes, above "
            f"the limit of {memory_limit}; record fewer rounds or run fewer seeds."
        )
    workers = threads if threads is not None else _available_threads()
    if workers < 1 or (block is not None and block < 1):
        raise BadInput(f"threads = {threads} and block = {block} are not allowed; both are at least 1.")

    steps = lowered.largest * max(typical(lowered)) if recorded[-1] else 0
    steps += getattr(lowered.rule, "warm_up", 0)
    if 4 * steps > memory_limit:
        raise BadInput(
            f"a round of '{method.name}' takes about {steps} local steps over its clients, above the "
            f"{memory_limit // 4} that the sampled engine plans; do less local work, such as fewer local steps."
        )
    runner = choose_path(path, problem, lowered, arrays)
    cost = cost_of(lowered, arrays, problem.dim, runner.path)
    points = (MOST_POINTS if summaries else len(recorded)) * problem.dim
    at_once = block or block_of(len(runs), workers, points, int(recorded[-1]), cost, runner.path)
    state = 8 * lowered.parts * problem.dim
    if state > memory_limit - size:
        raise BadInput(
            f"{lowered.rule.kept_words or 'the models'} that {lowered.models or lowered.clients} "
            f"clients keep need {state} bytes for each seed, above the limit of "
            f"{memory_limit}; take fewer clients."
        )
    at_once = max(1, min(at_once, (memory_limit - size) // (workers * state)))
    room = min(BLOCK_BYTES, max(0, memory_limit - size) // workers) // (8 * at_once * problem.dim)
    last_alone = solves is not None or local is not None
    alone = probed or bool(kept) or last_alone
    stride = max(1, int(LEG_SECONDS * 1e9 / cost.of(at_once)))
    legs = list(legs_of(every, 1 if alone else max(1, room), stride, last_alone))
    epochs = epochs_of_visits(lowered) if probed else 0
    start = np.array([nearest_float(v) for v in problem.start], dtype=np.float64)
    if np.isinf(start).any():
        raise BadInput(
            f"the start of '{problem.name}' is above the largest number in double precision, 1.8e308, with which the "
            "sampled engine computes; take a smaller start."
        )
    runner.tried(start)
    out = {name: np.empty((len(runs), len(recorded))) for name in names}
    sums = {s.key: np.empty((len(runs), len(places))) for s in summaries}

    def work(first_row: int, job: Job) -> bool:
        rows = slice(first_row, min(first_row + at_once, len(runs)))
        chosen = runs[rows]
        running = [(s, Running(s, len(chosen), len(every))) for s in summaries]

        def record(name: str, columns: slice, values: Floats) -> None:
            if not summaries:
                out[name][rows, columns] = values
                return
            over = [(sums[s.key], places, own.add(values)) for s, own in running if s.metric == name]
            for table, kept_rounds, found in [(out[name], recorded, values), *over]:
                here = np.isin(every[columns], kept_rounds)
                table[rows, np.searchsorted(kept_rounds, every[columns][here])] = found[:, here]

        with np.errstate(all="ignore"):  # divergence is a result here, not an accident
            state = runner.begin(chosen, start)
            for leg in legs:
                if job.stop.is_set():
                    return False
                points = np.empty((len(chosen), len(leg.stops), problem.dim))
                if solves is not None and leg.columns is not None:
                    record(INEXACTNESS, leg.columns, _inexactness(solves, runner, chosen, state, leg))
                models = None
                if local is not None and leg.columns is not None:
                    models = _returned(runner, chosen, state, leg, lowered)
                runner.advance(chosen, state, leg.first, leg.stops, points)
                if leg.columns is not None:
                    for name in set(measure) - {EPOCH_GRAD2}:
                        record(name, leg.columns, measure[name](points))
                    if local is not None and models is not None:
                        for name, values in local(points[:, -1], models).items():
                            record(name, leg.columns, _recorded(values))
                    for name, of_models in kept.items():
                        record(name, leg.columns, _recorded(of_models(state)))
                    if probed:
                        met = runner.epoch_starts(chosen, state, int(leg.stops[0]), epochs)
                        record(EPOCH_GRAD2, leg.columns, measure[EPOCH_GRAD2](met).mean(axis=1, keepdims=True))
                job.add(len(chosen) * (int(leg.stops[-1]) - leg.first))
        return True

    job = Job(total=len(runs) * int(recorded[-1]), on_progress=on_progress, should_stop=should_stop)
    firsts = range(0, len(runs), at_once)
    finished = job.run(work, firsts, workers)
    rows = min(finished * at_once, len(runs))
    if not random:
        rows *= len(wanted)

    def complete(of: Mapping[str, Floats]) -> dict[str, Floats]:
        return {name: v[:rows] if random else np.repeat(v[:rows], rows, axis=0) for name, v in of.items()}

    info: dict[str, object] = {
        "engine": "sampled",
        "path": runner.path,
        **({"why_numpy": runner.why} if runner.why else {}),
        "generator": "Philox4x32-10",
        "precision": "float64",
        "seeds": {"start": wanted.start, "step": wanted.step, "count": rows},
        "complete": rows == len(wanted),
        "threads": workers,
        "seconds": time.perf_counter() - began,
    }
    summed = complete(sums)
    over_rounds = {s.key: _curve(places, {s.metric: summed[s.key]}, random, info) for s in summaries}
    return _curve(recorded, complete(out), random, info, over_rounds)


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
    over_rounds = {key: concatenate([c.summaries[key] for c in curves]) for key in first.summaries}
    return _curve(first.rounds, samples, first.expectation, info, over_rounds)


def _curve(
    rounds: Ints, samples: dict[str, Floats], random: bool, info: dict[str, object], summaries: Mapping[str, Curve] = {}
) -> Curve:
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
        summaries=summaries,
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
    read = {name for name, own in of_a_round().items() if own.formula is not None} - {EPOCH_GRAD2, DISCREPANCY}
    for name in set(names) & read - set(problem.metrics):
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


def _inexactness(solves: Solves, runner: Runner, seeds: streams.Words, state: Floats, leg: Leg) -> Floats:
    """That of the leg's one round, which follows `state`; 0 before the first round, and where nobody takes part."""
    found = np.zeros(len(seeds))
    if int(leg.stops[0]):

        def solved(solve: Solve) -> None:
            found[solve.rows] = np.maximum(found[solve.rows], solves.gammas(runner.oracle, solve))

        runner.look(seeds, state, leg.first, Asked(solves=solved))
    return _recorded(found)


def _returned(runner: Runner, seeds: streams.Words, state: Floats, leg: Leg, lowered: Lowered) -> Floats:
    """The clients' models (S, n, d) at the end of the leg's one round, before they are averaged; at 0 the start."""
    if int(leg.stops[0]) == 0:
        return np.repeat(state[:, :1], lowered.models, axis=1)
    return runner.returned(seeds, state, leg.first, lowered.largest)
