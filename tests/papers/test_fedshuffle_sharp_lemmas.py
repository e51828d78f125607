"""Readings of FedShuffle's Appendix B that say more than the printed ones, at numbers by hand."""

from __future__ import annotations

from typing import Any

import pytest

from boundcheck.errors import BadInput
from boundcheck.theory.discovery import statement


def bound(id: str, **values: Any) -> Any:
    return statement(f"fedshuffle/{id}").evaluate(**values).exact


def test_sharp_b_1_is_attained_without_strong_convexity() -> None:
    """h = x^2, used with mu = 0 and L = 2 at x = y = 1, z = 3: <2, 1 - 3> = -4 = (1 - 9) + 1 * 4."""
    at = {"mu": 0, "L": 2, "rise": 1 - 9, "norm2_yz": 4, "norm2_zx": 4}
    assert bound("lemma_b_1/sharp", **at) == -4
    assert bound("lemma_b_1/as_printed", **at) == 0


def test_b_5_for_one_vector() -> None:
    assert bound("lemma_b_5/corrected", n=1, k=1, sigma2=0) == 0
    with pytest.raises(BadInput):
        statement("fedshuffle/lemma_b_5/as_printed").evaluate(n=1, k=1, sigma2=0)


def test_what_b_6_gives_away() -> None:
    """|sum|^2 of (1, 2), (3, 0), (-1, 4) is 9 + 36 = 45 = 3 * (31 - 16): their distances to (1, 2) sum up to 16."""
    vectors, mean = ((1, 2), (3, 0), (-1, 4)), (1, 2)
    squares = sum(a * a + b * b for a, b in vectors)
    spread = sum((a - mean[0]) ** 2 + (b - mean[1]) ** 2 for a, b in vectors)
    assert (squares, spread) == (31, 16)
    assert bound("lemma_b_6_sum/sharp", tau=3, squares=31, spread=16) == 3**2 + 6**2 == 45
    assert bound("lemma_b_6_sum/as_printed", tau=3, squares=31) == 93
