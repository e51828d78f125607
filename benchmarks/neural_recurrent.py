"""One layer of long short-term memory of one model, there and back, by words and by the processor's matrix unit.

    python benchmarks/neural_recurrent.py

Both run in turns, in float32, on one thread. From how many samples and products `recurrent_passes` takes the unit was
chosen by what this prints. No target.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from boundcheck.engines.neural.kernels import matrix_unit
from boundcheck.engines.neural.kernels.recurrent_passes import Model
from boundcheck.problems.architectures import LSTM

SIZES = (  # inputs, units, samples
    (32, 32, 32), (64, 64, 10), (64, 64, 32), (8, 100, 10), (100, 100, 10), (8, 100, 32), (100, 100, 32),
    (8, 100, 64), (100, 100, 64), (128, 128, 32), (256, 256, 32), (256, 256, 64), (512, 512, 32),
    (512, 512, 64),
)  # fmt: skip
LENGTH = 20


def layer(inputs: int, hidden: int, samples: int, unit: bool) -> Callable[[], Any]:
    """Goes there and back once, by the unit or by words."""
    source = torch.Generator().manual_seed(0)
    one = LSTM(inputs, hidden)
    parameters = [torch.randn(*p.shape, generator=source) / 10 for p in one.parameters()]
    into = [torch.zeros_like(p) for p in parameters]
    x, gy = (torch.randn(samples, LENGTH, n, generator=source) for n in (inputs, hidden))
    lent = Model(one, samples, LENGTH, torch.float32, unit)

    def go() -> None:
        lent.forth(x, parameters)
        lent.back(gy, into, True, True)

    return go


def main() -> int:
    parser = argparse.ArgumentParser(description="LSTM by words and by the matrix unit, on one thread.")
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    if repeats < 1:
        parser.error("--repeats is at least 1")
    torch.set_num_threads(1)
    if not matrix_unit.usable():
        print("this processor has no matrix unit, or the system does not lend it")
        return 0
    print(f"float32, one thread, {LENGTH} times; ms there and back; ratio: unit over words, median of turns, quartiles")
    print(f"{'inputs':>8}{'units':>8}{'samples':>8}{'words':>10}{'unit':>10}{'ratio':>8}{'quartiles':>12}")
    for inputs, hidden, samples in SIZES:
        sides = [layer(inputs, hidden, samples, unit) for unit in (False, True)]
        turns = list[list[float]]()
        for _ in range(repeats + 1):  # the first compiles and is left out
            turn = list[float]()
            for go in sides:
                began = time.process_time()
                go()
                turn.append(1e3 * (time.process_time() - began))
            turns.append(turn)
        words, unit = (statistics.median(side) for side in zip(*turns[1:], strict=True))
        low, ratio, high = np.quantile([b / a for a, b in turns[1:]], (0.25, 0.5, 0.75))
        print(
            f"{inputs:>8}{hidden:>8}{samples:>8}{words:>10.3f}{unit:>10.3f}{ratio:>8.2f}{f'{low:.2f}-{high:.2f}':>12}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
