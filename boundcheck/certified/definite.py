"""Which rational matrices are positive semidefinite, decided fast, and certified bounds of their eigenvalues.

A decision is by LDL^T in rigorous ball arithmetic where that decides, else by exact LDL^T; both are proofs. Floating
point only proposes a bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from flint import arb, fmpq_mat

from boundcheck.core.linalg import (
    balls,
    floats,
    fraction,
    identity,
    is_psd,
    is_symmetric,
    precision,
    range_projector,
    rational,
)
from boundcheck.core.numbers import nearest_float, round_down, round_up, simplest_between
from boundcheck.errors import BadInput

_TOLERANCE = Fraction(1, 10**12)  # within this relative distance of the eigenvalue a bound is

_SMALL = 12  # up to this dimension exact elimination is as fast as balls
_BITS = (128, 1024)  # precisions that are tried before exact elimination
_RECOGNISED = 24  # up to this dimension a bound that is a short rational is recognised as the value itself


def is_diagonal(a: fmpq_mat) -> bool:
    """Whether all entries off the diagonal are 0."""
    return all(v == 0 for i, row in enumerate(a.tolist()) for j, v in enumerate(row) if i != j)


def diagonal_matrix(diagonal: Sequence[Fraction]) -> fmpq_mat:
    """The matrix with this diagonal (d,)."""
    d = len(diagonal)
    return fmpq_mat(d, d, [rational(v) if i == j else 0 for i, v in enumerate(diagonal) for j in range(d)])


def part(a: fmpq_mat, rows: Sequence[int], columns: Sequence[int]) -> fmpq_mat:
    """The submatrix of these rows and columns."""
    table = a.tolist()
    return fmpq_mat(len(rows), len(columns), [table[i][j] for i in rows for j in columns])


def different(matrices: Iterable[fmpq_mat]) -> list[fmpq_mat]:
    """The matrices without repetitions."""
    found: list[fmpq_mat] = []
    for a in matrices:
        if not any(a is other for other in found) and not any(a == other for other in found):
            found.append(a)
    return found


def _ball_pivots(a: fmpq_mat, bits: int) -> bool | None:
    """Whether a is positive definite, by LDL^T in ball arithmetic; None where a pivot's sign is not certain."""
    with precision(bits):
        rows: list[list[arb]] = balls(a).tolist()
        d = len(rows)
        for k in range(d):
            top = rows[k]
            if not top[k] > 0:
                return False if top[k] < 0 else None
            for i in range(k + 1, d):
                row, factor = rows[i], top[i] / top[k]
                for j in range(i, d):
                    row[j] -= factor * top[j]
        return True


def is_positive_semidefinite(a: fmpq_mat) -> bool:
    """Whether a symmetric rational matrix is positive semidefinite; a proof either way.

    A singular one is reduced first: with J a largest set of independent columns, a is positive semidefinite exactly
    when its submatrix of the rows and columns J is positive definite.
    """
    d = a.nrows()
    if not is_symmetric(a):
        raise BadInput("only a symmetric matrix can be tested for definiteness.")
    if is_diagonal(a):
        return all(a[i, i] >= 0 for i in range(d))
    if d <= _SMALL:
        return is_psd(a)
    decided = _ball_pivots(a, _BITS[0])
    if decided is not None:
        return decided
    echelon, rank = a.rref()
    if rank < d:
        leads = [next(j for j, v in enumerate(row) if v != 0) for row in echelon.tolist()[:rank]]
        a = part(a, leads, leads)
    for bits in _BITS:
        decided = _ball_pivots(a, bits)
        if decided is not None:
            return decided
    return is_psd(a)


def eigenvalues_within(a: fmpq_mat, low: Fraction | None = None, high: Fraction | None = None) -> bool:
    """Whether all eigenvalues of a symmetric matrix are at least `low` and at most `high`; None is no limit."""
    one = identity(a.nrows())
    above = low is None or is_positive_semidefinite(a - one * rational(low))
    return above and (high is None or is_positive_semidefinite(one * rational(high) - a))


def varying(matrices: Iterable[tuple[int, fmpq_mat]], projector: fmpq_mat) -> int | None:
    """The number of the first matrix that is not 0 on the complement of a projector's range; None if there is none."""
    complement = identity(projector.nrows()) - projector
    return next((i for i, a in matrices if any(v != 0 for v in (a * complement).entries())), None)


# --- bounds of eigenvalues ------------------------------------------------------------------------------------


class EigenBound(NamedTuple):
    """A certified bound on an eigenvalue; `exact` says that it is the eigenvalue itself."""

    value: Fraction
    exact: bool


def approximate_eigenvalues(a: fmpq_mat) -> list[Fraction]:
    """Floating eigenvalues of a symmetric matrix in ascending order, of any size: a proposal, not a proof.

    Entries beyond the doubles are brought into them by a power of two.
    """
    if not is_symmetric(a):
        raise BadInput("the extreme eigenvalues of a matrix that is not symmetric are no constants of a problem.")
    size = max((abs(fraction(v)) for v in a.entries()), default=Fraction(0))
    exponent = size.numerator.bit_length() - size.denominator.bit_length() if size else 0
    unit = Fraction(2) ** exponent if abs(exponent) > 500 else Fraction(1)
    near = floats(a * rational(1 / unit))
    return [Fraction(float(v)) * unit for v in np.linalg.eigvalsh(near)]


