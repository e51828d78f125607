"""What a method with a constant step size settles to on a quadratic problem: a linear system, not a long run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from boundcheck.core.linalg import float_down, float_up, fraction, identity, nearest_float, precision
from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact.dynamics import Dynamics
from boundcheck.engines.exact.rings import BallRing, FloatRing, Matrix, RationalRing, Ring, picked
from boundcheck.engines.exact.run import check_metrics
from boundcheck.engines.exact.space import Applied
from boundcheck.engines.exact.spectral import Contraction, contraction, moving, projector_of, whole_cycle
from boundcheck.engines.exact.state import Exact, lower
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.method import Method
from boundcheck.problems.problem import Problem

BITS = 256  # of the first attempt with balls; doubled up to MAX_BITS where the system is not known to be regular
MAX_BITS = 4096
Value = Fraction | float | tuple[float, float]
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Stationary:
    """The limit of a run as its rounds go on (at the ends of its periods, where cohorts are fixed).

    mean: the limit of E x, one number a coordinate. values: metric -> the limit of its expectation. bias: metric ->
    its value at the point `mean`, so that values - bias is what the randomness adds (metrics of the point only).
    Numbers are Fractions (RATIONAL), doubles (low, high) that enclose them (BALL) or doubles (FLOAT64).
    radius_high: upper bound of the spectral radius of the map of second moments (of the mean without randomness).
    """

    mean: tuple[Value, ...]
    values: Mapping[str, Value]
    bias: Mapping[str, Value]
    arithmetic: Arithmetic
    radius_high: float


def stationary(
    method: Method,
    problem: Problem,
    metrics: Iterable[str] | None = None,
    arithmetic: Arithmetic = Arithmetic.RATIONAL,
) -> Stationary:
    """The stationary mean and metrics. metrics: as for `run_exact`, default all of the problem.

    Where F's Hessian is singular and no sample's gradient has a part in its null space, the coordinates there stay
    where the start has them.

    Raises UnknownName (metric), Unsupported (changing step sizes, problems that are not quadratic) and BadInput
    where the method does not contract, or where its limit is not unique.
    """
    names = tuple(problem.metrics if metrics is None else metrics)
    check_metrics(names, problem, method)
    found = contracting(method, problem, only_decide=True)
    exact = lower(method, problem, names)
    return in_arithmetic(
        arithmetic, method, problem, lambda ring: _solve(ring, method, problem, exact, found.radius_high)
    )


def contracting(method: Method, problem: Problem, *, only_decide: bool) -> Contraction:
    """The method's contraction. Raises BadInput, with a bound of the spectral radius, where it is not below 1."""
    found = contraction(method, problem, only_decide=only_decide)
    if not found.converges:
        rounds = f" of {found.rounds} rounds" if found.rounds > 1 else ""
        raise BadInput(
            f"{method.name} has no stationary distribution on '{problem.name}': the spectral radius of its "
            f"{'second moments' if found.second_moment else 'map'}{rounds} is at least {found.radius_low:.6g}"
            + (", and whether it is below 1 could not be decided." if found.converges is None else ", not below 1.")
        )
    return found


def in_arithmetic(arithmetic: Arithmetic, method: Method, problem: Problem, solve: Callable[[Ring], _Found]) -> _Found:
    """solve(ring) in an arithmetic, with balls as precise as it takes. Raises BadInput where there is no one solution.

    solve raises ZeroDivisionError for a linear system that is singular (or not known to be regular).
    """
    if arithmetic is Arithmetic.BALL:
        bits = BITS
        while True:
            with precision(bits):
                try:
                    return solve(BallRing())
                except ZeroDivisionError:
                    if bits >= MAX_BITS:
                        raise BadInput(f"the stationary system of {method.name} could not be enclosed.") from None
            bits *= 2
    if arithmetic not in (Arithmetic.RATIONAL, Arithmetic.FLOAT64):
        raise BadInput("a stationary state is computed in arithmetic 'rational', 'ball' or 'float64'.")
    try:
        return solve(RationalRing() if arithmetic is Arithmetic.RATIONAL else FloatRing())
    except ZeroDivisionError:
        raise BadInput(f"the stationary state of {method.name} on '{problem.name}' is not unique.") from None


