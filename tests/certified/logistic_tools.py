"""Constants of l2-regularised logistic regression from the rows alone, in exact fractions: a route of its own.

f_ij(x) = log(1 + exp(-y_ij a_ij'x)) + ridge |x|^2/2 with y_ij = +1 or -1, f_i the mean over the client's m_i rows and
F = sum of w_i f_i. With t = the logistic function at -y a'x, between 0 and 1, grad f_ij = -t y a + ridge x and the
Hessian is t (1 - t) a a' + ridge I with t (1 - t) between 0 and 1/4, 1/4 being reached at x = 0. What follows uses no
more than this; roots and eigenvalues are rounded up, so that every constant is on the safe side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import fmpq, fmpq_mat

from boundcheck.certified.constant import Constant, Known
from boundcheck.certified.definite import EigenBound, largest_eigenvalue
from boundcheck.core.linalg import fraction, rational
from boundcheck.core.numbers import root_from_above, round_up
from boundcheck.errors import BadInput

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Labelled:
    """One client's rows. a: (m, d), at least one row; y: m labels, +1 or -1."""

    a: fmpq_mat
    y: Sequence[int]

    def __post_init__(self) -> None:
        if self.a.nrows() == 0 or self.a.nrows() != len(self.y) or any(v not in (1, -1) for v in self.y):
            raise BadInput("a client needs at least one row, and for each a label +1 or -1.")

    @property
    def count(self) -> int:
        """m_i."""
        return self.a.nrows()

    @cached_property
    def lengths2(self) -> list[Fraction]:
        """|a_j|^2."""
        return [_square(row) for row in self.a.tolist()]

    @cached_property
    def signed(self) -> list[list[fmpq]]:
        """y_j a_j."""
        return [[v * label for v in row] for row, label in zip(self.a.tolist(), self.y, strict=True)]

    @cached_property
    def middle(self) -> list[fmpq]:
        """The mean of y_j a_j: minus twice the gradient at x = 0."""
        return [sum(column, fmpq(0)) / self.count for column in zip(*self.signed, strict=True)]

    @cached_property
    def second_moment(self) -> fmpq_mat:
        """(1/m) sum of a_j a_j', four times the Hessian at x = 0 without the ridge."""
        return self.a.transpose() * self.a * fmpq(1, self.count)

    @cached_property
    def norm(self) -> EigenBound:
        """The largest eigenvalue of `second_moment`, by the smaller of the two Gram matrices."""
        if self.count < self.a.ncols():
            return largest_eigenvalue([self.a * self.a.transpose() * fmpq(1, self.count)])
        return largest_eigenvalue([self.second_moment])

    @cached_property
    def reach(self) -> Fraction:
        """How far the gradient may lie from its value at x = 0, the ridge aside.

        It is the mean of tau_j y_j a_j with |tau_j| <= 1/2, at most half the mean of |a_j| and at most half the
        spectral norm of the rows over sqrt(m).
        """
        mean = sum((root_from_above(v) for v in self.lengths2), Fraction(0)) / self.count
        return min(mean, root_from_above(self.norm.value)) / 2


def _square(v: Sequence[fmpq]) -> Fraction:
    return fraction(sum((x * x for x in v), fmpq(0)))


def _away(v: Sequence[fmpq], centre: Sequence[fmpq]) -> Fraction:
    """|v - centre|, from above."""
    return root_from_above(_square([x - c for x, c in zip(v, centre, strict=True)]))


def _bound(value: Fraction, how: str) -> Constant:
    return Constant(round_up(value), Known.CERTIFIED, "upper", f"{how}, rounded up to 13 digits")


def _check(clients: Sequence[Labelled], weights: Sequence[Fraction]) -> None:
    if len(clients) != len(weights) or any(w < 0 for w in weights) or sum(weights, Fraction(0)) != 1:
        raise BadInput(f"{len(clients)} clients need as many weights, at least 0, that sum to 1.")


