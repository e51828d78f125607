"""The proof of Lemma 4 (asynchronous federated learning, Appendix A.3, (72)), corrected, as checked steps.

The facts and steps are those of (61), `derivations/async_fl/lemma_3.py`, with its notation; besides

    goal   the point x, the minimiser of the surrogate problem      fx(k)  expected loss of the sample of step k there
    D      q times the mean over k of <g(k), theta^n - x>
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, lower_model, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.gram import Combine
from boundcheck.proof.rules import SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import inner, norm2, vector
from boundcheck.theory.assumptions import convex_samples, smooth_samples

READINGS = ("corrected",)

L, K, k, q, tau, eta_l, Qs, Z, Xi, sg1, phi, along = sp.symbols("L K k q tau eta_l Qs Z Xi sg1 phi along", real=True)
bounded = sp.Symbol("bounded", real=True)
f0, fx, fy = (sp.Function(name, real=True)(k) for name in ("f0", "fx", "fy"))
y, g, goal = vector("y", k), vector("g", k), vector("goal")
at_y = Evaluation("f_ij", y, g, fy, which=k)
SIZES = tuple(f"domain {name}" for name in ("L", "K", "eta_l", "tau", "q", "Qs", "Z", "sg1"))
progress = sp.Ge(-inner(g, goal), f0 - fx - L / 2 * norm2(y))
FACTS = (
    Fact("metric", sp.Eq(bounded, -2 * along), "metric", "what the lemma bounds"),
    Fact(
        "D", sp.Eq(along, -q * total(inner(g, goal), k, K) / K), "metric", "q_i(n) = q qt_i(n); theta^n is the origin"
    ),
    Fact("Xi", sp.Le(K * Xi, q * total(f0 - fx, k, K)), "metric", "L^n has the weights q_i(n)"),
    upper_model("smooth, back", smooth_samples, "to theta^n", at_y, Evaluation("f_ij", y * 0, value=f0, which=k)),
    lower_model("convex, x", convex_samples, "to x", at_y, Evaluation("f_ij", goal, value=fx, which=k)),
)
STEPS = (
    Step(
        "progress",
        progress,
        ("smooth, back", "convex, x"),
        Combine({"smooth, back": 1, "convex, x": 1}),
        "three points",
    ),
    Step(
        "progress, summed",
        sp.Ge(total(progress.lhs - progress.rhs, k, K), 0),
        ("progress", "domain K"),
        SumOver("progress", k, K),
        "all steps",
    ),
    Step(
        "display 4",
        sp.Le(bounded, -2 * Xi + L * q * phi),
        ("metric", "progress, summed", "D", "Xi", "phi", "domain q", "domain K"),
        Combine({"progress, summed": 2 * q / K, "Xi": 2 / K}),
        "(71)",
    ),
    Step(
        "conclusion",
        sp.Le(
            bounded,
            -2 * Xi
            + 4 * L * q * tau * Qs
            + 24 * eta_l**2 * (K - 1) ** 2 * L**2 * Z
            + 12 * eta_l**2 * (K - 1) ** 2 * q * L * sg1,
        ),
        ("display 4", "(61)", *SIZES),
        Combine({"display 4": 1, "(61)": L * q}),
        "(61) put in",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of the corrected reading."""
    general = derivation_of("async_fl/lemma_3/corrected")
    facts = [fact for fact in general.facts if fact.kind not in ("domain", "condition")]
    before = (replace(s, name="(61)") if s.name == general.conclusion else s for s in general.steps)
    return Derivation(
        statement,
        (*scope_facts(statement), *facts, *FACTS),
        (*before, *STEPS),
        conclusion="conclusion",
        target=bounded,
        quantities=general.quantities,
        drawn=(*general.drawn, (goal, 0)),
    )
