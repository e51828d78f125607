"""Mistakes in how a right composition is carried out: one model in memory for all, samples that are never shuffled.

Clients that share a model: methods without randomness, by their clients' whole gradients. Samples in a fixed order:
plain methods in which all clients take part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from boundcheck.engines.exact.paths import oracle_iterates
from boundcheck.engines.exact.paths_histories import History
from boundcheck.engines.exact.paths_rounds import Cohort, Plan, Walk
from boundcheck.engines.exact.paths_visits import Atoms, Ended, Point, Values
from boundcheck.judge.mutants import Mutant
from boundcheck.judge.task import task_of
from boundcheck.methods.method import Method
from boundcheck.methods.parts.local import batch_sizes
from boundcheck.problems.problem import Floats, Problem, clients_of


def carried_out(method: Method, problem: Problem) -> list[Mutant]:
    """The method with its rounds carried out wrongly."""
    if method.is_random(clients_of(problem)) or problem.clients < 2:
        words = "every epoch takes the samples in the order of the data"
        in_order = Mutant("samples in a fixed order", words, method, partial(_in_order, method))
        return [in_order] if _draws_samples_alone(method, problem) else []
    shared = "all clients train one and the same model, one by one, and return it"
    turns = "each client starts from the model that the client before it returned"
    return [
        Mutant("one model in memory", shared, method, partial(oracle_iterates, method, kind=_Shared)),
        Mutant("clients in turn", turns, method, partial(oracle_iterates, method, kind=_InTurn)),
    ]


def _draws_samples_alone(method: Method, problem: Problem) -> bool:
    clients = clients_of(problem)
    everyone = tuple(range(clients.count))
    if not method.is_plain or method.participation.fixed(0, clients) != everyone:
        return False
    each = [method.local.visits(i, everyone, clients) for i in everyone]
    return all(len(own) == 1 and own[0][1].sampling in ("reshuffled", "replacement") for own in each)


def _in_order(method: Method, problem: Problem, rounds: int) -> Floats:
    task = task_of(method, problem, rounds)
    clients, points = clients_of(problem), [task.start]
    everyone = tuple(range(clients.count))
    factors = [float(v) for v in method.factors(everyone, clients)]
    for eta in task.step_sizes:
        x, moved = points[-1], 0.0
        for client, factor in zip(task.clients, factors, strict=True):
            ((_, visit),) = method.local.visits(client.index, everyone, clients)
            y, at = x, 0
            for width in batch_sizes(client.size, visit.batch, visit.steps):
                g = client.gradient(y, range(at, at + width)) + float(visit.prox) * (y - x)
                y, at = y - eta * float(visit.scale) * g, (at + width) % client.size
            moved = moved + factor * (y - x)
        points.append(x + moved)
    return np.array(points)


class _InTurn(Walk):
    """The members of a cohort work one after the other, each from where the one before it ended."""

    def _outcomes(self, history: History, plan: Plan, works: Any, seen: Any) -> Iterator[History]:
        self._now: Point | None = None
        yield from super()._outcomes(history, plan, works, seen)

    def _ended(self, values: Values, client: int, works: Any, collected: Atoms, *, way: bool) -> Sequence[Ended]:
        x = values.server["x"]
        now = x if self._now is None else self._now
        shared = Values(self._data, {**values.server, "x": now}, values.clients)
        (end,) = super()._ended(shared, client, works, collected, way=way)
        moved = end.sent["x"]
        if moved is None:
            moved = self._data.zero()
        self._now = now + moved
        return [replace(end, sent={**end.sent, "x": self._now - x})]


class _Shared(_InTurn):
    """All of them return the model that they share, as it is in the end."""

    def _after(
        self, history: History, values: Values, plan: Plan, cohort: Cohort, collected: Atoms,
        outcome: Sequence[Ended], p: Any, seen: Any,
    ) -> History:  # fmt: skip
        last = outcome[-1].sent["x"] if outcome else None
        shared = [replace(end, sent={**end.sent, "x": last}) for end in outcome]
        return super()._after(history, values, plan, cohort, collected, shared, p, seen)
