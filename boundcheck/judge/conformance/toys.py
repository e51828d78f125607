"""Random quadratics whose runs the paths reader goes through outcome by outcome, in fractions.

The paths reader takes gradients of samples alone; the exact and the sampled engine, which are held against it, read the
same problems as matrices (`Toy.spec`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import Any

import numpy as np

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact.paths_rounds import Walk
from boundcheck.errors import Unsupported
from boundcheck.methods.method import Method

Point = tuple[Fraction, ...]
Matrix = tuple[Point, ...]
Outcomes = dict[Point, Fraction]  # point -> its probability
MOST_OUTCOMES = 400  # points that are followed


@dataclass(frozen=True)
class Toy:
    """Quadratics: sample j of client i has the gradient A x - b, (A, b) = samples[i][j]; the client is their mean."""

    samples: tuple[tuple[tuple[Matrix, Point], ...], ...]
    weights: tuple[Fraction, ...]
    start: Point

    @property
    def name(self) -> str:
        """For reports."""
        return "random quadratics"

    @property
    def metrics(self) -> tuple[str, ...]:
        """The distance to the minimiser."""
        return ("dist2",)

    @property
    def arithmetics(self) -> tuple[str, ...]:
        """Fractions."""
        return ("rational",)

    def proximal(self, client: int, centre: Any, shift: Any, mu: Fraction) -> Point:
        """See `problem.OPTIONAL`."""
        d, own = range(len(self.start)), self.samples[client]
        share, zero = Fraction(1, len(own)), Fraction(0)
        a = [tuple(sum((share * s[0][k][m] for s in own), mu * (k == m)) for m in d) for k in d]
        b = [sum((share * s[1][k] for s in own), zero) + mu * centre[k] - shift[k] for k in d]
        return solved(tuple(a), tuple(b))

    @property
    def clients(self) -> int:
        """How many there are."""
        return len(self.samples)

    @property
    def dim(self) -> int:
        """Of the points."""
        return len(self.start)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Samples of each client."""
        return tuple(len(own) for own in self.samples)

    def gradient_of(self, client: int, sample: int | None, x: Sequence[Any]) -> list[Any]:
        """See `Stepped`."""
        own = self.samples[client] if sample is None else [self.samples[client][sample]]
        found = [Fraction(0)] * len(x)
        for a, b in own:
            for k, row in enumerate(a):
                found[k] += (sum((v * w for v, w in zip(row, x, strict=True)), Fraction(0)) - b[k]) / len(own)
        return found

    def metric_of(self, name: str, x: Sequence[Any]) -> Any:
        """See `Stepped`."""
        return self.dist2(tuple(x))

    def gradient(self, client: int, x: Any) -> Any:
        """See `Problem`."""
        return np.array(self.gradient_of(client, None, list(x)))

    def metric(self, name: str, x: Any) -> Any:
        """See `Problem`."""
        return self.dist2(tuple(x))

    def constants(self) -> Mapping[str, Any]:
        """None: no check uses them."""
        return {}

    def violations(self, assumption: str) -> str | None:
        """None: no check uses them."""
        return None

    @property
    def spec(self) -> dict[str, Any]:
        """The same problem for the engines."""
        components = [
            {"components": [{"A": [[str(v) for v in row] for row in a], "b": [str(v) for v in b]} for a, b in own]}
            for own in self.samples
        ]
        shared = {"weights": [str(w) for w in self.weights], "start": [str(v) for v in self.start]}
        return {"kind": "quadratics", "clients": components, **shared}

    @cached_property
    def objective(self) -> tuple[Matrix, Point]:
        """(H, g) with grad F(x) = H x - g."""
        d = len(self.start)
        h = [[Fraction(0)] * d for _ in range(d)]
        g = [Fraction(0)] * d
        for w, own in zip(self.weights, self.samples, strict=True):
            for a, b in own:
                for k in range(d):
                    g[k] += w * b[k] / len(own)
                    for m in range(d):
                        h[k][m] += w * a[k][m] / len(own)
        return tuple(tuple(row) for row in h), tuple(g)

    @cached_property
    def minimiser(self) -> Point:
        """x* with H x* = g."""
        return solved(*self.objective)

    def dist2(self, x: Point) -> Fraction:
        """|x - x*|^2."""
        return sum(((a - b) ** 2 for a, b in zip(x, self.minimiser, strict=True)), Fraction(0))


def random_toy(seed: int, clients: int = 3) -> Toy:
    """Quadratics in two dimensions with unequal weights, sizes and curvatures; sizes 1, 2, 2, 1, 2, ..."""
    draw = Random(seed)
    samples: list[tuple[tuple[Matrix, Point], ...]] = []
    for i in range(clients):
        own: list[tuple[Matrix, Point]] = []
        for _ in range(1 if i % 3 == 0 else 2):
            off = Fraction(draw.randint(-2, 2), 2)
            a = ((Fraction(draw.randint(2, 5)), off), (off, Fraction(draw.randint(2, 5))))
            own.append((a, (Fraction(draw.randint(-6, 6)), Fraction(draw.randint(-6, 6)))))
        samples.append(tuple(own))
    raw = draw.sample(range(1, 2 * clients + 2), clients)
    weights = tuple(Fraction(v, sum(raw)) for v in raw)
    return Toy(tuple(samples), weights, (Fraction(draw.randint(1, 4)), Fraction(draw.randint(-4, -1))))


def solved(a: Matrix, b: Point) -> Point:
    """The solution of a x = b by elimination, a nonsingular."""
    d = len(b)
    rows = [[*row, v] for row, v in zip(a, b, strict=True)]
    for k in range(d):
        pivot = next(r for r in range(k, d) if rows[r][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for r in range(d):
            if r != k:
                rows[r] = [v - rows[r][k] * w for v, w in zip(rows[r], rows[k], strict=True)]
    return tuple(row[-1] for row in rows)


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
    return sum((p * toy.dist2(x) for x, p in values.items()), Fraction(0))
