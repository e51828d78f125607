"""SCAFFOLD, SAGA and SVRG as their papers print them: plain loops over NumPy arrays, in fractions or doubles.

A loop asks its `source` for every random choice. `Enumerated` goes through all of them; `Planned` takes those of the
sampled engine's plan.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from exact_brute import Choices

from boundcheck.engines.simulate import Plan

Samples = Sequence[tuple[np.ndarray, np.ndarray]]  # of one client: A (d, d) and b (d,) of each sample


class Source(Protocol):
    """Who takes part, which samples the steps use, and which point becomes the next reference point."""

    def cohort(self, r: int) -> Sequence[int]: ...
    def batches(self, r: int, client: int) -> Sequence[Sequence[int]]: ...
    def reference(self, epoch: int, inner: int) -> int: ...


@dataclass
class Enumerated:
    """cohorts: those that are equally likely. work: r, client, choices -> samples of each step."""

    choices: Choices
    cohorts: Sequence[Sequence[int]]
    work: Callable[[int, Choices], Sequence[Sequence[int]]]

    def cohort(self, r: int) -> Sequence[int]:
        return self.choices.one(self.cohorts)

    def batches(self, r: int, client: int) -> Sequence[Sequence[int]]:
        return self.work(client, self.choices)

    def reference(self, epoch: int, inner: int) -> int:
        return self.choices.one(range(inner))


@dataclass
class Planned:
    """The choices of one seed of the sampled engine."""

    plan: Plan

    def cohort(self, r: int) -> Sequence[int]:
        return self.plan.cohort(r)

    def batches(self, r: int, client: int) -> Sequence[Sequence[int]]:
        return self.plan.batches(r, client)

    def reference(self, epoch: int, inner: int) -> int:
        """The last of the points that were taken: the one before step t with probability 1/(t + 1)."""
        return max(t for t in range(inner) if t == 0 or self.plan.number(epoch * inner + t) == 0)


def gradient(samples: Samples, x: np.ndarray, batch: Sequence[int] | None = None) -> np.ndarray:
    chosen = range(len(samples)) if batch is None else batch
    return sum(samples[j][0] @ x - samples[j][1] for j in chosen) / len(chosen)


def whole(clients: Sequence[Samples], steps: int) -> Callable[[int, Choices], Sequence[Sequence[int]]]:
    """So many steps with all samples of the client."""
    return lambda i, _: [range(len(clients[i]))] * steps


def reshuffled(clients: Sequence[Samples], epochs: Sequence[int]) -> Callable[[int, Choices], Sequence[Sequence[int]]]:
    """Single samples in a fresh order in each of so many epochs; the number is drawn where there are several."""

    def work(i: int, choices: Choices) -> Sequence[Sequence[int]]:
        found: list[Sequence[int]] = []
        for _ in range(choices.one(epochs)):
            found += [[j] for j in choices.one(list(itertools.permutations(range(len(clients[i])))))]
        return found

    return work


def replaced(clients: Sequence[Samples], steps: int) -> Callable[[int, Choices], Sequence[Sequence[int]]]:
    """So many steps, each with a fresh sample."""
    return lambda i, choices: [[choices.one(range(len(clients[i])))] for _ in range(steps)]


def scaffold(
    clients: Sequence[Samples], x: Any, source: Source, rounds: int, eta: Any, eta_g: Any, option: str,
    start: str = "zero", weights: Sequence[Any] | None = None, inclusion: Sequence[Any] | None = None,
) -> list[np.ndarray]:  # fmt: skip
    """Algorithm 1 of Karimireddy et al.; the server's points. With weights: w_i/p_i, w_i in the place of 1/|S|, 1/N."""
    n = len(clients)
    zero = 0 * x
    variates = [gradient(own, x) if start == "gradient" else zero for own in clients]
    if weights is None:
        c = sum(variates) / n
    else:
        c = sum(w * v for w, v in zip(weights, variates, strict=True))
    points = [x]
    for r in range(rounds):
        cohort = source.cohort(r)
        moves, changes = {}, {}
        for i in cohort:  # communicate (x, c) to all clients of S
            y = x
            batches = source.batches(r, i)
            for batch in batches:
                y = y - eta * (gradient(clients[i], y, batch) - variates[i] + c)
            if option == "I":
                renewed = gradient(clients[i], x)
            else:
                renewed = variates[i] - c + (x - y) / (len(batches) * eta)
            moves[i], changes[i] = y - x, renewed - variates[i]
            variates[i] = renewed
        if cohort and weights is None:
            x = x + eta_g * sum(moves.values()) / len(cohort)
            c = c + sum(changes.values()) / n  # |S|/N of their mean
        elif weights is not None:
            for i in cohort:
                x = x + eta_g * weights[i] / inclusion[i] * moves[i]
                c = c + weights[i] * changes[i]
        points.append(x)
    return points


def saga(clients: Sequence[Samples], x: Any, source: Source, steps: int, eta: Any) -> list[np.ndarray]:
    """Algorithm 1 of Defazio et al., with a table of points phi_i."""
    n = len(clients)
    phi, points = [x] * n, [x]
    for k in range(steps):
        (j,) = source.cohort(k)
        mean = sum(gradient(clients[i], phi[i]) for i in range(n)) / n
        step = gradient(clients[j], x) - gradient(clients[j], phi[j]) + mean
        phi[j], x = x, x - eta * step
        points.append(x)
    return points


def svrg(
    clients: Sequence[Samples], w: Any, source: Source, epochs: int, m: int, eta: Any, option: str
) -> list[np.ndarray]:
    """Figure 1 of Johnson and Zhang; the points w_t of the steps, with the next reference point for w_m."""
    n, tilde, points = len(clients), w, [w]
    for s in range(epochs):
        mu = sum(gradient(own, tilde) for own in clients) / n
        inner = [tilde]
        for t in range(m):
            (i,) = source.cohort(s * m + t)
            inner.append(inner[-1] - eta * (gradient(clients[i], inner[-1]) - gradient(clients[i], tilde) + mu))
        if option == "last":
            tilde = inner[m]
        elif option == "random":
            tilde = inner[source.reference(s, m)]
        else:
            tilde = sum(inner[:m]) / m
        points += [*inner[1:m], tilde]
    return points
