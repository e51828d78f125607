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
from boundcheck.engines.exact.state import cohort_at
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import StepSize, Visit, first_repeated
from boundcheck.problems.problem import Arrays, IntervalProblem, Problem, clients_of
from boundcheck.setting.step_sizes import run_steps

# Gradient evaluations of one run, of the centre or of each end of an interval.
MAX_STEPS: Mapping[Arithmetic, int] = {
    Arithmetic.FLOAT64: 20_000_000,
    Arithmetic.BALL: 1_000_000,
    Arithmetic.RATIONAL: 100_000,
}
# Intervals: the ends are multiples of 2^-bits; bits double until values are known to TOLERANCE, or MAX_BITS.
FIRST_BITS = 128
MAX_BITS = 4096
NEWTON = 100  # gradients for which an exact solve is counted
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
    _check_method(method, problem)
    solves = [v.sampling == "exact" for v in _visits(method, 0, clients)]
    if any(solves) and (arithmetic is not Arithmetic.FLOAT64 or _linear_scores(problem) is None):
        raise no_solves(problem)
    steps = grid[-1] * sum(NEWTON if v.sampling == "exact" else v.steps for v in _visits(method, 0, clients))
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
        inexactness = _carry_out(method, problem, grid, exact, measure, progress, None)
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
        info={"engine": "exact"} | ({"inexactness": inexactness} if any(solves) else {}),
    )


def no_solves(problem: Problem) -> Unsupported:
    """Why exact solves are not carried out on a problem that is not quadratic."""
    return Unsupported(
        f"exact solves on '{problem.name}', which is not quadratic, are carried out by Newton's method: in "
        "arithmetic 'float64', on logistic and softmax regression."
    )


def oracle_iterates(method: Method, problem: Problem, rounds: int) -> NDArray[np.float64]:
    """The server's point after 0, ..., rounds rounds, shape (rounds + 1, d), in double precision.

    Raises Unsupported as `run_oracle`.
    """
    _check_method(method, problem)
    found: list[Point] = []
    with np.errstate(over="ignore", invalid="ignore"):
        _carry_out(
            method, problem, range(rounds + 1), False, lambda x: found.append(x.copy()), lambda share: None, None
        )
    return np.where(np.isnan(found), np.inf, np.array(found, dtype=np.float64))


def _check_method(method: Method, problem: Problem) -> None:
    assert method.rule is not None  # raises for parts without a meaning together
    clients = clients_of(problem)
    if method.is_random(clients):
        raise Unsupported(
            f"the problem '{problem.name}' is not quadratic, so the exact engine has no expectation over the random "
            f"choices of {method.name}; use engine = 'sampled'."
        )
    kept = method.momentum is not None or method.exchange is not None or method.control is not None
    if kept or method.server.averages_models:
        raise Unsupported(
            f"the problem '{problem.name}' is not quadratic, and there the exact engine carries out only methods whose "
            "clients start from the server's point and have no momentum or control variates, and whose server adds up "
            f"differences, not {method.name}; use engine = 'sampled'."
        )


def _carry_out(
    method: Method,
    problem: Problem,
    grid: Sequence[int],
    exact: bool,
    measure: Callable[[Point], None],
    progress: Progress,
    snap: Snap | None,
) -> float:
    """Run from the start and measure at each round of the grid; `snap` rounds every new coordinate.

    Returns the largest inexactness of its solves (see `_Walk`).
    """
    walk = _Walk(method, problem, exact, snap)
    x = _start(problem, exact)
    done = 0
    for target in grid:
        while done < target:
            x = walk.round(x, done)
            done += 1
            if done % 1000 == 0:
                progress(done / grid[-1])
        measure(x)
    return walk.inexactness


def _start(problem: Problem, exact: bool) -> Point:
    if exact:
        return _exact(problem.start)
    return np.array([nearest_float(v) for v in problem.start], dtype=np.float64)


def _exact(values: Sequence[Fraction]) -> Point:
    x = np.empty(len(values), dtype=object)
    x[:] = values
    return x


def _visits(method: Method, done: int, clients: Clients) -> list[Visit]:
    """What each member of a round's fixed cohort does. Raises Unsupported where steps use samples."""
    cohort, _ = cohort_at(method, done, clients)
    found = [method.local.visits(i, cohort, clients) for i in cohort]
    if any(len(v) != 1 or v[0][1].sampling not in ("full", "exact") for v in found):
        raise Unsupported(f"the local steps of {method.name} use samples; this problem has whole gradients only.")
    return [v[0][1] for v in found]


def _linear_scores(problem: Problem) -> Arrays | None:
    """The data of logistic or softmax regression, else None."""
    from boundcheck.engines.sampled.solves import LINEAR

    arrays = getattr(problem, "arrays", None)
    found = None if arrays is None else arrays()
    return found if isinstance(found, Arrays) and found.kind in LINEAR else None


