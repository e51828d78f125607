"""Synchronous SGD with bounded variance on a smooth convex function."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from boundcheck.papers.classics._shared import (
    NOISE,
    SHARES,
    STEPS,
    STOCHASTIC,
    TEXTBOOK,
    L,
    at_most,
    dist2_0,
    eta,
    k,
    variance,
)
from boundcheck.theory.assumptions import convexity
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source, Statement
from boundcheck.theory.symbols import common

BEST = "sharp"

_printed = Statement(
    source=Source(
        TEXTBOOK, "SGD, convex", "A. Nemirovski et al., Robust stochastic approximation, Section 2, in its kind"
    ),
    reading="as_printed",
    title="Mean gap of SGD with bounded variance",
    symbols=(common.L, common.eta, NOISE, SHARES, common.dist2_0, STEPS),
    metric=Metric(
        "gap",
        VALUE,
        index="k",
        rounds=k,
        average="mean over the k points before the steps",
        expectation="over the samples",
        weights=sp.S.One,
    ),
    bound=dist2_0 / (eta * k) + eta * variance,
    algorithm=Algorithm("sync_sgd", ("eta",)),
    conditions=(at_most(1 / (2 * L)),),
    assumptions=(*STOCHASTIC, convexity),
    trivial=L * dist2_0 / 2,
    belief=Belief.TRUE,
    printed_rate=1 / sp.sqrt(k),
)

STATEMENTS = (
    replace(
        _printed,
        reading="sharp",
        bound=(dist2_0 / (eta * k) + eta * variance) / (2 * (1 - eta * L)),
        conditions=(at_most(1 / L, strict=True),),
        replaces="the factor 1 by 1/(2 (1 - eta L)), which is at most 1 for eta <= 1/(2 L)",
        why="E|x+ - x*|^2 <= |x - x*|^2 - 2 eta (1 - eta L) gap + eta^2 variance, since |grad F|^2 <= 2 L gap.",
    ),
    _printed,
)
