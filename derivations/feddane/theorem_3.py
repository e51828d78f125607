"""The proof of Theorem 3 (FedDANE, Appendix V-D) as checked steps: that of Theorem 5 for convex devices, lam = 0.

The chain of Theorem 5 names lam in two places only: where it introduces m = mu - lam, and where it uses the curvature
of the devices. Both are replaced here, and what comes out is compared with the bound of Theorem 3.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import Vector, norm2, vector
from boundcheck.theory.assumptions import convex_clients

READINGS = ("as_printed", "sharp_any_cohort", "sharp")

mu, m, k = sp.symbols("mu m k", real=True)
g, v, h = vector("g"), vector("v", k), vector("h", k)

FACTS = {
    "m": Fact("m", sp.Eq(m, mu), "definition", "strong convexity of the local subproblems"),
    "curvature": pointwise(
        "curvature",
        convex_clients,
        "convex devices, each without its linear part at w^{t-1}",
        Evaluation("f_i", v, h, which=k),
        Evaluation("f_i", Vector(()), Vector(()), which=k),
    ),
}
STEPS = {
    "m > 0": Step("m > 0", m > 0, ("m", "domain mu"), Decide(), "the subproblems are strongly convex"),
    "(16)": Step(
        "(16)",
        sp.Le(m**2 * norm2(v), norm2(g)),
        ("optimality", "curvature", "m", "m > 0"),
        Combine({"curvature": 2 * mu}),
        "(6): the gradient of the subproblem at w^{t-1} is g",
    ),
}


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of Theorem 3."""
    general = derivation_of(f"feddane/theorem_5/{statement.reading}")
    facts = [FACTS.get(f.name, f) for f in general.facts if f.kind not in ("domain", "condition")]
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        tuple(STEPS.get(s.name, s) for s in general.steps),
        conclusion=general.conclusion,
        target=general.target,
        drawn=general.drawn,
    )