def sample_smoothness(clients: Sequence[Labelled], ridge: Fraction) -> Constant:
    """L_ij: the largest |a_j|^2/4 + ridge, which the Hessian reaches at x = 0."""
    largest = max(v for client in clients for v in client.lengths2)
    return Constant(largest / 4 + ridge, Known.EXACT, "exact", "largest |a_j|^2/4 + ridge, reached at 0")


def similarity(clients: Sequence[Labelled], weights: Sequence[Fraction]) -> Constant:
    """delta from above, max over clients of the spectral norm of hess f_i(x) - hess F(x) for all x.

    The difference is (1 - w_i) hess f_i - sum over k other than i of w_k hess f_k, the ridge gone, and lies between
    -1/4 sum of w_k H_k and 1/4 (1 - w_i) H_i with H the `second_moment`.
    """
    _check(clients, weights)
    total = fmpq_mat(clients[0].a.ncols(), clients[0].a.ncols())
    for client, w in zip(clients, weights, strict=True):
        total = total + client.second_moment * rational(w)
    worst = Fraction(0)
    for client, w in zip(clients, weights, strict=True):
        if w == 1:
            continue
        others = largest_eigenvalue([total - client.second_moment * rational(w)]).value
        worst = max(worst, (1 - w) * client.norm.value / 4, others / 4)
    return _bound(worst, "spectral norms of the second moments of the rows, over 4")


def gradient_dissimilarity(clients: Sequence[Labelled], weights: Sequence[Fraction]) -> tuple[Constant, Constant]:
    """(B2, G2) with B2 = 1: sum of w_i |grad f_i(x)|^2 <= G2 + |grad F(x)|^2 for all x.

    The difference is the variance sum of w_i |grad f_i - grad F|^2, in which the ridge cancels, at most that about any
    other centre: about the gradients' mean at 0, sum of w_i (|v_i - v|/2 + reach_i)^2 with v_i the `middle`, v their
    mean; about 0, sum of w_i (|v_i|/2 + reach_i)^2.
    """
    _check(clients, weights)
    pairs = list(zip(clients, weights, strict=True))
    d = clients[0].a.ncols()
    centre = [sum((c.middle[k] * rational(w) for c, w in pairs), fmpq(0)) for k in range(d)]
    candidates = [
        sum((w * (_away(c.middle, at) * HALF + c.reach) ** 2 for c, w in pairs), Fraction(0))
        for at in (centre, [fmpq(0)] * d)
    ]
    one = Constant(Fraction(1), Known.EXACT, "exact", "1: the clients' gradients differ boundedly")
    if len([w for w in weights if w > 0]) == 1:
        return one, Constant(Fraction(0), Known.EXACT, "exact", "only one client counts")
    return one, _bound(min(candidates), "the clients' gradients lie within a ball about their value at 0")


def local_variance(clients: Sequence[Labelled]) -> tuple[list[Fraction], Constant, Constant]:
    """(sigma_i^2 of each client, P2 = 0, noise2): (1/m_i) sum of |grad f_ij - grad f_i|^2 <= sigma_i^2 for all x.

    The variance is at most the second moment about any centre: about the ridge's part, the mean of |a_j|^2; about the
    client's gradient at 0, the mean of (|y_j a_j - v_i| + |a_j|)^2/4.
    """
    found: list[Fraction] = []
    for client in clients:
        plain = sum(client.lengths2, Fraction(0)) / client.count
        roots = [root_from_above(v) for v in client.lengths2]
        spreads = [_away(row, client.middle) for row in client.signed]
        about = sum(((s + r) ** 2 for s, r in zip(spreads, roots, strict=True)), Fraction(0)) / (4 * client.count)
        found.append(Fraction(0) if client.count == 1 else round_up(min(plain, about)))
    total = sum(found, Fraction(0)) / sum(client.count for client in clients)
    zero = Constant(Fraction(0), Known.EXACT, "exact", "0: the samples' gradients differ boundedly")
    return found, zero, _bound(total, "mean squared length of the rows of each client")
