"""The samples of one client: quadratics with gradients A_ij x - b_ij, all exact, of which f_i is to be the mean.

What the constants need of them, without going through d x d matrices where a sample is a row of a regression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

from flint import fmpq, fmpq_mat

from boundcheck.certified.definite import EigenBound, eigenvalues_within, largest_eigenvalue
from boundcheck.certified.forms import Affine, Form, square, weighted, weighted_map
from boundcheck.core.linalg import fraction, identity, rational
from boundcheck.errors import BadInput

MOST_ENTRIES = 4_000_000  # of all sample Hessians together, where they have to be gone through one by one


class Samples(Protocol):
    """The samples of one client."""

    @property
    def parts(self) -> Sequence[Affine]:
        """(A_ij, b_ij). Raises BadInput where that would be very large."""
        ...

    @property
    def count(self) -> int:
        """|D_i|."""
        ...

    def mean(self) -> Affine:
        """The means of A_ij and of b_ij."""
        ...

    def moment(self) -> Form:
        """(1/|D_i|) sum over j of |A_ij x - b_ij|^2, as a function of x."""
        ...

    def largest(self) -> EigenBound:
        """The largest |eigenvalue| of all A_ij, from above."""
        ...

    def smallest(self) -> EigenBound:
        """The smallest eigenvalue of all A_ij, from below."""
        ...

    def within(self, low: Fraction, high: Fraction | None = None) -> bool:
        """Whether all eigenvalues of all A_ij are at least `low` and at most `high`; None is no limit."""
        ...

    def singular(self) -> bool:
        """Whether some A_ij is singular."""
        ...

    def constant_along(self, directions: fmpq_mat) -> bool:
        """Whether A_ij u = 0 for every column u of `directions` (d, k) and every j."""
        ...


@dataclass(frozen=True)
class Matrices:
    """Samples given by their matrices; parts: (A_ij, b_ij), at least one."""

    parts: Sequence[Affine]

    @property
    def count(self) -> int:
        """|D_i|."""
        return len(self.parts)

    @cached_property
    def _hessians(self) -> list[fmpq_mat]:
        """The different ones."""
        found: list[fmpq_mat] = []
        for a, _ in self.parts:
            if not any(a == other for other in found[-8:]):
                found.append(a)
        return found

    def mean(self) -> Affine:
        share = Fraction(1, self.count)
        return weighted_map((share, part) for part in self.parts)

    def moment(self) -> Form:
        share = Fraction(1, self.count)
        return weighted((share, square(a, b)) for a, b in self.parts)

    def largest(self) -> EigenBound:
        """See `Samples`; certified by definiteness of v*I - A_ij and v*I + A_ij."""
        return largest_eigenvalue(self._hessians, absolute=True)

    def smallest(self) -> EigenBound:
        """See `Samples`; certified by definiteness of A_ij - v*I."""
        found = largest_eigenvalue([-a for a in self._hessians])
        return EigenBound(-found.value, found.exact)

    def within(self, low: Fraction, high: Fraction | None = None) -> bool:
        return all(eigenvalues_within(a, low, high) for a in self._hessians)

    def singular(self) -> bool:
        return any(a.rank() < a.nrows() for a in self._hessians)

    def constant_along(self, directions: fmpq_mat) -> bool:
        return all(v == 0 for a in self._hessians for v in (a * directions).entries())


@dataclass(frozen=True)
class Rows:
    """Rows of a regression: f_ij(x) = scale (a_j'x - y_j)^2 / 2 + ridge |x|^2 / 2, so A_ij = scale a_j a_j' + ridge I.

    a: (m, d); y: (m, 1); scale > 0; ridge >= 0.
    """

    a: fmpq_mat
    y: fmpq_mat
    scale: Fraction
    ridge: Fraction = Fraction(0)

    @property
    def count(self) -> int:
        """|D_i|."""
        return self.a.nrows()

    @property
    def parts(self) -> Sequence[Affine]:
        return self._parts

    @cached_property
    def _parts(self) -> Sequence[Affine]:
        dim = self.a.ncols()
        if self.count * dim * dim > MOST_ENTRIES:
            raise BadInput("the samples are too many to go through their Hessians one by one.")
        scale, ridge = rational(self.scale), identity(dim) * rational(self.ridge)
        rows = zip((fmpq_mat(dim, 1, row) for row in self.a.tolist()), self.y.entries(), strict=True)
        return [(a * a.transpose() * scale + ridge, a * (scale * y)) for a, y in rows]

    @cached_property
    def _lengths(self) -> list[fmpq]:
        """|a_j|^2."""
        return [sum((v * v for v in row), fmpq(0)) for row in self.a.tolist()]

    def mean(self) -> Affine:
        share, turned = rational(self.scale / self.count), self.a.transpose()
        return turned * self.a * share + identity(self.a.ncols()) * rational(self.ridge), turned * self.y * share

    def moment(self) -> Form:
        """See `Samples`: |s (a'x - y) a + r x|^2 = s^2 |a|^2 (a'x - y)^2 + 2 r s (a'x - y) a'x + r^2 |x|^2."""
        s, r = rational(self.scale), rational(self.ridge)
        d, share = self.a.ncols(), fmpq(1, self.count)
        # factors of (a'x)^2 and of -2 y a'x in each term
        outer = [(s * s * length + 2 * r * s) * share for length in self._lengths]
        cross = [(s * s * length + r * s) * share for length in self._lengths]
        flat = self.a.tolist()
        q = fmpq_mat(d, self.count, [row[i] * w for i in range(d) for row, w in zip(flat, outer, strict=True)]) * self.a
        l = fmpq_mat(d, self.count, [row[i] * w for i in range(d) for row, w in zip(flat, cross, strict=True)]) * self.y  # noqa: E741
        k = sum((s * s * v * y * y * share for v, y in zip(self._lengths, self.y.entries(), strict=True)), fmpq(0))
        return Form(q + identity(d) * (r * r), l, k)

    def largest(self) -> EigenBound:
        """See `Samples`: scale times the largest |a_j|^2, plus ridge."""
        return EigenBound(self.scale * fraction(max(self._lengths)) + self.ridge, True)

    def smallest(self) -> EigenBound:
        """See `Samples`: the ridge, from dimension 2 on, where a_j a_j' is singular."""
        own = self.scale * fraction(min(self._lengths)) if self.a.ncols() == 1 else Fraction(0)
        return EigenBound(own + self.ridge, True)

    def within(self, low: Fraction, high: Fraction | None = None) -> bool:
        return self.smallest().value >= low and (high is None or self.largest().value <= high)

    def singular(self) -> bool:
        return self.smallest().value == 0

    def constant_along(self, directions: fmpq_mat) -> bool:
        moved = [*(self.a * directions).entries(), *(directions.entries() if self.ridge else ())]
        return all(v == 0 for v in moved)
