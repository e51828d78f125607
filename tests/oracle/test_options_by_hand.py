"""Five of the frozen rows, carried out as plainly as can be: every cohort and sample one by one, in fractions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest
from flint import fmpq, fmpq_mat

from tests.oracle import options

State = tuple[Any, ...]  # columns: the server's point, and what else is kept
Step = Callable[[int, int, int, Any], Any]  # of client, number of the step, sample, point
ETA, PAIRS = fmpq(1, 8), ((0, 1), (0, 2), (1, 2))


def rational(text: str) -> fmpq:
    return fmpq(*map(int, text.split("/")))


def matrix(rows: Sequence[Any]) -> Any:
    return fmpq_mat([[rational(v) for v in (row if isinstance(row, list) else [row])] for row in rows])


class World:
    def __init__(self, where: str) -> None:
        given = options.PROBLEMS[where]
        self.samples = [[(matrix(s["A"]), matrix(s["b"])) for s in c["components"]] for c in given["clients"]]
        self.sizes, self.weights = [len(own) for own in self.samples], [rational(w) for w in given["weights"]]
        self.start = matrix(given["start"])

    def one(self, i: int, j: int, y: Any) -> Any:
        a, b = self.samples[i][j]
        return a * y - b

    def of(self, i: int, y: Any) -> Any:
        total: Any = sum((self.one(i, j, y) for j in range(1, self.sizes[i])), self.one(i, 0, y))
        return total / self.sizes[i]

    def whole(self, y: Any) -> Any:
        w = self.weights
        return self.of(0, y) * w[0] + self.of(1, y) * w[1] + self.of(2, y) * w[2]

    def ends(self, clients: Sequence[int], x: Any, steps: Sequence[int], step: Step) -> list[list[Any]]:
        """For each client the points to which so many steps lead from x, over all draws of a sample a step."""
        ways = [itertools.product(range(self.sizes[i]), repeat=k) for i, k in zip(clients, steps, strict=True)]
        return [[walked(x, way, i, step) for way in own] for i, own in zip(clients, ways, strict=True)]


def walked(y: Any, way: Sequence[int], i: int, step: Step) -> Any:
    """The point after a step of client i for each sample j of a way."""
    for k, j in enumerate(way):
        y = y - step(i, k, j, y)
    return y


def scaffold(w: World, state: State, r: int) -> Iterator[tuple[Any, State]]:
    """Option II, two clients of three, two steps of one sample."""
    x, old = state[0], state[1:] or (state[0] * 0,) * 3
    c = (old[0] + old[1] + old[2]) / 3
    for pair in PAIRS:
        ends = w.ends(pair, x, (2, 2), lambda i, k, j, y: (w.one(i, j, y) - old[i] + c) * ETA)
        for found in itertools.product(*ends):
            new = list(old)
            for i, y in zip(pair, found, strict=True):
                new[i] = old[i] - c + (x - y) / (2 * ETA)
            yield fmpq(1, 3 * len(ends[0]) * len(ends[1])), ((found[0] + found[1]) / 2, *new)


def mvr(w: World, state: State, r: int) -> Iterator[tuple[Any, State]]:
    """One client by weight, an epoch of reshuffled samples, steps eta/|D_i|, a = 1/4, from the whole gradient."""
    x, b = state[0], fmpq(3, 4)
    for i in range(3):
        m = w.whole(x) if r == 0 else state[2] * b + w.of(i, x) - w.of(i, state[1]) * b
        orders = list(itertools.permutations(range(w.sizes[i])))
        for order in orders:
            y = walked(
                x, order, i, lambda i, k, j, y, m=m: (w.one(i, j, y) + (m - w.one(i, j, x)) * b) * ETA / w.sizes[i]
            )
            yield w.weights[i] / len(orders), (y, x, m)


def proximal(w: World, state: State, r: int) -> Iterator[tuple[Any, State]]:
    """All clients by weight; as many steps as samples, each drawn anew, mu = 1."""
    x = state[0]
    ends = w.ends(range(3), x, w.sizes, lambda i, k, j, y: (w.one(i, j, y) + y - x) * ETA)
    for y in itertools.product(*ends):
        share = fmpq(1, len(ends[0]) * len(ends[1]) * len(ends[2]))
        yield share, (y[0] * w.weights[0] + y[1] * w.weights[1] + y[2] * w.weights[2],)


def by_iteration(w: World, state: State, r: int) -> Iterator[tuple[Any, State]]:
    """Two clients of three, two steps of one sample of size 2/(16 + t), the plain mean times 3/2."""
    x = state[0]
    for pair in PAIRS:
        ends = w.ends(pair, x, (2, 2), lambda i, k, j, y: w.one(i, j, y) * fmpq(2, 16 + 2 * r + k))
        for one, other in itertools.product(*ends):
            yield fmpq(1, 3 * len(ends[0]) * len(ends[1])), ((one + other) * fmpq(3, 4) - x / 2,)


def together(w: World, state: State, r: int) -> Iterator[tuple[Any, State]]:
    """Two clients of three take the least number of steps of both, each of 1 or 2 epochs; the mean by weight."""
    x = state[0]
    for pair, epochs in itertools.product(PAIRS, itertools.product((1, 2), repeat=2)):
        steps = min(e * w.sizes[i] for e, i in zip(epochs, pair, strict=True))
        ends = w.ends(pair, x, (steps, steps), lambda i, k, j, y: w.one(i, j, y) * ETA)
        a, b = (w.weights[i] for i in pair)
        for one, other in itertools.product(*ends):
            yield fmpq(1, 12 * len(ends[0]) * len(ends[1])), ((one * a + other * b) / (a + b),)


ROWS: dict[str, tuple[Callable[[World, State, int], Iterable[tuple[Any, State]]], int]] = {
    "scaffold: batch: 1": (scaffold, 2),
    "fedshuffle_mvr": (mvr, 3),
    "fedprox: E: null, eta: null, solver: {E: 1, eta: 1/8, sampling: replacement}": (proximal, 2),
    "composed: eta: 2/(16 + t)": (by_iteration, 2),
    "fedavg_min: E: {high: 2, low: 1}, participation: {kind: uniform, size: 2}": (together, 1),
}


@pytest.mark.parametrize("where", options.PROBLEMS)
@pytest.mark.parametrize("row", ROWS)
def test_frozen_values_are_those_of_all_outcomes(row: str, where: str) -> None:
    world, (step, rounds) = World(where), ROWS[row]
    frozen, outcomes = options.rows()[row][f"{where} grad2"].split(), [(fmpq(1), (world.start,))]
    for r in range(rounds + 1):
        outcomes = [(p * q, new) for p, s in outcomes for q, new in step(world, s, r - 1)] if r else outcomes
        slopes = [(p, world.whole(state[0])) for p, state in outcomes]
        mean = sum((p * (g.transpose() * g)[0, 0] for p, g in slopes), fmpq(0))
        assert frozen[r] in (str(mean), options.digest_of(str(mean))), r
