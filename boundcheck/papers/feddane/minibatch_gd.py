"""Theorem 3 compared with one step of minibatch gradient descent with the step size 1/mu."""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

# two devices in one dimension, one of which is drawn by its weight
DATA = (
    share("p", "weight of the first of two devices"),
    *(Symbol(f"g{k}", f"gradient of device {k}", VALUE / LENGTH) for k in (1, 2)),
    nonnegative("below", "L less the curvature of f", CURVATURE, "(L-H)"),
)
p, g1, g2, below = (symbol.expr for symbol in DATA)
grad, second = p * g1 + (1 - p) * g2, p * g1**2 + (1 - p) * g2**2  # grad f and E|g|^2

theorem = Theorem(
    source=Source(PAPER, "Theorem 3", "compared with w - g/mu"),
    title="Guaranteed decrease of one step of minibatch gradient descent of size 1/mu",
    symbols=(*NOTATION, *DATA),
    # (f(w) - E f(w - g/mu))/|grad f|^2
    metric=Metric.formula(STEP, 1 / mu - (L - below) * second / (2 * mu**2 * grad**2), where={"B2": second / grad**2}),
    kind=Kind.LOWER_BOUND,
    belief=Belief.TRUE,
    readings={
        "decrease": Reading(
            bound=1 / mu - L * B2 / (2 * mu**2),  # E f(w - g/mu) <= f - |grad f|^2/mu + L/(2 mu^2) E|g|^2
            replaces="the local subproblems by one step along the averaged gradient g",
            why="f is L-smooth, E g = grad f and E|g|^2 <= B^2 |grad f|^2.",
            remark="Largest at mu = L B^2: 1/(2 L B^2), which is 4 + 1/B^2 times the best of Theorem 3.",
        ),
        "advantage": Reading(
            title="How much more minibatch gradient descent of step 1/mu guarantees than Theorem 3",
            bound=L * (3 * B2 + 1) / (2 * mu**2),
            metric=Metric.formula(STEP, 1 / mu - L * B2 / (2 * mu**2) - rho_3.subs(gamma, 0)),
            kind=Kind.EQUALITY,
            replaces="nothing: the difference of the two guaranteed decreases, with exact solutions",
            why="rho of the step minus rho of Theorem 3 at gamma = 0 is L (3 B^2 + 1)/(2 mu^2), positive for all "
            "constants: the theorem never promises more than a plain gradient step.",
        ),
    },
)