def least_multiple(a: fmpq_mat, unit: fmpq_mat, guess: Fraction, *, recognised: bool | None = None) -> EigenBound:
    """A short rational v, the least with v*unit - a positive semidefinite, from above and within a relative 1e-12.

    unit: positive semidefinite and not 0, its null space within that of a. guess: floating point's proposal. `exact`
    where v is that least value itself (0 included); recognised: whether a short one is recognised, by default up to
    dimension 24. Certified: v*unit - a is positive semidefinite, and a relative 1e-12 below it is not. Raises BadInput
    where no multiple covers a.
    """

    def covers(value: Fraction) -> bool:
        return is_positive_semidefinite(unit * rational(value) - a)

    rank = unit.rank()
    if rank == 0:
        raise BadInput("the least multiple of the zero matrix has no meaning.")
    if a.rank() < rank and covers(Fraction(0)):
        return EigenBound(Fraction(0), True)
    scale = abs(guess) or Fraction(1, 10**6)
    margin = scale / 10**13
    while not covers(high := round_up(guess + margin)):
        margin *= 4
        if margin > scale * 10**60:
            raise BadInput("no multiple of the one matrix covers the other.")
    margin = scale / 10**13
    while covers(low := round_down(guess - margin)):
        margin *= 4
    while high - low > _TOLERANCE * abs(high) * Fraction(9, 10):
        middle = round_up((low + high) / 2, 15)
        if not low < middle < high:
            break
        if covers(middle):
            high = middle
        else:
            low = middle
    if a.nrows() <= _RECOGNISED if recognised is None else recognised:
        for short in (simplest_between(low, high), *(round_up(low, digits) for digits in range(1, 14))):
            if short <= high and (unit * rational(short) - a).rank() < rank and covers(short):
                return EigenBound(short, True)
    return EigenBound(high, False)


def least_diagonal_multiple(a: fmpq_mat, diagonal: Sequence[Fraction]) -> EigenBound:
    """The least v with v*diag(diagonal) - a positive semidefinite, as `least_multiple`; diagonal: (d,), at least 0."""
    scales = np.sqrt([nearest_float(v) for v in diagonal])
    both = np.outer(scales, scales)
    near = np.divide(floats(a), both, out=np.zeros_like(both), where=both > 0)
    return least_multiple(a, diagonal_matrix(diagonal), Fraction(float(np.linalg.eigvalsh(near)[-1])))


def largest_eigenvalue(
    matrices: Sequence[fmpq_mat], *, absolute: bool = False, recognised: bool | None = None
) -> EigenBound:
    """The largest eigenvalue of all these symmetric matrices, from above; recognised: see `least_multiple`.

    absolute: the largest absolute value of one. Of diagonal matrices it is exact. Of the others floating point picks
    one, and the proof is of all.
    """
    best: EigenBound | None = None
    proposed: list[tuple[Fraction, fmpq_mat]] = []
    for a in matrices:
        known = spread(a)
        near = approximate_eigenvalues(a) if known is None else known
        if known is None:
            proposed += [(near[-1], a), *([(-near[0], -a)] if absolute else [])]
        else:
            largest = max(near[-1], -near[0]) if absolute else near[-1]
            best = EigenBound(largest if best is None else max(best.value, largest), True)
    for guess, a in sorted(proposed, key=lambda pair: pair[0], reverse=True):
        if best is None or not eigenvalues_within(a, high=best.value):
            best = least_multiple(a, identity(a.nrows()), guess, recognised=recognised)
    assert best is not None, "there is at least one matrix"
    return best


def least_eigenvalue(a: fmpq_mat, projector: fmpq_mat | None = None) -> EigenBound:
    """A short rational at most the smallest nonzero eigenvalue of a positive semidefinite matrix, within 1e-12.

    projector: onto the range of a (computed when not given). Certified by LDL^T of a - value * projector.
    Raises BadInput for the zero matrix and for one that is not positive semidefinite.
    """
    on = range_projector(a) if projector is None else projector
    if not is_positive_semidefinite(a) or a.rank() == 0:
        raise BadInput("the smallest nonzero eigenvalue needs a positive semidefinite matrix other than 0.")
    bound = least_multiple(-a, on, -approximate_eigenvalues(a)[a.nrows() - a.rank()], recognised=True)
    return EigenBound(-bound.value, bound.exact)


def spread(a: fmpq_mat) -> tuple[Fraction, Fraction] | None:
    """The exact smallest and largest eigenvalue of a diagonal matrix, None for others."""
    if not is_diagonal(a):
        return None
    entries = [fraction(a[i, i]) for i in range(a.nrows())]
    return min(entries), max(entries)
