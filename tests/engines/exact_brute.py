"""Expectations of a method by going through every random outcome in fractions: slow, plain, and nothing shared."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.methods.parts import inclusion
from boundcheck.problems.problem import clients_of


class Choices:
    """A run's random choices: a prefix that is replayed, then always the first option; `p` is their probability."""

    def __init__(self, prefix: Sequence[int]) -> None:
        self.prefix, self.taken, self.options, self.p = list(prefix), [], [], Fraction(1)

    def one(self, options: Sequence[Any], probabilities: Sequence[Fraction] | None = None) -> Any:
        at = len(self.taken)
        k = self.prefix[at] if at < len(self.prefix) else 0
        self.taken.append(k)
        self.options.append(len(options))
        self.p *= Fraction(1, len(options)) if probabilities is None else probabilities[k]
        return options[k]


def expectation(run: Callable[[Choices], Any]) -> Any:
    """The mean of run(choices) (numbers or arrays) over all sequences of choices."""
    total, mass, prefix = 0, Fraction(0), []
    while True:
        choices = Choices(prefix)
        total = total + run(choices) * choices.p
        mass += choices.p
        prefix = choices.taken
        while prefix and prefix[-1] == choices.options[len(prefix) - 1] - 1:
            prefix = prefix[:-1]
        if not prefix:
            assert mass == 1
            return total
        prefix = [*prefix[:-1], prefix[-1] + 1]


def vector(values: Sequence[Any]) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    out[:] = [Fraction(v) for v in values]
    return out


