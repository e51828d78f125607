"""Theorem 3 compared with one step of minibatch gradient descent with the step size 1/mu."""

from __future__ import annotations

from boundcheck.papers.feddane.definitions import B2, NOTATION, PAPER, L, mu
from boundcheck.theory.dimension import STEP
from boundcheck.theory.statement import Belief, Kind, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

theorem = Theorem(
    source=Source(PAPER, "Theorem 3", "compared with w - g/mu"),
    title="Guaranteed decrease of one step of minibatch gradient descent of size 1/mu",
    symbols=NOTATION,
    metric=Metric("none", STEP),
    kind=Kind.FORMULA,
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
            replaces="nothing: the difference of the two guaranteed decreases, with exact solutions",
            why="rho of the step minus rho of Theorem 3 at gamma = 0 is L (3 B^2 + 1)/(2 mu^2), positive for all "
            "constants: the theorem never promises more than a plain gradient step.",
        ),
    },
)
