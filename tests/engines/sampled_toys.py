"""Small problems for the sampled engine, and a run replayed in exact fractions from its plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from boundcheck.core import streams
from boundcheck.engines.simulate import plan
from boundcheck.methods.clients import Clients, Repeated
from boundcheck.methods.method import Method
from boundcheck.methods.parts import EpochRange, Epochs, Visit, inclusion
from boundcheck.problems.problem import Arrays


@dataclass(frozen=True)
class Toy:
    """A problem known by its arrays; client 0's gradient etc. are read from them."""

    flat: Arrays
    start: tuple[Fraction, ...]
    name: str = "toy"
    shares: tuple[Fraction, ...] = ()

    @property
    def dim(self) -> int:
        return len(self.start)

    @property
    def clients(self) -> int:
        return len(self.flat.offsets) - 1

    @property
    def weights(self) -> Sequence[Fraction]:
        return self.shares or Repeated(Fraction(1, self.clients), self.clients)

    @property
    def metrics(self) -> tuple[str, ...]:
        return (*self.flat.centred, "x") if self.dim == 1 else tuple(self.flat.centred)

    def arrays(self) -> Arrays:
        return self.flat

    def metric(self, name: str, x: Any) -> Any:
        assert name == "x"
        return x[0]


def make_toy(
    kind: str, sizes: Sequence[int], matrices: Any, b: Any, start: Sequence[int | Fraction],
    centre: Any = None, scale: Any = None, target: Any = None,
) -> Toy:  # fmt: skip
    """Components with dense matrices A_j and vectors b_j ("rows": vectors a_j, scales and targets)."""
    b = np.array(b, dtype=np.float64)
    count, d = b.shape
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if kind == "rows":
        scale, target = np.array(scale, dtype=np.float64), np.array(target, dtype=np.float64)
        dense, linear = scale[:, None, None] * b[:, :, None] * b[:, None, :], (scale * target)[:, None] * b
    else:
        dense, linear = np.array(matrices, dtype=np.float64), b
    pairs = list(pairwise(offsets))
    flat = Arrays(
        kind=kind,
        reduction="mean",
        offsets=offsets,
        A=dense if kind == "quadratic" else np.empty((0, d, d)),
        curvature=dense[:, 0, 0].copy() if kind == "isotropic" else scale if kind == "rows" else np.empty(0),
        b=b,
        target=target if kind == "rows" else np.empty(0),
        client_A=np.array([dense[i:j].mean(axis=0) for i, j in pairs]),
        client_b=np.array([linear[i:j].mean(axis=0) for i, j in pairs]),
        centre=np.zeros(d) if centre is None else np.array(centre, dtype=np.float64),
        centred={"dist2": np.eye(d), "gap": 0.5 * dense.mean(axis=0)},
    )
    assert count == offsets[-1]
    return Toy(flat, tuple(Fraction(v) for v in start))


# dimensions of toys that are no powers of two, and few of them: machine code is made for each
DIM = {"isotropic": 6, "quadratic": 3, "rows": 3}


def random_toy(kind: str, d: int, sizes: Sequence[int], seed: int = 0) -> Toy:
    """Numbers with denominator 8, exact in float64."""
    rng = np.random.default_rng(seed)
    count = sum(sizes)
    b = rng.integers(-8, 9, (count, d)) / 8
    factor = rng.integers(-4, 5, (count, d, d)) / 8
    matrices = factor + factor.transpose(0, 2, 1)
    if kind == "isotropic":
        matrices = rng.integers(-4, 12, count)[:, None, None] / 8 * np.eye(d)
    scale, target = rng.integers(1, 9, count) / 8, rng.integers(-8, 9, count) / 8
    start = [Fraction(int(v), 4) for v in rng.integers(-4, 5, d)]
    return make_toy(kind, sizes, matrices, b, start, rng.integers(-8, 9, d) / 8, scale, target)


def equation_36() -> Toy:
    """FedShuffle, eq. (36): clients with 1, 2, 3 points, |x - e_j|^2 / 2 in R^6; gap = |x - (1/6, ...)|^2 / 2."""
    return make_toy("isotropic", (1, 2, 3), [np.eye(6)] * 6, np.eye(6), [0] * 6, centre=[1 / 6] * 6)


exact = np.vectorize(Fraction, otypes=[object])


def component(toy: Toy, j: int, x: Any) -> Any:
    """The exact gradient of component j."""
    a = toy.flat
    if a.kind == "isotropic":
        return Fraction(a.curvature[j]) * x - exact(a.b[j])
    if a.kind == "rows":
        row = exact(a.b[j])
        return Fraction(a.curvature[j]) * (row @ x - Fraction(a.target[j])) * row
    return exact(a.A[j]) @ x - exact(a.b[j])


def mean(toy: Toy, samples: Sequence[int], x: Any) -> Any:
    return sum(component(toy, j, x) for j in samples) / len(samples)


