"""Whether a run without randomness fails to converge, decided from its exact linear map and its own start."""

from __future__ import annotations

from typing import Any

from flint import fmpq_mat

from boundcheck.engines.exact.algebraic import radius_of
from boundcheck.engines.exact.dynamics import Dynamics
from boundcheck.engines.exact.rings import RationalRing
from boundcheck.engines.exact.spectral import check_period, cycle_map
from boundcheck.engines.exact.state import lower
from boundcheck.errors import Unsupported
from boundcheck.methods.method import Method
from boundcheck.problems.problem import Problem

MAX_SIZE = 40  # rows of a map whose characteristic polynomial is factored


def stays_away(method: Method, problem: Problem) -> bool:
    """True where the models of the run from the problem's start are known not to converge; False: it is not known.

    A map z -> A z + b is followed from z. If z_n converges, w = z_1 - z_0 tends to 0 under A, so that w lies in the
    kernel of s(A), s the product of the characteristic polynomial's factors over the rationals with all roots inside
    the unit circle (w is rational, so that of a factor with a root elsewhere it has all roots' parts or none).
    s(A) w != 0 is decided exactly. The state holds past models alone, so that it converges where the models do.

    Raises Unsupported for random methods, with momentum or a correction, changing steps and large states.
    """
    plain = method.momentum is None and method.correction is None and method.control is None
    plain = plain and method.server_momentum is None and method.functions is None
    if not plain or not method.schedule.is_constant():
        raise Unsupported(f"whether {method.name} converges is decided for plain methods with a constant step alone.")
    exact = lower(method, problem, ())
    dynamics = Dynamics(RationalRing(), method, exact)
    moving = exact.layout.moving
    if dynamics.random or exact.layout.copies > 1 or moving > MAX_SIZE:
        raise Unsupported(f"whether {method.name} converges on '{problem.name}' is not decided exactly.")
    own, eta = dynamics.rounds, method.schedule.step(1)
    check_period(method, own.cycle.stop)
    z: Any = dynamics.ring.lift(exact.start)
    for t in range(own.cycle.start):
        z = own.plan(eta, t).mean * z
    after: Any = z
    for t in own.cycle:
        after = own.plan(eta, t).mean * after
    moved = [after[k, 0] - z[k, 0] for k in range(moving)]
    found: Any = fmpq_mat(moving, 1, moved)
    a: Any = cycle_map(dynamics.ring, method, exact)[0]
    for factor, power in a.charpoly().factor()[1]:
        if radius_of(factor).below_one is False:
            continue
        for _ in range(power):
            found = _applied(factor, a, found)
    return any(v != 0 for v in found.entries())


def _applied(factor: Any, a: Any, column: Any) -> Any:
    """factor(a) column, by Horner's rule."""
    result = column * 0
    for coefficient in reversed(factor.coeffs()):
        result = a * result + column * coefficient
    return result
