"""Random quadratics whose runs the paths reader goes through outcome by outcome, in fractions.

The paths reader takes gradients of samples alone; the exact and the sampled engine, which are held against it, read the
same problems as matrices (`Toy.spec`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from boundcheck.core.linalg import column, matrix, to_fractions
from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact.paths_rounds import Walk
from boundcheck.errors import Unsupported
from boundcheck.methods.method import Method
from boundcheck.problems.quadratics import Component, Quadratics, build

Point = tuple[Fraction, ...]
Outcomes = dict[Point, Fraction]  # point -> its probability
MOST_OUTCOMES = 400  # points that are followed


class Toy(Quadratics):
    """Quadratics with gradients of their samples, as `Stepped` has them."""

    arithmetics = ("rational",)

    def gradient_of(self, client: int, sample: int | None, x: Sequence[Any]) -> list[Any]:
        """See `Stepped`."""
        own = self.components[client] if sample is None else (self.components[client][sample],)
        a, b = _mean(own)
        return list(a @ np.array(x, dtype=object) - b)

    def metric_of(self, name: str, x: Sequence[Any]) -> Any:
        """See `Stepped`."""
        return self.metric(name, np.array(x, dtype=object))

    def proximal(self, client: int, centre: Any, shift: Any, mu: Fraction) -> list[Fraction]:
        """See `problem.OPTIONAL`."""
        a, b = _mean(self.components[client])
        wanted = b + mu * np.array(centre) - np.array(shift)
        solution = matrix(a + mu * np.eye(self.dim, dtype=int)).solve(column(wanted))
        return list(to_fractions(solution)[:, 0])


def _mean(components: Sequence[Component]) -> tuple[Any, Any]:
    """A (d, d) and b (d,) of the mean of some components."""
    count = Fraction(len(components))
    return sum(np.array(c.A) for c in components) / count, sum(np.array(c.b) for c in components) / count


def random_toy(seed: int, clients: int = 3) -> Toy:
    """Quadratics in two dimensions with unequal weights, sizes and curvatures; sizes 1, 2, 2, 1, 2, ..."""
    draw = Random(seed)
    tables: list[dict[str, Any]] = []
    for i in range(clients):
        own: list[dict[str, Any]] = []
        for _ in range(1 if i % 3 == 0 else 2):
            off = Fraction(draw.randint(-2, 2), 2)
            a = [[draw.randint(2, 5), off], [off, draw.randint(2, 5)]]
            own.append({"A": a, "b": [draw.randint(-6, 6), draw.randint(-6, 6)]})
        tables.append({"components": own})
    raw = draw.sample(range(1, 2 * clients + 2), clients)
    weights = [Fraction(v, sum(raw)) for v in raw]
    start = [draw.randint(1, 4), draw.randint(-4, -1)]
    return Toy(**vars(build(clients=tables, weights=weights, start=start, name="random quadratics")))


def trajectories(method: Method, toy: Toy, rounds: int) -> list[Outcomes]:
    """The server's point after 0, 1, ... rounds with probabilities: as many rounds as can be gone through, at least 1.

    Raises Unsupported where a single round has too many outcomes, or the paths reader does not carry the method out.
    """
    found: list[Outcomes] = []
    try:
        for _, histories in Walk(method, toy, Arithmetic.RATIONAL).rounds(range(rounds + 1), lambda share: None):
            outcomes: Outcomes = {}
            for history in histories:
                x = tuple(history.server["x"])
                outcomes[x] = outcomes.get(x, Fraction(0)) + history.p
            if len(outcomes) > MOST_OUTCOMES and len(found) > 1:
                break
            found.append(outcomes)
    except Unsupported:
        if len(found) < 2:
            raise
    return found


def expected(values: Mapping[Point, Fraction], toy: Toy) -> Fraction:
    """E |x - x*|^2."""
    return sum((p * toy.metric_of("dist2", x) for x, p in values.items()), Fraction(0))
