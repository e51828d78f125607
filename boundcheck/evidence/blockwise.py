"""The falsifier's family for models whose blocks are averaged: a few clients, small quadratics, correlated noise.

Client i holds samples with the gradients a_i H x - b_i + z and a_i H x - b_i - z for one or two noise vectors z (d,):
the noise of a step may point in any direction across the blocks of the model. H = G G', G (d, r) with r from 1 to
d, either as it is or with the entries between two blocks set to 0; the weighted mean of the b_i is 0, so that the
origin is a minimiser. What a batch draws besides: the number of clients, the interval, a partition and an order of the
blocks, the clients' weights. Which of these a statement leaves open its hypotheses say; nothing here refers to a
theorem or to a known example.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from boundcheck.engines.curve import Floats
from boundcheck.errors import Unsupported
from boundcheck.evidence.blockwise_constants import constants_of
from boundcheck.evidence.blockwise_shrinking import BlockShrinking
from boundcheck.evidence.searchable import check_searchable
from boundcheck.evidence.witness import Witness
from boundcheck.theory.dimension import STEP
from boundcheck.theory.scope import difference
from boundcheck.theory.statement import Statement

__all__ = ["KINDS", "BlockGenes", "BlockSearch", "BlockShape", "Workers", "gene_count", "mean_grad2"]

KINDS = ("block_averaging",)
BATCH = 512
REACH = 4.0
PROMISING = 1e-6
MOST_BLOCKS = 10
LAST, LAST_STEPWISE = 2**13, 2**7  # rounds that are averaged, in closed form and one by one


@dataclass(frozen=True)
class BlockShape:
    """What a batch has in common.

    partition: coordinates of each block, tau of them. order: of the averages. weights: p_i. data: whether averages have
    these weights rather than 1/m. coupled: whether H has entries between blocks. rank, pairs: columns of G, noise
    vectors a client. alike: whether all clients have one objective. scaled: whether the a_i differ.
    """

    partition: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    weights: tuple[Fraction, ...]
    data: bool
    coupled: bool
    rank: int
    pairs: int
    alike: bool
    scaled: bool

    @property
    def m(self) -> int:
        return len(self.weights)

    @property
    def tau(self) -> int:
        return len(self.partition)

    @property
    def dim(self) -> int:
        return sum(map(len, self.partition))

    @property
    def averaging(self) -> Floats:
        """The weights of the averages, (m,)."""
        return np.array([float(w) for w in self.weights]) if self.data else np.full(self.m, 1 / self.m)

    def mask(self) -> Floats:
        """(d, d): 1 where H may have an entry."""
        block = np.empty(self.dim, dtype=int)
        for j, coordinates in enumerate(self.partition):
            block[[*coordinates]] = j
        return (self.coupled | (block[:, None] == block[None, :])).astype(float)


@dataclass(frozen=True)
class Workers:
    """B instances: factor G (B, d, r), a (B, m), b (B, m, d), noise z (B, m, pairs, d), start (B, d), edge (B,)."""

    shape: BlockShape
    factor: Floats
    a: Floats
    b: Floats
    noise: Floats
    start: Floats
    edge: Floats

    @property
    def H(self) -> Floats:
        """(B, d, d)."""
        return self.shape.mask() * (self.factor @ self.factor.transpose(0, 2, 1))

    @property
    def covariance(self) -> Floats:
        """Of the noise of a step of each client, (B, m, d, d)."""
        return np.einsum("bmsi,bmsj->bmij", self.noise, self.noise) / self.shape.pairs


def gene_count(shape: BlockShape) -> int:
    """Numbers that make an instance of this shape."""
    sources = 1 if shape.alike else shape.m
    own = 0 if shape.alike else (shape.m - 1) * shape.dim
    return 6 + shape.dim * shape.rank + sources * shape.pairs * shape.dim + own + shape.m + shape.dim


@dataclass(frozen=True)
class BlockGenes:
    """Candidates of one shape: genes (B, G) in an unbounded search space."""

    shape: BlockShape
    genes: Floats

    def offspring(self, random: np.random.Generator, width: float) -> BlockGenes:
        """These and mutants of them, a whole batch."""
        children = self.genes[random.integers(len(self.genes), size=BATCH - len(self.genes))]
        mask = random.random(children.shape) < 0.5
        children = children + width * mask * random.standard_normal(children.shape)
        return replace(self, genes=np.clip(np.concatenate([self.genes, children]), -REACH, REACH))

    def decode(self) -> Workers:
        """The instances."""
        shape, count = self.shape, len(self.genes)
        column = iter(self.genes.T)
        scale, noise, push, away, spread = (np.exp(2 * next(column)) for _ in range(5))
        edge = np.minimum(1 - 1e-9, np.exp(np.minimum(0.0, 2 * next(column))))

        def table(*sizes: int) -> Floats:
            flat = [next(column) for _ in range(int(np.prod(sizes)))]
            return np.stack(flat, -1).reshape(count, *sizes)

        factor = table(shape.dim, shape.rank) * np.sqrt(scale)[:, None, None]
        sources = 1 if shape.alike else shape.m
        z = table(sources, shape.pairs, shape.dim) * noise[:, None, None, None]
        z = np.broadcast_to(z, (count, shape.m, shape.pairs, shape.dim))
        b = np.zeros((count, shape.m, shape.dim))
        if not shape.alike:
            p = np.array([float(w) for w in shape.weights])
            b[:, :-1] = table(shape.m - 1, shape.dim) * np.where(push < 0.1, 0.0, push)[:, None, None]
            b[:, -1] = -np.einsum("i,bid->bd", p[:-1], b[:, :-1]) / p[-1]
        a = 1 + table(shape.m) * (spread[:, None] / 4 if shape.scaled else 0.0)
        start = table(shape.dim) * np.where(away < 0.1, 0.0, away)[:, None]  # some start at the minimiser
        return Workers(shape, factor, a, b, z, start, edge)


# --- the metric -----------------------------------------------------------------------------------------------


def mean_grad2(found: Workers, step: Floats) -> list[tuple[int, Floats]]:
    """The mean of E|grad F(u_k)|^2 over the first K rounds, (B,), by K."""
    return _stepwise(found, step) if found.shape.scaled else _closed(found, step)


def _closed(found: Workers, step: Floats) -> list[tuple[int, Floats]]:
    """With one Hessian for all, each eigenvector of H has its own recursion, and any averages give the same u."""
    w, H = found.shape.averaging, found.H
    values, basis = np.linalg.eigh(H)
    values = np.where(values > 1e-12 * values[:, -1:], values, 0.0)
    moving = values > 0

    def turned(v: Floats) -> Floats:
        return np.einsum("bda,bd->ba", basis, v)

    first = values * turned(found.start)
    end = np.where(moving, turned(np.einsum("i,bid->bd", w, found.b)), 0.0)
    fresh = np.einsum("i,bipq->bpq", w * w, found.covariance)
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


def _stepwise(found: Workers, step: Floats) -> list[tuple[int, Floats]]:
    """All workers' means (B, m, d) and covariances (B, m, m, d, d), round by round."""
    shape, w, H = found.shape, found.shape.averaging, found.H
    m, d = shape.m, shape.dim
    p = np.array([float(v) for v in shape.weights])
    whole = np.einsum("i,bi->b", p, found.a)
    move = np.eye(d) - step[:, None, None, None] * found.a[:, :, None, None] * H[:, None]
    fresh = step[:, None, None, None] ** 2 * found.covariance
    mean = np.repeat(found.start[:, None], m, axis=1)
    spread = np.zeros((len(step), m, m, d, d))
    total = np.zeros(len(step))
    result: list[tuple[int, Floats]] = []
    for k in range(LAST_STEPWISE):
        slope = whole[:, None] * np.einsum("bpq,i,biq->bp", H, w, mean)
        around = np.einsum("i,j,bijpq->bpq", w, w, spread)
        total += (slope**2).sum(1) + whole**2 * np.einsum("bpq,bqr,brp->b", H, around, H)
        if k + 1 & k == 0:
            result.append((k + 1, total / (k + 1)))
        mean = np.einsum("bipq,biq->bip", move, mean) + step[:, None, None] * found.b
        spread = move[:, :, None] @ spread @ move[:, None].transpose(0, 1, 2, 4, 3)
        spread[:, range(m), range(m)] += fresh
        met = [*shape.partition[shape.order[k % shape.tau]]]
        mean[:, :, met] = np.einsum("i,biq->bq", w, mean[:, :, met])[:, None]
        spread[:, :, :, met] = np.einsum("i,bijpq->bjpq", w, spread[:, :, :, met])[:, None]
        spread[:, :, :, :, met] = np.einsum("j,bijpq->bipq", w, spread[:, :, :, :, met])[:, :, None]
    return result


