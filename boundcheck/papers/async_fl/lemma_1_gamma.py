"""Lemma 1, second and third claim: 0 <= gamma_i <= beta q_i."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

d, q_i, chance = sp.symbols("d q_i chance", real=True)
GAMMA = Metric(  # the weight is d with the probability `chance`, else 0
    "none",
    ONE,
    value=chance * d**2 - alpha * (chance * d) ** 2,
    where=(("q_i", chance * d),),
    meets=("covariance_of_weights",),
)

theorem = Theorem(
    source=Source(PAPER, "Lemma 1", "Appendix A.3, after (51)"),
    title="Variance of a client's weight beyond alpha q_i^2",
    symbols=(
        *NOTATION,
        positive("d", "weight d_i(n) of a client when it takes part"),
        nonnegative("q_i", "expected weight q_i(n) of the client"),
    ),
    metric=GAMMA,
    domain=(q_i <= d,),
    assumptions=(covariance_of_weights,),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            kind=Kind.EQUALITY,
            bound=q_i * (d - alpha * q_i),
            replaces="the bound beta q_i, beta the largest d_i - alpha q_i over all clients",
            why="A weight is 0 or d_i, so that E w_i^2 = d_i q_i and gamma_i = q_i (d_i - alpha q_i) exactly; a client "
            "that cannot take part has gamma_i = 0, but counts with d_i in the printed beta.",
            remark="Weights with more than two values (clients drawn with replacement) have another gamma_i.",
        ),
        "as_printed": Reading(
            bound=sp.Max(0, d - alpha * q_i) * q_i,
            remark="The bound beta q_i for one client. With the largest beta over all clients, those that cannot take "
            "part too, it is true and loose: FedFix's beta = 0 needs them left out.",
        ),
    },
)
