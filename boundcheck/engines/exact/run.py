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
from boundcheck.methods.parts import Visit
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


class _Run:
    """One run on a quadratic problem, in any arithmetic."""

    def __init__(self, method: Method, exact: Exact, grid: list[int], progress: Callable[[float], None]) -> None:
        self.method, self.grid, self.exact, self.progress = method, grid, exact, progress
        self.clients = exact.clients
        self.random = method.is_random(self.clients)
        self.names = list(exact.metrics)

    def columns(self, ring: Ring) -> Mapping[str, Sequence[Any]]:
        """The metrics, one number of the ring for each round of the grid."""
        dynamics = Dynamics(ring, self.method, self.exact)
        last, size = self.grid[-1], dynamics.size
        constant = repeats(self.method)
        # Composing maps pays once there are more rounds than the state has entries; it takes memory for the powers.
        powers = 2 + max(last.bit_length() - size.bit_length(), 0)
        fits = size * size * powers * BYTES[ring.arithmetic] <= MAX_BYTES
        visits = self._visits()
        if constant and self.random and last:
            eta = self.method.schedule.step(1)
            maps = dynamics.congruences(eta)
            metrics = len(self.names)
            wide = self.exact.layout.size
            if maps is not None and (not fits or congruent.cheaper(ring, wide, len(maps), self.grid, metrics)):
                return dynamics.composed(maps, eta, self.grid, self.progress)
        worth = not self.random or last > size or composing_is_cheaper(ring, self.exact, visits, last)
        if constant and fits and worth:
            check_visits(ring, self.exact, visits, True, 1)
            return dynamics.trajectory(self.method.schedule.step(1), self.grid, self.progress)
        changing = "step size" if self.exact.rule.steady else self.exact.rule.changing
        why = f"a {changing} that changes" if not constant else f"a state of {size} numbers"
        members = len(self._members())
        if last * members > MAX_VISITS[ring.arithmetic]:
            raise Unsupported(
                f"{last} rounds with {why} are {last * members} client visits; the exact engine "
                f"carries out at most {MAX_VISITS[ring.arithmetic]} in arithmetic '{ring.arithmetic}'."
            )
        check_visits(ring, self.exact, visits, False, max(last, 1))
        return dynamics.stepwise(self.grid, self.progress)

    def _members(self) -> tuple[int, ...]:
        """Clients whose work has to be followed in a round."""
        if self.exact.rule.needs_all:
            return self.exact.workers
        return self.method.participation.fixed(0, self.clients) or tuple(range(self.clients.count))

    def _visits(self) -> list[tuple[int, Visit]]:
        """What the clients of a round do, all of them where cohorts are random."""
        cohort = self._members()
        return [(i, v) for i in cohort for _, v in self.method.local.visits(i, cohort, self.clients)]

    def curve(self, arithmetic: Arithmetic) -> Curve:
        """The curve in one arithmetic."""
        return curve_of(lambda asked: self.columns(RINGS[asked]()), arithmetic, self.grid, self.random)


def columns(method: Method, exact: Exact, grid: list[int], ring: Ring) -> Mapping[str, Sequence[Any]]:
    """The metrics, one number of the ring for each round of the grid."""
    return _Run(method, exact, grid, lambda _: None).columns(ring)


def run_moments(
    method: Method,
    problem: Problem,
    grid: list[int],
    metrics: Sequence[str],
    arithmetic: Arithmetic,
    progress: Callable[[float], None],
) -> Curve:
    """A run on a quadratic problem, by linear maps of the state or of its second moments."""
    return _Run(method, lower(method, problem, metrics), grid, progress).curve(arithmetic)


# The engine of a problem in an arithmetic is the first that fits.
ENGINES: Sequence[tuple[Callable[[Problem, Arithmetic], bool], Callable[..., Curve]]] = (
    (lambda problem, _: isinstance(problem, Quadratic), run_moments),
    (lambda *_: True, run_paths),
)
