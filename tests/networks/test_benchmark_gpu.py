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


def test_on_a_processor_every_model_has_its_three_sides() -> None:
    found = ran("--cpu")
    assert found.returncode == 0, found.stderr
    rows = [line.split() for line in found.stdout.splitlines()[3:]]
    assert [row[0] for row in rows] == ["MLP", "CNN", "ResNet-18", "LSTM"]
    for row in rows:
        ours, loop, by_hand, to_loop, to_hand = (float(v) for v in row[2:7])
        assert min(ours, loop, by_hand) > 0
        assert to_loop == pytest.approx(ours / loop, rel=0.02, abs=0.01)  # of rounded numbers
        assert to_hand == pytest.approx(ours / by_hand, rel=0.02, abs=0.01)
