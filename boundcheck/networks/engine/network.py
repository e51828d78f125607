"""What the neural engine needs of a model: scores of many models at once, each with samples of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

Tensor = Any  # torch.Tensor; torch is imported only where a run needs it

# The backward pass through what was computed. Given the gradient in its result, it writes the gradient in each
# parameter into arrays (N, *shape), or adds it to them (last argument), and returns the gradient in its input, or None
# if that is not wanted (third argument). The arrays may be the parameters themselves: they are written last.
Backward = Callable[[Tensor, Sequence[Tensor], bool, bool], Tensor]


class Network(Protocol):
    """A model whose parameters are one flat vector of dim numbers."""

    @property
    def dim(self) -> int: ...

    def scores(self, parameters: Tensor, inputs: Tensor) -> Tensor:
        """Scores (N, B, classes) of N models at B samples each.

        parameters: (N, dim), one model a row; inputs: (N, B, *sample), or (1, B, *sample) if all models see the same
        samples. Differentiable in the parameters, any number of times.
        """
        ...


@runtime_checkable
class Traced(Protocol):
    """A network with a backward pass of its own, which is faster than torch's autograd."""

    def traced(self, parameters: Tensor, inputs: Tensor) -> tuple[Tensor, Callable[[Tensor, Tensor, bool], None]]:
        """Scores (N, B, classes), and a function that, given the gradient in them, finds that in the parameters.

        It writes it into its second argument, (N, dim), or adds it there (third argument), which may then be the
        parameters themselves; it may be called once. Called without autograd.
        """
        ...


class BatchedLayer(Protocol):
    """A layer of N models. x: its input, (N or 1, B, *sample); parameters: of the layer, each (N, *shape)."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        """Its output, (N, B, *sample); differentiable."""
        ...

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Backward]:
        """The same, without autograd, and the backward pass."""
        ...
