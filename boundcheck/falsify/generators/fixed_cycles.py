"""Instances for methods whose rounds repeat in a fixed cycle: two or three quadratic clients in the plane.

Client i has the gradient A_i x - b_i; the A_i may be indefinite, their mean is positive definite, and the b_i sum to 0,
so that the origin is the minimiser. All clients differ from a common matrix by independent normal entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.engines.batched_cycles import cycle_map, doublings
from boundcheck.engines.curve import Floats
from boundcheck.errors import Unsupported
from boundcheck.falsify.float_statement import FloatStatement, Known
from boundcheck.falsify.generator import (
    Generator,
    Genes,
    Numbers,
    balanced,
    on_one_axis,
    rotated,
    shares,
    symmetric,
    texts,
)
from boundcheck.falsify.reach import check_searchable
from boundcheck.methods.build import build as build_method
from boundcheck.methods.parts import Constant
from boundcheck.theory.statement import Statement

MOST = 64  # largest integer parameter that is drawn
CYCLES = 2**20
ROUNDING = 1e-24  # relative, of squared distances
LADDER = sorted({k for power in range(12) for k in (2**power, 3 * 2**power // 2)})


@dataclass(frozen=True)
class Shape:
    """What a batch has in common: clients, integer parameters of the method, and the spectrum of the mean matrix.

    scale, ratio: its largest eigenvalue, and the smallest relative to it. If they varied within a batch, the local
    search would run to instances whose clients are all alike: these have the best scores on average, and never violate
    a bound.
    """

    clients: int
    counts: Mapping[str, int]
    scale: float
    ratio: float


class FixedCycles(Generator):
    """Statements about the distance to the minimiser, with one constant step size."""

    kinds = ()  # the methods that no other generator has

    def __init__(self, statement: Statement) -> None:
        check_searchable(statement, ("dist2",), prescribing=True)
        if statement.algorithm is None:
            raise Unsupported(f"{statement.best_id} names no method whose runs could be searched.")
        own = {s.name: s for s in statement.symbols}
        self.kind = statement.algorithm.kind
        self.keys = {p: own[p].reported for p in statement.parameters if own[p].integer}
        steps = [p for p in statement.parameters if not own[p].integer]
        if len(steps) != 1:
            raise Unsupported(f"{statement.best_id}: the search needs exactly one step size among the parameters.")
        self.step = steps[0]
        if not isinstance(self._built(dict.fromkeys(self.keys, 2)).schedule, Constant):
            raise Unsupported(f"{statement.best_id}: the search carries out constant step sizes only.")
        known = {"mu", "mu_ij", "L", "L_ij", "n", "sigma2", "dist2_0", *self.keys.values()}
        self.claimed = FloatStatement(statement, self.step, known)

    def _built(self, counts: Mapping[str, int]) -> Any:
        return build_method({"kind": self.kind, **counts, self.step: Fraction(1)})

    def draw(self, random: np.random.Generator) -> Shape:
        clients = int(random.integers(2, 4))
        counts = {name: int(np.exp(random.uniform(0, np.log(MOST)))) for name in self.keys}
        scale, ratio = np.exp(3 * random.standard_normal()), np.exp(-random.uniform(0, 9))
        return Shape(clients, counts, float(scale), float(ratio))

    def genes(self, shape: Shape) -> Mapping[str, tuple[int, ...]]:
        others = shape.clients - 1
        return {"angle": (), "spread": (), "A": (others, 3), "noise": (), "b": (others, 2), "turn": (), "share": ()}

    def decode(self, shape: Shape, genes: Genes) -> Numbers:
        count = len(genes["angle"])
        mean = rotated(np.tile([shape.ratio, 1.0], (count, 1)), genes["angle"])
        apart = np.concatenate([genes["A"], -genes["A"].sum(1, keepdims=True)], 1)
        A = mean[:, None] + np.exp(2 * genes["spread"] - 1)[:, None, None] * apart
        noise = np.exp(2 * genes["noise"])
        b = np.where(noise < 1e-3, 0.0, noise)[:, None, None] * genes["b"]
        start = np.stack([np.cos(genes["turn"]), np.sin(genes["turn"])], 1)
        return {"A": shape.scale * A, "b": shape.scale * b, "start": start, "share": shares(genes["share"])}

    def constants(self, shape: Shape, numbers: Numbers) -> Known:
        A = symmetric(numbers["A"])
        mu, each = np.linalg.eigvalsh(A.mean(1))[:, 0], np.linalg.eigvalsh(A)
        return {
            "mu": np.where(mu > 0, mu, np.nan),
            "mu_ij": np.where((each > 0).all((1, 2)), each.min((1, 2)), np.nan),
            **dict.fromkeys(("L", "L_ij"), np.abs(each).max((1, 2))),
            "n": shape.clients,
            "sigma2": (_pushes(shape, numbers) ** 2).sum(2).mean(1),
            "dist2_0": (numbers["start"] ** 2).sum(1),
            **{self.keys[name]: count for name, count in shape.counts.items()},
        }

    def curve(self, shape: Shape, numbers: Numbers, known: Known, step: Floats) -> Iterable[tuple[int, Floats]]:
        b = _pushes(shape, numbers)
        cycle, rounds = cycle_map(self._built(shape.counts), symmetric(numbers["A"]), b, step)
        rounding = ROUNDING * (known["dist2_0"] + (b**2).sum((1, 2)) / known["mu"] ** 2)
        for cycles, x in doublings(cycle, numbers["start"], CYCLES):
            index, dist2 = self.claimed.index_at(known, cycles * rounds), (x**2).sum(1)
            if index is not None:
                yield int(index), np.where(dist2 < rounding, 0.0, dist2)

    def problem(self, shape: Shape, numbers: Numbers) -> dict[str, Any]:
        pairs = zip(symmetric(numbers["A"]), _pushes(shape, numbers), strict=True)
        clients = [{"A": texts(A), "b": texts(b)} for A, b in pairs]
        return {"kind": "quadratics", "clients": clients, "start": texts(numbers["start"])}

    def method(self, shape: Shape, numbers: Numbers) -> dict[str, Any]:
        return {"kind": self.kind, **shape.counts}

    def simpler(self, shape: Shape, numbers: Numbers) -> Iterator[tuple[Shape, Numbers]]:
        A, b, start = numbers["A"], _pushes(shape, numbers), numbers["start"]
        for k in range(shape.clients if shape.clients > 1 else 0):
            fewer = replace(shape, clients=shape.clients - 1)
            yield fewer, {**numbers, "A": np.delete(A, k, 0), "b": np.delete(b, k, 0)[:-1]}
        for axis in range(2 if len(start) > 1 else 0):
            yield shape, {"A": on_one_axis(A, axis), "b": b[:-1, [axis]], "start": start[[axis]]}
        for name, count in shape.counts.items():
            for smaller in [*(k for k in LADDER if k < count - 1), count - 1]:
                if smaller > 0:
                    yield replace(shape, counts={**shape.counts, name: smaller}), numbers


def _pushes(shape: Shape, numbers: Numbers) -> Any:
    """The b_i of all clients, (..., n, d)."""
    return balanced(numbers["b"], (Fraction(1),) * shape.clients)
