"""Theorem 3 beside one step of minibatch gradient descent with the step size 1/mu."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.feddane._shared import B2, PAPER, L, Reading, mu, symbols_in
from boundcheck.theory.dimension import STEP
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement

BEST = "decrease"

# E f(w - g/mu) <= f - G^2/mu + L/(2 mu^2) E|g|^2, and E|g|^2 <= B^2 G^2
_minibatch = 1 / mu - L * B2 / (2 * mu**2)
_advantage = L * (3 * B2 + 1) / (2 * mu**2)  # over rho_3 with gamma = 0


def _statement(reading: Reading, title: str, bound: Any) -> Statement:
    return Statement(
        source=Source(PAPER, "Theorem 3", "compared with w - g/mu"),
        reading=reading.name,
        title=title,
        symbols=symbols_in(bound),
        metric=Metric("none", STEP),
        bound=bound,
        kind=Kind.FORMULA,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(
        Reading(
            "decrease",
            Belief.TRUE,
            replaces="the local subproblems by one step along the averaged gradient g",
            why="f is L-smooth, E g = grad f and E|g|^2 <= B^2 |grad f|^2.",
            remark="Largest at mu = L B^2: 1/(2 L B^2), which is 4 + 1/B^2 times the best of Theorem 3.",
        ),
        "Guaranteed decrease of one step of minibatch gradient descent of size 1/mu",
        _minibatch,
    ),
    _statement(
        Reading(
            "advantage",
            Belief.TRUE,
            replaces="nothing: the difference of the two guaranteed decreases, with exact solutions",
            why="rho of the step minus rho of Theorem 3 at gamma = 0 is L (3 B^2 + 1)/(2 mu^2), positive for all "
            "constants: the theorem never promises more than a plain gradient step.",
        ),
        "How much more minibatch gradient descent of step 1/mu guarantees than Theorem 3",
        _advantage,
    ),
)
