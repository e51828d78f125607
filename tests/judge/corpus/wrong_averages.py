"""FedAvg with whole gradients as engineers get it wrong: models in memory, rounds, weights, cohorts, step sizes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from corpus.loops import Loop, Uniform, enter, wrong

FEDAVG = {"kind": "fedavg_weighted", "K": 3, "eta_l": "1/10"}
HALF = {**FEDAVG, "eta_g": "1/2"}
DECAYED = {**FEDAVG, "eta_l": "1/(10 + 5*r)"}
DECAYING = {"kind": "fedavg", "E": 3, "eta": "1/10", "weight_decay_l": "1/5"}
LOCAL_MOMENTUM = {"kind": "fedavg", "E": 3, "eta": "1/10", "momentum_l": "1/2"}
PAIR = {"participation": {"kind": "uniform", "size": 2}}
SAMPLED = {**FEDAVG, **PAIR}
decayed = partial(wrong, DECAYED, Loop)
decaying = partial(wrong, DECAYING, Uniform)
fedavg = partial(wrong, FEDAVG, Loop)
half = partial(wrong, HALF, Loop)
FOUR = {
    "kind": "quadratics",
    "weights": ["1/10", "1/5", "3/10", "2/5"],
    "start": [3, -2],
    "clients": [{"A": [[k + 1, 0], [0, 4 - k]], "b": [k * k, 1 - 2 * k]} for k in range(4)],
}


@enter("clients train one model in memory, one after the other", FEDAVG)
class Aliased(Loop):
    def visit(self, i: int, x: Any) -> Any:
        x -= self.lr * self.clients[i].gradient(x)
        for _ in range(self.K - 1):
            x -= self.lr * self.clients[i].gradient(x)
        return x.copy()

    def server(self, x: Any, mean: Any, cohort: Sequence[int]) -> Any:
        return mean


@enter("the list of models holds one array several times", FEDAVG)
class OneArray(Aliased):
    def visit(self, i: int, x: Any) -> Any:
        super().visit(i, x)
        return x


@enter("clients receive the model of the round before", FEDAVG)
class Stale(Loop):
    def setup(self) -> None:
        self.sent = self.task.start

    def visit(self, i: int, x: Any) -> Any:
        return super().visit(i, self.sent)

    def server(self, x: Any, mean: Any, cohort: Sequence[int]) -> Any:
        self.sent = x
        return mean


@enter("clients receive a new model every third round only", FEDAVG)
class EveryThirdRound(Stale):
    def server(self, x: Any, mean: Any, cohort: Sequence[int]) -> Any:
        self.sent = mean if self.r % 3 == 2 else self.sent
        return mean


@enter("clients go on from their own models", FEDAVG)
class OwnModels(Loop):
    def setup(self) -> None:
        self.own = [self.task.start] * self.n

    def visit(self, i: int, x: Any) -> Any:
        self.own[i] = super().visit(i, self.own[i])
        return self.own[i]


fedavg("the server adds the mean to its model", server=lambda s, x, mean, who: x + mean)
fedavg("the gradient of the round's start in every local step", direction=lambda s, i, y, x, b: s.g(i, x))


@enter("gradients pile up in a visit: no zero_grad", FEDAVG)
class PiledUp(Loop):
    def visit(self, i: int, x: Any) -> Any:
        y, g = x, 0.0
        for _ in range(self.K):
            g = g + self.clients[i].gradient(y)
            y = y - self.lr * g
        return y


fedavg("the last client's model is the new one", mean=lambda s, who, models: models[-1])
fedavg("client 0 is counted twice", cohort=lambda s: [0, *range(s.n)])
fedavg("the last client is left out: range(n - 1)", cohort=lambda s: range(s.n - 1))
wrong(FEDAVG, Uniform, "plain mean instead of weights")
fedavg("weights in the order of sorted(reverse=True), models not", share=lambda s, who: s.task.weights[::-1])
fedavg(
    "the changes are summed, not averaged",
    share=lambda s, who: np.ones(s.n),
    server=lambda s, x, mean, who: x + (mean - s.n * x),
)
fedavg("one local step short: range(1, K)", batches=lambda s, i: [None] * len(range(1, s.K)))
fedavg("the server applies the mean change twice", server=lambda s, x, mean, who: x + 2 * (mean - x))
fedavg("the first round's update is lost", server=lambda s, x, mean, who: mean if s.r else x)
fedavg("the model before the update is reported", train_all=lambda s: [s.task.start, *Loop.train_all(s)[:-1]])
fedavg("the list of iterates holds one array", train_all=lambda s: [Loop.train_all(s)[-1]] * s.task.rounds)
fedavg("single precision", server=lambda s, x, mean, who: mean.astype(np.float32).astype(float))
half("eta_g multiplies the mean model", server=lambda s, x, mean, who: s.eta_g * mean)
half("eta_g is forgotten", server=lambda s, x, mean, who: mean)
wrong(
    {**FEDAVG, "eta_g": "3/10"},
    Loop,
    "eta_g and 1 - eta_g swapped",
    server=lambda s, x, mean, who: s.eta_g * x + (1 - s.eta_g) * mean,
)
fedavg("gradients of summed losses", direction=lambda s, i, y, x, b: s.clients[i].size * s.g(i, y))
decayed("the schedule steps before the round", rate=lambda s: 1 / (10 + 5 * (s.r + 1)))
decayed("the schedule is one round late", rate=lambda s: s.task.step_sizes[max(s.r - 1, 0)])
decayed("the schedule is never stepped", rate=lambda s: s.task.step_sizes[0])
decaying("no weight decay")
decaying("weight decay not multiplied by the step size", direction=lambda s, i, y, x, b: s.g(i, y) + 0.2 / s.lr * y)
decaying("weight decay once a visit, at its end", visit=lambda s, i, x: (1 - s.lr * 0.2) * Uniform.visit(s, i, x))
decaying(
    "weight decay on the gradient's half: loss + decay/4 |y|^2", direction=lambda s, i, y, x, b: s.g(i, y) + 0.2 / 2 * y
)


class Buffered(Uniform):
    """Local momentum 1/2 whose buffer begins at 0 in each visit."""

    def setup(self) -> None:
        self.v: Any = np.zeros(self.task.dimension)

    def visit(self, i: int, x: Any) -> Any:
        self.v = 0.0 * self.v
        return super().visit(i, x)

    def direction(self, i: int, y: Any, x: Any, samples: Any) -> Any:
        self.v = 0.5 * self.v + self.clients[i].gradient(y)
        return self.v


buffered = partial(wrong, LOCAL_MOMENTUM, Buffered)
buffered("one optimizer for all clients and rounds", visit=Uniform.visit)


@enter("clients keep their momentum buffers over rounds", LOCAL_MOMENTUM)
class KeptBuffers(Buffered):
    def setup(self) -> None:
        self.kept: Any = {i: np.zeros(self.task.dimension) for i in range(self.n)}

    def visit(self, i: int, x: Any) -> Any:
        self.v = self.kept[i]
        found = Uniform.visit(self, i, x)
        self.kept[i] = self.v
        return found


@enter("local momentum with dampening 1/2", LOCAL_MOMENTUM)
class Dampened(Buffered):
    def direction(self, i: int, y: Any, x: Any, samples: Any) -> Any:
        self.v = 0.5 * self.v + 0.5 * self.clients[i].gradient(y)
        return self.v


class Pairs(Loop):
    """Two clients of all in a round."""

    size = 2


sampled = partial(wrong, SAMPLED, Pairs, rounds=2, seeds=512)
sampled("weights of the cohort are not scaled to 1", seeds=256, share=lambda s, who: s.task.weights[list(who)])
sampled("clients are drawn with replacement", seeds=4096, cohort=lambda s: s.rng.integers(s.n, size=2))
sampled(
    "the cohort of round 1 in all rounds",
    rounds=3,
    cohort=lambda s: s.task.generator(s.seed).choice(s.n, 2, replace=False),
)
sampled("the first two clients in all rounds", seeds=256, cohort=lambda s: [0, 1])
sampled(
    "cohorts in turn instead of drawn",
    rounds=3,
    seeds=256,
    problem=FOUR,
    cohort=lambda s: [2 * s.r % 4, (2 * s.r + 1) % 4],
)
sampled(
    "clients drawn by data and weighted by data",
    cohort=lambda s: s.rng.choice(s.n, 2, replace=False, p=s.task.weights),
)
sampled("plain mean of the cohort", share=lambda s, who: [0.5, 0.5])
sampled("one client less in a cohort", size=1)


DRAWN = {"kind": "md_sampling", "K": 2, "eta_l": "1/10", "m": 3}


class Multinomial(Uniform):
    """m = 3 draws of a client by weight; one that is drawn twice counts twice."""

    def cohort(self) -> Any:
        return self.rng.choice(self.n, 3, p=self.task.weights)


drawn = partial(wrong, DRAWN, Multinomial, rounds=2, seeds=4096)
drawn("a client drawn twice counts once: set(cohort)", cohort=lambda s: list({int(i) for i in Multinomial.cohort(s)}))
drawn("drawn by weight and weighted again", seeds=512, share=Loop.share)
