"""The generic loop: a method on quadratics, written plainly from what its parts answer, every outcome gone through.

One round from the server's point x: the cohort S of the participation; each client of S does its visit with the step
size of the schedule and returns y_i; the server moves to x + eta_g sum over S of a_i^S (y_i - x). All is in fractions,
and every cohort, visit, sample order and sample draw is followed with its probability. No engine is used.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import Any

from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts.local import Visit

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
    def clients(self) -> Clients:
        """What a method sees of the clients."""
        return Clients(self.weights, tuple(len(own) for own in self.samples))

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


def _gradient(samples: Sequence[tuple[Matrix, Point]], y: Point) -> Point:
    """The mean gradient of samples."""
    total = [Fraction(0)] * len(y)
    for a, b in samples:
        for k, row in enumerate(a):
            total[k] += sum((v * w for v, w in zip(row, y, strict=True)), Fraction(0)) - b[k]
    return tuple(v / len(samples) for v in total)


def _uses(visit: Visit, size: int) -> Iterator[tuple[Fraction, list[list[int]]]]:
    """The samples of each step of a visit, in every way in which they may be drawn, with its probability."""
    everything = list(range(size))
    if visit.sampling == "full":
        yield Fraction(1), [everything] * visit.steps
        return
    per_epoch = -(-size // visit.batch)
    widths = [min(visit.batch, size - step % per_epoch * visit.batch) for step in range(visit.steps)]
    if visit.sampling == "replacement":
        ways = itertools.product(everything, repeat=sum(widths))
        each = Fraction(1, size ** sum(widths))
    else:
        orders = list(itertools.permutations(everything))
        epochs = -(-visit.steps // per_epoch)
        ways = (tuple(itertools.chain(*some)) for some in itertools.product(orders, repeat=epochs))
        each = Fraction(1, len(orders) ** epochs)
    for drawn in ways:
        ends = list(itertools.accumulate(widths, initial=0))
        yield each, [list(drawn[a:b]) for a, b in itertools.pairwise(ends)]


def _visited(toy: Toy, client: int, visit: Visit, etas: Sequence[Fraction], x: Point) -> Outcomes:
    """What a client returns from x, with probabilities; etas: the schedule's step size of each local step."""
    own = toy.samples[client]
    if visit.sampling == "exact":
        d, n = len(x), len(own)
        a = tuple(
            tuple(sum((s[0][k][m] for s in own), Fraction(0)) / n + visit.prox * (k == m) for m in range(d))
            for k in range(d)
        )
        b = tuple(sum((s[1][k] for s in own), Fraction(0)) / n + visit.prox * x[k] for k in range(d))
        return {solved(a, b): Fraction(1)}
    found: Outcomes = {}
    for p, used in _uses(visit, len(own)):
        y = x
        for eta, part in zip(etas, used, strict=True):
            g = _gradient([own[j] for j in part], y)
            pull = [v + visit.prox * (w - z) for v, w, z in zip(g, y, x, strict=True)]
            y = tuple(w - eta * visit.scale * v for w, v in zip(y, pull, strict=True))
        found[y] = found.get(y, Fraction(0)) + p
    return found


def _cohorts(method: Method, clients: Clients, round_index: int) -> list[tuple[Fraction, tuple[int, ...]]]:
    drawing = method.participation.drawing(clients)
    if drawing is not None:
        return drawing.support(1 << 10)
    cohort = method.participation.fixed(round_index, clients)
    assert cohort is not None
    return [(Fraction(1), cohort)]


def steps_of(method: Method, clients: Clients, round_index: int, count: int) -> Sequence[Fraction]:
    """The schedule's step sizes of the `count` local steps of a round (from 0)."""
    if getattr(method.schedule, "by_iteration", False):
        own: Any = method.schedule
        return own.steps(round_index, count)
    shared = getattr(method.schedule, "rounds_per_cycle", None)
    length = method.participation.period(clients) if shared is None else int(shared)
    return [method.schedule.step(1 if method.schedule.is_constant() else round_index // length + 1)] * count


def after_round(method: Method, toy: Toy, round_index: int, x: Point) -> Outcomes:
    """The server's point after a round from x, with probabilities."""
    clients = toy.clients
    context = method.context(clients)
    found: Outcomes = {}
    for p, cohort in _cohorts(method, clients, round_index):
        coefficients = method.aggregation.coefficients(cohort, context) if cohort else []
        # models that are averaged themselves: x - eta_g x + eta_g sum of a_i y_i
        kept = 1 - method.server.factor if method.server.averages_models else Fraction(1)
        moves: Outcomes = {tuple(kept * v for v in x): p}
        origin = (Fraction(0),) * len(x) if method.server.averages_models else x
        for i in dict.fromkeys(cohort):
            share = method.server.factor * sum(
                (a for j, a in zip(cohort, coefficients, strict=True) if j == i), Fraction(0)
            )
            returned: Outcomes = {}
            for q, visit in method.local.visits(i, cohort, clients):
                etas = steps_of(method, clients, round_index, visit.steps)
                for y, r in _visited(toy, i, visit, etas, x).items():
                    returned[y] = returned.get(y, Fraction(0)) + q * r
            fresh: Outcomes = {}
            for (at, so_far), (y, r) in itertools.product(moves.items(), returned.items()):
                to = tuple(v + share * (w - z) for v, w, z in zip(at, y, origin, strict=True))
                fresh[to] = fresh.get(to, Fraction(0)) + so_far * r
                if len(fresh) > MOST_OUTCOMES:
                    raise Unsupported(f"a round has more than {MOST_OUTCOMES} outcomes, which are not gone through.")
            moves = fresh
        for to, q in moves.items():
            found[to] = found.get(to, Fraction(0)) + q
    return found


def trajectories(method: Method, toy: Toy, rounds: int) -> list[Outcomes]:
    """The server's point after 0, 1, ... rounds with probabilities: as many rounds as can be gone through, at least 1.

    Raises Unsupported where a single round has too many outcomes.
    """
    found: list[Outcomes] = [{toy.start: Fraction(1)}]
    for r in range(rounds):
        following: Outcomes = {}
        try:
            for x, p in found[-1].items():
                for y, q in after_round(method, toy, r, x).items():
                    following[y] = following.get(y, Fraction(0)) + p * q
                if len(following) > MOST_OUTCOMES:
                    raise Unsupported(f"{r + 1} rounds have more than {MOST_OUTCOMES} outcomes.")
        except Unsupported:
            if r == 0:
                raise
            break
        found.append(following)
    return found


def expected(values: Mapping[Point, Fraction], toy: Toy) -> Fraction:
    """E |x - x*|^2."""
    return sum((p * toy.dist2(x) for x, p in values.items()), Fraction(0))
