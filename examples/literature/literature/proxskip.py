"""ProxSkip with averaging as its proximal step (Scaffnew): the theorem, and p in the place of p^2."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import sympy as sp

from boundcheck.methods.round import Rule
from boundcheck.theory.assumptions import plain_mean, smooth_clients, strongly_convex_samples
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import MU_AT_MOST_L, NOTATION, OF_SAMPLES, PROXSKIP, L, dist2_0, eta, k, mu, sigma2

P = Fraction(1, 5)  # probability of a talk; theorems name no parameters of methods from files


class Scaffnew(Rule):
    """A round is one local step and one coin: a talk with probability P. shift: of a client, (eta/p) h_i."""

    kept_by_clients: ClassVar[Mapping[str, bool]] = {"y": True, "shift": False}
    needs_all = receives = True

    def drawn(self, round_index):
        return ((P, {"talk": 1}), (1 - P, {"talk": 0}))

    def begin(self, at):
        return at.client["y"]

    def step(self, y, g, at):
        return y - at.eta * g(y) + P * at.client["shift"]

    def upload(self, y, at):
        return {"x": y - at.server["x"]}

    def keep(self, y, at):
        return {"y": y}

    def receive(self, at):
        moved = at.number["talk"] * (at.server["x"] - at.client["y"])
        return {"y": at.client["y"] + moved, "shift": at.client["shift"] + moved}


p = sp.Rational(P.numerator, P.denominator)
start = dist2_0 + (eta / p) ** 2 * sigma2

theorem = Theorem(
    source=Source(PROXSKIP, "Theorem 5.2", "equations (11) and (14), shifts that start at 0"),
    title="ProxSkip for the mean of clients; k counts local steps",
    symbols=(*NOTATION, OF_SAMPLES[1]),
    algorithm=Algorithm("scaffnew", ("eta",)),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k, expectation="over the coins"),
    domain=(MU_AT_MOST_L,),
    assumptions=(plain_mean, smooth_clients, strongly_convex_samples),
    conditions=(Condition("step size", eta * L <= 1),),
    trivial=dist2_0,
    readings={
        "as_printed": Reading((1 - sp.Min(eta * mu, p**2)) ** k * start, belief=Belief.TRUE),
        "wrong_probability": Reading(
            (1 - sp.Min(eta * mu, p)) ** k * start,
            belief=Belief.FALSE,
            replaces="p^2 by p",
            why="Planted: shifts are renewed with the probability p, and then only by the share p.",
        ),
    },
)
