"""What the neural engine asks of a model: scores of many models at once, each with samples of its own."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["Network", "Tensor"]

Tensor = Any  # torch.Tensor; torch is imported only where a run needs it


class Network(Protocol):
    """A model whose parameters are one flat vector of dim numbers."""

    @property
    def dim(self) -> int: ...

    def scores(self, parameters: Tensor, inputs: Tensor) -> Tensor:
        """Scores (N, B, classes) of N models at B samples each.

        parameters: (N, dim), one model a row; inputs: (N, B, *sample), or (1, B, *sample) where all models look at the
        same samples. Differentiable in the parameters.
        """
        ...
