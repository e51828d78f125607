"""Textbook methods in NumPy, each written from the pseudo-code of its paper, without boundcheck's own engines.

`METHODS`: name -> (specification, function). Numbers are those of the specification beside each. `RANDOM`: the names of
those that draw clients or samples.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import root

from boundcheck.judge.task import Task

Run = Callable[[Task, int], list[Any]]
METHODS: dict[str, tuple[dict[str, Any], Run]] = {}
ETA = 0.1


def textbook(name: str, **spec: Any) -> Callable[[Run], Run]:
    def enter(run: Run) -> Run:
        METHODS[name] = (spec, run)
        return run

    return enter


def full_gradient(task: Task, x: Any) -> Any:
    return sum(c.weight * c.gradient(x) for c in task.clients)


def rounds(task: Task, update: Callable[[Any, int], Any]) -> list[Any]:
    """x_1 = update(x_0, 0), x_2 = update(x_1, 1), ..."""
    x, points = task.start, list[Any]()
    for r in range(task.rounds):
        x = update(x, r)
        points.append(x)
    return points


# Deterministic methods


@textbook("gradient descent", kind="gradient_descent", eta="1/10")
def gradient_descent(task: Task, seed: int) -> list[Any]:
    return rounds(task, lambda x, r: x - ETA * full_gradient(task, x))


@textbook("gradient descent, decayed steps", kind="gradient_descent", eta="1/(10 + 2*r)")
def decayed(task: Task, seed: int) -> list[Any]:
    return rounds(task, lambda x, r: x - full_gradient(task, x) / (10 + 2 * r))


@textbook("heavy ball", kind="heavy_ball", eta="1/10", momentum_g="1/2")
def heavy_ball(task: Task, seed: int) -> list[Any]:
    old, x, points = task.start, task.start, []
    for _ in range(task.rounds):
        old, x = x, x - ETA * full_gradient(task, x) + 0.5 * (x - old)
        points.append(x)
    return points


def extrapolated(task: Task, momentum: Callable[[int], float]) -> list[Any]:
    x, y, points = task.start, task.start, []
    for k in range(task.rounds):
        new = y - ETA * full_gradient(task, y)
        y = new + momentum(k) * (new - x)
        x = new
        points.append(x)
    return points


@textbook("Nesterov, constant momentum", kind="nesterov", eta="1/10", momentum_g="1/2")
def nesterov(task: Task, seed: int) -> list[Any]:
    return extrapolated(task, lambda k: 0.5)


@textbook("Nesterov, growing momentum", kind="accelerated_gradient", eta="1/10")
def accelerated(task: Task, seed: int) -> list[Any]:
    return extrapolated(task, lambda k: k / (k + 3))  # y_k = x_k + (k - 1)/(k + 2) (x_k - x_(k-1)) from k = 1


@textbook("FISTA", kind="fista", eta="1/10")
def fista(task: Task, seed: int) -> list[Any]:
    t = [1.0]
    for _ in range(task.rounds + 1):
        t.append((1 + math.sqrt(1 + 4 * t[-1] ** 2)) / 2)
    return extrapolated(task, lambda k: (t[k] - 1) / t[k + 1])


@textbook("proximal point on each client (FedProx, exact)", kind="fedprox", mu=2, solver="exact")
def proximal_point(task: Task, seed: int) -> list[Any]:
    def update(x: Any, r: int) -> Any:
        return sum(c.weight * root(lambda y, c=c: c.gradient(y) + 2 * (y - x), x, tol=1e-14).x for c in task.clients)

    return rounds(task, update)


def steps(client: Any, x: Any, count: int, eta: float = ETA, more: Callable[[Any], Any] | None = None) -> Any:
    y = x
    for _ in range(count):
        y = y - eta * (client.gradient(y) + (0.0 if more is None else more(y)))
    return y


@textbook("FedAvg", kind="fedavg_weighted", K=3, eta_l="1/10")
def fedavg(task: Task, seed: int) -> list[Any]:
    n = task.sizes.sum()
    return rounds(task, lambda x, r: sum(c.size / n * steps(c, x, 3) for c in task.clients))


@textbook("FedAvg, server step", kind="fedavg_sync", K=3, eta_l="1/10", eta_g="3/2")
def server_step(task: Task, seed: int) -> list[Any]:
    return rounds(task, lambda x, r: x + 1.5 * sum(c.weight * (steps(c, x, 3) - x) for c in task.clients))


@textbook("FedAvg, weight decay", kind="fedavg", E=2, eta="1/10", weight_decay_l="1/20")
def weight_decay(task: Task, seed: int) -> list[Any]:
    return rounds(task, lambda x, r: np.mean([steps(c, x, 2, more=lambda y: y / 20) for c in task.clients], axis=0))


@textbook("FedAvg, local momentum", kind="fedavg", E=3, eta="1/10", momentum_l="1/2")
def local_momentum(task: Task, seed: int) -> list[Any]:
    def visit(c: Any, x: Any) -> Any:
        y, v = x, np.zeros_like(x)
        for _ in range(3):
            v = 0.5 * v + c.gradient(y)
            y = y - ETA * v
        return y

    return rounds(task, lambda x, r: np.mean([visit(c, x) for c in task.clients], axis=0))


@textbook("FedProx, gradient steps", kind="fedprox", mu=1, solver={"steps": 4, "eta": "1/10"})
def fedprox(task: Task, seed: int) -> list[Any]:
    return rounds(task, lambda x, r: sum(c.weight * steps(c, x, 4, more=lambda y: y - x) for c in task.clients))


@textbook("FedAvgM", kind="fedavgm", K=2, eta_l="1/10", momentum_g="7/10", eta_g="1/2")
def fedavgm(task: Task, seed: int) -> list[Any]:
    x, v, points = task.start, 0.0, []
    for _ in range(task.rounds):
        v = 0.7 * v + sum(c.weight * (x - steps(c, x, 2)) for c in task.clients)
        x = x - 0.5 * v
        points.append(x)
    return points


@textbook("FedNova", kind="fednova", eta="1/10", steps=[1, 2, 4])
def fednova(task: Task, seed: int) -> list[Any]:
    tau, p = [1, 2, 4], task.weights

    def update(x: Any, r: int) -> Any:
        d = [(x - steps(c, x, t)) / (ETA * t) for c, t in zip(task.clients, tau, strict=True)]
        return x - float(p @ tau) * ETA * sum(w * v for w, v in zip(p, d, strict=True))

    return rounds(task, update)


@textbook("DANE, inexact", kind="dane", mu=1, steps=3, eta="1/10")
def dane(task: Task, seed: int) -> list[Any]:
    def update(x: Any, r: int) -> Any:
        g = full_gradient(task, x)
        shifted = [lambda y, c=c: g - c.gradient(x) + (y - x) for c in task.clients]
        return np.mean([steps(c, x, 3, more=m) for c, m in zip(task.clients, shifted, strict=True)], axis=0)

    return rounds(task, update)


@textbook("FedLin", kind="fedlin", eta="1/10", steps=[1, 2, 3])
def fedlin(task: Task, seed: int) -> list[Any]:
    def update(x: Any, r: int) -> Any:
        g = [c.gradient(x) for c in task.clients]
        mean = np.mean(g, axis=0)
        ends = [steps(c, x, i + 1, ETA / (i + 1), more=lambda y, i=i: mean - g[i]) for i, c in enumerate(task.clients)]
        return np.mean(ends, axis=0)

    return rounds(task, update)


@textbook("Mime, running mean of gradients", kind="mime", eta_l="1/10", K=2, momentum_g="1/2")
def mime(task: Task, seed: int) -> list[Any]:
    x, m, points = task.start, np.zeros(task.dimension), []
    for _ in range(task.rounds):
        c = np.mean([k.gradient(x) for k in task.clients], axis=0)
        ends = []
        for k in task.clients:
            y, anchor = x, k.gradient(x)
            for _ in range(2):
                y = y - ETA * (0.5 * (k.gradient(y) - anchor + c) + 0.5 * m)
            ends.append(y)
        m, x = 0.5 * c + 0.5 * m, np.mean(ends, axis=0)
        points.append(x)
    return points


def scaffold(task: Task, seed: int, option: int, size: int = 0, batch: int = 0) -> list[Any]:
    """Algorithm 1 with K = 3 and eta_g = 1/2."""
    rng, n = np.random.default_rng([7, seed]), len(task.clients)
    x, c = task.start, np.zeros(task.dimension)
    own, points = [np.zeros(task.dimension) for _ in range(n)], []
    for _ in range(task.rounds):
        cohort = rng.permutation(n)[:size] if size else np.arange(n)
        dx, dc = np.zeros(task.dimension), np.zeros(task.dimension)
        for i in cohort:
            client: Any = task.clients[i]
            y = x
            for _ in range(3):
                g = client.gradient(y, rng.integers(client.size, size=batch)) if batch else client.gradient(y)
                y = y - ETA * (g - own[i] + c)
            new = client.gradient(x) if option == 1 else own[i] - c + (x - y) / (3 * ETA)
            dx, dc = dx + (y - x) / len(cohort), dc + (new - own[i]) / len(cohort)
            own[i] = new
        x, c = x + 0.5 * dx, c + len(cohort) / n * dc
        points.append(x)
    return points


SCAFFOLD: dict[str, Any] = {"kind": "scaffold", "K": 3, "eta_l": "1/10", "eta_g": "1/2"}
UNIFORM = {"kind": "uniform", "size": 2}
textbook("SCAFFOLD II", **SCAFFOLD)(lambda task, seed: scaffold(task, seed, 2))
textbook("SCAFFOLD I", **{**SCAFFOLD, "kind": "scaffold_option_1"})(lambda task, seed: scaffold(task, seed, 1))


@textbook("clients in turn (round robin)", kind="biased_sampling", K=2, eta_l="1/10", cohorts=[[0], [1], [2]])
def round_robin(task: Task, seed: int) -> list[Any]:
    return rounds(task, lambda x, r: steps(task.clients[r % 3], x, 2))


@textbook("asynchronous FedAvg", kind="fedavg_async", K=2, eta_l="1/10", times=[1, "7/5", "9/5"])
def asynchronous(task: Task, seed: int) -> list[Any]:
    times = [1.0, 1.4, 1.8]
    d = [sum(1 / t for t in times) * t * c.weight for t, c in zip(times, task.clients, strict=True)]
    x, points = task.start, []
    queue = [(t, i, x) for i, t in enumerate(times)]
    heapq.heapify(queue)
    while len(points) < task.rounds:
        now, i, sent = heapq.heappop(queue)
        x = x + d[i] * (steps(task.clients[i], sent, 2) - sent)
        heapq.heappush(queue, (now + times[i], i, x))
        points.append(x)
    return points


def averaged(task: Task, blocks: Callable[[int], Any], pick: Callable[[Any], Any]) -> list[Any]:
    """A step of every worker's model, then the plain mean of some coordinates; the mean model is seen."""
    models, points = [task.start for _ in task.clients], []
    for r in range(task.rounds):
        models = [y - ETA * c.gradient(y, pick(c)) for y, c in zip(models, task.clients, strict=True)]
        mean = np.mean(models, axis=0)
        for y in models:
            y[blocks(r)] = mean[blocks(r)]
        points.append(mean)
    return points


