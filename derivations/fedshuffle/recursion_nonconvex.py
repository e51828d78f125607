"""The recursion of Theorem 5.1 (FedShuffle) where the losses are not convex, as checked steps.

Vectors are random and <u, v> is the expectation, over cohort and orders, of their inner product. k = 0, ..., K-1
counts all steps that all clients make, or would make, in the round.

    slope  gradient of f at the start x     A     what the server adds up: x moves by -et A
    y(k)   local point minus x              g(k)  gradient used there     g0(k)  the same sample's gradient at x
    mean   expectation of A over the cohort   xi  drift of the round      clients  sum of w_i |grad f_i|^2 at x
    a, b   the two parts of 4 beta L et <= 1

The readings share the round. The corrected and the printed one use the non-convex form of Lemma C.2; the printed one
leaves a factor L out when it rounds. The sharp one puts the step condition in only once.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise, upper_model
from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.rules import CauchySchwarz, SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import gradient_dissimilarity, smooth_samples

READINGS = ("corrected", "as_printed", "sharp")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


L, G2, B2, P2, sigma2, M, E, eta_l, eta_g = _symbols("L G2 B2 P2 sigma2 M E eta_l eta_g")
gap_0, grad2_0, gap_1 = _symbols("gap_0 grad2_0 gap_1")
K, k, et, H, a, b, xi, clients, moved = _symbols("K k et H a b xi clients moved")
A, mean, slope = vector("A"), vector("mean"), vector("slope")
y, g, g0 = vector("y", k), vector("g", k), vector("g0", k)
start = Vector(())

# an order of all samples is drawn in every epoch
DRAWN = ((slope, 0), (g, 1), (g0, 1), (vector_total(g0, k, K), 0))
FACTS = (
    Fact("et", sp.Eq(et, E * eta_g * eta_l), "definition", "effective step"),
    Fact("H", sp.Eq(H, (E**2 + P2 / 3) * G2 + sigma2 / 3), "definition", "last factor of Lemma C.2"),
    Fact("steps", K >= 1, "count", "steps of all clients in a round"),
    Fact("index k", sp.And(k >= 0, k <= K - 1), "index", "steps of all clients in a round"),
    Fact("mean", VectorEquality(mean, vector_total(g, k, K) / K), "definition", "mean of the gradients of all steps"),
    Fact("gradient", sp.Eq(grad2_0, norm2(slope)), "metric", "squared gradient norm at the start"),
    Fact("moved", sp.Eq(moved, et**2 * norm2(A)), "metric", "squared movement of the server's point"),
    Fact("drift", sp.Eq(xi, total(norm2(y), k, K) / K), "metric", "mean over all steps"),
    Fact("drift >= 0", xi >= 0, "metric", "a mean of squared norms"),
    Fact("clients >= 0", clients >= 0, "metric", "a sum of squared norms"),
    Fact(
        "unbiased",
        sp.Ge(inner(A, slope), inner(mean, slope)),
        "algorithm",
        "client i takes part with probability p_i whatever the orders are, and is weighted by w_i/p_i",
    ),
    Fact(
        "whole epochs",
        VectorEquality(vector_total(g0, k, K), slope * K),
        "algorithm",
        "every epoch uses every sample once, and w_i is client i's share of the samples",
    ),
    upper_model(
        "descent",
        smooth_samples,
        "(15) for f, which is L-smooth too, from the start to the point after the round",
        Evaluation("F", start, slope, gap_0),
        Evaluation("F", A * -et, value=gap_1),
    ),
    pointwise(
        "A3.2",
        smooth_samples,
        "Assumption 3.2",
        Evaluation("f_ij", y, g, which=k),
        Evaluation("f_ij", start, g0, which=k),
    ),
    pointwise("A3.3", gradient_dissimilarity, "Assumption 3.3 as in (4)", client_grad2=clients, grad2=grad2_0),
)
SHARES = (
    Fact("a", sp.Eq(a, 4 * L * E * eta_g * eta_l * (1 + M * B2)), "definition", "part of the step condition"),
    Fact(
        "b",
        sp.Eq(b, 4 * L * E * eta_g * eta_l * (1 + sp.sqrt(P2 / 3)) * sp.sqrt(B2)),
        "definition",
        "the rest of the step condition",
    ),
)

SIZES = ("domain L", "domain E", "domain eta_l", "domain eta_g", "domain M", "domain B2", "domain P2")
SCOPE = (*SIZES, "domain G2", "domain sigma2", "domain grad2_0", "domain gap_0")
own = 2 * eta_l**2 * L**2 * E**2
participation = et**2 * M * L * G2

ROUND = (
    Step("et > 0", et > 0, ("et", *SIZES), Decide(), "the effective step is positive"),
    Step(
        "1",
        sp.Le(total(norm2(g - g0), k, K), L**2 * total(norm2(y), k, K)),
        ("A3.2", "steps"),
        SumOver("A3.2", k, K),
        "Assumption 3.2 in every step",
    ),
    Step(
        "2",
        sp.Le(norm2(vector_total(g - g0, k, K)), K * total(norm2(g - g0), k, K)),
        ("steps",),
        CauchySchwarz(g - g0, k, K),
        "Lemma B.6",
    ),
    Step(
        "3",
        sp.Ge(inner(mean, slope), grad2_0 / 2 - L**2 / 2 * xi),
        ("mean", "whole epochs", "gradient", "drift", "1", "2", "steps"),
        Combine({"2": 1 / (2 * K**2), "1": 1 / (2 * K)}),
        "polarisation; the square of the mean is dropped",
    ),
    Step(
        "4",
        sp.Le(moved, 2 * et**2 * ((1 + M) * L**2 * xi + M * clients + grad2_0)),
        ("et", "clients >= 0", "drift >= 0", *SCOPE),
        Instance(
            "fedshuffle/movement_of_a_round/corrected",
            moved,
            (("drift_0", xi), ("client_grad2_0", clients), ("grad2_0", grad2_0)),
        ),
        "the bound on A_2 in the proof of Lemma C.1",
    ),
    Step(
        "display",
        sp.Le(
            gap_1,
            gap_0
            - et / 2 * grad2_0
            + et / 2 * L**2 * xi
            + et**2 * L * ((1 + M) * L**2 * xi + M * G2 + (1 + M * B2) * grad2_0),
        ),
        ("descent", "moved", "unbiased", "3", "4", "A3.3", "et > 0", *SIZES),
        Combine({"descent": 1, "unbiased": et, "3": et, "4": L / 2, "A3.3": et**2 * L * M}),
        "all put together",
    ),
)


def _ending(statement: Any, names: tuple[str, ...]) -> tuple[Step, ...]:
    """With the non-convex form of Lemma C.2."""
    left = 1 if statement.reading == "as_printed" else L
    noise = sp.Rational(9, 4) * L * left * et * eta_l**2 * H
    return (
        Step("step 1", 4 * L * et * (1 + M * B2) <= 1, ("et", *names, *SIZES), Decide(), "the step condition"),
        Step("step 2", (1 + M) * L * et <= sp.Rational(1, 4), ("et", *names, *SIZES), Decide(), "with B >= 1"),
        Step(
            "5",
            sp.Le(gap_1, gap_0 - et / 4 * grad2_0 + 3 * et / 4 * L**2 * xi + participation),
            ("display", "step 1", "step 2", "drift >= 0", "et > 0", *SIZES),
            Combine({"display": 1}),
            "as printed",
        ),
        Step(
            "6",
            sp.Le(xi, grad2_0 / (7 * L**2) + sp.Rational(16, 7) * eta_l**2 * H),
            ("H", *names, *SCOPE),
            Instance("fedshuffle/lemma_c_2_nonconvex/corrected", xi, (("grad2_0", grad2_0),)),
            "drift of the round",
        ),
        Step(
            "rounding",
            sp.Rational(12, 7) * L**2 * et * eta_l**2 * H <= noise,
            ("et", "H", *names, *SCOPE),
            Decide(),
            "12/7 <= 9/4" if left == L else "12/7 <= 9/4, and one L is left out",
        ),
        Step(
            "conclusion",
            sp.Le(gap_1, gap_0 - et / 8 * grad2_0 + noise + participation),
            ("5", "6", "rounding", "et > 0", *SIZES),
            Combine({"5": 1, "6": 3 * et / 4 * L**2, "rounding": 1}),
            "1/4 - 3/28 >= 1/8",
        ),
    )


def _shared(names: tuple[str, ...]) -> tuple[Step, ...]:
    """The step condition is put in once."""
    clients_share = 2 * eta_l**2 * (E**2 + P2 / 3)
    return (
        Step("b >= 0", b >= 0, ("b", *SIZES), Decide(), "a product of such"),
        Step("a >= 0", a >= 0, ("a", *SIZES), Decide(), "a product of such"),
        Step("a + b", a + b <= 1, ("a", "b", *names, *SIZES), Decide(), "the step condition"),
        Step("own", own <= b**2 / 8, ("b", *names, *SIZES), Decide(), "as in Lemma C.2, with B >= 1"),
        Step("share", clients_share * B2 <= b**2 / (8 * L**2), ("b", *names, *SIZES), Decide(), "as in Lemma C.2"),
        Step("cohort", (1 + M) * L * et <= a / 4, ("a", "et", *names, *SIZES), Decide(), "as in Lemma C.1"),
        Step("a.1", sp.Eq(a, 4 * L * et * (1 + M * B2)), ("a", "et"), Identity(), "by definition"),
        Step(
            "5",
            sp.Le(gap_1, gap_0 - (2 - a) / 4 * et * grad2_0 + (2 + a) / 4 * et * L**2 * xi + participation),
            ("display", "a.1", "cohort", "drift >= 0", "et > 0", "domain L"),
            Combine({"display": 1}),
            "in terms of a",
        ),
        Step("local step", eta_l <= 1 / (2 * E * L), (*names, *SIZES), Decide(), "the drift's own condition"),
        Step(
            "6.1",
            sp.Le(xi, (clients_share * clients + 2 * eta_l**2 * sigma2 / 3) / (1 - own)),
            ("local step", "clients >= 0", *SCOPE),
            Instance("fedshuffle/drift_of_a_round/corrected", xi, (("client_grad2_0", clients),)),
            "drift of the round before the step condition",
        ),
        Step(
            "6.2",
            sp.Le(xi, (clients_share * B2 * grad2_0 + 2 * eta_l**2 * H) / (1 - own)),
            ("6.1", "A3.3", "H", "own", "b >= 0", "a >= 0", "a + b", *SIZES),
            Combine({"6.1": 1, "A3.3": clients_share / (1 - own)}),
            "Assumption 3.3",
        ),
        Step(
            "6",
            sp.Le(xi, (b**2 / (8 * L**2) * grad2_0 + 2 * eta_l**2 * H) / (1 - b**2 / 8)),
            ("6.2", "H", "own", "share", "b >= 0", "a >= 0", "a + b", *SIZES),
            Combine({"6.2": 1}),
            "in terms of b",
        ),
        Step(
            "conclusion",
            sp.Le(
                gap_1,
                gap_0 - et / 4 * grad2_0 + sp.Rational(3, 2) * L**2 * et * eta_l**2 * H + participation,
            ),
            ("5", "6", "H", "a >= 0", "b >= 0", "a + b", "et > 0", *SIZES),
            Combine({"5": 1, "6": (2 + a) / 4 * et * L**2}),
            "(3 - b) b <= 8 - b^2 for 0 <= b <= 1",
        ),
    )


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of the recursion."""
    names = tuple(f"condition {c.name}" for c in statement.conditions)
    sharp = statement.reading == "sharp"
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS, *(SHARES if sharp else ())),
        (*ROUND, *(_shared(names) if sharp else _ending(statement, names))),
        conclusion="conclusion",
        target=gap_1,
        quantities=frozenset({"grad2_0", "gap_0", "G2", "sigma2"}),
        rounds=((xi, 0), (clients, 0), (moved, 0)),
        drawn=DRAWN,
    )
