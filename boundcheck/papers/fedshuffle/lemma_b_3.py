"""Lemma B.3: the sublinear rate of a recursion d_r <= d_{r-1} - eta s_r + eta (c1 eta + c2 eta^2)."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from boundcheck.papers.fedshuffle._appendix_b import (
    C1,
    C2,
    D0,
    ETA,
    ETA_MAX,
    K,
    average,
    c1,
    c2,
    d0,
    eta,
    eta_max,
    terms,
)
from boundcheck.papers.fedshuffle._shared import PAPER
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "as_printed"

_SEQUENCE = Assumption(
    "increments",
    "d_0 = d0, all d_r >= 0; Psi is the mean of (d_{r-1} - d_r)/eta + c1*eta + c2*eta^2 over r = 1, ..., K.",
)

_tuned = Statement(
    source=Source(PAPER, "Lemma B.3", "Appendix B.2"),
    reading="as_printed",
    title="Sublinear rate at the step min(eta_max, sqrt(d0/(c1 K)), cbrt(d0/(c2 K)))",
    symbols=(ETA_MAX, D0, C1, C2, K),
    metric=average(),
    bound=d0 / (eta_max * terms) + 2 * sp.sqrt(c1 * d0 / terms) + 2 * sp.cbrt(c2) * sp.cbrt(d0 / terms) ** 2,
    assumptions=(_SEQUENCE,),
    belief=Belief.TRUE,
    remark="K is the paper's R + 1. eta_max = 0, which it allows, gives no step; d0 = 0 is left out, where any step "
    "will do. The last line of its proof has c*eta for c1*eta + c2*eta^2.",
)

STATEMENTS = (
    _tuned,
    replace(
        _tuned,
        reading="fixed_step",
        title="Sublinear rate at any step",
        symbols=(ETA, D0, C1, C2, K),
        bound=d0 / (eta * terms) + c1 * eta + c2 * eta**2,
        replaces="the tuned step by any step",
        why="It is the first line of the proof.",
        remark="",
    ),
)
