"""What the neural engine asks of a model: scores of many models at once, each with samples of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

__all__ = ["Back", "Bindable", "Bound", "Flat", "Handed", "Kernel", "Network", "Tensor", "Traced"]

Tensor = Any  # torch.Tensor; torch is imported only where a run needs it
Flat = Any  # NumPy's, in one piece

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

    @property
    def places(self) -> Sequence[slice]:
        """Where each parameter lies among the dim numbers of a model."""
        ...

    def bound(self, parameters: Tensor, inputs: Tensor) -> Bound | None:
        """All layers of one model on a processor, or None where there is no such way.

        parameters: (dim,), of any model; inputs: (B, *sample), see `Handed`, whose memory is read in every step.
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


@dataclass(frozen=True)
class Handed:
    """What a layer of one model hands to the next, always in the same memory: (B, *sample).

    Images lie with their channels innermost, (B, height, width, channels). x: the numbers; g: where the next layer
    writes the gradient in them, None where no one wants it.
    """

    x: Tensor
    g: Tensor

    @property
    def size(self) -> int:
        """Bytes."""
        return self.x.nbytes + (0 if self.g is None else self.g.nbytes)


class Bound(Protocol):
    """A layer of one model at a time on a processor, for a number of samples, bound to memory that stays.

    A step is `forth` of all layers, then `back` from the last to the first; nothing is made anew for it. found: what
    the layer hands on; size: bytes that it holds.
    """

    @property
    def found(self) -> Handed: ...

    @property
    def size(self) -> int: ...

    def bind(self, parameters: Sequence[Flat], into: Sequence[Flat]) -> Any:
        """The arrays of a model as `forth` and `back` want them, for all its steps.

        parameters: flat arrays of NumPy, whose views cost a fraction of torch's; into: places for the gradients, which
        may be the parameters themselves: they are touched last.
        """
        ...

    def forth(self, own: Any) -> None:
        """From what came in to what goes out. own: see `bind`."""
        ...

    def back(self, own: Any, adding: bool) -> None:
        """From the gradient in what went out to that in what came in, where it is wanted, and in the parameters.

        adding: to what is there.
        """
        ...


@runtime_checkable
class Bindable(Protocol):
    """What a kernel offers in addition where it has a way for one model at a time."""

    def bound(self, given: Handed, parameters: Sequence[Tensor]) -> Bound | None:
        """The layer on what the layer before it hands over; parameters: of any model. None where it has no way."""
        ...
