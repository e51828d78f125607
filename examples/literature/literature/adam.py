"""Adam without momentum on an interval: the regret that its paper claims, as a mean gap."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import sympy as sp

from boundcheck.methods.round import Rule
from boundcheck.theory.assumptions import bounded_gradients, convex_clients, plain_mean
from boundcheck.theory.dimension import LENGTH, ONE, VALUE
from boundcheck.theory.statement import ROUND, Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import KINGMA, LIPSCHITZ, NOTATION, dist2_0, k


class ProjectedAdam(Rule):
    """v <- beta2 v + (1 - beta2) g^2, x <- x - eta g/sqrt(v), kept within -radius and radius."""

    beta2: Fraction
    radius: Fraction = Fraction(1)
    kept_by_server = {"x": True, "v": False}
    local = ("x", "v")

    def begin(self, at):
        return at.server

    def step(self, y, g, at):
        v = float(self.beta2) * y["v"] + float(1 - self.beta2) * g(y["x"]) ** 2
        moved = y["x"] - at.eta * g(y["x"]) / np.sqrt(np.where(v > 0, v, 1))
        return {"x": np.clip(moved, -float(self.radius), float(self.radius)), "v": v}

    def upload(self, y, at):
        return {name: y[name] - at.server[name] for name in y}

    def combine(self, total, at):
        return {name: at.server[name] + total[name] for name in at.server}


ALPHA = Symbol("alpha", "numerator of the step", LENGTH, low=0, low_open=True, free=True)
BETA2 = Symbol("beta2", "weight of the past squared gradients", ONE, low=0, high=1, high_open=True, free=True)
RADIUS = Symbol("radius", "half the interval's length", LENGTH, low=0, low_open=True, free=True)
START = Symbol("x_0", "the start", LENGTH, key="start/x")
alpha, D = ALPHA.expr, 2 * RADIUS.expr
SIZES = (("eta", alpha / sp.sqrt(ROUND + 1)), ("beta2", BETA2.expr), ("radius", RADIUS.expr))

theorem = Theorem(
    source=Source(KINGMA, "Theorem 4.1", "d = 1, beta1 = 0, alpha/sqrt(t); refuted by Reddi, Kale and Kumar (2018)"),
    title="Adam on an interval around the start that has the minimiser; a round is an iteration with one client",
    symbols=(*(s.but(low=1) if s.name == "k" else s for s in NOTATION), LIPSCHITZ, ALPHA, BETA2, RADIUS, START),
    algorithm=Algorithm("projected_adam", steps=SIZES),
    metric=Metric("gap", VALUE, index="k", rounds=k, average="mean"),
    assumptions=(plain_mean, convex_clients, bounded_gradients),
    conditions=(Condition("minimiser", dist2_0 <= RADIUS.expr**2), Condition("start", sp.Eq(START.expr, 0))),
    bound=(D**2 / (2 * alpha) + alpha / sp.sqrt(1 - BETA2.expr)) * LIPSCHITZ.expr / sp.sqrt(k),
    readings={"as_printed": Reading(belief=Belief.FALSE)},
)
