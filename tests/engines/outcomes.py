"""Runs that are written out (`brute`): expectations over all outcomes, and those of one seed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq

from boundcheck.core import streams
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Visit
from tests.engines.brute import Choices, Round, Run, State, Visited, World, every, exact, mean, solved, vector
from tests.engines.drawn_plans import plan


def drift(run: Run, found: Round) -> Any:
    """Every client as if it took part, each going through its own choices."""

    def far(i: int, c: Choices) -> Any:
        visit = c.visit(run, found.number, i, run.method.local.visits(i, found.cohort or (i,), run.clients))
        points = run.path(found, Visited(i, 0, visit, x, 0 * x), c)[:-1]
        return sum(sum((y - x) ** 2) for y in points) / max(visit.steps, 1)

    x = found.state["x"]
    return sum(exact(w) * mean(lambda c, i=i: far(i, c)) for i, w in enumerate(run.clients.weights))


def epoch_grad2(run: Run, found: Round) -> Any:
    """Of the points at which the epochs of a client of the cohort begin."""

    def own(v: Visited, c: Choices) -> Any:
        each = 1 if v.visit.sampling == "full" else -(-run.world.sizes[v.client] // v.visit.batch)
        starts = run.path(found, v, c)[:-1][::each] or [v.begin]
        return sum(sum(run.world.whole(y) ** 2) for y in starts) / len(starts)

    if not found.visits:
        return sum(run.world.whole(found.state["x"]) ** 2)
    return sum(mean(lambda c, v=v: own(v, c)) for v in found.visits) / len(found.visits)


def momentum_error2(run: Run, found: Round) -> Any:
    return sum((found.m - run.world.whole(found.state["x"])) ** 2)


def on_the_way(measure: Callable[[Run, Round, np.ndarray], Any]) -> Callable[[Run, Round], Any]:
    """The mean of a metric over the virtual models x + sum over S of a_i (y_i^k - y_i^0), k < K."""

    def found(run: Run, played: Round) -> Any:
        count = max((v.visit.steps for v in played.visits), default=1)
        moved = [
            sum((v.factor * (v.points[k] - v.begin) for v in played.visits), 0 * played.state["x"])
            for k in range(count)
        ]
        return sum(measure(run, played, played.state["x"] + d) for d in moved) / count

    return found


def round_gap(run: Run, found: Round, x: np.ndarray) -> Any:
    """At x the objective with the mean weights q_i of the round, above its minimum."""

    def weights(c: Choices) -> np.ndarray:
        q, cohort = vector([0] * run.n), c.cohort(run, found.number, run.method.participation)
        for i, a in zip(cohort, run.method.aggregation.coefficients(cohort, context) if cohort else [], strict=True):
            q[i] += exact(a)
        return q

    context = run.method.context(run.clients)
    if found.number not in run.objectives:
        parts = [(q, *run.world.subproblem(i, 0 * x, 0 * x, 0)) for i, q in enumerate(mean(weights))]
        hessian, linear = sum(q * h for q, h, _ in parts), sum(q * b for q, _, b in parts)
        run.objectives[found.number] = hessian, solved(hessian, linear) if np.any(hessian) else x
    hessian, least = run.objectives[found.number]
    return sum((x - least) * (hessian @ (x - least))) / 2


BEGUN: Mapping[str, Callable[[Run, Round], Any]] = {
    "drift": drift,
    "epoch_grad2": epoch_grad2,
    "momentum_error2": momentum_error2,
    "round_gap": lambda run, found: round_gap(run, found, found.state["x"]),
}
PLAYED: Mapping[str, Callable[[Run, Round], Any]] = {
    "virtual_round_gap": on_the_way(round_gap),
    "virtual_gap": on_the_way(lambda run, _, x: run.world.measure("gap", x)),
    "virtual_grad2": on_the_way(lambda run, _, x: run.world.measure("grad2", x)),
}


def of_state(run: Run, name: str, state: State) -> Any:
    """A metric of a point, or the discrepancy of kept models: of all coordinates or of a block."""
    head, _, number = name.partition(":")
    if head != "discrepancy":
        return run.world.measure(name, state["x"])
    exchange: Any = run.method.exchange
    block = list(exchange.blocks(len(state["x"]))[int(number)]) if number else slice(None)
    return run.mixed([sum(((y - state["x"]) ** 2)[block]) for y in state["kept"]])


Outcomes = list[tuple[fmpq, Any]]


def merged(outcomes: Iterator[tuple[fmpq, Any]], key: Callable[[Any], Any]) -> Outcomes:
    """The outcomes with one for all of a key."""
    found: dict[Any, tuple[fmpq, Any]] = {}
    for p, own in outcomes:
        at = key(own)
        found[at] = (found[at][0] + p if at in found else p, own)
    return list(found.values())


def expected(method: Method, world: World, names: Sequence[str], rounds: int) -> dict[str, tuple[Any, ...]]:
    """The expectations of metrics before the rounds 0, ..., `rounds`, over all outcomes."""
    run, found, along = Run(method, world), {name: list[Any]() for name in names}, bool(PLAYED.keys() & set(names))

    def ends(begun: Round) -> Iterator[tuple[fmpq, Round]]:
        """All that the clients can do, each on its own; alike where it ends at one point."""
        each = [
            merged(every(lambda c, v=v: run.path(begun, v, c)), lambda own: tuple(np.ravel(own if along else own[-1])))
            for v in begun.visits
        ]
        for paths in itertools.product(*each):
            p = math.prod((q for q, _ in paths), start=fmpq(1))
            yield from ((p * q, r) for q, r in every(lambda c, own=paths: run.ended(begun, [y for _, y in own], c)))

    states: Outcomes = list(every(run.start))
    for t in range(rounds + 1):
        begun = [(p * q, r) for p, s in states for q, r in every(lambda c, s=s, t=t: run.begun(t, s, c))]
        played = [(p * q, r) for p, b in begun for q, r in ends(b)] if t < rounds or along else []
        for name, row in found.items():
            if name in BEGUN:
                row.append(sum(p * BEGUN[name](run, r) for p, r in begun))
            elif name in PLAYED:
                row.append(sum(p * PLAYED[name](run, r) for p, r in played))
            else:
                row.append(sum(p * of_state(run, name, s) for p, s in states))
        after = ((p, r.after) for p, r in played)
        states = merged(after, lambda s: tuple((name, *np.ravel(v).tolist()) for name, v in s.items()))
    return {name: tuple(Fraction(int(v.p), int(v.q)) for v in map(exact, row)) for name, row in found.items()}


class Planned(Choices):
    """The choices of a seed, by the definition of its plan."""

    def __init__(self, method: Method, clients: Clients, seed: int, rounds: int) -> None:
        super().__init__()
        self.seed, self.plan = seed, plan(method, clients, seed, rounds)

    def one(self, options: Sequence[Any], probabilities: Sequence[Fraction] | None = None) -> Any:
        raise AssertionError("a choice that is not planned")

    def cohort(self, own: Run, t: int, participation: Any, *, collecting: bool = False) -> tuple[int, ...]:
        return self.plan.gradient_cohort(t) if collecting else self.plan.cohort(t)

    def epochs(self, own: Run, t: int, i: int) -> int:
        local: Any = own.method.local
        numbers = local.epochs(i)
        word = streams.words(np.array([self.seed], dtype=np.uint64), streams.EPOCHS, t, i, 0, 1)[:, 0]
        return numbers[int(streams.pick(word, streams.cuts([Fraction(1, len(numbers))] * len(numbers)))[0])]

    def visit(self, own: Run, t: int, i: int, options: Sequence[tuple[Fraction, Visit]]) -> Visit:
        member, choice = self.plan.member(t, i)
        assert member.client == i
        return options[choice][1]

    def batches(self, own: Run, t: int, i: int, visit: Visit) -> Iterator[Sequence[int] | None]:
        found, size = self.plan.batches(t, i), own.world.sizes[i]
        for first in range(0, len(found), -(-size // visit.batch)):  # every sample once in an epoch
            epoch = list(itertools.chain(*found[first : first - (-size // visit.batch)]))
            assert visit.sampling != "reshuffled" or len(set(epoch)) == len(epoch)
        return iter(found)

    def by_weight(self, own: Run, count: int) -> Sequence[int]:
        return self.plan.first_clients(count)

    def holders(self, own: Run, t: int, active: int) -> tuple[int, ...]:
        return self.plan.cohort(t)


def followed(method: Method, world: World, seed: int, rounds: int) -> list[Round]:
    """The rounds of one seed, one more than are asked for, so that the last state stands in `state` of the last."""
    run, drawn = Run(method, world), Planned(method, world.clients, seed, rounds + 1)
    state, found = run.start(drawn), list[Round]()
    for t in range(rounds + 1):
        found.append(run.round(t, state, drawn))
        state = found[-1].after
    return found
