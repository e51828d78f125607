"""Theorem 2: partial averaging on data that differ between clients, as the main text and as the appendix print it."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.partial_averaging._shared import (
    BLOCKS,
    COUPLED,
    GLOBAL,
    METHOD,
    PAPER,
    SEPARABLE,
    WEIGHTED,
    Reading,
    Smooth,
    m,
    non_iid,
    of_average,
    steps_2,
    sum_p2,
    symbols_in,
    theorem_2_bound,
)
from boundcheck.theory.assumptions import plain_mean
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "corrected"

_MAIN = "Convergence analysis for non-IID data"
_APPENDIX = "Appendix C, (71) and (73)"
_HALF = sp.Rational(1, 2)
_REPAIR = (
    "The identity (21) is applied to the averaged gradient sum of p_i grad F_i(x_i), since it fails worker by worker; "
    "Lemma 2's counting holds in the norm with the weights p; and the step from grad F_i(x_i) to grad F_i(u) is made "
    "for all blocks at once"
)
_PLAIN = (
    "Algorithm 1 averages with 1/m, so that for other weights p_i its models settle where the plain mean of the F_i, "
    "not F, is stationary"
)


def _statement(
    reading: Reading,
    smooth: Smooth,
    where: str,
    *,
    factor: int = 2,
    first: Any = sp.S.One,
    plain: bool = False,
    equal: bool = False,
) -> Statement:
    """plain: averages with the weights 1/m; equal: p_i = 1/m too, as the appendix has it."""
    squares = 1 / m if equal else sum_p2
    bound, conditions = theorem_2_bound(smooth, factor, squares=squares), steps_2(first)
    return Statement(
        source=Source(PAPER, "Theorem 2", where),
        reading=reading.name,
        title="Averaged blocks on non-IID data: the mean squared gradient at the averaged model",
        symbols=symbols_in(bound, *conditions, smooth=smooth),
        metric=of_average(),
        bound=bound,
        algorithm=METHOD,
        conditions=conditions,
        assumptions=(*non_iid(smooth, plain=plain), *((plain_mean,) if equal else ())),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="Assumption 1 by smoothness of every F_i with one constant L, and the averages with 1/m by "
            "averages with the weights p_i of F, as equation (2) has them",
            why=f"{COUPLED}. {_PLAIN}. {_REPAIR}. The second constant is 2, and the step may reach 1/L, as in the "
            "appendix.",
        ),
        GLOBAL,
        _MAIN,
    ),
    _statement(
        Reading(
            "weighted",
            Belief.TRUE,
            replaces="Assumption 1 by a Lipschitz condition on every gradient with the weights L_j, and the averages "
            "with 1/m by averages with the weights p_i",
            why=f"{COUPLED}. {_PLAIN}. {_REPAIR}; Assumption 4 is needed block by block, with one beta.",
        ),
        WEIGHTED,
        _MAIN,
    ),
    _statement(
        Reading(
            "separable",
            Belief.TRUE,
            replaces="Assumption 1 by |grad_j F_i(x) - grad_j F_i(y)| <= L_j |x_j - y_j| for all x and y, and the "
            "averages with 1/m by averages with the weights p_i",
            why=f"Step (111) uses exactly this inequality. {_PLAIN}.",
        ),
        SEPARABLE,
        _MAIN,
    ),
    _statement(
        Reading(
            "as_printed_main",
            Belief.FALSE,
            remark=f"The second constant 4 and the step up to 1/(2 Lmax). {COUPLED}. {_PLAIN}.",
        ),
        BLOCKS,
        _MAIN,
        factor=4,
        first=_HALF,
        plain=True,
    ),
    _statement(
        Reading(
            "as_printed_main_separable",
            Belief.FALSE,
            remark=f"Assumption 1 read as the proof uses it; the averages are still those of Algorithm 1. {_PLAIN}.",
        ),
        SEPARABLE,
        _MAIN,
        factor=4,
        first=_HALF,
        plain=True,
    ),
    _statement(
        Reading(
            "as_printed_appendix",
            Belief.FALSE,
            remark="p_i = 1/m throughout, the second constant 2 and the step up to 1/Lmax: stronger than the main "
            f"text. {COUPLED}. The proof's '1/(2 beta^2) <= 2/3 and 1/(1-A) <= 2/3' must read 1/2 and 3/2; the final "
            "constants 3 and 6 come from 3/2.",
        ),
        BLOCKS,
        _APPENDIX,
        plain=True,
        equal=True,
    ),
    _statement(
        Reading(
            "as_printed_appendix_separable",
            Belief.TRUE,
            remark="Assumption 1 read as step (111) uses it: F_i is a sum of functions of one block each.",
        ),
        SEPARABLE,
        _APPENDIX,
        plain=True,
        equal=True,
    ),
)
