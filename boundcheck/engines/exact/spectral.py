"""Whether a method with a constant step size contracts on a quadratic problem, from its exact linear maps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb, arb_mat, fmpq_mat

from boundcheck.constants.certify import noise_is_finite
from boundcheck.core.linalg import float_down, float_up, fraction, identity, precision, range_projector, rational
from boundcheck.engines.exact.affine import Affine, lower
from boundcheck.engines.exact.dynamics import Dynamics, Moments, Point
from boundcheck.engines.exact.rings import BallRing, Matrix, RationalRing, Ring
from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.problems.problem import Problem, QuadraticProblem, clients_of

__all__ = ["Contraction", "contraction"]

BITS = 1024
SQUARINGS = 40  # powers up to 2^40 enclose the spectral radius to about a relative 1e-11


@dataclass(frozen=True)
class Contraction:
    """The linear part of one period of a method.

    multiplier: in dimension 1 the exact factor of x - x* (fixed cohorts) or of E (x - x*)^2 (random ones), else
    None. second_moment: which of the two. rounds: of a period. radius_low, radius_high: rigorous enclosure of the
    spectral radius of that linear map (restricted to the range of the Hessian where all clients leave the
    solution set alone). converges: whether it is below 1; None where the enclosure does not decide.
    """

    multiplier: Fraction | None
    second_moment: bool
    rounds: int
    radius_low: float
    radius_high: float
    converges: bool | None


def contraction(method: Method, problem: Problem) -> Contraction:
    """The multiplier of one period and whether its spectral radius is below 1.

    Raises Unsupported for step sizes that change, for random local work and for problems that are not quadratic.
    """
    if not method.schedule.is_constant():
        raise Unsupported(f"the step size of {method.name} changes, so that no single map describes its cycles.")
    affine = lower(method, problem, ())
    if not isinstance(problem, QuadraticProblem):
        raise Unsupported(f"the problem '{problem.name}' is not quadratic, so its runs are no linear maps.")
    clients, d = clients_of(problem), problem.dim
    hessians = [a for a, _ in problem.forms().maps]
    linear = replace(affine, generators=tuple(hessians), start=fmpq_mat(d, 1))
    random = method.participation.fixed(0, clients) is None
    rounds = method.participation.period(clients)
    if d == 1:
        exact = fraction(_cycle(RationalRing(), method, linear, clients, random)[0, 0])
        size = abs(exact)
        return Contraction(exact, random, rounds, float_down(size), float_up(size), size < 1)
    total = fmpq_mat(d, d)
    for w, a in zip(problem.weights, hessians, strict=True):
        total = total + a * rational(w)
    projector = range_projector(total)
    if noise_is_finite(hessians, projector) is not None:
        projector = identity(d)
    with precision(BITS):
        ring = BallRing()
        m = _cycle(ring, method, linear, clients, random)
        m = ring.mul(m, ring.lift(_on_moments(projector) if random else projector))
        low, high = _radius(m)
    converges = True if high < 1 else (False if low > 1 else None)
    return Contraction(None, random, rounds, low, high, converges)


def _cycle(ring: Ring, method: Method, linear: Affine, clients: Clients, random: bool) -> Matrix:
    dynamics: Dynamics = (Moments if random else Point)(ring, method, linear, clients)
    maps = dynamics.maps(method.schedule.step(1))
    cycle = maps[0]
    for m in maps[1:]:
        cycle = ring.mul(m, cycle)
    return cycle


def _on_moments(p: fmpq_mat) -> fmpq_mat:
    """S -> P S P on upper triangles."""
    d = p.nrows()
    index = [(a, b) for a in range(d) for b in range(a, d)]
    columns: list[list[object]] = []
    for a, b in index:
        basis = fmpq_mat(d, d)
        basis[a, b] = basis[b, a] = 1
        image = p * basis * p
        columns.append([image[i, j] for i, j in index])
    return RationalRing().from_columns(columns)


def _radius(m: arb_mat) -> tuple[float, float]:
    """Enclosure of the spectral radius: |trace(M^N)|/d <= radius^N <= Frobenius norm of M^N, N = 1, 2, 4, ..."""
    low, high = 0.0, math.inf
    d = m.nrows()
    for k in range(SQUARINGS + 1):
        norm = sum((x * x for x in m.entries()), arb(0)).upper().sqrt()
        if norm.is_zero():
            return 0.0, 0.0
        if not norm.is_finite():
            break
        high = min(high, float_up(_root(norm, k)))
        trace = (sum((m[i, i] for i in range(d)), arb(0)) / d).abs_lower()
        if trace > 0:
            low = max(low, float_down(_root(trace, k)))
        m = m * m
    return low, high


def _root(value: arb, k: int) -> arb:
    """value**(1/2**k)."""
    return (value.log() / (arb(2) ** k)).exp()
