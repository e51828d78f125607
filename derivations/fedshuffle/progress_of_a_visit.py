"""The progress of a visit of FedShuffleGen towards the minimiser: Lemma B.1 in every step, as checked steps.

The visit, its vectors and its orders are those of `fedshuffle/drift_of_a_visit`; positions are relative to x, where the
visit begins.

    u      the minimiser is at -u         G      mean gradient of the visit       fx(t), fy(t), fs(t)  loss of the
    sample of step t at the start, at the local point, at the minimiser           one  a vector of length 1
    v(t)   (fx(t) - fs(t)) one            b(j)   the same for sample j            short  the shortfall
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, lower_model, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import EverySample
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.laws import Order
from boundcheck.proof.rules import SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import smooth_samples, strongly_convex_samples

READINGS = ("corrected",)

L, mu, visit_drift_0, N, Q, t, i, short = sp.symbols("L mu visit_drift_0 N Q t i short", real=True)
T = Q * N
u, G, one, gap, b = vector("u"), vector("G"), vector("one"), vector("gap"), vector("b", i)
y, g, v = vector("y", t), vector("g", t), vector("v", t)
fx, fy, fs = (sp.Function(name, real=True)(t) for name in ("fx", "fy", "fs"))
start = Vector(())
at_y = Evaluation("f_ij", y, g, fy, which=t)
at_start, at_minimiser = (Evaluation("f_ij", point, value=value, which=t) for point, value in ((start, fx), (-u, fs)))

COUNTS = ("samples", "epochs")
ORDER = Order("order", "fedshuffle_gen", ((v, b),), (b, one, u), N, epochs=True)
FACTS = (
    Fact("samples", N >= 1, "count", "samples of the client"),
    Fact("epochs", Q >= 1, "count", "epochs of the visit"),
    Fact("index t", sp.And(t >= 0, t <= T - 1), "index", "steps of the visit"),
    Fact("index i", sp.And(i >= 0, i <= N - 1), "index", "samples of the client"),
    Fact("drift", sp.Eq(visit_drift_0, total(norm2(y), t, T) / T), "metric", "mean over the steps"),
    Fact("G", VectorEquality(G, vector_total(g, t, T) / T), "definition", "mean gradient of the visit"),
    Fact("gap", VectorEquality(gap, vector_total(b, i, N) / N), "definition", "f_i is the mean of its samples' losses"),
    Fact("value", sp.Ge(fx - fs, inner(v, one)), "metric", "v is the difference of the sample's losses, along one"),
    Fact("shortfall", sp.Eq(short, inner(gap, one) + mu / 4 * norm2(u) - inner(G, u)), "metric", "what the metric is"),
    upper_model(
        "smooth", smooth_samples, "Assumption 3.2 as in (15), from the local point to the start", at_y, at_start
    ),
    lower_model(
        "convex",
        strongly_convex_samples,
        "Assumption 3.1, from the local point to the minimiser",
        at_y,
        at_minimiser,
    ),
)
STEPS = (
    Step("T >= 1", T >= 1, COUNTS, Decide(), "a visit has a step"),
    Step(
        "every sample",
        VectorEquality(vector_total(v, t, T), gap * T),
        ("gap", *COUNTS),
        EverySample("order"),
        "every epoch uses every sample once",
    ),
    Step(
        "1",
        sp.Ge(inner(g, u), inner(v, one) + mu / 4 * norm2(u) - L * norm2(y)),
        ("smooth", "convex", "value", "domain mu", "domain L", "domain 1"),
        Combine({"smooth": 1, "convex": 1, "value": 1}),
        "Lemma B.1 at the local point",
    ),
    Step(
        "2",
        sp.Ge(total(inner(g, u), t, T), total(inner(v, one), t, T) + T * mu / 4 * norm2(u) - L * total(norm2(y), t, T)),
        ("1", "T >= 1"),
        SumOver("1", t, T),
        "summed over the steps",
    ),
    Step(
        "conclusion",
        sp.Le(short, L * visit_drift_0),
        ("shortfall", "G", "drift", "every sample", "2", *COUNTS),
        Combine({"2": 1 / T}),
        "divided by the number of steps",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation."""
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        STEPS,
        conclusion="conclusion",
        target=short,
        laws=(ORDER,),
    )
