"""What a method may know of the clients: how many, their weights, and how many samples each holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Generic, TypeVar, overload

from boundcheck.errors import BadInput

T = TypeVar("T")


@dataclass(frozen=True)
class Repeated(Sequence[T], Generic[T]):
    """`value`, `length` times: a sequence that takes no memory, for very many clients."""

    value: T
    length: int

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return Repeated(self.value, len(range(self.length)[index]))
        if not -self.length <= index < self.length:
            raise IndexError(index)
        return self.value


@dataclass(frozen=True)
class Clients:
    """n clients, numbered from 0.

    weights: w_i, nonnegative, summing to 1 (F = sum of w_i f_i). sizes: samples |D_i| that client i holds, each at
    least 1; a client whose objective is given whole counts as one sample.
    """

    weights: Sequence[Fraction]
    sizes: Sequence[int]

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.sizes) or not len(self.sizes):
            raise BadInput(f"{len(self.weights)} weights were given for {len(self.sizes)} clients; at least 1 each.")

    @property
    def count(self) -> int:
        """Number of clients n."""
        return len(self.sizes)

    @cached_property
    def largest(self) -> int:
        """The most samples that a client holds."""
        return self.sizes.value if isinstance(self.sizes, Repeated) else max(self.sizes)

    @cached_property
    def one_weight(self) -> bool:
        """Whether all clients have the same weight."""
        return isinstance(self.weights, Repeated) or len(set(self.weights)) == 1

    @cached_property
    def one_size(self) -> bool:
        """Whether all clients hold the same number of samples."""
        return isinstance(self.sizes, Repeated) or len(set(self.sizes)) == 1

    @staticmethod
    def alike(count: int, size: int = 1) -> Clients:
        """Clients of equal weight and size."""
        if count < 1:
            raise BadInput(f"{count} clients are not allowed; at least 1.")
        return Clients(Repeated(Fraction(1, count), count), Repeated(size, count))
