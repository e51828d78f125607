"""Precision and speed settings of the neural engine: what each switch does, on eight models at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from plain_models import PLAIN, generator, network
from plain_models import task_of as task_of_network

from boundcheck.errors import BadInput, Unsupported
from boundcheck.networks.engine import device, local_step, losses
from boundcheck.networks.engine.device import Settings
from boundcheck.networks.engine.task import Task
from boundcheck.networks.functional import Network

LANES, BATCH = 8, 7
CPU = torch.device("cpu")


def task_of(name: str) -> Task:
    inputs, options, _ = PLAIN[name]
    return task_of_network(network(name, inputs, 3, **options))


def points(task: Task) -> torch.Tensor:
    return torch.randn(LANES, task.network.dim, generator=generator(2), dtype=task.dtype) / 3


def rows(step: int, width: int = BATCH) -> torch.Tensor:
    return torch.randint(0, 11, (LANES, width), generator=generator(step))


# --- torch's own switches --------------------------------------------------------------------------------


def switches() -> list[object]:
    b = torch.backends
    kinds = (b.cuda.matmul, b.cudnn.conv, b.cudnn.rnn, b.mkldnn.matmul, b.mkldnn.conv, b.mkldnn.rnn)
    return [
        *(kind.fp32_precision for kind in kinds),
        b.cudnn.benchmark,
        torch.are_deterministic_algorithms_enabled(),
        torch.utils.deterministic.fill_uninitialized_memory,
        torch.get_num_threads(),
    ]


@pytest.mark.parametrize(("precision", "products"), [("float32", "ieee"), ("bf16", "ieee"), ("tf32", "tf32")])
def test_switches_are_set_and_put_back(precision: str, products: str) -> None:
    before = switches()
    with device.environment(Settings(precision=precision, threads=2), CPU):
        assert switches() == [*[products] * 3, *["ieee"] * 3, False, True, False, 2]
    assert switches() == before
    with pytest.raises(ZeroDivisionError), device.environment(Settings(precision=precision), CPU):
        raise ZeroDivisionError
    assert switches() == before


def test_an_operation_without_a_deterministic_algorithm_is_one_sentence() -> None:
    said = "put_ does not have a deterministic implementation, but you set ... . You can turn off"
    for error, told, match in (
        (said, Unsupported, r"no deterministic algorithm .*'cpu': put_"),
        ("shapes do not fit", RuntimeError, "shapes"),
    ):
        with pytest.raises(told, match=match), device.environment(Settings(), CPU):
            raise RuntimeError(error)


# --- graphs and compilation ------------------------------------------------------------------------------


def test_what_only_a_gpu_has_is_refused() -> None:
    for settings, what in (
        (Settings("cpu", graphs=True), "graphs = true"),
        (Settings("cpu", "tf32"), "precision = 'tf32'"),
    ):
        with pytest.raises(BadInput, match=f"{what} needs a GPU; the device of this run is 'cpu'"):
            local_step.prepare(task_of("mlp"), settings)


class Tape:
    """What a CUDA graph does, on the CPU: the work is carried out again on the same arrays, its results in place."""

    def __init__(self, broken: str = "") -> None:
        self.recorded, self.replayed, self.broken = 0, 0, broken

    def __call__(self, work: Callable[[], tuple[Any, Any]]) -> tuple[Callable[[], None], tuple[Any, Any]]:
        if self.broken:
            raise RuntimeError(self.broken)
        self.recorded += 1
        found = work()

        def again() -> None:
            self.replayed += 1
            for place, value in zip(found, work(), strict=True):
                place.copy_(value)

        return again, found


def masked(width: int) -> torch.Tensor:
    return torch.arange(width) < torch.arange(1, LANES + 1)[:, None]


def test_replayed_steps_are_the_eager_ones() -> None:
    task, tape = task_of("cnn"), Tape()
    step = local_step.prepare(task, Settings(graphs=True), tape)
    y = points(task)
    kept = list[tuple[torch.Tensor, torch.Tensor]]()
    for t, mask in enumerate((None, masked(BATCH), None, masked(BATCH).flip(0))):
        kept.append((step.gradients(task, y * (1 + t), rows(t), mask)[1], y * (1 + t)))
    for t, mask in enumerate((None, masked(BATCH), None, masked(BATCH).flip(0))):  # what was kept is not overwritten
        assert torch.equal(kept[t][0], losses.gradients(task, kept[t][1], rows(t), mask)[1])
    assert (tape.recorded, tape.replayed) == (2, 4)  # with and without a mask


def is_eager(step: local_step.LocalStep, task: Task, width: int = BATCH) -> None:
    """Whether a step gives the numbers of the eager one."""
    y = points(task)
    own = losses.gradients(task, y, rows(0, width), None)[1]
    assert torch.equal(step.gradients(task, y, rows(0, width), None)[1], own)


def test_only_so_many_shapes_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_step, "GRAPHS", 2)
    task, tape = task_of("mlp"), Tape()
    step = local_step.prepare(task, Settings(graphs=True), tape)
    for width in (1, 2, 3, 3, 1):
        is_eager(step, task, width)
    assert (tape.recorded, tape.replayed) == (2, 3)


class Broken:
    """A network whose compilation fails."""

    def __init__(self, inner: Any, said: str) -> None:
        self.dim, self.said = inner.dim, said

    def scores(self, parameters: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
        raise RuntimeError(self.said)


def recorded(task: Task, broken: str) -> local_step.LocalStep:
    return local_step.prepare(task, Settings(graphs=True), Tape(broken))


def compiled(task: Task, broken: str) -> local_step.LocalStep:
    return local_step.LocalStep(task, replace(task, network=Broken(task.network, broken)))


@pytest.mark.parametrize(
    ("made", "error", "notice"),
    [
        (recorded, "operation not permitted when stream is capturing", "recorded as a CUDA graph: "),
        (compiled, "No working C++ compiler found", "compiled, since torch.compile failed: "),
    ],
)
def test_a_step_that_cannot_be_recorded_or_compiled_is_eager_with_a_notice(made: Any, error: str, notice: str) -> None:
    task = task_of("mlp")
    step = made(task, f"{error}\nmore")
    for _ in range(2):
        is_eager(step, task)
    assert step.notices == [f"the local step was not {notice}{error}"]
    full = made(task, "CUDA out of memory")  # which smaller chunks may mend
    with pytest.raises(RuntimeError, match="out of memory"):
        is_eager(full, task)
    assert full.notices == []


def agrees(name: str, *masks: torch.Tensor | None) -> None:
    task = task_of(name)
    step = local_step.prepare(task, Settings("cpu", "float64", compiled=True))
    assert step.compiled is not None
    y = points(task)
    for mask in masks:
        width = BATCH if mask is None else mask.shape[1]
        given = (task, y, rows(1, width), mask)
        found, wanted = step.gradients(*given), losses.gradients(*given)
        assert torch.allclose(found[0], wanted[0], rtol=1e-12)
        assert torch.allclose(found[1], wanted[1], rtol=1e-10, atol=1e-13)
    assert step.notices == []


def test_compiled_is_torch_compile_of_the_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[tuple[object, object]]()

    def as_it_is(function: Callable[..., Any], *, dynamic: bool) -> Callable[..., Any]:
        seen.append((getattr(function, "__self__", None), dynamic))
        return function

    monkeypatch.setattr(torch, "compile", as_it_is)
    agrees("mlp", None, masked(8))
    assert [(type(network).__mro__[1], dynamic) for network, dynamic in seen] == [(Network, False)]
    step = local_step.prepare(task_of("mlp"), Settings("cpu"))
    assert step.compiled is None
    assert len(seen) == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the compiler's own
@pytest.mark.parametrize("name", ["mlp", "cnn"])
def test_compiled_layers_give_the_same_numbers(name: str) -> None:
    agrees(name, None)


def test_fewer_models_use_the_graph_of_more() -> None:
    """Lanes end one after the other: eight to one of them need three graphs, and give the eager numbers."""
    task, tape = task_of("cnn"), Tape()
    step = local_step.prepare(task, Settings(graphs=True), tape)
    y, mask = points(task), masked(BATCH)
    for lanes in range(LANES, 0, -1):
        for own in (None, mask[:lanes]):
            given = (task, y[:lanes] * lanes, rows(lanes)[:lanes], own)
            found, wanted = step.gradients(*given), losses.gradients(*given)
            for ours, theirs in zip(found, wanted, strict=True):
                assert ours.shape == theirs.shape
                assert torch.allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert tape.recorded == 2 * 3  # for 8 to 4 models, 3 to 2, and 1; with a mask and without
