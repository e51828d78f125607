"""The sharp recursion of Theorem E.1 (FedShuffle) where the losses are not convex, as checked steps.

Vectors and laws are those of `fedshuffle/movement_of_a_round_gen`, where x moves by -et A; the shares a and b of the
step conditions, and the drift before these, are those of `fedshuffle/recursion_convex_gen`.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.proof import Proof, eq, ge, symbols
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import gradient_dissimilarity, smooth_samples

READINGS = ("sharp",)

L, G2, B2, P2_gen, sigma2_gen, M1, eta_l = symbols("L G2 B2 P2_gen sigma2_gen M1 eta_l")
gap_0, grad2_0, gap_1, visit_drift_0 = symbols("gap_0 grad2_0 gap_1 visit_drift_0")
et, H, a, b, xi, clients, moved, error, visits = symbols("et H a b xi clients moved error visits")
A, G, gf, mean, slope = vector("A", 0), vector("G", 0), vector("gf", 0), vector("mean"), vector("slope")
own, participation = 2 * eta_l**2 * L**2, et**2 * M1 * L * G2


def derivation(statement: Any) -> Any:
    """The derivation of the sharp reading of the recursion."""
    convex, movement = "fedshuffle/recursion_convex_gen/sharp", "fedshuffle/movement_of_a_round_gen/corrected"
    p = Proof(statement, gap_1, at_start=(xi, clients, moved, visits, error), squares=(grad2_0, gap_0, G2, sigma2_gen),
        laws=derivation_of(movement).laws)
    p.take_facts(convex, skip=("A3.3",))
    p.take_facts(movement, "moved", "error", "gradient")
    p.known("visits", eq(xi, visits), "the mean over the clients")
    p.upper_model("descent", smooth_samples,
        "(15) for fhat, which is L-smooth too, from the start to the point after the round",
        Evaluation("F", Vector(()), slope, gap_0), Evaluation("F", A * -et, value=gap_1))
    p.pointwise("A3.3", gradient_dissimilarity, "Assumption 3.3 as in (4)", client_grad2=clients, grad2=grad2_0)

    p.take_steps(convex, skip=("E.4.1", "E.4", "E.3", "sum"))
    p.step("E.4.1", (1 - own) * xi <= 2 * eta_l**2 * ((1 + P2_gen) * B2 * grad2_0 + H),
        {"drift": 1 - own, "A3.3": 2 * eta_l**2 * (1 + P2_gen)}, "H", "solvable", why="Assumption 3.3")
    p.step("E.4", (1 - b**2 / 8) * xi <= b**2 / (8 * L**2) * grad2_0 + 2 * eta_l**2 * H, {"E.4.1": 1}, "own", "share",
        "drift >= 0", why="in terms of b")
    p.cite_mean("1.1", error <= L**2 * visits, "gradient_of_a_visit/corrected", error, {visit_drift_0: visits},
        "visits", "drift >= 0", why="Assumption 3.2 in every step, and whole epochs")
    p.step("1.2", ge(norm2(G - gf - mean + slope), 0), why="a squared norm")
    p.expected("1.3", norm2(mean - slope) <= L**2 * xi, "client", {"1.1": 1, "1.2": 1}, "error", "visits",
        why="Jensen for the clients' mean")
    p.step("1", inner(mean, slope) >= grad2_0 / 2 - L**2 / 2 * xi, {"1.3": sp.Rational(1, 2)}, "gradient",
        why="polarisation; the square of the mean is dropped")
    p.cite("2", moved <= 2 * et**2 * ((1 + M1) * L**2 * xi + M1 * clients + grad2_0), movement, moved, "clients >= 0",
        "drift >= 0", why="the bound on A_2 in the proof of Lemma E.3", drift_0=xi, client_grad2_0=clients,
        grad2_0=grad2_0)
    p.expected("3", gap_1 <= gap_0 - et * inner(mean, slope) + L / 2 * moved, "cohort", {"descent": 1}, "moved",
        "et > 0", why="the mean over the cohort")
    p.step("display", gap_1 <= gap_0 - et / 2 * grad2_0 + et / 2 * L**2 * xi
        + et**2 * L * ((1 + M1) * L**2 * xi + M1 * G2 + (1 + M1 * B2) * grad2_0),
        {"3": 1, "1": et, "2": L / 2, "A3.3": et**2 * L * M1}, "et > 0", why="all put together")
    p.step("sum", gap_1 <= gap_0 - (2 - a) / 4 * et * grad2_0 + (2 + a) / 4 * et * L**2 * xi + participation,
        {"display": 1}, "a.1", "cohort", "drift >= 0", "et > 0", why="in terms of a")
    p.conclude(gap_1 <= gap_0 - et / 4 * grad2_0 + sp.Rational(3, 2) * L**2 * et * eta_l**2 * H + participation,
        {"sum": 1, "E.4": (2 + a) / 4 * et * L**2 / (1 - b**2 / 8)}, "H", "a >= 0", "b >= 0", "a + b", "et > 0",
        why="(3 - b) b <= 8 - b^2 for 0 <= b <= 1")
    return p.done()