@textbook("partial model averaging", kind="partial_averaging", tau=2, eta="1/10", gradient="full")
def partial_averaging(task: Task, seed: int) -> list[Any]:
    half = task.dimension // 2
    return averaged(task, lambda r: slice(half, None) if r % 2 else slice(half), lambda c: None)


# Methods with random clients or samples


@textbook("local SGD", kind="periodic_averaging", tau=2, eta="1/10", batch=1)
def local_sgd(task: Task, seed: int) -> list[Any]:
    rng = np.random.default_rng([1, seed])
    return averaged(task, lambda r: slice(None if r % 2 else 0), lambda c: [rng.integers(c.size)])


def sgd(task: Task, seed: int, batch: int) -> list[Any]:
    # boundcheck draws at most as many samples as a client holds, so that batch is at most the smallest client's 2
    rng: Any = np.random.default_rng([2, seed])

    def update(x: Any, r: int) -> Any:
        return x - ETA * sum(c.weight * c.gradient(x, rng.integers(c.size, size=batch)) for c in task.clients)

    return rounds(task, update)


textbook("SGD, one sample", kind="sync_sgd", eta="1/10")(lambda task, seed: sgd(task, seed, 1))
textbook("SGD, mini-batches", kind="sync_sgd", eta="1/10", batch=2)(lambda task, seed: sgd(task, seed, 2))


