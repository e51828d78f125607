"""Section 5: the hardware scenario F80, and FedFix at half the update time, all clients alike."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

X = sp.Symbol("X", real=True)

ALIKE = Condition("F0", sp.Eq(fastest, slowest), "all clients have the same update time")

theorems = {
    "section_5_f80": Theorem(
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
                remark="Section 5.2.1: clients 'communicate with the server up to 5 more times than the slowest one': "
                "the fastest needs 80 % less time.",
            ),
            "as_printed_slower": Reading(
                bound=1 + X / 100, remark="'Up to X% slower than the fastest', to the letter: 9/5."
            ),
        },
    ),
    "section_5_fedfix_f0": Theorem(
        source=Source(PAPER, "Section 5.2.3", "the last paragraph, on F0"),
        title="Server step size of the method that FedFix is, all clients alike",
        symbols=NOTATION,
        # the weights of FedAvg sum to 1, those of a full round of FedFix to rho
        metric=Metric.constant("participation/rho", ONE, "the schedule", scale=eta_g),
        kind=Kind.EQUALITY,
        algorithm=Algorithm("fedfix", any_value=("K", "times")),
        conditions=(ALIKE,),
        assumptions=(fixed_times, time_based),
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                bound=eta_g * sp.ceiling(slowest / dt),
                replaces="'asynchronous FL with a higher server learning rate' by synchronous FedAvg",
                why="All clients arrive in the same rounds, every ceil(tau/dt)-th, with the weights ceil(tau/dt) p_i, "
                "and no contribution is older than the model: every other round of FedFix-0.5 on F0 is one of FedAvg "
                "with eta_g = 2, and the rounds between are empty.",
            ),
            "as_printed": Reading(
                bound=2 * eta_g,
                conditions=(ALIKE, Condition("FedFix-0.5", sp.Eq(dt, slowest / 2), "half the update time")),
                remark="The rate 2 is right. 'Asynchronous FL' is synchronous FedAvg here: clients that are alike "
                "finish together, and form one round in Algorithm 1.",
            ),
        },
    ),
}
