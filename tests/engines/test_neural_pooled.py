"""Compiled passes of convolution, pooling and ReLU against torch's layers, with their gradients by autograd."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

from boundcheck.engines.neural.kernels import frequencies, pooled_convolution
from boundcheck.engines.neural.kernels.convolution import ConvolutionKernel
from boundcheck.engines.neural.kernels.pooled_convolution import PooledConvolutionKernel, fewer
from boundcheck.engines.neural.kernels.pooling import MaxPoolKernel
from boundcheck.problems.architectures import Convolution

torch.set_num_threads(1)

WINDOWS, FREQUENCIES = 1e9, 0.0  # of WORTH: which passes are taken

SHAPES = {  # layer; samples, height, width
    "padded": (Convolution(3, 5, 5, padding=2), (4, 8, 8)),
    "odd, not square": (Convolution(2, 17, 3, padding=1), (3, 7, 10)),
    "no padding": (Convolution(1, 4, 5), (2, 9, 8)),
    "all padding": (Convolution(2, 3, 3, padding=2), (2, 5, 6)),
    "one place": (Convolution(3, 2, 1), (5, 4, 4)),
    "words and more": (Convolution(20, 36, 3, padding=1), (2, 6, 6)),
    "one sample": (Convolution(16, 16, 5, padding=2), (1, 6, 6)),
}


def plain(x: Any, weight: Any, bias: Any, layer: Convolution) -> Any:
    return functional.relu(functional.max_pool2d(functional.conv2d(x, weight, bias, padding=layer.padding), 2))


def drawn(layer: Convolution, size: tuple[int, int, int], lanes: int, dtype: Any) -> tuple[Any, list[Any]]:
    source = torch.Generator().manual_seed(3)
    samples, height, width = size
    x = torch.randn(lanes, samples, layer.inputs, height, width, generator=source, dtype=dtype)
    weight = torch.randn(lanes, layer.outputs, layer.inputs, layer.kernel, layer.kernel, generator=source, dtype=dtype)
    found = [weight / layer.kernel]
    return x, [*found, torch.randn(lanes, layer.outputs, generator=source, dtype=dtype)] if layer.bias else found


def there_and_back(kernel: PooledConvolutionKernel, x: Any, parameters: list[Any], wanted: bool = True) -> list[Any]:
    """Results and gradients for the gradient 1, 2, 3, ... in the results."""
    with torch.no_grad():
        y, back = kernel.traced(x, parameters)
        into = [torch.full_like(p, 7.0) for p in parameters]
        gy = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view(y.shape)
        gx = back(gy, into, wanted, False)
    return [y, gx, *into]


def wanted_of(layer: Convolution, x: Any, parameters: list[Any]) -> list[Any]:
    leaves = [a.detach().requires_grad_() for a in (x, *parameters)]
    y = torch.stack(
        [plain(leaves[0][k], leaves[1][k], leaves[2][k] if layer.bias else None, layer) for k in range(len(x))]
    )
    gy = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view(y.shape)
    return [y.detach(), *torch.autograd.grad(y, leaves, gy)]


def kernel_of(layer: Convolution) -> PooledConvolutionKernel:
    return PooledConvolutionKernel(ConvolutionKernel(layer), MaxPoolKernel(2, 2, 0))


def assert_near(found: list[Any], wanted: list[Any], tolerance: float) -> None:
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        assert float((one - other).abs().max()) <= tolerance * max(1.0, float(other.abs().max()))


@pytest.fixture(params=[WINDOWS, FREQUENCIES], ids=["windows", "frequencies"])
def passes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> float:
    monkeypatch.setattr(pooled_convolution, "WORTH", request.param)
    pooled_convolution.forget()
    return request.param


def check(name: str, dtype: Any, tolerance: float) -> None:
    layer, size = SHAPES[name]
    kernel = kernel_of(layer)
    x, parameters = drawn(layer, size, 2, dtype)
    assert_near(there_and_back(kernel, x, parameters), wanted_of(layer, x, parameters), tolerance)
    again = there_and_back(kernel, x, parameters)  # in memory that was used
    assert all(torch.equal(a, b) for a, b in zip(again, there_and_back(kernel, x, parameters), strict=True))
    _, gx, *into = there_and_back(kernel, x, parameters, wanted=False)
    assert gx is None
    assert_near(into, again[2:], 0.0)


@pytest.mark.usefixtures("passes")
@pytest.mark.parametrize("name", SHAPES)
def test_against_torch(name: str) -> None:
    check(name, torch.float64, 1e-12)


@pytest.mark.slow  # 17 seconds of compilation
@pytest.mark.usefixtures("passes")
@pytest.mark.parametrize("name", SHAPES)
def test_against_torch_in_single_precision(name: str) -> None:
    check(name, torch.float32, 1e-5)


@pytest.mark.usefixtures("passes")
def test_a_gradient_is_added_to_what_is_there() -> None:
    layer, size = SHAPES["padded"]
    x, parameters = drawn(layer, size, 1, torch.float64)
    plainly = there_and_back(kernel_of(layer), x, parameters)[2:]
    with torch.no_grad():
        y, back = kernel_of(layer).traced(x, parameters)
        into = [torch.full_like(p, 7.0) for p in parameters]
        back(torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view(y.shape), into, True, True)
    assert_near(into, [a + 7.0 for a in plainly], 1e-12)


@pytest.mark.usefixtures("passes")
def test_what_is_no_number_stays_none() -> None:
    layer, size = SHAPES["padded"]
    x, parameters = drawn(layer, size, 1, torch.float64)
    x[0, 1, 0, 3, 3] = torch.nan
    y = there_and_back(kernel_of(layer), x, parameters)[0]
    wanted = plain(x[0], parameters[0][0], parameters[1][0], layer)
    assert torch.isnan(y[0][torch.isnan(wanted)]).all()
    others = [k for k in range(size[0]) if k != 1]
    assert not torch.isnan(y[0, others]).any()


def test_the_first_of_equals_gets_the_gradient() -> None:
    """A blank image with a positive bias: all places of a window are equal."""
    layer = Convolution(1, 1, 1)
    x, parameters = torch.zeros(1, 1, 1, 2, 2, dtype=torch.float64), [torch.ones(1, 1, 1, 1, 1, dtype=torch.float64)]
    parameters.append(torch.full((1, 1), 0.5, dtype=torch.float64))
    _, gx, _, slope = there_and_back(kernel_of(layer), x, parameters)
    assert gx[0, 0, 0].tolist() == [[-1.0, 0.0], [0.0, 0.0]]
    assert slope.tolist() == [[-1.0]]
    parameters[1].zero_()  # ReLU at 0 has the derivative 0
    _, gx, weight, slope = there_and_back(kernel_of(layer), x, parameters)
    assert [bool(a.any()) for a in (gx, weight, slope)] == [False] * 3


def test_frequencies_where_they_take_fewer_multiplications() -> None:
    pooled_convolution.forget()
    many, few = Convolution(32, 64, 5, padding=2), Convolution(1, 32, 5, padding=2)
    assert fewer(many, (32, 32, 14, 14)) > pooled_convolution.WORTH > fewer(few, (32, 1, 28, 28))
    of = frequencies.multiplications(14, 14, 5, 2)
    # a cycle of 14 + 2 places: 7 frequencies across, and two that are real and keep 7 down and two real ones
    assert of.planes == 7 * 3 * 16 + 2 * (3 * 7 + 2)
    names = [
        type(pooled_convolution.passes_of(layer, shape, torch.float32)).__name__
        for layer, shape in (
            (many, (10, 32, 14, 14)),
            (few, (10, 1, 28, 28)),
            (Convolution(32, 64, 5, padding=2, bias=False), (10, 32, 14, 14)),  # its zeros must stay zeros
        )
    ]
    assert names == ["ByFrequencies", "ByWindows", "ByWindows"]


def test_memory_is_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, size = SHAPES["padded"]
    pooled_convolution.forget()
    x, parameters = drawn(layer, size, 1, torch.float64)
    there_and_back(kernel_of(layer), x, parameters)
    one = pooled_convolution.passes_of(layer, tuple(x.shape[1:]), x.dtype)
    assert one is not pooled_convolution.passes_of(layer, tuple(x.shape[1:]), x.dtype)  # the first one is in use
    monkeypatch.setattr(pooled_convolution, "KEPT", 0)
    there_and_back(kernel_of(layer), x, parameters)
    there_and_back(kernel_of(layer), x[:, :2], parameters)
    assert pooled_convolution.kept() <= 1
