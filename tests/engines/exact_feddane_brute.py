"""FedDANE by going through every cohort, sample and number of epochs in fractions, as Algorithm 2 is written.

With its variants (one cohort for gradients and work, decayed, pipelined), and without a correction FedProx.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
from exact_brute import Choices, expectation, vector

from boundcheck.core.linalg import to_fractions
from boundcheck.methods.method import Method
from boundcheck.problems.problem import clients_of

F = Fraction
POINT = ("dist2", "gap", "grad2")


class Simulated:
    """Algorithm 2 of the paper as it is written there, with the variants, one random choice after the other."""

    def __init__(self, problem: Any, method: Method) -> None:
        self.problem, self.method, self.clients = problem, method, clients_of(problem)
        self.n = problem.clients
        self.inverses: dict[tuple[int, Fraction], np.ndarray] = {}
        self.forms = {k: (to_fractions(c)[:, 0], to_fractions(q)) for k, (c, q) in problem.forms().quadratic.items()}

    def inverse(self, i: int, mu: Fraction) -> np.ndarray:
        """(H_i + mu I)^-1, by hand."""
        if (i, mu) not in self.inverses:
            d = self.problem.dim
            units = [vector([int(a == b) for b in range(d)]) for a in range(d)]
            at_zero = self.problem.gradient(i, vector([0] * d))
            columns = [self.problem.gradient(i, e) - at_zero + mu * e for e in units]
            if d == 1:
                found = np.array([[1 / columns[0][0]]], dtype=object)
            else:
                (a, c), (b, e) = columns
                found = np.array([vector([e, -b]), vector([-c, a])]) / F(a * e - b * c)
            self.inverses[i, mu] = found
        return self.inverses[i, mu]

    def cohort(self, law: Any, t: int, c: Choices) -> tuple[int, ...]:
        """The clients that are drawn, with replacement one draw after the other, in order of their numbers."""
        fixed = law.fixed(t, self.clients)
        if fixed is not None:
            return fixed
        drawing = law.drawing(self.clients)
        if drawing.kind == "replacement":
            found: dict[tuple[int, ...], Fraction] = {}
            for draws in itertools.product(range(self.n), repeat=drawing.size):
                p = F(math.prod(self.clients.weights[k] for k in draws))
                found[tuple(sorted(draws))] = found.get(tuple(sorted(draws)), F(0)) + p
            return c.one(list(found), list(found.values()))
        if drawing.kind == "independent":
            took = [c.one([True, False], [p, 1 - p]) if p < 1 else True for p in drawing.probabilities]
            return tuple(i for i in range(self.n) if took[i])
        if drawing.kind == "subsets":
            return drawing.subsets[c.one(range(len(drawing.subsets)), drawing.probabilities)]
        return c.one(list(itertools.combinations(range(drawing.n), drawing.size)))

    def mean_gradient(self, cohort: tuple[int, ...], x: np.ndarray) -> np.ndarray:
        weights = [F(1)] * self.n if self.method.correction.weights == "uniform" else self.clients.weights
        return sum(weights[k] * self.problem.gradient(k, x) for k in cohort) / sum(weights[k] for k in cohort)

    def solve(self, i: int, e: np.ndarray, x: np.ndarray, cohort: Any, c: Choices) -> np.ndarray:
        works = self.method.local.visits(i, cohort, self.clients)
        work = works[0][1] if len(works) == 1 else c.one([v for _, v in works], [p for p, _ in works])
        if work.sampling == "exact":  # grad F_i(v) + e + mu (v - x) = 0
            return x - self.inverse(i, work.prox) @ (self.problem.gradient(i, x) + e)
        y, left, size = x, [], self.clients.sizes[i]
        for step in range(work.steps):
            if work.sampling == "full":
                g = self.problem.gradient(i, y)
            else:
                if work.sampling == "replacement":
                    begun = step % -(-size // work.batch) * work.batch
                    batch = [c.one(range(size)) for _ in range(min(work.batch, size - begun))]
                else:
                    left = left or list(range(size))
                    batch = c.one(list(itertools.combinations(left, min(work.batch, len(left)))))
                    left = [j for j in left if j not in batch]
                parts = [self.problem.components[i][j] for j in batch]
                g = sum(np.array([vector(r) for r in s.A]) @ y - vector(s.b) for s in parts) / len(parts)
            y = y - self.method.schedule.step(1) * work.scale * (g + e + work.prox * (y - x))
        return y

    def round(self, t: int, x: np.ndarray, old: Any, c: Choices) -> tuple[np.ndarray, Any]:
        """x after round t, and the mean gradient that a pipelined correction reads in the next."""
        method, own = self.method, self.method.correction
        g, factor = None, F(0)
        if own is not None:
            decays = {"constant": own.factor, "inverse": own.factor / (t + 1), "geometric": own.factor**t}
            factor = decays[own.decay]
            if own.pipelined:
                g, factor = (old, factor) if t else (0 * x, F(0))
        if own is not None and own.participation is not None:
            g = self.mean_gradient(self.cohort(own.participation, t, c), x)
        cohort = self.cohort(method.participation, t, c)
        if own is not None and (own.pipelined or own.participation is None):
            now = self.mean_gradient(cohort, x)
            g, old = (g, now) if own.pipelined else (now, None)
        shares = method.aggregation.coefficients(cohort, method.context(self.clients)) if cohort else []
        returned: dict[int, np.ndarray] = {}
        moved = x
        for k, share in zip(cohort, shares, strict=True):
            if k not in returned:  # a client that is drawn twice works once
                e = 0 * x if g is None else factor * (g - self.problem.gradient(k, x))
                returned[k] = self.solve(k, e, x, cohort, c)
            moved = moved + method.server.factor * share * (returned[k] - x)
        return moved, old

    def metrics(self, rounds: int) -> list[list[Fraction]]:
        """The expected metrics at rounds 0 to `rounds`."""
        states: list[tuple[Fraction, np.ndarray, Any]] = [(F(1), vector(self.problem.start), None)]
        found = [self.read(states)]
        for t in range(rounds):
            after: list[tuple[Fraction, np.ndarray, Any]] = []
            for p, x, old in states:

                def one(c: Choices, t: int = t, x: Any = x, old: Any = old, p: Any = p, after: Any = after) -> Any:
                    moved = self.round(t, x, old, c)
                    after.append((p * c.p, *moved))
                    return F(1)

                assert expectation(one) == 1
            states = after
            found.append(self.read(states))
        return found

    def read(self, states: list[tuple[Fraction, np.ndarray, Any]]) -> list[Fraction]:
        return [sum((p * ((x - c) @ q @ (x - c)) for p, x, _ in states), F(0)) for c, q in map(self.forms.get, POINT)]
