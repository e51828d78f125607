"""Many small quadratic instances at once, in float64: the exact engine's cycle map, batched over instances.

For searches, which want 10^5 instances a second and re-evaluate exactly what they find.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from boundcheck.engines.curve import Floats
from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import GradientSteps

_FURTHER = ("momentum", "correction", "control", "exchange", "client_optimizer", "server_momentum", "functions")
MAX_PERIOD = 20_000  # rounds of a cycle that are composed


def not_carried(method: Method, clients: Clients) -> str:
    """Why this module cannot carry a method, as the end of a sentence; empty if it can."""
    lacking = [
        *(["changes its step size"] if not method.schedule.is_constant() else []),
        *(["is random"] if method.is_random(clients) else []),
        *(["takes local steps without full gradients"] if not isinstance(method.local, GradientSteps) else []),
        *(f"has a {name.replace('_', ' ')}" for name in _FURTHER if method.parts[name] is not None),
    ]
    return ", ".join(lacking)


def cycle_map(method: Method, A: Floats, b: Floats, eta: Floats) -> tuple[Floats, int]:
    """The affine map of one cycle, and the rounds that it takes.

    A (B, n, d, d) and b (B, n, d): client gradients A_i x - b_i; eta (B,): step sizes, over the method's own.
    Returns H (B, d+1, d+1) with [x; 1] -> H [x; 1]. Raises Unsupported for random methods and step sizes that
    change from cycle to cycle.
    """
    count, n, d, _ = A.shape
    clients = Clients.alike(n)
    rounds = method.participation.period(clients)
    if rounds > MAX_PERIOD:
        raise Unsupported(f"the rounds of '{method.name}' repeat too late for the batched search.")
    lacking = not_carried(method, clients)
    if lacking or not isinstance(method.local, GradientSteps):
        raise Unsupported(f"the batched search cannot carry the method '{method.name}': it {lacking}.")
    visits = np.zeros((count, n, d + 1, d + 1))
    step = eta[:, None, None, None]
    visits[:, :, :d, :d] = np.eye(d) - step * A
    visits[:, :, :d, d] = eta[:, None, None] * b
    visits[:, :, d, d] = 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        visits = np.linalg.matrix_power(visits, method.local.E)
        total = np.broadcast_to(np.eye(d + 1), (count, d + 1, d + 1))
        for r in range(rounds):
            cohort = method.participation.fixed(r, clients)
            assert cohort is not None
            shares = [float(a) for a in method.factors(cohort, clients)]
            one = (1 - sum(shares)) * np.eye(d + 1) + sum(a * visits[:, i] for a, i in zip(shares, cohort, strict=True))
            total = one @ total
    return total, rounds


def doublings(H: Floats, start: Floats, cycles: int) -> Iterator[tuple[int, Floats]]:
    """(K, points (B, d)) for K = 1, 2, 4, ... up to `cycles`; start (B, d)."""
    z0 = np.concatenate([start, np.ones((len(start), 1))], axis=1)[..., None]
    done, power = 1, H
    with np.errstate(over="ignore", invalid="ignore"):
        while done <= cycles:
            yield done, (power @ z0)[:, :-1, 0]
            power = power @ power
            done *= 2
