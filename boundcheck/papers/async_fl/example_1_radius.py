"""Example 1: by what factor the distance to the optimum changes in a round, in the long run."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

t = sp.Symbol("t", real=True)
phi = 1 - (1 - eta_l) ** K  # the share of the way to its minimiser that a client goes
HALF = sp.Rational(1, 2)
apart, turn = sp.Max(0, t), sp.Max(0, -t)

theorem = Theorem(
    source=Source(PAPER, "Example 1", "Section 3.3, from (22)"),
    title="Spectral radius of the recursion",
    symbols=(
        *NOTATION,
        positive("eta_l", "local step size; L = 1", latex=r"\eta_l", key="method/eta_l"),
        Symbol("t", "half the distance of the two roots; below 0 that of conjugate ones", ONE),
    ),
    # the polynomial r^2 - r + eta_g phi from its roots 1/2 +- (apart + i turn), one of which terms is 0
    metric=Metric.formula(
        None,
        sp.Max(sp.sqrt((HALF + apart) ** 2 + turn**2), sp.sqrt((HALF - apart) ** 2 + turn**2)),
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
            why="It is the larger absolute value of the roots (1 +- sqrt(1 - 4 phi))/2 of (22), phi with the factor "
            "eta_g: sqrt(phi) where they are not real.",
        ),
    },
)
