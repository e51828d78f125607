"""Batched long short-term memory against torch's own LSTM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from boundcheck.networks.architectures.layers import LSTM
from boundcheck.networks.engine.layers import BatchedEmbedding, BatchedLast
from boundcheck.networks.engine.recurrent import BatchedLSTM

torch.set_num_threads(1)
Case = tuple[LSTM, int, int]
CASES: tuple[Case, ...] = (  # with samples and length: remainders of rows, words and panels of every kind
    (LSTM(5, 20), 9, 7),
    (LSTM(1, 1), 1, 1),
    (LSTM(3, 8), 5, 2),
    (LSTM(33, 37, layers=2, both=True), 6, 5),
    (LSTM(1, 90, both=True), 2, 3),
    (LSTM(8, 100, layers=2), 64, 9),
)


def source(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def parameters(layer: LSTM, seed: int = 1) -> list[torch.Tensor]:
    shapes = [p.shape for p in layer.parameters()]
    return [torch.randn(*s, generator=source(seed), dtype=torch.float64) / 3 for s in shapes]


def by_torch(
    layer: LSTM, x: torch.Tensor, given: Sequence[torch.Tensor], gy: torch.Tensor
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The result and the gradients in x and the parameters."""
    leaves = [a.clone().requires_grad_() for a in (x, *given)]
    start = x.new_zeros(layer.layers * (2 if layer.both else 1), len(x), layer.hidden)
    y = torch.lstm(leaves[0], (start, start), leaves[1:], True, layer.layers, 0.0, True, layer.both, True)[0]
    return y.detach(), list(torch.autograd.grad(y, leaves, gy))


