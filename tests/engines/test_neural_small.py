"""Compiled passes of small layers beside torch, at 1e-12 in float64 and 1e-5 in float32."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'neural'")

from boundcheck.engines.neural.kernels import dense, small_compiled, words  # noqa: E402
from boundcheck.engines.neural.kernels.bound import handed, numbers  # noqa: E402
from boundcheck.engines.neural.kernels.dense import BoundSmall, DenseKernel  # noqa: E402
from boundcheck.engines.neural.kernels.recurrent import EmbeddingKernel  # noqa: E402
from boundcheck.engines.neural.network import Handed  # noqa: E402

pytestmark = pytest.mark.skipif(not words.usable(), reason="needs a processor with fused multiplication on wide words")
CLOSE = {torch.float64: 1e-12, torch.float32: 1e-5}
SHAPES = [(1, 1, 1), (3, 5, 2), (10, 100, 80), (10, 512, 10), (7, 33, 81), (16, 16, 16), (2, 3, 200)]


def assert_near(found: Any, wanted: Any) -> None:
    assert found.shape == wanted.shape
    assert float((found - wanted).abs().max()) <= CLOSE[found.dtype] * max(1.0, float(wanted.abs().max()))


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("adding", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_dense(shape: tuple[int, int, int], bias: bool, adding: bool, dtype: Any) -> None:
    """Twice, so that what a first step leaves behind does no harm."""
    samples, inputs, outputs = shape
    torch.manual_seed(1)
    sizes = [(outputs, inputs), (outputs,)][: 1 + bias]
    given = handed(torch.zeros(1, dtype=dtype), (samples, inputs))
    layer = DenseKernel().bound(given, [torch.empty(size, dtype=dtype) for size in sizes])
    assert isinstance(layer, BoundSmall)
    for _ in range(2):
        parameters = [torch.randn(size, dtype=dtype) for size in sizes]
        into = [
            torch.randn(size, dtype=dtype) if adding else torch.full(size, torch.nan, dtype=dtype) for size in sizes
        ]
        given.x.normal_()
        leaves = [a.clone().requires_grad_() for a in (given.x, *parameters)]
        y = torch.nn.functional.linear(*leaves)
        own = layer.bind([numbers(a) for a in parameters], [numbers(a) for a in into])
        layer.forth(own)
        assert_near(layer.found.x, y.detach())
        layer.found.g.normal_()
        wanted = torch.autograd.grad(y, leaves, layer.found.g)
        sums = [w + a if adding else w for w, a in zip(wanted[1:], into, strict=True)]
        layer.back(own, adding)
        assert_near(given.g, wanted[0])
        for found, expected in zip(into, sums, strict=True):
            assert_near(found, expected)


def test_gradients_go_into_the_weights_themselves() -> None:
    """The gradient in what came in is by the weight before the step."""
    torch.manual_seed(2)
    given = handed(torch.zeros(1, dtype=torch.float64), (4, 6))
    weight = torch.randn(3, 6, dtype=torch.float64)
    layer = DenseKernel().bound(given, [weight])
    assert layer is not None
    given.x.normal_()
    before, own = weight.clone(), layer.bind([numbers(weight)], [numbers(weight)])
    layer.forth(own)
    layer.found.g.normal_()
    layer.back(own, True)
    assert_near(given.g, layer.found.g @ before)
    assert_near(weight, before + layer.found.g.T @ given.x)


def test_no_gradient_in_what_came_in() -> None:
    given = Handed(torch.randn(4, 6), None)
    into = torch.full((3, 6), torch.nan)
    layer = DenseKernel().bound(given, [torch.randn(3, 6)])
    assert layer is not None
    layer.found.g.normal_()
    layer.back(layer.bind([numbers(torch.randn(3, 6))], [numbers(into)]), False)
    assert_near(into, layer.found.g.T @ given.x)


def test_larger_layers_are_torchs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "SMALL", 4 * 6 * 3 - 1)
    layer = DenseKernel().bound(Handed(torch.randn(4, 6), None), [torch.randn(3, 6)])
    assert not isinstance(layer, BoundSmall)


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("adding", [False, True])
def test_embedding(adding: bool, dtype: Any) -> None:
    torch.manual_seed(3)
    symbols = torch.randint(0, 7, (5, 11))
    weight = torch.randn(7, 3, dtype=dtype)
    into = torch.randn(7, 3, dtype=dtype) if adding else torch.full((7, 3), torch.nan, dtype=dtype)
    layer = EmbeddingKernel().bound(Handed(symbols, None), [weight])
    assert layer is not None
    own = layer.bind([numbers(weight)], [numbers(into)])
    layer.forth(own)
    assert torch.equal(layer.found.x, weight[symbols])
    layer.found.g.normal_()
    wanted = torch.zeros_like(weight).index_add_(0, symbols.flatten(), layer.found.g.flatten(0, 1))
    wanted = wanted + into if adding else wanted
    layer.back(own, adding)
    assert_near(into, wanted)


@pytest.mark.parametrize("symbol", [-1, 7])
def test_symbols_beyond_the_vocabulary(symbol: int) -> None:
    weight, y = torch.randn(7, 3), torch.empty(2, 3)
    given = (numbers(torch.tensor([1, symbol])), numbers(weight), numbers(y), 3)
    assert not small_compiled.looked_up(*given)
