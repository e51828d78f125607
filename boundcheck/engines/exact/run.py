"""Runs without sampling error: the curve of one deterministic run, or of expectations over random cohorts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from boundcheck.core.linalg import float_down, float_up, fraction, nearest_float, outward, precision
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.exact.affine import Affine, lower
from boundcheck.engines.exact.dynamics import Dynamics, Moments, Point, stepwise, trajectory
from boundcheck.engines.exact.oracle import run_oracle
from boundcheck.engines.exact.rings import BallRing, FloatRing, RationalRing, Ring
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.method import Method
from boundcheck.problems.problem import Problem, QuadraticProblem, clients_of

__all__ = ["FIRST_BITS", "MAX_BITS", "MAX_VISITS", "run_exact"]

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

    Quadratic problems with local full-gradient steps: fixed cohorts give the run itself, random ones the
    expectations of the metrics (second moments). A constant step size takes any number of rounds at once; other
    schedules go round by round up to `MAX_VISITS` client visits. Other problems are carried out step by step
    from their gradient oracle (`oracle.run_oracle`).

    grid: increasing rounds, 0 is the start. metrics: default all of the problem. arithmetic: BALL encloses
    rigorously, with the precision raised until each value is known to a relative 1e-12 (info["accuracy"] says
    what was reached); RATIONAL gives the fractions themselves; FLOAT64 has no rounding bound.

    Raises Unsupported (local work or sizes it cannot carry), BadInput (grid), UnknownName (metric).
    """
    rounds = [int(r) for r in grid]
    if not rounds or rounds[0] < 0 or any(b <= a for a, b in itertools.pairwise(rounds)):
        raise BadInput("the rounds to measure at must be a strictly increasing list that starts at 0 or later.")
    names = tuple(problem.metrics if metrics is None else metrics)
    for name in names:
        if name not in problem.metrics:
            raise UnknownName(f"the problem '{problem.name}': metric", name, problem.metrics)
    if arithmetic is Arithmetic.SAMPLED:
        raise BadInput("the exact engine draws no samples; its arithmetic is 'ball', 'rational' or 'float64'.")

    def progress(share: float) -> None:
        if on_progress is not None:
            on_progress(share)

    if not isinstance(problem, QuadraticProblem):
        return run_oracle(method, problem, rounds, names, arithmetic, progress)
    run = _Run(method, problem, rounds, lower(method, problem, names), progress)
    if arithmetic is Arithmetic.BALL:
        return run.balls()
    return run.rationals() if arithmetic is Arithmetic.RATIONAL else run.floats()


class _Run:
    """One run on a quadratic problem, in any arithmetic."""

    def __init__(
        self, method: Method, problem: Problem, grid: list[int], affine: Affine, progress: Callable[[float], None]
    ) -> None:
        self.method, self.grid, self.affine, self.progress = method, grid, affine, progress
        self.clients = clients_of(problem)
        self.random = method.participation.fixed(0, self.clients) is None
        self.names = [*affine.quadratic, *affine.linear]

    def _rows(self, ring: Ring) -> Iterator[Mapping[str, Any]]:
        size = self.affine.start.nrows()
        dynamics: Dynamics = (Moments if self.random else Point)(ring, self.method, self.affine, self.clients)
        # Composing maps pays once there are more rounds than the state has entries.
        worth = not self.random or self.grid[-1] > size * (size + 1) // 2
        if self.method.schedule.is_constant() and worth:
            return trajectory(ring, dynamics, self.method.schedule.step(1), self.grid, self.progress)
        n = self.clients.count
        visits = self.grid[-1] * (n if self.random else len(self.method.participation.fixed(0, self.clients) or ()))
        if visits > MAX_VISITS[ring.arithmetic]:
            raise Unsupported(
                f"{self.grid[-1]} rounds with a step size that changes are {visits} client visits; the exact engine "
                f"carries out at most {MAX_VISITS[ring.arithmetic]} in arithmetic '{ring.arithmetic}'."
            )
        return stepwise(dynamics, self.method, self.clients, self.grid, self.progress)

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
            rows = list(self._rows(FloatRing()))
        values = {k: [float(row[k]) for row in rows] for k in self.names}
        # inf - inf on the way of a diverging run is not a number; the run is infinite all the same
        return self._curve(
            Arithmetic.FLOAT64, {k: [np.inf if np.isnan(x) else x for x in v] for k, v in values.items()}, {}
        )

    def rationals(self) -> Curve:
        """Exact fractions."""
        rows = list(self._rows(RationalRing()))
        exact = {k: tuple(fraction(row[k]) for row in rows) for k in self.names}
        return self._curve(Arithmetic.RATIONAL, _nearest(exact), {}, exact=exact, **_bounds(exact))

    def balls(self) -> Curve:
        """Rigorous enclosures at a precision that is raised as needed."""
        bits = FIRST_BITS
        while True:
            with precision(bits):
                rows = list(self._rows(BallRing()))
                # a number below 1e-300 is as good as known: its enclosure in doubles is [0, tiny]
                lost = [min((_good(row[k]) for row in rows), default=GOOD_BITS) for k in self.names]
                if min(lost, default=GOOD_BITS) >= GOOD_BITS or bits >= MAX_BITS:
                    return self._enclosures(rows, bits, min(lost, default=GOOD_BITS))
            bits *= 2

    def _enclosures(self, rows: Sequence[Mapping[str, Any]], bits: int, good: int) -> Curve:
        low: dict[str, Any] = {}
        high: dict[str, Any] = {}
        values: dict[str, Any] = {}
        for k in self.names:
            triples = [outward(row[k], nonnegative=k != "x") for row in rows]
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
