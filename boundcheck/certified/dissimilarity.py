"""How far the clients' gradients may lie apart, exactly, for quadratic clients with gradients A_i x - b_i.

Two hypotheses of federated optimization, for all x, F = sum of w_i f_i with gradient A x - b:

    gradients  sum of w_i |grad f_i(x)|^2 <= G2 + B2 |grad F(x)|^2         (FedShuffle, (4))
    values     sum of w_i |grad f_i(x)|^2 <= G2 + 2 L B2 (F(x) - F*)       (FedShuffle, (5))

and the same within a client (FedShuffle, Assumption 3.4),

    samples    (1/|D_i|) sum over j of |grad f_ij(x) - grad f_i(x)|^2 <= sigma_i^2 + P_i^2 |grad f_i(x)|^2.

Each is one inequality between quadratic functions, so that the least constant term for a given factor is a Schur
complement (`certified.forms`), and the least factor a generalised eigenvalue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb_mat, fmpq_mat

from boundcheck.certified.definite import EigenBound, least_multiple, varying
from boundcheck.certified.forms import Affine, Form, gap, least_constant, square, weighted, weighted_map
from boundcheck.certified.samples import Samples
from boundcheck.core import linalg
from boundcheck.core.numbers import round_up

# Without equal Hessians the default factor is this many times the least admissible one, where G2 may be infinite.
ROOM = 2


@dataclass(frozen=True)
class Pair:
    """A factor and the least constant term for it: (B2, G2) or (P_i^2, sigma_i^2)."""

    factor: Fraction
    constant: Fraction


def _ratio(a: fmpq_mat, root: fmpq_mat, projector: fmpq_mat) -> Fraction:
    """Floating guess of the largest v with det(v root^2 - a) = 0 on the range of the symmetric `root`."""
    whole = root + linalg.identity(root.nrows()) - projector
    for bits in (256, 1024, 4096):
        with linalg.precision(bits):
            try:
                half: arb_mat = linalg.balls(whole).solve(linalg.balls(a))
                both: arb_mat = linalg.balls(whole).solve(half.transpose())
            except ZeroDivisionError:  # not known to be invertible at this precision
                continue
            near = np.array([[float(v.mid()) for v in row] for row in both.tolist()])
        return Fraction(float(np.linalg.eigvalsh((near + near.T) / 2)[-1]))
    near = np.linalg.pinv(linalg.floats(whole))
    return Fraction(float(np.linalg.eigvalsh(near @ linalg.floats(a) @ near)[-1]))


def _least_factor(a: fmpq_mat, root: fmpq_mat, projector: fmpq_mat) -> EigenBound:
    """The least v with v root^2 - a positive semidefinite; the null space of root lies in that of a."""
    if all(v == 0 for v in a.entries()):
        return EigenBound(Fraction(0), True)
    return least_multiple(a, root * root, _ratio(a, root, projector))


def _with_room(least: EigenBound) -> Fraction:
    """The default factor where `least` is the least one."""
    return ROOM * least.value if least.exact else round_up(ROOM * least.value)


class Dissimilarity:
    """The dissimilarity of clients with gradients A_i x - b_i and weights w_i >= 0 that sum to 1."""

    def __init__(self, maps: Sequence[Affine], weights: Sequence[Fraction]) -> None:
        self._maps = {i: client for i, client in enumerate(maps) if weights[i] > 0}  # the others do not matter
        pairs = [(weights[i], client) for i, client in self._maps.items()]
        self.left = weighted((w, square(a, b)) for w, (a, b) in pairs)  # sum of w_i |grad f_i(x)|^2
        self.hessian, self.side = weighted_map(pairs)
        self._projector = linalg.range_projector(self.hessian)
        self.stationary = linalg.solve_any(self.hessian, self.side)  # a stationary point of F, or None
        self.right = square(self.hessian, self.side)  # |grad F(x)|^2

    @property
    def alike(self) -> bool:
        """Whether all clients have the same Hessian: only then is B2 = 1 possible with a finite G2."""
        return all(a == self.hessian for a, _ in self._maps.values())

    def free_client(self) -> int | None:
        """A client whose gradient varies where that of F does not, so that no pair exists; None if there is none."""
        return varying(((i, a) for i, (a, _) in self._maps.items()), self._projector)

    def vanishing_client(self) -> int | None:
        """A client whose gradient does not vanish wherever that of F does, so that no B2 serves with G2 = 0.

        None if there is none; a client that varies where the gradient of F does not is one.
        """
        free, point = self.free_client(), self.stationary
        if free is not None or point is None:
            return free
        return next((i for i, (a, b) in self._maps.items() if a * point != b), None)

    def least_B2(self) -> EigenBound | None:
        """The least factor B2 of the form "gradients" that any G2 serves (its own G2 may be infinite), from above.

        Within a relative 1e-12; None if there is none.
        """
        if self.free_client() is not None:
            return None
        if self.alike:
            return EigenBound(Fraction(int(self.hessian.rank() > 0)), True)
        return _least_factor(self.left.q, self.hessian, self._projector)

    def least_G2(self, B2: Fraction) -> Fraction | None:
        """The least G2 of the form "gradients" for this B2, exactly; None if there is none."""
        return least_constant(self.left, self.right.times(B2))

    def default(self) -> Pair | None:
        """B2 = 1 where it has a finite G2, else twice the least admissible B2, rounded up to 13 digits.

        None where there is no pair.
        """
        if self.free_client() is not None:
            return None
        factor = Fraction(1)
        if not self.alike:
            least = self.least_B2()
            assert least is not None
            factor = max(factor, _with_room(least))
        G2 = self.least_G2(factor)
        return None if G2 is None else Pair(factor, G2)

    def least_G2_relaxed(self, B2: Fraction, L: Fraction) -> Fraction | None:
        """The least G2 of the form "values" for this B2 and L, exactly; None if there is none."""
        minimiser = Form(self.hessian, self.side, linalg.rational(0)).minimiser()
        if minimiser is None:
            return None
        return least_constant(self.left, gap(self.hessian, self.side, minimiser).times(2 * L * B2))

    def decides(self, G2: Fraction, B2: Fraction, L: Fraction | None = None) -> bool:
        """Whether the form "gradients" (with L: the form "values") holds for all x with these constants, exactly."""
        if min(G2, B2) < 0:
            return False
        least = self.least_G2(B2) if L is None else self.least_G2_relaxed(B2, L)
        return least is not None and least <= G2


@dataclass(frozen=True)
class LocalVariance:
    """The variance of one client's sample gradients against its own gradient.

    left: (1/|D_i|) sum over j of |grad f_ij(x) - grad f_i(x)|^2, right: |grad f_i(x)|^2, as functions of x; count:
    |D_i|; is_mean: whether f_i is the mean of its samples, as it must be; bounded: whether a pair exists at all.
    """

    left: Form
    right: Form
    root: fmpq_mat
    count: int
    is_mean: bool
    bounded: bool

    def least_constant(self, P2: Fraction) -> Fraction | None:
        """The least sigma_i^2 for this P_i^2, exactly; None if there is none."""
        return least_constant(self.left, self.right.times(P2)) if self.bounded else None

    def least_factor(self) -> EigenBound | None:
        """The least P_i^2 that some sigma_i^2 may serve, from above within a relative 1e-12; None: there is none."""
        return _least_factor(self.left.q, self.root, linalg.range_projector(self.root)) if self.bounded else None

    def default(self) -> Pair | None:
        """P_i^2 = 0 where all sample Hessians agree, else twice the least admissible one, rounded up to 13 digits."""
        if not self.bounded:
            return None
        least = self.least_factor()
        assert least is not None
        P2 = _with_room(least)
        sigma2 = self.least_constant(P2)
        return None if sigma2 is None else Pair(P2, sigma2)


def local_variance(samples: Samples, client: Affine) -> LocalVariance:
    """The local variance of a client with gradient A_i x - b_i."""
    a, b = client
    right = square(a, b)
    d = a.nrows()
    if samples.mean() != client:
        return LocalVariance(right, right, a, samples.count, is_mean=False, bounded=False)
    if samples.count == 1:
        nothing = Form(fmpq_mat(d, d), fmpq_mat(d, 1), linalg.rational(0))
        return LocalVariance(nothing, right, a, 1, is_mean=True, bounded=True)
    # where all A_ij are positive semidefinite, A_i u = 0 forces A_ij u = 0
    bounded = samples.within(Fraction(0)) or samples.constant_along(linalg.identity(d) - linalg.range_projector(a))
    return LocalVariance(samples.moment() - right, right, a, samples.count, is_mean=True, bounded=bounded)
