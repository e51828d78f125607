"""Workers with models of their own that are all alike: m of them cost as much as one.

With u the mean of the models y_i and e_i = y_i - u, the state is [u - c; e_I; 1] with I a worker drawn uniformly. Its
second moments hold U = E[u - c; 1][u - c; 1]' and V = (1/m) sum of E e_i e_i', and nothing else: the e_i sum to 0, so
that e_I has mean 0 and is uncorrelated with u. A round of local work maps y_i to H y_i + l + xi_i, with noise xi_i that
is independent over the workers given the state. Its covariance Gamma is affine in the second moments at which it is
taken, so that its mean over the workers is that at E y_I y_I' = U + V, and

    U <- [H l; 0 1] U [H l; 0 1]' + Gamma/m,  V <- P (H V H' + (1 - 1/m) Gamma) P,

P the projector that is 0 on the coordinates that are averaged after the round.

A hand-over (`methods.parts.exchange.HandOver`) changes nothing here: whichever clients hold the models, they go on in
the same way. m is then the number of active clients, and design 1 averages all coordinates at the hand-over.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from boundcheck.engines.exact.assignments import models_of
from boundcheck.engines.exact.blocks import KeptRounds
from boundcheck.engines.exact.rings import Ring
from boundcheck.engines.exact.rounds import Plan
from boundcheck.engines.exact.state import Exact
from boundcheck.methods.method import Method
from boundcheck.methods.parts import StepSize


class ExchangeableRounds(KeptRounds):
    """The rounds with the mean and one deviation in the state. workers: m, how many models there are."""

    def __init__(self, ring: Ring, method: Method, exact: Exact) -> None:
        super().__init__(ring, method, exact)
        self.workers = models_of(self.exchange, exact.clients)
        self.deviations = (Fraction(1),)
        self._begin = self.start(0)

    @property
    def separate(self) -> list[list[int]]:
        """The mean with the constant, and the deviation."""
        d = self.exact.layout.d
        return [[*range(d), 2 * d], list(range(d, 2 * d))]

    def of_round(self, averaged: Sequence[int], handed: bool, eta: StepSize) -> Plan:
        """What a round does after which these coordinates are averaged; a hand-over changes nothing."""
        ring, layout, m = self.ring, self.exact.layout, self.workers
        d, size, plan = layout.d, layout.size, Plan(self.ring.one(self.exact.layout.size))
        own = layout.block(layout.slot(0))
        for k in averaged:
            own[k, layout.slot(0) + k] = 0
        sends = [
            (Fraction(1, m), ring.lift(layout.block(0).transpose())),
            (1 - Fraction(1, m), ring.lift(own.transpose())),
        ]
        step = ring.rows(self.visit(plan, 0, self._begin, sends, Fraction(1), eta))
        zero, one = ring.scalar(Fraction(0)), ring.scalar(Fraction(1))
        rows: list[list[Any]] = [[*list(row)[:d], *[zero] * d, row[d]] for row in step]
        for k, row in enumerate(step):
            rows.append([zero] * size if k in set(averaged) else [*[zero] * d, *list(row)[:d], zero])
        plan.mean = ring.from_rows([*rows, [*[zero] * (size - 1), one]])
        plan.pairs.append((plan.mean, plan.mean))
        return plan
