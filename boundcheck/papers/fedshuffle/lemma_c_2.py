"""Lemma C.2: the drift of the local iterates in one round, where the losses are convex."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from boundcheck.papers.fedshuffle._appendix_c import (
    CONDITIONS,
    METHOD,
    drift_noise,
    of_drift,
)
from boundcheck.papers.fedshuffle._shared import LOST_L, PAPER, L, declare, et, gap_0, of_data
from boundcheck.theory.assumptions import local_variance, relaxed_dissimilarity, smooth_samples
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "corrected"

_names = ("L", "G2", "B2", "P2", "sigma2", "E", "eta_l", "gap_0")
_scale = 3 * L * et

_corrected = Statement(
    source=Source(PAPER, "Lemma C.2", "Appendix C"),
    reading="corrected",
    title="Drift of one round of FedShuffle",
    symbols=declare(*_names, "eta_g", "M"),
    metric=of_drift(LENGTH2, _scale),
    bound=sp.Rational(9, 10) * et * gap_0 + 9 * L * drift_noise,
    algorithm=METHOD,
    conditions=CONDITIONS,
    assumptions=of_data((smooth_samples, relaxed_dissimilarity, local_variance)),
    belief=Belief.TRUE,
    replaces="the last term by L times it",
    why=LOST_L + ".",
    remark="P2 and sigma2 are those of Section 5; the lemma's own are a third of them. The gap is that of the point "
    "at which the round starts.",
)

STATEMENTS = (
    _corrected,
    replace(
        _corrected,
        reading="as_printed",
        bound=sp.Rational(9, 10) * et * gap_0 + 9 * drift_noise,
        belief=Belief.FALSE,
        replaces="",
        why="",
        remark="The left side is [x]^2, as the gap term is, but the last term lacks the unit of L. One client with the "
        "samples lam/2 (x -+ 1)^2 and the start at the minimiser breaks it for every lam > 4.",
    ),
    replace(
        _corrected,
        reading="sharp",
        bound=sp.Rational(6, 7) * et * gap_0 + sp.Rational(48, 7) * L * drift_noise,
        replaces="9/10 and 9 by 6/7 and 48/7",
        why="The paper rounds what its own argument gives.",
    ),
)
