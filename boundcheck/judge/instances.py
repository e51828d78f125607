"""An instance on which a method and its mistakes differ: weights, curvatures, minimisers and sizes are distinct."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from boundcheck.errors import BoundcheckError, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.problems.build import build
from boundcheck.problems.problem import Problem

_COUNTS = (3, 4, 2, 5, 6, 7, 8, 1)  # of clients that are tried: a method may fix their number


def telling_problem(method: Method) -> Problem:
    """Quadratics in two dimensions for a method, whose steps are at most half of 1/L.

    Client i holds i + 2 samples and has their share as its weight. Raises Unsupported for a method that fits no number
    of clients up to 8.
    """
    for count in _COUNTS:
        sizes = [i + 2 for i in range(count)]
        clients = Clients([Fraction(s, sum(sizes)) for s in sizes], sizes)
        try:
            method.check(clients, 2)
        except BoundcheckError:
            continue
        scales = [v.scale for i in range(count) for _, v in method.local.visits(i, tuple(range(count)), clients)]
        step = method.schedule.step(1) * max(scales)
        return build(_spec(clients, 1 / (2 * step)))
    raise Unsupported(f"{method.name} fits no problem of at most 8 clients that distinguishes its mistakes; give one.")


def _spec(clients: Clients, smooth: Fraction) -> dict[str, Any]:
    """Components with curvatures between smooth/6 and smooth, no two alike."""
    total = sum(clients.sizes)
    made, k = list[dict[str, Any]](), 0
    for size in clients.sizes:
        own: list[dict[str, Any]] = []
        for _ in range(size):
            k += 1
            share = Fraction(k, total)
            first, second = smooth * (1 + 3 * share) / 5, smooth * (4 - 3 * share) / 6
            cross = smooth * Fraction(k * k % 7, 100)
            minimiser = (Fraction(k * k % 5 - 2), Fraction(k % 4 - 1, 2))
            a = [[first, cross], [cross, second]]
            own.append(
                {
                    "A": [[str(v) for v in row] for row in a],
                    "b": [str(sum(v * m for v, m in zip(row, minimiser, strict=True))) for row in a],
                }
            )
        made.append({"components": own})
    weights = [str(w) for w in clients.weights]
    name = f"{len(clients.sizes)} quadratics that tell mistakes apart"
    return {"kind": "quadratics", "clients": made, "weights": weights, "start": ["3", "-2"], "name": name}
