"""Vectors of several seeds as functions of a round see them, and what is looked at inside a round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.core.numbers import as_double
from boundcheck.engines.curve import Floats, Ints


class Vectors(np.ndarray[Any, Any]):
    """Vectors of several seeds, one a row; exact numbers that multiply them are rounded first."""

    def __mul__(self, other: Any) -> Any:
        return super().__mul__(plain_number(other))

    def __rmul__(self, other: Any) -> Any:
        return super().__rmul__(plain_number(other))

    def __truediv__(self, other: Any) -> Any:
        return super().__truediv__(plain_number(other))


def plain_number(value: Any) -> Any:
    """An exact number as the nearest double, anything else as it is. Raises BadInput above the largest double."""
    return as_double(value, "a number of the round") if isinstance(value, Fraction) else value


def vectors(values: Floats) -> Vectors:
    """An array as vectors that functions cannot change in place."""
    found = np.asarray(values).view(Vectors)
    found.flags.writeable = False
    return found


class Named(dict[str, Any]):
    """Vectors by name; those of nobody are 0, if there is a shape. Remembers which were asked for."""

    def __init__(self, given: Mapping[str, Any], shape: tuple[int, int] | None = None) -> None:
        super().__init__(given)
        self.shape, self.asked = shape, set[str]()

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return super().__getitem__(name)

    def __missing__(self, name: str) -> Any:
        if self.shape is None:
            raise KeyError(name)
        return self.setdefault(name, vectors(np.zeros(self.shape)))


@dataclass
class Collected:
    """What a cohort that does not change collected, and what of the server it rests on."""

    inputs: dict[str, Floats]
    sums: dict[str, Floats]


@dataclass(frozen=True)
class Solve:
    """A visit and its subproblem f_client(v) + <shift, v> + mu/2 |v - centre|^2; arrays (rows, d) of the seeds `rows`.

    started, returned: where the visit began and ended.
    """

    client: int
    rows: Ints
    centre: Floats
    shift: Floats
    mu: float
    started: Floats
    returned: Floats


@dataclass
class Asked:
    """What is looked at inside a round.

    starts (S, epochs, d): the points before each epoch, of cohorts of one client (every step with a whole gradient
    counts as an epoch). returned (S, m, d): what the members of the cohort return, in the order in which they first
    appear. solves: is called with the visits, where their subproblems are asked for.
    """

    starts: Floats | None = None
    returned: Floats | None = None
    solves: Callable[[Solve], None] | None = None
    before: list[Floats] = field(default_factory=list[Floats])


class Picked(Mapping[str, Any]):
    """Some rows of vectors, and of columns, by name."""

    def __init__(self, of: Named, rows: Ints) -> None:
        self.of, self.rows = of, rows

    def __getitem__(self, name: str) -> Any:
        own = self.of[name]
        return own[self.rows] if isinstance(own, np.ndarray) else own

    def __iter__(self) -> Any:
        return iter(self.of)

    def __len__(self) -> int:
        return len(self.of)


def norm(vector: Any) -> Any:
    """The Euclidean norm of each row, as a column."""
    return np.sqrt((np.asarray(vector) ** 2).sum(axis=-1, keepdims=True))
