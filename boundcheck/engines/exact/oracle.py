"""Step-by-step runs from a gradient oracle, for problems that are not quadratic."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.linalg import float_down, float_up, nearest_float
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.exact.rings import MAX_DIGITS
from boundcheck.engines.exact.state import cohort_at, visits_at
from boundcheck.errors import Unsupported
from boundcheck.methods.method import Method
from boundcheck.problems.problem import IntervalProblem, Problem, clients_of

__all__ = ["MAX_BITS", "MAX_STEPS", "run_oracle"]

# Gradient evaluations of one run, of the centre or of each end of an interval.
MAX_STEPS: Mapping[Arithmetic, int] = {
    Arithmetic.FLOAT64: 20_000_000,
    Arithmetic.BALL: 1_000_000,
    Arithmetic.RATIONAL: 100_000,
}
# Intervals: the ends are multiples of 2^-bits; bits double until values are known to TOLERANCE, or MAX_BITS.
FIRST_BITS = 128
MAX_BITS = 4096
TOLERANCE = Fraction(1, 10**12)
NEGLIGIBLE = Fraction(1, 10**300)

Point = NDArray[Any]
Progress = Callable[[float], None]
Snap = Callable[[Fraction], Fraction]


def run_oracle(
    method: Method,
    problem: Problem,
    grid: Sequence[int],
    metrics: Sequence[str],
    arithmetic: Arithmetic,
    progress: Progress,
) -> Curve:
    """A deterministic run, one gradient step after the other.

    FLOAT64 and RATIONAL take any problem with a gradient of that kind. BALL takes problems on the line that bound
    their metrics over intervals, as long as every step size is at most 1/L: then each step x - eta f_i'(x) is a
    nondecreasing map, and running the two ends of an interval, rounded outwards, encloses the run.

    Raises Unsupported for random methods, where balls are not to be had, and beyond `MAX_STEPS` gradients or
    `MAX_DIGITS` digits.
    """
    clients = clients_of(problem)
    if method.is_random(clients):
        raise Unsupported(
            f"the problem '{problem.name}' is not quadratic, so the exact engine has no expectation over the random "
            f"choices of {method.name}; use engine = 'sampled'."
        )
    steps = grid[-1] * sum(visits_at(method, 0, clients))
    if steps > MAX_STEPS[arithmetic]:
        raise Unsupported(
            f"{grid[-1]} rounds on '{problem.name}' are {steps} gradients; step by step at most "
            f"{MAX_STEPS[arithmetic]} are carried out in arithmetic '{arithmetic}'."
        )
    if arithmetic is Arithmetic.BALL:
        return _enclosed(method, problem, grid, metrics, progress)
    exact = arithmetic is Arithmetic.RATIONAL
    rows: list[dict[str, Any]] = []

    def measure(x: Point) -> None:
        rows.append({name: problem.metric(name, x) for name in metrics})

    with np.errstate(over="ignore", invalid="ignore"):
        _carry_out(method, problem, grid, exact, measure, progress, None)
    fractions = {k: tuple(Fraction(row[k]) for row in rows) for k in metrics} if exact else {}
    values = {k: np.array([nearest_float(row[k]) if exact else row[k] for row in rows]) for k in metrics}
    return Curve(
        rounds=np.array(grid, dtype=np.int64),
        # inf - inf on the way of a diverging run is not a number; the run is infinite all the same
        values={k: np.where(np.isnan(v), np.inf, v) for k, v in values.items()},
        arithmetic=arithmetic,
        low={k: np.array([float_down(x) for x in v]) for k, v in fractions.items()},
        high={k: np.array([float_up(x) for x in v]) for k, v in fractions.items()},
        exact=fractions,
        info={"engine": "exact"},
    )


def _carry_out(
    method: Method,
    problem: Problem,
    grid: Sequence[int],
    exact: bool,
    measure: Callable[[Point], None],
    progress: Progress,
    snap: Snap | None,
) -> None:
    """Run from the start and measure at each round of the grid; `snap` rounds every new coordinate."""
    x = _start(problem, exact)
    done = 0
    for target in grid:
        while done < target:
            x = _round(method, problem, x, done, exact, snap)
            done += 1
            if done % 1000 == 0:
                progress(done / grid[-1])
        measure(x)


def _start(problem: Problem, exact: bool) -> Point:
    if exact:
        return _exact(problem.start)
    return np.array([nearest_float(v) for v in problem.start], dtype=np.float64)


def _exact(values: Sequence[Fraction]) -> Point:
    x = np.empty(len(values), dtype=object)
    x[:] = values
    return x


def _round(method: Method, problem: Problem, x: Point, done: int, exact: bool, snap: Snap | None) -> Point:
    clients = clients_of(problem)
    cohort, factors = cohort_at(method, done, clients)
    eta: Any = method.schedule.step(method.cycle_of(done, clients))
    eta = eta if exact else nearest_float(eta)
    repeats = visits_at(method, done, clients)
    moved = x
    for i, factor, steps in zip(cohort, factors, repeats, strict=True):
        y = x
        for _ in range(steps):
            y = y - eta * problem.gradient(i, y)
            if snap is not None:
                y = _exact([snap(v) for v in y])
            elif exact:
                _check_digits(y, problem, done)
        moved = moved + (factor if exact else nearest_float(factor)) * (y - x)
    if snap is not None:
        return _exact([snap(v) for v in moved])
    return moved


def _check_digits(x: Point, problem: Problem, done: int) -> None:
    if max(v.denominator.bit_length() for v in x) > 3.33 * MAX_DIGITS:
        raise Unsupported(
            f"exact rational arithmetic met numbers of more than {MAX_DIGITS} digits after {done} rounds on "
            f"'{problem.name}'; use fewer rounds or another arithmetic."
        )


def _enclosed(
    method: Method, problem: Problem, grid: Sequence[int], metrics: Sequence[str], progress: Progress
) -> Curve:
    if not isinstance(problem, IntervalProblem):
        raise Unsupported(
            f"the problem '{problem.name}' is not quadratic and bounds no metric over an interval, so the exact "
            "engine cannot enclose its run; use arithmetic = 'rational' or 'float64'."
        )
    _require_monotone(method, problem, grid[-1])
    bits = FIRST_BITS
    while True:
        unit = 1 << bits
        lows = _end(method, problem, grid, unit, math.floor, progress)
        highs = _end(method, problem, grid, unit, math.ceil, progress)
        ranges = {k: [problem.metric_range(k, a, b) for a, b in zip(lows, highs, strict=True)] for k in metrics}
        width = max((_width(r) for rs in ranges.values() for r in rs), default=Fraction(0))
        if width <= TOLERANCE or bits >= MAX_BITS:
            break
        bits *= 2
    middle = {k: [nearest_float((a + b) / 2) for a, b in rs] for k, rs in ranges.items()}
    reached = "relative 1e-12" if width <= TOLERANCE else f"relative {nearest_float(width):.3g}"
    return Curve(
        rounds=np.array(grid, dtype=np.int64),
        values={k: np.array(v) for k, v in middle.items()},
        arithmetic=Arithmetic.BALL,
        low={k: np.array([float_down(a) for a, _ in rs]) for k, rs in ranges.items()},
        high={k: np.array([float_up(b) for _, b in rs]) for k, rs in ranges.items()},
        info={"engine": "exact", "bits": bits, "accuracy": reached},
    )


def _end(
    method: Method,
    problem: Problem,
    grid: Sequence[int],
    unit: int,
    rounding: Callable[[Fraction], int],
    progress: Progress,
) -> list[Fraction]:
    """One end of the interval at each round of the grid."""
    found: list[Fraction] = []
    _carry_out(
        method,
        problem,
        grid,
        True,
        lambda x: found.append(x[0]),
        progress,
        lambda v: Fraction(rounding(v * unit), unit),
    )
    return found


def _width(bounds: tuple[Fraction, Fraction]) -> Fraction:
    low, high = bounds
    if low == high or max(abs(low), abs(high)) < NEGLIGIBLE:
        return Fraction(0)
    return (high - low) / max(abs(low), abs(high))


def _require_monotone(method: Method, problem: Problem, rounds: int) -> None:
    """Every step at most 1/L, and the server's factors nonnegative with sum at most 1 (Unsupported otherwise)."""
    smooth = problem.constants().get("L")
    if smooth is None or problem.dim != 1:
        raise Unsupported(f"the problem '{problem.name}' has no L on the line, so its run cannot be enclosed.")
    clients = clients_of(problem)
    cycles = {1} if method.schedule.is_constant() else range(1, method.cycle_of(max(rounds - 1, 0), clients) + 1)
    largest = max(method.schedule.step(k) for k in cycles)
    for t in range(min(rounds, method.participation.period(clients))):
        factors = cohort_at(method, t, clients)[1]
        if min(factors) < 0 or sum(factors) > 1:
            raise Unsupported(f"the server step of {method.name} is no averaging, so its run cannot be enclosed.")
    if largest * smooth.value > 1:
        raise Unsupported(
            f"eta = {largest} exceeds 1/L = {1 / smooth.value} of '{problem.name}', so that a step is no monotone map "
            "and its run cannot be enclosed; use arithmetic = 'rational' or 'float64'."
        )
