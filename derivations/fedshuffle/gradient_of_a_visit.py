"""How far the mean gradient of a visit is from the client's gradient at its start, as checked steps.

The visit, its vectors and the law of its orders are those of `fedshuffle/drift_of_a_visit`.

    G  mean gradient of the visit        gf  the client's gradient at the start x
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.methods import EverySample
from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import norm2, vector

READINGS = ("corrected",)

L, visit_drift_0, N, Q, t, error2 = symbols("L visit_drift_0 N Q t error2")
T, visit = Q * N, "fedshuffle/drift_of_a_visit/corrected"
x, gf, G = vector("x"), vector("gf"), vector("G")
y, g, g0 = vector("y", t), vector("g", t), vector("g0", t)


def derivation(statement: Any) -> Any:
    """The derivation."""
    p = Proof(statement, error2, laws=derivation_of(visit).laws)
    p.take_facts(visit, "samples", "epochs", "index t", "index i", "gf", "A3.2")
    p.known("drift", eq(visit_drift_0, total(norm2(y - x), t, T) / T), "mean over the steps")
    p.define(G, vector_total(g, t, T) / T, "mean gradient of the visit")
    p.known("error", eq(error2, norm2(G - gf)), "squared distance to the client's gradient")
    p.step("T >= 1", T >= 1, "samples", "epochs", why="a visit has a step")
    p.rule("whole epochs", EverySample("order"), "gf", why="every epoch uses every sample once",
        claim=eq(vector_total(g0, t, T), gf * T))
    p.square_of_sum("1", g - g0, over=(t, T), uses="T >= 1", why="Lemma B.6")
    p.sum_over("2", total(norm2(g - g0), t, T) <= L**2 * total(norm2(y - x), t, T), "A3.2", t, T, "T >= 1",
        why="Assumption 3.2 in every step")
    p.conclude(error2 <= L**2 * visit_drift_0, {"1": 1 / T**2, "2": 1 / T}, "error", "G", "drift", "whole epochs",
        why="the mean of the differences")
    return p.done()
