"""The proof of Lemma E.3 (FedShuffle, Appendix E) as checked steps: the progress of one round of FedShuffleGen.

Vectors and laws are those of `fedshuffle/movement_of_a_round_gen`. Positions are relative to a minimiser of fhat
nearest to the start x.

    u      the start                 next     point after the round, u - et A     short  mean shortfall of the visits
    clients, grad2  sum of what_i |grad f_i|^2 and |grad fhat|^2 at the start     low    a gap

The reading "raw" stops before the step condition is put in.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import relaxed_dissimilarity, smooth_samples

READINGS = ("corrected", "as_printed", "raw")

mu, L, G2, B2, M1, W, eta_l, eta_g = symbols("mu L G2 B2 M1 W eta_l eta_g")
dist2_0, gap_0, drift_0, visit_drift_0, dist2_1 = symbols("dist2_0 gap_0 drift_0 visit_drift_0 dist2_1")
et, moved, clients, grad2, low, visits, short = symbols("et moved clients grad2 low visits short")
u, end, mean, slope, start = vector("u"), vector("next"), vector("mean"), vector("slope"), Vector(())
A, G = vector("A", 0), vector("G", 0)


def derivation(statement: Any) -> Any:
    """The derivation of one reading of Lemma E.3."""
    movement = "fedshuffle/movement_of_a_round_gen/corrected"
    p = Proof(statement, dist2_1, at_start=(clients, grad2, moved, visits, short), squares=(gap_0, G2, drift_0),
        drawn=((u, 0), (A, 2), (end, 2)), laws=derivation_of(movement).laws)
    p.define(et, W * eta_g * eta_l, "effective step")
    p.known("start", eq(dist2_0, norm2(u)), "positions are relative to a nearest minimiser")
    p.known("end", dist2_1 <= norm2(end), "the distance to the solution set is at most that to it")
    p.known("moved", eq(moved, et**2 * norm2(A)), "squared movement of the server's point")
    p.known("drift", eq(drift_0, visits), "the mean over the clients")
    p.known("gradient", eq(grad2, norm2(slope)), "squared gradient norm at the start")
    p.known("grad2 >= 0", grad2 >= 0, "a squared norm")
    p.known("clients >= 0", clients >= 0, "a sum of squared norms")
    p.known("shortfall", eq(short, gap_0 + mu / 4 * norm2(u) - inner(G, u)),
        "the mean over the clients of f_i(x) - f_i(x*) is the gap of fhat")
    p.algorithm("round", eq(end, u - A * et), "Algorithm 4, with the sign that makes it a descent")
    p.upper_model("descent", smooth_samples,
        "(15) for fhat, which is L-smooth too, from the start to the point x - grad fhat/L, whose gap is low",
        Evaluation("F", start, slope, gap_0), Evaluation("F", -slope / L, value=low))
    p.known("minimum", low >= 0, "a gap")
    p.pointwise("A3.3", relaxed_dissimilarity, "Assumption 3.3 as in (5)", client_grad2=clients, gap=gap_0)

    p.signs(et > 0, "et", why="the effective step is positive")
    p.cite_mean("1", short <= L * visits, "progress_of_a_visit/corrected", short, {visit_drift_0: visits}, "drift",
        why="Lemma B.1 in every step, and whole epochs")
    p.expected("2", inner(mean, u) >= gap_0 + mu / 4 * norm2(u) - L * drift_0, "client", {"1": 1}, "shortfall", "drift",
        why="the mean over the clients")
    p.step("3", grad2 <= 2 * L * gap_0, {"descent": 2 * L, "minimum": 2 * L}, "gradient", why="a consequence of (16)")
    p.cite("4", moved <= 2 * et**2 * ((1 + M1) * L**2 * drift_0 + M1 * clients + grad2), movement, moved,
        "clients >= 0", "grad2 >= 0", why="how far the round moves the server's point", drift_0=drift_0,
        client_grad2_0=clients, grad2_0=grad2)
    p.expected("5", norm2(end) <= dist2_0 - 2 * et * inner(mean, u) + moved, "cohort", "round", "start", "moved",
        "et > 0", why="the square expanded")
    display = (1 - mu * et / 2) * dist2_0 - 2 * et * gap_0 + 2 * L * et * drift_0 + 2 * et**2 * (
        (1 + M1) * L**2 * drift_0 + M1 * G2 + 2 * L * (1 + M1 * B2) * gap_0)
    p.step("display", dist2_1 <= display, {"end": 1, "5": 1, "2": 2 * et, "4": 1, "3": 2 * et**2,
        "A3.3": 2 * et**2 * M1}, "start", "et > 0", why="all put together")
    if p.reading == "raw":
        p.ends_with("display")
        return p.done()
    p.step("step 1", 4 * L * et * (1 + M1 * B2) <= 1, "et", why="the step condition")
    p.step("step 2", (1 + M1) * L * et <= sp.Rational(1, 4), "et", why="the step condition, with B >= 1")
    p.conclude(dist2_1 <= (1 - mu * et / 2) * dist2_0 - et * gap_0 + 3 * L * et * drift_0 + 2 * et**2 * M1 * G2,
        {"display": 1}, "step 1", "step 2", "et > 0", why="2 + 2/4 <= 3")
    return p.done()
