"""Whether a method with a constant step size contracts on a quadratic problem, from its exact linear maps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_mat, fmpq_mat

from boundcheck.core.linalg import float_down, float_up, fraction, identity, precision, range_projector
from boundcheck.engines.exact.budget import check_visits
from boundcheck.engines.exact.dynamics import Dynamics
from boundcheck.engines.exact.rings import BallRing, Matrix, RationalRing, Ring, picked, triangle
from boundcheck.engines.exact.rounds import Rounds
from boundcheck.engines.exact.state import Exact, lower, repeats
from boundcheck.errors import Unsupported
from boundcheck.methods.method import Method
from boundcheck.problems.problem import Problem

BITS = 1024
# Powers up to 2^40 enclose the spectral radius to about a relative 1e-11, up to 2^24 to 1e-6.
SQUARINGS, SMALL, FEW_SQUARINGS, FEW_BITS = 40, 60, 24, 256
MAX_PERIOD = 20_000  # rounds that are carried out for the map of a period
MAX_MOMENTS = 700  # entries of the packed second moments whose map is looked at


@dataclass(frozen=True)
class Contraction:
    """The linear part of one period of a method.

    multiplier: in dimension 1, without momentum, the exact factor of x - x* (no randomness) or of E (x - x*)^2, else
    None. second_moment: which of the two. rounds: of a period. radius_low, radius_high: rigorous enclosure of the
    spectral radius of that linear map (restricted to the range of the Hessian where all clients leave the
    solution set alone). converges: whether it is below 1; None where the enclosure does not decide.
    mean_radius_low, mean_radius_high: the same of the map of E x, which equals the former without randomness.
    """

    multiplier: Fraction | None
    second_moment: bool
    rounds: int
    radius_low: float
    radius_high: float
    converges: bool | None
    mean_radius_low: float
    mean_radius_high: float


def contraction(method: Method, problem: Problem, *, only_decide: bool = False) -> Contraction:
    """The multiplier of one period and whether its spectral radius is below 1.

    only_decide: enclose the radius no further than that takes.

    Raises Unsupported for step sizes that change, for problems that are not quadratic or too large, and for more
    samples with different Hessians than the dynamic programme takes.
    """
    if not method.schedule.is_constant():
        raise Unsupported(f"the step size of {method.name} changes, so that no single map describes its cycles.")
    if not repeats(method):
        raise Unsupported(
            f"the correction or momentum of {method.name} changes, so that no single map describes its rounds."
        )
    exact = lower(method, problem, ())
    if exact.layout.copies > 1:
        raise Unsupported(
            f"{method.name} hands models over among clients that are not alike; its state, with a copy for every "
            "assignment, is not one whose spectral radius is enclosed."
        )
    random, rounds = method.is_random(exact.clients), Rounds(RationalRing(), method, exact).period
    if exact.layout.size == 2:  # dimension 1, no momentum
        mean, second = cycle_map(RationalRing(), method, exact)
        ends: list[tuple[float, float]] = []
        for m in (mean, second):
            size = abs(fraction(m[0, 0])) if m is not None else Fraction(0)
            ends.append((float_down(size), float_up(size)))
        multiplier = fraction((mean if second is None else second)[0, 0])
        low, high = ends[0] if second is None else ends[1]
        return Contraction(multiplier, random, rounds, low, high, abs(multiplier) < 1, *ends[0])
    projector = projector_of(exact)
    wide = exact.layout.moving * (exact.layout.moving + 1) // 2 if random else exact.layout.moving
    if random and wide > MAX_MOMENTS:
        raise Unsupported(
            f"the state of {method.name} on '{problem.name}' has {wide} second moments; the spectral radius of their "
            f"map is enclosed for at most {MAX_MOMENTS}."
        )
    with precision(BITS if wide <= SMALL and not only_decide else FEW_BITS):
        ring = BallRing()
        mean, second = cycle_map(ring, method, exact, projector)
        of_mean = spectral_radius(mean, only_decide=only_decide)
        low, high = of_mean if second is None else spectral_radius(second, only_decide=only_decide)
    converges = True if high < 1 else (False if low > 1 else None)
    return Contraction(None, random, rounds, low, high, converges, *of_mean)


def projector_of(exact: Exact) -> fmpq_mat:
    """The projector onto the range of F's Hessian where no sample's gradient depends on the rest, else the identity."""
    projector = range_projector(exact.hessian)
    rest = identity(exact.layout.d) - projector
    hessians = [a for a, _ in exact.whole] + [a for s in exact.samples or () for a in s.hessians]
    alone = all(v == 0 for a in hessians for v in (a * rest).entries())
    return projector if alone else identity(exact.layout.d)


def cycle_map(
    ring: Ring, method: Method, exact: Exact, projector: fmpq_mat | None = None
) -> tuple[Matrix, Matrix | None]:
    """The linear parts of one period: of E[z] (size D-1), and of the packed E[z z'] where anything is random.

    projector: (d, d), applied to every block of the state.
    """
    mean, second = whole_cycle(ring, method, exact)
    keep = list(range(exact.layout.moving))
    mean = picked(ring, mean, keep, keep)
    packed = moving(exact.layout.size)
    if second is not None:
        second = picked(ring, second, packed, packed)
    if projector is None or projector == identity(exact.layout.d):
        return mean, second
    blocks = ring.lift(exact.layout.repeated(projector))
    mean = ring.mul(mean, blocks)
    if second is not None:
        second = ring.mul(second, ring.operator([(blocks, blocks)]))
    return mean, second


def moving(size: int) -> list[int]:
    """Positions of packed E[z z'] (size, size) that do not involve the constant coordinate."""
    return [k for k, (_, b) in enumerate(triangle(size)) if b < size - 1]


def whole_cycle(ring: Ring, method: Method, exact: Exact) -> tuple[Matrix, Matrix | None]:
    """The maps of one period, after the first round: of E[z] (D, D), of packed E[z z'] (None: nothing is random).

    Raises Unsupported where the visits are too many for the dynamic programme, and for a period too long to carry out.
    """
    dynamics = Dynamics(ring, method, exact)
    check_period(method, dynamics.rounds.cycle.stop)
    cohort = exact.workers
    visits = [(i, v) for i in cohort for _, v in method.local.visits(i, cohort, exact.clients)]
    check_visits(ring, exact, visits, True, 1)
    eta, mean, second = method.schedule.step(1), None, None
    for t in dynamics.rounds.cycle:
        step = dynamics.rounds.plan(eta, t).mean
        mean = step if mean is None else ring.mul(step, mean)
        if dynamics.random:
            own = dynamics.map(eta, t)
            second = own if second is None else ring.mul(own, second)
    return mean, second


def check_period(method: Method, rounds: int) -> None:
    """Raises Unsupported where a period, with the rounds before it, is too long to be carried out round by round."""
    if rounds > MAX_PERIOD:
        shown = f"{rounds}" if rounds < 10**15 else f"about 10^{len(str(rounds)) - 1}"
        raise Unsupported(
            f"the rounds of {method.name} repeat after {shown} rounds; the map of a period is composed for at most "
            f"{MAX_PERIOD}."
        )


def spectral_radius(m: arb_mat, *, only_decide: bool = False) -> tuple[float, float]:
    """Enclosure of the spectral radius: |trace(M^N)|/d <= radius^N <= Frobenius norm of M^N, N = 1, 2, 4, ...

    only_decide: stop as soon as it is known whether it is below 1.
    """
    low, high = 0.0, math.inf
    d = m.nrows()
    for k in range((SQUARINGS if d <= SMALL else FEW_SQUARINGS) + 1):
        norm = sum((x * x for x in m.entries()), arb(0)).upper().sqrt()
        if norm.is_zero():
            return 0.0, 0.0
        if not norm.is_finite():
            break
        high = min(high, float_up(_root(norm, k)))
        trace = (sum((m[i, i] for i in range(d)), arb(0)) / d).abs_lower()
        if trace > 0:
            low = max(low, float_down(_root(trace, k)))
        if only_decide and (high < 1 or low > 1):
            break
        m = m * m
    return low, high


def _root(value: arb, k: int) -> arb:
    """value**(1/2**k)."""
    return (value.log() / (arb(2) ** k)).exp()
