"""The proof of Lemma C.1 (FedShuffle, Appendix C) as checked steps: the progress of one round.

Vectors are random and <u, v> is the expectation, over cohort and orders, of their inner product. Positions are relative
to a minimiser nearest to the start x. k = 0, ..., K-1 counts all steps that all clients make, or would make.

    u     the start                 y(k)  local point before step k, minus the start    g(k)  gradient used there
    next  point after the round     A     what the server adds up: next = u - et A
    fx(k), fy(k), fs(k)  expected loss of the step's sample at the start, at the local point, at the minimiser
    clients, grad2, xi   sum of w_i |grad f_i|^2 and |grad f|^2 at the start, drift of the round

The reading "raw" stops before the step condition is put in; the printed one lacks the hypothesis B >= 1.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, lower_model, pointwise, upper_model
from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import relaxed_dissimilarity, smooth_samples, strongly_convex_samples

READINGS = ("corrected", "as_printed", "raw")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


mu, L, G2, B2, M, E, eta_l, eta_g = _symbols("mu L G2 B2 M E eta_l eta_g")
dist2_0, gap_0, drift_0 = _symbols("dist2_0 gap_0 drift_0")
K, k, et, moved, clients, grad2, low, dist2_1 = _symbols("K k et moved clients grad2 low dist2_1")
u, end, A = vector("u"), vector("next"), vector("A")
y, g = vector("y", k), vector("g", k)
fx, fy, fs = (sp.Function(name, real=True)(k) for name in ("fx", "fy", "fs"))
slope, start = vector("slope"), Vector(())
# the loss of the sample of step k, at points relative to the start
at_y = Evaluation("f_ij", y, g, fy, which=k)
at_start, at_minimiser = (Evaluation("f_ij", point, value=value, which=k) for point, value in ((start, fx), (-u, fs)))

DRAWN = ((u, 0), (A, 1), (end, 1))
FACTS = (
    Fact("et", sp.Eq(et, E * eta_g * eta_l), "definition", "effective step"),
    Fact("steps", K >= 1, "count", "steps of all clients in a round"),
    Fact("index k", sp.And(k >= 0, k <= K - 1), "index", "steps of all clients in a round"),
    Fact("start", sp.Eq(dist2_0, norm2(u)), "metric", "positions are relative to a nearest minimiser"),
    Fact("end", sp.Le(dist2_1, norm2(end)), "metric", "the distance to the solution set is at most that to it"),
    Fact("moved", sp.Eq(moved, et**2 * norm2(A)), "metric", "squared movement of the server's point"),
    Fact("drift", sp.Eq(drift_0, total(norm2(y), k, K) / K), "metric", "mean over all steps"),
    Fact("gradient", sp.Eq(grad2, norm2(slope)), "metric", "squared gradient norm at the start"),
    Fact("grad2 >= 0", grad2 >= 0, "metric", "a squared norm"),
    Fact("clients >= 0", clients >= 0, "metric", "a sum of squared norms"),
    Fact("gap", sp.Ge(total(fx - fs, k, K), K * gap_0), "metric", "every epoch uses every sample once"),
    Fact("round", VectorEquality(end, u - A * et), "algorithm", "Algorithm 3, with the sign that makes it a descent"),
    Fact(
        "unbiased",
        sp.Ge(inner(A, u), total(inner(g, u), k, K) / K),
        "algorithm",
        "client i takes part with probability p_i whatever the orders are, and is weighted by w_i/p_i",
    ),
    upper_model(
        "smooth",
        smooth_samples,
        "Assumption 3.2 in the form (15), from the local point to the start",
        at_y,
        at_start,
    ),
    lower_model(
        "convex",
        strongly_convex_samples,
        "Assumption 3.1, from the local point to the minimiser",
        at_y,
        at_minimiser,
    ),
    upper_model(
        "descent",
        smooth_samples,
        "(15) for f, which is L-smooth too, from the start to the point x - grad f/L, whose gap is low",
        Evaluation("F", start, slope, gap_0),
        Evaluation("F", -slope / L, value=low),
    ),
    Fact("minimum", low >= 0, "metric", "a gap"),
    pointwise("A3.3", relaxed_dissimilarity, "Assumption 3.3 as in (5)", client_grad2=clients, gap=gap_0),
)

SIZES = ("domain L", "domain E", "domain eta_l", "domain eta_g", "domain M")
raw = (
    (1 - mu * et / 2) * dist2_0
    - 2 * et * gap_0
    + 2 * L * et * drift_0
    + 2 * et**2 * ((1 + M) * L**2 * drift_0 + M * G2 + 2 * L * (1 + M * B2) * gap_0)
)

ROUND = (
    Step("et > 0", et > 0, ("et", *SIZES), Decide(), "the effective step is positive"),
    Step(
        "1",
        sp.Ge(inner(g, u), fx - fs + mu / 4 * norm2(u) - L * norm2(y)),
        ("smooth", "convex", "domain mu", "domain L", "domain 1"),
        Combine({"smooth": 1, "convex": 1}),
        "Lemma B.1 at the local point",
    ),
    Step(
        "2",
        sp.Ge(total(inner(g, u), k, K), total(fx - fs, k, K) + K * mu / 4 * norm2(u) - L * K * drift_0),
        ("1", "drift", "steps"),
        SumOver("1", k, K),
        "summed over the steps",
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
        sp.Le(moved, 2 * et**2 * ((1 + M) * L**2 * drift_0 + M * clients + grad2)),
        ("et", "clients >= 0", "grad2 >= 0", "domain drift_0", *SIZES),
        Instance(
            "fedshuffle/movement_of_a_round/corrected",
            moved,
            (("drift_0", drift_0), ("client_grad2_0", clients), ("grad2_0", grad2)),
        ),
        "how far the round moves the server's point",
    ),
    Step(
        "display",
        sp.Le(dist2_1, raw),
        ("round", "end", "start", "moved", "unbiased", "gap", "2", "3", "4", "A3.3", "steps", "et > 0", "domain M"),
        Combine(
            {
                "end": 1,
                "unbiased": 2 * et,
                "2": 2 * et / K,
                "gap": 2 * et / K,
                "4": 1,
                "3": 2 * et**2,
                "A3.3": 2 * et**2 * M,
            }
        ),
        "the square expanded",
    ),
)


def _ending(statement: Any) -> tuple[Step, ...]:
    """The step condition put in."""
    names = [f"condition {c.name}" for c in statement.conditions]
    return (
        Step(
            "step 1",
            4 * L * et * (1 + M * B2) <= 1,
            ("et", "condition step size", "domain B2", *SIZES),
            Decide(),
            "the step condition",
        ),
        Step(
            "step 2",
            (1 + M) * L * et <= sp.Rational(1, 4),
            ("et", *names, "domain B2", *SIZES),
            Decide(),
            "the step condition, with B >= 1",
        ),
        Step(
            "conclusion",
            sp.Le(dist2_1, (1 - mu * et / 2) * dist2_0 - et * gap_0 + 3 * L * et * drift_0 + 2 * et**2 * M * G2),
            ("display", "step 1", "step 2", "et > 0", "domain L", "domain M"),
            Combine({"display": 1}),
            "2 + 2/4 <= 3",
        ),
    )


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of Lemma C.1."""
    steps = ROUND if statement.reading == "raw" else (*ROUND, *_ending(statement))
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        steps,
        conclusion=steps[-1].name,
        target=dist2_1,
        quantities=frozenset({"gap_0", "G2", "drift_0"}),
        rounds=((clients, 0), (grad2, 0), (moved, 0)),
        drawn=DRAWN,
    )
