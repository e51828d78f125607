"""The progress of a visit of FedShuffleGen towards the minimiser: Lemma B.1 in every step, as checked steps.

The visit, its vectors and its orders are those of `fedshuffle/drift_of_a_visit`; positions are relative to x, where the
visit begins.

    u      the minimiser is at -u         G      mean gradient of the visit       fx(t), fy(t), fs(t)  loss of the
    sample of step t at the start, at the local point, at the minimiser           one  a vector of length 1
    v(t)   (fx(t) - fs(t)) one            b(j)   the same for sample j            short  the shortfall
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.laws import Order
from boundcheck.proof.methods import EverySample
from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import smooth_samples, strongly_convex_samples

READINGS = ("corrected",)

L, mu, visit_drift_0, N, Q, t, i, short = symbols("L mu visit_drift_0 N Q t i short")
T = Q * N
u, G, one, gap, b = vector("u"), vector("G"), vector("one"), vector("gap"), vector("b", i)
y, g, v = vector("y", t), vector("g", t), vector("v", t)
fx, fy, fs = (loss(t) for loss in functions("fx fy fs"))
at_y = Evaluation("f_ij", y, g, fy, which=t)
at_start, at_minimiser = (Evaluation("f_ij", z, value=loss, which=t) for z, loss in ((Vector(()), fx), (-u, fs)))


def derivation(statement: Any) -> Any:
    """The derivation."""
    p = Proof(statement, short, laws=(Order("order", "fedshuffle_gen", ((v, b),), (b, one, u), N, epochs=True),))
    p.count("samples", N >= 1, "samples of the client")
    p.count("epochs", Q >= 1, "epochs of the visit")
    p.index(t, T, "steps of the visit")
    p.index(i, N, "samples of the client")
    p.known("drift", eq(visit_drift_0, total(norm2(y), t, T) / T), "mean over the steps")
    p.define(G, vector_total(g, t, T) / T, "mean gradient of the visit")
    p.define(gap, vector_total(b, i, N) / N, "f_i is the mean of its samples' losses")
    p.known("value", fx - fs >= inner(v, one), "v is the difference of the sample's losses, along one")
    p.known("shortfall", eq(short, inner(gap, one) + mu / 4 * norm2(u) - inner(G, u)), "what the metric is")
    p.upper_model("smooth", smooth_samples, "Assumption 3.2 as in (15), from the local point to the start", at_y,
        at_start)
    p.lower_model("convex", strongly_convex_samples, "Assumption 3.1, from the local point to the minimiser", at_y,
        at_minimiser)

    p.step("T >= 1", T >= 1, "samples", "epochs", why="a visit has a step")
    p.rule("every sample", EverySample("order"), "gap", why="every epoch uses every sample once",
        claim=eq(vector_total(v, t, T), gap * T))
    p.step("1", inner(g, u) >= inner(v, one) + mu / 4 * norm2(u) - L * norm2(y), {"smooth": 1, "convex": 1, "value": 1},
        why="Lemma B.1 at the local point")
    p.sum_over("2", None, "1", t, T, "T >= 1", why="summed over the steps")
    p.conclude(short <= L * visit_drift_0, {"2": 1 / T}, "shortfall", "G", "drift", "every sample",
        why="divided by the number of steps")
    return p.done()
