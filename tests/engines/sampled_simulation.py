"""A run written out in plain Python from its plan: corrections, proximal terms and models that clients keep."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
from sampled_toys import Toy

from boundcheck.engines.simulate import plan
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks, Stale


class Simulation:
    """Every quantity of every round of one seed, in double precision.

    points: the server's point (for blocks: the models' mean) after 0, 1, ... rounds; models: what clients keep then;
    subproblems: for each round the (Hessian, linear part, x, y) of its solves, P(v) = v'Hv/2 - l'v + const.
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
        self.points, self.subproblems, self.estimate = [x], [], None
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

    def visit(self, t: int, client: int, x: Any, shift: Any) -> Any:
        """What a client that begins at x returns."""
        member, choice = self.plan.member(t, client)
        visits = self.method.local.visits(client, self.plan.cohort(t), self.clients)
        work = visits[choice][1]
        assert member.client == client
        eta, mu = float(self.method.schedule.step(self.method.cycle_of(t, self.clients)) * work.scale), float(work.prox)
        whole = list(range(self.offsets[client], self.offsets[client + 1]))
        hessian, linear = self.objective(whole)
        hessian, linear = hessian + mu * np.eye(len(x)), linear + mu * x - shift
        y = x
        if work.sampling == "exact":
            y = np.linalg.solve(hessian, linear)
        else:
            for batch in self.plan.batches(t, client):
                h, b = self.objective([self.offsets[client] + i for i in batch])
                y = y - eta * (h @ y - b + shift + mu * (y - x))
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
        factors: Counter[int] = Counter()
        for i, a in zip(cohort, method.factors(cohort, self.clients), strict=True):
            factors[i] += a  # pyright: ignore
        after = x
        for place, (i, factor) in enumerate(factors.items()):
            slot = i if isinstance(method.exchange, Stale) else place
            begun = x if method.exchange is None else models[slot]
            shift = 0 * x
            if correction is not None and correction.at(t):
                assert used is not None
                shift = float(correction.at(t)) * (used - self.gradient(i, begun))
            y = self.visit(t, i, begun, shift)
            if isinstance(method.exchange, Blocks):
                models[slot] = y
            after = after + float(factor) * (y - begun)
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