def epochs(rng: Any, c: Any, x: Any, count: int, eta: float, batch: int = 1, mu: float = 0.0) -> Any:
    y = x
    for _ in range(count):
        order = rng.permutation(c.size)
        for k in range(0, c.size, batch):
            y = y - eta * (c.gradient(y, order[k : k + batch]) + mu * (y - x))
    return y


@textbook("random reshuffling (FedRR)", kind="fedrr", eta="1/10")
def fedrr(task: Task, seed: int) -> list[Any]:
    rng = np.random.default_rng([3, seed])
    return rounds(task, lambda x, r: np.mean([epochs(rng, c, x, 1, ETA) for c in task.clients], axis=0))


def sampled(
    task: Task, seed: int, visit: Callable[[Any, Any, Any], Any], draw: Callable[[Any], Sequence[int]], by_data: bool
) -> list[Any]:
    """FedAvg of the clients that `draw` gives, with equal weights or by their numbers of samples."""
    rng = np.random.default_rng([4, seed])

    def update(x: Any, r: int) -> Any:
        cohort = [task.clients[i] for i in draw(rng)]
        return np.average(
            [visit(rng, c, x) for c in cohort], axis=0, weights=[c.size for c in cohort] if by_data else None
        )

    return rounds(task, update)


def pair(rng: Any) -> Any:
    return rng.choice(3, size=2, replace=False)


