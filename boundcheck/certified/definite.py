"""Which rational matrices are positive semidefinite, decided fast, and the least multiple of one that covers another.

A decision is by LDL^T in rigorous ball arithmetic where that decides, else by exact LDL^T; both are proofs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from flint import arb, fmpq_mat

from boundcheck.core.linalg import (
    EigenBound,
    balls,
    fraction,
    is_psd,
    is_symmetric,
    least_covering,
    precision,
    rational,
)
from boundcheck.errors import BadInput

_SMALL = 12  # up to this dimension exact elimination is as fast as balls
_BITS = (128, 1024)  # precisions that are tried before exact elimination
_RECOGNISED = 24  # up to this dimension a bound that is a short rational is recognised as the value itself


def is_diagonal(a: fmpq_mat) -> bool:
    """Whether all entries off the diagonal are 0."""
    return all(v == 0 for i, row in enumerate(a.tolist()) for j, v in enumerate(row) if i != j)


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


def least_multiple(a: fmpq_mat, unit: fmpq_mat, guess: Fraction) -> EigenBound:
    """A short rational v, the least with v*unit - a positive semidefinite, from above and within a relative 1e-12.

    unit: positive semidefinite and not 0, its null space within that of a. guess: floating point's proposal. `exact`
    where v is that least value itself (0 included). Certified: v*unit - a is positive semidefinite, and a relative
    1e-12 below it is not. Raises BadInput where no multiple covers a.
    """

    def covers(value: Fraction) -> bool:
        return is_positive_semidefinite(unit * rational(value) - a)

    rank = unit.rank()
    if rank == 0:
        raise BadInput("the least multiple of the zero matrix has no meaning.")
    if a.rank() < rank and covers(Fraction(0)):
        return EigenBound(Fraction(0), True)
    return least_covering(covers, guess, a, unit, recognised=a.nrows() <= _RECOGNISED)


def spread(a: fmpq_mat) -> tuple[Fraction, Fraction] | None:
    """The exact smallest and largest eigenvalue of a diagonal matrix, None for others."""
    if not is_diagonal(a):
        return None
    entries = [fraction(a[i, i]) for i in range(a.nrows())]
    return min(entries), max(entries)
