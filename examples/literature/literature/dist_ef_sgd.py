"""dist-EF-SGD, error feedback at the workers and the server, with a compressor that keeps a share of each vector."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from boundcheck.methods.round import Rule
from boundcheck.theory.assumptions import convex_clients, instance, smooth_clients
from boundcheck.theory.dimension import GRADIENT2, LENGTH2, ONE, STEP
from boundcheck.theory.statement import ROUND, Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import NOTATION, ZHENG, L, k, n


class DistEFSGD(Rule):
    """share: c of the compressor C(v) = c v, |C(v) - v|^2 = (1 - c)^2 |v|^2. Errors are kept times the step size."""

    share: Fraction
    kept_by_server = {"x": True, "e": False}
    kept_by_clients = {"e": False}

    def upload(self, y, at):
        return {"x": self.share * (y - at.start + at.client["e"])}

    def keep(self, y, at):
        return {"e": (1 - self.share) * (y - at.start + at.client["e"])}

    def combine(self, total, at):
        p = total["x"] + at.server["e"]
        return {"x": at.server["x"] + self.share * p, "e": (1 - self.share) * p}


SHARE = Symbol("c", "share that the compressor keeps", ONE, low=0, low_open=True, high=1, free=True)
FIRST = Symbol("a", "first step size", STEP, low=0, low_open=True, free=True)
FACTOR = Symbol("q", "factor of the step size in each round", ONE, low=0, low_open=True, high=1, free=True)
GRAD2 = Symbol("grad2_0", "squared gradient norm of F at the start", GRADIENT2, low=0, key="start/grad2")
c, a, q = SHARE.expr, FIRST.expr, FACTOR.expr
delta = c * (2 - c)
error = sp.sqrt(8 * (1 - delta) / delta**2 * (1 + 16 / delta**2))  # over G: Lemma 2 of the paper

theorem = Theorem(
    source=Source(ZHENG, "Lemma 2", "for any step sizes; refuted by Phuong and Phong (2020, arXiv:2003.04706)"),
    title="How far dist-EF-SGD moves in round k with one worker, if its errors are bounded as the lemma says",
    symbols=(*NOTATION, SHARE, FIRST, FACTOR, GRAD2),
    algorithm=Algorithm("dist_ef_sgd", steps=(("eta", a * q**ROUND), ("share", c))),
    metric=Metric("movement2", LENGTH2, index="k", rounds=k),
    assumptions=(instance("quadratics"), smooth_clients, convex_clients),
    conditions=(
        Condition("one worker", sp.Le(n, 1)),
        Condition("steps", a * L <= 1 - q, "gradients of the run are at most that of the start"),
    ),
    readings={
        "as_printed": Reading((a * q**k * (1 + error + error / q)) ** 2 * GRAD2.expr, belief=Belief.FALSE),
        "corrected": Reading(
            (a * c**2 * (k + 1) * (k + 2) / 2 * sp.Max(q, 1 - c) ** k) ** 2 * GRAD2.expr,
            belief=Belief.TRUE,
            replaces="a multiple of the step size of the round by what is kept of the steps before",
            why="What is not sent is sent later at its old size, however small the step size is by then.",
        ),
    },
)
