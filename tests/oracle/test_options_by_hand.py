"""Seventeen of the frozen rows, carried out as plainly as can be: every cohort and sample one by one, in fractions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
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


def unit(k: int, d: int) -> Any:
    return fmpq_mat([[fmpq(int(a == k))] for a in range(d)])


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

    def solved(self, i: int, g: Any) -> Any:
        """(H_i + 2)^-1 g."""
        h, d = self.of(i, self.start * 0), self.start.nrows()
        columns = [self.of(i, unit(k, d)) - h + unit(k, d) * 2 for k in range(d)]
        return fmpq_mat([[column[a, 0] for column in columns] for a in range(d)]).inv() * g

    def whole(self, y: Any) -> Any:
        w = self.weights
        return self.of(0, y) * w[0] + self.of(1, y) * w[1] + self.of(2, y) * w[2]

    def ends(self, clients: Sequence[int], x: Any, steps: Sequence[int], step: Step) -> list[list[Any]]:
        """For each client the points to which this many steps lead from x, over all draws of a sample a step."""
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


def option_1(w: World, state: State, r: int) -> Iterator[tuple[Any, State]]:
    """SCAFFOLD, option I, by weight: all clients, two steps of one sample."""
    x, own = state[0], w.weights
    old = state[1:] or (x * 0,) * 3
    c = old[0] * own[0] + old[1] * own[1] + old[2] * own[2]
    ends = w.ends(range(3), x, (2, 2, 2), lambda i, k, j, y: (w.one(i, j, y) - old[i] + c) * ETA)
    for y in itertools.product(*ends):
        share = fmpq(1, len(ends[0]) * len(ends[1]) * len(ends[2]))
        yield share, (y[0] * own[0] + y[1] * own[1] + y[2] * own[2], *(w.of(i, x) for i in range(3)))


def saga(w: World, state: State, r: int) -> Iterator[tuple[Any, State]]:
    """A table of the points at which the clients' gradients were taken last, each client one term."""
    x, *phi = state if r else state * 4
    for j in range(3):
        step = w.of(j, x) - w.of(j, phi[j]) + (w.of(0, phi[0]) + w.of(1, phi[1]) + w.of(2, phi[2])) / 3
        yield fmpq(1, 3), (x - step * ETA, *(x if i == j else phi[i] for i in range(3)))


def svrg(w: World, state: State, r: int, *, drawn: bool = False) -> Iterator[tuple[Any, State]]:
    """Epochs of three steps; the last point, or a drawn one of those before a step, is the next reference point."""
    y, *inner = state if r % 3 else (state[0], state[0])
    at = inner[0]
    for i in range(3):
        new = y - (w.of(i, y) - w.of(i, at) + (w.of(0, at) + w.of(1, at) + w.of(2, at)) / 3) * ETA
        if r % 3 < 2:
            yield fmpq(1, 3), (new, *inner, new)
        elif drawn:
            yield from ((fmpq(1, 9), (point,)) for point in inner)
        else:
            yield fmpq(1, 3), (new,)


def feddane(w: World, state: State, r: int, *, decayed: bool = False) -> Iterator[tuple[Any, State]]:
    """Two clients drawn by weight for the gradient and two that solve exactly, each with replacement, mu = 2."""
    x, twice, c = state[0], list(itertools.product(range(3), repeat=2)), fmpq(1, 1 + r * decayed)
    for asked, solving in itertools.product(twice, twice):
        p, g = fmpq(1), (w.of(asked[0], x) + w.of(asked[1], x)) / 2
        for i in (*asked, *solving):
            p *= w.weights[i]
        a, b = (w.solved(i, g * c + w.of(i, x) * (1 - c)) for i in solving)
        yield p, (x - (a + b) / 2,)


def pipelined(w: World, state: State, r: int) -> Iterator[tuple[Any, State]]:
    """FedDANE with the mean gradient of the round before; none in the first."""
    x = state[0]
    for i, j in itertools.product(range(3), repeat=2):
        own = [w.of(k, x) for k in (i, j)]
        g = state[1:] * 2 or own
        new = x - (w.solved(i, g[0]) + w.solved(j, g[1])) / 2
        yield w.weights[i] * w.weights[j], (new, (own[0] + own[1]) / 2)


def in_any_order(w: World, state: State, r: int) -> Iterator[tuple[Any, State]]:
    """One client a round with rates 1, 2 and 1/2; two steps from the point that it received last, weight w_i/p_i."""
    x, *kept = state if r else state * 4
    for i, p in enumerate((fmpq(2, 7), fmpq(4, 7), fmpq(1, 7))):
        y = walked(kept[i], (0, 0), i, lambda i, k, j, y: w.of(i, y) * ETA)
        new = x + (y - kept[i]) * (w.weights[i] / p)
        yield p, (new, *(new if k == i else kept[k] for k in range(3)))


