"""Synchronous SGD with bounded variance on a smooth function that is bounded below."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from boundcheck.papers.classics._shared import (
    NOISE,
    SHARES,
    STEPS,
    STOCHASTIC,
    L,
    at_most,
    eta,
    gap_0,
    k,
    variance,
)
from boundcheck.theory.assumptions import bounded_below
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source, Statement
from boundcheck.theory.symbols import common

BEST = "sharp"

_printed = Statement(
    source=Source(
        "Stochastic first- and zeroth-order methods for nonconvex stochastic programming (S. Ghadimi, G. Lan)",
        "Theorem 2.1",
        "SIAM Journal on Optimization 23, 2013; constant step, in its kind",
    ),
    reading="as_printed",
    title="Mean squared gradient norm of SGD with bounded variance",
    symbols=(common.L, common.eta, NOISE, SHARES, common.gap_0, STEPS),
    metric=Metric(
        "grad2",
        GRADIENT2,
        index="k",
        rounds=k,
        average="mean over the k points before the steps",
        expectation="over the samples",
        weights=sp.S.One,
    ),
    bound=2 * gap_0 / (eta * k) + eta * L * variance,
    algorithm=Algorithm("sync_sgd", ("eta",)),
    conditions=(at_most(1 / L),),
    assumptions=(*STOCHASTIC, bounded_below),
    trivial=2 * L * gap_0,
    belief=Belief.TRUE,
    printed_rate=1 / sp.sqrt(k),
)

STATEMENTS = (
    replace(
        _printed,
        reading="sharp",
        bound=(2 * gap_0 / (eta * k) + eta * L * variance) / (2 - eta * L),
        conditions=(at_most(2 / L, strict=True),),
        replaces="the factor 1 by 1/(2 - eta L), which is at most 1 for eta <= 1/L",
        why="The descent lemma gives E F+ <= F - eta (1 - eta L/2) |grad F|^2 + eta^2 L variance/2.",
    ),
    _printed,
)
