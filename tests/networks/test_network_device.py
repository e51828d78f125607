"""What the local step asks of a device that is not the processor, tried on torch's "meta" device, which has no numbers.

A value that the processor had to read from it is an error there; a copy from the processor's memory within a step,
which no CUDA graph can record, is made one here.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from neural_toys import classifier, spoil
from plain_models import PLAIN, SYMBOLS, network, task_of

from boundcheck.engines.simulate.lowering import lower
from boundcheck.methods.build import build
from boundcheck.methods.clients import Clients
from boundcheck.networks.engine import device, local_step
from boundcheck.networks.engine.device import Settings
from boundcheck.networks.engine.memory import Lanes
from boundcheck.networks.engine.rounds import LOOK_EVERY, Rounds
from boundcheck.networks.engine.run import run_neural
from boundcheck.networks.engine.task import Task

FROM_HERE = ("from_numpy", "as_tensor", "tensor")
STEPPING: dict[str, dict[str, Any]] = {
    "plain": {"kind": "fedavg_rr", "E": 2, "batch": 2, "eta_l": "1/10"},
    "proximal, with buffers": {
        "kind": "fedprox", "mu": "1/2", "E": 2, "eta": "1/10",
        "momentum_l": "1/2", "clip_l": 1, "weight_decay_l": "1/9",
    },
    "looking back": {"kind": "fedshuffle_mvr", "eta_l": "1/10", "a": "1/3", "E": 2},
}  # fmt: skip


@contextmanager
def nothing_from_here() -> Generator[None]:
    """Tensors are not made from the processor's numbers."""

    def refused(*given: Any, **more: Any) -> Any:
        raise AssertionError("a step copies from the processor's memory")

    with pytest.MonkeyPatch.context() as patch:
        for name in FROM_HERE:
            patch.setattr(torch, name, refused)
        patch.setattr(torch.Tensor, "new_tensor", refused)
        yield


def on_meta(name: str) -> Task:
    """Two clients of 7 and 4 samples, on the device without numbers."""
    inputs, options, _ = PLAIN[name]
    task, there = task_of(network(name, inputs, 3, SYMBOLS, **options)), torch.device("meta")
    return replace(
        task, known=Clients((Fraction(1, 2),) * 2, (7, 4)), weights=np.full(2, 0.5), offsets=np.array([0, 7, 11]),
        inputs=task.inputs.to(there), labels=task.labels.to(there), device=there,
    )  # fmt: skip


@pytest.mark.parametrize(("name", "method"), [*((name, "plain") for name in PLAIN), *(("mlp", m) for m in STEPPING)])
def test_the_local_step_stays_on_its_device(name: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LOOK_EVERY, "meta", 100)
    monkeypatch.setattr("boundcheck.networks.engine.memory._memory", lambda _: None)
    task = on_meta(name)
    local, taken = local_step.prepare(task, Settings()), list[int]()
    gradients = local.gradients

    def stepped(*given: Any) -> Any:
        with nothing_from_here():
            taken.append(1)
            return gradients(*given)

    local.gradients = stepped
    lowered = lower(build(STEPPING[method]), task.known, 2)
    rounds = Rounds(lowered, local, np.arange(2, dtype=np.uint64), Lanes(4))
    for r in range(2):
        rounds.advance(r)
    assert rounds.state.device.type == "meta"
    assert len(taken) >= 2 * 2


def test_what_is_made_for_a_gpu_is_made_for_the_chosen_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams and graphs belong to torch's current GPU."""
    seen = list[str]()

    @contextmanager
    def chosen(device: torch.device) -> Generator[None]:
        seen.append(f"in {device}")
        yield
        seen.append(f"out of {device}")

    monkeypatch.setattr(torch.cuda, "device", chosen)
    with device.environment(Settings(), torch.device("cuda:1")):
        assert seen == ["in cuda:1"]
    assert seen == ["in cuda:1", "out of cuda:1"]
    with device.environment(Settings(), torch.device("cpu")):
        pass
    assert len(seen) == 2


def test_arrays_go_to_a_gpu_through_pinned_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain copy waits for all work that is queued on the GPU."""
    asked = list[Any]()

    class Pinned:
        def to(self, device: torch.device, **how: Any) -> str:
            asked.append((device.type, how))
            return "there"

    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: Pinned())
    assert device.placed(np.arange(3), torch.device("cuda")) == "there"
    assert asked == [("cuda", {"non_blocking": True})]
    here = device.placed(np.arange(3), torch.device("cpu"), torch.float32)
    assert here.dtype == torch.float32
    assert here.tolist() == [0.0, 1.0, 2.0]


LOOKED_AT: dict[str, dict[str, Any]] = {
    "server": {"kind": "fedavg_rr", "E": 2, "batch": 2, "eta_l": "1/10"},
    "stale": {"kind": "fedavg_async", "times": [1, 2, 3, 4, 5], "K": 2, "batch": 1, "eta_l": "1/10"},
    "averaging": {"kind": "partial_averaging", "tau": 2, "batch": 2, "eta": "1/10"},
}


@pytest.mark.parametrize("name", LOOKED_AT)
def test_seldom_looks_at_divergence_change_nothing_that_is_recorded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU is asked seldom which seeds have diverged, since each question waits for its work."""
    calls = spoil(monkeypatch, 4, 0, torch.inf)

    def curve() -> Any:
        calls.clear()
        return run_neural(
            build(LOOKED_AT[name]), classifier(), 8, 3, ("f", "grad2"), [0, 2, 5, 8], Settings(precision="float64")
        )

    at_once = curve()
    monkeypatch.setitem(LOOK_EVERY, "cpu", 3)
    seldom = curve()
    assert np.isinf(at_once.samples["f"]).any()
    assert np.isfinite(at_once.samples["f"][:, -1]).any()
    for metric in ("f", "grad2"):
        np.testing.assert_allclose(seldom.samples[metric], at_once.samples[metric], rtol=1e-12)
