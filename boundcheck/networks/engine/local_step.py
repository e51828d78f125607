"""What the settings of precision and speed mean for the local step.

The reference is `losses.gradients`, eager and in the precision of the parameters. Nothing here changes what is
computed: only the precision of products, whether the layers are compiled, and whether a step of one shape is launched
as one CUDA graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from boundcheck.errors import BadInput
from boundcheck.networks.engine import losses
from boundcheck.networks.engine.device import Settings, Tensor, library
from boundcheck.networks.engine.memory import is_memory_error
from boundcheck.networks.engine.task import Task
from boundcheck.networks.functional import Network

GRAPHS = 16  # steps that are kept as graphs; those that fit none of them run without
SPARE = 2  # a graph is used for as many models as it was recorded with, down to this part of them
WARM_UP = 3  # steps before a graph is recorded

# Carries out some work once, so that it can be repeated in place: gives the function that repeats it, and its results,
# which every repetition overwrites.
Recorder = Callable[[Callable[[], tuple[Tensor, Tensor]]], tuple[Callable[[], None], tuple[Tensor, Tensor]]]


@dataclass(frozen=True, eq=False)
class _Graph:
    """A recorded step: what it reads, what repeats it, what it leaves.

    A step of fewer models leaves those in the last places as they are; no model touches another.
    """

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
    _graphs: list[_Graph] = field(default_factory=list[_Graph])

    def gradients(self, task: Task, parameters: Tensor, rows: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """See `losses.gradients`; another task than the prepared one is computed eagerly."""
        if task is not self.task:
            return losses.gradients(task, parameters, rows, mask)
        if self.recorder is not None:
            return self._replayed(self.recorder, parameters, rows, mask)
        return self._eager(parameters, rows, mask)

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
        graph = self._graph(given)
        if graph is None and len(self._graphs) < GRAPHS:
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
            else:
                graph = _Graph(own, again, found)
                self._graphs.append(graph)
        if graph is None:
            return self._eager(parameters, rows, mask)
        for place, value in zip(graph.given, given, strict=True):
            place[: len(value)].copy_(value)
        graph.again()
        lanes = len(parameters)
        return graph.found[0][:lanes].clone(), graph.found[1][:lanes].clone()

    def _graph(self, given: tuple[Tensor, ...]) -> _Graph | None:
        """The smallest graph that holds a step: of these widths, and for as many models or up to `SPARE` times as many.

        Lanes end one after the other, so that a graph for each number of them would soon be too many.
        """
        lanes = len(given[0])

        def holds(graph: _Graph) -> bool:
            most = len(graph.given[0])
            if len(graph.given) != len(given) or not lanes <= most <= SPARE * lanes:
                return False
            each = zip(graph.given, given, strict=True)
            # rows of their own for each model in both, or the same ones for all models in both
            return all(a.shape[1:] == b.shape[1:] and (len(a) == most) == (len(b) == lanes) for a, b in each)

        return min(filter(holds, self._graphs), key=lambda graph: len(graph.given[0]), default=None)


def prepare(task: Task, settings: Settings, recorder: Recorder | None = None) -> LocalStep:
    """The local step of a task. recorder: in place of CUDA graphs.

    Raises BadInput if the device of the task does not support a setting.
    """
    if settings.precision == "tf32" and task.device.type != "cuda":
        raise BadInput(f"precision = 'tf32' needs a GPU; the device of this run is '{task.device}'.")
    if settings.graphs and recorder is None:
        if task.device.type != "cuda":
            raise BadInput(f"graphs = true needs a GPU; the device of this run is '{task.device}'.")
        recorder = recording()
    compiled = (
        replace(task, network=_Compiled(task.network.module, task.network.sample, task.network.mapped))
        if settings.compiled
        else None
    )
    return LocalStep(task, compiled, recorder if settings.graphs else None)


class _Compiled(Network):
    """A network whose scores are compiled. Each shape is compiled by itself, and torch stays eager after some of them:
    its compiler gives up on convolutions whose sizes are left open."""

    @cached_property
    def scores(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """See `Network`."""
        return library().compile(super().scores, dynamic=False)


def recording() -> Recorder:
    """A recorder of CUDA graphs, see `Recorder`.

    The graphs share the memory of what they compute on the way: they are replayed one after the other, and what each
    leaves is copied before the next.
    """
    torch = library()
    pool = torch.cuda.graph_pool_handle()

    def record(work: Callable[[], tuple[Tensor, Tensor]]) -> tuple[Callable[[], None], tuple[Tensor, Tensor]]:
        side, here = torch.cuda.Stream(), torch.cuda.current_stream()
        side.wait_stream(here)
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):
                work()
        here.wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            found = work()
        return graph.replay, found

    return record
