"""Instances for reshuffled local epochs: one or two clients with up to three samples each.

All samples share one positive definite Hessian A (dimension 1 or 2) and differ in their linear terms, so that
expectations over orders and rounds are short moment recursions. Clients weigh |D_i|/|D| and all take part.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_exact
from boundcheck.engines.curve import Floats
from boundcheck.falsify.float_statement import Known
from boundcheck.falsify.generator import Genes, Numbers, shares
from boundcheck.falsify.generators.reach import not_covered
from boundcheck.falsify.generators.special import Special, balanced, on_one_axis, rotated, symmetric, texts
from boundcheck.methods.build import algorithms
from boundcheck.methods.build import build as build_method
from boundcheck.theory.dimension import STEP
from boundcheck.theory.statement import Statement

EPOCHS = (1, 2, 3)
LAST = 256  # rounds that are carried out
_METRICS = ("dist2", "gap", "grad2", "drift")


@dataclass(frozen=True)
class Shape:
    """What a batch has in common: samples of each client, dimension, epochs and server step."""

    sizes: tuple[int, ...]
    dim: int
    E: int
    eta_g: Fraction

    def pushes(self, numbers: Numbers) -> list[Any]:
        """The b of each client's samples, (..., |D_i|, d)."""
        b = balanced(numbers["b"], (Fraction(1),) * sum(self.sizes))
        return np.split(b, np.cumsum(self.sizes)[:-1], axis=-2)


