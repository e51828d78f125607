"""Equation (2): the step-size constant C, in the three forms that the paper prints or implies."""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *


def largest(kappa: int) -> Any:
    """The positive root of kappa L^4 s^2/mu + (2 L^2 - mu^2/2) s - mu/6, the third requirement of Appendix A."""
    linear = 2 * L**2 - mu**2 / 2
    return mu / 3 / (linear + sp.sqrt(linear**2 + sp.Rational(2, 3) * kappa * L**4))


theorem = Theorem(
    source=Source(PAPER, "equation (2)", "Section 3.1; printed again at the end of Appendix A"),
    title="The step-size constant C: n E eta may be at most this",
    symbols=NOTATION,
    metric=Metric.formula(STEP, largest(4)),
    kind=Kind.EQUALITY,
    domain=(MU_AT_MOST_L,),
    best="as_printed_appendix",
    readings={
        "as_printed_main": Reading(bound=C_MAIN, belief=Belief.FALSE, remark=MAIN_IS_FALSE),
        "as_printed_appendix": Reading(bound=C_APPENDIX, belief=Belief.TRUE, remark=APPENDIX_IS_TRUE),
        "conservative": Reading(
            bound=C_CONSERVATIVE,
            metric=Metric.formula(STEP, largest(8)),
            belief=Belief.TRUE,
            replaces=CONSERVATIVE,
            why=WHY_CONSERVATIVE,
        ),
    },
)
