"""How far one round moves the server's point (FedShuffle, proof of Lemma C.1) as checked steps.

Vectors are random and <u, v> is the expectation, over cohort and orders, of their inner product. k = 0, ..., K-1
counts all steps that all clients make, or would make, in a round: K is E times the number of samples.

    y(k)  local point before step k, minus x    g(k)  gradient used there    g0(k)  the same sample's gradient at x
    A     what the server adds up, so that x moves by -et A;  mean its expectation over the cohort
    G(k)  mean of g over the steps of the client that makes step k;  G0(k) the same of g0, its gradient at x
    slope gradient of f at x
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise
from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.rules import CauchySchwarz, SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import smooth_samples

READINGS = ("corrected",)


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


L, M, E, eta_l, eta_g, drift_0, client_grad2_0, grad2_0 = _symbols("L M E eta_l eta_g drift_0 client_grad2_0 grad2_0")
K, k, et, moved, squares = _symbols("K k et moved squares")
A, mean, slope = vector("A"), vector("mean"), vector("slope")
y, g, g0, G, G0 = (vector(name, k) for name in ("y", "g", "g0", "G", "G0"))

# an order of all samples is drawn in every epoch
DRAWN = ((slope, 0), (g, 1), (g0, 1), (vector_total(g0, k, K), 0))
FACTS = (
    Fact("et", sp.Eq(et, E * eta_g * eta_l), "definition", "effective step"),
    Fact("steps", K >= 1, "count", "steps of all clients in a round"),
    Fact("index k", sp.And(k >= 0, k <= K - 1), "index", "steps of all clients in a round"),
    Fact("mean", VectorEquality(mean, vector_total(g, k, K) / K), "definition", "mean of the gradients of all steps"),
    Fact("moved", sp.Eq(moved, et**2 * norm2(A)), "metric", "the round moves the server's point by -et A"),
    Fact("drift", sp.Eq(drift_0, total(norm2(y), k, K) / K), "metric", "mean over all steps"),
    Fact("gradient", sp.Eq(grad2_0, norm2(slope)), "metric", "squared gradient norm at the start"),
    Fact(
        "gradients",
        sp.Eq(client_grad2_0, total(norm2(G0), k, K) / K),
        "metric",
        "client i makes w_i K of the steps",
    ),
    Fact(
        "unbiased",
        sp.Le(inner(A - mean, mean), 0),
        "algorithm",
        "client i takes part with probability p_i whatever the orders are, and is weighted by w_i/p_i",
    ),
    Fact(
        "participation",
        sp.And(squares >= 0, sp.Le(squares, M * total(norm2(G), k, K) / K)),
        "algorithm",
        "squares is the sum of w_i^2 s_i/p_i |G_i|^2, and M >= s_i w_i/p_i",
    ),
    Fact(
        "client means",
        sp.Ge(total(inner(G - G0, g - g0 - G + G0), k, K), 0),
        "algorithm",
        "G - G0 is the mean of g - g0 over the steps of a client",
    ),
    Fact(
        "whole epochs",
        VectorEquality(vector_total(g0, k, K), slope * K),
        "algorithm",
        "every epoch uses every sample once, and w_i is client i's share of the samples",
    ),
    pointwise(
        "A3.2",
        smooth_samples,
        "Assumption 3.2",
        Evaluation("f_ij", y, g, which=k),
        Evaluation("f_ij", Vector(()), g0, which=k),
    ),
)

SIZES = ("steps", "domain M", "domain L")

STEPS = (
    Step(
        "1",
        sp.Le(total(norm2(g - g0), k, K), L**2 * K * drift_0),
        ("A3.2", "drift", "steps"),
        SumOver("A3.2", k, K),
        "Assumption 3.2 in every step",
    ),
    Step(
        "2.1",
        sp.Le(norm2(vector_total(g - g0, k, K)), K * total(norm2(g - g0), k, K)),
        ("steps",),
        CauchySchwarz(g - g0, k, K),
        "Lemma B.6",
    ),
    Step(
        "2",
        sp.Le(norm2(mean), 2 * L**2 * drift_0 + 2 * grad2_0),
        ("mean", "2.1", "1", "whole epochs", "gradient", "steps"),
        Combine({"2.1": 2 / K**2, "1": 2 / K}),
        "Lemma B.6 with a = 1",
    ),
    Step("3.1", sp.Ge(norm2(g - g0 - G + G0), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "3.2",
        sp.Ge(total(norm2(g - g0 - G + G0), k, K), 0, evaluate=False),
        ("3.1", "steps"),
        SumOver("3.1", k, K),
        "and a sum of such",
    ),
    Step(
        "3.3",
        sp.Le(total(norm2(G - G0), k, K), total(norm2(g - g0), k, K)),
        ("3.2", "client means"),
        Combine({"3.2": 1, "client means": 2}),
        "the square of a client's mean is at most the mean of its squares",
    ),
    Step(
        "3.4",
        sp.Le(norm2(G), 2 * norm2(G - G0) + 2 * norm2(G0)),
        (),
        Combine(),
        "Lemma B.6 with a = 1",
    ),
    Step(
        "3.5",
        sp.Le(total(norm2(G), k, K), 2 * total(norm2(G - G0), k, K) + 2 * K * client_grad2_0),
        ("3.4", "gradients", "steps"),
        SumOver("3.4", k, K),
        "summed over the steps",
    ),
    Step(
        "3",
        sp.Le(total(norm2(G), k, K), 2 * L**2 * K * drift_0 + 2 * K * client_grad2_0),
        ("3.5", "3.3", "1"),
        Combine({"3.5": 1, "3.3": 2, "1": 2}),
        "together",
    ),
    Step(
        "4.1",
        sp.Le(norm2(A - mean), squares),
        ("participation", "steps"),
        Instance("fedshuffle/lemma_b_4/as_printed", norm2(A - mean), (("weighted_squares", squares),)),
        "Lemma B.4 for the clients' means, in expectation over the orders",
    ),
    Step(
        "4",
        sp.Le(norm2(A), 2 * (1 + M) * L**2 * drift_0 + 2 * M * client_grad2_0 + 2 * grad2_0),
        ("unbiased", "4.1", "participation", "2", "3", *SIZES),
        Combine({"unbiased": 2, "4.1": 1, "participation.1": 1, "2": 1, "3": M / K}),
        "(17): variance and mean",
    ),
    Step(
        "conclusion",
        sp.Le(moved, 2 * et**2 * ((1 + M) * L**2 * drift_0 + M * client_grad2_0 + grad2_0)),
        ("moved", "4", "et"),
        Combine({"4": E**2 * eta_g**2 * eta_l**2}),
        "times et^2",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation."""
    return Derivation(
        statement, (*scope_facts(statement), *FACTS), STEPS, conclusion="conclusion", target=moved, drawn=DRAWN
    )
