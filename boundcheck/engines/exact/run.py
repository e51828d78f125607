"""Runs without sampling error: the curve of one deterministic run, or of expectations over all that is random."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from boundcheck.core.linalg import float_down, float_up, fraction, nearest_float, outward, precision
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.exact import congruent
from boundcheck.engines.exact.budget import check_visits, composing_is_cheaper
from boundcheck.engines.exact.dynamics import Dynamics
from boundcheck.engines.exact.oracle import run_oracle
from boundcheck.engines.exact.rings import BallRing, FloatRing, RationalRing, Ring
from boundcheck.engines.exact.state import Exact, lower, repeats
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks, Visit
from boundcheck.problems.problem import Problem, QuadraticProblem
from boundcheck.setting.metrics import ROUND_METRICS, SIGNED, is_round_metric, needed_for

# Balls: the precision is doubled until every value is known to a relative 2^-GOOD_BITS (1e-12), or MAX_BITS.
FIRST_BITS = 128
MAX_BITS = 8192
GOOD_BITS = 41
NEGLIGIBLE = arb(10) ** -300

# Step by step (schedules that are not constant): client visits that are carried out at most.
MAX_VISITS: Mapping[Arithmetic, int] = {
    Arithmetic.FLOAT64: 40_000_000,
    Arithmetic.BALL: 2_000_000,
    Arithmetic.RATIONAL: 100_000,
}

# Constant steps: the powers of a round's map are kept in at most so many bytes, else rounds go one by one.
MAX_BYTES = 2_000_000_000
BYTES: Mapping[Arithmetic, int] = {Arithmetic.FLOAT64: 8, Arithmetic.BALL: 64, Arithmetic.RATIONAL: 64}


def run_exact(
    method: Method,
    problem: Problem,
    grid: Sequence[int],
    metrics: Iterable[str] | None = None,
    *,
    arithmetic: Arithmetic = Arithmetic.BALL,
    on_progress: Callable[[float], None] | None = None,
) -> Curve:
    """The metrics at the rounds of the grid, without sampling error.

    Quadratic problems: a method without randomness gives the run itself, any other the expectations of the metrics over
    cohorts, samples and epochs (second moments). A constant step size takes any number of rounds at once; other
    schedules, and states too large to compose maps, go round by round up to `MAX_VISITS` client visits. Other
    problems are carried out step by step from their gradient oracle (`oracle.run_oracle`).

    grid: increasing rounds, 0 is the start. metrics: default all of the problem; on quadratic problems also those of
    `setting.metrics.ROUND_METRICS` (what they mean: `readers`). arithmetic: BALL encloses
    rigorously, with the precision raised until each value is known to a relative 1e-12 (info["accuracy"] says
    what was reached); RATIONAL gives the fractions themselves; FLOAT64 has no rounding bound.

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

    if not isinstance(problem, QuadraticProblem):
        return run_oracle(method, problem, rounds, names, arithmetic, progress)
    run = _Run(method, lower(method, problem, names), rounds, progress)
    if arithmetic is Arithmetic.BALL:
        return run.balls()
    return run.rationals() if arithmetic is Arithmetic.RATIONAL else run.floats()


def check_metrics(names: Iterable[str], problem: Problem, method: Method) -> None:
    """Raise UnknownName for a metric that neither the problem nor (on quadratic problems) the method's rounds have."""
    quadratic = isinstance(problem, QuadraticProblem)
    own = [name for name in ROUND_METRICS if quadratic and needed_for(name, method) is None]
    for name in names:
        if name in problem.metrics:
            continue
        lacking = needed_for(name, method) if quadratic and is_round_metric(name) else None
        if lacking is not None:
            raise UnknownName(f"'{method.name}' has no {lacking}, so that the metric", name, [*problem.metrics, *own])
        if not quadratic or not is_round_metric(name):
            raise UnknownName(f"the problem '{problem.name}': metric", name, [*problem.metrics, *own])


