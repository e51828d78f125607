"""What problems share whose model is trained on samples that clients hold, by engine = "neural" alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from boundcheck.errors import UnknownName, Unsupported
from boundcheck.problems._words import html_repr, short_repr
from boundcheck.problems.problem import Floats, Vector

__all__ = ["OnSamples", "Start"]


@dataclass(frozen=True, eq=False)
class Start(Sequence[Fraction]):
    """The coordinates of a start as exact numbers, each made when it is asked for: models have millions."""

    vector: Floats

    def __len__(self) -> int:
        return len(self.vector)

    @overload
    def __getitem__(self, index: int) -> Fraction: ...
    @overload
    def __getitem__(self, index: slice) -> Start: ...
    def __getitem__(self, index: int | slice) -> Fraction | Start:
        return Start(self.vector[index]) if isinstance(index, slice) else Fraction(float(self.vector[index]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.vector, dtype=dtype) if copy or dtype is not None else self.vector


@dataclass(frozen=True, eq=False, repr=False)
class OnSamples:
    """A model and the samples of its clients; classes below it add the model and its loss.

    name, spec: see `Problem`. inputs: (N, *sample), client after client; labels: (N,); offsets: client i owns the rows
    offsets[i] to offsets[i + 1]. weights: w_i. ridge: at least 0. start_vector: x_0 (dim,). test_inputs, test_labels:
    held out, None where there are none.
    """

    name: str
    spec: Mapping[str, Any]
    inputs: NDArray[Any]
    labels: NDArray[Any]
    offsets: tuple[int, ...]
    weights: tuple[Fraction, ...]
    ridge: Fraction
    start_vector: Floats
    test_inputs: NDArray[Any] | None
    test_labels: NDArray[Any] | None

    def __repr__(self) -> str:
        return short_repr(self)

    def _repr_html_(self) -> str:
        return html_repr(self)

    @property
    def clients(self) -> int:
        """Number of clients n."""
        return len(self.weights)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Samples |D_i| of each client."""
        return tuple(int(v) for v in np.diff(self.offsets))

    @property
    def client_weights(self) -> tuple[Fraction, ...]:
        """The weights that the clients report: those of the objective."""
        return self.weights

    @property
    def start(self) -> Sequence[Fraction]:
        """x_0, each coordinate made when it is asked for."""
        return Start(self.start_vector)

    @property
    def metrics(self) -> tuple[str, ...]:
        """f = F(x); grad2 = |grad F(x)|^2; accuracy and test_f, of the held-out samples, where there are any."""
        return ("f", "grad2") if self.test_inputs is None else ("f", "grad2", "accuracy", "test_f")

    def gradient(self, client: int, x: Vector) -> Vector:
        """Raises Unsupported: gradients of networks are the neural engine's."""
        raise Unsupported(
            f"the problem '{self.name}' has gradients in the neural engine alone: take engine = 'neural'."
        )

    def metric(self, name: str, x: NDArray[Any]) -> float:
        """Raises UnknownName for what is no metric, Unsupported for the others: they are the neural engine's."""
        if name not in self.metrics:
            raise UnknownName("the metric", name, self.metrics)
        raise Unsupported(f"the problem '{self.name}' has metrics in the neural engine alone: take engine = 'neural'.")
