"""Constants of sums of quadratics, certified in exact arithmetic from matrices alone.

Client i has the gradient A_i x - b_i with A_i symmetric rational (d, d), b_i (d, 1); the objective
F = sum_i w_i f_i has the gradient A x - b. Matrices are `flint.fmpq_mat`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq_mat

from boundcheck.certified.constant import Constant, Known, exact
from boundcheck.certified.definite import (
    EigenBound,
    different,
    is_positive_semidefinite,
    largest_eigenvalue,
    least_eigenvalue,
    varying,
)
from boundcheck.core import linalg
from boundcheck.core.numbers import root_from_above, round_down, round_up

# An exact rational whose numerator and denominator have at most this many bits together is given as it is, a longer
# one as a bound of 13 digits. In decimal that is 3012 characters: `parse_number` reads it back from any text.
MOST_BITS = 10_000


def count(value: int, what: str) -> Constant:
    """A whole number known by counting `what`."""
    return exact(value, f"counted: {what}")


def from_above(value: Fraction, how: str, *, exact: bool = True) -> Constant:
    """The value itself, or where it is longer than MOST_BITS a bound of 13 digits from above.

    exact: whether what it is made of is known exactly; bounds from above give a bound of 13 digits.
    """
    if not exact:
        return Constant(round_up(value), Known.CERTIFIED, "upper", how)
    if value.numerator.bit_length() + value.denominator.bit_length() <= MOST_BITS:
        return Constant(value, Known.EXACT, "exact", how)
    return Constant(round_up(value), Known.CERTIFIED, "upper", f"{how}, rounded up to 13 digits")


def smoothness(hessians: Sequence[fmpq_mat]) -> Constant:
    """L from above: the largest |eigenvalue| of all client Hessians, indefinite ones included.

    Certified by exact LDL^T of L*I - A_i and L*I + A_i for every client; within a relative 1e-12.
    """
    return _spectral_norm(hessians, "largest |eigenvalue| of the client Hessians", "L*I - A_i and L*I + A_i")


def operator_norm(maps: Sequence[fmpq_mat], what: str) -> Constant:
    """The largest operator norm of matrices that need not be symmetric, from above to a relative 1e-12."""
    square = largest_eigenvalue([a.transpose() * a for a in different(maps)], recognised=True)
    return _root(square, "upper", f"largest operator norm of the {what}", "L")


def least_singular_value(a: fmpq_mat, projector: fmpq_mat) -> Constant:
    """The least nonzero singular value of a matrix other than 0, from below; projector: onto the span of its rows."""
    square = least_eigenvalue(a.transpose() * a, projector)
    return _root(square, "lower", "least nonzero singular value of the mean map", "s")


def _root(square: EigenBound, side: str, what: str, symbol: str) -> Constant:
    above = side == "upper"
    root = root_from_above(square.value) if above else 1 / root_from_above(1 / square.value)
    exact = square.exact and root * root == square.value
    rounded = root if exact else (round_up if above else round_down)(root)
    return eigenvalue(EigenBound(rounded, exact), side, what, f"{symbol}^2*I and A'A")


def similarity(hessians: Sequence[fmpq_mat], mean: fmpq_mat) -> Constant:
    """delta from above: the largest spectral norm of A_i - A; certified as `smoothness` is."""
    apart = [a - mean for a in hessians]
    return _spectral_norm(apart, "largest spectral norm of A_i - A", "delta*I - (A_i - A) and delta*I + (A_i - A)")


def _spectral_norm(hessians: Sequence[fmpq_mat], what: str, tested: str) -> Constant:
    """The largest |eigenvalue| of all the matrices."""
    return eigenvalue(largest_eigenvalue(hessians, absolute=True, recognised=True), "upper", what, tested)


def lower_curvature(hessians: Sequence[fmpq_mat]) -> Constant:
    """The least lam >= 0 with lam*I + A_i positive semidefinite for every client Hessian A_i, from above to 1e-12."""
    bent = [a for a in hessians if not is_positive_semidefinite(a)]
    what = "minus the smallest eigenvalue of the client Hessians, at least 0"
    if not bent:
        return exact(0, f"{what}: none is negative")
    return eigenvalue(largest_eigenvalue([-a for a in bent], recognised=True), "upper", what, "lam*I + A_i")


def eigenvalue(bound: EigenBound, side: str, what: str, tested: str) -> Constant:
    """An extreme eigenvalue as a constant; tested: the matrices whose definiteness was proved."""
    if bound.exact:
        return exact(bound.value, f"{what}, exactly")
    return Constant(bound.value, Known.CERTIFIED, side, f"{what}; LDL^T of {tested}, exact or in balls")


def quasi_convexity(hessian: fmpq_mat, projector: fmpq_mat) -> Constant:
    """mu of strong quasi-convexity from below, for a positive semidefinite Hessian A other than 0.

    F* - F(x) >= <grad F(x), x* - x> + mu/2 |x - x*|^2 with x* the minimiser nearest to x holds exactly for mu up
    to the smallest nonzero eigenvalue of A. Certified by exact LDL^T of A - mu*P, P the projector onto its range;
    within a relative 1e-12. Raises BadInput for the zero matrix and for an indefinite one.
    """
    bound = least_eigenvalue(hessian, projector)
    return eigenvalue(bound, "lower", "smallest nonzero eigenvalue of the Hessian of F", "A - mu*P")


def noise_is_finite(hessians: Sequence[fmpq_mat], projector: fmpq_mat) -> int | None:
    """None when every client gradient is constant on the solution set, else the first client where it is not.

    The solution set is c + null space; a gradient that varies along it grows without bound.
    """
    return varying(enumerate(hessians), projector)


def noise_value(maps: Sequence[tuple[fmpq_mat, fmpq_mat]], centre: fmpq_mat) -> Fraction:
    """The mean over clients of the squared gradient norm at `centre`, exactly."""
    total = Fraction(0)
    for a, b in maps:
        residual = a * centre - b
        total += linalg.fraction((residual.transpose() * residual)[0, 0])
    return total / len(maps)


def gradient_noise(maps: Sequence[tuple[fmpq_mat, fmpq_mat]], centre: fmpq_mat) -> Constant:
    """sigma2 = mean over clients of the squared gradient norm at the minimiser `centre`; exact up to MOST_BITS.

    This is the supremum over the solution set where `noise_is_finite`.
    """
    return from_above(noise_value(maps, centre), "mean squared client gradient at the minimiser")


def quadratic_value(form: fmpq_mat, centre: fmpq_mat, x: Sequence[Fraction]) -> Fraction:
    """(x - c)' Q (x - c), exactly."""
    u = linalg.matrix([[v] for v in x]) - centre
    return linalg.fraction((u.transpose() * form * u)[0, 0])


def squared_distance(projector: fmpq_mat, centre: fmpq_mat, x: Sequence[Fraction]) -> Constant:
    """dist2_0, the squared distance (x - c)'P(x - c) of x to the solution set c + null space; exact up to MOST_BITS."""
    return from_above(quadratic_value(projector, centre, x), "squared distance of the start to the solution set")


def gap(hessian: fmpq_mat, centre: fmpq_mat, x: Sequence[Fraction]) -> Constant:
    """gap_0 = F(x) - F* = (x - c)'A(x - c)/2 with c a minimiser; exact up to MOST_BITS."""
    return from_above(quadratic_value(hessian, centre, x) / 2, "objective gap of the start")
