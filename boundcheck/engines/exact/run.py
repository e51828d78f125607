"""Runs without sampling error: the curve of one deterministic run, or of expectations over all that is random."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.exact import congruent
from boundcheck.engines.exact.budget import check_visits, composing_is_cheaper
from boundcheck.engines.exact.dynamics import Dynamics
from boundcheck.engines.exact.paths import run_paths
from boundcheck.engines.exact.results import curve_of
from boundcheck.engines.exact.rings import BallRing, FloatRing, RationalRing, Ring
from boundcheck.engines.exact.state import Exact, lower, repeats
from boundcheck.engines.summaries import Summary, on_grid
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.method import Method
from boundcheck.problems.problem import Problem, Quadratic, Stepped, clients_of, no_minimum
from boundcheck.setting.metrics import is_round_metric, needed_for, of_a_round, unknown_metric
from boundcheck.theory.statement import Average

# Step by step (schedules that are not constant): client visits that are carried out at most.
MAX_VISITS: Mapping[Arithmetic, int] = {
    Arithmetic.FLOAT64: 40_000_000,
    Arithmetic.BALL: 2_000_000,
    Arithmetic.RATIONAL: 100_000,
}

RINGS: Mapping[Arithmetic, Callable[[], Ring]] = {
    Arithmetic.FLOAT64: FloatRing,
    Arithmetic.BALL: BallRing,
    Arithmetic.RATIONAL: RationalRing,
}

# Constant steps: the powers of a round's map are kept in at most this many bytes, else rounds go one by one.
MAX_BYTES = 2_000_000_000
BYTES: Mapping[Arithmetic, int] = {Arithmetic.FLOAT64: 8, Arithmetic.BALL: 64, Arithmetic.RATIONAL: 64}


def run_exact(
    method: Method,
    problem: Problem,
    grid: Sequence[int],
    metrics: Iterable[str] | None = None,
    *,
    arithmetic: Arithmetic = Arithmetic.BALL,
    summaries: Sequence[Summary] = (),
    on_progress: Callable[[float], None] | None = None,
) -> Curve:
    """The metrics at the rounds of the grid, without sampling error.

    Quadratic problems: a method without randomness gives the run itself, any other the expectations of the metrics over
    cohorts, samples and epochs (second moments). A constant step size takes any number of rounds at once; other
    schedules, and states too large to compose maps, go round by round up to `MAX_VISITS` client visits. A
    problem that is not quadratic is carried out outcome by outcome from its gradients (`paths`).

    grid: increasing rounds, 0 is the start. metrics: default all of the problem; on quadratic problems also those of
    `setting.metrics.of_a_round`, on a `Stepped` those that one outcome has.
    arithmetic: BALL encloses rigorously, with the precision raised until each value is known to a relative 1e-12
    (info["accuracy"] says what was reached); RATIONAL gives the fractions themselves; FLOAT64 has no rounding bound.
    summaries: kept from all rounds, which are then measured: means by linearity, the least value so far of each
    outcome, where outcomes are followed.

    Raises Unsupported (local work or sizes it cannot carry), BadInput (grid), UnknownName (metric).
    """
    rounds = [int(r) for r in grid]
    if not rounds or rounds[0] < 0 or any(b <= a for a, b in itertools.pairwise(rounds)):
        raise BadInput("the rounds to measure at must be a strictly increasing list that starts at 0 or later.")
    names = tuple(problem.metrics if metrics is None else metrics)
    check_metrics(names, problem, method)
    if arithmetic is Arithmetic.SAMPLED:
        raise BadInput("the exact engine draws no samples; its arithmetic is 'ball', 'rational' or 'float64'.")

    def progress(share: float) -> None:
        if on_progress is not None:
            on_progress(share)

    carry_out = next(engine for fits, engine in ENGINES if fits(problem, arithmetic))
    if not summaries:
        return carry_out(method, problem, rounds, names, arithmetic, progress)
    least = [s for s in summaries if s.average is Average.LEAST] if method.is_random(clients_of(problem)) else []
    if least and (isinstance(problem, Quadratic) or any(is_round_metric(s.metric) for s in least)):
        raise Unsupported(
            f"the exact engine has the expectation of '{least[0].metric}' at each round of '{method.name}', which is "
            f"random, and not of its least value so far; take engine = 'sampled'."
        )
    wanted = tuple(dict.fromkeys((*names, *(s.key for s in least))))
    every = carry_out(method, problem, list(range(rounds[-1] + 1)), wanted, arithmetic, progress)
    return on_grid(every, rounds, summaries, names)


def check_metrics(names: Iterable[str], problem: Problem, method: Method) -> None:
    """Raise UnknownName for a metric that neither the problem nor, as far as it allows, the method's rounds have."""
    quadratic = isinstance(problem, Quadratic)
    of_rounds = (quadratic or isinstance(problem, Stepped)) and no_minimum(problem) is None
    own = [name for name in of_a_round() if of_rounds and needed_for(name, method) is None]
    for name in names:
        if name in problem.metrics:
            continue
        known = of_rounds and is_round_metric(name)
        lacking = needed_for(name, method) if known else None
        if lacking is not None:
            raise UnknownName(f"'{method.name}' has no {lacking}, so that the metric", name, [*problem.metrics, *own])
        if not known:
            raise unknown_metric(problem, name, own)


