"""Client selection: the interval at which partial averaging with hand-overs costs as much as periodic averaging.

It is compared from the other end: for an interval t and r rounds between two hand-overs, partial averaging sends r + 1
models in r t iterations, and tau is the interval at which periodic averaging sends as many.
"""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

OWN = (
    count("tau", "averaging interval of periodic averaging, which the hand-overs are weighed against", latex=r"\tau",
          key="method/tau"),
    count("rounds", "communication rounds between two hand-overs", latex="R"),
    positive("interval", "averaging interval of partial averaging", latex=r"\tau"),
)  # fmt: skip
tau, rounds, interval = (symbol.expr for symbol in OWN)


def equal_cost(between: Any) -> dict[str, Any]:
    """tau where both methods send as many models in the iterations between two hand-overs; between: rounds there."""
    return {"tau": between * interval / (between + 1)}


WHOLE = Condition("whole interval", sp.Eq(sp.floor(tau / 10), tau / 10), "otherwise 11 tau/10 is no number of steps")

theorem = Theorem(
    source=Source(PAPER, "Section 'Experiments with Non-IID Data'", "a 10% longer interval; Appendix D, Table 4"),
    title="Interval of partial averaging at equal communication cost",
    symbols=OWN,
    metric=Metric.formula(ONE, interval, where=equal_cost(10)),
    kind=Kind.EQUALITY,
    belief=Belief.TRUE,
    best="general",
    readings={
        "general": Reading(
            metric=Metric.formula(ONE, interval, where=equal_cost(rounds)),
            bound=tau * (rounds + 1) / rounds,
            replaces="10 rounds and 10% by any number of rounds r and tau (r + 1)/r",
            why="In r rounds of interval t partial averaging sends r models, and one more at the hand-over; periodic "
            "averaging sends r t/tau in the same time. They agree for t = tau (r + 1)/r.",
        ),
        "as_printed": Reading(
            title="Interval of partial averaging at equal communication cost, 10 rounds between hand-overs",
            bound=sp.Rational(11, 10) * tau,
            conditions=(WHOLE,),
            remark="10% longer, with a hand-over after every 10 rounds; tau = 10 gives 11. FEMNIST's interval 4 would "
            "give 4.4, of which the paper says nothing.",
        ),
        "as_printed_iterations": Reading(
            title="Iterations between two hand-overs",
            metric=Metric.formula(ONE, 10 * interval, where=equal_cost(10)),
            bound=11 * tau,
            conditions=(WHOLE,),
            remark="tau = 10: 110 iterations, in which either method sends 11 models (10 by blocks and 1 at the "
            "hand-over).",
        ),
    },
)
