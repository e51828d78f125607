"""What the settings of precision and speed mean for the local step.

The reference is `losses.gradients`, eager and in the precision of the parameters. Nothing here changes what is
computed: only the precision of products, whether the layers are compiled, and whether a step of one shape is launched
as one CUDA graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from boundcheck.errors import BadInput
from boundcheck.networks.engine import losses
from boundcheck.networks.engine.device import Settings, library
from boundcheck.networks.engine.memory import is_memory_error
from boundcheck.networks.engine.network import Network, Tensor
from boundcheck.networks.engine.task import Task

GRAPHS = 16  # shapes of steps that are kept as graphs, each with memory of its own; further shapes run without
WARM_UP = 3  # steps before a graph is recorded

# Carries out some work once, so that it can be repeated in place: gives the function that repeats it, and its results,
# which every repetition overwrites.
Recorder = Callable[[Callable[[], tuple[Tensor, Tensor]]], tuple[Callable[[], None], tuple[Tensor, Tensor]]]


@dataclass(frozen=True, eq=False)
class _Compiled:
    """A network whose scores are compiled."""

    inner: Network
    compiled: Callable[[Tensor, Tensor], Tensor]

    @property
    def dim(self) -> int:
        """Coordinates of a model."""
        return self.inner.dim

    def scores(self, parameters: Tensor, inputs: Tensor) -> Tensor:
        """See `Network`."""
        return self.compiled(parameters, inputs)


@dataclass(frozen=True, eq=False)
class _Graph:
    """A recorded step: what it reads, what repeats it, what it leaves."""

    given: tuple[Tensor, ...]
    again: Callable[[], None]
    found: tuple[Tensor, Tensor]


@dataclass(eq=False)
class LocalStep:
    """The local step with its settings; `gradients` has the signature and the results of `losses.gradients`.

    notices: one sentence for each setting that could not be used on this device.
    """

    task: Task
    compiled: Task | None = None
    recorder: Recorder | None = None
    notices: list[str] = field(default_factory=list[str])
    _graphs: dict[tuple[Any, ...], _Graph] = field(default_factory=dict[tuple[Any, ...], _Graph])

    def gradients(self, task: Task, parameters: Tensor, rows: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """See `losses.gradients`; another task than the prepared one is computed eagerly."""
        if task is not self.task:
            return losses.gradients(task, parameters, rows, mask)
        if self.recorder is not None:
            return self._replayed(self.recorder, parameters, rows, mask)
        return self._eager(parameters, rows, mask)

    def descend(self, parameters: Tensor, rows: Tensor, mask: Tensor | None, eta: Tensor) -> None:
        """One step of plain SGD of the prepared task's models, in place, see `losses.descend`."""
        if self.recorder is None and self.compiled is None:
            losses.descend(self.task, parameters, rows, mask, eta)
        else:
            parameters.addcmul_(eta, self.gradients(self.task, parameters, rows, mask)[1], value=-1)

    def _eager(self, parameters: Tensor, rows: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        if self.compiled is not None:
            try:
                return losses.gradients(self.compiled, parameters, rows, mask)
            except Exception as error:  # what a compiler that is not there raises differs from system to system
                if is_memory_error(error):
                    raise
                self.compiled = None
                said = (str(error).strip().splitlines() or [type(error).__name__])[0]
                self.notices.append(f"the local step was not compiled, since torch.compile failed: {said}")
        return losses.gradients(self.task, parameters, rows, mask)

    def _replayed(
        self, recorder: Recorder, parameters: Tensor, rows: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        given = (parameters, rows) if mask is None else (parameters, rows, mask)
        key = tuple(tuple(v.shape) for v in given)
        if key not in self._graphs:
            if len(self._graphs) >= GRAPHS:
                return self._eager(parameters, rows, mask)
            own = tuple(v.detach().clone() for v in given)
            try:
                again, found = recorder(lambda: self._eager(own[0], own[1], own[2] if len(own) > 2 else None))
            except RuntimeError as error:
                if is_memory_error(error):
                    self._graphs.clear()
                    raise
                self.recorder = None
                said = (str(error).strip().splitlines() or [type(error).__name__])[0]
                self.notices.append(f"the local step was not recorded as a CUDA graph: {said}")
                return self._eager(parameters, rows, mask)
            self._graphs[key] = _Graph(own, again, found)
        graph = self._graphs[key]
        for place, value in zip(graph.given, given, strict=True):
            place.copy_(value)
        graph.again()
        return graph.found[0].clone(), graph.found[1].clone()


def prepare(task: Task, settings: Settings, recorder: Recorder | None = None) -> LocalStep:
    """The local step of a task. recorder: in place of CUDA graphs.

    Raises BadInput if the device of the task does not support a setting.
    """
    if settings.precision == "tf32" and task.device.type != "cuda":
        raise BadInput(f"precision = 'tf32' needs a GPU; the device of this run is '{task.device}'.")
    if settings.graphs and recorder is None:
        if task.device.type != "cuda":
            raise BadInput(f"graphs = true needs a GPU; the device of this run is '{task.device}'.")
        recorder = record
    compiled = replace(task, network=_compiled(task.network)) if settings.compiled else None
    return LocalStep(task, compiled, recorder if settings.graphs else None)


def _compiled(network: Network) -> Network:
    # Each shape is compiled by itself, and torch stays eager after some of them: its compiler gives up on convolutions
    # whose sizes are left open.
    return _Compiled(network, library().compile(network.scores, dynamic=False))


def record(work: Callable[[], tuple[Tensor, Tensor]]) -> tuple[Callable[[], None], tuple[Tensor, Tensor]]:
    """Record work as a CUDA graph, see `Recorder`."""
    torch = library()
    side, here = torch.cuda.Stream(), torch.cuda.current_stream()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        for _ in range(WARM_UP):
            work()
    here.wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = work()
    return graph.replay, found