@textbook("FedAvg, sampled clients", kind="fedavg", E=2, eta="1/10", size=2)
def sampled_clients(task: Task, seed: int) -> list[Any]:
    return sampled(task, seed, lambda rng, c, x: steps(c, x, 2), pair, by_data=False)


@textbook("FedAvg, cohort weights", kind="fedavg_weighted", E=1, batch=2, eta_l="1/10", participation=UNIFORM)
def cohort_weights(task: Task, seed: int) -> list[Any]:
    return sampled(task, seed, lambda rng, c, x: epochs(rng, c, x, 1, ETA, batch=2), pair, by_data=True)


@textbook("FedProx, sampled, epochs", kind="fedprox", mu=1, E=2, eta="1/10", participation="uniform", K=2)
def sampled_fedprox(task: Task, seed: int) -> list[Any]:
    return sampled(task, seed, lambda rng, c, x: epochs(rng, c, x, 2, ETA, mu=1.0), pair, by_data=False)


@textbook("FedAvg, importance sampling", kind="md_sampling", K=2, eta_l="1/10", m=2)
def importance(task: Task, seed: int) -> list[Any]:
    return sampled(
        task, seed, lambda rng, c, x: steps(c, x, 2), lambda rng: rng.choice(3, size=2, p=task.weights), by_data=False
    )


textbook("SCAFFOLD II, sampled", **SCAFFOLD, batch=1, participation=UNIFORM)(
    lambda task, seed: scaffold(task, seed, 2, size=2, batch=1)
)


@textbook("FedShuffle", kind="fedshuffle", eta_l="1/5", E=2, participation=UNIFORM)
def fedshuffle(task: Task, seed: int) -> list[Any]:
    rng = np.random.default_rng([5, seed])

    def update(x: Any, r: int) -> Any:
        cohort = [task.clients[i] for i in pair(rng)]
        return x - sum(c.weight / (2 / 3) * (x - epochs(rng, c, x, 2, 0.2 / c.size)) for c in cohort)

    return rounds(task, update)


@textbook("FedDANE", kind="feddane", mu=1, K=2, solver={"steps": 3, "eta": "1/10"})
def feddane(task: Task, seed: int) -> list[Any]:
    rng = np.random.default_rng([6, seed])

    def update(x: Any, r: int) -> Any:
        first, second = (rng.choice(3, size=2, p=task.weights) for _ in range(2))
        g = np.mean([task.clients[i].gradient(x) for i in first], axis=0)
        ends = []
        for i in second:
            c = task.clients[i]
            own = c.gradient(x)
            ends.append(steps(c, x, 3, more=lambda y, own=own: g - own + (y - x)))
        return np.mean(ends, axis=0)

    return rounds(task, update)


@textbook("SAGA", kind="saga", eta="1/10")
def saga(task: Task, seed: int) -> list[Any]:
    rng, x, points = np.random.default_rng([8, seed]), task.start, []
    table = [c.gradient(x) for c in task.clients]
    for _ in range(task.rounds):
        j = int(rng.integers(len(table)))
        g = task.clients[j].gradient(x)
        x = x - ETA * (g - table[j] + np.mean(table, axis=0))
        table[j] = g
        points.append(x)
    return points


@textbook("SVRG", kind="svrg", eta="1/10", inner=2)
def svrg(task: Task, seed: int) -> list[Any]:
    rng, w, points = np.random.default_rng([9, seed]), task.start, []
    while len(points) < task.rounds:
        reference = w
        mean = np.mean([c.gradient(reference) for c in task.clients], axis=0)
        for _ in range(2):
            c = task.clients[int(rng.integers(len(task.clients)))]
            w = w - ETA * (c.gradient(w) - c.gradient(reference) + mean)
            points.append(w)
    return points[: task.rounds]


RANDOM = list(METHODS)[list(METHODS).index("local SGD") :]
