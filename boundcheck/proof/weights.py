"""Random weights of clients as a law: what is drawn is w_i x_i, for vectors x_i that are known before the weights.

With q_i the mean of w_i, E[w_i w_j] = alpha q_i q_j for two different clients, and a weight that is d_i or 0, so that
E w_i^2 = d_i q_i, sums X and Y over the clients of A and B have

    E X = sum over A of q_i x_i,    E<X, Y> = alpha <E X, E Y> + sum over A and B of q_i (d_i - alpha q_i) <x_i, y_i>.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.laws import Law, Place, common_places
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner


@dataclass(frozen=True)
class Weights(Law):
    """The clients' weights of a round, drawn together and independently of the past.

    drawn: pairs of w_i x_i and z_i, both vectors whose last argument is the client; weighted: the vectors x_i, in the
    same order, so that z_i = q_i x_i must be a definition of the derivation. mean_weight, largest: q_i and d_i,
    functions of the client (and of the time); correlation: alpha, a symbol of the statement; clients: their number.
    With a `time` the weights of different rounds are drawn one after the other; another argument, such as the local
    step, does not tell weights apart.
    """

    weighted: tuple[Vector, ...] = field(default=(), kw_only=True)
    mean_weight: Any = field(kw_only=True)
    largest: Any = field(kw_only=True)
    correlation: Any = field(kw_only=True)
    clients: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.weighted) != len(self.drawn) or any(len(z.terms) != 1 for _, z in self.drawn):
            raise BadInput(f"the law '{self.name}' needs the vectors x_i and q_i x_i of each w_i x_i.")

    def definitions(self) -> tuple[VectorEquality, ...]:
        """What must be definitions of the derivation: z_i = q_i x_i."""
        return tuple(
            VectorEquality(z, x * self.mean_weight) for (_, z), x in zip(self.drawn, self.weighted, strict=True)
        )

    def requires(self) -> tuple[str, ...]:
        """Besides E[w_i w_j], that the weights do not depend on the past."""
        return ("independent_weights",)

    def pair_words(self, x: Vector, source: Vector) -> str:
        """The weight and what it weights."""
        own = self.weighted[[drawn for drawn, _ in self.drawn].index(x)]
        return (
            f"{x} is {own} times a weight that is {self.largest} or 0, has the mean {self.mean_weight} and, with that "
            f"of another client, the mean product {self.correlation} times the product of their means"
        )

    def ranges(self, place: Place) -> Iterator[Any]:
        """Clients that there are."""
        yield sp.Ge(place.low, 0)
        yield sp.Ge(sp.expand(self.clients - place.high), 0)
        if place.position is None:
            yield sp.Ge(place.size, 0)

    def mean(self, place: Place) -> Vector:
        """The sum of the means."""
        if place.position is not None:
            return self.source(place, place.position)
        index = sp.Dummy("client", real=True)
        return vector_total(self.source(place, index).at(index, index + place.low), index, place.size)

    def covariance(self, first: Place, second: Place, common: tuple[Any, Place | None]) -> Any:
        """E<X, Y> - <E X, E Y>: what the pairs have, and what each client has besides."""
        shared = common_places(replace(first, others=()), replace(second, others=()))  # other arguments, same weights
        if shared is None:
            return None
        pairs = (self.correlation - 1) * inner(self.mean(first), self.mean(second))
        if shared[1] is None:
            return pairs
        both, index = shared[1], sp.Dummy("client", real=True)
        own = self._own(first, second, index)
        if both.position is not None:
            return pairs + own.xreplace({index: both.position})
        return pairs + total(own.xreplace({index: index + both.low}), index, both.size)

    def _own(self, first: Place, second: Place, client: Any) -> Any:
        """q_i (d_i - alpha q_i) <x_i, y_i>."""
        values = self._values(first, client)
        q, d = self.mean_weight.xreplace(values), self.largest.xreplace(values)
        x, y = (self._weighted(p, client) for p in (first, second))
        return (q * d - self.correlation * q**2) * inner(x, y)

    def _values(self, place: Place, client: Any) -> dict[Any, Any]:
        return dict(zip(self.drawn[place.pair][0].terms[0][0].args, (*place.others, client), strict=True))

    def _weighted(self, place: Place, client: Any) -> Vector:
        values = self._values(place, client)
        return Vector.of({a.xreplace(values): c for a, c in self.weighted[place.pair].terms})
