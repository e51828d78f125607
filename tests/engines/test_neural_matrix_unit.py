"""Products by the processor's matrix unit against float64, and what it makes of long short-term memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

from boundcheck.engines.neural.kernels import matrix_unit
from boundcheck.engines.neural.kernels.recurrent_passes import Model
from boundcheck.engines.sampled.jit import bare
from boundcheck.problems.architectures import LSTM

torch.set_num_threads(1)
pytestmark = pytest.mark.skipif(not matrix_unit.usable(), reason="needs a processor with a matrix unit (AMX)")
Matrix = np.ndarray[Any, np.dtype[Any]]
APART = 3  # numbers between two rows, which do not belong to them
# rows, depth, columns: one and two rows of squares and more, with remainders; blocks and their halves; 1 to 5 squares
SHAPES = [
    (1, 1, 1), (10, 33, 64), (16, 32, 16), (7, 5, 33), (17, 16, 80), (32, 64, 48), (40, 50, 64), (64, 201, 400),
    (75, 17, 20), (201, 160, 37),
]  # fmt: skip


def _laid_out(a: Any, ar: Any, rows: Any, depth: Any, b: Any, br: Any, columns: Any, left: Any, right: Any) -> None:
    matrix_unit.left(a, 0, ar, rows, depth, left)
    matrix_unit.right(b, 0, br, depth, columns, right, 0)


def _multiplied(left: Any, right: Any, c: Any, cr: Any, rows: Any, columns: Any, depth: Any, adding: Any) -> None:
    matrix_unit.product(left, right, c, 1, cr, rows, columns, depth, adding)


laid_out, multiplied = bare(_laid_out), bare(_multiplied)


def flat(a: Matrix) -> Matrix:
    """The rows, with what is not a number between and behind them."""
    wide = np.full((len(a) + 1, a.shape[1] + APART), np.nan, np.float32)
    wide[:-1, :-APART] = a
    return wide.ravel()


def product(a: Matrix, b: Matrix, before: float | None = None) -> Matrix:
    """a b, or what is added to a number that stood everywhere before."""
    (rows, depth), columns = a.shape, b.shape[1]
    left = np.full(matrix_unit.left_size(rows, depth), np.nan, np.float32)
    right = np.full(matrix_unit.right_size(depth, columns), np.nan, np.float32)
    laid_out(flat(a), depth + APART, rows, depth, flat(b), columns + APART, columns, left, right)
    wide = -(-columns // 16) * 16 + 16
    c = np.full(1 + rows * wide, np.nan if before is None else before, np.float32)
    multiplied(left, right, c, wide, rows, columns, depth, before is not None)
    found = c[1:].reshape(rows, wide)
    untouched = found[:, wide - 16 :]
    assert (np.isnan(untouched) if before is None else untouched == before).all()
    return found[:, :columns]


def drawn(rows: int, depth: int, columns: int, seed: int = 0) -> tuple[Matrix, Matrix]:
    source = np.random.default_rng(seed)
    a, b = source.standard_normal((rows, depth)), source.standard_normal((depth, columns))
    return a.astype(np.float32), b.astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_accuracy_is_that_of_single_precision(shape: tuple[int, int, int]) -> None:
    """Errors grow with the root of the depth, as those of sums in float32 do, and are measured by the sum of sizes."""
    a, b = drawn(*shape)
    exact, size = a.astype(float) @ b.astype(float), np.abs(a).astype(float) @ np.abs(b).astype(float)
    eps = float(np.finfo(np.float32).eps)
    assert (np.abs(product(a, b) - exact) <= (2 + np.sqrt(shape[1]) / 4) * eps * size).all()
    assert (np.abs(product(a, b, 0.5) - 0.5 - exact) <= (2 + np.sqrt(shape[1]) / 4) * eps * (size + 0.5)).all()


def test_numbers_are_kept_whole() -> None:
    """By an identity each number comes back to its last bit, of either sign, large and small."""
    a = drawn(40, 48, 1)[0] * np.float32(10.0) ** np.arange(-20, 28, dtype=np.float32)
    edges = [1 + 2.0**-23, 2 - 2.0**-23, 1 / 3, 16777215, 0.0, 2.0**-100, -3.3e38, 255.998]
    a[0, : len(edges)] = edges
    eye = np.eye(48, dtype=np.float32)
    assert (product(a, eye) == a).all()
    assert (product(eye, a.T.copy()) == a.T).all()


def test_what_is_not_a_number_stays_in_its_row_and_column() -> None:
    a, b = drawn(40, 70, 50)
    whole = product(a, b)
    a[33, 69], b[3, 7] = np.nan, np.inf
    found = product(a, b)
    lost = ~np.isfinite(found)
    assert lost[33].all()
    assert lost[:, 7].all()
    assert (found[~lost] == whole[~lost]).all()
    assert lost.sum() == 50 + 40 - 1


def there_and_back(layer: LSTM, samples: int, length: int, unit: bool | None) -> tuple[torch.Tensor, ...]:
    source = torch.Generator().manual_seed(3)
    ways = 2 if layer.both else 1
    given = [torch.randn(*p.shape, generator=source) / (2 * layer.hidden**0.5) for p in layer.parameters()]
    x = torch.randn(samples, length, layer.inputs, generator=source)
    gy = torch.randn(samples, length, layer.hidden * ways, generator=source)
    model, into = Model(layer, samples, length, torch.float32, unit), [torch.full_like(p, 0.25) for p in given]
    y = model.forth(x, given)
    return (y.clone(), model.back(gy, into, True, True), *into)


@pytest.mark.parametrize(
    ("layer", "samples", "length"),
    [
        (LSTM(1, 1), 1, 1), (LSTM(5, 20), 9, 7), (LSTM(33, 37, layers=2, both=True), 6, 5), (LSTM(1, 90), 2, 99),
        (LSTM(8, 100, layers=2), 64, 9), (LSTM(3, 17), 200, 3),
    ],
    ids=str,
)  # fmt: skip
def test_layers_are_those_of_words(layer: LSTM, samples: int, length: int) -> None:
    """Sums of fewer and of more rows than the unit takes at once, remainders of squares of every kind."""
    for found, wanted in zip(*(there_and_back(layer, samples, length, unit) for unit in (True, False)), strict=True):
        assert float((found - wanted).abs().max()) <= 1e-5 * float(wanted.abs().max())


def test_threads_at_once_find_the_same_bits() -> None:
    """Each has the unit's registers for itself."""
    layer = LSTM(8, 64)

    def once(samples: int) -> tuple[torch.Tensor, ...]:
        return there_and_back(layer, samples, 9, True)

    sizes = (70, 64, 33, 10)
    alone = [once(samples) for samples in sizes]
    with ThreadPoolExecutor(len(sizes)) as pool:
        together = [list(pool.map(once, sizes)) for _ in range(5)]
    for found in together:
        for one, other in zip(found, alone, strict=True):
            assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_the_unit_is_taken_where_it_pays() -> None:
    """With samples and products enough, and not in double precision."""

    def taken(hidden: int, samples: int, dtype: Any = torch.float32, unit: bool | None = None) -> bool:
        return any(one.squares for ways in Model(LSTM(8, hidden), samples, 2, dtype, unit).passes for one in ways)

    assert (taken(100, 64), taken(100, 32), taken(100, 31), taken(16, 64)) == (True, True, False, False)
    assert (taken(16, 1, unit=True), taken(100, 64, unit=False)) == (True, False)
    assert not taken(100, 64, torch.float64)
    assert not taken(100, 64, torch.float64, True)
