"""Example 1: whether federated learning converges where two halves of the clients take turns.

Clients |theta - theta_i*|^2/2, each on the model that it received last. K full gradient steps move a client from theta
to theta + phi (theta_i* - theta) with phi = 1 - (1 - eta_l)^K.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

n = sp.Symbol("n", real=True)
phi = 1 - (1 - eta_l) ** K

theorem = Theorem(
    source=Source(PAPER, "Example 1", "Section 3.3, after (22)"),
    title="Convergence of alternating halves of the clients to the optimum",
    symbols=(
        *NOTATION,
        positive("eta_l", "local step size; L = 1", latex=r"\eta_l", key="method/eta_l"),
        count("n", "rounds", 0, index=True),
    ),
    any_method=True,
    metric=Metric.last("dist2", None, index=n),
    kind=Kind.LIMIT,
    assumptions=(four_alternating_clients,),
    bound=sp.S.Zero,
    readings={
        "corrected": Reading(
            belief=Belief.TRUE,
            conditions=(Condition("forward", eta_g * phi > 0), Condition("not too far", eta_g * phi < 1)),
            replaces="convergence always by convergence exactly for 0 < eta_g phi < 1",
            why="The roots of r^2 - r + eta_g phi are (1 +- sqrt(1 - 4 eta_g phi))/2, within the unit circle exactly "
            "for 0 < eta_g phi < 1. With eta_g = 1 that is any K for eta_l < 1, and even K alone for 1 < eta_l < 2.",
            remark="At eta_l = 3/2 and K = 1 phi = 3/2: the model diverges by the factor sqrt(3/2) a round, although "
            "gradient descent at every client contracts. eta_l = 1 gives an orbit of six points.",
        ),
        "as_printed": Reading(
            belief=Belief.FALSE,
            conditions=(
                Condition("local steps converge", eta_l < 2),
                Condition("server step size", sp.Eq(eta_g, 1)),
            ),
            remark="'Solving (22) proves convergence': no step size is excluded, here those that let a client's own "
            "gradient descent converge. Its list of weights names q_2 in even rounds both 1/2 and 0.",
        ),
    },
)
