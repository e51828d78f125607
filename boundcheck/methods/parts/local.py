"""What a client does between receiving the model and returning it.

A local part lowers to a `LocalProgram`, the small vocabulary that every engine carries out.
A local step sees a gradient and a step size, nothing else: `x <- x - eta * g(x)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from boundcheck.errors import BadInput

__all__ = ["GradientSteps", "LocalProgram", "LocalWork", "ReshuffledEpochs"]


@dataclass(frozen=True)
class LocalProgram:
    """The steps of one visit.

    sampling: "full" (each step uses the client's whole gradient) or "reshuffled" (each epoch visits every
        sample once, in a fresh uniformly random order, `batch` samples a step with their mean gradient).
    repeats: number of steps ("full") or of epochs ("reshuffled").
    batch: samples a step, "reshuffled" only.
    """

    sampling: Literal["full", "reshuffled"]
    repeats: int
    batch: int = 1

    @property
    def is_random(self) -> bool:
        """Whether the visit itself draws random numbers."""
        return self.sampling == "reshuffled"

    def steps(self, size: int) -> int:
        """Number of local steps of a client that holds `size` samples."""
        return self.repeats if self.sampling == "full" else self.repeats * -(-size // self.batch)


class LocalWork(Protocol):
    """What every local part answers."""

    def program(self) -> LocalProgram:
        """The steps of one visit."""
        ...


@dataclass(frozen=True)
class GradientSteps:
    """E steps with the client's full gradient (SCGD Algorithm 1, line 7; FedAvg of the same paper)."""

    E: int

    def __post_init__(self) -> None:
        if self.E < 1:
            raise BadInput(f"E = {self.E} local steps are impossible; at least 1 is allowed.")

    def program(self) -> LocalProgram:
        return LocalProgram("full", self.E)


@dataclass(frozen=True)
class ReshuffledEpochs:
    """E epochs over the client's samples, each in a fresh random order, `batch` samples a step."""

    E: int = 1
    batch: int = 1

    def __post_init__(self) -> None:
        if self.E < 1 or self.batch < 1:
            raise BadInput(f"E = {self.E} epochs with batch {self.batch} are impossible; both are at least 1.")

    def program(self) -> LocalProgram:
        return LocalProgram("reshuffled", self.E, self.batch)
