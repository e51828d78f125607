"""Example 1, (22): the next model from the last two.

It is compared with the algorithm: the two clients of a round take three local steps each from the model of two rounds
before, and the server adds eta_g times the mean of their contributions to the last model.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

theta_opt, theta_n1, theta_n, phi = sp.symbols("theta_opt theta_n1 theta_n phi", real=True)
eta_l, first, second = sp.symbols("eta_l first second", real=True)


def after_three_steps(optimum: Any) -> Any:
    """The model of a client with the minimiser `optimum` after three local steps from theta^n."""
    model = theta_n
    for _ in range(3):
        model = model - eta_l * (model - optimum)
    return model


moved = (after_three_steps(first) + after_three_steps(second)) / 2 - theta_n  # the mean of the contributions
DATA: dict[str, Any] = {
    "where": (("phi", 1 - (1 - eta_l) ** 3), ("theta_opt", (first + second) / 2)),
    "meets": ("four_alternating_clients",),
}

theorem = Theorem(
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
        positive("eta_l", "local step size; L = 1", latex=r"\eta_l"),
        Symbol("first", "minimiser of the first client of the round", LENGTH, latex=r"\theta_{(1)}"),
        Symbol("second", "minimiser of the second client of the round", LENGTH, latex=r"\theta_{(2)}"),
    ),
    metric=Metric("none", LENGTH, value=theta_n1 + eta_g * moved, **DATA),
    kind=Kind.EQUALITY,
    assumptions=(four_alternating_clients,),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            bound=theta_n1 + eta_g * phi * (theta_opt - theta_n),
            replaces="phi by eta_g phi",
            why="The server moves by eta_g times the mean of the contributions.",
            remark="The first round starts as if the model before theta^0 had been theta^0.",
        ),
        "as_printed": Reading(
            metric=Metric("none", LENGTH, value=theta_n1 + moved, **DATA),
            bound=theta_n1 + phi * (theta_opt - theta_n),
            remark="For eta_g = 1, as the example has it.",
        ),
    },
)
