"""Theorem 5.2: FedShuffleMVR at the step size and momentum that the number of rounds prescribes.

Two step sizes are printed, one in the theorem and one at the end of its proof, which needs neither E >= L/delta nor
delta > 0. The first momentum is the mean of R sampled gradients at x^0.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

# the step size of the theorem and that of its proof, written as one over a maximum, which covers G^2 = sigma^2 = 0
STEP = 1 / (40 * E * sp.Max(delta, sp.cbrt(R * delta**2 * (G2 + sigma2) / F)))
STEP_OF_PROOF = 1 / sp.Max(
    4 * L, 40 * delta * E, sp.cbrt(E**3 * R * (58752 * delta**2 * G2 + 5 * sigma2 * L**2 / E**2) / F)
)
CHOICES = (("eta_l", STEP), ("a", sp.Max(1152 * (E * delta * STEP) ** 2, 1 / R)), ("warm_up", R))
CHOICES_OF_PROOF = (
    ("eta_l", STEP_OF_PROOF),
    ("a", sp.Max(1152 * (E * delta * STEP_OF_PROOF) ** 2, 1 / R)),
    ("warm_up", R),
)

SOURCE_OF_PROOF = Source(PAPER, "Theorem 5.2", "Appendix D, the last displays of the proof")
NOT_MINIMAL = Condition("start", F > 0, "the start is no minimum; the step would be 0")
CONDITIONS = (
    Condition("local epochs", E * delta >= L, "E >= L/delta"),
    Condition("similarity", delta > 0, "delta > 0"),
    B_IS_1,
    P_IS_0,
    NOT_MINIMAL,
)
CONDITIONS_OF_PROOF = (B_IS_1, P_IS_0, NOT_MINIMAL)
RATE = sp.cbrt(delta * F) ** 2 * sp.cbrt(G2 + sigma2) / sp.cbrt(R) ** 2 + (delta * F + G2) / R

theorem = Theorem(
    source=Source(PAPER, "Theorem 5.2", "Section 5.1"),
    title="FedShuffleMVR at the tuned step size and momentum",
    symbols=(*NOTATION, HORIZON),
    algorithm=Algorithm("fedshuffle_mvr", ("E", "eta_l", "a", "warm_up")),
    metric=Metric.mean(
        "epoch_grad2", GRADIENT2, rounds=R, expectation="clients, orders of the samples and the warm-up"
    ),
    assumptions=(
        smooth_samples,
        gradient_dissimilarity,
        local_variance,
        hessian_similarity,
        bounded_below,
        data_weights,
    ),
    trivial=2 * L * F,
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            choices=CHOICES,
            bound=384 * sp.cbrt(delta * F) ** 2 * sp.cbrt(G2 + sigma2) / sp.cbrt(R) ** 2
            + (200 * delta * F + 318 * G2) / R,
            conditions=CONDITIONS,
            replaces="the order O(.) by explicit constants, at the step size of the theorem",
            why="The step size of the theorem differs from the one in its proof; put into the fixed-step bound it "
            "gives 200 + 293760/1600 <= 384 for the leading term. R warm-up rounds come before the R rounds.",
            printed_rate=RATE,
        ),
        "corrected_proof": Reading(
            source=SOURCE_OF_PROOF,
            choices=CHOICES_OF_PROOF,
            bound=318 * G2 / R
            + 390 * sp.cbrt(F**2 * (delta**2 * G2 + sigma2 * L**2 / E**2) / R**2)
            + 20 * (L + 10 * delta * E) * F / (E * R),
            conditions=CONDITIONS_OF_PROOF,
            replaces="f(x0) - f* under the cube root by its square",
            why="Both terms that the step size balances are of the order (F^2 ...)^(1/3): 10 times the cube root of "
            "58752 is 388.75, below the printed 390. With F alone the unit is wrong.",
        ),
        "as_printed": Reading(
            choices=CHOICES,
            bound=RATE,
            conditions=CONDITIONS,
            belief=Belief.FALSE,
            remark="The printed order, which is right; with the constant 1, as it is taken here, it is no bound.",
            printed_rate=RATE,
        ),
        "as_printed_proof": Reading(
            source=SOURCE_OF_PROOF,
            choices=CHOICES_OF_PROOF,
            bound=318 * G2 / R
            + 390 * sp.cbrt(F * (delta**2 * G2 + sigma2 * L**2 / E**2) / R**2)
            + 20 * (L + 10 * delta * E) * F / (E * R),
            conditions=CONDITIONS_OF_PROOF,
            belief=Belief.FALSE,
            remark="The gap under the cube root is not squared, so that scaling f breaks the bound.",
        ),
    },
)
