"""A run written out in plain Python from its plan: what local steps follow, what clients keep, what a server adds."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from sampled_toys import Toy

from boundcheck.core import streams
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks, EpochRange, Epochs, Stale, Visit, inclusion
from tests.engines.drawn_plans import plan


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


class Simulation:
    """Every quantity of every round of one seed, in double precision.

    points: the server's point (for blocks: the models' mean) after 0, 1, ... rounds; models: what clients keep then;
    subproblems: for each round the (Hessian, linear part, x, y) of its solves, P(v) = v'Hv/2 - l'v + const;
    starts: for each round the points before each epoch of the clients of its cohort.
    """

    def __init__(self, method: Method, toy: Toy, seed: int, rounds: int) -> None:
        self.method, self.toy = method, toy
        self.offsets = [int(o) for o in toy.flat.offsets]
        self.clients = Clients(toy.weights, [j - i for i, j in pairwise(self.offsets)])
        self.plan = plan(method, self.clients, seed, rounds)
        x = np.array([float(v) for v in toy.start])
        kept = self.clients.count
        if isinstance(method.exchange, Blocks) and method.exchange.hand_over is not None:
            kept = method.exchange.hand_over.active
        self.models = [np.array([x] * kept)]
        self.points, self.subproblems, self.starts, self.estimate = [x], [], [], None
        self.m = self.first_momentum(x)
        for t in range(rounds):
            self.round(t)

    def component(self, j: int) -> tuple[Any, Any]:
        """The Hessian and linear part of component j."""
        a = self.toy.flat
        if a.kind == "isotropic":
            return a.curvature[j] * np.eye(self.toy.dim), a.b[j]
        if a.kind == "rows":
            return a.curvature[j] * np.outer(a.b[j], a.b[j]), a.curvature[j] * a.target[j] * a.b[j]
        return a.A[j], a.b[j]

    def objective(self, samples: list[int]) -> tuple[Any, Any]:
        """The same of a mean of components."""
        parts = [self.component(j) for j in samples]
        return sum(h for h, _ in parts) / len(parts), sum(b for _, b in parts) / len(parts)

    def gradient(self, client: int, x: Any) -> Any:
        hessian, linear = self.objective(list(range(self.offsets[client], self.offsets[client + 1])))
        return hessian @ x - linear

    def mean_gradient(self, cohort: tuple[int, ...], x: Any) -> Any:
        correction = self.method.correction
        assert correction is not None
        weights = [float(self.clients.weights[i]) if correction.weights == "data" else 1.0 for i in cohort]
        total = sum(w * self.gradient(i, x) for w, i in zip(weights, cohort, strict=True))
        return total / sum(weights)

    def first_momentum(self, x: Any) -> Any:
        momentum = self.method.momentum
        if momentum is None or momentum.start == "zero":
            return 0 * x
        if momentum.start == "sampled":
            return sum(self.gradient(i, x) for i in self.plan.first_clients(momentum.warm_up)) / momentum.warm_up
        return sum(float(w) * self.gradient(i, x) for i, w in enumerate(self.toy.weights))

    def work(self, t: int, client: int) -> Visit:
        cohort = self.plan.cohort(t)
        together = drawn_together(self.method, self.clients, cohort, self.plan.seed, t)
        if together is not None:
            return together
        member, choice = self.plan.member(t, client)
        assert member.client == client
        return self.method.local.visits(client, cohort, self.clients)[choice][1]

    def steps(self, t: int, work: Visit) -> list[float]:
        """The size of each local step."""
        if self.method.by_iteration:
            at = self.method.schedule.expression.at  # pyright: ignore
            return [float(at(r=t, t=t * work.steps + k) * work.scale) for k in range(work.steps)]
        return [float(self.method.schedule.step(self.method.cycle_of(t, self.clients)) * work.scale)] * work.steps

    def visit(self, t: int, client: int, x: Any, shift: Any) -> Any:
        """What a client that begins at x returns."""
        work, momentum = self.work(t, client), self.method.momentum
        mu, a = float(work.prox), 1.0 if momentum is None else float(momentum.a)
        whole = list(range(self.offsets[client], self.offsets[client + 1]))
        hessian, linear = self.objective(whole)
        hessian, linear = hessian + mu * np.eye(len(x)), linear + mu * x - shift
        y = x
        if work.sampling == "exact":
            y = np.linalg.solve(hessian, linear)
        else:
            batches = self.plan.batches(t, client)
            each = 1 if work.sampling == "full" else -(-len(whole) // work.batch)  # steps of an epoch
            for k, (batch, eta) in enumerate(zip(batches, self.steps(t, work), strict=True)):
                if k % each == 0:
                    self.starts[t].append(y)
                    epoch = [i for own in batches[k : k + each] for i in own]
                    assert work.sampling != "reshuffled" or len(set(epoch)) == len(epoch)
                    assert len(epoch) == len(whole) or k + each > work.steps
                h, b = self.objective([self.offsets[client] + i for i in batch])
                g = h @ y - b
                if momentum is not None:
                    g = g + (1 - a) * (self.m - h @ x + b) if momentum.variance_reduced else a * g + (1 - a) * self.m
                y = y - eta * (g + shift + mu * (y - x))
        self.subproblems[t].append((hessian, linear, x, y))
        return y

    def round(self, t: int) -> None:
        method, x, models = self.method, self.points[-1], self.models[-1].copy()
        cohort, correction = self.plan.cohort(t), method.correction
        used = None
        if correction is not None:
            fresh = self.mean_gradient(self.plan.gradient_cohort(t), x)
            used, self.estimate = (self.estimate if correction.pipelined else fresh), fresh
        self.subproblems.append([])
        self.starts.append([])
        factors: Counter[int] = Counter()
        for i, a in zip(cohort, method.factors(cohort, self.clients) if cohort else [], strict=True):
            factors[i] += a * normalised(method, self.clients, i, self.work(t, i))  # pyright: ignore
        before, momentum = self.points[max(t - 1, 0)], method.momentum
        a = 1.0 if momentum is None else float(momentum.a)
        share = self.clients.weights
        seen = {i: float(share[i] / inclusion(method.participation, i, self.clients)) for i in factors if momentum}
        if momentum is not None and momentum.variance_reduced and t:
            changes = (w * (self.gradient(i, x) - (1 - a) * self.gradient(i, before)) for i, w in seen.items())
            self.m = (1 - a) * self.m + sum(changes, 0 * x)
        after, sent, pulled = x, x, 0 * x
        if method.server_momentum is not None:
            after = x + float(method.server_momentum.at(t)) * (x - before)
            sent = after if method.server_momentum.nesterov else x
        for place, (i, factor) in enumerate(factors.items()):
            slot = i if isinstance(method.exchange, Stale) else place
            begun = sent if method.exchange is None else models[slot]
            shift = 0 * x
            if correction is not None and correction.at(t):
                assert used is not None
                shift = float(correction.at(t)) * (used - self.gradient(i, begun))
            y = self.visit(t, i, begun, shift)
            if isinstance(method.exchange, Blocks):
                models[slot] = y
            after = after + float(factor) * (y - begun)
            if momentum is not None and (length := sum(self.steps(t, self.work(t, i)))):
                pulled = pulled + seen[i] * (x - y) / length
        if momentum is not None and not momentum.variance_reduced:
            self.m = (1 - a) * self.m + a * pulled
        if isinstance(method.exchange, Stale):
            models[list(factors)] = after
        if isinstance(method.exchange, Blocks):
            after = self.averaged(method.exchange, models, t)
        self.points.append(after)
        self.models.append(models)

    def averaged(self, blocks: Blocks, models: Any, t: int) -> Any:
        moved = blocks.hand_over
        weights = np.full(len(models), 1 / len(models))
        if moved is None and blocks.weights == "data":
            weights = np.array([float(w) for w in self.clients.weights])
        mean = weights @ models
        for k in blocks.pattern(self.toy.dim)[t % blocks.tau]:
            models[:, k] = mean[k]
        if moved is not None and moved.design == 1 and (t + 1) % moved.every == 0:
            models[:] = mean
        return weights @ models

    def dist2(self, rounds: int) -> float:
        """The squared distance from the toy's centre."""
        return float(((self.points[rounds] - self.toy.flat.centre) ** 2).sum())
