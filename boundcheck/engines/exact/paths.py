"""Runs outcome by outcome on problems that are not quadratic, and between the two ends of an interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.linalg import float_down, float_up, nearest_float
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.exact.paths_rounds import Plan, Progress, Walk
from boundcheck.engines.exact.paths_visits import Compiled, is_stepped
from boundcheck.engines.exact.results import Columns, curve_of
from boundcheck.errors import Unsupported
from boundcheck.methods.formal import Atom, Gradient, Vector
from boundcheck.methods.method import Method
from boundcheck.methods.parts import StepSize
from boundcheck.methods.round import Sent
from boundcheck.problems.problem import Problem, clients_of, optional

# Intervals: the ends are multiples of 2^-bits; bits double until values are known to TOLERANCE, or MAX_BITS.
FIRST_BITS = 128
MAX_BITS = 4096
TOLERANCE = Fraction(1, 10**12)
NEGLIGIBLE = Fraction(1, 10**300)


def run_paths(
    method: Method,
    problem: Problem,
    grid: Sequence[int],
    metrics: Sequence[str],
    arithmetic: Arithmetic,
    progress: Progress,
) -> Curve:
    """The metrics of a run, or their expectations, history by history.

    A `Stepped` problem in one of its arithmetics is carried out with all that is random; balls are rigorous, as each
    gradient is an enclosure over the ball of points. Any other problem with gradients is carried out with methods
    without randomness, in FLOAT64 or RATIONAL; in BALL where it lies on the line and bounds its metrics over intervals,
    as long as each step x - eta f_i'(x) is a nondecreasing map: running the two ends of an interval, rounded outwards,
    then encloses the run.

    Raises Unsupported for what that leaves out, beyond `MAX_STEPS` or `MAX_GRADIENTS` gradients or `MAX_HISTORIES`
    histories, and for fractions of more than `MAX_DIGITS` digits.
    """
    walks: list[Walk] = []
    random = method.is_random(clients_of(problem))

    def compute(asked: Arithmetic) -> Columns:
        walks.append(Walk(method, problem, asked))
        return walks[-1].measured(grid, metrics, progress)

    if arithmetic is Arithmetic.BALL and not is_stepped(problem, arithmetic):
        return _enclosed(method, problem, grid, metrics, progress)
    curve = curve_of(compute, arithmetic, grid, random)
    if walks[-1].inexactness is None:
        return curve
    return replace(curve, info={**curve.info, "inexactness": walks[-1].inexactness})


def oracle_iterates(method: Method, problem: Problem, rounds: int, kind: type[Walk] = Walk) -> NDArray[np.float64]:
    """The server's point after 0, ..., rounds rounds, shape (rounds + 1, d), in double precision.

    From the clients' gradients. kind: of the walk. Raises Unsupported as `run_paths`, and for random methods.
    """
    walk = kind(method, problem, Arithmetic.FLOAT64, stepped=False)
    with np.errstate(over="ignore", invalid="ignore"):
        found = [h.server["x"] for _, (h,) in walk.rounds(range(rounds + 1), lambda share: None)]
    return np.where(np.isnan(found), np.inf, np.array(found, dtype=np.float64))


# --- a run between two ends -----------------------------------------------------------------------------------------


def _enclosed(
    method: Method, problem: Problem, grid: Sequence[int], metrics: Sequence[str], progress: Progress
) -> Curve:
    def walk(snap: Callable[[Fraction], Fraction]) -> Walk:
        def checked(plan: Plan, eta: StepSize, works: Sequence[Any]) -> None:
            _require_monotone(method, problem, plan, eta, works)

        return Walk(method, problem, Arithmetic.RATIONAL, stepped=False, snap=snap, checked=checked)

    def end(unit: int, rounding: Callable[[Fraction], int]) -> list[Fraction]:
        own = walk(lambda v: Fraction(rounding(v * unit), unit))
        return [h.server["x"][0] for _, (h,) in own.rounds(grid, progress)]

    walk(Fraction).refuse(grid[-1])
    measured = optional(problem, "metric_range")
    if measured is None:
        raise Unsupported(
            f"the problem '{problem.name}' is not quadratic and bounds no metric over an interval, so the exact "
            "engine cannot enclose its run; use arithmetic = 'rational' or 'float64'."
        )
    bits = FIRST_BITS
    while True:
        unit = 1 << bits
        ends = list(zip(end(unit, math.floor), end(unit, math.ceil), strict=True))
        ranges = {k: [measured(k, a, b) for a, b in ends] for k in metrics}
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


def _width(bounds: tuple[Fraction, Fraction]) -> Fraction:
    low, high = bounds
    if low == high or max(abs(low), abs(high)) < NEGLIGIBLE:
        return Fraction(0)
    return (high - low) / max(abs(low), abs(high))


def _require_monotone(method: Method, problem: Problem, plan: Plan, eta: StepSize, works: Sequence[Any]) -> None:
    """Each step a nondecreasing map of the point and of where the visit began, and the server's step an averaging.

    Raises Unsupported otherwise.
    """
    name, rule = method.name, method.rule
    x, total, moved = Atom("server", "x", True), Atom("total", "x"), Vector.of(Atom("moved", rule.local[0]))
    visits = [v for own in works for _, v, _ in own]
    done: list[Compiled] = [compiled for own in works for _, _, compiled in own]
    steps: list[tuple[Fraction, Fraction]] = []  # a and g of y+ - x = a (y - x) - g f'(y)
    plain = True
    for own in done:
        slope = Vector.of(Gradient(own.begin[0] + moved))
        for after, *others in own.steps:
            a, g = (after.terms.get(next(iter(v.terms)), Fraction(0)) for v in (moved, slope))
            plain = plain and not others and after == moved * a + slope * g and a <= 1 and g <= 0
            steps.append((a, -g))
    further = [is_point for kept, is_point in rule.kept_by_server.items() if kept != "x"]
    if not (plain and all(further)):
        raise Unsupported(f"a corrected step of {name} is no monotone map, so that its run cannot be enclosed.")
    if further:
        raise Unsupported(
            f"a step of {name} with momentum is no monotone map, so that its run cannot be enclosed; use "
            "arithmetic = 'rational' or 'float64'."
        )
    smooth = problem.constants().get("L")
    if smooth is None or problem.dim != 1:
        raise Unsupported(f"the problem '{problem.name}' has no L on the line, so its run cannot be enclosed.")
    factor = plan.combined["x"].terms.get(total, Fraction(0))
    adds = all(own.begin == (Vector.of(x),) and own.sent == {"x": Sent(moved)} for own in done)
    adds = adds and plan.combined == {"x": Vector({x: Fraction(1), total: factor})}
    factors = [[factor * a for a in c.weights[None]] for c in plan.cohorts]
    if not adds or any(min(f, default=0) < 0 or sum(f) > 1 for f in factors):
        raise Unsupported(f"the server step of {name} is no averaging, so its run cannot be enclosed.")
    if any(g * smooth.value > a for a, g in steps):
        largest = (max(eta) if isinstance(eta, tuple) else eta) * max(v.scale for v in visits)
        weight = max(v.prox for v in visits)
        raise Unsupported(
            f"eta = {largest} exceeds 1/L = {1 / (smooth.value + weight)} of '{problem.name}'"
            f"{f' with the proximal weight {weight}' if weight else ''}, so that a step is no monotone map and its run "
            "cannot be enclosed; use arithmetic = 'rational' or 'float64'."
        )
