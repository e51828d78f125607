"""Functions of which only the answers are known: the rows and values at the points where a run asks for them.

`Answers` is a problem for the paths reader (`engines.exact.paths_rounds`): the points of a run are rows, and each
gradient at a new point is a further basis vector. So methods are carried out as they are written, and what comes out is
a run on all functions at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from boundcheck.certified.constant import Constant
from boundcheck.engines.curve import Arithmetic
from boundcheck.errors import Unsupported
from boundcheck.worst_case.forms import ZERO, Form, Row, combined, minus, short, total

Cell = tuple[int, int]  # client and sample


class TooMany(Exception):
    """More basis vectors are needed than there is room for."""


@dataclass(frozen=True)
class Answer:
    """What a function answers at a point: its gradient, and its value less that at the anchor."""

    point: Row
    gradient: Row
    value: Form


class Answers:
    """n clients with the weights w_i, client i the mean of sizes[i] functions; the answers at the points asked for.

    The anchor is the point 0: a minimiser of F (whose gradient there is 0) or, without one, the start. Basis vector 0
    is x_0 less the minimiser, where there is one. The values of F at the anchor are `gap_at_anchor`, less F*.
    Raises `TooMany` beyond `room` basis vectors.
    """

    spec: Mapping[str, Any] = {}
    metrics = ("gap", "dist2", "grad2")
    arithmetics = (Arithmetic.RATIONAL.value,)

    def __init__(self, sizes: Sequence[int], room: int, *, minimiser: bool) -> None:
        self.name, self.dim, self.sizes, self.minimiser = "any functions of the class", room, tuple(sizes), minimiser
        self.clients = len(self.sizes)
        self.weights = (Fraction(1, self.clients),) * self.clients
        self.rows, self.values = int(minimiser), 0
        self.answers: dict[Cell, list[Answer]] = {}
        self._known: dict[tuple[Cell, Any], Answer] = {}
        self.gap_at_anchor = Form()
        if not minimiser:
            self.gap_at_anchor = self.value()
        self._anchor()

    @property
    def start(self) -> Sequence[Fraction]:
        """x_0."""
        return [Fraction(int(self.minimiser and k == 0)) for k in range(self.dim)]

    @property
    def cells(self) -> Sequence[Cell]:
        """All functions."""
        return [(i, j) for i, size in enumerate(self.sizes) for j in range(size)]

    def share(self, cell: Cell) -> Fraction:
        """The weight of a function in F."""
        return self.weights[cell[0]] / self.sizes[cell[0]]

    def _anchor(self) -> None:
        cells, so_far = self.cells, []
        for k, cell in enumerate(cells):
            if self.minimiser and k == len(cells) - 1:
                gradient = combined((-self.share(c) / self.share(cell), row) for c, row in so_far)
            else:
                gradient = self.basis()
            so_far.append((cell, gradient))
            self.keep(cell, Answer({}, gradient, Form()))

    def basis(self) -> dict[int, Fraction]:
        """A further basis vector."""
        if self.rows >= self.dim:
            raise TooMany
        self.rows += 1
        return {self.rows - 1: short(Fraction(1))}

    def value(self) -> Form:
        """A further value."""
        self.values += 1
        return Form(lin={self.values - 1: Fraction(1)})

    def keep(self, cell: Cell, answer: Answer) -> Answer:
        """An answer that a function gives from now on."""
        self.answers.setdefault(cell, []).append(answer)
        self._known[cell, _key(answer.point)] = answer
        return answer

    def at(self, cell: Cell, point: Row) -> Answer:
        """The answer of a function at a point."""
        found = self._known.get((cell, _key(point)))
        return found or self.keep(cell, Answer(dict(point), self.basis(), self.value()))

    def everywhere(self, point: Row) -> Mapping[Cell, Answer]:
        """The answers of all functions at a point."""
        return {cell: self.at(cell, point) for cell in self.cells}

    def client_gradient(self, client: int, point: Row) -> Row:
        """grad f_i, the mean over the functions of the client."""
        size = self.sizes[client]
        return combined((Fraction(1, size), self.at((client, j), point).gradient) for j in range(size))

    def objective_gradient(self, point: Row) -> Row:
        """grad F."""
        return combined((self.share(cell), a.gradient) for cell, a in self.everywhere(point).items())

    def gap(self, point: Row) -> Form:
        """F - F*."""
        own = total((self.share(cell), a.value) for cell, a in self.everywhere(point).items())
        return own + self.gap_at_anchor

    # --- as a problem -------------------------------------------------------------------------------------------------

    def constants(self) -> Mapping[str, Constant]:
        """None is known."""
        return {}

    def gradient(self, client: int, x: Any) -> Any:
        """See `Problem`; not used, for points are rows."""
        raise NotImplementedError

    def metric(self, name: str, x: Any) -> Any:
        """See `Problem`; not used, for points are rows."""
        raise NotImplementedError

    def violations(self, assumption: str) -> str | None:
        """None: the class has what is assumed."""
        return None

    def metric_of(self, name: str, x: Sequence[Any]) -> Any:
        """See `Stepped`; not used, for points are rows."""
        raise Unsupported("a worst case has no single value of a metric.")

    def gradient_of(self, client: int, sample: int | None, x: Sequence[Fraction]) -> list[Fraction]:
        """The row of a gradient."""
        point = row_of(x)
        own = self.client_gradient(client, point) if sample is None else self.at((client, sample), point).gradient
        return [Fraction(own.get(k, ZERO)) for k in range(self.dim)]

    def proximal(self, client: int, centre: Sequence[Any], shift: Sequence[Any], mu: Fraction) -> list[Fraction]:
        """The minimiser of f_i(v) + <shift, v> + mu/2 |v - centre|^2: v = centre - (shift + grad f_i(v))/mu."""
        if self.sizes[client] != 1:
            raise Unsupported("an exact solve needs clients of one function each in a worst case.")
        key = ((client, -1), (tuple(centre), tuple(shift), mu))
        found = self._known.get(key)
        if found is None:
            gradient = self.basis()
            step = combined(((1, row_of(shift)), (1, gradient)))
            point = minus(row_of(centre), {k: c / mu for k, c in step.items()})
            found = self._known[key] = self.keep((client, 0), Answer(point, gradient, self.value()))
        return [Fraction(found.point.get(k, ZERO)) for k in range(self.dim)]


def row_of(x: Sequence[Fraction]) -> dict[int, Fraction]:
    """A row of a point of the reader."""
    return {k: short(Fraction(c)) for k, c in enumerate(x) if c}


def _key(point: Row) -> Any:
    return frozenset(point.items())
