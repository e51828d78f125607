"""Notation of the paper on SCGD: symbols, assumptions, the step-size constant C in three forms, factors of Appendix C.

Shaocong Ma, "Semi-Cyclic Gradient Descent Outperforms Federated Averaging with Sufficiently Small
Learning Rate", course report, 2020.
"""

from boundcheck.theory.declare import *

PAPER = Paper(
    "Semi-Cyclic Gradient Descent Outperforms Federated Averaging with Sufficiently Small Learning Rate",
    ("Shaocong Ma",), 2020, "Course project, ECE 6960-021", "techreport",
)  # fmt: skip

NOTATION = (common.mu, common.L, common.n, common.E, common.eta, common.sigma2, common.dist2_0, common.K)
mu, L, n, E, eta, sigma2, dist2_0, K = (symbol.expr for symbol in NOTATION)

# the total step of one cycle; the paper writes n E eta each time
s = n * E * eta

# the setting of Section 2, and Assumptions 2.1, 2.2, 2.3
ASSUMPTIONS = (plain_mean, strong_quasi_convexity, smooth_clients, finite_gradient_noise)
MU_AT_MOST_L = sp.Le(mu, L)  # follows from 2.1 and 2.2: mu*dist2 <= <grad F, x - x*> <= L*dist2

# --- equation (2): the constant C of the step conditions (1) and (3), n E eta <= C ------------------------------

_a = (4 * L**2 - mu**2) / (16 * L**4)
_half = 1 / (2 * L)


def _at_most_half(other: Any) -> Any:
    # unevaluated: SymPy would spend start-up time on comparing the two
    return sp.Min(_half, other, evaluate=False)


C_MAIN = _at_most_half(sp.sqrt(mu**2 / (24 * L**4) + _a**2) - _a * mu)  # as printed in the main text
C_APPENDIX = _at_most_half(sp.sqrt(mu**2 / (24 * L**4) + (_a * mu) ** 2) - _a * mu)  # as printed in Appendix A
C_CONSERVATIVE = _at_most_half(sp.sqrt(mu**2 / (48 * L**4) + (_a * mu / 2) ** 2) - _a * mu / 2)

AT_MOST_C = "equation (1): the total step of a cycle is at most C"
STEP_MAIN, STEP_APPENDIX, STEP_CONSERVATIVE = (
    Condition("step size", s <= C, AT_MOST_C) for C in (C_MAIN, C_APPENDIX, C_CONSERVATIVE)
)

# what the readings of Lemma 3.1, Theorem 3.3 and equation (2) say of these constants
REPAIRED = "the third requirement of Appendix A, which does not follow from the display before it"
WHY_REPAIRED = (
    "The constant C of the appendix is kept. Putting 1 - 2L^2s^2 >= 1/2 into the display gives 8L^4/mu where 4L^4/mu "
    "is printed; the bracket before that substitution is nevertheless at most 1 - mu s/3 for every s <= C, which "
    "repairs the proof without a smaller step."
)
MAIN_IS_FALSE = (
    "Equation (2) lacks a factor mu inside the square; the units of its two terms disagree, and for small L it allows "
    "steps at which the method diverges."
)
APPENDIX_IS_TRUE = "The statement is true; a step of its printed proof is not."
CONSERVATIVE = "the constant C of the appendix by the root of the third requirement with 8L^4/mu"
WHY_CONSERVATIVE = (
    "This is what the three displayed requirements give when the factor 2 is kept; the step is 9 to 13 per cent "
    "smaller."
)

# --- one cycle, before the proof of Lemma 3.1 rounds its factors: the display that combines the bounds on T1 and T2 ---

CYCLE_FACTOR = (1 - mu * s + L**2 * s**2) / (1 - mu * s / 2) + 4 * L**4 * s**3 / (mu * (1 - 2 * L**2 * s**2))
CYCLE_NOISE = 2 * L**2 * s**3 / (mu * (1 - 2 * L**2 * s**2))

SUMMABLE = Condition("summable steps", 2 * L**2 * s**2 < 1, "the inequality for the lengths of the local steps solves")
CONTRACTING = Condition("contraction", 4 * L**2 * s < mu, "exactly then the factor of a cycle is below 1")
ROUNDED = "the factors 1 - mu s/3 and 4 L^2 s^3/mu, and the step condition (1) that the rounding needs"
WHY_ROUNDED = (
    "The display of Appendix A that combines the bounds on T1 and T2 needs 2 L^2 s^2 < 1 alone. It contracts for every "
    "s < mu/(4 L^2), which is 2.8 to 3.4 times the constant of the appendix, by about 1 - mu s/2 for small s, and has "
    "half the noise."
)

# --- the step size that depends on the horizon, eta = ell*log(T)/T (Section 3.2) --------------------------------

HORIZON = (
    common.mu,
    common.L,
    common.n,
    common.E,
    common.ell,
    common.sigma2,
    common.dist2_0,
    common.T.but(low=Fraction(2), meaning="communication rounds, known in advance; a multiple of n"),
)
ell, T = common.ell.expr, common.T.expr
HORIZON_STEPS = (("eta", ell * sp.log(T) / T),)
HORIZON_STEP_CONDITION = Condition(
    "step size", sp.Le(n * E * ell * sp.log(T) / T, C_APPENDIX), "condition (3) with the constant of Appendix A"
)
# the noise of Theorem 3.3 at this step
HORIZON_NOISE = 12 * L**2 * ell**2 / mu**2 * sigma2 * n**2 * E**2 * sp.log(T) ** 2 / T**2
# Theorem 3.3 is about whole cycles, T = nK
WHOLE_CYCLES = Condition("whole cycles", sp.Eq(sp.floor(T / n), T / n), "every device is visited equally often")

# --- Appendix C: f_1 = f_2 = -x^2, f_3 = 3x^2, a numeric example in one dimension without dimensions ---------------

START = Symbol("x_0", "the start", ONE, key="start/x")
EXAMPLE = (common.eta.but(dimension=ONE), common.E, START, common.K)
x_0 = START.expr
concave = (1 + 2 * eta) ** E  # factor of a visit of the devices 1 and 2
convex = (1 - 6 * eta) ** E  # factor of a visit of device 3

AS_MEANT = (instance("scgd_appendix_c"),)
MEANT = "f_3 = 3x^3"
WHY_MEANT = (
    "f_3 = 3x^2 is meant: the printed local point 0.16 of device 3, F's curvature and the global minimum at 0 need it."
)
# the setting for which the paper prints numbers
AS_PRINTED = (instance("scgd_appendix_c_cubic"),)
PRINTED_SETTING = tuple(
    Condition(f"printed {symbol}", sp.Eq(symbol, sp.Rational(value)), "the setting of the printed numbers")
    for symbol, value in ((eta, Fraction(1, 10)), (E, 2), (x_0, 1))
)
