"""How far the mean gradient of a visit is from the client's gradient at its start, as checked steps.

The visit, its vectors and the law of its orders are those of `fedshuffle/drift_of_a_visit`.

    G  mean gradient of the visit        gf  the client's gradient at the start x
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.drawing import EverySample
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import CauchySchwarz, SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import VectorEquality, norm2, vector

READINGS = ("corrected",)

L, visit_drift_0, N, Q, t, error2 = sp.symbols("L visit_drift_0 N Q t error2", real=True)
T = Q * N
x, gf, G = vector("x"), vector("gf"), vector("G")
y, g, g0 = vector("y", t), vector("g", t), vector("g0", t)
COUNTS = ("samples", "epochs")


def derivation(statement: Any) -> Derivation:
    """The derivation."""
    visit = derivation_of("fedshuffle/drift_of_a_visit/corrected")
    shared = ("samples", "epochs", "index t", "index i", "gf", "A3.2")
    facts = (
        *(f for f in visit.facts if f.name in shared),
        Fact("drift", sp.Eq(visit_drift_0, total(norm2(y - x), t, T) / T), "metric", "mean over the steps"),
        Fact("G", VectorEquality(G, vector_total(g, t, T) / T), "definition", "mean gradient of the visit"),
        Fact("error", sp.Eq(error2, norm2(G - gf)), "metric", "squared distance to the client's gradient"),
    )
    steps = (
        Step("T >= 1", T >= 1, COUNTS, Decide(), "a visit has a step"),
        Step(
            "whole epochs",
            VectorEquality(vector_total(g0, t, T), gf * T),
            ("gf", *COUNTS),
            EverySample("order"),
            "every epoch uses every sample once",
        ),
        Step(
            "1",
            sp.Le(norm2(vector_total(g - g0, t, T)), T * total(norm2(g - g0), t, T)),
            ("T >= 1",),
            CauchySchwarz(g - g0, t, T),
            "Lemma B.6",
        ),
        Step(
            "2",
            sp.Le(total(norm2(g - g0), t, T), L**2 * total(norm2(y - x), t, T)),
            ("A3.2", "T >= 1"),
            SumOver("A3.2", t, T),
            "Assumption 3.2 in every step",
        ),
        Step(
            "conclusion",
            sp.Le(error2, L**2 * visit_drift_0),
            ("error", "G", "drift", "whole epochs", "1", "2", *COUNTS),
            Combine({"1": 1 / T**2, "2": 1 / T}),
            "the mean of the differences",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=error2,
        laws=visit.laws,
    )
