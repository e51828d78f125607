"""Rules on squared norms of a few vectors: Young, Jensen, triangle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from boundcheck.proof.rules.base import Obligation, Rule
from boundcheck.proof.vectors import Vector, fresh, inner, norm2

_PLANE: Any = sp.symbols("a:d", cls=sp.Dummy, real=True)
_NORMS: Any = sp.symbols("nu nv uv", cls=sp.Dummy, real=True)


@cache
def _atom(place: int) -> Vector:
    """A vector atom of our own; the same for each use, so that a question is answered once."""
    return fresh(f"x{place}")


@dataclass(frozen=True)
class Jensen(Rule):
    """norm(sum w_i x_i)**2 <= sum w_i norm(x_i)**2 for weights w_i > 0 with sum 1."""

    weights: tuple[Any, ...]
    vectors: tuple[Vector, ...]

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "Jensen's inequality"

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality for these weights and vectors."""
        pairs = list(zip(self.weights, self.vectors, strict=True))
        mean = sum((v * w for w, v in pairs), Vector(()))
        return sp.Le(norm2(mean), sum((w * norm2(v) for w, v in pairs), sp.Integer(0)), evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """Positive weights with sum 1, and the matrix diag(w) - w w' positive semidefinite."""
        for weight in self.weights:
            yield sp.Gt(weight, 0), {}
        yield sp.Eq(sp.expand(sum(self.weights, sp.Integer(0))), 1), {}
        atoms = [_atom(i) for i in range(len(self.weights))]
        pairs = list(zip(self.weights, atoms, strict=True))
        mean = sum((v * w for w, v in pairs), Vector(()))
        spread = sum((w * norm2(v) for w, v in pairs), sp.Integer(0)) - norm2(mean)
        yield sp.Ge(spread, 0, evaluate=False), {}


@dataclass(frozen=True)
class Triangle(Rule):
    """norm(u + v) <= norm(u) + norm(v), with norms as square roots."""

    u: Vector
    v: Vector

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "triangle inequality"

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality for these vectors."""
        left, right = sp.sqrt(norm2(self.u + self.v)), sp.sqrt(norm2(self.u)) + sp.sqrt(norm2(self.v))
        return sp.Le(left, right, evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """In the plane of two vectors: the determinant identity, then the squares of both sides."""
        a, b, c, d = _PLANE
        yield sp.Eq((a**2 + b**2) * (c**2 + d**2) - (a * c + b * d) ** 2, (a * d - b * c) ** 2, evaluate=False), {}
        first, second, product = _NORMS
        facts_of = {"u": first >= 0, "v": second >= 0, "plane": product**2 <= first**2 * second**2}
        yield sp.Le(first**2 + 2 * product + second**2, (first + second) ** 2, evaluate=False), facts_of


@dataclass(frozen=True)
class Young(Rule):
    """2 <u, v> <= weight * norm(u)**2 + norm(v)**2 / weight, for weight > 0."""

    u: Vector
    v: Vector
    weight: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "Young's inequality"

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality for these vectors."""
        right = self.weight * norm2(self.u) + norm2(self.v) / self.weight
        return sp.Le(2 * inner(self.u, self.v), right, evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The weight is positive, and the matrix [[weight, -1], [-1, 1/weight]] positive semidefinite."""
        yield sp.Gt(self.weight, 0), {}
        a, b = _atom(0), _atom(1)
        yield sp.Ge(self.weight * norm2(a) - 2 * inner(a, b) + norm2(b) / self.weight, 0, evaluate=False), {}
