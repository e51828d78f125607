"""What an engine that trains networks provides to the rooms below it, see `core.providers`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from boundcheck.core import providers

if TYPE_CHECKING:
    from boundcheck.core.store import Checkpoint
    from boundcheck.engines.curve import Curve
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


class TrainingEngine(Protocol):
    """The functions of a module that is registered as an engine.

    Settings are a table such as {"precision": "float64"}, or None for the defaults.
    """

    def check_settings(self, settings: Any) -> None:
        """Raises BadInput and UnknownName for settings that are not allowed."""
        ...

    def run(
        self,
        method: Method,
        problem: Problem,
        seeds: range,
        metrics: Sequence[str],
        grid: Sequence[int],
        settings: Any,
        *,
        on_progress: Callable[[int, int], None] | None,
        checkpoint: Checkpoint | None,
    ) -> Curve:
        """The curve of all seeds, measured after the rounds of a grid."""
        ...

    def run_facts(self, settings: Any) -> Mapping[str, Any]:
        """What the bits of a run depend on besides the code: settings, device and versions of packages; JSON-able."""
        ...

    def on_gpu(self, settings: Any) -> bool:
        """Whether these settings compute on a GPU of this machine. Raises BadInput and MissingExtra."""
        ...

    def check_effort(self, effort: Any) -> None:
        """Raises BadInput and UnknownName for a table `estimate` that is not allowed."""
        ...

    def along_a_run(
        self,
        problem: Problem,
        settings: Any,
        planned: Callable[[Problem], tuple[Method, int] | None],
        blocked: Method,
        *,
        effort: Mapping[str, Any] | None,
    ) -> Problem:
        """The problem with constants measured along the run of a method, whose step sizes may depend on them.

        planned: for a problem with constants, the method with its step sizes and the number of rounds, or None if no
        step size is allowed. blocked: the method, whatever its step sizes, for the blocks that it averages.
        """
        ...


def training_engine(name: str) -> TrainingEngine:
    """The engine of a name, imported now. Raises UnknownName."""
    return cast("TrainingEngine", providers.load(providers.ENGINES, name))