class _Walk:
    """The rounds of a run, one after the other.

    inexactness: the largest gamma of Definition 1 of FedDANE of all exact solves, |w - v| <= gamma |v - x| with v the
    solution: |w - v| is at most |grad P(w)|/m, P the subproblem and m its strong convexity (in double precision).
    """

    def __init__(self, method: Method, problem: Problem, exact: bool, snap: Snap | None) -> None:
        self._method, self._problem, self._exact, self._snap = method, problem, exact, snap
        self._clients = clients_of(problem)
        self._sizes = run_steps(method, self._clients)
        self._old: Point | None = None  # the mean gradient of the round before
        self._before: Point | None = None  # the server's point of the round before
        self.inexactness = 0.0

    def _number(self, value: Fraction) -> Any:
        return value if self._exact else nearest_float(value)

    def _mean_gradient(self, cohort: Sequence[int], x: Point, weights: str) -> Point:
        if not cohort:
            raise BadInput(f"{self._method.name} takes the mean gradient of a cohort that may be empty.")
        shares = [Fraction(1) if weights == "uniform" else self._clients.weights[i] for i in cohort]
        total, found = sum(shares, Fraction(0)), 0 * x
        for i, share in zip(cohort, shares, strict=True):
            found = found + self._number(share / total) * self._problem.gradient(i, x)
        return found

    def _target(self, x: Point, cohort: Sequence[int], done: int) -> tuple[Any, Point] | None:
        """(c_t, g) of the correction; None where there is none in this round."""
        correction = self._method.correction
        if correction is None:
            return None
        asked = cohort
        if correction.participation is not None:
            fixed = correction.participation.fixed(done, self._clients)
            asked = fixed or ()
        g: Point | None = self._mean_gradient(asked, x, correction.weights)
        if correction.pipelined:
            g, self._old = self._old, g
        c = correction.at(done)
        return None if g is None or c == 0 else (self._number(c), g)

    def round(self, x: Point, done: int) -> Point:
        """The server's point after round `done`."""
        method = self._method
        cohort, factors = cohort_at(method, done, self._clients)
        eta = self._sizes.of_round(done)
        moved, start = self._begun(x, done)
        target = self._target(start, cohort, done)
        for i, factor, visit in zip(cohort, factors, _visits(method, done, self._clients), strict=True):
            shift = None if target is None else target[0] * (target[1] - self._problem.gradient(i, start))
            if visit.sampling == "exact":
                y = self._solve(i, start, shift, visit)
            else:
                y = self._steps(i, start, shift, visit, eta)
            if self._exact and self._snap is None:
                _check_digits(y, self._problem, done)
            moved = moved + self._number(factor) * (y - start)
        return moved if self._snap is None else _exact([self._snap(v) for v in moved])

    def _begun(self, x: Point, done: int) -> tuple[Point, Point]:
        """The point to which a round adds its moves, and the point that the cohort receives."""
        own = self._method.server_momentum
        if own is None:
            return x, x
        before = x if self._before is None else self._before
        self._before = x
        ahead = x + self._number(own.at(done)) * (x - before)
        return ahead, ahead if own.nesterov else x

    def _steps(self, i: int, x: Point, shift: Point | None, visit: Visit, eta: StepSize) -> Point:
        prox, y = self._number(visit.prox), x
        for step in self._each(eta, visit):
            slope = self._problem.gradient(i, y)
            slope = slope if shift is None else slope + shift
            slope = slope + prox * (y - x) if visit.prox else slope
            y = y - step * slope
            if self._snap is not None:
                y = _exact([self._snap(v) for v in y])
            elif self._exact:
                _check_digits(y, self._problem, 0)
        return y

    def _each(self, eta: StepSize, visit: Visit) -> list[Any]:
        """The step size of each local step."""
        sizes = eta if isinstance(eta, tuple) else (eta,) * visit.steps
        return [self._number(v * visit.scale) for v in sizes]

    def _solve(self, i: int, x: Point, shift: Point | None, visit: Visit) -> Point:
        from boundcheck.engines.sampled.solves import newton

        arrays = _linear_scores(self._problem)
        assert arrays is not None
        prox, by = float(visit.prox), np.zeros(len(x)) if shift is None else shift
        y = newton(arrays, i, x, by, prox)
        left = self._problem.gradient(i, y) + by + prox * (y - x)
        off = float(np.linalg.norm(left)) / (arrays.ridge + prox)
        moved = float(np.linalg.norm(y - x)) - off
        self.inexactness = max(self.inexactness, 0.0 if off == 0 else off / moved if moved > 0 else math.inf)
        return y


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
    if method.correction is not None:
        raise Unsupported(f"a corrected step of {method.name} is no monotone map, so that its run cannot be enclosed.")
    if method.server_momentum is not None:
        raise Unsupported(
            f"a step of {method.name} with momentum is no monotone map, so that its run cannot be enclosed; use "
            "arithmetic = 'rational' or 'float64'."
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
    sizes = run_steps(method, clients)
    asked = range(1 if method.schedule.is_constant() else max(rounds, 1))
    largest = max(sizes.at(t, k) for t in asked for k in range(sizes.local_steps or 1))
    repeated = first_repeated(method.participation, clients) + method.participation.period(clients)
    for t in range(min(rounds, repeated)):
        factors = cohort_at(method, t, clients)[1]
        if any(f < 0 for f in factors) or sum(factors) > 1:
            raise Unsupported(f"the server step of {method.name} is no averaging, so its run cannot be enclosed.")
    weight = max(
        (v.prox for t in range(min(rounds, repeated)) for v in _visits(method, t, clients)), default=Fraction(0)
    )
    if largest * (smooth.value + weight) > 1:
        raise Unsupported(
            f"eta = {largest} exceeds 1/L = {1 / (smooth.value + weight)} of '{problem.name}'"
            f"{f' with the proximal weight {weight}' if weight else ''}, so that a step is no monotone map and its run "
            "cannot be enclosed; use arithmetic = 'rational' or 'float64'."
        )