# --- the search -----------------------------------------------------------------------------------------------


class BlockSearch:
    """A statement about averaged blocks compiled for double precision."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        metric, own = statement.metric, {s.name: s for s in statement.symbols}
        plain = metric.weights == 1 and metric.index is not None and metric.rounds == own[metric.index].expr
        check_searchable(statement, ("grad2",), "as a plain mean over the rounds", fits=plain)
        steps = [name for name in statement.parameters if own[name].dimension == STEP]
        if len(steps) != 1:
            raise Unsupported(f"{statement.best_id}: the search needs exactly one step size.")
        self.step, self.index = steps[0], str(metric.index)
        self.keys = {s.name: s.reported or (s.name if s.index else "") for s in statement.symbols}
        self.names = [s.name for s in statement.symbols]
        self.hypotheses = {a.name for a in statement.assumptions}
        sample = self._genes(np.random.default_rng(0), 1).decode()
        unknown = [n for n, key in self.keys.items() if key not in {*constants_of(sample), self.step, self.index}]
        if unknown:
            raise Unsupported(f"{statement.best_id}: the search gives no value to {', '.join(sorted(unknown))}.")
        symbols = [own[name].expr for name in self.names]

        def compiled(expr: Any) -> Callable[..., Any]:
            return sp.lambdify(symbols, expr, "numpy", cse=True)

        self.bound = compiled(statement.bound)
        self.gaps = [compiled(difference(c.relation)) for c in statement.conditions]
        self.trivial = compiled(sp.nan if statement.trivial is None else statement.trivial)

    def draw(self, random: np.random.Generator) -> BlockGenes:
        """A fresh batch."""
        return self._genes(random, BATCH)

    def _genes(self, random: np.random.Generator, count: int) -> BlockGenes:
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
        shape = BlockShape(blocks, order, weights, data, coupled, rank, pairs, alike, scaled)
        return BlockGenes(shape, random.standard_normal((count, gene_count(shape))))

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
        for power in np.arange(-4, 2.01, 0.5):
            low = np.where(self._in_scope(values, unit * 10.0**power), unit * 10.0**power, low)
        high = low * 10**0.5
        for _ in range(50):
            middle = np.sqrt(low * high)
            inside = self._in_scope(values, middle)
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return low

    def _scores(self, candidates: BlockGenes) -> tuple[Workers, Any, list[tuple[int, Floats]]]:
        """The instances, which are usable, and the score at each number of rounds."""
        from boundcheck.evidence.falsify import score_of

        found = candidates.decode()
        known = constants_of(found)
        values = {name: known[key] for name, key in self.keys.items() if key in known}
        bounded = found.a @ np.array([float(w) for w in candidates.shape.weights]) > 0.1
        step = self._largest(values, 1 / known["Lmax_G"]) * found.edge
        usable = np.isfinite(step) & bounded
        step = np.where(usable, step, 1e-3 / known["Lmax_G"])
        slope = (np.einsum("bpq,bq->bp", found.H, found.start) ** 2).sum(1)
        rounding = 1e-20 * (slope + (found.b**2).sum((1, 2)) + (found.noise**2).sum((1, 2, 3)))
        result: list[tuple[int, Floats]] = []
        with np.errstate(all="ignore"):
            for index, raw in mean_grad2(found, step):
                at = self._arguments(values, step, float(index))
                score = score_of(np.where(raw < rounding, 0.0, raw), self.bound(*at), self.trivial(*at))
                result.append((index, np.where(usable & ~np.isnan(score), score, -np.inf)))
        return found, usable, result

    def score(self, candidates: BlockGenes) -> Floats:
        """Largest score over the numbers of rounds, (B,): positive where the metric exceeds the bound."""
        _, usable, scores = self._scores(candidates)
        best = np.full(len(usable), -np.inf)
        for _, score in scores:
            best = np.fmax(best, score)
        return best

    def confirm(self, candidates: BlockGenes, at: int, provenance: Mapping[str, Any]) -> Witness | None:
        """The candidate as a shrunk witness in exact arithmetic, or None when exactness takes it back."""
        one = replace(candidates, genes=candidates.genes[at : at + 1])
        found, _, scores = self._scores(one)
        violating = {index: float(score[0]) for index, score in scores if score[0] > PROMISING}
        return BlockShrinking(self.statement, self.step, found).witness(violating, provenance) if violating else None
