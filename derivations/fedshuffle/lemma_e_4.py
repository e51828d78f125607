"""The proof of Lemma E.4 (FedShuffle, Appendix E) from its display on: the step condition put in.

The drift by the clients' gradients is `fedshuffle/drift_of_a_round_gen`, which does not use Assumption 3.3. The
readings differ in the last rounding: the printed one leaves the factor L of the noise out, and takes et/eta_g for the
local step.

    xi   drift of the round        bounded  3 L et xi        clients  sum of what_i |grad f_i(x)|^2 at the start x
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import pointwise
from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.step import Fact, Step
from boundcheck.theory.assumptions import relaxed_dissimilarity

READINGS = ("corrected", "as_printed", "sharp")

L, G2, B2, P2_gen, sigma2_gen = sp.symbols("L G2 B2 P2_gen sigma2_gen", real=True)
M1, M2, W, eta_l, eta_g, gap_0 = sp.symbols("M1 M2 W eta_l eta_g gap_0", real=True)
xi, bounded, clients, H, et = sp.symbols("xi bounded clients H et", real=True)

own = 2 * eta_l**2 * L**2  # the share of the drift that the drift itself causes
before = 2 * eta_l**2 * ((1 + P2_gen) * clients + sigma2_gen) / (1 - own)
display = 2 * eta_l**2 * ((1 + P2_gen) * (G2 + 2 * L * B2 * gap_0) + sigma2_gen) / (1 - own)
sharp = sp.Rational(6, 7) * et * gap_0 + sp.Rational(48, 7) * L * et * eta_l**2 * H
SIZES = tuple(f"domain {name}" for name in ("L", "eta_l", "P2_gen", "B2", "M1"))
STEP = ("domain W", "domain eta_g")

FACTS = (
    Fact("H", sp.Eq(H, (1 + P2_gen) * G2 + sigma2_gen), "definition", "last factor of the lemma"),
    Fact("et", sp.Eq(et, W * eta_g * eta_l), "definition", "effective step"),
    Fact("metric", sp.Eq(bounded, 3 * L * et * xi), "metric", "what the lemma bounds"),
    Fact("clients >= 0", clients >= 0, "metric", "a sum of squared norms"),
    pointwise("A3.3", relaxed_dissimilarity, "Assumption 3.3 as in (5), at the start", client_grad2=clients, gap=gap_0),
)


def _steps(statement: Any) -> tuple[Step, ...]:
    printed = statement.reading == "as_printed"
    names = (*(f"condition {c.name}" for c in statement.conditions), *(("domain M2", *STEP) if printed else ()))
    steps = (
        Step(
            "step 1",
            4 * L * eta_l * (1 + (1 + sp.sqrt(P2_gen)) * sp.sqrt(B2)) <= 1,
            (*names, *SIZES),
            Decide(),
            "from the step condition",
        ),
        Step("own", own <= sp.Rational(1, 8), ("step 1", *SIZES), Decide(), "as printed"),
        Step(
            "step 2",
            16 * L**2 * eta_l**2 * (1 + P2_gen) * B2 <= 1,
            ("step 1", *SIZES),
            Decide(),
            "(1 + P)^2 >= 1 + P^2",
        ),
        Step(
            "drift",
            sp.Le(xi, before),
            ("own", "clients >= 0", "domain sigma2_gen", *SIZES),
            Instance("fedshuffle/drift_of_a_round_gen/corrected", xi, (("client_grad2_0", clients),)),
            "the drift by the clients' gradients",
        ),
        Step(
            "display",
            sp.Le(xi, display),
            ("drift", "A3.3", "own", *SIZES),
            Combine({"drift": 1, "A3.3": 2 * eta_l**2 * (1 + P2_gen) / (1 - own)}),
            "Assumption 3.3",
        ),
        Step(
            "sharp",
            sp.Le(bounded, sharp),
            ("display", "metric", "et", "H", "own", "step 2", *STEP, *SIZES),
            Combine({"display": 3 * L * W * eta_g * eta_l}),
            "times 3 L et; 1 - 1/8 = 7/8",
        ),
    )
    if statement.reading == "sharp":
        return steps
    last = statement.bound - sp.Rational(9, 10) * W * eta_g * eta_l * gap_0
    slip = "48/7 <= 9; L is left out, and et/eta_g is W times the local step"
    rounded = Step(
        "rounding",
        sp.Le(sp.Rational(48, 7) * L * et * eta_l**2 * H, last),
        ("et", "H", "domain G2", "domain sigma2_gen", *STEP, *names, *SIZES),
        Decide(),
        slip if printed else "48/7 <= 9",
    )
    conclusion = Step(
        "conclusion",
        sp.Le(bounded, sp.Rational(9, 10) * et * gap_0 + last),
        ("sharp", "rounding", "et", "H", *STEP, *SIZES),
        Combine({"sharp": 1, "rounding": 1}),
        "6/7 <= 9/10",
    )
    return (*steps, rounded, conclusion)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of Lemma E.4."""
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        _steps(statement),
        conclusion="sharp" if statement.reading == "sharp" else "conclusion",
        target=bounded,
        quantities=frozenset({"gap_0", "G2", "sigma2_gen"}),
        rounds=((xi, 0), (clients, 0)),
    )