def columns(
    method: Method, exact: Exact, grid: list[int], ring: Ring, progress: Callable[[float], None] = lambda _: None
) -> Mapping[str, Sequence[Any]]:
    """The metrics of a run on a quadratic problem, one number of the ring for each round of the grid."""
    dynamics, clients = Dynamics(ring, method, exact), exact.clients
    last, size, constant = grid[-1], dynamics.size, repeats(method)
    # Composing maps pays once there are more rounds than the state has entries; it takes memory for the powers.
    powers = 2 + max(last.bit_length() - size.bit_length(), 0)
    fits = size * size * powers * BYTES[ring.arithmetic] <= MAX_BYTES
    # clients whose work has to be followed in a round, all of them where cohorts are random
    cohort = method.participation.fixed(0, clients) or tuple(range(clients.count))
    cohort = exact.workers if exact.rule.needs_all else cohort
    visits = [(i, v) for i in cohort for _, v in method.local.visits(i, cohort, clients)]
    if constant and dynamics.random and last:
        eta = method.schedule.step(1)
        maps = dynamics.congruences(eta)
        wide, metrics = exact.layout.size, len(exact.metrics)
        if maps is not None and (not fits or congruent.cheaper(ring, wide, len(maps), grid, metrics)):
            return dynamics.composed(maps, eta, grid, progress)
    worth = not dynamics.random or last > size or composing_is_cheaper(ring, exact, visits, last)
    if constant and fits and worth:
        check_visits(ring, exact, visits, True, 1)
        return dynamics.trajectory(method.schedule.step(1), grid, progress)
    changing = "step size" if exact.rule.steady else exact.rule.changing
    why = f"a {changing} that changes" if not constant else f"a state of {size} numbers"
    if last * len(cohort) > MAX_VISITS[ring.arithmetic]:
        raise Unsupported(
            f"{last} rounds with {why} are {last * len(cohort)} client visits; the exact engine "
            f"carries out at most {MAX_VISITS[ring.arithmetic]} in arithmetic '{ring.arithmetic}'."
        )
    check_visits(ring, exact, visits, False, max(last, 1))
    return dynamics.stepwise(grid, progress)


def run_moments(
    method: Method,
    problem: Problem,
    grid: list[int],
    metrics: Sequence[str],
    arithmetic: Arithmetic,
    progress: Callable[[float], None],
) -> Curve:
    """A run on a quadratic problem, by linear maps of the state or of its second moments."""
    exact = lower(method, problem, metrics)

    def compute(asked: Arithmetic) -> Mapping[str, Sequence[Any]]:
        return columns(method, exact, grid, RINGS[asked](), progress)

    return curve_of(compute, arithmetic, grid, method.is_random(exact.clients))


# The engine of a problem in an arithmetic is the first that fits.
ENGINES: Sequence[tuple[Callable[[Problem, Arithmetic], bool], Callable[..., Curve]]] = (
    (lambda problem, _: isinstance(problem, Quadratic), run_moments),
    (lambda *_: True, run_paths),
)
