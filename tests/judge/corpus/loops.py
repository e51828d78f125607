"""Training loops in NumPy whose pieces can be replaced one by one, and the register of wrong copies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boundcheck.judge.task import Task


@dataclass(frozen=True)
class Wrong:
    """A wrong loop. what: the mistake in words. method: what the loop was meant to be. compared: options, if any."""

    what: str
    method: Mapping[str, Any]
    loop: type[Loop]
    compared: Mapping[str, Any]


CORPUS: list[Wrong] = []


def wrong(method: Mapping[str, Any], base: type[Loop], what: str, **pieces: Any) -> None:
    """Enter the loop `base` with other pieces in the corpus; rounds, seeds and problem are options."""
    at = {name: pieces.pop(name) for name in ("rounds", "seeds", "problem") if name in pieces}
    loop: Any = type(base.__name__, (base,), pieces)
    CORPUS.append(Wrong(what, method, loop, at))


def enter(what: str, method: Mapping[str, Any], **at: Any) -> Callable[[type[Loop]], type[Loop]]:
    """Enter the class below in the corpus."""

    def entered(loop: type[Loop]) -> type[Loop]:
        CORPUS.append(Wrong(what, method, loop, at))
        return loop

    return entered


def looped(base: type[Loop], **pieces: Any) -> Callable[[Task, int], list[Any]]:
    """A loop with other pieces, as a function that is judged."""
    own: Any = type(base.__name__, (base,), pieces)
    return lambda task, seed: own(task, seed).train_all()


class Loop:
    """FedAvg: K gradient steps of each client, then the mean of the models by data."""

    size = 0  # clients of a cohort; 0 is all
    r: int  # the round
    lr: float  # its local step size

    def __init__(self, task: Task, seed: int) -> None:
        self.task, self.clients = task, task.clients
        self.seed, self.rng = seed, task.generator(seed)
        self.n, self.K = len(task.clients), int(task.parameters.get("K", 0))
        self.E, self.eta_g = int(task.parameters["E"]) if "E" in task.parameters else 1, task.parameters["eta_g"]
        self.batch = int(task.parameters.get("batch", 0))
        self.setup()

    def setup(self) -> None:
        """State that is kept over the rounds."""

    def train_all(self) -> list[Any]:
        x, path = self.task.start, list[Any]()
        for r in range(self.task.rounds):
            self.r = r
            self.lr = self.rate()
            cohort = [int(i) for i in self.cohort()]
            models = [self.visit(i, x) for i in cohort]
            x = self.server(x, self.mean(cohort, models), cohort)
            path.append(np.array(x))
        return path

    def rate(self) -> float:
        return self.task.step_sizes[self.r]

    def cohort(self) -> Any:
        if not self.size:
            return range(self.n)
        return self.rng.choice(self.n, self.size, replace=False)

    def visit(self, i: int, x: Any) -> Any:
        y = x
        for samples in self.batches(i):
            y = y - self.lr * self.direction(i, y, x, samples)
        return y

    def batches(self, i: int) -> Iterable[Any]:
        return [None] * self.K

    def direction(self, i: int, y: Any, x: Any, samples: Any) -> Any:
        return self.clients[i].gradient(y, samples)

    def g(self, i: int, y: Any, samples: Any = None) -> Any:
        return self.clients[i].gradient(y, samples)

    def share(self, cohort: Sequence[int]) -> Any:
        w = self.task.weights[list(cohort)]
        return w / w.sum()

    def mean(self, cohort: Sequence[int], models: Sequence[Any]) -> Any:
        return sum(w * y for w, y in zip(self.share(cohort), models, strict=True))

    def server(self, x: Any, mean: Any, cohort: Sequence[int]) -> Any:
        return x + self.eta_g * (mean - x)


class Uniform(Loop):
    """The plain mean of the models."""

    def share(self, cohort: Sequence[int]) -> Any:
        return np.full(len(cohort), 1 / len(cohort))


class Reshuffled(Loop):
    """E epochs, each along a new permutation of the client's samples."""

    def batches(self, i: int) -> Iterable[Any]:
        for _ in range(self.E):
            order = self.rng.permutation(self.clients[i].size)
            yield from (order[k : k + self.batch] for k in range(0, len(order), self.batch))


class FedProx(Loop):
    """Three gradient steps on f_i(y) + mu/2 |y - x|^2 with mu = 1."""

    def setup(self) -> None:
        self.K = 3

    def pull(self, y: Any, x: Any) -> Any:
        return y - x

    def direction(self, i: int, y: Any, x: Any, samples: Any) -> Any:
        return self.clients[i].gradient(y, samples) + self.pull(y, x)


class Scaffold(Uniform):
    """SCAFFOLD, option II."""

    def setup(self) -> None:
        self.c = np.zeros(self.task.dimension)
        self.own = [np.zeros(self.task.dimension) for _ in self.clients]

    def direction(self, i: int, y: Any, x: Any, samples: Any) -> Any:
        return self.clients[i].gradient(y, samples) - self.own[i] + self.c

    def variate(self, i: int, x: Any, y: Any) -> Any:
        return self.own[i] - self.c + (x - y) / (self.K * self.lr)

    def mean(self, cohort: Sequence[int], models: Sequence[Any]) -> Any:
        self.models = models
        return super().mean(cohort, models)

    def server(self, x: Any, mean: Any, cohort: Sequence[int]) -> Any:
        new = [self.variate(i, x, y) for i, y in zip(cohort, self.models, strict=True)]
        change = sum(v - self.own[i] for i, v in zip(cohort, new, strict=True))
        for i, v in zip(cohort, new, strict=True):
            self.own[i] = v
        self.own = self.stored(cohort)
        self.c = self.c + self.of_changes(change, cohort)
        return x + self.eta_g * (mean - x)

    def stored(self, cohort: Sequence[int]) -> list[Any]:
        return self.own

    def of_changes(self, change: Any, cohort: Sequence[int]) -> Any:
        return change / self.n


class Momentum(Loop):
    """FedAvgM: v <- beta v + (mean - x), x <- x + eta_g v, beta = 1/2; with one step and eta_g = 1 heavy ball."""

    beta = 0.5

    def setup(self) -> None:
        self.v: Any = np.zeros(self.task.dimension)

    def buffer(self, change: Any) -> Any:
        return self.beta * self.v + change

    def move(self, change: Any, old: Any) -> Any:
        return self.eta_g * self.v

    def server(self, x: Any, mean: Any, cohort: Sequence[int]) -> Any:
        old, self.v = self.v, self.buffer(mean - x)
        return x + self.move(mean - x, old)


class Nesterov(Loop):
    """y = x + beta (x - x_previous), x <- y - eta grad F(y)."""

    def setup(self) -> None:
        self.previous = self.task.start

    def beta(self) -> float:
        return max(self.r - 1, 0) / (self.r + 2)

    def visit(self, i: int, x: Any) -> Any:
        return super().visit(i, x + self.beta() * (x - self.previous))

    def server(self, x: Any, mean: Any, cohort: Sequence[int]) -> Any:
        self.previous = x
        return mean


class Sgd(Loop):
    """Every client takes one step along the mean gradient of `batch` samples drawn with replacement."""

    def batches(self, i: int) -> Iterable[Any]:
        return [self.rng.integers(self.clients[i].size, size=self.batch)]
