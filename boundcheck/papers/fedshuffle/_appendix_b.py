"""What the technical lemmas of Appendix B share: the recursions behind Lemmas B.2 and B.3, and their symbols.

A sequence d has an arbitrary unit [u]; with steps eta, the average Psi of the increments has the unit of d/eta.
"""

from __future__ import annotations

from fractions import Fraction

from boundcheck.theory.dimension import CURVATURE, FREE, STEP, Dimension
from boundcheck.theory.statement import Metric
from boundcheck.theory.symbols import Symbol, common

RATE = FREE * CURVATURE  # unit of Psi

D0 = Symbol("d0", "first member of the sequence", FREE, low=Fraction(0), low_open=True, latex="d_0")
C1 = Symbol("c1", "coefficient of the step size in the error", RATE * CURVATURE, low=Fraction(0), latex="c_1")
C2 = Symbol(
    "c2", "coefficient of its square in the error", RATE * CURVATURE.power(Fraction(2)), low=Fraction(0), latex="c_2"
)
K = common.K.but(meaning="number of terms", low=Fraction(1), index=False)
ETA = common.eta.but(key="", meaning="constant step size")
ETA_MAX = Symbol("eta_max", "largest step size", STEP, low=Fraction(0), low_open=True, latex=r"\eta_{\max}")
MU = common.mu.but(key="", meaning="contraction constant of the recursion")

d0, c1, c2, terms, eta, eta_max, mu = (s.expr for s in (D0, C1, C2, K, ETA, ETA_MAX, MU))


def average(dimension: Dimension = RATE) -> Metric:
    """The weighted average Psi of the increments."""
    return Metric("psi", dimension, expectation="none: the lemma is about any sequence")