class ReshuffledSamples(Special):
    """Statements about FedShuffle."""

    kinds = ("fedshuffle", "fedshuffle_gen")
    participation, sampling = "all clients in every round", "epochs over reshuffled samples, one sample a step"
    decides = (
        *("smooth_clients", "smooth_samples", "convexity", "convex_clients", "convex_samples", "plain_mean"),
        *("strongly_convex_samples", "bounded_below", "finite_gradient_noise", "data_weights", "followed_objective"),
        *("gradient_dissimilarity", "relaxed_dissimilarity", "local_variance", "hessian_similarity"),
        "strong_quasi_convexity",
    )

    def __init__(self, statement: Statement) -> None:
        reasons = not_covered(statement, _METRICS)
        own = {s.name: s for s in statement.symbols}
        self.even = "plain_mean" in {a.name for a in statement.assumptions}
        steps = [name for name in statement.parameters if own[name].dimension == STEP] or [
            name for name in own if name == "eta_l"
        ]
        sample = Shape((1,), 1, 1, Fraction(1))
        known = self.constants(sample, {"A": np.ones((1, 1)), "b": np.zeros((1, 0, 1)), "start": np.ones((1, 1))})
        assert statement.algorithm is not None
        kind = statement.algorithm.kind
        built = {E: build_method({"kind": "fedshuffle", "E": E, "eta_l": 1}) for E in EPOCHS}
        self.epochs = [E for E, method in built.items() if kind in algorithms(method)]
        if not self.epochs:
            reasons.append("is about a method of which FedShuffle, which the search carries out, is no instance")
        self.claimed = self.compiled(statement, steps, {*known, "drift_0"}, reasons)

    def draw(self, random: np.random.Generator) -> Shape:
        sizes = tuple(int(s) for s in random.integers(1, 4, size=int(random.integers(1, 3))))
        if self.even:
            sizes = sizes[:1] * len(sizes)
        eta_g = Fraction(int(random.choice([1, 1, 2, 4])))
        E = int(random.choice(self.epochs))
        return Shape(sizes, int(random.integers(1, 3)), E, eta_g)

    def genes(self, shape: Shape) -> Mapping[str, tuple[int, ...]]:
        single = dict.fromkeys(("scale", "ratio", "angle", "noise", "away", "share"), ())
        return {**single, "b": (sum(shape.sizes), shape.dim), "start": (shape.dim,)}

    def decode(self, shape: Shape, genes: Genes) -> Numbers:
        scale, noise, away = np.exp(3 * genes["scale"]), np.exp(2 * genes["noise"]), np.exp(2 * genes["away"])
        eigenvalues = np.stack([np.ones(len(scale)), np.exp(-np.abs(3 * genes["ratio"]))], 1)
        A = rotated(eigenvalues, genes["angle"]) if shape.dim == 2 else eigenvalues[:, :1]
        b = genes["b"] - genes["b"].mean(1, keepdims=True)
        return {
            "A": scale[:, None] * A,
            "b": ((scale * noise)[:, None, None] * b)[:, :-1],
            "start": np.where(away < 0.1, 0.0, away)[:, None] * genes["start"],  # some start at the minimiser
            "share": shares(genes["share"]),
        }

    def constants(self, shape: Shape, numbers: Numbers) -> Known:
        # with one Hessian for all, B2 = 1 and P = 0 serve, with G2 and the noise the variances of the linear terms
        A, start, clients = symmetric(numbers["A"]), numbers["start"], shape.pushes(numbers)
        total, curvature = sum(shape.sizes), np.linalg.eigvalsh(A)
        means = np.stack([b.mean(1) for b in clients], 1)  # (B, n, d)
        G2 = ((means**2).sum(2) * (np.array(shape.sizes) / total)).sum(1)
        noise = sum((((b - b.mean(1, keepdims=True)) ** 2).sum(2).mean(1) for b in clients), np.zeros(len(A)))
        slope = np.einsum("bij,bj->bi", A, start)
        return {
            **dict.fromkeys(("L", "L_ij"), curvature[:, -1]),
            **dict.fromkeys(("mu", "mu_ij"), curvature[:, 0]),
            **dict.fromkeys(("P2", "P2_gen", "delta", "M", "M1"), 0.0),
            **dict.fromkeys(("B2", "M2"), 1.0),
            "E": float(shape.E),
            "eta_g": float(shape.eta_g),
            "G2": G2,
            "noise2": noise / total,
            "noise2_gen": noise / total / (3 * shape.E**2),
            "W": float(shape.E),
            "sigma2": (means**2).sum(2).mean(1),
            "n": float(len(shape.sizes)),
            "dist2_0": (start**2).sum(1),
            "gap_0": (start * slope).sum(1) / 2,
            "grad2_0": (slope**2).sum(1),
            "client_grad2_0": G2 + (slope**2).sum(1),
        }

    def constants_of_step(self, shape: Shape, numbers: Numbers, step: Floats) -> Known:
        return {"drift_0": drift(shape, numbers, step)} if "drift_0" in self.claimed.keys.values() else {}

    def meets(self, shape: Shape, numbers: Numbers, known: Known) -> Mapping[str, Any]:
        """Clients have the weights of their numbers of samples."""
        return {"plain_mean": len(set(shape.sizes)) == 1}

    def curve(self, shape: Shape, numbers: Numbers, known: Known, step: Floats) -> Iterable[tuple[int, Floats]]:
        reach2 = known["dist2_0"] + (numbers["b"] ** 2).sum((1, 2)) / known["mu"] ** 2
        power = {"gap": 1, "grad2": 2}.get(self.claimed.statement.metric.quantity, 0)
        rounding = 1e-24 * known["L"] ** power * reach2
        for index, metric in self._curve(shape, numbers, known, step):
            yield index, np.where(metric < rounding, 0.0, metric)

    def _curve(self, shape: Shape, numbers: Numbers, known: Known, step: Floats) -> Iterable[tuple[int, Floats]]:
        metric = self.claimed.statement.metric
        if metric.quantity == "drift":
            return [(1, drift(shape, numbers, step))]
        if metric.index is None and metric.weights is None:
            done = self.claimed.rounds(known)
            return [(1, moments(shape, numbers, step, done)[metric.quantity][:, done])] if done <= LAST else []
        values = moments(shape, numbers, step, LAST)[metric.quantity]
        ends = [2**k for k in range(LAST.bit_length())]
        if metric.weights is None:
            return [(end, values[:, end]) for end in ends]
        weights = self.claimed.weights(known, step, LAST)
        top, bottom = np.cumsum(weights * values[:, :LAST], axis=1), np.cumsum(weights, axis=1)
        return [(end, top[:, end - 1] / bottom[:, end - 1]) for end in ends]

    def problem(self, shape: Shape, numbers: Numbers) -> dict[str, Any]:
        A, total = texts(symmetric(numbers["A"])), sum(shape.sizes)
        clients = [{"components": [{"A": A, "b": texts(b)} for b in own]} for own in shape.pushes(numbers)]
        weights = [format_exact(Fraction(size, total)) for size in shape.sizes]
        return {"kind": "quadratics", "clients": clients, "weights": weights, "start": texts(numbers["start"])}

    def method(self, shape: Shape, numbers: Numbers) -> dict[str, Any]:
        return {"kind": "fedshuffle", "E": shape.E, "eta_g": format_exact(shape.eta_g)}

    def simpler(self, shape: Shape, numbers: Numbers) -> Iterator[tuple[Shape, Numbers]]:
        A, start, pushes = numbers["A"], numbers["start"], shape.pushes(numbers)
        for k in range(len(shape.sizes) if len(shape.sizes) > 1 else 0):
            fewer = replace(shape, sizes=shape.sizes[:k] + shape.sizes[k + 1 :])
            yield fewer, {**numbers, "b": np.concatenate(pushes[:k] + pushes[k + 1 :])[:-1]}
        for axis in range(shape.dim if shape.dim > 1 else 0):
            line = {"A": on_one_axis(A, axis), "b": numbers["b"][:, [axis]], "start": start[[axis]]}
            yield replace(shape, dim=1), line
        for E in range(1, shape.E):
            yield replace(shape, E=E), numbers
        if shape.eta_g != 1:
            yield replace(shape, eta_g=Fraction(1)), numbers


