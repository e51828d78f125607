"""Definition 2: the dissimilarity B(w) of the devices."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from boundcheck.papers.feddane._shared import PAPER, SYMBOLS, grad2_0
from boundcheck.theory.dimension import GRADIENT2, ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "as_printed"

_CLIENTS = Symbol(
    "client_grad2_0",
    "sum over the devices of p_k |grad F_k|^2 at the start",
    GRADIENT2,
    low=Fraction(0),
    key="start/client_grad2",
)
_GRADIENT = SYMBOLS["grad2_0"].but(low_open=True)

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Definition 2", "Section IV"),
        reading="as_printed",
        title="The dissimilarity B(w) at the start",
        symbols=(_CLIENTS, _GRADIENT),
        metric=Metric("none", ONE),
        bound=sp.sqrt(_CLIENTS.expr / grad2_0),
        kind=Kind.FORMULA,
        domain=(sp.Ge(_CLIENTS.expr, grad2_0),),  # Jensen
        belief=Belief.TRUE,
        remark="At least 1. Where grad f vanishes and some grad F_k does not, no finite B serves, so that B(w) grows "
        "without bound along every run that converges to such a point.",
    ),
)
