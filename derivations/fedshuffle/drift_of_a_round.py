"""The drift of one round by the clients' gradients (FedShuffle, proof of Lemma C.2) as checked steps.

Clients are taken together by their size: class c holds those with D = c + 1 samples. A vector of class c is the family
of these clients' vectors, and <u, v> the sum over the class, divided by the number of all samples, of the expectation
over the orders of the samples. So Cauchy-Schwarz and its like hold for classes as for single vectors, and the sum over
c of the sums over steps is the sum over all samples. Step t of a visit is sample j of epoch e, t = e D + j.

    y(c, t)  local point before step t      x(c)   the point at which the round starts
    g(c, t)  gradient of the sample used    g0(c, t)  the same sample's gradient at x
    a(c, j)  gradient of sample j at x      gf(c)  gradient of the client's loss at x, their mean
    P(c, t)  g0(c, 0) + ... + g0(c, t-1)
    W(c)     sum over the samples of the squared distances of their gradients at x to gf(c)

Clients that are not in the cohort count too, with the steps that they would make.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import Expected
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.laws import Order
from boundcheck.proof.rules import CauchySchwarz, InEpochs, Jensen, PartialSum, SumOver, Telescoping
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import VectorEquality, norm2, vector
from boundcheck.theory.assumptions import local_variance, smooth_samples

READINGS = ("corrected",)


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


L, P2, sigma2, E, eta_l, client_grad2_0 = _symbols("L P2 sigma2 E eta_l client_grad2_0")
C, c, t, e, j, i, xi = _symbols("C c t e j i xi")
sig: Any = sp.Function("sig", real=True)

D = c + 1
T = sp.expand(E * D)  # steps of a visit
x, gf, own = vector("x", c), vector("gf", c), vector("a", c, i)
y, g, g0 = vector("y", c, t), vector("g", c, t), vector("g0", c, t)
P = vector_total(g0, t, t)
half = sp.Rational(1, 2)

away, Y = norm2(y - x), total(norm2(y - x), t, T)  # Y: the squared drift of class c, summed over the steps
clients = total(D * norm2(gf), c, C)  # sum over clients of w_i |grad f_i(x)|^2
W = total(norm2(own - gf), i, D)
others = sp.Max(1, c)  # D - 1 where there are two samples

ORDER = Order("order", "fedshuffle", ((g0, own),), (own, x), D, epochs=True)
DRAWN = ((y, t), (g, t + 1))
FACTS = (
    Fact("classes", C >= 1, "count", "the largest number of samples of a client"),
    Fact("index c", sp.And(c >= 0, c <= C - 1), "index", "clients with c + 1 samples"),
    Fact("index t", sp.And(t >= 0, t <= T - 1), "index", "steps of a visit"),
    Fact("index e", sp.And(e >= 0, e <= E - 1), "index", "epochs"),
    Fact("index j", sp.And(j >= 0, j <= c), "index", "samples of an epoch"),
    Fact("index i", sp.And(i >= 0, i <= c), "index", "samples of a client"),
    Fact("gf", VectorEquality(gf, vector_total(own, i, D) / D), "definition", "f_i is the mean of its samples' losses"),
    Fact("drift", sp.Eq(xi, total(Y, c, C) / E), "metric", "mean over all clients, epochs and samples"),
    Fact("gradients", sp.Eq(client_grad2_0, clients), "metric", "w_i is client i's share of the samples"),
    Fact("local step", VectorEquality(y.at(t, t + 1), y - g * eta_l / D), "algorithm", "Algorithm 3, line 9"),
    Fact("common start", VectorEquality(y.at(t, 0), x), "algorithm", "every client starts from the server's point"),
    pointwise(
        "A3.2",
        smooth_samples,
        "Assumption 3.2 between y(t) and x",
        Evaluation("f_ij", y, g, which=(c, t)),
        Evaluation("f_ij", x, g0, which=(c, t)),
    ),
    pointwise(
        "A3.4",
        local_variance,
        "Assumption 3.4 over the clients of class c, with P_i^2 <= P2 D and sig(c) their sum of sigma_i^2",
        Evaluation("f_i", x, gf, which=c),
        Evaluation("f_ij", x, own, which=(c, i)),
        sigma2_i=sig(c),
        D_i=D,
    ),
    Fact("sig >= 0", sig(c) >= 0, "metric", "a sum of squares"),
    Fact("sigma2", sp.Le(total(sig(c), c, C), sigma2), "metric", "what sigma2 is"),
)

VISIT = (
    Step("D > 0", D > 0, ("index c",), Decide(), "a client has a sample"),
    Step("T >= 1", T >= 1, ("index c", "domain E"), Decide(), "a visit has a step"),
    Step(
        "1.1",
        VectorEquality(y, y.at(t, 0) + vector_total(g * -eta_l / D, t, t)),
        ("local step", "index t"),
        Telescoping("local step", t, t),
        "the local point is the sum of its steps",
    ),
    Step(
        "1",
        VectorEquality(y, x + (vector_total(g - g0, t, t) + P) * (-eta_l / D)),
        ("1.1", "common start", "D > 0"),
        Identity(),
        "the gradients at x subtracted and added",
    ),
    Step(
        "2",
        sp.Le(away, 2 * eta_l**2 / D**2 * (norm2(vector_total(g - g0, t, t)) + norm2(P))),
        ("1", "D > 0"),
        Jensen((half, half), (vector_total(g - g0, t, t) * (-2 * eta_l / D), P * (-2 * eta_l / D))),
        "Lemma B.6 with a = 1",
    ),
)

FIRST = (
    Step(
        "3.1",
        sp.Le(norm2(vector_total(g - g0, t, t)), t * total(norm2(g - g0), t, t)),
        ("index t",),
        CauchySchwarz(g - g0, t, t),
        "Lemma B.6",
    ),
    Step(
        "3.2",
        sp.Le(total(norm2(g - g0), t, t), total(norm2(g - g0), t, T)),
        ("index t",),
        PartialSum(norm2(g - g0), t, t, T),
        "the first t steps of the visit",
    ),
    Step(
        "3.3",
        sp.Le(total(norm2(g - g0), t, T), L**2 * Y),
        ("A3.2", "T >= 1"),
        SumOver("A3.2", t, T),
        "Assumption 3.2 in every step",
    ),
    Step(
        "3",
        sp.Le(norm2(vector_total(g - g0, t, t)), t * L**2 * Y),
        ("3.1", "3.2", "3.3", "index t"),
        Combine({"3.1": 1, "3.2": t, "3.3": t}),
        "the first part",
    ),
)


C_j = j * (D - j) / (D * others)  # E|P|^2 - |E P|^2 after j samples of an epoch, over W
SECOND = (
    Step(
        "4.1",
        sp.Le(norm2(P).subs(t, e * D + j), (e * D + j) ** 2 * norm2(gf) + C_j * W),
        ("gf", "index e", "index j", "index c"),
        Expected(("order",), Combine()),
        "mean and variance, (17) and Lemma B.5: whole epochs leave no noise",
    ),
    Step(
        "4.2",
        sp.Le(total(norm2(P).subs(t, e * D + j), j, D), total((e * D + j) ** 2 * norm2(gf) + C_j * W, j, D)),
        ("4.1", "D > 0"),
        SumOver("4.1", j, D),
        "summed over an epoch",
    ),
    Step(
        "4.3",
        sp.Le(
            total(total(norm2(P).subs(t, e * D + j), j, D), e, E),
            T * (T - 1) * (2 * T - 1) / 6 * norm2(gf) + E * (D**2 - 1) / (6 * others) * W,
        ),
        ("4.2", "domain E"),
        SumOver("4.2", e, E),
        "and over the epochs",
    ),
    Step(
        "4.4",
        sp.Le(total(norm2(P), t, T), total(total(norm2(P).subs(t, e * D + j), j, D), e, E)),
        ("domain E", "index c"),
        InEpochs(norm2(P), t, e, E, j, D),
        "step t is sample j of epoch e",
    ),
    Step("4.5", sp.Ge(norm2(own - gf), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step("4.6", sp.Ge(W, 0, evaluate=False), ("4.5", "D > 0"), SumOver("4.5", i, D), "and a sum of such"),
    Step("4.7", sp.Le((D**2 - 1) / others, D + 1), ("index c",), Decide(), "0 for a single sample"),
    Step(
        "4",
        sp.Le(
            total(norm2(P), t, T),
            T * (T - 1) * (2 * T - 1) / 6 * norm2(gf) + E * D**2 / 3 * (sig(c) + P2 * D * norm2(gf)),
        ),
        ("4.3", "4.4", "4.6", "4.7", "A3.4", "sig >= 0", "index c", "domain E", "domain P2"),
        Combine(
            {
                "4.3": 1,
                "4.4": 1,
                "4.6": E / 6 * (D + 1 - (D**2 - 1) / others),
                "A3.4": E * D * (D + 1) / 6,
                "sig >= 0": E * D * (D - 1) / 6,
            }
        ),
        "Assumption 3.4, and D + 1 <= 2 D",
    ),
)

VISITS = (
    Step(
        "6",
        sp.Le(away, 2 * eta_l**2 / D**2 * (t * L**2 * Y + norm2(P))),
        ("2", "3", "D > 0"),
        Combine({"2": 1, "3": 2 * eta_l**2 / D**2}),
        "both parts",
    ),
    Step(
        "7.1",
        sp.Le(Y, 2 * eta_l**2 / D**2 * (T * (T - 1) / 2 * L**2 * Y + total(norm2(P), t, T))),
        ("6", "T >= 1", "D > 0"),
        SumOver("6", t, T),
        "summed over the visit",
    ),
    Step("7.2", sp.Ge(away, 0, evaluate=False), (), Combine(), "a squared norm"),
    Step("7.3", sp.Ge(Y, 0, evaluate=False), ("7.2", "T >= 1"), SumOver("7.2", t, T), "and a sum of such"),
    Step(
        "7",
        sp.Le(Y, 2 * eta_l**2 * (E**2 * L**2 * Y + (E**3 + E * P2 / 3) * D * norm2(gf) + E / 3 * sig(c))),
        ("7.1", "7.3", "4", "index c", "domain E", "domain L", "domain eta_l"),
        Combine(
            {
                "7.1": 1,
                "4": 2 * eta_l**2 / D**2,
                "7.3": 2 * eta_l**2 * L**2 * (E**2 - T * (T - 1) / (2 * D**2)),
            }
        ),
        "T (T - 1)/2 <= T^2 and T (T - 1)(2 T - 1)/6 <= T^3",
    ),
    Step(
        "8",
        sp.Le(
            total(Y, c, C),
            2 * eta_l**2 * (E**2 * L**2 * total(Y, c, C) + (E**3 + E * P2 / 3) * clients + E / 3 * total(sig(c), c, C)),
        ),
        ("7", "classes"),
        SumOver("7", c, C),
        "summed over the clients",
    ),
)

share = 2 * eta_l**2 * L**2 * E**2  # the share of the drift that the drift itself causes
SIZES = ("domain L", "domain E", "domain eta_l", "domain P2")


def derivation(statement: Any) -> Derivation:
    """The derivation; the condition on the local step is the statement's."""
    names = [f"condition {condition.name}" for condition in statement.conditions]
    ending = (
        Step("own", share <= half, (*names, *SIZES), Decide(), "from the condition on the local step"),
        Step(
            "display",
            sp.Le(xi, 2 * eta_l**2 * ((E**2 + P2 / 3) * client_grad2_0 + sigma2 / 3) / (1 - share)),
            ("8", "drift", "gradients", "sigma2", "own", *SIZES),
            Combine({"8": 1 / (E * (1 - share)), "sigma2": 2 * eta_l**2 / (3 * (1 - share))}),
            "solved for the drift",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        (*VISIT, *FIRST, *SECOND, *VISITS, *ending),
        conclusion="display",
        target=xi,
        quantities=frozenset({"sigma2"}),
        drawn=DRAWN,
        laws=(ORDER,),
    )
