"""Example 2, (30): where two clients who take turns lead to.

Clients |theta - theta_i|^2/2, each on the model that it received last. K full gradient steps move a client from theta
to theta + phi (theta_i - theta) with phi = 1 - (1 - eta_l)^K; with its weight and the server's step client 1 moves the
model by a = eta_g phi q_1 of that way, and client 2 by b = eta_g phi q_2.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

j, q_1, q_2, theta_1, theta_2 = sp.symbols("j q_1 q_2 theta_1 theta_2", real=True)
phi = 1 - (1 - eta_l) ** K
a, b = eta_g * phi * q_1, eta_g * phi * q_2

TWO_POINTS = (
    "Client 1 moves the model at its turn by a = eta_g phi q_1 of the way from the model that it received to its "
    "minimiser, client 2 by b. The two fixed points of a pair of rounds differ unless a b (theta_1 - theta_2) = 0."
)

theorem = Theorem(
    source=Source(PAPER, "Example 2", "Section 3.4, (30)"),
    title="Limit of two clients who take turns",
    symbols=(
        *NOTATION,
        positive("eta_l", "local step size; L = 1", latex=r"\eta_l", key="method/eta_l"),
        count("j", "finished pairs of rounds", 0, index=True),
        positive("q_1", "weight of client 1, in even rounds", key="participation/q_1"),
        positive("q_2", "weight of client 2, in odd rounds", key="participation/q_2"),
        Symbol("theta_1", "minimiser of client 1", LENGTH, key="participation/theta_1"),
        Symbol("theta_2", "minimiser of client 2", LENGTH, key="participation/theta_2"),
    ),
    any_method=True,
    metric=Metric.last("x", None, index=j, rounds=2 * j),
    kind=Kind.LIMIT,
    conditions=(Condition("product", a * b < 1), Condition("steps", (1 - a) * (1 - b) > -1)),
    assumptions=(two_alternating_clients,),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            bound=(a * theta_1 + b * theta_2 + a * b * theta_2) / (a + b + a * b),
            replaces="the limit by that of the models with even numbers",
            why=TWO_POINTS,
            remark="A cycle of two points, not a limit. For q_1 = 1, q_2 = 1/2, eta_g phi = 3/10 and minimisers 0 and "
            "3 it is 13/11 and 10/11, and (30) says 1. For a = b the mean of the two is that of the minimisers.",
        ),
        "corrected_odd": Reading(
            bound=(a * theta_1 + b * theta_2 + a * b * theta_1) / (a + b + a * b),
            metric=Metric.last("x", None, index=j, rounds=2 * j + 1),
            replaces="the limit by that of the models with odd numbers",
            why=TWO_POINTS,
        ),
        "as_printed": Reading(
            bound=(q_1 * theta_1 + q_2 * theta_2) / (q_1 + q_2),
            belief=Belief.FALSE,
            metric=Metric.last("x", None, index=j),
            remark="True as the step size goes to 0, and only then. The condition said to be equivalent to the right "
            "limit, on the mean of qt_i(n) over two rounds, holds whatever q_1 and q_2, since with one client a round "
            "qt_i(n) is 1; it must be asked of q_i/(q_1 + q_2).",
        ),
    },
)
