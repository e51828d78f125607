"""Rounds with a momentum of the server's step: heavy ball, FedAvgM and Nesterov's method.

The state is z = [x - c; x_previous - c; 1]. With b = x + beta (x - x_previous), beta the round's momentum, a round
moves x to b + sum over S of eta_g a_i (V_i - I) s, with s = x, or s = b for Nesterov's method, and x_previous to x.
Visits are affine in s, so that the means and second moments are those of `rounds` with another matrix that picks the
start.
"""

from __future__ import annotations

import copy
from fractions import Fraction

from boundcheck.core.linalg import identity, rational
from boundcheck.engines.exact.rings import Ring
from boundcheck.engines.exact.rounds import Plan, Rounds
from boundcheck.engines.exact.state import Exact
from boundcheck.methods.method import Method
from boundcheck.methods.parts import StepSize


class ServerMomentumRounds(Rounds):
    """The rounds of such a method."""

    def __init__(self, ring: Ring, method: Method, exact: Exact) -> None:
        super().__init__(ring, method, exact)
        self._plain_local = self.local
        self._beta: Fraction | None = None

    def plan(self, eta: StepSize, round_index: int, first: bool) -> Plan:
        own = self.method.server_momentum
        assert own is not None
        beta = own.at(round_index)
        if beta != self._beta:
            self._beta, self._plans = beta, {}
            self._go_on(beta, nesterov=own.nesterov)
        return super().plan(eta, round_index, first)

    def _go_on(self, beta: StepSize, *, nesterov: bool) -> None:
        """Take the maps of a round with momentum beta."""
        layout, keep = self.exact.layout, identity(self.exact.layout.size)
        for k in range(layout.d):
            before = (layout.previous or 0) + k
            keep[k, k], keep[k, before] = 1 + rational(beta), -rational(beta)
            keep[before, before], keep[before, k] = 0, 1
        self._keep = self.ring.lift(keep)
        if nesterov:
            self.local = self._worker = copy.copy(self._plain_local)
            self.local.start_from(self.ring.lift(layout.block(0) * keep))
            self._from = self.local.pick
