"""Local SGD steps of all clients at once on a GPU, beside a loop over clients and beside `vmap` written by hand.

8, 64 and 512 models; without a GPU one sentence, and exit code 2. With --cpu two small models of each kind run on one
thread of a processor, which tests this script.

Models, in float32 with batches of 32: the MLP 784-200-200-10 and the CNN of B. McMahan et al. (2017) on samples of
MNIST's shape, ResNet-18 with GroupNorm on CIFAR-10's, an LSTM of 2 x 100 units over 80 characters. Samples are random
numbers: time does not depend on them. One round of FedAvg, whose mean of the models all sides are checked to share.

Measured are models x steps a second of each side, and of ours the share of the card's arithmetic: the operations of a
step as `torch.utils.flop_counter` counts them, over what a product of two 8192 x 8192 matrices reaches in the same run.
A side that does not fit into the memory of the card has no row.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from _table import Row, run
from neural_cpu import AGREEMENT, ETA, LENGTH, SYMBOLS, Case
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

MODELS: dict[str, tuple[str, tuple[int, ...], int, dict[str, Any]]] = {
    "MLP": ("mlp", (784,), 10, {}),
    "CNN": ("cnn", (1, 28, 28), 10, {}),
    "ResNet-18": ("resnet18", (3, 32, 32), 10, {}),
    "LSTM": ("char_lstm", (LENGTH,), SYMBOLS, {}),
}
SMALL: dict[str, tuple[str, tuple[int, ...], int, dict[str, Any]]] = {
    "MLP": ("mlp", (8,), 3, {"hidden": [4]}),
    "CNN": ("cnn", (1, 8, 8), 3, {"channels": [2, 2], "kernel": 3, "hidden": 4}),
    "ResNet-18": ("resnet18", (1, 8, 8), 3, {"width": 2, "blocks": 1, "groups": 2}),
    "LSTM": ("char_lstm", (5,), SYMBOLS, {"hidden": 4}),
}
BATCH, STEPS, REPEATS = 32, 10, 3


def by_hand(case: Case) -> Callable[[], torch.Tensor]:
    """`vmap(grad(...))` over stacked parameters, as its documentation writes it."""
    (inputs, labels), rows = case.data, case.rows
    own = replace(case)
    start = {name: p.detach() for name, p in own.plain().named_parameters()}
    module = own.network.module
    for layer in module.modules():
        if isinstance(layer, nn.LSTM):
            layer.fused = False  # torch's own LSTM cannot be mapped over
    flat = nn.functional.cross_entropy

    def loss(parameters: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return flat(torch.func.functional_call(module, parameters, (x,)), y)

    slopes = torch.func.vmap(torch.func.grad(loss))

    def go() -> torch.Tensor:
        models = {name: p.expand(case.lanes, *p.shape).clone() for name, p in start.items()}
        for t in range(case.steps):
            found = slopes(models, inputs[rows[:, t]], labels[rows[:, t]])
            models = {name: p - ETA * found[name] for name, p in models.items()}
        return torch.cat([p.mean(dim=0).flatten() for p in models.values()])

    return go


def operations(case: Case) -> float:
    """Of one step of one model, forward and backward."""
    module, (inputs, labels) = replace(case).plain(), case.data
    with FlopCounterMode(display=False) as counter:
        nn.functional.cross_entropy(module(inputs[: case.batch]), labels[: case.batch]).backward()
    return float(counter.get_total_flops())


def seconds(go: Callable[[], Any], device: str) -> float:
    """The least time of a few calls, after one that is not counted."""
    least = float("inf")
    for k in range(1 + REPEATS):
        began = time.perf_counter()
        go()
        if device != "cpu":
            torch.cuda.synchronize()
        least = min(least, time.perf_counter() - began) if k else least
    return least


def arithmetic(device: str) -> float:
    """Operations a second of a large product in float32."""
    n = 8192 if device != "cpu" else 512
    a = torch.randn(n, n, device=device)
    return 2 * n**3 / seconds(lambda: a @ a, device)


def rows(case: Case, peak: float) -> Iterator[Row]:
    """Of one case. Raises SystemExit where the sides do not end at the same mean."""
    found, ends = dict[str, float](), list[torch.Tensor]()
    for name, make in (("ours", case.ours), ("loop", case.loop), ("vmap", lambda: by_hand(case))):
        try:
            go = make()
            ends.append(go().cpu().clone())
            found[name] = case.lanes * case.steps / seconds(go, case.device)
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
    start = torch.from_numpy(case.network.start(0)).float()
    for end in ends[1:]:
        apart = float((end - ends[0]).norm() / (ends[0] - start).norm())
        if not apart < 10 * AGREEMENT:
            raise SystemExit(f"{case.name}: two sides end {apart:.1e} of their way apart")
    label = f"{case.name}, {case.lanes} models"
    for name, rate in found.items():
        yield Row(f"{label}, {name}: models x steps", rate, "a second")
        if name != "ours" and "ours" in found:
            yield Row(f"{label}: time of {name} over ours", found["ours"] / rate, "times")
    if "ours" in found:
        share = operations(case) * found["ours"] / peak
        yield Row(f"{label}: share of the arithmetic", 100 * share, "%", note=f"{peak / 1e12:.3g} Top/s")


def results() -> Iterator[Row]:
    torch.set_num_threads(1)
    device = "cpu" if ON_CPU else "cuda"
    torch.set_float32_matmul_precision("highest")
    peak = arithmetic(device)
    for name, model in (SMALL if ON_CPU else MODELS).items():
        for lanes in (2,) if ON_CPU else (8, 64, 512):
            case = Case(name, lanes, 4 if ON_CPU else BATCH, 2 if ON_CPU else STEPS, None, model, device)
            yield from rows(case, peak)


if __name__ == "__main__":
    if ON_CPU := "--cpu" in sys.argv:
        sys.argv.remove("--cpu")
    if not ON_CPU and not torch.cuda.is_available():
        print("benchmarks/neural_gpu.py needs a GPU, and torch sees none; --cpu tries the script.", file=sys.stderr)
        sys.exit(2)
    sys.exit(run(__doc__, results))