# --- the moments of a run -------------------------------------------------------------------------------------


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


def _visits(shape: Shape, numbers: Numbers, eta_l: Floats) -> list[tuple[Floats, Floats, Floats]]:
    """Per client the map of a visit: y = T x + m + noise of covariance C."""
    A = symmetric(numbers["A"])
    result: list[tuple[Floats, Floats, Floats]] = []
    for b in shape.pushes(numbers):
        step = eta_l / b.shape[1]
        P = _powers(np.eye(shape.dim) - step[:, None, None] * A, b.shape[1])
        whole = P[-1]
        add, spread = _noise(P, step, b, b.shape[1])
        own, m, noise = P[0], np.zeros_like(add), np.zeros_like(spread)
        for _ in range(shape.E):
            own, m = whole @ own, np.einsum("bij,bj->bi", whole, m) + add
            noise = whole @ noise @ whole.transpose(0, 2, 1) + spread
        result.append((own, m, noise))
    return result


def moments(shape: Shape, numbers: Numbers, eta_l: Floats, rounds: int) -> dict[str, Floats]:
    """E dist2, E gap and E grad2 at rounds 0 to `rounds`, each (B, rounds + 1)."""
    A, start = symmetric(numbers["A"]), numbers["start"]
    total, eta_g, d = sum(shape.sizes), float(shape.eta_g), shape.dim
    linear = np.broadcast_to((1 - eta_g) * np.eye(d), A.shape)
    push, fresh = np.zeros_like(start), np.zeros_like(A)
    for size, (own, m, noise) in zip(shape.sizes, _visits(shape, numbers, eta_l), strict=True):
        a = eta_g * size / total
        linear, push, fresh = linear + a * own, push + a * m, fresh + a * a * noise
    mean, spread = start, np.zeros_like(A)
    forms = {"dist2": np.broadcast_to(np.eye(d), A.shape), "gap": A / 2, "grad2": A @ A}
    out = {name: np.empty((len(A), rounds + 1)) for name in forms}
    for r in range(rounds + 1):
        second = spread + mean[:, :, None] * mean[:, None, :]
        for name, form in forms.items():
            out[name][:, r] = np.einsum("bij,bij->b", form, second)
        mean = np.einsum("bij,bj->bi", linear, mean) + push
        spread = linear @ spread @ linear.transpose(0, 2, 1) + fresh
    return out


def drift(shape: Shape, numbers: Numbers, eta_l: Floats) -> Floats:
    """The mean over all local steps of the first round of E |y - x|^2, y the iterate before the step; (B,)."""
    A, start, total = symmetric(numbers["A"]), numbers["start"], sum(shape.sizes)
    result = np.zeros(len(A))
    for b in shape.pushes(numbers):
        step = eta_l / b.shape[1]
        P = _powers(np.eye(shape.dim) - step[:, None, None] * A, b.shape[1])
        parts = [_noise(P, step, b, k) for k in range(b.shape[1] + 1)]
        mean, before = start, np.zeros_like(A)
        for _ in range(shape.E):
            for k in range(b.shape[1]):
                away = np.einsum("bij,bj->bi", P[k], mean) + parts[k][0] - start
                spread = P[k] @ before @ P[k].transpose(0, 2, 1) + parts[k][1]
                result += (away**2).sum(1) + np.einsum("bii->b", spread)
            mean = np.einsum("bij,bj->bi", P[-1], mean) + parts[-1][0]
            before = P[-1] @ before @ P[-1].transpose(0, 2, 1) + parts[-1][1]
    return result / (total * shape.E)
