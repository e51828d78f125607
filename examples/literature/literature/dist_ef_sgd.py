"""dist-EF-SGD, error feedback at the workers and the server, with a compressor that keeps a share of each vector."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import sympy as sp

from boundcheck.methods.round import Rule
from boundcheck.theory.assumptions import instance, smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import GRADIENT2, LENGTH2, ONE, STEP
from boundcheck.theory.statement import ROUND, Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import MU_AT_MOST_L, NOTATION, OF_SAMPLES, ZHENG, L, dist2_0, k, mu, n

C = Fraction(1, 2)  # what the compressor keeps; theorems name no parameters of methods from files


class DistEFSGD(Rule):
    """The compressor is v -> C v, |v - C v|^2 = (1 - C)^2 |v|^2. Errors are kept times the step size."""

    kept_by_server: ClassVar[Mapping[str, bool]] = {"x": True, "e": False}
    kept_by_clients: ClassVar[Mapping[str, bool]] = {"e": False}

    def upload(self, y, at):
        return {"x": C * (y - at.start + at.client["e"])}

    def keep(self, y, at):
        return {"e": (1 - C) * (y - at.start + at.client["e"])}

    def combine(self, total, at):
        p = total["x"] + at.server["e"]
        return {"x": at.server["x"] + C * p, "e": (1 - C) * p}


FIRST = Symbol("a", "first step size", STEP, low=0, low_open=True, free=True)
FACTOR = Symbol("q", "step size over the one before", ONE, low=0, low_open=True, high=1, high_open=True, free=True)
GRAD2 = Symbol("grad2_0", "squared gradient norm of F at the start", GRADIENT2, low=0, key="start/grad2")
a, q, c = FIRST.expr, FACTOR.expr, sp.Rational(C.numerator, C.denominator)
delta = c * (2 - c)
error = sp.sqrt(8 * (1 - delta) / delta**2 * (1 + 16 / delta**2))  # over the largest gradient: Lemma 2
sent = (1 - a * mu) * sp.sqrt(dist2_0)  # where the run is without errors, at most


def bound(late):
    """The bound with a late step of this length over the first gradient."""
    return (sent + late * sp.sqrt(GRAD2.expr)) ** 2


theorem = Theorem(
    source=Source(ZHENG, "Lemma 2", "for any step sizes; refuted by Phuong and Phong (2020, arXiv:2003.04706)"),
    title="The distance of dist-EF-SGD with one worker to its virtual run, bounded by the lemma on its errors",
    symbols=(*(s.but(low=1) if s.name == "k" else s for s in NOTATION), *OF_SAMPLES, FIRST, FACTOR, GRAD2),
    algorithm=Algorithm("dist_ef_sgd", steps=(("eta", a * q**ROUND),)),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k),
    domain=(MU_AT_MOST_L,),
    assumptions=(instance("quadratics"), smooth_samples, strongly_convex_samples),
    conditions=(
        Condition("one worker", sp.Le(n, 1)),
        Condition("steps", a * L <= 1 - q, "gradients of the run are at most that of the start"),
    ),
    readings={
        "as_printed": Reading(bound(a * q ** (k - 1) * error), belief=Belief.FALSE),
        "corrected": Reading(
            bound(a * sp.Max(q, 1 - c) ** k * k * (1 + c * (k + 1) / 2)),
            belief=Belief.TRUE,
            replaces="the error over the last step size by what is kept of all steps",
            why="What is not sent is sent later at its old size, however small the step size is by then.",
        ),
    },
)
