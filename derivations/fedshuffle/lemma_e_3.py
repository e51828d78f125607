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

from boundcheck.proof.at_points import Evaluation, pointwise, upper_model
from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.drawing import Expected
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.lemma import Lemma
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import relaxed_dissimilarity, smooth_samples

READINGS = ("corrected", "as_printed", "raw")

mu, L, G2, B2, M1, W, eta_l, eta_g = sp.symbols("mu L G2 B2 M1 W eta_l eta_g", real=True)
dist2_0, gap_0, drift_0, visit_drift_0 = sp.symbols("dist2_0 gap_0 drift_0 visit_drift_0", real=True)
et, moved, clients, grad2, low, visits, short = sp.symbols("et moved clients grad2 low visits short", real=True)
dist2_1 = sp.Symbol("dist2_1", real=True)
u, end, mean, slope, start = vector("u"), vector("next"), vector("mean"), vector("slope"), Vector(())
A, G = vector("A", 0), vector("G", 0)

DRAWN = ((u, 0), (A, 2), (end, 2))
FACTS = (
    Fact("et", sp.Eq(et, W * eta_g * eta_l), "definition", "effective step"),
    Fact("start", sp.Eq(dist2_0, norm2(u)), "metric", "positions are relative to a nearest minimiser"),
    Fact("end", sp.Le(dist2_1, norm2(end)), "metric", "the distance to the solution set is at most that to it"),
    Fact("moved", sp.Eq(moved, et**2 * norm2(A)), "metric", "squared movement of the server's point"),
    Fact("drift", sp.Eq(drift_0, visits), "metric", "the mean over the clients"),
    Fact("gradient", sp.Eq(grad2, norm2(slope)), "metric", "squared gradient norm at the start"),
    Fact("grad2 >= 0", grad2 >= 0, "metric", "a squared norm"),
    Fact("clients >= 0", clients >= 0, "metric", "a sum of squared norms"),
    Fact(
        "shortfall",
        sp.Eq(short, gap_0 + mu / 4 * norm2(u) - inner(G, u)),
        "metric",
        "the mean over the clients of f_i(x) - f_i(x*) is the gap of fhat",
    ),
    Fact("round", VectorEquality(end, u - A * et), "algorithm", "Algorithm 4, with the sign that makes it a descent"),
    upper_model(
        "descent",
        smooth_samples,
        "(15) for fhat, which is L-smooth too, from the start to the point x - grad fhat/L, whose gap is low",
        Evaluation("F", start, slope, gap_0),
        Evaluation("F", -slope / L, value=low),
    ),
    Fact("minimum", low >= 0, "metric", "a gap"),
    pointwise("A3.3", relaxed_dissimilarity, "Assumption 3.3 as in (5)", client_grad2=clients, gap=gap_0),
)

SIZES = ("domain L", "domain W", "domain eta_l", "domain eta_g", "domain M1")
raw = (
    (1 - mu * et / 2) * dist2_0
    - 2 * et * gap_0
    + 2 * L * et * drift_0
    + 2 * et**2 * ((1 + M1) * L**2 * drift_0 + M1 * G2 + 2 * L * (1 + M1 * B2) * gap_0)
)

ROUND = (
    Step("et > 0", et > 0, ("et", *SIZES), Decide(), "the effective step is positive"),
    Step(
        "1",
        sp.Le(short, L * visits),
        ("drift", "domain drift_0", "domain L", "domain mu", "domain 1"),
        Lemma("fedshuffle/progress_of_a_visit/corrected", short, {visit_drift_0: visits}),
        "Lemma B.1 in every step, and whole epochs",
    ),
    Step(
        "2",
        sp.Ge(inner(mean, u), gap_0 + mu / 4 * norm2(u) - L * drift_0),
        ("1", "shortfall", "drift"),
        Expected(("client",), Combine({"1": 1})),
        "the mean over the clients",
    ),
    Step(
        "3",
        sp.Le(grad2, 2 * L * gap_0),
        ("descent", "gradient", "minimum", "domain L"),
        Combine({"descent": 2 * L, "minimum": 2 * L}),
        "a consequence of (16)",
    ),
    Step(
        "4",
        sp.Le(moved, 2 * et**2 * ((1 + M1) * L**2 * drift_0 + M1 * clients + grad2)),
        ("et", "clients >= 0", "grad2 >= 0", "domain drift_0", *SIZES),
        Instance(
            "fedshuffle/movement_of_a_round_gen/corrected",
            moved,
            (("drift_0", drift_0), ("client_grad2_0", clients), ("grad2_0", grad2)),
        ),
        "how far the round moves the server's point",
    ),
    Step(
        "5",
        sp.Le(norm2(end), dist2_0 - 2 * et * inner(mean, u) + moved),
        ("round", "start", "moved", "et > 0"),
        Expected(("cohort",), Combine()),
        "the square expanded",
    ),
    Step(
        "display",
        sp.Le(dist2_1, raw),
        ("end", "start", "5", "2", "3", "4", "A3.3", "et > 0", "domain M1"),
        Combine({"end": 1, "5": 1, "2": 2 * et, "4": 1, "3": 2 * et**2, "A3.3": 2 * et**2 * M1}),
        "all put together",
    ),
)


def _ending(statement: Any) -> tuple[Step, ...]:
    """The step condition put in."""
    names = [f"condition {c.name}" for c in statement.conditions]
    scope = ("et", *names, "domain B2", *(["domain M2"] if statement.reading == "as_printed" else []), *SIZES)
    return (
        Step("step 1", 4 * L * et * (1 + M1 * B2) <= 1, scope, Decide(), "the step condition"),
        Step("step 2", (1 + M1) * L * et <= sp.Rational(1, 4), scope, Decide(), "the step condition, with B >= 1"),
        Step(
            "conclusion",
            sp.Le(dist2_1, (1 - mu * et / 2) * dist2_0 - et * gap_0 + 3 * L * et * drift_0 + 2 * et**2 * M1 * G2),
            ("display", "step 1", "step 2", "et > 0", "domain L", "domain M1"),
            Combine({"display": 1}),
            "2 + 2/4 <= 3",
        ),
    )


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of Lemma E.3."""
    movement = derivation_of("fedshuffle/movement_of_a_round_gen/corrected")
    steps = ROUND if statement.reading == "raw" else (*ROUND, *_ending(statement))
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        steps,
        conclusion=steps[-1].name,
        target=dist2_1,
        quantities=frozenset({"gap_0", "G2", "drift_0"}),
        rounds=((clients, 0), (grad2, 0), (moved, 0), (visits, 0), (short, 0)),
        drawn=DRAWN,
        laws=movement.laws,
    )
