"""SCAFFOLD, SAGA and SVRG as their papers print them: plain loops over NumPy arrays, with the choices of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.core import streams
from boundcheck.engines.sampled import Plan

Samples = Sequence[tuple[np.ndarray, np.ndarray]]  # of one client: A (d, d) and b (d,) of each sample


def vector(values: Sequence[Any]) -> np.ndarray:
    """The numbers as fractions."""
    return np.array([Fraction(v) for v in values], dtype=object)


def reference(plan: Plan, epoch: int, inner: int) -> int:
    """Which point of an epoch becomes the next reference point."""
    return int(streams.below(streams.words([plan.seed], 8, epoch, 0, 0, 1), inner)[0, 0])


def gradient(samples: Samples, x: np.ndarray, batch: Sequence[int] | None = None) -> np.ndarray:
    chosen = range(len(samples)) if batch is None else batch
    return sum(samples[j][0] @ x - samples[j][1] for j in chosen) / len(chosen)


def scaffold(
    clients: Sequence[Samples], x: Any, source: Plan, rounds: int, eta: Any, eta_g: Any, option: str,
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


def saga(clients: Sequence[Samples], x: Any, source: Plan, steps: int, eta: Any) -> list[np.ndarray]:
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
    clients: Sequence[Samples], w: Any, source: Plan, epochs: int, m: int, eta: Any, option: str
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
            tilde = inner[reference(source, s, m)]
        else:
            tilde = sum(inner[:m]) / m
        points += [*inner[1:m], tilde]
    return points
