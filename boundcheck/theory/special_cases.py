"""Methods that are special cases of more general ones: what the general method's symbols are for them.

A statement about the general method holds for the special one with these values put in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

from boundcheck.theory.assumptions import Assumption, data_weights, followed_objective

_E, _eta_l, _M, _P2, _sigma2 = sp.symbols("E eta_l M P2 sigma2", real=True)


@dataclass(frozen=True)
class SpecialCase:
    """One method as another one.

    general: kind of the general method. values: (symbol of statements about it, its value for the special one, in
    symbols of statements about that). assumptions: (one of the general method, one of the special method that gives
    it). why: where this is said, in one sentence.
    """

    general: str
    values: tuple[tuple[str, sp.Expr], ...]
    assumptions: tuple[tuple[Assumption, Assumption], ...]
    why: str


# by the kind of the special method; `tests/proof/test_specialised.py` compares runs of both
SPECIAL_CASES: Mapping[str, SpecialCase] = {
    "fedshuffle": SpecialCase(
        "fedshuffle_gen",
        (
            ("eta_l", _E * _eta_l),  # a local step is eta_l/|D_i| in Section 5, eta_l/c_i in Appendix E
            ("W", sp.Integer(1)),
            ("M1", _M),  # h_i = 1/p_i
            ("P2_gen", _P2 / (3 * _E**2)),
            ("sigma2_gen", _sigma2 / (3 * _E**2)),
        ),
        ((followed_objective, data_weights),),
        "FedShuffle is FedShuffleGen with wtilde_i = w_i, c_i = E |D_i| and q_i^S = p_i (Appendix E), so that its "
        "surrogate objective is f.",
    ),
}