def settled(ring: Ring, method: Method, problem: Problem, exact: Exact) -> tuple[Matrix, Matrix]:
    """The limits of E z (D, 1) and E[z z'] (D, D) at the ends of periods. Raises as `stationary` does."""
    layout, projector = exact.layout, projector_of(exact)
    if projector != identity(layout.d):
        rest = identity(layout.d) - projector
        offsets = [o for _, o in exact.whole] + [o for s in exact.samples or () for o in s.offsets]
        if any(v != 0 for o in offsets for v in (rest * o).entries()):
            raise Unsupported(
                f"a client of '{problem.name}' moves along directions in which F is constant, so that {method.name} "
                "does not settle there."
            )
    mean, second = whole_cycle(ring, method, exact)
    size, last = layout.size, layout.size - 1
    point = _limit(ring, mean, list(range(last)), [last], [1], ring.lift(layout.repeated(projector)))
    z = ring.from_rows([[v] for v in point] + [[ring.scalar(Fraction(1))]])
    if second is None:
        return z, ring.mul(z, z.transpose())
    inside = moving(size)
    known = [k for k in range(size * (size + 1) // 2) if k not in set(inside)]
    blocks = ring.lift(layout.repeated(projector))
    column = _limit(ring, second, inside, known, [*point, 1], ring.operator([(blocks, blocks)]))
    return z, _bordered(ring, column, point, last)


def metrics_at(dynamics: Dynamics, moment: Matrix, round_index: int) -> dict[str, Any]:
    """All metrics before a round (not the first) with constant step size, from E[z z']."""
    ring = dynamics.ring
    values = {name: ring.dot(q.transpose(), moment) for name, q in dynamics.readers.forms().items()}
    if dynamics.readers.names:
        step, space = dynamics.method.schedule.step(1), Applied(ring, moment)
        watched = dynamics.readers.watched(space, step, round_index)
        values |= {name: v[0, 0] for name, v in watched.items()}
    return values


def _solve(ring: Ring, method: Method, problem: Problem, exact: Exact, radius: float) -> Stationary:
    dynamics = Dynamics(ring, method, exact)
    z, moment = settled(ring, method, problem, exact)
    values = metrics_at(dynamics, moment, dynamics.rounds.cycle.start)
    at_mean = ring.mul(z, z.transpose())
    bias = {name: plain(ring, ring.dot(q.transpose(), at_mean), name) for name, q in dynamics.readers.forms().items()}
    named = {name: plain(ring, values[name], name) for name in exact.metrics}
    return Stationary(mean_point(dynamics, z), named, bias, ring.arithmetic, radius)


def mean_point(dynamics: Dynamics, z: Matrix) -> tuple[Value, ...]:
    """E x from E z (D, 1)."""
    ring, exact = dynamics.ring, dynamics.exact
    centre = ring.lift(exact.centre)
    return tuple(plain(ring, z[k, 0] + centre[k, 0], "x") for k in range(exact.layout.d))


def _limit(
    ring: Ring, m: Matrix, inside: Sequence[int], known: Sequence[int], values: Sequence[Any], projector: Matrix
) -> list[Any]:
    """s = P (M_inside s + M_known values), P the projector; raises ZeroDivisionError where 1 - P M P is singular."""
    own = picked(ring, m, inside, inside)
    right = ring.mul(picked(ring, m, inside, known), ring.from_rows([[v] for v in values]))
    own = ring.mul(projector, ring.mul(own, projector))
    solved = ring.solve(ring.lift(identity(len(inside))) - own, ring.mul(projector, right))
    return [row[0] for row in ring.rows(solved)]


def _bordered(ring: Ring, column: Sequence[Any], point: Sequence[Any], last: int) -> Matrix:
    """E[z z'] from packed E[z z'] without its last column, and E[z]."""
    inner = ring.unpack(ring.from_rows([[v] for v in column]), last)
    rows = [[*row, v] for row, v in zip(ring.rows(inner), point, strict=True)]
    return ring.from_rows([*rows, [*point, ring.scalar(Fraction(1))]])


def plain(ring: Ring, value: Any, name: str) -> Value:
    """A number of the ring as `Stationary` gives it."""
    if ring.arithmetic is Arithmetic.RATIONAL:
        return fraction(value)
    if ring.arithmetic is Arithmetic.BALL:
        low = float_down(value)
        return (low if name == "x" else max(low, 0.0)), float_up(value)
    return float(value) if not isinstance(value, Fraction) else nearest_float(value)
