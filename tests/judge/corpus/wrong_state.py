"""FedProx, SCAFFOLD and momentum as engineers get them wrong: proximal terms, control variates, buffers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from corpus.loops import FedProx, Loop, Momentum, Nesterov, Scaffold, enter, wrong

PROX = {"kind": "fedprox", "mu": 1, "solver": {"steps": 3, "eta": "1/10"}}
SCAFFOLD = {"kind": "scaffold", "eta_l": "1/10", "K": 3, "eta_g": "1/2"}
SCAFFOLD_1 = {**SCAFFOLD, "kind": "scaffold_option_1"}
PAIRS = {**SCAFFOLD, "participation": {"kind": "uniform", "size": 2}}
FEDAVGM = {"kind": "fedavgm", "eta_l": "1/10", "K": 2, "momentum_g": "1/2", "eta_g": "1/4"}
BALL = {"kind": "heavy_ball", "eta": "1/10", "momentum_g": "1/2"}
DECAYED_BALL = {**BALL, "eta": "1/(10 + 5*r)"}
GROWING = {"kind": "accelerated_gradient", "eta": "1/10"}
LOGISTIC = {
    "kind": "logistic_regression",
    "ridge": "1/10",
    "data": {"X": [[1, 0], [0, 2], [1, -1], [2, 1]], "y": [0, 1, 0, 1], "client": [0, 0, 1, 1]},
}
ball = partial(wrong, BALL, Momentum)
decayed_ball = partial(wrong, DECAYED_BALL, Momentum)
fedavgm = partial(wrong, FEDAVGM, Momentum)
growing = partial(wrong, GROWING, Nesterov)
pairs = partial(wrong, PAIRS, Scaffold, size=2, rounds=4, seeds=1024)
prox = partial(wrong, PROX, FedProx)
scaffold = partial(wrong, SCAFFOLD, Scaffold)


prox("no proximal term", pull=lambda s, y, x: 0.0)
prox("half of the proximal term: mu/4 |y - x|^2", pull=lambda s, y, x: (y - x) / 2)
prox(
    "the norm is not squared: mu/2 |y - x|",
    pull=lambda s, y, x: (y - x) / (2 * max(float(np.linalg.norm(y - x)), 1e-12)),
)
prox("proximal centre x_0 in all rounds", pull=lambda s, y, x: y - s.task.start)


@enter("proximal centre is the client's own last model", PROX)
class OwnCentre(FedProx):
    def visit(self, i: int, x: Any) -> Any:
        if not self.r:
            self.last = getattr(self, "last", {}) | {i: x}
        self.centre = self.last[i]
        self.last[i] = super().visit(i, x)
        return self.last[i]

    def pull(self, y: Any, x: Any) -> Any:
        return y - self.centre


prox("the proximal term pushes away", pull=lambda s, y, x: x - y)
wrong(
    {**PROX, "mu": "1/2"},
    FedProx,
    "the proximal pull is not multiplied by the step size",
    pull=lambda s, y, x: 0.5 / s.lr * (y - x),
)
scaffold("control variates with the wrong sign", direction=lambda s, i, y, x, b: s.g(i, y) + s.own[i] - s.c)
scaffold("c adds the whole c_i, not their changes", of_changes=lambda s, change, who: sum(s.own) / s.n)
scaffold("c_i divides by the step size only, not by K", variate=lambda s, i, x, y: s.own[i] - s.c + (x - y) / s.lr)
scaffold(
    "c_i divides by the server's step size, too",
    variate=lambda s, i, x, y: s.own[i] - s.c + (x - y) / (s.K * s.lr * s.eta_g),
)


# With all clients what is common to the c_i cancels: the next two are mistakes where some take part only.
pairs("c_i without the - c", variate=lambda s, i, x, y: s.own[i] + (x - y) / (s.K * s.lr))
scaffold("the c_i are not stored", stored=lambda s, who: [0 * v for v in s.own])
scaffold("c stays at zero", of_changes=lambda s, change, who: 0 * change)


@enter("the c_i begin at the gradients of x_0", SCAFFOLD)
class WarmStart(Scaffold):
    def setup(self) -> None:
        self.own = [c.gradient(self.task.start) for c in self.clients]
        self.c = sum(self.own) / self.n


@enter("the c_i begin at the gradients of x_0, c at zero", SCAFFOLD)
class HalfWarmStart(WarmStart):
    def setup(self) -> None:
        super().setup()
        self.c = 0 * self.c


@enter("c_i from the model that the server sends next", PAIRS, rounds=4, seeds=1024)
class NewModel(Scaffold):
    size = 2

    def server(self, x: Any, mean: Any, cohort: Sequence[int]) -> Any:
        super().server(x + self.eta_g * (mean - x), mean, cohort)
        return x + self.eta_g * (mean - x)


scaffold("c is the mean of the c_i by data", of_changes=lambda s, change, who: s.task.weights @ s.own - s.c)
scaffold("models averaged by data", share=Loop.share)
scaffold("one c_i in memory for all clients", stored=lambda s, who: [s.own[-1]] * s.n)
wrong(SCAFFOLD_1, Scaffold, "option II instead of option I")
pairs("c divides the cohort's changes by the cohort's size", of_changes=lambda s, change, who: change / len(who))
pairs(
    "clients that do not take part lose their c_i", stored=lambda s, who: [v * (i in who) for i, v in enumerate(s.own)]
)
fedavgm("v <- beta v + (1 - beta) change", buffer=lambda s, change: s.beta * s.v + (1 - s.beta) * change)
fedavgm("the buffer is made anew in each round", buffer=lambda s, change: change)
fedavgm("the step is Nesterov's as in torch", move=lambda s, change, old: s.eta_g * (change + s.beta * s.v))
fedavgm("eta_g inside the buffer and outside of it", buffer=lambda s, change: s.beta * s.v + s.eta_g * change)
fedavgm("the model moves along the buffer of the round before", move=lambda s, change, old: s.eta_g * old)
fedavgm("round 1 makes no update", buffer=lambda s, change: s.beta * s.v + (change if s.r else 0 * change))
decayed_ball(
    "torch's buffer under a changing step size",
    buffer=lambda s, change: s.beta * s.v + change / s.lr,
    move=lambda s, change, old: s.lr * s.v,
)
ball("torch's dampening 1/2", buffer=lambda s, change: s.beta * s.v + (0.5 if s.r else 1.0) * change)


@enter("momentum of the models instead of their changes", FEDAVGM)
class OfModels(Momentum):
    def server(self, x: Any, mean: Any, cohort: Sequence[int]) -> Any:
        self.v = self.beta * self.v + mean
        return x + self.eta_g * (self.v - x)


@enter("the gradient at x, not at the point ahead", GROWING)
class GradientAtX(Nesterov):
    def direction(self, i: int, y: Any, x: Any, samples: Any) -> Any:
        return super().direction(i, self.here, x, samples)

    def visit(self, i: int, x: Any) -> Any:
        self.here = x
        return super().visit(i, x)


# On quadratics its points are those of the right method after the look-ahead, which are accepted.
growing("momentum one round early: r/(r + 3)", problem=LOGISTIC, beta=lambda s: s.r / (s.r + 3))
growing("momentum r/(r + 2)", beta=lambda s: s.r / (s.r + 2))


@enter("the point before is never updated after round 1", GROWING)
class PreviousKept(Nesterov):
    def server(self, x: Any, mean: Any, cohort: Sequence[int]) -> Any:
        self.previous = self.task.start if self.r else x
        return mean
