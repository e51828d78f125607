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

from boundcheck.engines.batched_cycles import cycle_map, doublings, not_carried
from boundcheck.engines.curve import Floats
from boundcheck.errors import BadInput
from boundcheck.falsify import generator
from boundcheck.falsify.float_statement import EDGE, Known
from boundcheck.falsify.generators import special
from boundcheck.falsify.generators.reach import not_covered, refuse
from boundcheck.methods.build import algorithms
from boundcheck.methods.build import build as build_method
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Constant, Cyclic, Full
from boundcheck.theory.statement import Statement

MOST = 64  # largest integer parameter that is drawn
CONVEX = ("convex_clients", "convex_samples", "strongly_convex_samples")
PARTICIPATION = {Full: "all clients in every round", Cyclic: "one client a round, in a fixed order"}
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


class FixedCycles(special.Special):
    """Statements about the distance to the minimiser, with one constant step size."""

    kinds = ()  # the methods that no other generator has
    decides = (
        *("smooth_clients", "smooth_samples", "plain_mean", "data_weights", "bounded_below", "finite_gradient_noise"),
        *("convexity", "strong_quasi_convexity", *CONVEX),
    )

    def __init__(self, statement: Statement) -> None:
        own = {s.name: s for s in statement.symbols}
        self.keys = {p: own[p].reported or p for p in statement.parameters if own[p].integer}
        self.steps = {p: own[p].reported or p for p in statement.parameters if not own[p].integer}
        self.assumed = {a.name for a in statement.assumptions}
        # samples as strongly convex as F itself: all Hessians have the smallest eigenvalue of their mean
        self.alike = "strongly_convex_samples" in self.assumed and any(s.reported == "mu" for s in statement.symbols)
        reasons = not_covered(statement, ("dist2",))
        if statement.algorithm is None:
            refuse(statement, [*reasons, "names no method whose runs could be searched"])
            return
        self.kind = statement.algorithm.kind
        try:
            method = self._built(dict.fromkeys(self.keys, 2))
        except BadInput as error:
            reasons.append(f"leaves parameters of the method open ({str(error).rstrip('.')})")
        else:
            reasons += self._open(statement, method)
            self.participation = PARTICIPATION.get(type(method.participation), type(method.participation).__name__)
        known = {"mu", "mu_ij", "L", "L_ij", "n", "sigma2", "dist2_0", *self.keys.values()}
        self.claimed = self.compiled(statement, [*self.steps], known, reasons)

    def _open(self, statement: Statement, method: Method) -> list[str]:
        """What in a method is left open, or is none of what the search carries out."""
        found: list[str] = []
        if self.kind not in algorithms(method):
            found.append(
                f"names the method '{self.kind}', which leaves open who takes part and which samples a step uses; "
                "name a kind of method that fixes both"
            )
        if not isinstance(method.schedule, Constant) or (statement.algorithm and statement.algorithm.steps):
            found.append("has a step size that changes; the search carries out constant step sizes only")
        elif beyond := not_carried(method, Clients.alike(2)):
            found.append(f"is about '{self.kind}', and the search cannot carry it out: it {beyond}")
        return found

    def _built(self, counts: Mapping[str, int]) -> Any:
        numbers = {self.keys[name]: count for name, count in counts.items()}
        return build_method({"kind": self.kind, **numbers, **dict.fromkeys(self.steps.values(), Fraction(1, 2))})

    def draw(self, random: np.random.Generator) -> Shape:
        clients = int(random.integers(2, 4))
        counts = {name: int(np.exp(random.uniform(0, np.log(MOST)))) for name in self.keys}
        scale, ratio = np.exp(3 * random.standard_normal()), np.exp(-random.uniform(0, 9))
        return Shape(clients, counts, float(scale), float(ratio))

    def genes(self, shape: Shape) -> Mapping[str, tuple[int, ...]]:
        others = shape.clients - 1
        return {"angle": (), "spread": (), "A": (others, 3), "noise": (), "b": (others, 2), "turn": (), "share": ()}

    def decode(self, shape: Shape, genes: generator.Genes) -> generator.Numbers:
        count = len(genes["angle"])
        mean = special.rotated(np.tile([shape.ratio, 1.0], (count, 1)), genes["angle"])
        apart = np.concatenate([genes["A"], -genes["A"].sum(1, keepdims=True)], 1)
        spread = np.exp(2 * genes["spread"] - 1)
        if self.assumed.intersection(CONVEX):
            spread = np.minimum(spread, _convex_up_to(mean, apart)) * (not self.alike)
        A = mean[:, None] + spread[:, None, None] * apart
        noise = np.exp(2 * genes["noise"])
        b = np.where(noise < 1e-3, 0.0, noise)[:, None, None] * genes["b"]
        start = np.stack([np.cos(genes["turn"]), np.sin(genes["turn"])], 1)
        return {"A": shape.scale * A, "b": shape.scale * b, "start": start, "share": generator.shares(genes["share"])}

    def constants(self, shape: Shape, numbers: generator.Numbers) -> Known:
        A = special.symmetric(numbers["A"])
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

    def meets(self, shape: Shape, numbers: generator.Numbers, known: Known) -> Mapping[str, Any]:
        found = np.isfinite(known["mu"])  # F is strongly convex
        least = np.linalg.eigvalsh(special.symmetric(numbers["A"])).min((1, 2))
        claimed = known[self.claimed.keys.get("mu") or "mu_ij"]
        return {
            **dict.fromkeys(self.decides, found),
            **dict.fromkeys(("convex_clients", "convex_samples"), found & (least >= 0)),
            "strongly_convex_samples": found & (least >= claimed * EDGE),
        }

    def curve(
        self, shape: Shape, numbers: generator.Numbers, known: Known, step: Floats
    ) -> Iterable[tuple[int, Floats]]:
        b = _pushes(shape, numbers)
        cycle, rounds = cycle_map(self._built(shape.counts), special.symmetric(numbers["A"]), b, step)
        rounding = ROUNDING * (known["dist2_0"] + (b**2).sum((1, 2)) / known["mu"] ** 2)
        for cycles, x in doublings(cycle, numbers["start"], CYCLES):
            index, dist2 = self.claimed.index_at(known, cycles * rounds), (x**2).sum(1)
            if index is not None:
                yield int(index), np.where(dist2 < rounding, 0.0, dist2)

    def problem(self, shape: Shape, numbers: generator.Numbers) -> dict[str, Any]:
        pairs = zip(special.symmetric(numbers["A"]), _pushes(shape, numbers), strict=True)
        clients = [{"A": special.texts(A), "b": special.texts(b)} for A, b in pairs]
        return {"kind": "quadratics", "clients": clients, "start": special.texts(numbers["start"])}

    def method(self, shape: Shape, numbers: generator.Numbers) -> dict[str, Any]:
        return {"kind": self.kind, **{self.keys[name]: count for name, count in shape.counts.items()}}

    def simpler(self, shape: Shape, numbers: generator.Numbers) -> Iterator[tuple[Shape, generator.Numbers]]:
        A, b, start = numbers["A"], _pushes(shape, numbers), numbers["start"]
        for k in range(shape.clients if shape.clients > 1 else 0):
            fewer = replace(shape, clients=shape.clients - 1)
            yield fewer, {**numbers, "A": np.delete(A, k, 0), "b": np.delete(b, k, 0)[:-1]}
        for axis in range(2 if len(start) > 1 else 0):
            yield shape, {"A": special.on_one_axis(A, axis), "b": b[:-1, [axis]], "start": start[[axis]]}
        for name, count in shape.counts.items():
            for smaller in [*(k for k in LADDER if k < count - 1), count - 1]:
                if smaller > 0:
                    yield replace(shape, counts={**shape.counts, name: smaller}), numbers


def _convex_up_to(mean: Floats, apart: Floats) -> Floats:
    """Nearly the largest factors (B,) with which all matrices mean + factor apart are positive semidefinite."""
    root = np.linalg.inv(np.linalg.cholesky(special.symmetric(mean)))[:, None]
    lowest = np.linalg.eigvalsh(root @ special.symmetric(apart) @ np.swapaxes(root, -1, -2)).min((1, 2))
    return 0.99 / np.maximum(-lowest, 1e-9)


def _pushes(shape: Shape, numbers: generator.Numbers) -> Any:
    """The b_i of all clients, (..., n, d)."""
    return special.balanced(numbers["b"], (Fraction(1),) * shape.clients)
