"""Section 'Communication Cost': what partial and periodic averaging send in tau iterations."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

theorems = {
    "communication_cost": Theorem(
        source=Source(
            PAPER, "Section 'Communication Cost'", "'the two averaging methods have the same total communication cost'"
        ),
        title="Numbers that are averaged in tau iterations",
        symbols=NOTATION,
        metric=Metric.constant("blocks/averaged_per_period", ONE, "the method"),
        kind=Kind.EQUALITY,
        bound=d,
        algorithm=Algorithm("block_averaging", any_value=("tau", "partition", "order")),
        belief=Belief.TRUE,
        readings={
            "as_printed": Reading(
                remark="Counted in numbers of one model that are averaged in tau iterations, whatever the partition."
            )
        },
    ),
    "communication_messages": Theorem(
        source=Source(PAPER, "Section 'Communication Cost'", "'the increased number of inter-process communications'"),
        title="Messages of partial averaging in tau iterations",
        symbols=NOTATION,
        metric=Metric.constant("blocks/averagings_per_period", ONE, "the method"),
        kind=Kind.EQUALITY,
        belief=Belief.TRUE,
        readings={
            "as_printed": Reading(
                bound=tau,
                algorithm=Algorithm("partial_averaging", any_value=("tau",)),
                conditions=(Condition("no empty block", d >= tau),),
                remark="One message after every iteration; each costs its latency.",
            ),
            "as_printed_periodic": Reading(
                title="Messages of periodic averaging in tau iterations",
                bound=sp.S.One,
                algorithm=Algorithm("periodic_averaging", any_value=("tau",)),
                remark="One message after every tau-th iteration.",
            ),
        },
    ),
}
