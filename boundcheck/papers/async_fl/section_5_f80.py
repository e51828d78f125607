"""Section 5.1: the hardware scenario F80."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

X = sp.Symbol("X", real=True)

theorem = Theorem(
    source=Source(PAPER, "Section 5.1", "'Hardware Scenarios', and Section 5.2.1"),
    title="Update time of the slowest client over that of the fastest",
    symbols=(nonnegative("X", "how many per cent slower than the fastest client the slowest is"),),
    metric=Metric.formula(ONE),
    kind=Kind.FORMULA,
    domain=(X < 100,),
    belief=Belief.OPEN,
    readings={
        "as_printed_times": Reading(
            bound=1 / (1 - X / 100),
            remark="Section 5.2.1: clients 'communicate with the server up to 5 more times than the slowest one': the "
            "fastest needs 80 % less time.",
        ),
        "as_printed_slower": Reading(
            bound=1 + X / 100,
            remark="'Up to X% slower than the fastest', to the letter: 9/5.",
        ),
    },
)
