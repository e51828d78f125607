"""Smoothness, noise and dissimilarity block by block, exactly, for quadratic clients with gradients A_i x - b_i.

S. Lee, A. K. Sahu, C. He and S. Avestimehr, "Partial Model Averaging in Federated Learning", divide the model into
blocks x_1, ..., x_tau and assume that f is "L_j-smooth with respect to x_j". That can be read in four ways, for every
client's gradient g and all x, y:

    blocks     |g_j(x + h) - g_j(x)| <= L_j |h|                    for h in the coordinates of block j alone
    separable  |g_j(x) - g_j(y)| <= L_j |x_j - y_j|                for every j
    weighted   |g(x) - g(y)|^2 <= sum of L_j^2 |x_j - y_j|^2
    global     |g(x) - g(y)| <= max of L_j times |x - y|           with all L_j equal

For a Hessian A they say: |A_jj| <= L_j; A is block diagonal too; A^2 <= diag(L_j^2 I); |A| <= L.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import fmpq, fmpq_mat

from boundcheck.certified import certify
from boundcheck.certified.definite import (
    diagonal_matrix,
    different,
    eigenvalues_within,
    is_positive_semidefinite,
    largest_eigenvalue,
    least_diagonal_multiple,
    least_multiple,
    part,
    varying,
)
from boundcheck.certified.dissimilarity import ROOM
from boundcheck.certified.forms import Affine, Form, least_constant, weighted, weighted_map
from boundcheck.certified.samples import Samples
from boundcheck.core.linalg import floats, fraction, range_projector
from boundcheck.core.numbers import root_from_above, round_up
from boundcheck.errors import BadInput, UnknownName

Partition = Sequence[Sequence[int]]  # the coordinates of each block
READINGS = ("blocks", "separable", "weighted", "global")


@dataclass(frozen=True)
class Lipschitz:
    """The L_j of one reading, one a block. exact: whether they are the least possible ones."""

    values: tuple[Fraction, ...]
    exact: bool
    how: str

    @property
    def largest(self) -> Fraction:
        """L_max."""
        return max(self.values)


# --- smoothness ---------------------------------------------------------------------------------------------


def coupled(hessians: Sequence[fmpq_mat], partition: Partition) -> tuple[int, int, int] | None:
    """The first (client, block, other block) whose Hessian has an entry between the two blocks; None: there is none."""
    block = {k: j for j, coordinates in enumerate(partition) for k in coordinates}
    for i, a in enumerate(hessians):
        for p, row in enumerate(a.tolist()):
            for q, v in enumerate(row):
                if v != 0 and block[p] != block[q]:
                    return i, block[p], block[q]
    return None


def _diagonal(values: Sequence[Fraction], partition: Partition) -> list[Fraction]:
    """values_j at the coordinates of block j."""
    found = {k: value for value, block in zip(values, partition, strict=True) for k in block}
    return [found[k] for k in range(len(found))]


def decides(reading: str, hessians: Sequence[fmpq_mat], partition: Partition, values: Sequence[Fraction]) -> bool:
    """Whether a reading holds for all these symmetric Hessians with these L_j, one a block; a proof either way.

    "global" is about the largest L_j. Raises UnknownName, and BadInput for another number of L_j than of blocks.
    """
    if reading not in READINGS:
        raise UnknownName("the reading of block smoothness", reading, READINGS)
    if len(values) != len(partition):
        raise BadInput(f"{len(values)} constants L_j were given for {len(partition)} blocks; one a block is needed.")
    if min(values) < 0:
        return False
    every = different(hessians)
    if reading == "global":
        return all(eigenvalues_within(a, -max(values), max(values)) for a in every)
    if reading == "weighted":
        room = diagonal_matrix(_diagonal([v * v for v in values], partition))
        return all(is_positive_semidefinite(room - a * a) for a in every)
    if reading == "separable" and coupled(every, partition) is not None:
        return False
    pairs = [(block, v) for block, v in zip(partition, values, strict=True) if len(block)]
    return all(eigenvalues_within(part(a, block, block), -v, v) for a in every for block, v in pairs)


def lipschitz(reading: str, hessians: Sequence[fmpq_mat], partition: Partition) -> Lipschitz | None:
    """L_j with which a reading holds for all these Hessians, certified; None where it holds with none (separable).

    "blocks", "separable" and "global" have least constants, met to a relative 1e-12. "weighted" has many that cannot be
    compared: of the block norms themselves, two scaled proposals and the global one it takes those with the least
    sum of L_j^2.
    """
    if reading not in READINGS:
        raise UnknownName("the reading of block smoothness", reading, READINGS)
    every = different(hessians)
    if reading == "global":
        found = certify.smoothness(every)
        return Lipschitz((found.value,) * len(partition), found.side == "exact", found.how)
    if reading == "separable" and coupled(every, partition) is not None:
        return None
    if reading == "weighted":
        return _weighted(every, partition)
    own = [certify.smoothness([part(a, block, block) for a in every]) if len(block) else None for block in partition]
    values = tuple(Fraction(0) if c is None else c.value for c in own)
    exact = all(c is None or c.side == "exact" for c in own)
    return Lipschitz(values, exact, "largest |eigenvalue| of the diagonal blocks of the client Hessians")


def _weighted(hessians: Sequence[fmpq_mat], partition: Partition) -> Lipschitz:
    """The best of the proposals with A^2 <= diag(L_j^2 I) for all Hessians A."""
    own = lipschitz("blocks", hessians, partition)
    whole = lipschitz("global", hessians, partition)
    assert own is not None
    assert whole is not None
    if decides("weighted", hessians, partition, own.values):  # no L_j can be below the norm of its block
        return own
    proposals = [whole]
    squares = [a * a for a in hessians]
    for row_sums, how in ((True, "row sums of block norms of the squared Hessians"), (False, "their diagonal blocks")):
        weights = _proposal(squares, partition, row_sums)
        unit = _diagonal(weights, partition)
        factor = max((least_diagonal_multiple(s, unit).value for s in squares), default=Fraction(0))
        values = tuple(_readable(root_from_above(factor * w)) for w in weights)
        if decides("weighted", hessians, partition, values):
            proposals.append(Lipschitz(values, False, f"{how}, times the least factor that A^2 <= diag(L_j^2 I) needs"))
    return min(proposals, key=lambda found: sum(v * v for v in found.values))


def _proposal(squares: Sequence[fmpq_mat], partition: Partition, row_sums: bool) -> list[Fraction]:
    """One number a block, positive where some squared Hessian is not 0 there: the directions of (L_j^2)."""
    found: list[Fraction] = []
    for j, block in enumerate(partition):
        others = partition if row_sums else [partition[j]]
        found.append(max(sum((_norm(part(s, block, o)) for o in others), Fraction(0)) for s in squares))
    return found


def _norm(a: fmpq_mat) -> Fraction:
    """The spectral norm of any matrix, from above."""
    if a.nrows() == 0 or a.ncols() == 0 or all(v == 0 for v in a.entries()):
        return Fraction(0)
    return _readable(root_from_above(largest_eigenvalue([a * a.transpose()], recognised=True).value))


def _readable(value: Fraction) -> Fraction:
    """The value, or where it is long 13 digits from above."""
    return value if value.denominator.bit_length() <= 44 else round_up(value)


# --- noise --------------------------------------------------------------------------------------------------


def block_variances(samples: Samples, client: Affine, partition: Partition) -> list[Fraction | None]:
    """sup over x of (1/N) sum over s of |block j of (grad f_s(x) - grad f(x))|^2, one a block, exactly.

    None where it is infinite: the rows of the samples' Hessians differ. Raises BadInput where the client is not the
    mean of its samples, or they are too many.
    """
    a, b = client
    if samples.mean() != client:
        raise BadInput("a client is not the mean of its samples.")
    if samples.count == 1:
        return [Fraction(0)] * len(partition)
    found: list[Fraction | None] = [Fraction(0)] * len(partition)
    same: dict[int, bool] = {}  # samples that share a matrix object are compared once
    table = a.tolist()
    for own, side in samples.parts:
        alike = same.get(id(own))
        if alike is None:
            alike = same[id(own)] = own == a
        moved = None if alike else own.tolist()
        apart = (side - b).entries()
        for j, block in enumerate(partition):
            so_far = found[j]
            if so_far is None:
                continue
            if moved is not None and any(moved[k] != table[k] for k in block):
                found[j] = None
                continue
            found[j] = so_far + fraction(sum((apart[k] * apart[k] for k in block), fmpq(0))) / samples.count
    return found


# --- dissimilarity ------------------------------------------------------------------------------------------


def _rows(client: Affine, block: Sequence[int]) -> Form:
    """|block j of (A x - b)|^2."""
    a, b = client
    r = part(a, block, range(a.ncols()))
    side = part(b, block, [0])
    return Form(r.transpose() * r, r.transpose() * side, (side.transpose() * side)[0, 0])


class BlockDissimilarity:
    """Assumption 4 block by block, for all x, with one beta^2 >= 1 for all blocks:

        sum of p_i |g_ij(x)|^2 <= beta^2 |sum of p_i g_ij(x)|^2 + kappa_j^2,   g_ij block j of grad F_i = A_i x - b_i.

    maps: (A_i, b_i) a client; weights: p_i, summing to 1.
    """

    def __init__(self, maps: Sequence[Affine], weights: Sequence[Fraction], partition: Partition) -> None:
        shares: dict[tuple[int, int], tuple[Fraction, Affine]] = {}  # clients with the same objects count as one
        for w, client in zip(weights, maps, strict=True):
            key = (id(client[0]), id(client[1]))
            if w > 0:
                shares[key] = (w + shares[key][0] if key in shares else w, client)
        self._pairs = list(shares.values())
        self.partition = partition
        self._mean = weighted_map(self._pairs)

    @cached_property
    def alike(self) -> bool:
        """Whether all clients have one Hessian, so that beta^2 = 1 serves."""
        return all(a == self._mean[0] for _, (a, _) in self._pairs)

    @cached_property
    def _left(self) -> list[Form]:
        return [weighted((w, _rows(client, block)) for w, client in self._pairs) for block in self.partition]

    @cached_property
    def _right(self) -> list[Form]:
        return [_rows(self._mean, block) for block in self.partition]

    @cached_property
    def free_block(self) -> int | None:
        """A block in which some client's gradient varies where that of F does not; None if there is none."""
        if self.alike:
            return None
        pairs = enumerate(zip(self._left, self._right, strict=True))
        free = (varying([(j, left.q)], range_projector(right.q)) for j, (left, right) in pairs)
        return next((j for j in free if j is not None), None)

    @cached_property
    def beta2(self) -> Fraction | None:
        """1 where all Hessians agree, else the larger of 1 and twice the least possible; None if there is none."""
        if self.alike:
            return Fraction(1)
        if self.free_block is not None:
            return None
        least = Fraction(0)
        for left, right in zip(self._left, self._right, strict=True):
            if left.q.rank():
                whole = floats(right.q)
                guess = float(np.linalg.eigvals(np.linalg.pinv(whole, rcond=1e-12) @ floats(left.q)).real.max())
                least = max(least, least_multiple(left.q, right.q, Fraction(guess)).value)
        return max(Fraction(1), ROOM * least)

    def kappa2(self, beta2: Fraction) -> list[Fraction | None]:
        """The least kappa_j^2 for this beta^2, one a block, exactly; None if there is none."""
        return [least_constant(left, right.times(beta2)) for left, right in zip(self._left, self._right, strict=True)]