class Brute:
    """The steps of the paper's algorithms, as they are written there."""

    def __init__(self, problem: Any, method: Any) -> None:
        self.problem, self.method, self.clients = problem, method, clients_of(problem)
        self.d = problem.dim
        self.samples = [
            [(np.array([vector(row) for row in c.A]), vector(c.b)) for c in own] for own in problem.components
        ]

    def sample_gradient(self, i: int, j: int, x: np.ndarray) -> np.ndarray:
        a, b = self.samples[i][j]
        return a @ x - b

    def full_gradient(self, x: np.ndarray) -> np.ndarray:
        return sum(w * self.problem.gradient(i, x) for i, w in enumerate(self.problem.weights))

    def visit(self, i: int, visit: Any, eta: Any, x: np.ndarray, m: Any, c: Choices) -> list[np.ndarray]:
        """The local points: before each step, and at the end."""
        size, y, seen = self.clients.sizes[i], x, [x]
        momentum, left = self.method.momentum, []
        for step in range(visit.steps):
            if visit.sampling == "full":
                batch = [None]
            elif visit.sampling == "replacement":
                position = step % -(-size // visit.batch) * visit.batch
                batch = [c.one(range(size)) for _ in range(min(visit.batch, size - position))]
            else:
                left = left or list(range(size))
                batch = []
                while left and len(batch) < visit.batch:
                    batch.append(c.one(left))
                    left = [j for j in left if j != batch[-1]]

            def g(point: np.ndarray, batch: list[Any] = batch) -> np.ndarray:
                if batch == [None]:
                    return self.problem.gradient(i, point)
                return sum(self.sample_gradient(i, j, point) for j in batch) / len(batch)

            d = g(y)
            if momentum is not None:
                a = momentum.a
                d = d + (1 - a) * (m - g(x)) if momentum.variance_reduced else a * d + (1 - a) * m
            y = y - (eta(step, visit.steps) if callable(eta) else eta) * visit.scale * d
            seen.append(y)
        return seen

    def work(self, i: int, cohort: tuple[int, ...], c: Choices) -> Any:
        works = self.method.local.visits(i, cohort, self.clients)
        return works[0][1] if len(works) == 1 else c.one([v for _, v in works], [p for p, _ in works])

    def step(self, t: int) -> Any:
        """The step size of round t, or for one by local steps that of step k of K."""
        if self.method.by_iteration:
            return lambda k, K: self.method.schedule.expression.at(r=t, t=t * K + k)
        return self.method.schedule.step(self.method.cycle_of(t, self.clients))

    def cohort(self, t: int, c: Choices) -> tuple[int, ...]:
        fixed = self.method.participation.fixed(t, self.clients)
        if fixed is not None:
            return fixed
        law = self.method.participation.drawing(self.clients)
        if law.kind == "independent":
            picked = [c.one([True, False], [p, 1 - p]) if p < 1 else True for p in law.probabilities]
            return tuple(i for i, took in enumerate(picked) if took)
        if law.kind == "subsets":
            return law.subsets[c.one(range(len(law.subsets)), law.probabilities)]
        return c.one(list(itertools.combinations(range(law.n), law.size)))

    def begin(self, c: Choices) -> tuple[np.ndarray, Any]:
        x, momentum = vector(self.problem.start), self.method.momentum
        if momentum is None:
            return x, None
        if momentum.start == "zero":
            return x, vector([0] * self.d)
        if momentum.start == "gradient":
            return x, self.full_gradient(x)
        drawn = [c.one(range(self.clients.count), list(self.clients.weights)) for _ in range(momentum.warm_up)]
        return x, sum(self.problem.gradient(i, x) for i in drawn) / len(drawn)

    def shares(self, cohort: tuple[int, ...]) -> list[Fraction]:
        method = self.method
        return method.aggregation.coefficients(cohort, method.context(self.clients)) if cohort else []

    def unbiased(self, i: int) -> Fraction:
        """The weight of a client in the momentum, w_i/p_i, whatever the aggregation."""
        return self.clients.weights[i] / inclusion(self.method.participation, i, self.clients)

    def renewed(self, t: int, cohort: tuple[int, ...], x: np.ndarray, before: Any, m: Any) -> Any:
        """m after the update at the start of round t."""
        momentum = self.method.momentum
        if momentum is None or not momentum.variance_reduced or t == 0:
            return m
        a = momentum.a
        m = (1 - a) * m
        for i in cohort:
            m = m + self.unbiased(i) * (self.problem.gradient(i, x) - (1 - a) * self.problem.gradient(i, before))
        return m

    def run(self, rounds: int, c: Choices) -> tuple[np.ndarray, np.ndarray, Any]:
        """(x, x of the round before, m) after this many rounds."""
        method = self.method
        x, m = self.begin(c)
        before = x
        for t in range(rounds):
            eta = self.step(t)
            cohort = self.cohort(t, c)
            m = self.renewed(t, cohort, x, before, m)
            moved, pulled = x, vector([0] * self.d)
            for i, share in zip(cohort, self.shares(cohort), strict=True):
                work = self.work(i, cohort, c)
                y = self.visit(i, work, eta, x, m, c)[-1]
                moved = moved + method.server.factor * share * (y - x)
                if work.steps and m is not None:
                    pulled = pulled + self.unbiased(i) * (x - y) / (work.steps * eta * work.scale)
            if method.momentum is not None and not method.momentum.variance_reduced:
                a = method.momentum.a
                m = (1 - a) * m + a * pulled
            before, x = x, moved
        return x, before, m

    def metrics(self, names: Sequence[str], rounds: int) -> list[Fraction]:
        """The expectations of metrics before a round."""

        def one(name: str, x: np.ndarray, before: np.ndarray, m: Any, cohort: tuple[int, ...], c: Choices) -> Fraction:
            if name in self.problem.metrics:
                return self.problem.metric(name, x)
            m = self.renewed(rounds, cohort, x, before, m)
            if name == "drift":
                return self.drift(rounds, x, m, cohort)
            if name == "epoch_grad2":
                return self.epoch_grad2(rounds, x, m, cohort)
            return sum((m - self.full_gradient(x)) ** 2)

        def run(c: Choices) -> np.ndarray:
            x, before, m = self.run(rounds, c)
            cohort = () if set(names) <= set(self.problem.metrics) else self.cohort(rounds, c)
            return vector([one(name, x, before, m, cohort, c) for name in names])

        return list(expectation(run))

    def drift(self, t: int, x: np.ndarray, m: Any, cohort: tuple[int, ...]) -> Fraction:
        """Every client as if it took part, each going through its own choices."""

        def far(i: int, c: Choices) -> Fraction:
            work = self.work(i, cohort or (i,), c)
            points = self.visit(i, work, self.step(t), x, m, c)[:-1]
            return sum((sum((y - x) ** 2) for y in points), Fraction(0)) / max(work.steps, 1)

        return sum((w * expectation(lambda c, i=i: far(i, c)) for i, w in enumerate(self.clients.weights)), Fraction(0))

    def epoch_grad2(self, t: int, x: np.ndarray, m: Any, cohort: tuple[int, ...]) -> Fraction:
        def own(i: int, c: Choices) -> Fraction:
            work = self.work(i, cohort, c)
            points = self.visit(i, work, self.step(t), x, m, c)
            each = 1 if work.sampling == "full" else -(-self.clients.sizes[i] // work.batch)
            starts = points[:-1][::each] or [x]
            return sum(sum(self.full_gradient(y) ** 2) for y in starts) / len(starts)

        if not cohort:
            return sum(self.full_gradient(x) ** 2)
        return sum(expectation(lambda c, i=i: own(i, c)) for i in cohort) / len(cohort)
