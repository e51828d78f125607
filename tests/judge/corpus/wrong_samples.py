"""Local epochs and stochastic steps as engineers get them wrong: orders, epochs, batches, step sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from corpus.loops import Loop, Reshuffled, Sgd, Uniform, enter, wrong

EPOCHS = {"kind": "fedavg_rr", "eta_l": "1/20", "E": 2}
BATCHES = {"kind": "fedavg_rr", "eta_l": "1/10", "E": 2, "batch": 2}
SGD = {"kind": "sync_sgd", "eta": "1/10", "batch": 2}
SHUFFLE = {"kind": "fedshuffle", "eta_l": "1/4", "E": 2, "participation": {"kind": "uniform", "size": 2}}
LINE = {  # one client whose samples differ much
    "kind": "quadratics",
    "start": [1],
    "clients": [{"components": [{"A": [[a]], "b": [b]} for a, b in ((1, 9), (4, -8), (8, 3))]}],
}
TWO, ODD = (  # samples of one client; of three one is left over where batches have two
    {"kind": "quadratics", "start": [0], "clients": [{"components": [{"A": [[1]], "b": [v]} for v in values]}]}
    for values in ((0, 9), (0, 3, 9))
)
epochs = partial(wrong, EPOCHS, Reshuffled, rounds=2, problem=LINE)
by_batches = partial(wrong, BATCHES, Reshuffled, rounds=2, problem=ODD)
sgd = partial(wrong, SGD, Sgd, rounds=2, problem=ODD)


@enter("one order for a client, drawn once", EPOCHS, rounds=3, problem=LINE)
class OneOrder(Reshuffled):
    def setup(self) -> None:
        self.orders = [self.rng.permutation(c.size) for c in self.clients]

    def batches(self, i: int) -> Iterable[Any]:
        return [[k] for k in self.orders[i]] * self.E


epochs(
    "samples in the order of the data", seeds=256, batches=lambda s, i: [[k] for k in range(s.clients[i].size)] * s.E
)
epochs(
    "samples drawn with replacement",
    batches=lambda s, i: s.rng.integers(s.clients[i].size, size=(s.E * s.clients[i].size, 1)),
)
epochs(
    "one permutation for both epochs of a visit",
    batches=lambda s, i: [[k] for k in s.rng.permutation(s.clients[i].size)] * s.E,
)


@enter("the generator is made anew in each round", EPOCHS, rounds=3, problem=LINE)
class SameSeed(Reshuffled):
    def __init__(self, task: Any, seed: int) -> None:
        super().__init__(task, seed)
        self.seed = seed

    def cohort(self) -> Sequence[int]:
        self.rng = self.task.generator(self.seed)
        return super().cohort()


epochs("one epoch short", seeds=256, batches=lambda s, i: [[k] for k in s.rng.permutation(s.clients[i].size)])
by_batches(
    "the last batch, which is smaller, is dropped",
    batches=lambda s, i: [b for b in Reshuffled.batches(s, i) if len(b) == s.batch],
)
by_batches(
    "the smaller last batch is summed and divided by the batch size",
    direction=lambda s, i, y, x, b: len(b) / s.batch * s.g(i, y, b),
)
by_batches("gradients of a batch are summed", seeds=256, direction=lambda s, i, y, x, b: len(b) * s.g(i, y, b))
epochs("epochs of one whole gradient each", seeds=256, batches=lambda s, i: [None] * s.E)
epochs(
    "all clients take as many steps as the smallest",
    problem=None,
    seeds=256,
    batches=lambda s, i: list(Reshuffled.batches(s, i))[: s.E * min(c.size for c in s.clients)],
)
epochs("plain mean", problem=None, share=Uniform.share)
sgd(
    "batches drawn without replacement",
    problem=TWO,
    batches=lambda s, i: [s.rng.choice(s.clients[i].size, s.batch, replace=False)],
)
sgd(
    "samples in turn",
    rounds=3,
    seeds=256,
    batches=lambda s, i: [(s.r * s.batch + np.arange(s.batch)) % s.clients[i].size],
)
sgd("a batch of one", batches=lambda s, i: [s.rng.integers(s.clients[i].size, size=1)])
sgd("the last sample is never drawn", batches=lambda s, i: [s.rng.integers(s.clients[i].size - 1, size=s.batch)])
sgd("sum of a batch, not its mean", seeds=256, direction=lambda s, i, y, x, b: s.batch * s.g(i, y, b))
sgd("plain mean of the workers", problem=None, share=Uniform.share)


class FedShuffle(Reshuffled):
    """Epochs with step size eta_l/|D_i|, two clients of n, changes weighted by w_i n/2."""

    size = 2

    def direction(self, i: int, y: Any, x: Any, samples: Any) -> Any:
        return self.clients[i].gradient(y, samples) / self.clients[i].size

    def visit(self, i: int, x: Any) -> Any:
        return super().visit(i, x) - x

    def share(self, cohort: Sequence[int]) -> Any:
        return self.task.weights[list(cohort)] * self.n / len(cohort)

    def server(self, x: Any, mean: Any, cohort: Sequence[int]) -> Any:
        return x + self.eta_g * mean


shuffle = partial(wrong, SHUFFLE, FedShuffle, rounds=2)
wrong(
    {**SHUFFLE, "eta_l": "1/8"},
    FedShuffle,
    "the step size is not divided by the client's size",
    rounds=2,
    direction=lambda s, i, y, x, b: s.g(i, y, b),
)
shuffle(
    "the step size is divided by the epochs, too",
    direction=lambda s, i, y, x, b: FedShuffle.direction(s, i, y, x, b) / s.E,
)
shuffle("changes weighted to sum to 1 in the cohort", share=Loop.share)
shuffle("n/|S| is forgotten", share=lambda s, who: s.task.weights[list(who)])
