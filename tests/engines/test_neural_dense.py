"""The compiled way back through a large weight, beside torch's products."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'neural'")

from boundcheck.engines.neural.kernels import dense  # noqa: E402
from boundcheck.engines.neural.kernels.bound import handed, numbers  # noqa: E402
from boundcheck.engines.neural.kernels.dense import DenseKernel, compiled  # noqa: E402
from boundcheck.engines.neural.kernels.words import usable  # noqa: E402

pytestmark = pytest.mark.skipif(not usable(), reason="needs a processor with fused multiplication on wide words")

SIZES = {  # samples, inputs, outputs: samples in groups, whole panels and a rest, rows that are left over, one sample
    "panels and a rest": (10, 368, 141),
    "groups of all sizes": (37, 96, 64),
    "less than a panel": (33, 16, 30),
    "one sample": (1, 160, 7),
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "LARGE", 0)


@pytest.mark.parametrize("adding", [False, True])
@pytest.mark.parametrize("wanted", [False, True])
@pytest.mark.parametrize(("dtype", "error"), [(torch.float32, 1e-5), (torch.float64, 1e-13)])
@pytest.mark.parametrize("size", SIZES)
def test_it_is_the_products(size: str, dtype: object, error: float, wanted: bool, adding: bool) -> None:
    samples, inputs, outputs = SIZES[size]
    source = torch.Generator().manual_seed(0)
    x, gy = (torch.randn(1, samples, width, generator=source, dtype=dtype) for width in (inputs, outputs))
    both = torch.randn(1, outputs * (inputs + 1), generator=source, dtype=dtype)
    weight, bias = (a.view(1, outputs, -1) for a in both.split([outputs * inputs, outputs], dim=1))
    bias = bias.squeeze(2)
    assert compiled(weight)
    y, back = DenseKernel().traced(x, (weight, bias))
    torch.testing.assert_close(y, x @ weight.mT + bias.unsqueeze(1), rtol=0, atol=1e3 * error)
    gx, slope, total = gy @ weight, gy.mT @ x, gy.sum(dim=1)
    if adding:  # a step of SGD: into the weight itself, which is read before
        into, slope, total = (weight, bias), weight + slope, bias + total
    else:
        into = (torch.full_like(weight, torch.nan), torch.full_like(bias, torch.nan))
    found = back(gy, into, wanted, adding)
    torch.testing.assert_close(into[0], slope, rtol=error, atol=error * samples)
    torch.testing.assert_close(into[1], total, rtol=error, atol=error * samples)
    if wanted:
        torch.testing.assert_close(found, gx, rtol=error, atol=10 * error * outputs**0.5)
    else:
        assert found is None


@pytest.mark.parametrize("few", [0, 99], ids=["torch there", "compiled there"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("dtype", "error"), [(torch.float32, 1e-5), (torch.float64, 1e-13)])
@pytest.mark.parametrize("size", SIZES)
def test_a_layer_of_one_model(
    size: str, dtype: torch.dtype, error: float, bias: bool, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "FEW", few)
    monkeypatch.setattr(dense, "SMALL", 0)
    samples, inputs, outputs = SIZES[size]
    torch.manual_seed(0)
    given = handed(torch.zeros(1, dtype=dtype), (samples, inputs))
    parameters = [torch.randn(n, dtype=dtype) for n in ((outputs, inputs), (outputs,))[: 1 + bias]]
    layer = DenseKernel().bound(given, parameters)
    assert layer is not None
    given.x.normal_()
    into = [torch.full_like(a, torch.nan) for a in parameters]
    own = layer.bind([numbers(a) for a in parameters], [numbers(a) for a in into])
    layer.forth(own)
    wanted = torch.nn.functional.linear(given.x, *parameters)
    torch.testing.assert_close(layer.found.x, wanted, rtol=0, atol=1e3 * error)
    layer.found.g.normal_()
    layer.back(own, False)
    g, tolerance = layer.found.g, {"rtol": error, "atol": 10 * error * max(samples, outputs)}
    for found, expected in zip((given.g, *into), (g @ parameters[0], g.T @ given.x, g.sum(dim=0)), strict=False):
        torch.testing.assert_close(found, expected, **tolerance)


def test_where_it_is_not() -> None:
    assert not compiled(torch.zeros(2, 8, 64))  # several models
    assert not compiled(torch.zeros(1, 8, 65))  # rows that are not whole words
    assert not compiled(torch.zeros(1, 8, 64, dtype=torch.bfloat16))
    assert not compiled(torch.zeros(1, 64, 8).mT)
