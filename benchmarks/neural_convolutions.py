"""The compiled passes of convolution, pooling and ReLU: at each window, by frequencies, and torch's layers.

    python benchmarks/neural_convolutions.py

Processor time in ms of a pass there and back with the gradient in the images, one model, one thread, float32, the least
of the repeats; the largest error of the results against torch in float64, by the largest result; how long a first use
compiles, in a cache of its own; and a large dense layer's product in both orders, and its way back with a step of SGD,
compiled and by two products (`kernels/dense.py`), its weight out of the nearer caches. No target.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="boundcheck-kernels-")

import torch
from torch.nn import functional

from boundcheck.engines.neural.kernels.convolution import ConvolutionKernel
from boundcheck.engines.neural.kernels.dense import DenseKernel
from boundcheck.engines.neural.kernels.dense_compiled import forth as dense_forth
from boundcheck.engines.neural.kernels.pooled_convolution import (
    ByFrequencies,
    ByWindows,
    Pass,
    fewer,
    images_back,
    images_forth,
)
from boundcheck.engines.neural.kernels.pooling import MaxPoolKernel
from boundcheck.problems.architectures import Convolution

SHAPES = (  # kernel, samples, inputs, outputs, side of the images
    (5, 10, 1, 32, 28), (5, 10, 8, 16, 14), (5, 10, 16, 32, 14), (5, 10, 32, 64, 14), (5, 32, 32, 64, 14),
    (3, 10, 16, 32, 14), (3, 10, 32, 64, 14), (3, 10, 64, 128, 8),
)  # fmt: skip


def timed(go: Callable[[], Any], repeats: int = 10, before: Callable[[], Any] = lambda: None) -> float:
    """The least milliseconds of processor time, each time after something else."""
    best = float("inf")
    for _ in range(repeats):
        before()
        began = time.process_time()
        go()
        best = min(best, time.process_time() - began)
    return 1e3 * best


def main() -> int:
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    source = torch.Generator().manual_seed(1)
    for made in (ByWindows, ByFrequencies):
        passes = made(Convolution(3, 4, 3, padding=1), (2, 3, 6, 6), torch.float32)
        arrays = [torch.randn(*s, generator=source) for s in ((2, 3, 6, 6), (4, 3, 3, 3), (4,), (2, 4, 3, 3))]
        began = time.perf_counter()
        there_and_back(passes, *arrays)
        print(f"{made.__name__}: a first use takes {time.perf_counter() - began:.0f} s")
    print(f"{'k, B, inputs, outputs, side':<30}{'fewer':>7}{'windows':>9}{'freq.':>9}{'layers':>9}{'errors':>26}")
    for kernel, samples, inputs, outputs, side in SHAPES:
        layer = Convolution(inputs, outputs, kernel, padding=kernel // 2)
        shape = (samples, inputs, side, side)
        x, bias = torch.randn(*shape, generator=source), torch.randn(outputs, generator=source)
        weight = torch.randn(outputs, inputs, kernel, kernel, generator=source)
        g = torch.randn(samples, outputs, side // 2, side // 2, generator=source)
        exact = functional.conv2d(x.double(), weight.double(), bias.double(), padding=kernel // 2)
        exact = functional.relu(functional.max_pool2d(exact, 2))
        found, errors = list[float](), list[float]()
        for made in (ByWindows, ByFrequencies):
            passes = made(layer, shape, torch.float32)
            errors.append(float((images_forth(passes, x, [weight, bias]) - exact).abs().max() / exact.abs().max()))
            found.append(timed(lambda own=(passes, x, weight, bias, g): there_and_back(*own)))
        plain, pool = ConvolutionKernel(layer), MaxPoolKernel(2, 2, 0)

        def layers(
            x: Any = x, w: Any = weight, b: Any = bias, g: Any = g, plain: Any = plain, pool: Any = pool
        ) -> None:
            y, first = plain.traced(x[None], (w[None], b[None]))
            y, second = pool.traced(y, ())
            gy = torch.where(y > 0, g[None], 0.0)
            first(second(gy, (), True, False), [torch.empty_like(a[None]) for a in (w, b)], True, False)

        found.append(timed(layers))
        name = ", ".join(map(str, (kernel, samples, inputs, outputs, side)))
        print(f"{name:<30}{fewer(layer, shape):>7.2f}" + "".join(f"{t:>9.2f}" for t in found), end="")
        print("".join(f"{e:>13.1e}" for e in errors), flush=True)
    weight = torch.randn(1, 512, 3136, generator=source)
    elsewhere = torch.zeros(1 << 22)
    for samples in (10, 32, 64):
        x, g = torch.randn(samples, 3136, generator=source), 1e-6 * torch.randn(samples, 512, generator=source)
        _, back = DenseKernel().traced(x[None], (weight,))
        there = [a.reshape(-1).numpy() for a in (x, weight, weight[:, :0], g)]
        ways = (
            lambda there=there, n=samples: dense_forth(*there, n, 3136, 512),
            lambda x=x: x @ weight[0].T,
            lambda x=x: weight[0] @ x.T,
            lambda g=g, back=back: back(g[None], (weight,), True, True),
            lambda x=x, g=g: (g @ weight[0], weight[0].addmm_(g.T, x)),
        )
        found = [timed(way, before=lambda: elsewhere.add_(1)) for way in ways]
        print(
            f"512 x 3136, {samples} samples: compiled {found[0]:.2f}, x W' {found[1]:.2f}, W x' {found[2]:.2f} ms;",
            end="",
        )
        print(f" back {found[3]:.2f}, by two products {found[4]:.2f} ms")
    return 0


def there_and_back(passes: Pass, x: Any, weight: Any, bias: Any, g: Any) -> None:
    images_forth(passes, x, [weight, bias])
    images_back(passes, g, [torch.empty_like(weight), torch.empty_like(bias)], True, False)


if __name__ == "__main__":
    sys.exit(main())