def normalised(method: Method, clients: Clients, client: int, visit: Visit) -> Fraction:
    """By what FedNova multiplies the coefficient of a client that drew its number of epochs."""
    local = method.local
    if getattr(method.aggregation, "weights", None) != "nova" or not isinstance(getattr(local, "E", None), EpochRange):
        return Fraction(1)
    each = -(-clients.sizes[client] // local.batch)  # pyright: ignore
    drawn = range(local.E.low, local.E.high + 1)  # pyright: ignore
    return Fraction(1, visit.steps) / (sum(Fraction(1, e * each) for e in drawn) / len(drawn))


def drawn_together(method: Method, clients: Clients, cohort: Any, seed: int, r: int) -> Visit | None:
    """What everyone of a cohort does that draws its number of steps together, from the words of the plan."""
    local = method.local
    if not (isinstance(local, Epochs) and isinstance(local.E, EpochRange) and local.common):
        return None
    count = local.E.high - local.E.low + 1
    planned: list[int] = []
    for i in cohort:
        word = streams.words(np.array([seed], dtype=np.uint64), streams.EPOCHS, r, i, 0, 1)[:, 0]
        k = int(streams.pick(word, streams.cuts([Fraction(1, count)] * count))[0])
        planned.append((local.E.low + k) * -(-clients.sizes[i] // local.batch))
    steps = min(planned) if local.common == "min" else (2 * sum(planned) + len(planned)) // (2 * len(planned))
    return Visit(local.sampling, steps, batch=local.batch)


def replay(method: Method, toy: Toy, seed: int, rounds: int, met: list[Any] | None = None) -> list[Fraction]:
    """The run of one seed in exact fractions, from the plan and the definition of the method.

    met: receives the points before each epoch of each round, of all clients of its cohort.
    """
    offsets = [int(o) for o in toy.flat.offsets]
    sizes = [j - i for i, j in pairwise(offsets)]
    clients = Clients(toy.weights, sizes)
    choices = plan(method, clients, seed, rounds)
    momentum = method.momentum

    def whole(c: int, at: Any) -> Any:
        return mean(toy, range(offsets[c], offsets[c + 1]), at)

    x = np.array(toy.start, dtype=object)
    before, m = x, 0 * x
    if momentum is not None and momentum.start == "gradient":
        m = sum(w * whole(c, x) for c, w in enumerate(toy.weights))
    if momentum is not None and momentum.start == "sampled":
        m = sum(whole(c, x) for c in choices.first_clients(momentum.warm_up)) / momentum.warm_up
    for r in range(rounds):
        eta = None if method.by_iteration else method.schedule.step(method.cycle_of(r, clients))
        cohort = choices.cohort(r)
        shares = method.aggregation.coefficients(cohort, method.context(clients)) if cohort else []
        seen = [clients.weights[c] / inclusion(method.participation, c, clients) for c in cohort]  # by a momentum
        if momentum is not None and momentum.variance_reduced and r:
            keep = 1 - momentum.a
            m = keep * m + sum(a * (whole(c, x) - keep * whole(c, before)) for c, a in zip(cohort, seen, strict=True))
        after, fresh, starts, sent = x, 0 * x, [], x
        if method.server_momentum is not None:
            after = x + method.server_momentum.at(r) * (x - before)
            sent = after if method.server_momentum.nesterov else x
        for c, share, unbiased in zip(cohort, shares, seen, strict=True):
            visit = drawn_together(method, clients, cohort, seed, r)
            if visit is None:
                _, visit = method.local.visits(c, cohort, clients)[int(choices.member(r, c)[1])]
                share = share * normalised(method, clients, c, visit)
            batches = choices.batches(r, c)
            assert len(batches) == visit.steps
            y = sent
            per_epoch = 1 if visit.sampling == "full" else -(-sizes[c] // visit.batch)
            for step, batch in enumerate(batches):
                if step % per_epoch == 0:
                    starts.append(y)
                    if visit.sampling == "reshuffled":
                        epoch = [i for b in batches[step : step + per_epoch] for i in b]
                        assert len(set(epoch)) == len(epoch)
                        assert len(epoch) == sizes[c] or step + per_epoch > visit.steps
                own = [offsets[c] + i for i in batch]
                g = mean(toy, own, y)
                if momentum is not None and momentum.variance_reduced:
                    g = g + (1 - momentum.a) * (m - mean(toy, own, x))
                elif momentum is not None:
                    g = momentum.a * g + (1 - momentum.a) * m
                if method.by_iteration:
                    eta = method.schedule.expression.at(r=r, t=r * visit.steps + step)  # pyright: ignore
                y = y - eta * visit.scale * g
            sign = -1 if method.server.ascend else 1
            after = after + sign * method.server.eta_g * share * (y - sent)
            if visit.steps:
                fresh = fresh + unbiased * (x - y) / (visit.steps * eta * visit.scale)
        if momentum is not None and not momentum.variance_reduced:
            m = (1 - momentum.a) * m + momentum.a * fresh
        before, x = x, after
        if met is not None:
            met.append(starts)
    return list(x)
