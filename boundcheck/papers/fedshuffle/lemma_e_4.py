"""Lemma E.4: the drift of a round of FedShuffleGen, about the objective fhat that the method really minimises."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma E.4", "Appendix E.3, bounded drift"),
    title="The drift of a round of FedShuffleGen",
    symbols=NOTATION,
    algorithm=FEDSHUFFLE_GEN,
    metric=Metric.last("drift", LENGTH2, scale=3 * L * et_gen, expectation=COHORTS, surrogate=True),
    assumptions=(convex_samples, smooth_samples, relaxed_dissimilarity, local_variance, followed_objective),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            bound=sp.Rational(9, 10) * et_gen * F + 9 * L * et_gen * eta_l**2 * H_gen,
            conditions=(LOCAL_STEP,),
            replaces="the last term without L and with eta_l = et/eta_g, and the condition with M2 and eta_g",
            why="Lemma C.2 multiplies the drift by 3*L*et and then drops the L, so that its last term, and everything "
            "built on it, has the wrong unit. As et = W*eta_g*eta_l, eta_l^2 is et^2/(W eta_g)^2. The proof bounds the "
            "drift at any server step.",
        ),
        "sharp": Reading(
            bound=sp.Rational(6, 7) * et_gen * F + sp.Rational(48, 7) * L * et_gen * eta_l**2 * H_gen,
            conditions=(LOCAL_STEP,),
            replaces="the coefficients 9/10 and 9 by 6/7 and 48/7, besides all that 'corrected' does",
            why="These are the numbers of the proof before they are rounded up.",
        ),
        "as_printed": Reading(
            bound=sp.Rational(9, 10) * et_gen * F + 9 * et_gen**3 / eta_g**2 * H_gen,
            conditions=(
                Condition("step size", eta_l * eta_g <= 1 / (4 * beta_gen_printed * L), "as printed, without W"),
                SERVER_STEP,
            ),
            belief=Belief.FALSE,
            remark="The last term lacks L and W^2, and has the unit of x^2/L.",
        ),
    },
)