def drawn(case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    layer, samples, length = case
    width = layer.hidden * (2 if layer.both else 1)
    x, gy = (torch.randn(samples, length, n, generator=source(2), dtype=torch.float64) for n in (layer.inputs, width))
    return x, gy


def near(found: torch.Tensor, wanted: torch.Tensor, tolerance: float) -> bool:
    return float((found.double() - wanted).abs().max()) <= tolerance * float(wanted.abs().max())


def traced_model(
    layer: LSTM, x: torch.Tensor, given: Sequence[torch.Tensor]
) -> tuple[torch.Tensor, Callable[[torch.Tensor, Sequence[torch.Tensor], bool, bool], Any]]:
    """One model: samples (B, length, inputs), parameters without the axis of models."""
    with torch.no_grad():
        y, back = BatchedLSTM(layer).traced(x[None], [p[None] for p in given])

    def one(gy: torch.Tensor, into: Sequence[torch.Tensor], wanted: bool, adding: bool) -> Any:
        with torch.no_grad():
            gx = back(gy[None], [target[None] for target in into], wanted, adding)
        return gx[0] if wanted else gx

    return y[0], one


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_against_torch(case: Case, dtype: Any, tolerance: float) -> None:
    layer, (x, gy), given = case[0], drawn(case), parameters(case[0])
    wanted, slopes = by_torch(layer, x, given, gy)
    y, back = traced_model(layer, x.to(dtype), [p.to(dtype) for p in given])
    assert near(y, wanted, tolerance)
    into = [torch.full_like(p, torch.nan, dtype=dtype) for p in given]
    gx = back(gy.to(dtype), into, True, False)
    for found, slope in zip((gx, *into), slopes, strict=True):
        assert near(found, slope, tolerance)


@pytest.mark.parametrize("case", CASES[:4], ids=str)
def test_gradients_are_added_in_any_place(case: Case) -> None:
    """Also where nothing is wanted of what came in, and where arrays have gaps."""
    layer, (x, gy), given = case[0], drawn(case), parameters(case[0])
    wide = torch.stack((gy, gy), dim=-1)[..., 0]
    _, slopes = by_torch(layer, x, given, gy)
    before = [torch.stack((p, p), dim=-1)[..., 0] for p in given]
    _, back = traced_model(layer, x.transpose(0, 1).contiguous().transpose(0, 1), before)
    into = [torch.stack((p, p), dim=-1)[..., 0] for p in given]
    assert back(wide, into, False, True) is None
    for found, first, slope in zip(into, given, slopes[1:], strict=True):
        assert near(found - first, slope, 1e-10)


@pytest.mark.parametrize("layer", [LSTM(3, 5, layers=2), LSTM(3, 5, both=True)], ids=str)
@pytest.mark.parametrize("shared", [False, True])
def test_many_models_are_each_of_them(layer: LSTM, shared: bool) -> None:
    lanes, width = 3, 5 * (2 if layer.both else 1)
    given = [torch.stack(rows) for rows in zip(*(parameters(layer, seed) for seed in range(lanes)), strict=True)]
    x = torch.randn(1 if shared else lanes, 4, 6, 3, generator=source(3), dtype=torch.float64)
    gy = torch.randn(lanes, 4, 6, width, generator=source(4), dtype=torch.float64)
    y, back = BatchedLSTM(layer).traced(x, given)
    into = [torch.zeros_like(p) for p in given]
    gx = back(gy, into, True, False)
    for k in range(lanes):
        wanted, slopes = by_torch(layer, x[0 if shared else k], [p[k] for p in given], gy[k])
        assert near(y[k], wanted, 1e-12)
        for found, slope in zip((gx[k], *(target[k] for target in into)), slopes, strict=True):
            assert near(found, slope, 1e-12)


def ones(values: torch.Tensor, gate: int) -> torch.Tensor:
    """One time of one unit whose gate comes from x and whose others are open: its state."""
    taken, bias = torch.zeros(4, 1, dtype=values.dtype), torch.full((4,), 60.0, dtype=values.dtype)
    taken[gate], bias[gate] = 1, 0
    given = [taken, torch.zeros(4, 1, dtype=values.dtype), bias, torch.zeros_like(bias)]
    return traced_model(LSTM(1, 1), values.view(-1, 1, 1), given)[0].flatten().double()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_activations_are_exact_to_rounding(dtype: Any) -> None:
    """A gate is (1 + tanh(v/2))/2, so that its error is absolute; that of a change of the cell is relative."""
    wide = torch.cat((torch.linspace(-25, 25, 4001), torch.tensor([-1e-3, 1e-7, 1e-12, -1e-20]))).to(dtype)
    rounding = 4 * torch.finfo(dtype).eps
    found, exact = ones(wide, 2), torch.tanh(torch.tanh(wide.double()))
    assert ((found - exact).abs() <= rounding * exact.abs()).all()
    found, exact = ones(wide, 0), torch.tanh(torch.sigmoid(wide.double()))
    assert ((found - exact).abs() <= rounding).all()


def test_gates_saturate() -> None:
    """Also at infinity, where the measure of a gate takes them."""
    edges = torch.tensor([-3e38, -1e10, -100, 100, 1e10, 3e38])
    assert ones(edges, 2).tolist() == pytest.approx([-np.tanh(1)] * 3 + [np.tanh(1)] * 3, rel=1e-6)
    assert ones(edges, 0).tolist() == pytest.approx([0] * 3 + [np.tanh(1)] * 3, rel=1e-6, abs=1e-11)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_not_a_number_stays_so(dtype: Any) -> None:
    layer, (x, gy), given = LSTM(5, 20), drawn(CASES[0]), parameters(LSTM(5, 20))
    x = x.to(dtype)
    x[4, 3, 2] = torch.nan
    y, back = traced_model(layer, x, [p.to(dtype) for p in given])
    lost = y.isnan()
    assert lost[4, 3:].all()
    assert lost.sum() == lost[4, 3:].numel()
    into = [torch.zeros_like(p, dtype=dtype) for p in given]
    back(gy.to(dtype), into, False, False)
    assert all(target.isnan().all() for target in into)
    given[1][:] = torch.inf
    y, _ = traced_model(layer, torch.randn(2, 3, 5, generator=source(), dtype=dtype), [p.to(dtype) for p in given])
    assert not y[:, 0].isnan().any()  # the state before is 0
    assert y[:, 1:].isnan().all()  # sums of infinities of both signs


def test_memory_is_not_shared_with_what_is_still_looked_at() -> None:
    """Two models at once, and results that are kept; the same again is the same to the last bit."""
    layer, (x, gy), given = LSTM(5, 20, layers=2), drawn(CASES[0]), parameters(LSTM(5, 20, layers=2))

    def once(at: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y, back = traced_model(layer, at, given)
        return y, back(gy, [torch.zeros_like(p) for p in given], True, False)

    kept = once(x)
    copies = [a.clone() for a in kept]
    once(-x)
    first, back = traced_model(layer, x, given)
    second, other = traced_model(layer, -x, given)
    for a, b in zip((first, kept[0], kept[1]), (copies[0], *copies), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(first, second)
    other(gy, [torch.zeros_like(p) for p in given], True, False)
    assert torch.equal(back(gy, [torch.zeros_like(p) for p in given], True, False), copies[1])


@pytest.mark.parametrize("both", [False, True])
def test_last(both: bool) -> None:
    kernel, x = BatchedLast(both), torch.randn(2, 3, 4, 6, generator=source(), dtype=torch.float64).requires_grad_()
    wanted = kernel(x, ())
    gy = torch.randn(wanted.shape, generator=source(1), dtype=torch.float64)
    y, back = kernel.traced(x.detach(), ())
    assert torch.equal(y, wanted.detach())
    assert torch.equal(back(gy, (), True, False), torch.autograd.grad(wanted, x, gy)[0])
    assert back(gy, (), False, False) is None


def test_an_embedding_of_one_model_is_that_of_many() -> None:
    weight, x = torch.randn(2, 7, 3, generator=source()), torch.randint(0, 7, (2, 4, 5), generator=source())
    both = BatchedEmbedding()(x, [weight])
    for k in range(2):
        assert torch.equal(BatchedEmbedding()(x[k : k + 1], [weight[k : k + 1]])[0], both[k])


@pytest.mark.parametrize("layer", [LSTM(3, 5, layers=2), LSTM(3, 5, both=True)], ids=str)
@pytest.mark.parametrize("shared", [False, True])
def test_passes_without_gradients_go_through_the_layer_of_torch(layer: LSTM, shared: bool) -> None:
    """It gives what the loop over time gives, also for parameters that are views with gaps."""
    lanes = 3
    rows = zip(*(parameters(layer, seed) for seed in range(lanes)), strict=True)
    given = [torch.stack((torch.stack(some), torch.stack(some)), dim=-1)[..., 0] for some in rows]
    x = torch.randn(1 if shared else lanes, 4, 6, 3, generator=source(3), dtype=torch.float64)
    by_loop = BatchedLSTM(layer)(x, given)
    with torch.no_grad():
        found = BatchedLSTM(layer)(x, given)
    assert found.shape == by_loop.shape
    assert near(found, by_loop, 1e-12)
