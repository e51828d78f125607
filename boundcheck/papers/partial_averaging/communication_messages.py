"""Communication cost: how many messages partial and periodic averaging need in tau iterations."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.partial_averaging._matrices import of_matrices
from boundcheck.papers.partial_averaging._shared import Reading, d, tau
from boundcheck.theory.statement import Belief, Condition

BEST = "as_printed"

_WHERE = "'the increased number of inter-process communications'"

STATEMENTS = (
    of_matrices(
        Reading("as_printed", Belief.TRUE, remark="One message after every iteration; each costs its latency."),
        "Section 'Communication Cost'",
        "Messages of partial averaging in tau iterations",
        "averagings_per_period",
        bound=tau,
        where=_WHERE,
        kind="partial_averaging",
        conditions=(Condition("no empty block", sp.Ge(d, tau)),),
    ),
    of_matrices(
        Reading("as_printed_periodic", Belief.TRUE, remark="One message after every tau-th iteration."),
        "Section 'Communication Cost'",
        "Messages of periodic averaging in tau iterations",
        "averagings_per_period",
        bound=sp.S.One,
        where=_WHERE,
        kind="periodic_averaging",
    ),
)
