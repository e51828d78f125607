"""Search for a counterexample: seeded random and local search, then a witness in exact arithmetic.

The search knows the statement's symbols, conditions, bound and algorithm, and nothing else. Instances are
quadratics of two or three clients in the plane, indefinite clients allowed; parameters are drawn inside the
scope and on its edge; the score is positive exactly where the metric exceeds the bound. What scores above 0 in
double precision is rounded to short fractions as long as the violation, certified constants and scope
included, survives in exact arithmetic. A search that finds nothing proves nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import sympy as sp

from boundcheck.engines.batch import cycle_map, doublings
from boundcheck.engines.curve import Floats
from boundcheck.errors import Unsupported
from boundcheck.evidence.searchable import check_searchable
from boundcheck.evidence.witness import Witness, shrink
from boundcheck.methods.build import build as build_method
from boundcheck.methods.parts import Constant
from boundcheck.theory.scope import difference
from boundcheck.theory.statement import Statement

__all__ = ["FalsifyResult", "Search", "falsify", "score_of"]

BATCH = 512  # candidates a generation
PARENTS = 32
GENERATIONS = 14  # of local search before the next start
MOST = 64  # largest integer parameter that is drawn
NICHE = 0.1  # the genes of scale and condition number stay so near to those of their start
CYCLES = 2**20
PROMISING = 1e-6  # a score above this is tried in exact arithmetic
REACH = 4.0  # genes stay within this many standard deviations, which bounds the condition numbers
UNINFORMATIVE = -1e6
DOUBT = 1e-8  # promised decreases below this are rounding in double precision
EDGE = 1 - 1e-9  # "on the edge" of the scope in double precision


@dataclass(frozen=True)
class FalsifyResult:
    """What a search did. witness: None when nothing was found.

    best: the largest score seen in double precision; a positive one would be a violation there. A score is no ratio of
    metric and bound: it is log(metric/bound), in units of the promised decrease where that is small
    (`evidence.one_round`: the share of the promised decrease that is missing).
    """

    statement: str
    witness: Witness | None
    best: float
    instances: int
    seconds: float
    seed: int
    budget: float


@dataclass(frozen=True)
class _Candidates:
    """B instances of n clients: genes (B, G) in an unbounded search space, decoded by `_decode`.

    niche: where the first two genes (scale and condition number) are held. Left free they run to where all clients are
    alike: there the score is best on average, and no bound is broken.
    """

    n: int
    parameters: Mapping[str, int]  # integer parameters of the method, one choice for the batch
    niche: tuple[float, float]
    genes: Floats

    def offspring(self, random: np.random.Generator, width: float) -> _Candidates:
        """These and mutants of them, a whole batch; width: standard deviation of the mutated genes."""
        children = self.genes[random.integers(len(self.genes), size=BATCH - len(self.genes))]
        mask = random.random(children.shape) < 0.5
        children = children + width * mask * random.standard_normal(children.shape)
        genes = np.clip(np.concatenate([self.genes, children]), -REACH, REACH)
        for k, middle in enumerate(self.niche):
            genes[:, k] = np.clip(genes[:, k], middle - NICHE, middle + NICHE)
        return replace(self, genes=genes)


@dataclass(frozen=True)
class _Instances:
    A: Floats  # (B, n, 2, 2)
    b: Floats  # (B, n, 2); sums to zero over clients, so that the minimiser is the origin
    start: Floats  # (B, 2)
    edge: Floats  # (B,) share of the largest step in scope


def _gene_count(n: int) -> int:
    # curvatures and angle of the mean, scale of f, spread and matrices of the clients, gradients, start, edge
    return 2 + 1 + 1 + 3 * (n - 1) + 1 + 2 * (n - 1) + 1 + 1


def _decode(genes: Floats, n: int) -> _Instances:
    count = len(genes)
    column = iter(genes.T)
    scale = np.exp(3 * next(column))  # curvature unit
    ratio = np.exp(-np.abs(3 * next(column)))  # mu / lambda_max of the mean
    angle = next(column)
    c, s = np.cos(angle), np.sin(angle)
    rotation = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)
    diagonal = np.stack([ratio, np.ones(count)], -1)
    mean = rotation @ (diagonal[..., None] * rotation.transpose(0, 2, 1))
    spread = np.exp(2 * next(column) - 1)
    parts: list[Floats] = []
    for _ in range(n - 1):
        p, q, r = next(column), next(column), next(column)
        parts.append(np.stack([np.stack([p, q], -1), np.stack([q, r], -1)], -2))
    parts.append(-sum(parts, np.zeros_like(parts[0])))
    A = scale[:, None, None, None] * (mean[:, None] + spread[:, None, None, None] * np.stack(parts, 1))
    noise = scale * np.exp(2 * next(column))
    pushes: list[Floats] = [np.stack([next(column), next(column)], -1) for _ in range(n - 1)]
    pushes.append(-sum(pushes, np.zeros_like(pushes[0])))
    b = noise[:, None, None] * np.stack(pushes, 1)
    b[noise < 1e-3 * scale] = 0.0
    turn = next(column)
    start = np.stack([np.cos(turn), np.sin(turn)], -1)
    edge = np.minimum(EDGE, np.exp(np.minimum(0.0, next(column))))
    return _Instances(A, b, start, edge)


def falsify(
    statement: Statement,
    *,
    budget: float = 60.0,
    seed: int = 0,
    max_instances: int | None = None,
    on_progress: Callable[[float, float], None] | None = None,
) -> FalsifyResult:
    """Search for an instance in scope on which the metric exceeds the bound.

    budget: seconds. max_instances: stop after so many instead. Either only ends the search: what a seed finds does
    not depend on the clock. The kind of method chooses the family of instances (`evidence.families`).
    on_progress: called with (finished share, best score). Raises Unsupported for statements that the families
    do not reach (no algorithm, a limit, other metrics than dist2, random methods).
    """
    search = _search(statement)
    random = np.random.default_rng(seed)
    began = time.monotonic()
    best, instances = -np.inf, 0
    while True:
        parents = search.draw(random)
        width = 0.6
        for _ in range(GENERATIONS):
            scores = search.score(parents)
            instances += len(scores)
            order = np.argsort(-scores)
            best = max(best, float(scores[order[0]]))
            for candidate in order[:3]:
                if scores[candidate] > PROMISING:
                    found_by = {"search": "falsify", "seed": seed, "budget": f"{instances} instances"}
                    witness = search.confirm(parents, int(candidate), found_by)
                    if witness is not None:
                        spent = time.monotonic() - began
                        return FalsifyResult(statement.best_id, witness, best, instances, spent, seed, budget)
            spent = time.monotonic() - began
            done = spent / budget if max_instances is None else instances / max_instances
            if on_progress is not None:
                on_progress(min(1.0, done), best)
            if done >= 1:
                return FalsifyResult(statement.best_id, None, best, instances, spent, seed, budget)
            parents = replace(parents, genes=parents.genes[order[:PARENTS]]).offspring(random, width)
            width *= 0.85


class Search(Protocol):
    """What `falsify` asks of a family of instances; candidates hold `genes` (B, G) and make `offspring`."""

    def draw(self, random: np.random.Generator) -> Any:
        """A fresh batch of candidates."""
        ...

    def score(self, candidates: Any) -> Floats:
        """(B,): positive where the metric exceeds the bound, -inf out of scope."""
        ...

    def confirm(self, candidates: Any, at: int, provenance: Mapping[str, Any]) -> Witness | None:
        """One candidate as a witness in exact arithmetic, or None."""
        ...


def _search(statement: Statement) -> Search:
    from boundcheck.evidence.families import FAMILIES

    kind = "" if statement.algorithm is None else statement.algorithm.kind
    return FAMILIES.get(kind, _Search)(statement)


class _Search:
    """The statement compiled for double precision."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        check_searchable(statement, ("dist2",), prescribing=True)
        if statement.algorithm is None:
            raise Unsupported(f"{statement.best_id} names no method whose runs could be searched.")
        own = {s.name: s for s in statement.symbols}
        self.integers = [p for p in statement.parameters if own[p].integer]
        reals = [p for p in statement.parameters if not own[p].integer]
        if len(reals) != 1:
            raise Unsupported(f"{statement.best_id}: the search needs exactly one step size among the parameters.")
        self.step = reals[0]
        spec = {"kind": statement.algorithm.kind, **dict.fromkeys(self.integers, 2), self.step: Fraction(1)}
        if not isinstance(build_method(spec).schedule, Constant):
            raise Unsupported(f"{statement.best_id}: the search carries out constant step sizes only.")
        index = statement.metric.index
        self.names = [s.name for s in statement.symbols]
        unknown = set(self.names) - set(statement.parameters) - {index, "mu", "L", "n", "sigma2", "dist2_0"}
        if unknown:
            raise Unsupported(f"{statement.best_id}: the search gives no value to {', '.join(sorted(unknown))}.")
        symbols = [own[name].expr for name in self.names]
        self.bound = sp.lambdify(symbols, statement.bound, "numpy", cse=True)
        self.gaps = [sp.lambdify(symbols, difference(c.relation), "numpy", cse=True) for c in statement.conditions]
        self.rounds = sp.lambdify(symbols, statement.metric.rounds, "numpy")
        trivial = sp.nan if statement.trivial is None else statement.trivial
        self.trivial = sp.lambdify(symbols, trivial, "numpy")

    def draw(self, random: np.random.Generator) -> _Candidates:
        """A fresh batch: number of clients, integer parameters, niche, and random genes in it."""
        n = int(random.integers(2, 4))
        parameters = {name: int(np.exp(random.uniform(0, np.log(MOST)))) for name in self.integers}
        niche = (float(random.standard_normal()), float(random.uniform(0, 3)))
        genes = random.standard_normal((BATCH, _gene_count(n)))
        genes[:, :2] = np.array(niche) + NICHE * random.uniform(-1, 1, size=(BATCH, 2))
        return _Candidates(n, parameters, niche, genes)

    def values(self, instances: _Instances, candidates: _Candidates) -> dict[str, Any]:
        mean = instances.A.mean(1)
        curvature = np.linalg.eigvalsh(instances.A)
        return {
            "mu": np.linalg.eigvalsh(mean)[:, 0],
            "L": np.abs(curvature).max((1, 2)),
            "n": candidates.n,
            "sigma2": (instances.b**2).sum(2).mean(1),
            "dist2_0": (instances.start**2).sum(1),
            **candidates.parameters,
        }

    def in_scope(self, values: Mapping[str, Any], step: Floats) -> Any:
        arguments = [step if name == self.step else values.get(name, 1) for name in self.names]
        inside: Any = np.ones(len(step), dtype=bool)
        with np.errstate(all="ignore"):
            for gap in self.gaps:
                inside &= gap(*arguments) >= 0
        return inside

    def largest_step(self, values: Mapping[str, Any]) -> Floats:
        """Largest step in scope for each instance, from a log scan and bisection; NaN where there is none."""
        unit = 1 / values["L"]
        low = np.full(len(unit), np.nan)
        for power in np.arange(-14, 4.01, 0.5):
            trial = unit * 10.0**power
            low = np.where(self.in_scope(values, trial), trial, low)
        high = low * 10**0.5
        for _ in range(50):
            middle = np.sqrt(low * high)
            inside = self.in_scope(values, middle)
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        return low

    def score(self, candidates: _Candidates) -> Floats:
        """Largest score over the doubled cycle counts, (B,): positive where the metric exceeds the bound.

        -inf where out of scope. See `score_of` for its shape between.
        """
        instances = _decode(candidates.genes, candidates.n)
        values = self.values(instances, candidates)
        step = self.largest_step(values) * instances.edge
        usable = np.isfinite(step) & (values["mu"] > 0)
        best = np.full(len(step), -np.inf)
        for _, score in self._curve(candidates, instances, values, np.where(usable, step, 1.0)):
            best = np.fmax(best, score)
        return np.where(usable, best, -np.inf)

    def _curve(
        self, candidates: _Candidates, instances: _Instances, values: Mapping[str, Any], step: Floats
    ) -> list[tuple[Any, Floats]]:
        assert self.statement.algorithm is not None
        method = build_method({"kind": self.statement.algorithm.kind, **candidates.parameters, self.step: Fraction(1)})
        H, per_cycle = cycle_map(method, instances.A, instances.b, step)
        found: list[tuple[Any, Floats]] = []
        for K, x in doublings(H, instances.start, CYCLES):
            index = self._index_of(K * per_cycle, values)
            if index is None:
                continue
            arguments = [step if name == self.step else values.get(name, index) for name in self.names]
            with np.errstate(all="ignore"):
                found.append((index, score_of((x**2).sum(1), self.bound(*arguments), self.trivial(*arguments))))
        return found

    def _index_of(self, rounds: int, values: Mapping[str, Any]) -> int | None:
        """The statement's index at a number of rounds (affine), None where there is none."""
        at = [
            float(self.rounds(*[values.get(name, k) if name != self.step else 1.0 for name in self.names]))
            for k in (0, 1)
        ]
        if self.statement.metric.index is None:
            return 1 if at[0] == rounds else None
        index = (rounds - at[0]) / (at[1] - at[0])
        symbol = self.statement.symbol(self.statement.metric.index)
        return int(index) if index == int(index) and symbol.admits(Fraction(int(index))) else None

    def confirm(self, candidates: _Candidates, at: int, provenance: Mapping[str, Any]) -> Witness | None:
        """The candidate as a shrunk witness in exact arithmetic, or None when exactness takes it back."""
        assert self.statement.algorithm is not None
        one = replace(candidates, genes=candidates.genes[at : at + 1])
        instances = _decode(one.genes, one.n)
        values = self.values(instances, one)
        step = self.largest_step(values) * instances.edge
        curve = [(index, float(score[0])) for index, score in self._curve(one, instances, values, step)]
        violating = [index for index, score in curve if score > PROMISING]
        if not violating:
            return None
        return shrink(
            self.statement,
            A=instances.A[0],
            b=instances.b[0],
            start=instances.start[0],
            method={"kind": self.statement.algorithm.kind, **one.parameters},
            step=(self.step, float(instances.edge[0])),
            index=violating,
            provenance=dict(provenance),
        )


def score_of(metric: Floats, bound: Floats, trivial: Floats) -> Floats:
    """How far the metric is above the bound, in a measure that tiny steps cannot bring to zero.

    log(metric/bound), in units of the promised log-decrease log(trivial/bound) where that is below 1: a step
    near zero then scores by the ratio of actual to promised decrease.
    """
    metric = np.where(np.isnan(metric), np.inf, metric)
    excess = np.log(metric) - np.log(bound)
    promised = np.log(trivial) - np.log(bound)
    score = excess / np.clip(np.where(np.isnan(promised), 1.0, promised), DOUBT, 1.0)
    # a bound above the start, or within rounding of it, guides nowhere unless the metric is clearly above it
    return np.where((promised <= DOUBT) & (excess < PROMISING), UNINFORMATIVE, score)
