"""How far one round of FedShuffleGen moves the server's point (FedShuffle, proof of Lemma E.3) as checked steps.

Vectors are random, and <u, v> is the expectation of their inner product over cohort, orders, and a client that is drawn
with the probability what_i, its weight in fhat. Where a law draws again, number 0 is the first draw.

    A(a)  what the server adds up, so that x moves by -et A: the weighted sum of the cohort's mean gradients
    mean  its expectation over the cohort: sum of what_i G_i        slope  gradient of fhat at the start x
    G(a)  mean gradient of the visit of the client drawn            gf(a)  gradient of its loss at x
    error mean squared distance of G to gf                          squares  bound of Lemma E.5 on the variance
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import Expected
from boundcheck.proof.gram import Combine
from boundcheck.proof.laws import Draws
from boundcheck.proof.lemma import Lemma
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import norm2, vector

READINGS = ("corrected",)

L, M1, W, eta_l, eta_g = sp.symbols("L M1 W eta_l eta_g", real=True)
drift_0, visit_drift_0, client_grad2_0, grad2_0 = sp.symbols("drift_0 visit_drift_0 client_grad2_0 grad2_0", real=True)
a, et, moved, visits, error, squares = sp.symbols("a et moved visits error squares", real=True)
mean, slope, u = vector("mean"), vector("slope"), vector("u")
sent, gradients, own = vector("A", a), vector("G", a), vector("gf", a)
A, G, gf = (v.at(a, 0) for v in (sent, gradients, own))

CLIENT = Draws("client", "followed_objective", ((gradients, mean), (own, slope)), (mean, slope, u))
COHORT = Draws("cohort", "fedshuffle_gen", ((sent, mean),), (mean, slope, u))

FACTS = (
    Fact("et", sp.Eq(et, W * eta_g * eta_l), "definition", "effective step"),
    Fact("moved", sp.Eq(moved, et**2 * norm2(A)), "metric", "the round moves the server's point by -et A"),
    Fact("drift", sp.Eq(drift_0, visits), "metric", "the mean over the clients"),
    Fact("error", sp.Eq(error, norm2(G - gf)), "metric", "squared distance of a visit's mean gradient"),
    Fact("gradient", sp.Eq(grad2_0, norm2(slope)), "metric", "squared gradient norm at the start"),
    Fact("gradients", sp.Eq(client_grad2_0, norm2(gf)), "metric", "client i is drawn with its weight"),
    Fact(
        "participation",
        sp.And(squares >= 0, sp.Le(squares, M1 * norm2(G))),
        "algorithm",
        "squares is the sum of h_i s_i |what_i G_i|^2, and M1 >= h_i s_i what_i",
    ),
)
SIZES = ("domain M1", "domain L")

STEPS = (
    Step(
        "1",
        sp.Le(error, L**2 * visits),
        ("drift", "domain drift_0", "domain L"),
        Lemma("fedshuffle/gradient_of_a_visit/corrected", error, {visit_drift_0: visits}),
        "Assumption 3.2 in every step, and whole epochs",
    ),
    Step("2.1", sp.Ge(norm2(G - gf - mean + slope), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "2.2",
        sp.Le(norm2(mean - slope), error),
        ("2.1", "error"),
        Expected(("client",), Combine({"2.1": 1})),
        "Jensen: the square of the clients' mean is at most the mean of the squares",
    ),
    Step(
        "2",
        sp.Le(norm2(mean), 2 * L**2 * drift_0 + 2 * grad2_0),
        ("1", "2.2", "drift", "gradient"),
        Combine({"1": 2, "2.2": 2}),
        "Lemma B.6 with a = 1",
    ),
    Step(
        "3",
        sp.Le(norm2(G), 2 * L**2 * drift_0 + 2 * client_grad2_0),
        ("1", "error", "drift", "gradients"),
        Combine({"1": 2}),
        "Lemma B.6 with a = 1",
    ),
    Step(
        "4.1",
        sp.Le(norm2(A - mean), squares),
        ("participation",),
        Instance("fedshuffle/lemma_e_5/corrected", norm2(A - mean), (("weighted_squares", squares),)),
        "Lemma E.5 for the clients' means, in expectation over the orders",
    ),
    Step(
        "4.2",
        sp.Le(norm2(A), squares + norm2(mean)),
        ("4.1",),
        Expected(("cohort",), Combine({"4.1": 1})),
        "(17): variance and mean",
    ),
    Step(
        "4",
        sp.Le(norm2(A), 2 * (1 + M1) * L**2 * drift_0 + 2 * M1 * client_grad2_0 + 2 * grad2_0),
        ("4.2", "participation", "2", "3", *SIZES),
        Combine({"4.2": 1, "participation.1": 1, "2": 1, "3": M1}),
        "together",
    ),
    Step(
        "conclusion",
        sp.Le(moved, 2 * et**2 * ((1 + M1) * L**2 * drift_0 + M1 * client_grad2_0 + grad2_0)),
        ("moved", "4", "et"),
        Combine({"4": W**2 * eta_g**2 * eta_l**2}),
        "times et^2",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation."""
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        STEPS,
        conclusion="conclusion",
        target=moved,
        rounds=((visits, 0), (error, 0)),
        laws=(CLIENT, COHORT),
    )
