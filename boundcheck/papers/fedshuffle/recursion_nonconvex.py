"""The recursion in the proof of Theorem 5.1 where the losses are not convex."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from boundcheck.papers.fedshuffle._appendix_c import CONDITIONS, GRAD2_0, METHOD, drift_noise, grad2_0, one_round
from boundcheck.papers.fedshuffle._shared import (
    B_AT_LEAST_1,
    G2,
    LOST_L,
    NONCONVEX,
    PAPER,
    L,
    M,
    declare,
    et,
    gap_0,
    of_data,
)
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "corrected"

_participation = et**2 * M * L * G2

_corrected = Statement(
    source=Source(PAPER, "Theorem 5.1, non-convex recursion", "end of Appendix C"),
    reading="corrected",
    title="One round of FedShuffle without convexity",
    symbols=(*declare("L", "G2", "B2", "P2", "sigma2", "M", "E", "eta_l", "eta_g", "gap_0"), GRAD2_0),
    metric=one_round("gap", VALUE),
    bound=gap_0 - et / 8 * grad2_0 + sp.Rational(9, 4) * L**2 * drift_noise + _participation,
    algorithm=METHOD,
    conditions=(*CONDITIONS, B_AT_LEAST_1),
    assumptions=of_data(NONCONVEX),
    belief=Belief.TRUE,
    replaces="the factor L of the drift's term by L^2",
    why=LOST_L + ".",
)

STATEMENTS = (
    _corrected,
    replace(
        _corrected,
        reading="as_printed",
        bound=gap_0 - et / 8 * grad2_0 + sp.Rational(9, 4) * L * drift_noise + _participation,
        belief=Belief.FALSE,
        replaces="",
        why="",
        remark="The drift's term, taken over from Lemma C.2, lacks the unit of L. The hypothesis B >= 1 is put in. "
        "One client with the samples lam/2 (x -+ 1)^2 and the start at the minimiser breaks it for lam > 96.",
    ),
    replace(
        _corrected,
        reading="sharp",
        bound=gap_0 - et / 4 * grad2_0 + sp.Rational(3, 2) * L**2 * drift_noise + _participation,
        replaces="et/8 and 9/4 by et/4 and 3/2",
        why="The two uses of the step condition share it: where one needs all of it the other needs none.",
    ),
)