class _Run:
    """One run on a quadratic problem, in any arithmetic."""

    def __init__(self, method: Method, exact: Exact, grid: list[int], progress: Callable[[float], None]) -> None:
        self.method, self.grid, self.exact, self.progress = method, grid, exact, progress
        self.clients = exact.clients
        self.random = method.is_random(self.clients)
        self.names = list(exact.metrics)

    def _columns(self, ring: Ring) -> Mapping[str, Sequence[Any]]:
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
        pushed = self.method.server_momentum is not None and not self.method.server_momentum.is_constant
        changing = "momentum" if pushed else "correction" if self.method.schedule.is_constant() else "step size"
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
        if isinstance(self.method.exchange, Blocks):
            return self.exact.workers
        return self.method.participation.fixed(0, self.clients) or tuple(range(self.clients.count))

    def _visits(self) -> list[tuple[int, Visit]]:
        """What the clients of a round do, all of them where cohorts are random."""
        cohort = self._members()
        return [(i, v) for i in cohort for _, v in self.method.local.visits(i, cohort, self.clients)]

    def _curve(self, arithmetic: Arithmetic, values: Mapping[str, Any], info: Mapping[str, Any], **more: Any) -> Curve:
        return Curve(
            rounds=np.array(self.grid, dtype=np.int64),
            values={k: np.array(v, dtype=np.float64) for k, v in values.items()},
            arithmetic=arithmetic,
            expectation=self.random,
            info={"engine": "exact", **info},
            **more,
        )

    def floats(self) -> Curve:
        """Double precision."""
        with np.errstate(over="ignore", invalid="ignore"):
            columns = self._columns(FloatRing())
        values = {k: [float(v) for v in columns[k]] for k in self.names}
        # inf - inf on the way of a diverging run is not a number; the run is infinite all the same
        return self._curve(
            Arithmetic.FLOAT64, {k: [np.inf if np.isnan(x) else x for x in v] for k, v in values.items()}, {}
        )

    def rationals(self) -> Curve:
        """Exact fractions."""
        columns = self._columns(RationalRing())
        exact = {k: tuple(fraction(v) for v in columns[k]) for k in self.names}
        return self._curve(Arithmetic.RATIONAL, _nearest(exact), {}, exact=exact, **_bounds(exact))

    def balls(self) -> Curve:
        """Rigorous enclosures at a precision that is raised as needed."""
        bits = FIRST_BITS
        while True:
            with precision(bits):
                columns = self._columns(BallRing())
                # a number below 1e-300 is as good as known: its enclosure in doubles is [0, tiny]
                good = min((_good(v) for k in self.names for v in columns[k]), default=GOOD_BITS)
                if good >= GOOD_BITS or bits >= MAX_BITS:
                    return self._enclosures(columns, bits, good)
            bits *= 2

    def _enclosures(self, columns: Mapping[str, Sequence[Any]], bits: int, good: int) -> Curve:
        low: dict[str, Any] = {}
        high: dict[str, Any] = {}
        values: dict[str, Any] = {}
        for k in self.names:
            triples = [outward(v, nonnegative=k != "x" and k not in SIGNED) for v in columns[k]]
            low[k], values[k], high[k] = (np.array(column, dtype=np.float64) for column in zip(*triples, strict=True))
        info = {"bits": bits, "accuracy": "relative 1e-12" if good >= GOOD_BITS else f"relative 2^{-max(good, 0)}"}
        return self._curve(Arithmetic.BALL, values, info, low=low, high=high)


def _good(value: arb) -> int:
    """Correct bits of a ball, at most GOOD_BITS; all of them where it is below 1e-300."""
    if value.is_zero() or value.abs_upper() < NEGLIGIBLE:
        return GOOD_BITS
    return min(GOOD_BITS, int(value.rel_accuracy_bits()))


def _nearest(exact: Mapping[str, Sequence[Fraction]]) -> dict[str, list[float]]:
    return {k: [nearest_float(x) for x in v] for k, v in exact.items()}


def _bounds(exact: Mapping[str, Sequence[Fraction]]) -> dict[str, Any]:
    low = {k: np.array([float_down(x) for x in v], dtype=np.float64) for k, v in exact.items()}
    high = {k: np.array([float_up(x) for x in v], dtype=np.float64) for k, v in exact.items()}
    return {"low": low, "high": high}
