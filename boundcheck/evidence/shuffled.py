"""The falsifier's family for reshuffled local epochs: one or two clients with up to three samples each.

All samples share one Hessian A (dimension 1 or 2, positive definite) and differ in their linear terms, so that
expectations over orders and rounds are short moment recursions; clients weigh |D_i|/|D| and all take part. The search
draws sizes, epochs, server step, curvature, noise, start and the share of the largest step in scope; nothing in it
refers to a theorem.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from boundcheck.engines.curve import Floats
from boundcheck.errors import Unsupported
from boundcheck.evidence.searchable import check_searchable
from boundcheck.evidence.shrinking import Shrinking
from boundcheck.evidence.witness import Witness
from boundcheck.methods.build import algorithms
from boundcheck.methods.build import build as build_method
from boundcheck.theory.dimension import STEP
from boundcheck.theory.scope import difference, index_conditions
from boundcheck.theory.statement import ROUND, Statement

__all__ = ["KINDS", "Genes", "SampleSearch", "Samples", "Shape", "constants_of", "drift", "moments"]

KINDS = ("fedshuffle", "fedshuffle_gen")
BATCH = 512
REACH = 4.0
EPOCHS = (1, 2, 3)
LAST = 256  # rounds that are carried out
PROMISING = 1e-6
_METRICS = ("dist2", "gap", "grad2", "drift")


@dataclass(frozen=True)
class Shape:
    """What a batch has in common: samples of each client, dimension, epochs and server step."""

    sizes: tuple[int, ...]
    dim: int
    E: int
    eta_g: Fraction


@dataclass(frozen=True)
class Samples:
    """B instances: A (B, d, d) of all samples, b (B, N, d) summing to zero over samples, start (B, d), edge (B,)."""

    shape: Shape
    A: Floats
    b: Floats
    start: Floats
    edge: Floats

    def clients(self) -> list[Floats]:
        """b of each client, (B, |D_i|, d)."""
        cuts = np.cumsum(self.shape.sizes)[:-1]
        return list(np.split(self.b, cuts, axis=1))


@dataclass(frozen=True)
class Genes:
    """Candidates of one shape: genes (B, G) in an unbounded search space."""

    shape: Shape
    genes: Floats

    def offspring(self, random: np.random.Generator, width: float) -> Genes:
        """These and mutants of them, a whole batch."""
        children = self.genes[random.integers(len(self.genes), size=BATCH - len(self.genes))]
        mask = random.random(children.shape) < 0.5
        children = children + width * mask * random.standard_normal(children.shape)
        return replace(self, genes=np.clip(np.concatenate([self.genes, children]), -REACH, REACH))

    def decode(self) -> Samples:
        """The instances."""
        d, total, count = self.shape.dim, sum(self.shape.sizes), len(self.genes)
        column = iter(self.genes.T)
        scale = np.exp(3 * next(column))
        ratio = np.exp(-np.abs(3 * next(column)))
        turn = next(column)
        noise = scale * np.exp(2 * next(column))
        away = np.exp(2 * next(column))
        away = np.where(away < 0.1, 0.0, away)  # some start at the minimiser
        edge = np.minimum(1 - 1e-9, np.exp(np.minimum(0.0, next(column))))
        c, s = (np.cos(turn), np.sin(turn)) if d == 2 else (np.ones(count), np.zeros(count))
        rotation = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)[:, :d, :d]
        eigenvalues = np.stack([np.ones(count), ratio], -1)[:, :d]
        A = scale[:, None, None] * (rotation @ (eigenvalues[..., None] * rotation.transpose(0, 2, 1)))
        raw = np.stack([np.stack([next(column) for _ in range(d)], -1) for _ in range(total)], 1)
        b = noise[:, None, None] * (raw - raw.mean(1, keepdims=True))
        start = away[:, None] * np.stack([next(column) for _ in range(d)], -1)
        return Samples(self.shape, A, b, start, edge)


def _gene_count(shape: Shape) -> int:
    return 6 + sum(shape.sizes) * shape.dim + shape.dim


def constants_of(found: Samples) -> dict[str, Any]:
    """The constants by the names that problems and methods know them under, in plain floats; one B2 and P_i per shape.

    With one Hessian for all, B2 = 1 and P_i = 0 serve, with G2 and sigma_i^2 the variances of the linear terms.
    """
    shape, clients = found.shape, found.clients()
    total = sum(shape.sizes)
    curvature = np.linalg.eigvalsh(found.A)
    means = np.stack([b.mean(1) for b in clients], 1)  # (B, n, d)
    weights = np.array(shape.sizes) / total
    G2 = ((means**2).sum(2) * weights).sum(1)
    noise = sum((((b - b.mean(1, keepdims=True)) ** 2).sum(2).mean(1) for b in clients), np.zeros(len(found.A)))
    slope = np.einsum("bij,bj->bi", found.A, found.start)
    one = np.ones(len(found.A))
    return {
        **dict.fromkeys(("L", "L_ij"), curvature[:, -1]),
        **dict.fromkeys(("mu", "mu_ij"), curvature[:, 0]),
        **dict.fromkeys(("P2", "P2_gen", "delta", "M", "M1"), 0 * one),
        **dict.fromkeys(("B2", "M2"), one),
        "G2": G2,
        "noise2": noise / total,
        "noise2_gen": noise / total / (3 * shape.E**2),
        "W": shape.E * one,
        "sigma2": (means**2).sum(2).mean(1),
        "n": len(shape.sizes) * one,
        "dist2_0": (found.start**2).sum(1),
        "gap_0": (found.start * slope).sum(1) / 2,
        "grad2_0": (slope**2).sum(1),
        "client_grad2_0": G2 + (slope**2).sum(1),
    }


def _powers(P: Floats, count: int) -> list[Floats]:
    found = [np.broadcast_to(np.eye(P.shape[-1]), P.shape)]
    for _ in range(count):
        found.append(found[-1] @ P)
    return found


def _noise(P: list[Floats], step: Floats, b: Floats, done: int) -> tuple[Floats, Floats]:
    """Mean (B, d) and covariance (B, d, d) of what the first `done` samples of an epoch add, over all orders."""
    orders = list(itertools.permutations(range(b.shape[1]), done))
    terms = np.zeros((len(orders), b.shape[0], b.shape[2]))
    for k, order in enumerate(orders):
        for position, j in enumerate(order):
            terms[k] += np.einsum("bij,bj->bi", P[done - 1 - position], step[:, None] * b[:, j])
    mean = terms.mean(0)
    away = terms - mean
    return mean, np.einsum("kbi,kbj->bij", away, away) / len(orders)


def _visits(found: Samples, eta_l: Floats) -> list[tuple[Floats, Floats, Floats]]:
    """Per client the map of a visit: y = T x + m + noise of covariance C."""
    result: list[tuple[Floats, Floats, Floats]] = []
    for b in found.clients():
        step = eta_l / b.shape[1]
        P = _powers(np.eye(found.shape.dim) - step[:, None, None] * found.A, b.shape[1])
        whole = P[-1]
        add, spread = _noise(P, step, b, b.shape[1])
        own, m, noise = P[0], np.zeros_like(add), np.zeros_like(spread)
        for _ in range(found.shape.E):
            own, m = whole @ own, np.einsum("bij,bj->bi", whole, m) + add
            noise = whole @ noise @ whole.transpose(0, 2, 1) + spread
        result.append((own, m, noise))
    return result


def moments(found: Samples, eta_l: Floats, rounds: int) -> dict[str, Floats]:
    """E dist2, E gap and E grad2 at rounds 0 to `rounds`, each (B, rounds + 1)."""
    total, eta_g = sum(found.shape.sizes), float(found.shape.eta_g)
    d = found.shape.dim
    linear = np.broadcast_to((1 - eta_g) * np.eye(d), found.A.shape)
    push, fresh = np.zeros_like(found.start), np.zeros_like(found.A)
    for size, (own, m, noise) in zip(found.shape.sizes, _visits(found, eta_l), strict=True):
        a = eta_g * size / total
        linear, push, fresh = linear + a * own, push + a * m, fresh + a * a * noise
    mean, spread = found.start, np.zeros_like(found.A)
    forms = {"dist2": np.broadcast_to(np.eye(d), found.A.shape), "gap": found.A / 2, "grad2": found.A @ found.A}
    out = {name: np.empty((len(found.A), rounds + 1)) for name in forms}
    for r in range(rounds + 1):
        second = spread + mean[:, :, None] * mean[:, None, :]
        for name, form in forms.items():
            out[name][:, r] = np.einsum("bij,bij->b", form, second)
        mean = np.einsum("bij,bj->bi", linear, mean) + push
        spread = linear @ spread @ linear.transpose(0, 2, 1) + fresh
    return out


def drift(found: Samples, eta_l: Floats) -> Floats:
    """The mean over all local steps of the first round of E |y - x|^2, y the iterate before the step; (B,)."""
    total = sum(found.shape.sizes)
    result = np.zeros(len(found.A))
    for b in found.clients():
        step = eta_l / b.shape[1]
        P = _powers(np.eye(found.shape.dim) - step[:, None, None] * found.A, b.shape[1])
        parts = [_noise(P, step, b, k) for k in range(b.shape[1] + 1)]
        mean, before = found.start, np.zeros_like(found.A)
        for _ in range(found.shape.E):
            for k in range(b.shape[1]):
                away = np.einsum("bij,bj->bi", P[k], mean) + parts[k][0] - found.start
                spread = P[k] @ before @ P[k].transpose(0, 2, 1) + parts[k][1]
                result += (away**2).sum(1) + np.einsum("bii->b", spread)
            mean = np.einsum("bij,bj->bi", P[-1], mean) + parts[-1][0]
            before = P[-1] @ before @ P[-1].transpose(0, 2, 1) + parts[-1][1]
    return result / (total * found.shape.E)


class SampleSearch:
    """A statement about FedShuffle compiled for double precision."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        metric, own = statement.metric, {s.name: s for s in statement.symbols}
        check_searchable(statement, _METRICS)
        steps = [name for name in statement.parameters if own[name].dimension == STEP] or [
            s.name for s in statement.symbols if s.name == "eta_l"
        ]
        if len(steps) != 1:
            raise Unsupported(f"{statement.best_id}: the search needs exactly one local step size.")
        self.step, self.index = steps[0], metric.index
        self.keys = {s.name: s.reported or (s.name if s.index else "") for s in statement.symbols}
        self.names = [s.name for s in statement.symbols]
        sample = Genes(Shape((1,), 1, 1, Fraction(1)), np.zeros((1, 8))).decode()
        given = {*constants_of(sample), self.step, "E", "eta_g", self.index, "drift_0"}
        unknown = [name for name, key in self.keys.items() if key not in given]
        if unknown:
            raise Unsupported(f"{statement.best_id}: the search gives no value to {', '.join(sorted(unknown))}.")
        symbols = [own[name].expr for name in self.names]
        late = index_conditions(statement)

        def compiled(expr: Any, more: tuple[Any, ...] = ()) -> Callable[..., Any]:
            return sp.lambdify([*symbols, *more], expr, "numpy", cse=True)

        if not any(self._speaks_of(e) for e in EPOCHS):
            raise Unsupported(f"{statement.best_id}: the search carries out FedShuffle, of which it does not speak.")
        self.bound, self.scale = compiled(statement.bound), compiled(metric.scale)
        self.rounds = compiled(metric.rounds)
        self.weights = None if metric.weights is None else compiled(metric.weights, (ROUND,))
        self.gaps = [compiled(difference(c.relation)) for c in statement.conditions if c not in late]
        self.late = [compiled(difference(c.relation)) for c in late]
        self.trivial = compiled(sp.nan if statement.trivial is None else statement.trivial)

    def draw(self, random: np.random.Generator) -> Genes:
        """A fresh batch."""
        sizes = tuple(int(s) for s in random.integers(1, 4, size=int(random.integers(1, 3))))
        eta_g = Fraction(int(random.choice([1, 1, 2, 4])))
        E = int(random.choice([e for e in EPOCHS if self._speaks_of(e)]))
        shape = Shape(sizes, int(random.integers(1, 3)), E, eta_g)
        return Genes(shape, random.standard_normal((BATCH, _gene_count(shape))))

    def _speaks_of(self, E: int) -> bool:
        """Whether the method with so many epochs is one that the statement is about."""
        assert self.statement.algorithm is not None
        return self.statement.algorithm.kind in algorithms(build_method({"kind": "fedshuffle", "E": E, "eta_l": 1}))

    def _values(self, found: Samples) -> dict[str, Any]:
        own = {**constants_of(found), "E": float(found.shape.E), "eta_g": float(found.shape.eta_g)}
        return {name: own[key] for name, key in self.keys.items() if key in own}

    def _arguments(self, values: Mapping[str, Any], step: Floats, index: float = 1.0) -> list[Any]:
        return [step if n == self.step else index if n == self.index else values[n] for n in self.names]

    def _in_scope(self, values: Mapping[str, Any], step: Floats) -> Any:
        inside: Any = np.ones(len(step), dtype=bool)
        with np.errstate(all="ignore"):
            for gap in self.gaps:
                inside &= gap(*self._arguments(values, step)) >= 0
        return inside

    def _largest(self, values: Mapping[str, Any], unit: Floats) -> Floats:
        """Largest step in scope for each instance, from a log scan and bisection; NaN where there is none."""
        low = np.full(len(unit), np.nan)
        for power in np.arange(-6, 2.01, 0.5):
            low = np.where(self._in_scope(values, unit * 10.0**power), unit * 10.0**power, low)
        high = low * 10**0.5
        for _ in range(50):
            middle = np.sqrt(low * high)
            inside = self._in_scope(values, middle)
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return low

    def _scores(self, candidates: Genes) -> tuple[Samples, Floats, list[tuple[int, Floats]]]:
        """The instances, which are usable, and the score at each index (1 where there is none)."""
        from boundcheck.evidence.falsify import score_of

        found = candidates.decode()
        values = self._values(found)
        if "drift_0" in self.keys.values():
            values |= {name: np.ones(len(found.A)) for name, key in self.keys.items() if key == "drift_0"}
        step = self._largest(values, 1 / np.linalg.eigvalsh(found.A)[:, -1]) * found.edge
        usable = np.isfinite(step)
        step = np.where(usable, step, 1e-3)
        values |= {name: drift(found, step) for name, key in self.keys.items() if key == "drift_0"}
        result: list[tuple[int, Floats]] = []
        with np.errstate(all="ignore"):
            for index, raw in self._metric(found, values, step):
                metric = np.where(raw < self._rounding(found), 0.0, raw)
                at = self._arguments(values, step, float(index))
                score = score_of(metric * self.scale(*at), self.bound(*at), self.trivial(*at))
                for gap in self.late:
                    score = np.where(gap(*at) >= 0, score, -np.inf)
                result.append((index, np.where(usable, score, -np.inf)))
        return found, usable, result

    def _rounding(self, found: Samples) -> Floats:
        """Metrics below this are rounding, (B,)."""
        curvature = np.linalg.eigvalsh(found.A)
        reach2 = (found.start**2).sum(1) + (found.b**2).sum((1, 2)) / curvature[:, 0] ** 2
        power = {"gap": 1, "grad2": 2}.get(self.statement.metric.quantity, 0)
        return 1e-24 * curvature[:, -1] ** power * reach2

    def _metric(self, found: Samples, values: Mapping[str, Any], step: Floats) -> list[tuple[int, Floats]]:
        """The statement's metric without its scale, by index."""
        quantity = self.statement.metric.quantity
        if quantity == "drift":
            return [(1, drift(found, step))]
        if self.index is None and self.weights is None:
            done = int(self.rounds(*self._arguments(values, step)))
            return [(1, moments(found, step, done)[quantity][:, done])] if done <= LAST else []
        curve = moments(found, step, LAST)[quantity]
        ends = [2**k for k in range(9)]
        if self.weights is None:
            return [(end, curve[:, end]) for end in ends]
        ones = np.ones(len(step))
        weights = np.stack([self.weights(*self._arguments(values, step), r) * ones for r in range(LAST)], 1)
        top, bottom = np.cumsum(weights * curve[:, :LAST], axis=1), np.cumsum(weights, axis=1)
        return [(end, top[:, end - 1] / bottom[:, end - 1]) for end in ends]

    def score(self, candidates: Genes) -> Floats:
        """Largest score over the indices, (B,): positive where the metric exceeds the bound, -inf out of scope."""
        _, usable, scores = self._scores(candidates)
        best = np.full(len(usable), -np.inf)
        for _, score in scores:
            best = np.fmax(best, score)
        return best

    def confirm(self, candidates: Genes, at: int, provenance: Mapping[str, Any]) -> Witness | None:
        """The candidate as a shrunk witness in exact arithmetic, or None when exactness takes it back."""
        one = replace(candidates, genes=candidates.genes[at : at + 1])
        found, _, scores = self._scores(one)
        violating = [index for index, score in scores if score[0] > PROMISING]
        return Shrinking(self.statement, self.step, found).witness(violating, provenance) if violating else None
