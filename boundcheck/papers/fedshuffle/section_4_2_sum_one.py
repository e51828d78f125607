"""Section 4.2: expected weights of the clients when a cohort's weights are normalised to sum to 1."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

# the formula is the same for each client; a claim takes the first for the client
WEIGHTS = (
    positive("w_i", "weight of the client", key="clients/w_1"),
    positive("w_j", "weight of one of the two others", key="clients/w_2"),
    positive("w_k", "weight of the other one", key="clients/w_3"),
)
w_i, w_j, w_k = (symbol.expr for symbol in WEIGHTS)

theorem = Theorem(
    source=Source(PAPER, "Section 4.2", "three clients with 1, 2 and 3 samples, two of them drawn uniformly"),
    title="Expected weight of a client under Sum-One aggregation",
    symbols=WEIGHTS,
    metric=Metric.constant("clients/what_1", ONE, "the method"),
    kind=Kind.EQUALITY,
    assumptions=(
        Assumption(
            "sum_one_pairs_of_three",
            "Three clients weigh 1/6, 1/3 and 1/2, two of them are drawn uniformly, their weights are normalised to "
            "sum to 1, and all do equally much local work.",
        ),
    ),
    belief=Belief.TRUE,
    best="general",
    readings={
        "general": Reading(
            source=Source(PAPER, "Section 4.2", "two of three clients drawn uniformly"),
            bound=(w_i / (w_i + w_j) + w_i / (w_i + w_k)) / 3,
            assumptions=(
                Assumption(
                    "sum_one_pairs",
                    "Two of three clients are drawn uniformly, their weights are normalised to sum to 1, and all do "
                    "equally much local work.",
                ),
            ),
            replaces="the three numbers by a formula in the weights",
            why="Each of the three pairs is drawn with probability 1/3, and the client is in two of them. It equals "
            "w_i/(w_i + w_j + w_k) for equal weights; in general it does not, which is what the example shows.",
        ),
        # the printed numbers of the clients with 1, 2 and 3 samples
        **{
            f"as_printed_client_{client}": Reading(
                title=f"Expected weight of client {client} under Sum-One aggregation",
                metric=Metric.constant(f"clients/what_{client}", ONE, "the method"),
                bound=weight,
                remark=f"The client's weight in the objective is {client}/6.",
            )
            for client, weight in ((1, sp.Rational(7, 36)), (2, sp.Rational(16, 45)), (3, sp.Rational(9, 20)))
        },
    },
)
