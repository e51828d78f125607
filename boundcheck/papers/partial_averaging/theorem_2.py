"""Theorem 2: the mean squared gradient of partial averaging on data that differ between the clients.

The main text and the appendix print different constants; each reading says which one and in which sense it takes
Assumption 1 and the weights of the averages.
"""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

MAIN_TEXT = Source(PAPER, "Theorem 2", "Convergence analysis for non-IID data")
APPENDIX = Source(PAPER, "Theorem 2", "Appendix C, (71) and (73)")

bound_main_text = start_term + 4 * eta * sum_p2 * sum_L_sigma2 + distance_terms
bound_appendix = start_term + 2 * eta * (1 / m) * sum_L_sigma2 + distance_terms
bound_any_weights = start_term + 2 * eta * sum_p2 * sum_L_sigma2 + distance_terms

STEP_SIZE = (Condition("step size", eta * Lmax <= 1), INTERVAL)
STEP_MAIN_TEXT = (Condition("step size", eta * Lmax <= sp.Rational(1, 2)), INTERVAL)

REPAIR = (
    "The identity (21) is applied to the averaged gradient sum of p_i grad F_i(x_i), since it fails worker by worker; "
    "Lemma 2's counting holds in the norm with the weights p; and the step from grad F_i(x_i) to grad F_i(u) is made "
    "for all blocks at once"
)
UNIFORM_WEIGHTS = (
    "Algorithm 1 averages with 1/m, so that for other weights p_i its models settle where the plain mean of the F_i, "
    "not F, is stationary"
)

theorem = Theorem(
    source=MAIN_TEXT,
    title="Averaged blocks on non-IID data: the mean squared gradient at the averaged model",
    symbols=NOTATION,
    metric=Metric.mean("grad2", GRADIENT2, index=K, expectation="the samples of all steps"),
    algorithm=BLOCK_AVERAGING,
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            symbols=GLOBAL,
            bound=start_term + 2 * eta * sum_p2 * Lmax * sigma2 + distance_terms_one_constant,
            conditions=STEP_SIZE,
            assumptions=ONE_CONSTANT,
            replaces="Assumption 1 by smoothness of every F_i with one constant L, and the averages with 1/m by "
            "averages with the weights p_i of F, as equation (2) has them",
            why=f"{COUPLED}. {UNIFORM_WEIGHTS}. {REPAIR}. The second constant is 2, and the step may reach 1/L, as in "
            "the appendix.",
        ),
        "weighted": Reading(
            symbols=WEIGHTED,
            bound=bound_any_weights,
            conditions=STEP_SIZE,
            assumptions=(smooth_weighted, block_variance, block_dissimilarity, averages_as_objective, bounded_below),
            replaces="Assumption 1 by a Lipschitz condition on every gradient with the weights L_j, and the averages "
            "with 1/m by averages with the weights p_i",
            why=f"{COUPLED}. {UNIFORM_WEIGHTS}. {REPAIR}; Assumption 4 is needed block by block, with one beta.",
        ),
        "separable": Reading(
            symbols=SEPARABLE,
            bound=bound_any_weights,
            conditions=STEP_SIZE,
            assumptions=(smooth_separable, block_variance, block_dissimilarity, averages_as_objective, bounded_below),
            replaces="Assumption 1 by |grad_j F_i(x) - grad_j F_i(y)| <= L_j |x_j - y_j| for all x and y, and the "
            "averages with 1/m by averages with the weights p_i",
            why=f"Step (111) uses exactly this inequality. {UNIFORM_WEIGHTS}.",
        ),
        "as_printed_main": Reading(
            bound=bound_main_text,
            conditions=STEP_MAIN_TEXT,
            assumptions=PRINTED,
            belief=Belief.FALSE,
            remark=f"The second constant 4 and the step up to 1/(2 Lmax). {COUPLED}. {UNIFORM_WEIGHTS}.",
        ),
        "as_printed_main_separable": Reading(
            symbols=SEPARABLE,
            bound=bound_main_text,
            conditions=STEP_MAIN_TEXT,
            assumptions=PRINTED_SEPARABLE,
            belief=Belief.FALSE,
            remark="Assumption 1 read as the proof uses it; the averages are still those of Algorithm 1. "
            f"{UNIFORM_WEIGHTS}.",
        ),
        "as_printed_appendix": Reading(
            source=APPENDIX,
            bound=bound_appendix,
            conditions=STEP_SIZE,
            assumptions=(*PRINTED, plain_mean),
            belief=Belief.FALSE,
            remark="p_i = 1/m throughout, the second constant 2 and the step up to 1/Lmax: stronger than the main "
            f"text. {COUPLED}. The proof's '1/(2 beta^2) <= 2/3 and 1/(1-A) <= 2/3' must read 1/2 and 3/2; the final "
            "constants 3 and 6 come from 3/2.",
        ),
        "as_printed_appendix_separable": Reading(
            source=APPENDIX,
            symbols=SEPARABLE,
            bound=bound_appendix,
            conditions=STEP_SIZE,
            assumptions=(*PRINTED_SEPARABLE, plain_mean),
            remark="Assumption 1 read as step (111) uses it: F_i is a sum of functions of one block each.",
        ),
    },
)
