"""The sharp recursion of Theorem E.1 (FedShuffle) where the losses are not convex, as checked steps.

Vectors and laws are those of `fedshuffle/movement_of_a_round_gen`, where x moves by -et A; the shares a and b of the
step conditions, and the drift before these, are those of `fedshuffle/recursion_convex_gen`.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise, upper_model
from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.drawing import Expected
from boundcheck.proof.gram import Combine
from boundcheck.proof.lemma import Lemma
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.proof.weaker import taken
from boundcheck.theory.assumptions import gradient_dissimilarity, smooth_samples

READINGS = ("sharp",)

L, G2, B2, P2_gen, sigma2_gen, M1 = sp.symbols("L G2 B2 P2_gen sigma2_gen M1", real=True)
W, eta_l, eta_g, gap_0, grad2_0, gap_1 = sp.symbols("W eta_l eta_g gap_0 grad2_0 gap_1", real=True)
et, H, a, b, xi, clients, moved, error, visits = sp.symbols("et H a b xi clients moved error visits", real=True)
A, G, gf, mean, slope, start = (
    vector("A", 0),
    vector("G", 0),
    vector("gf", 0),
    vector("mean"),
    vector("slope"),
    Vector(()),
)
visit_drift_0 = sp.Symbol("visit_drift_0", real=True)

SIZES = tuple(f"domain {name}" for name in ("L", "W", "eta_l", "eta_g", "M1", "B2", "P2_gen"))
SCOPE = (*SIZES, "domain G2", "domain sigma2_gen", "domain grad2_0", "domain gap_0")
PARTS = ("a >= 0", "b >= 0", "a + b")
own = 2 * eta_l**2 * L**2
participation = et**2 * M1 * L * G2


def _facts(convex: Derivation, movement: Derivation) -> tuple[Fact, ...]:
    shares = ("et", "H", "beta", "a", "b", "drift >= 0", "clients >= 0")
    moves = ("moved", "error", "gradient")
    mean_over = Fact("visits", sp.Eq(xi, visits), "metric", "the mean over the clients")
    return (
        *(f for f in convex.facts if f.name in shares),
        *(f for f in movement.facts if f.name in moves),
        mean_over,
        upper_model(
            "descent",
            smooth_samples,
            "(15) for fhat, which is L-smooth too, from the start to the point after the round",
            Evaluation("F", start, slope, gap_0),
            Evaluation("F", A * -et, value=gap_1),
        ),
        pointwise("A3.3", gradient_dissimilarity, "Assumption 3.3 as in (4)", client_grad2=clients, grad2=grad2_0),
    )


STEPS = (
    Step(
        "E.4.1",
        sp.Le((1 - own) * xi, 2 * eta_l**2 * ((1 + P2_gen) * B2 * grad2_0 + H)),
        ("drift", "A3.3", "H", "solvable", *SIZES),
        Combine({"drift": 1 - own, "A3.3": 2 * eta_l**2 * (1 + P2_gen)}),
        "Assumption 3.3",
    ),
    Step(
        "E.4",
        sp.Le((1 - b**2 / 8) * xi, b**2 / (8 * L**2) * grad2_0 + 2 * eta_l**2 * H),
        ("E.4.1", "own", "share", "drift >= 0", "domain L"),
        Combine({"E.4.1": 1}),
        "in terms of b",
    ),
    Step(
        "1.1",
        sp.Le(error, L**2 * visits),
        ("visits", "drift >= 0", "domain L"),
        Lemma("fedshuffle/gradient_of_a_visit/corrected", error, {visit_drift_0: visits}),
        "Assumption 3.2 in every step, and whole epochs",
    ),
    Step("1.2", sp.Ge(norm2(G - gf - mean + slope), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "1.3",
        sp.Le(norm2(mean - slope), L**2 * xi),
        ("1.1", "1.2", "error", "visits"),
        Expected(("client",), Combine({"1.1": 1, "1.2": 1})),
        "Jensen for the clients' mean",
    ),
    Step(
        "1",
        sp.Ge(inner(mean, slope), grad2_0 / 2 - L**2 / 2 * xi),
        ("1.3", "gradient"),
        Combine({"1.3": sp.Rational(1, 2)}),
        "polarisation; the square of the mean is dropped",
    ),
    Step(
        "2",
        sp.Le(moved, 2 * et**2 * ((1 + M1) * L**2 * xi + M1 * clients + grad2_0)),
        ("et", "clients >= 0", "drift >= 0", *SCOPE),
        Instance(
            "fedshuffle/movement_of_a_round_gen/corrected",
            moved,
            (("drift_0", xi), ("client_grad2_0", clients), ("grad2_0", grad2_0)),
        ),
        "the bound on A_2 in the proof of Lemma E.3",
    ),
    Step(
        "3",
        sp.Le(gap_1, gap_0 - et * inner(mean, slope) + L / 2 * moved),
        ("descent", "moved", "et > 0"),
        Expected(("cohort",), Combine({"descent": 1})),
        "the mean over the cohort",
    ),
    Step(
        "display",
        sp.Le(
            gap_1,
            gap_0
            - et / 2 * grad2_0
            + et / 2 * L**2 * xi
            + et**2 * L * ((1 + M1) * L**2 * xi + M1 * G2 + (1 + M1 * B2) * grad2_0),
        ),
        ("3", "1", "2", "A3.3", "et > 0", *SIZES),
        Combine({"3": 1, "1": et, "2": L / 2, "A3.3": et**2 * L * M1}),
        "all put together",
    ),
    Step(
        "sum",
        sp.Le(gap_1, gap_0 - (2 - a) / 4 * et * grad2_0 + (2 + a) / 4 * et * L**2 * xi + participation),
        ("display", "a.1", "cohort", "drift >= 0", "et > 0", "domain L"),
        Combine({"display": 1}),
        "in terms of a",
    ),
    Step(
        "conclusion",
        sp.Le(gap_1, gap_0 - et / 4 * grad2_0 + sp.Rational(3, 2) * L**2 * et * eta_l**2 * H + participation),
        ("sum", "E.4", "H", *PARTS, "et > 0", *SIZES),
        Combine({"sum": 1, "E.4": (2 + a) / 4 * et * L**2 / (1 - b**2 / 8)}),
        "(3 - b) b <= 8 - b^2 for 0 <= b <= 1",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of the sharp reading of the recursion."""
    convex = derivation_of("fedshuffle/recursion_convex_gen/sharp")
    movement = derivation_of("fedshuffle/movement_of_a_round_gen/corrected")
    shared = taken(convex)[: next(k for k, s in enumerate(convex.steps) if s.name == "drift") + 1]
    return Derivation(
        statement,
        (*scope_facts(statement), *_facts(convex, movement)),
        (*shared, *STEPS),
        conclusion="conclusion",
        target=gap_1,
        quantities=frozenset({"grad2_0", "gap_0", "G2", "sigma2_gen"}),
        rounds=((xi, 0), (clients, 0), (moved, 0), (visits, 0), (error, 0)),
        laws=movement.laws,
    )
