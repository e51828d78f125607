"""Theorems 3 and 5: for which mu the guaranteed decrease is positive, and for which it is largest."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.feddane._shared import B2, HALF, PAPER, L, Reading, gamma, lam, symbols_in
from boundcheck.theory.dimension import CURVATURE
from boundcheck.theory.statement import Belief, Condition, Kind, Metric, Source, Statement

BEST = "least"

# Theorem 3: rho = a/mu - c/mu^2
_a = 1 - gamma * (B2 + HALF)
_c = L * (B2 * ((1 + gamma) ** 2 + 1) + HALF)
_FEASIBLE = Condition("small gamma", sp.Gt(_a, 0), "gamma < 2/(2 B^2 + 1); no mu will do otherwise", vacuity=True)

# Theorem 5: rho (mu - lam)^2 mu is a quadratic in mu, positive beyond its larger root
_solver = L * B2 * (1 + gamma) ** 2
_linear = 2 * lam - gamma * (B2 + HALF) * lam + _solver + L * (B2 + HALF)
_constant = lam**2 + L * (B2 + HALF) * lam
_least_nonconvex = (_linear + sp.sqrt(_linear**2 - 4 * _a * _constant)) / (2 * _a)


def _statement(reading: Reading, title: str, bound: Any, where: str) -> Statement:
    return Statement(
        source=Source(PAPER, where, "the condition rho > 0, solved for mu"),
        reading=reading.name,
        title=title,
        symbols=symbols_in(bound, _FEASIBLE),
        metric=Metric("none", CURVATURE),
        bound=bound,
        kind=Kind.FORMULA,
        domain=(sp.Ge(lam, 0),) if lam in bound.free_symbols else (),
        conditions=(_FEASIBLE,),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(
        Reading(
            "least",
            Belief.TRUE,
            replaces="the implicit condition rho > 0 by mu > c/a",
            why="rho = a/mu - c/mu^2 with a = 1 - gamma (B^2 + 1/2) and c = L (B^2 ((1 + gamma)^2 + 1) + 1/2). With "
            "exact solutions c/a = L (2 B^2 + 1/2).",
        ),
        "Convex devices: mu must be above this",
        _c / _a,
        "Theorem 3",
    ),
    _statement(
        Reading(
            "best",
            Belief.TRUE,
            replaces="mu = 5 L B^2 of Corollary 4 by 2 c/a",
            why="There a/mu - c/mu^2 is largest, a^2/(4 c). With exact solutions it is L (4 B^2 + 1), and the decrease "
            "1/(2 L (4 B^2 + 1)).",
        ),
        "Convex devices: the mu with the largest guaranteed decrease",
        2 * _c / _a,
        "Theorem 3",
    ),
    _statement(
        Reading(
            "least_nonconvex",
            Belief.TRUE,
            replaces="the implicit conditions rho > 0 and mu > lam by a lower bound of mu",
            why="rho mu (mu - lam)^2 is a quadratic in mu. At mu = lam it is not positive, so that beyond lam it "
            "is positive exactly above its larger root.",
            remark="For lam >= 0.",
        ),
        "Non-convex devices: mu must be above this",
        _least_nonconvex,
        "Theorem 5",
    ),
)
