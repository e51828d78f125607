"""What the local step asks of a device that is not the processor, tried on torch's "meta" device, which has no numbers.

A value that the processor had to read from it is an error there; a copy from the processor's memory within a step,
which no CUDA graph can record, is made one here.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from neural_toys import classifier, perceptron

from boundcheck.methods.build import build
from boundcheck.networks.architectures import zoo
from boundcheck.networks.architectures.architecture import Architecture
from boundcheck.networks.engine import device, local_step, losses
from boundcheck.networks.engine import task as tasks
from boundcheck.networks.engine.device import Settings
from boundcheck.networks.engine.memory import Tally
from boundcheck.networks.engine.rounds import LOOK_EVERY
from boundcheck.networks.engine.run import run_neural
from boundcheck.networks.engine.training import Direction, Work, train, train_whole
from boundcheck.networks.problem import NeuralProblem
from boundcheck.problems.problem import Problem

STEPS, BATCH, SIZES, SYMBOLS = np.array([2, 2, 1]), 2, (3, 2, 2), 5
FROM_HERE = ("from_numpy", "as_tensor", "tensor")


def network(name: str, inputs: tuple[int, ...], **parameters: Any) -> Callable[[], NeuralProblem]:
    """A problem of three clients with a network of the zoo."""

    def made() -> NeuralProblem:
        words = len(inputs) == 1
        layers = getattr(zoo, name)(inputs, 3, SYMBOLS, **parameters)
        architecture = Architecture(name, layers, inputs, 3, "tokens" if words else "image")
        shape, source = (sum(SIZES), *inputs), np.random.default_rng(1)
        values = source.integers(0, SYMBOLS, shape) if words else source.standard_normal(shape).astype(np.float32)
        return NeuralProblem(
            name=name, spec={"kind": "neural"}, architecture=architecture, inputs=values,
            labels=source.integers(0, 3, sum(SIZES)), offsets=tuple(int(v) for v in np.cumsum((0, *SIZES))),
            weights=(Fraction(1, 3),) * 3, ridge=Fraction(1, 100), start_vector=architecture.start(1), test_inputs=None,
            test_labels=None,
        )  # fmt: skip

    return made


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "softmax regression": classifier,
    "logistic regression": lambda: classifier("logistic"),
    "perceptron": perceptron,
    "cnn": network("cnn", (1, 12, 12), channels=[4, 8], kernel=3, hidden=8),
    "resnet20": network("resnet20", (3, 16, 16)),
    "vgg11": network("vgg11", (3, 32, 32)),
    "char_lstm": network("char_lstm", (6,), hidden=4),
    "sentiment_lstm": network("sentiment_lstm", (6,), embedding=4, hidden=4),
}


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


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_local_step_stays_on_its_device(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "device_of", lambda settings: "meta")
    task = tasks.task_of(PROBLEMS[name](), Settings())
    local, taken = local_step.prepare(task, Settings()), list[int]()
    gradients, descend = local.gradients, local.descend

    def stepped(work: Callable[..., Any]) -> Callable[..., Any]:
        def step(*given: Any) -> Any:
            with nothing_from_here():
                taken.append(1)
                return work(*given)

        return step

    local.gradients, local.descend = stepped(gradients), stepped(descend)
    y, none = torch.zeros(3, task.network.dim, device="meta"), np.zeros(3)
    sizes = np.diff(task.offsets)[:3]
    order = np.argsort(-sizes, kind="stable")
    samples = np.arange(int(STEPS.max()) * task.known.largest + int(task.offsets[-1]), dtype=np.uint32)
    work = Work(task.offsets[:-1][order], sizes[order], BATCH, STEPS, samples)
    directions = {
        "plain": Direction(none + 0.1, none),
        "proximal and looking back": Direction(none + 0.1, none + 0.1, 0.5, torch.zeros_like(y), 0.5),
        "with a buffer": Direction(none + 0.1, none, buffer=torch.zeros_like(y), rho=0.9, decay=0.1, clip=0.5),
    }
    for direction in directions.values():
        train(local, work, direction, y, Tally())
        train_whole(local, order, STEPS, direction, y, Tally())
    assert y.device.type == "meta"
    assert len(taken) > 2 * 3 * int(STEPS.max())


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
    "stale": {"kind": "fedavg_async", "times": [1, 2, 3, 4, 5], "K": 2, "batch": 2, "eta_l": "1/10"},
    "averaging": {"kind": "partial_averaging", "tau": 2, "batch": 2, "eta": "1/10"},
}


@pytest.mark.parametrize("every", [3, 100])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_seldom_looks_at_divergence_change_nothing_that_is_recorded(
    name: str, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GPU is asked seldom which seeds have diverged, since each question waits for its work."""
    original, calls = losses.gradients, list[int]()

    def spoiled(task: Any, parameters: Any, rows: Any, mask: Any) -> Any:
        found, slope = original(task, parameters, rows, mask)
        calls.append(len(parameters))
        if len(calls) == 4:
            slope[0] = torch.inf
        return found, slope

    def curve() -> Any:
        calls.clear()
        monkeypatch.setattr(losses, "gradients", spoiled)
        return run_neural(
            build(LOOKED_AT[name]), classifier(), 8, 3, ("f", "grad2"), [0, 2, 5, 8], Settings(precision="float64")
        )

    at_once = curve()
    monkeypatch.setitem(LOOK_EVERY, "cpu", every)
    seldom = curve()
    assert np.isinf(at_once.samples["f"]).any()
    assert np.isfinite(at_once.samples["f"][:, -1]).any()
    for metric in ("f", "grad2"):
        np.testing.assert_allclose(seldom.samples[metric], at_once.samples[metric], rtol=1e-12)
