"""Client selection: the interval at which partial averaging with hand-overs costs as much as periodic averaging."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.papers.partial_averaging._shared import PAPER, SYMBOLS, Reading, tau
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "general"

_ROUNDS = Symbol("rounds", "communication rounds between two hand-overs", ONE, integer=True, low=Fraction(1))
_TAU = SYMBOLS["tau"].but(meaning="averaging interval of periodic averaging, which the hand-overs are weighed against")
_WHOLE = Condition("whole interval", sp.Eq(sp.floor(tau / 10), tau / 10), "otherwise 11 tau/10 is no number of steps")


def _statement(reading: Reading, title: str, bound: Any, *conditions: Condition) -> Statement:
    names = {s.name for s in bound.free_symbols}
    return Statement(
        source=Source(PAPER, "Section 'Experiments with Non-IID Data'", "a 10% longer interval; Appendix D, Table 4"),
        reading=reading.name,
        title=title,
        symbols=tuple(s for s in (_TAU, _ROUNDS) if s.name in names),
        metric=Metric("none", ONE),
        bound=bound,
        kind=Kind.FORMULA,
        conditions=conditions,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(
        Reading(
            "general",
            Belief.TRUE,
            replaces="10 rounds and 10% by any number of rounds r and tau (r + 1)/r",
            why="In r rounds of interval t partial averaging sends r models, and one more at the hand-over; periodic "
            "averaging sends r t/tau in the same time. They agree for t = tau (r + 1)/r.",
        ),
        "Interval of partial averaging at equal communication cost",
        tau * (_ROUNDS.expr + 1) / _ROUNDS.expr,
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="10% longer, with a hand-over after every 10 rounds; tau = 10 gives 11. FEMNIST's interval 4 would "
            "give 4.4, of which the paper says nothing.",
        ),
        "Interval of partial averaging at equal communication cost, 10 rounds between hand-overs",
        sp.Rational(11, 10) * tau,
        _WHOLE,
    ),
    _statement(
        Reading(
            "as_printed_iterations",
            Belief.TRUE,
            remark="tau = 10: 110 iterations, in which either method sends 11 models (10 by blocks and 1 at the "
            "hand-over).",
        ),
        "Iterations between two hand-overs",
        11 * tau,
        _WHOLE,
    ),
)