def handed_over(w: World, state: State, r: int) -> Iterator[tuple[Any, State]]:
    """Two models, held by two clients that are drawn anew each round; halves of the coordinates averaged in turn."""
    models, d = state[1:] or state * 2, w.start.nrows()
    for pair in itertools.permutations(range(3), 2):
        for drawn in itertools.product(*(range(w.sizes[i]) for i in pair)):
            y = [m - w.one(i, j, m) * ETA for m, i, j in zip(models, pair, drawn, strict=True)]
            mean = (y[0] + y[1]) / 2
            first = [[mean if (a < d // 2) == (r % 2 == 0) else v for a in range(d)] for v in y]
            y = [fmpq_mat([[v[a, 0]] for a, v in enumerate(own)]) for own in first]
            yield fmpq(1, 6 * w.sizes[pair[0]] * w.sizes[pair[1]]), (mean, *y)


def pushed(w: World, state: State, r: int) -> Iterator[tuple[Any, State]]:
    """Two of three clients begin ahead of x, an epoch of reshuffled samples; their mean by weight times 3/2."""
    x, before = state if r else state * 2
    ahead = x + (x - before) / 2
    for pair in PAIRS:
        a, b = (w.weights[i] for i in pair)
        orders = [list(itertools.permutations(range(w.sizes[i]))) for i in pair]
        for one, other in itertools.product(*orders):
            y = [
                walked(ahead, own, i, lambda i, k, j, y: w.one(i, j, y) * ETA)
                for i, own in ((pair[0], one), (pair[1], other))
            ]
            new = ahead + ((y[0] * a + y[1] * b) / (a + b) - ahead) * fmpq(3, 2)
            yield fmpq(1, 3 * len(orders[0]) * len(orders[1])), (new, x)


def practical(w: World, state: State, r: int) -> Iterator[tuple[Any, State]]:
    """All clients, as many steps of one sample as they have, a mean m of directions with a = 1/4."""
    x, m = state if r else (state[0], state[0] * 0)
    a, b = fmpq(1, 4), fmpq(3, 4)
    ends = w.ends(range(3), x, w.sizes, lambda i, k, j, y: (w.one(i, j, y) * a + m * b) * ETA)
    for y in itertools.product(*ends):
        new, pulled = x, m * 0
        for i, end in enumerate(y):
            new, pulled = new + (end - x) * w.weights[i], pulled + (x - end) * (w.weights[i] / (w.sizes[i] * ETA))
        yield fmpq(1, len(ends[0]) * len(ends[1]) * len(ends[2])), (new, m * b + pulled * a)


def normalised(w: World, state: State, r: int) -> Iterator[tuple[Any, State]]:
    """All clients draw 1 or 2 epochs; steps divided by the most steps, differences by one's own number of steps."""
    x, most = state[0], 2 * max(w.sizes)
    scale = w.weights[0] / w.sizes[0] + w.weights[1] / w.sizes[1] + w.weights[2] / w.sizes[2]  # times the mean of 1/E
    ways: list[list[tuple[Any, Any]]] = []
    for i, size in enumerate(w.sizes):
        orders, own = list(itertools.permutations(range(size))), []
        for epochs in (1, 2):
            for drawn in itertools.product(orders, repeat=epochs):
                way = [j for order in drawn for j in order]
                y = walked(x, way, i, lambda i, k, j, y: w.one(i, j, y) * (ETA / most))
                own.append(
                    (fmpq(1, 2 * len(orders) ** epochs), (y - x) * (w.weights[i] / len(way) / scale * fmpq(4, 3)))
                )
        ways.append(own)
    for (p, a), (q, b), (s, c) in itertools.product(*ways):
        yield p * q * s, (x + a + b + c,)


ROWS: dict[str, tuple[Callable[[World, State, int], Iterable[tuple[Any, State]]], int]] = {
    "scaffold: batch: 1": (scaffold, 2),
    "fedshuffle_mvr": (mvr, 3),
    "fedprox: E: null, eta: null, solver: {E: 1, eta: 1/8, sampling: replacement}": (proximal, 2),
    "composed: eta: 2/(16 + t)": (by_iteration, 2),
    "fedavg_min: E: {high: 2, low: 1}, participation: {kind: uniform, size: 2}": (together, 1),
    "scaffold_option_1: weights: data": (option_1, 2),
    "saga": (saga, 3),
    "svrg": (svrg, 3),
    "svrg_random": (partial(svrg, drawn=True), 3),
    "feddane": (feddane, 2),
    "feddane: decay: inverse": (partial(feddane, decayed=True), 2),
    "feddane: pipelined: true": (pipelined, 3),
    "fedavg_async: times: {kind: exponential, rates: [1, 2, 1/2]}": (in_any_order, 3),
    "partial_averaging: hand_over: {active: 2, design: 2, every: 1}": (handed_over, 2),
    "fedavgm: nesterov: true": (pushed, 2),
    "fedavg_sgd: momentum: {a: 1/4, form: practical}": (practical, 2),
    "fedshuffle_nova_rr: E: {high: 2, low: 1}": (normalised, 1),
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
