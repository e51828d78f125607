"""The benchmark on a GPU refuses in a sentence without one, and runs with small models on a processor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "neural_gpu.py"


def ran(*options: str) -> subprocess.CompletedProcess[str]:
    own = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, SCRIPT, *options], capture_output=True, text=True, env=own, check=False)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_without_a_gpu_it_refuses() -> None:
    found = ran()
    assert found.returncode == 2
    assert found.stderr == "benchmarks/neural_gpu.py needs a GPU, and torch sees none; --cpu tries the script.\n"
    assert found.stdout == ""


@pytest.mark.slow  # trains nothing that other tests do not train: the numbers of a script
def test_on_a_processor_every_model_has_its_three_sides() -> None:
    found = ran("--cpu")
    assert found.returncode == 0, found.stderr
    values: dict[str, float] = {}
    for line in found.stdout.splitlines():
        what, value = (cell.strip() for cell in line.split("|")[1:3])
        values[what.partition(" (")[0]] = float(value.split()[0].replace(",", ""))
    for name in ("MLP", "CNN", "ResNet-18", "LSTM"):
        ours, loop, by_hand = (values[f"{name}, 2 models, {side}: models x steps"] for side in ("ours", "loop", "vmap"))
        assert min(ours, loop, by_hand) > 0
        for side, rate in (("loop", loop), ("vmap", by_hand)):
            ratio = values[f"{name}, 2 models: time of {side} over ours"]
            assert ratio == pytest.approx(ours / rate, rel=0.02)  # of rounded numbers
        assert values[f"{name}, 2 models: share of the arithmetic"] > 0
