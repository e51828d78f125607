"""The paragraph "epsilon-Time Complexity": rounds that bring dist2 below eps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import sympy as sp

from boundcheck.papers.scgd._horizon import HORIZON, STEP_CONDITION, WHOLE_CYCLES, T, ell, local_steps_at_least
from boundcheck.papers.scgd._shared import ASSUMPTIONS, MU_AT_MOST_L, PAPER, E, L, dist2_0, mu, n, sigma2
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common

BEST = "corrected"

_eps = Symbol("eps", "target for dist2", LENGTH2, low=Fraction(0), low_open=True, latex=r"\varepsilon", free=True)
# each of the two terms of the rate is at most eps/2
_noise_rounds = sp.sqrt(24) * L * ell * E * n * sp.sqrt(sigma2) / (mu * sp.sqrt(_eps.expr))
_start_rounds = Condition(
    "rounds for the start", sp.Ge(T**2, 2 * dist2_0 / _eps.expr), "the contraction term is at most eps/2"
)

_corrected = Statement(
    source=Source(PAPER, "epsilon-Time Complexity", "Section 3.2, with the constants of Theorem 3.3"),
    reading="corrected",
    title="Rounds that suffice for dist2 <= eps",
    symbols=(common.mu, common.L, common.n, common.E, common.ell, common.sigma2, common.dist2_0, HORIZON, _eps),
    metric=Metric("dist2", LENGTH2, rounds=T),
    bound=_eps.expr,
    algorithm=Algorithm("scgd", ("E", "ell", "T")),
    domain=(MU_AT_MOST_L,),
    conditions=(
        STEP_CONDITION,
        WHOLE_CYCLES,
        local_steps_at_least(6),
        _start_rounds,
        Condition("rounds for the noise", sp.Ge(T / sp.log(T), _noise_rounds), "the noise term is at most eps/2"),
    ),
    assumptions=ASSUMPTIONS,
    trivial=dist2_0,
    belief=Belief.TRUE,
    replaces="T = O(n/sqrt(eps)), which drops a logarithm, and the rule E >= 4/(mu*ell)",
    why="The noise term carries log(T)^2, so that T/log(T), not T, is of the order n/sqrt(eps).",
    printed_rate=n / sp.sqrt(_eps.expr),
)

STATEMENTS = (
    _corrected,
    replace(
        _corrected,
        reading="as_printed",
        conditions=(
            STEP_CONDITION,
            WHOLE_CYCLES,
            local_steps_at_least(4),
            _start_rounds,
            Condition("rounds for the noise", sp.Ge(T, _noise_rounds), "the order n/sqrt(eps), without logarithm"),
        ),
        belief=Belief.OPEN,
        replaces="",
        why="",
        remark="The printed order with the constant of the same computation; it does not follow from Theorem 3.3.",
    ),
)
