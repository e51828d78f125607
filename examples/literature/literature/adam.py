"""Adam without momentum on an interval: the regret that its paper claims, as a mean gap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import sympy as sp

from boundcheck.methods.round import Rule
from boundcheck.theory.assumptions import bounded_gradients, convex_clients, plain_mean, zero_at_start
from boundcheck.theory.dimension import LENGTH
from boundcheck.theory.statement import ROUND, Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import KINGMA, LIPSCHITZ, NOTATION, dist2_0, k

BETA2 = 1 / 17  # the worst for slopes of 4, -1, -1; theorems name no parameters of methods from files


class ProjectedAdam(Rule):
    """v <- BETA2 v + (1 - BETA2) g^2, x <- x - eta g/sqrt(v), kept within -1 and 1."""

    kept_by_server: ClassVar[Mapping[str, bool]] = {"x": True, "v": False}
    local = ("x", "v")

    def begin(self, at):
        return at.server

    def step(self, y, g, at):
        v = BETA2 * y["v"] + (1 - BETA2) * g(y["x"]) ** 2
        moved = y["x"] - at.eta * g(y["x"]) / np.sqrt(np.where(v > 0, v, 1))
        return {"x": np.clip(moved, -1, 1), "v": v}

    def upload(self, y, at):
        return {name: y[name] - at.server[name] for name in y}

    def combine(self, total, at):
        return {name: at.server[name] + total[name] for name in at.server}


ALPHA = Symbol("alpha", "numerator of the step", LENGTH, low=0, low_open=True, free=True)
alpha, width, ANY = ALPHA.expr, 2, ("participation",)

theorem = Theorem(
    source=Source(KINGMA, "Theorem 4.1", "d = 1, beta1 = 0, alpha/sqrt(t); refuted by Reddi, Kale and Kumar (2018)"),
    title="Adam on an interval around the start that has the minimiser; a round is an iteration with one client",
    symbols=(*(s.but(low=1) if s.name == "k" else s for s in NOTATION), LIPSCHITZ, ALPHA),
    algorithm=Algorithm("projected_adam", steps=(("eta", alpha / sp.sqrt(ROUND + 1)),), any_value=ANY),
    metric=Metric("gap", None, index="k", rounds=k, average="mean"),
    assumptions=(plain_mean, convex_clients, bounded_gradients, zero_at_start),
    conditions=(Condition("minimiser", dist2_0 <= 1),),
    bound=(width**2 / (2 * alpha) + alpha / sp.sqrt(sp.Rational(16, 17))) * LIPSCHITZ.expr / sp.sqrt(k),
    readings={"as_printed": Reading(belief=Belief.FALSE)},
)
