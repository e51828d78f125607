"""The engine "neural" as the rooms below see it, see `engines.trained.TrainingEngine`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from boundcheck.core.digest import package_version
from boundcheck.networks.engine.device import Settings, device_of, name_of

if TYPE_CHECKING:
    from boundcheck.core.store import Checkpoint
    from boundcheck.engines.curve import Curve
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


def check_settings(settings: Any) -> None:
    """Raises BadInput and UnknownName for settings that are not allowed."""
    Settings.of(settings)


def run(
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
    """The curve of all seeds, see `engine.run.run_neural`."""
    from boundcheck.networks.engine.run import run_neural

    return run_neural(
        method, problem, grid[-1], seeds, metrics, grid, Settings.of(settings), on_progress=on_progress,
        checkpoint=checkpoint,
    )  # fmt: skip


def run_facts(settings: Any) -> dict[str, Any]:
    """What the bits of a run depend on besides the code: settings, the device and torch's version."""
    own = Settings.of(settings)
    return {**asdict(own), "device": name_of(device_of(own)), "torch": package_version("torch")}


def on_gpu(settings: Any) -> bool:
    """Whether these settings compute on a GPU. Raises BadInput for one that is not there, and MissingExtra."""
    return device_of(Settings.of(settings)) != "cpu"


def check_effort(effort: Any) -> None:
    """Raises BadInput and UnknownName for a table `estimate` that is not allowed."""
    from boundcheck.networks.engine.probing import Effort

    if isinstance(effort, Mapping):
        Effort.of(cast("Mapping[str, Any]", effort))


def along_a_run(
    problem: Problem,
    settings: Any,
    planned: Callable[[Problem], tuple[Method, int] | None],
    blocked: Method,
    *,
    effort: Mapping[str, Any] | None,
) -> Problem:
    """The problem with constants measured along the run of a method, see `networks.estimated`."""
    from boundcheck.networks import estimated

    return estimated.along_a_run(problem, settings, planned, blocked, effort=effort)
