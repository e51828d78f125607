"""Metrics as functionals of the second moments M = E[z z'] of the state before a round.

The metrics of a point are read off the state; those of a round are formulas of papers (`setting.quantities`), of which
some ask for the state alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.engines.exact.expected import Objectives
from boundcheck.engines.exact.quantities import OfARoundError, Round
from boundcheck.engines.exact.rings import Matrix
from boundcheck.engines.exact.space import Space
from boundcheck.methods.parts import StepSize
from boundcheck.setting.metrics import measured

if TYPE_CHECKING:
    from boundcheck.engines.exact.rounds import Rounds


class Readers:
    """The functionals of the metrics that a run asks for. names: of those that are not read off the state alone."""

    def __init__(self, rounds: Rounds) -> None:
        exact, ring = rounds.exact, rounds.ring
        self._known, self._plain = Objectives(rounds), dict[str, Matrix]()
        still, pick = Round(self._known, None, Fraction(0), 0), exact.layout.block(0)
        chosen, one = ring.lift(pick), ring.lift(exact.layout.one)
        for name in exact.metrics:
            if name in exact.quadratic:
                self._plain[name] = ring.mul(ring.mul(chosen.transpose(), ring.lift(exact.quadratic[name])), chosen)
            elif name == "x":
                row = chosen + ring.mul(ring.lift(exact.centre), one)
                self._plain[name] = ring.mul(one.transpose(), row)
            else:
                with suppress(OfARoundError):
                    self._plain[name] = still.form(measured(name, still.named(name)))
        self.names = tuple(name for name in exact.metrics if name not in self._plain)

    def forms(self) -> Mapping[str, Matrix]:
        """metric -> q (D, D) with metric = trace(q M), of the metrics that are read off the state alone."""
        return self._plain

    def watched(self, space: Space, eta: StepSize, round_index: int) -> dict[str, Matrix]:
        """The other metrics, as functionals, before a round."""
        now = Round(self._known, space, eta, round_index)
        return {name: now.functional(measured(name, now.named(name))) for name in self.names}
