"""What the statements about Appendix C share: f_1 = f_2 = -x^2, f_3 = 3x^2, so that every visit is a factor.

A numeric example in one dimension: it has no dimensions. E local steps multiply the point by (1 + 2 eta)^E on
the devices 1 and 2, and by (1 - 6 eta)^E on device 3.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from boundcheck.papers.scgd._shared import E, eta
from boundcheck.theory.assumptions import instance
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Condition
from boundcheck.theory.symbols import Symbol, common

CONCAVE = (1 + 2 * eta) ** E
CONVEX = (1 - 6 * eta) ** E
FEDAVG = (2 * CONCAVE + CONVEX) / 3  # factor of one round
SCGD = CONCAVE**2 * CONVEX  # factor of one cycle

X0 = Symbol("x_0", "the start", ONE, key="start/x")
ETA = common.eta.but(dimension=ONE)
WHY = (
    "f_3 = 3x^2 is meant: the printed local point 0.16 of device 3, F's curvature and the global minimum at 0 need it."
)
REPLACES = "f_3 = 3x^3"

AS_MEANT = (instance("scgd_appendix_c"),)

# the setting for which the paper prints numbers
AS_PRINTED = (instance("scgd_appendix_c_cubic"),)
PRINTED_SYMBOLS = (ETA, common.E, X0)
PRINTED_SETTING = tuple(
    Condition(f"printed {symbol}", sp.Eq(symbol, sp.Rational(value)), "the setting of the printed numbers")
    for symbol, value in ((eta, Fraction(1, 10)), (E, 2), (X0.expr, 1))
)
