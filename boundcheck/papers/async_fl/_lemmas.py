"""The quantities of Appendix A.2, of which the lemmas speak, as symbols.

In a printed lemma they are means over k = 0, ..., K - 1 at the virtual models theta^{n,k} of (7). In a corrected one
they are at the real model theta^n, with y_i^k the local models and gb_i the mean over k of the stochastic gradients
g_i(y_i^k):

    D = E<sum q_i gb_i, theta^n - x>,       Z = E L^n(theta^n) - min L^n,         Xi = E L^n(theta^n) - L^n(x),
    R = E|sum qt_i gb_i|^2,                 S = mean over k of sum qt_i E|g_i(y_i^k)|^2,
    phi = mean over k of sum qt_i E|y_i^k - theta^n|^2,                            Q(n) = E|theta^{n+1} - theta^n|^2.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from boundcheck.papers.async_fl._shared import (
    CORRECTED,
    L_OF_CLIENTS,
    PRINTED,
    SAMPLES,
    SYMBOLS,
    Reading,
    formula,
    nonnegative,
    positive,
)
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import GRADIENT2, LENGTH2, VALUE, Dimension
from boundcheck.theory.statement import Condition, Statement
from boundcheck.theory.symbols import Symbol

_DECLARED = (
    positive("q", "sum q(n) of the expected weights of round n"),
    Symbol("inner", "D: inner product of the mean step with theta - x", VALUE),
    nonnegative("Rn", "R: squared norm of the mean stochastic gradient", GRADIENT2),
    nonnegative("Sn", "S: mean squared norm of the stochastic gradients", GRADIENT2),
    nonnegative("Qs", "sum of Q(n-1), ..., Q(n-tau): squared movements of the last rounds", LENGTH2),
    nonnegative("Z", "Z: expected gap of L^n", VALUE),
    Symbol("Xi", "Xi: expected difference of L^n to L^n(x)", VALUE),
    nonnegative("sg1", "sum of qt_i(n) E|g_i|^2 at the minimiser of L^n", GRADIENT2),
    nonnegative("sg2", "sum of qt_i(n)^2 E|g_i|^2 at the minimiser of L^n", GRADIENT2),
    nonnegative("Z_mean", "mean of Z over the rounds", VALUE),
)
OWN: Mapping[str, Symbol] = MappingProxyType({symbol.name: symbol for symbol in _DECLARED})
q, inner, Rn, Sn, Qs, Z, Xi, sg1, sg2, Z_mean = (symbol.expr for symbol in _DECLARED)

WHOLE_ROUNDS = "for whole rounds, at the real model theta^n"
TWELVE = (
    "(70) has 6 eta_l^2 (K-1)^2 sigma_1 before the division by 1 - D >= 1/2, which makes it 12; and the factor q(n) of "
    "the delays is 1, since the weights qt_i(n) sum to 1"
)
VIRTUAL = (
    "(63) writes theta^{n,k} with the steps eta_l qt_i where it has eta_g eta_l w_i, so that the lemma is for whole "
    "rounds"
)


def lemma(
    reading: Reading,
    source: tuple[str, str],
    title: str,
    bound: Any,
    dimension: Dimension,
    *conditions: Condition,
    assumptions: tuple[Assumption, ...] | None = None,
) -> Statement:
    """A lemma about these quantities: the right side of its inequality, as a formula."""
    as_printed = reading.name == "as_printed"
    if assumptions is None:
        assumptions = PRINTED if as_printed else CORRECTED
    changed = [*_DECLARED, L_OF_CLIENTS if as_printed else SYMBOLS["L"]]
    return formula(
        reading, source, title, bound, dimension, conditions=conditions, assumptions=assumptions, changed=changed
    )


def why(reason: str) -> str:
    """The reason of a corrected lemma, with what the proofs need of the samples."""
    return f"{reason}. {SAMPLES}"
