"""Example 1: whether federated learning converges where two halves of the clients take turns.

Clients |theta - theta_i*|^2/2, each on the model that it received last. K full gradient steps move a client from theta
to theta + phi (theta_i* - theta) with phi = 1 - (1 - eta_l)^K. The recursion (22) is compared with the algorithm: the
two clients of a round take three local steps each from the model of two rounds before, and the server adds eta_g times
the mean of their contributions to the last model. Its spectral radius is the factor by which the distance to the
optimum changes in a round, in the long run.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

STEP_L_IS_1 = positive("eta_l", "local step size; L = 1", latex=r"\eta_l", key="method/eta_l")
phi = 1 - (1 - eta_l) ** K  # the share of the way to its minimiser that a client goes

# half the distance of the roots of r^2 - r + eta_g phi, below 0 that of conjugate ones
t = sp.Symbol("t", real=True)
apart, turn = sp.Max(0, t), sp.Max(0, -t)

# the recursion: the last models, phi_n as a symbol, and the minimisers of the two clients
theta_opt, theta_n1, theta_n, phi_n, first, second = sp.symbols(
    "theta_opt theta_n1 theta_n phi first second", real=True
)


def after_three_steps(optimum: Any) -> Any:
    """The model of a client with the minimiser `optimum` after three local steps from theta^n."""
    model = theta_n
    for _ in range(3):
        model = model - eta_l * (model - optimum)
    return model


moved = (after_three_steps(first) + after_three_steps(second)) / 2 - theta_n  # the mean of the contributions
DATA: dict[str, Any] = {
    "where": {"phi": 1 - (1 - eta_l) ** 3, "theta_opt": (first + second) / 2},
    "meets": ("four_alternating_clients",),
}

theorems = {
    "example_1": Theorem(
        source=Source(PAPER, "Example 1", "Section 3.3, after (22)"),
        title="Convergence of alternating halves of the clients to the optimum",
        symbols=(*NOTATION, STEP_L_IS_1, count("n", "rounds", 0, index=True)),
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
                why="The roots of r^2 - r + eta_g phi are (1 +- sqrt(1 - 4 eta_g phi))/2, within the unit circle "
                "exactly for 0 < eta_g phi < 1. With eta_g = 1 that is any K for eta_l < 1, and even K alone for 1 < "
                "eta_l < 2.",
                remark="At eta_l = 3/2 and K = 1 phi = 3/2: the model diverges by the factor sqrt(3/2) a round, "
                "although gradient descent at every client contracts. eta_l = 1 gives an orbit of six points.",
            ),
            "as_printed": Reading(
                belief=Belief.FALSE,
                conditions=(
                    Condition("local steps converge", eta_l < 2),
                    Condition("server step size", sp.Eq(eta_g, 1)),
                ),
                remark="'Solving (22) proves convergence': no step size is excluded, here those that let a client's "
                "own gradient descent converge. Its list of weights names q_2 in even rounds both 1/2 and 0.",
            ),
        },
    ),
    "example_1_radius": Theorem(
        source=Source(PAPER, "Example 1", "Section 3.3, from (22)"),
        title="Spectral radius of the recursion",
        symbols=(
            *NOTATION,
            STEP_L_IS_1,
            Symbol("t", "half the distance of the two roots; below 0 that of conjugate ones", ONE),
        ),
        # the polynomial r^2 - r + eta_g phi from its roots 1/2 +- (apart + i turn), one of which terms is 0
        metric=Metric.formula(
            None,
            sp.Max(
                sp.sqrt((sp.Rational(1, 2) + apart) ** 2 + turn**2), sp.sqrt((sp.Rational(1, 2) - apart) ** 2 + turn**2)
            ),
            where={"eta_g": (sp.Rational(1, 4) - apart**2 + turn**2) / phi},
            meets=("four_alternating_clients",),
        ),
        kind=Kind.EQUALITY,
        assumptions=(four_alternating_clients,),
        readings={
            "corrected": Reading(
                bound=sp.Max(sp.sqrt(sp.Max(0, eta_g * phi)), (1 + sp.sqrt(sp.Max(0, 1 - 4 * eta_g * phi))) / 2),
                belief=Belief.TRUE,
                replaces="no value is printed",
                why="It is the larger absolute value of the roots (1 +- sqrt(1 - 4 phi))/2 of (22), phi with the "
                "factor eta_g: sqrt(phi) where they are not real.",
            )
        },
    ),
    "example_1_recursion": Theorem(
        source=Source(PAPER, "Example 1", "Section 3.3, (22)"),
        title="Model theta^(n+2)",
        symbols=(
            *NOTATION,
            Symbol("theta_opt", "minimiser of the federated problem", LENGTH, latex=r"\theta^*"),
            Symbol("theta_n1", "model theta^(n+1)", LENGTH, latex=r"\theta^{n+1}"),
            Symbol("theta_n", "model theta^n", LENGTH, latex=r"\theta^n"),
            Symbol(
                "phi", "share phi of the way to its minimiser that a client goes, 1 - (1 - eta_l)^K", ONE, latex=r"\phi"
            ),
            STEP_L_IS_1.but(key=""),
            Symbol("first", "minimiser of the first client of the round", LENGTH, latex=r"\theta_{(1)}"),
            Symbol("second", "minimiser of the second client of the round", LENGTH, latex=r"\theta_{(2)}"),
        ),
        metric=Metric.formula(LENGTH, theta_n1 + eta_g * moved, **DATA),
        kind=Kind.EQUALITY,
        assumptions=(four_alternating_clients,),
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                bound=theta_n1 + eta_g * phi_n * (theta_opt - theta_n),
                replaces="phi by eta_g phi",
                why="The server moves by eta_g times the mean of the contributions.",
                remark="The first round starts as if the model before theta^0 had been theta^0.",
            ),
            "as_printed": Reading(
                metric=Metric.formula(LENGTH, theta_n1 + moved, **DATA),
                bound=theta_n1 + phi_n * (theta_opt - theta_n),
                remark="For eta_g = 1, as the example has it.",
            ),
        },
    ),
}
