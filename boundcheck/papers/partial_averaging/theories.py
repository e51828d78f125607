"""The averaging matrices P_(j,k) of partial averaging, and how far they are from what is claimed of them.

S. Lee et al., "Partial Model Averaging in Federated Learning", Appendix A, (8) to (12): on the stacked block j of all m
models, (m d_j) numbers, P_(j,k) is J_j = (1 w') kron I where iteration k averages block j and the identity otherwise; w
holds the weights of the average, 1/m each in the paper. The defects below are 0 exactly where the property holds:

    averaging_row_defect        property 1: largest |entry| of P 1 - 1
    averaging_product_defect    property 2: largest |entry| of J P - J
    averaging_symmetry_defect   property 3: largest |entry| of P P' - (P P')^T, over all pairs
    averaging_inner_defect      property 4: largest |off-diagonal entry| of the d_j x d_j blocks of P P'
    averaging_outer_defect      property 4 read as "block diagonal with blocks of size m x m": largest |entry| outside
    averaging_cross_weight      the entry of J_j between one number of two different workers, the last two
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from boundcheck.setting.blocks import block_view
from boundcheck.setting.theories import Row, Theory, constants

if TYPE_CHECKING:
    from boundcheck.certified.blocks import Partition
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


MAX_SIZE = 60  # rows of the matrices that are made
Rows = list[list[Fraction]]


def full_average(weights: Sequence[Fraction], size: int) -> Rows:
    """(1 w') kron I, (m size, m size)."""
    m = len(weights)
    return [
        [weights[b] if p == q else Fraction(0) for b in range(m) for q in range(size)]
        for _ in range(m)
        for p in range(size)
    ]


def product(a: Rows, b: Rows) -> Rows:
    """a b."""
    columns = list(zip(*b, strict=True))
    return [[sum((x * y for x, y in zip(row, c, strict=True) if x and y), Fraction(0)) for c in columns] for row in a]


class AveragingMatrices:
    """P_(j,k) of every block over one period.

    partition: the blocks. pattern: the coordinates that are averaged after each round of a period. weights: w.
    """

    def __init__(self, partition: Partition, pattern: Sequence[Sequence[int]], weights: Sequence[Fraction]) -> None:
        self.partition, self.pattern, self.weights = partition, pattern, weights

    @cached_property
    def blocks(self) -> list[tuple[int, Rows, list[Rows]]]:
        """Per block that is not empty its size, J_j, and the different P_(j,k) over a period."""
        found: list[tuple[int, Rows, list[Rows]]] = []
        for block in filter(len, self.partition):
            whole = full_average(self.weights, len(block))
            one = [[Fraction(int(p == q)) for q in range(len(whole))] for p in range(len(whole))]
            averaged = {set(block) <= set(met) for met in self.pattern}
            found.append((len(block), whole, [whole if own else one for own in averaged]))
        return found

    @cached_property
    def _products(self) -> list[tuple[int, Rows]]:
        return [(size, product(p, q)) for size, _, every in self.blocks for p in every for q in every]

    def row_defect(self) -> Fraction:
        """Property 1."""
        return max(abs(sum(row, Fraction(0)) - 1) for _, _, every in self.blocks for p in every for row in p)

    def product_defect(self) -> Fraction:
        """Property 2."""
        return max(_apart(product(whole, p), whole) for _, whole, every in self.blocks for p in every)

    def symmetry_defect(self) -> Fraction:
        """Property 3."""
        return max(_apart(both, [list(c) for c in zip(*both, strict=True)]) for _, both in self._products)

    def inner_defect(self) -> Fraction:
        """Property 4, every d_j x d_j block being diagonal."""
        return self._largest(lambda p, q, size: p % size != q % size)

    def outer_defect(self) -> Fraction:
        """Property 4, the matrix being zero outside diagonal blocks of size m x m, and these diagonal."""
        return self._largest(lambda p, q, size: p != q)

    def _largest(self, asked: Callable[[int, int, int], bool]) -> Fraction:
        """The largest |entry| of the products in these rows and columns."""
        rows = ((size, p, row) for size, both in self._products for p, row in enumerate(both))
        entries = ((size, p, q, v) for size, p, row in rows for q, v in enumerate(row))
        return max((abs(v) for size, p, q, v in entries if asked(p, q, size)), default=Fraction(0))

    def cross_weight(self) -> Fraction:
        """The entry of J_j between the first numbers of the last two workers, j the last block."""
        size, whole, _ = self.blocks[-1]
        return whole[-size - size][-size] if len(self.weights) > 1 else Fraction(0)


def _apart(a: Rows, b: Rows) -> Fraction:
    return max(abs(x - y) for p, q in zip(a, b, strict=True) for x, y in zip(p, q, strict=True))


def averaging_matrices(method: Method, problem: Problem) -> AveragingMatrices | None:
    """The matrices of a method that averages blocks; None for those with more than `MAX_SIZE` rows."""
    view = block_view(method, problem)
    if view is None or not 0 < max(map(len, view.partition), default=0) * len(view.averaging) <= MAX_SIZE:
        return None
    return AveragingMatrices(view.partition, view.exchange.pattern(problem.dim), view.averaging)


def _defect(name: str, value: Callable[[AveragingMatrices], Fraction]) -> Row[AveragingMatrices]:
    return Row(f"averaging_{name}", value, "from the averaging matrices, entry by entry")


theories = (
    Theory(
        averaging_matrices,
        constants=constants(
            _defect("row_defect", AveragingMatrices.row_defect),
            _defect("product_defect", AveragingMatrices.product_defect),
            _defect("symmetry_defect", AveragingMatrices.symmetry_defect),
            _defect("inner_defect", AveragingMatrices.inner_defect),
            _defect("outer_defect", AveragingMatrices.outer_defect),
            _defect("cross_weight", AveragingMatrices.cross_weight),
        ),
    ),
)
