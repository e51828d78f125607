"""Instances for models whose blocks are averaged: a few clients, small quadratics, correlated noise.

Client i holds samples with the gradients a_i H x - b_i + z and a_i H x - b_i - z for one or two noise vectors z (d,),
so that the noise of a step may point in any direction across the blocks of the model. H = G G', G (d, r) with r from 1
to d, either as it is or with the entries between two blocks set to 0; the weighted mean of the b_i is 0, so that the
origin is a minimiser.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_exact
from boundcheck.engines.curve import Floats
from boundcheck.falsify.float_statement import Known
from boundcheck.falsify.generator import Genes, Numbers, shares
from boundcheck.falsify.generators.block_constants import constants_of
from boundcheck.falsify.generators.block_shape import Shape, covariance, hessian, pushes
from boundcheck.falsify.generators.reach import not_covered
from boundcheck.falsify.generators.special import Special, texts
from boundcheck.methods.parts.exchange import even_blocks
from boundcheck.theory.dimension import STEP
from boundcheck.theory.statement import Statement

MOST_BLOCKS = 10
LAST, LAST_STEPWISE = 2**13, 2**7  # rounds that are averaged, in closed form and one by one
BOUNDED = 0.1  # least weighted mean of the a_i


class AveragedBlocks(Special):
    """Statements about the mean of E|grad F(u_k)|^2 over the rounds of partial averaging.

    The numbers of an instance: factor G (d, r), a (m,), b (m - 1, d), noise z (m or 1, pairs, d) and start (d,).
    """

    kinds = ("block_averaging",)
    decides = (
        *("smooth_clients", "smooth_blocks", "smooth_separable", "smooth_weighted", "smooth_globally", "bounded_below"),
        *("block_variance", "block_dissimilarity", "total_dissimilarity", "iid_clients", "plain_mean"),
        *("averages_as_objective", "averages_uniformly"),
    )
    participation, sampling = "all clients in every round", "one of up to four samples a step"
    curvature = "Lmax_G"

    def __init__(self, statement: Statement) -> None:
        metric, own = statement.metric, {s.name: s for s in statement.symbols}
        plain = metric.weights == 1 and metric.index is not None and metric.rounds == own[metric.index].expr
        reasons = not_covered(statement, ("grad2",), "as a plain mean over the rounds", fits=plain)
        steps = [name for name in statement.parameters if own[name].dimension == STEP]
        self.hypotheses = {a.name for a in statement.assumptions}
        shape = self.draw(np.random.default_rng(0))
        sample = {name: np.ones((1, *sizes)) for name, sizes in self.genes(shape).items()}
        known = self.constants(shape, self.decode(shape, sample))
        self.claimed = self.compiled(statement, steps, known, reasons)

    def draw(self, random: np.random.Generator) -> Shape:
        alike = "iid_clients" in self.hypotheses or bool(random.random() < 0.4)
        m, tau = int(random.integers(2, 5)), int(random.integers(2, MOST_BLOCKS + 1))
        dim = tau + int(random.integers(0, 3))
        cuts = sorted(int(v) for v in random.choice(np.arange(1, dim), size=tau - 1, replace=False))
        places = [int(v) for v in random.permutation(dim)]
        blocks = tuple(tuple(sorted(places[i:j])) for i, j in zip([0, *cuts], [*cuts, dim], strict=True))
        order = tuple(int(v) for v in random.permutation(tau))
        counts = [1] * m
        if not {"iid_clients", "plain_mean"} & self.hypotheses:
            counts = [int(v) for v in random.integers(1, 4, size=m)]
        weights = tuple(Fraction(v, sum(counts)) for v in counts)
        coupled = "smooth_separable" not in self.hypotheses and bool(random.random() < 0.75)
        rank, pairs = int(random.integers(1, dim + 1)), int(random.integers(1, 3))
        rank = 1 if random.random() < 0.5 else rank
        scaled = not alike and bool(random.random() < 0.3) and tau <= 4
        data = "averages_uniformly" not in self.hypotheses
        return Shape(blocks, order, weights, data, coupled, rank, pairs, alike, scaled)

    def genes(self, shape: Shape) -> Mapping[str, tuple[int, ...]]:
        single = dict.fromkeys(("scale", "noise", "push", "away", "spread", "share"), ())
        m, d = shape.m, shape.dim
        clients = {"z": (1 if shape.alike else m, shape.pairs, d), "b": (m - 1, d), "a": (m,)}
        return {**single, "factor": (d, shape.rank), **clients, "start": (d,)}

    def decode(self, shape: Shape, genes: Genes) -> Numbers:
        scale, noise, push, away, spread = (
            np.exp(2 * genes[name]) for name in ("scale", "noise", "push", "away", "spread")
        )
        return {
            "factor": np.sqrt(scale)[:, None, None] * genes["factor"],
            "a": 1 + (spread[:, None] / 4 if shape.scaled else 0.0) * genes["a"],
            "b": np.where((push < 0.1) | shape.alike, 0.0, push)[:, None, None] * genes["b"],
            "noise": noise[:, None, None, None] * genes["z"],
            "start": np.where(away < 0.1, 0.0, away)[:, None] * genes["start"],  # some start at the minimiser
            "share": shares(2 * genes["share"]),
        }

    def constants(self, shape: Shape, numbers: Numbers) -> Known:
        known = constants_of(shape, numbers)
        return {**known, "gap_0": np.where(numbers["a"] @ shape.p > BOUNDED, known["gap_0"], np.nan)}

    def meets(self, shape: Shape, numbers: Numbers, known: Known) -> Mapping[str, Any]:
        """Hypotheses about the shape alone."""
        even = len(set(shape.weights)) == 1
        return {
            "smooth_separable": not shape.coupled,
            "iid_clients": shape.alike and even,
            "plain_mean": even,
            "averages_as_objective": shape.data or even,
            "averages_uniformly": even or not shape.data,
        }

    def curve(self, shape: Shape, numbers: Numbers, known: Known, step: Floats) -> Iterable[tuple[int, Floats]]:
        slope = np.einsum("bpq,bq->bp", hessian(shape, numbers), numbers["start"])
        sizes = (slope**2).sum(1) + (numbers["b"] ** 2).sum((1, 2)) + (numbers["noise"] ** 2).sum((1, 2, 3))
        for rounds, mean in mean_grad2(shape, numbers, step):
            yield rounds, np.where(mean < 1e-20 * sizes, 0.0, mean)

    def problem(self, shape: Shape, numbers: Numbers) -> dict[str, Any]:
        H, noise = hessian(shape, numbers), numbers["noise"]
        clients: list[dict[str, Any]] = []
        for i, (a, b) in enumerate(zip(numbers["a"], pushes(shape, numbers), strict=True)):
            vectors = noise[i % len(noise)]
            signed = [b] if not vectors.any() else [b + s * z for z in vectors for s in (1, -1)]
            parts = [{"A": texts(a * H), "b": texts(own)} for own in signed]
            clients.append(parts[0] if len(parts) == 1 else {"components": parts})
        weights = [format_exact(w) for w in shape.weights]
        return {"kind": "quadratics", "clients": clients, "weights": weights, "start": texts(numbers["start"])}

    def method(self, shape: Shape, numbers: Numbers) -> dict[str, Any]:
        method: dict[str, Any] = {"kind": "block_averaging", "tau": shape.tau}
        if shape.partition != even_blocks(shape.dim, shape.tau):
            method["partition"] = [[*block] for block in shape.partition]
        if shape.order != tuple(range(shape.tau)):
            method["order"] = [*shape.order]
        return {**method, "weights": "data"} if shape.data else method

    def simpler(self, shape: Shape, numbers: Numbers) -> Iterator[tuple[Shape, Numbers]]:
        yield from (found for k in reversed(range(shape.dim)) if (found := without_coordinate(shape, numbers, k)))
        for k in reversed(range(shape.m)):
            if shape.m > 2:
                a, b = np.delete(numbers["a"], k), np.delete(pushes(shape, numbers), k, 0)[:-1]
                noise = numbers["noise"] if shape.alike else np.delete(numbers["noise"], k, 0)
                yield shape.without_client(k), {**numbers, "a": a, "b": b, "noise": noise}
        if shape.order != tuple(range(shape.tau)):
            yield replace(shape, order=tuple(range(shape.tau))), numbers
        if shape.partition != even_blocks(shape.dim, shape.tau):
            yield replace(shape, partition=even_blocks(shape.dim, shape.tau)), numbers
        if shape.pairs > 1:
            yield replace(shape, pairs=1), {**numbers, "noise": numbers["noise"][:, :1]}
        if shape.rank > 1:
            yield replace(shape, rank=1), {**numbers, "factor": numbers["factor"][:, :1]}


def without_coordinate(shape: Shape, numbers: Numbers, k: int) -> tuple[Shape, Numbers] | None:
    """The instance without coordinate k, and without its block if that has no other; None if too little is left."""
    smaller = shape.without_coordinate(k)
    if smaller is None:
        return None
    axes = {"factor": 0, "b": 1, "noise": 2, "start": 0}
    return smaller, {name: np.delete(v, k, axes[name]) if name in axes else v for name, v in numbers.items()}


# --- the metric -----------------------------------------------------------------------------------------------


def mean_grad2(shape: Shape, numbers: Numbers, step: Floats) -> list[tuple[int, Floats]]:
    """The mean of E|grad F(u_k)|^2 over the first K rounds, (B,), by K."""
    return _stepwise(shape, numbers, step) if shape.scaled else _closed(shape, numbers, step)


def _closed(shape: Shape, numbers: Numbers, step: Floats) -> list[tuple[int, Floats]]:
    """With one Hessian for all, each eigenvector of H has its own recursion, and any averages give the same u."""
    w, H = shape.averaging, hessian(shape, numbers)
    values, basis = np.linalg.eigh(H)
    values = np.where(values > 1e-12 * values[:, -1:], values, 0.0)
    moving = values > 0

    def turned(v: Floats) -> Floats:
        return np.einsum("bda,bd->ba", basis, v)

    first = values * turned(numbers["start"])
    end = np.where(moving, turned(np.einsum("i,bid->bd", w, pushes(shape, numbers))), 0.0)
    fresh = np.einsum("i,bipq->bpq", w * w, covariance(shape, numbers))
    noise = np.einsum("bpa,bpq,bqa->ba", basis, fresh, basis)
    move = step[:, None] * values
    rho = 1 - move
    floor = np.where(moving, noise * move**2 / np.where(moving, move * (2 - move), 1.0), 0.0)
    result: list[tuple[int, Floats]] = []
    for K in (2**k for k in range(LAST.bit_length())):
        one, two = _mean_power(rho, K), _mean_power(rho * rho, K)
        square = end**2 + 2 * end * (first - end) * one + (first - end) ** 2 * two
        result.append((K, (square + floor * (1 - two)).sum(1)))
    return result


def _mean_power(rho: Floats, K: int) -> Floats:
    """The mean of rho^k over k = 0, ..., K - 1."""
    still = np.abs(1 - rho) < 1e-14
    return np.where(still, 1.0, (1 - rho**K) / (K * np.where(still, 1.0, 1 - rho)))


def _stepwise(shape: Shape, numbers: Numbers, step: Floats) -> list[tuple[int, Floats]]:
    """All workers' means (B, m, d) and covariances (B, m, m, d, d), round by round."""
    w, H, a = shape.averaging, hessian(shape, numbers), numbers["a"]
    m, d = shape.m, shape.dim
    whole = a @ shape.p
    move = np.eye(d) - step[:, None, None, None] * a[:, :, None, None] * H[:, None]
    fresh = step[:, None, None, None] ** 2 * covariance(shape, numbers)
    mean = np.repeat(numbers["start"][:, None], m, axis=1)
    spread = np.zeros((len(step), m, m, d, d))
    total = np.zeros(len(step))
    result: list[tuple[int, Floats]] = []
    for k in range(LAST_STEPWISE):
        slope = whole[:, None] * np.einsum("bpq,i,biq->bp", H, w, mean)
        around = np.einsum("i,j,bijpq->bpq", w, w, spread)
        total += (slope**2).sum(1) + whole**2 * np.einsum("bpq,bqr,brp->b", H, around, H)
        if k + 1 & k == 0:
            result.append((k + 1, total / (k + 1)))
        mean = np.einsum("bipq,biq->bip", move, mean) + step[:, None, None] * pushes(shape, numbers)
        spread = move[:, :, None] @ spread @ move[:, None].transpose(0, 1, 2, 4, 3)
        spread[:, range(m), range(m)] += fresh
        met = [*shape.partition[shape.order[k % shape.tau]]]
        mean[:, :, met] = np.einsum("i,biq->bq", w, mean[:, :, met])[:, None]
        spread[:, :, :, met] = np.einsum("i,bijpq->bjpq", w, spread[:, :, :, met])[:, None]
        spread[:, :, :, :, met] = np.einsum("j,bijpq->bipq", w, spread[:, :, :, :, met])[:, :, None]
    return result
