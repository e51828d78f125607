"""What the neural engine asks of a model: scores of many models at once, each with samples of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

__all__ = ["Back", "Kernel", "Network", "Tensor", "Traced"]

Tensor = Any  # torch.Tensor; torch is imported only where a run needs it

# The way back through what was computed: given the gradient in its result, writes that in each parameter into arrays
# (N, *shape) handed to it, or adds it to them (last argument), and returns that in its input, or None where that is not
# wanted (argument before). The arrays may be the parameters themselves: they are touched last.
Back = Callable[[Tensor, Sequence[Tensor], bool, bool], Tensor]


class Network(Protocol):
    """A model whose parameters are one flat vector of dim numbers."""

    @property
    def dim(self) -> int: ...

    def scores(self, parameters: Tensor, inputs: Tensor) -> Tensor:
        """Scores (N, B, classes) of N models at B samples each.

        parameters: (N, dim), one model a row; inputs: (N, B, *sample), or (1, B, *sample) where all models look at the
        same samples. Differentiable in the parameters, any number of times.
        """
        ...


@runtime_checkable
class Traced(Protocol):
    """What a network offers in addition when it knows its own way back, which is faster than torch's autograd."""

    def traced(self, parameters: Tensor, inputs: Tensor) -> tuple[Tensor, Callable[[Tensor, Tensor, bool], None]]:
        """Scores (N, B, classes), and a function that, given the gradient in them, finds that in the parameters.

        It writes it into its second argument, (N, dim), or adds it there (third argument), which may then be the
        parameters themselves; it may be called once. Called without autograd.
        """
        ...

    def alone(self, inputs: Tensor, dtype: Tensor) -> bool:
        """Whether one model at a time is faster, because a model's work fills the caches.

        inputs: (1, B, *sample), of which the shape and the device count; dtype: of the parameters.
        """
        ...


class Kernel(Protocol):
    """A layer of N models. x: what comes in, (N or 1, B, *sample); parameters: of the layer, each (N, *shape)."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        """What goes out, (N, B, *sample); differentiable."""
        ...

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """The same, without autograd, and the way back."""
        ...
