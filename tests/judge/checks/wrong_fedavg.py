"""FedAvg with reshuffled epochs in plain NumPy, and wrong copies of it with the check that is to catch each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from boundcheck.judge.task import Task

FULL: dict[str, Any] = {"kind": "fedavg_rr", "eta_l": "1/10", "E": 2}
SOME: dict[str, Any] = {**FULL, "eta_g": "3/4", "participation": {"kind": "uniform", "size": 2}}
BATCHES: dict[str, Any] = {**FULL, "batch": 2}
BY_WEIGHT: dict[str, Any] = {**FULL, "participation": "one_by_weight"}
SLOWING: dict[str, Any] = {**FULL, "eta_l": {"value": "1/10", "at": [2], "factor": "1/2"}}
MOMENTUM: dict[str, Any] = {**FULL, "momentum": {"a": "1/3", "form": "practical"}}


@dataclass
class FedAvg:
    """FedAvg of a task; each field is a place in which a copy can be wrong."""

    cohort: Callable[[Any, int, int], Any] = lambda rng, n, size: rng.choice(n, size, replace=False)
    order: Callable[[Any, int], Any] = lambda rng, size: rng.permutation(size)
    generator: Callable[[Task, int], Any] = lambda task, seed: task.generator(seed)
    batches: Callable[[Any, int], Any] = lambda order, size: [order[k : k + size] for k in range(0, len(order), size)]
    gradient: Callable[[Any, Any, Any], Any] = lambda client, y, samples: client.gradient(y, samples)
    length: Callable[[int, float], float] = lambda client, eta: eta
    eta: Callable[[Task, int], float] = lambda task, r: float(task.step_sizes[r])
    steps: Callable[[int, int], int] = lambda client, steps: steps
    weights: Callable[[Task, Any], Any] = lambda task, cohort: (
        np.array([task.clients[i].weight for i in cohort]) / sum(task.clients[i].weight for i in cohort)
    )
    server: Callable[[Task], float] = lambda task: task.parameters.get("eta_g", 1.0)
    begin: Callable[[Any, Any, Any], Any] = lambda x, before, y: x
    after: Callable[[Any, Any], Any] = lambda x, new: new
    keep: Callable[[Any, Any], Any] = lambda m, fresh: m
    start: Callable[[Task], Any] = lambda task: task.start
    memory: dict[str, Any] = field(default_factory=dict[str, Any])

    def __call__(self, task: Task, seed: int) -> list[Any]:
        rng, n = self.generator(task, seed), len(task.clients)
        size = int(task.parameters.get("size", n))
        x = before = y = self.start(task)
        a, m = task.parameters.get("a", 1.0), self.memory.get("m", 0 * x)
        points = list[Any]()
        for r in range(task.rounds):
            cohort, eta = self.cohort(rng, n, size), self.eta(task, r)
            moved, fresh = 0 * x, 0 * x
            for i, w in zip(cohort, self.weights(task, cohort), strict=True):
                client, length = task.clients[i], self.length(i, eta)
                y = start = self.begin(x, before, y)
                epochs = [self.order(rng, client.size) for _ in range(int(task.parameters["E"]) + 2)]
                epochs = [self.batches(np.array(e), int(task.parameters["batch"])) for e in epochs]
                taken = int(task.parameters["E"]) * len(epochs[0])
                for k in [batch for epoch in epochs for batch in epoch][: self.steps(i, taken)]:
                    y = y - length * (a * self.gradient(client, y, k) + (1 - a) * m)
                moved = moved + w * (y - start)
                fresh = fresh + client.weight * (start - y) / (taken * eta)
            if "a" in task.parameters:
                m = self.keep((1 - a) * m + a * fresh, fresh)
                if self.memory:
                    self.memory["m"] = m
            before, x = x, self.after(x, x + self.server(task) * moved)
            points.append(x)
        return points


@dataclass(frozen=True)
class Wrong:
    """A wrong implementation of `spec`, and the check that is to catch it; client: whom a failure is to name."""

    run: Callable[[Task, int], Any]
    caught_by: str
    spec: Mapping[str, Any] = field(default_factory=lambda: FULL)
    client: str = ""


def _in_place(task: Task, seed: int) -> list[Any]:
    """Returns the same array after each round."""
    right, x = FedAvg()(task, seed), np.zeros(task.dimension)
    points = list[Any]()
    for point in right:
        x[:] = point
        points.append(x)
    return points


def _changes_task(task: Task, seed: int) -> list[Any]:
    points = FedAvg()(task, seed)
    task.step_sizes[:] = task.step_sizes / 2
    return points


def _single(task: Task, seed: int) -> list[Any]:
    """Rounds every local model to single precision."""
    return FedAvg(gradient=lambda c, y, s: c.gradient(np.float32(y).astype(float), s))(task, seed)


def _by_position(task: Task, cohort: Any) -> Any:
    shares = np.array([1.0 + (i == 0) for i in cohort])
    return shares / shares.sum()


def _first_two(values: Any) -> Any:
    return values[[1, 0, *range(2, len(values))]] if len(values) > 1 else values


RIGHT = FedAvg()
WEIGHTS = RIGHT.weights
WRONG: dict[str, Wrong] = {
    "unweighted": Wrong(FedAvg(weights=lambda t, c: np.full(len(c), 1 / len(c))), "unequal_weights"),
    "weights swapped": Wrong(FedAvg(weights=lambda t, c: _first_two(t.weights)[c]), "unequal_weights", client="0, 1"),
    "one client with doubled step": Wrong(
        FedAvg(length=lambda i, eta: 2 * eta if i == 1 else eta), "exact_after_one_round", client="1"
    ),
    "one step fewer": Wrong(FedAvg(steps=lambda i, k: k - 1), "number_of_local_steps"),
    "half the step size": Wrong(FedAvg(length=lambda i, eta: eta / 2), "one_client_is_gradient_descent"),
    "weights that sum to 1.01": Wrong(FedAvg(weights=lambda t, c: 1.01 * WEIGHTS(t, c)), "equal_clients"),
    "does not reset y to x": Wrong(FedAvg(begin=lambda x, before, y: y), "order_of_clients"),
    "works on the model of the round before": Wrong(FedAvg(begin=lambda x, before, y: before), "exact_after_k_rounds"),
    "returns one array for all rounds": Wrong(_in_place, "rounds_are_a_prefix"),
    "samples with replacement": Wrong(
        FedAvg(order=lambda rng, size: rng.integers(size, size=size)), "samples_once_an_epoch"
    ),
    "ignores the seed": Wrong(FedAvg(generator=lambda t, seed: t.generator(1)), "seeds_differ", SOME),
    "one cohort for all rounds": Wrong(
        FedAvg(
            generator=lambda t, seed: seed,
            cohort=lambda seed, n, m: np.random.default_rng(seed).choice(n, m, False),
            order=lambda seed, size: range(size),
        ),
        "cohorts_are_drawn_anew",
        SOME,
    ),
    "cohorts with replacement": Wrong(
        FedAvg(cohort=lambda rng, n, m: rng.choice(n, m)), "unbiased_participation", SOME
    ),
    "client 0 always takes part": Wrong(
        FedAvg(cohort=lambda rng, n, m: [0, *rng.choice(np.arange(1, n), m - 1, replace=False)]),
        "unbiased_participation",
        SOME,
    ),
    "uniform instead of by weight": Wrong(
        FedAvg(cohort=lambda rng, n, m: rng.choice(n, 1)), "unbiased_participation", BY_WEIGHT
    ),
    "weights not normalised in the cohort": Wrong(
        FedAvg(weights=lambda t, c: np.array([t.weights[i] for i in c])), "equal_clients", SOME
    ),
    "no server step size": Wrong(FedAvg(server=lambda t: 1.0), "server_step_size", SOME),
    "momentum without its weight": Wrong(FedAvg(keep=lambda m, fresh: m + fresh), "exact_after_k_rounds", MOMENTUM),
    "momentum kept from run to run": Wrong(FedAvg(memory={"m": 0.0}), "seeds_repeat", MOMENTUM),
    "only the last client": Wrong(
        FedAvg(weights=lambda t, c: np.arange(len(c)) == len(c) - 1), "one_local_step_is_a_server_step"
    ),
    "averages twice": Wrong(FedAvg(after=lambda x, new: (x + new) / 2), "one_client_is_gradient_descent"),
    "single precision": Wrong(_single, "exact_after_one_round"),
    "weights by position": Wrong(FedAvg(weights=_by_position), "order_of_clients"),
    "starts at zero": Wrong(FedAvg(start=lambda t: 0 * t.start), "starts_at_the_start"),
    "decays the weights": Wrong(
        FedAvg(gradient=lambda c, y, s: c.gradient(y, s) + 0.01 * y), "zero_objectives_move_nothing"
    ),
    "decays towards another point": Wrong(FedAvg(gradient=lambda c, y, s: c.gradient(y, s) + 0.01 * y), "translation"),
    "clips gradients": Wrong(
        FedAvg(gradient=lambda c, y, s: (g := c.gradient(y, s)) / max(1.0, float(np.linalg.norm(g)))),
        "coordinates_do_not_leak",
    ),
    "normalises gradients": Wrong(
        FedAvg(gradient=lambda c, y, s: (g := c.gradient(y, s)) / (1e-300 + float(np.linalg.norm(g)))),
        "step_size_scales",
    ),
    "adds noise": Wrong(FedAvg(gradient=lambda c, y, s: c.gradient(y, s) + 1e-6), "minimiser_is_a_fixed_point"),
    "changes the step sizes of its task": Wrong(_changes_task, "inputs_are_not_modified"),
    "step size falls with the share of rounds": Wrong(
        FedAvg(eta=lambda t, r: t.step_sizes[r] * (1 - r / t.rounds)), "rounds_are_a_prefix"
    ),
    "step size of the first round": Wrong(FedAvg(eta=lambda t, r: t.step_sizes[0]), "changing_step_size", SLOWING),
    "sum of samples instead of their mean": Wrong(
        FedAvg(gradient=lambda c, y, s: c.size * c.gradient(y, s)), "unequal_local_steps"
    ),
    "drops an incomplete batch": Wrong(
        FedAvg(batches=lambda order, size: [order[k : k + size] for k in range(0, len(order) - size + 1, size)]),
        "last_batch_of_an_epoch",
        BATCHES,
    ),
}
