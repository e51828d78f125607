"""The drift of one round by the clients' gradients (FedShuffle, proof of Lemma C.2) as checked steps.

Clients are taken together by their size: class c holds those with D = c + 1 samples. A vector of class c is the family
of these clients' vectors, and <u, v> the sum over the class, divided by the number of all samples, of the expectation
over the orders of the samples. So Cauchy-Schwarz and its like hold for classes as for single vectors, and the sum over
c of the sums over steps is the sum over all samples. Step t of a visit is sample j of epoch e, t = e D + j.

    y(c, t)  local point before step t      x(c)   the point at which the round starts
    g(c, t)  gradient of the sample used    g0(c, t)  the same sample's gradient at x
    gf(c)    gradient of the client's loss at x
    q(c, t)  g0(c, 0) + ... + g0(c, t-1) minus t gf(c)
    z(c, e, j)  gradient at x of sample j of epoch e, minus gf(c);  p(c, e, j)  the sum of those before it
    V(c)     variance of the sample gradients at x, over D - 1; 0 where there is one sample

Clients that are not in the cohort count too, with the steps that they would make.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.rules import CauchySchwarz, Induction, Jensen, PartialSum, SumOver, Supposing, Telescoping
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import smooth_samples

READINGS = ("corrected",)


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


L, P2, sigma2, E, eta_l, client_grad2_0 = _symbols("L P2 sigma2 E eta_l client_grad2_0")
C, c, t, e, j, a, xi = _symbols("C c t e j a xi")
V: Any = sp.Function("V", real=True)
sig: Any = sp.Function("sig", real=True)
VARIANCE = "local_variance"

D = c + 1
T = sp.expand(E * D)  # steps of a visit
x, gf = vector("x", c), vector("gf", c)
y, g, g0, q = vector("y", c, t), vector("g", c, t), vector("g0", c, t), vector("q", c, t)
z, p, p_a = vector("z", c, e, a), vector("p", c, e, j), vector("p", c, e, a)
zero = Vector(())
half = sp.Rational(1, 2)

away, Y = norm2(y - x), total(norm2(y - x), t, T)  # Y: the squared drift of class c, summed over the steps
clients = total(D * norm2(gf), c, C)  # sum over clients of w_i |grad f_i(x)|^2


DRAWN = ((x, 0), (gf, 0), (y, t), (g, t + 1), (g0, t + 1), (p, j), (z, a + 1))
FACTS = (
    Fact("classes", C >= 1, "count", "the largest number of samples of a client"),
    Fact("index c", sp.And(c >= 0, c <= C - 1), "index", "clients with c + 1 samples"),
    Fact("index t", sp.And(t >= 0, t <= T - 1), "index", "steps of a visit"),
    Fact("index e", sp.And(e >= 0, e <= E - 1), "index", "epochs"),
    Fact("index j", sp.And(j >= 0, j <= c), "index", "samples of an epoch"),
    Fact("index a", sp.And(a >= 0, a <= c - 1), "index", "samples of an epoch but the last"),
    Fact("q", VectorEquality(q, vector_total(g0, t, t) - gf * t), "definition", "noise of the order of the samples"),
    Fact("drift", sp.Eq(xi, total(Y, c, C) / E), "metric", "mean over all clients, epochs and samples"),
    Fact("gradients", sp.Eq(client_grad2_0, clients), "metric", "w_i is client i's share of the samples"),
    Fact("local step", VectorEquality(y.at(t, t + 1), y - g * eta_l / D), "algorithm", "Algorithm 3, line 9"),
    Fact("common start", VectorEquality(y.at(t, 0), x), "algorithm", "every client starts from the server's point"),
    Fact("no bias", sp.Le(inner(gf, q), 0), "algorithm", "each sample of a fresh order is uniform: q has mean 0"),
    Fact("epoch start", VectorEquality(p.at(j, 0), zero), "algorithm", "nothing is drawn at the start of an epoch"),
    Fact("next sample", VectorEquality(p.at(j, a + 1), p_a + z), "algorithm", "the samples of an epoch in their order"),
    Fact(
        "without replacement",
        sp.Le(inner(p_a, z) * (D - a), -norm2(p_a)),
        "algorithm",
        "the next sample is uniform among the D - a that are left; their deviations sum to -p",
    ),
    Fact("spread", sp.Le(norm2(z), c * V(c)), "algorithm", "the variance of one sample"),
    Fact(
        "epochs",
        sp.Le(total(norm2(q), t, T), total(total(norm2(p), j, D), e, E)),
        "algorithm",
        "the steps are those of the epochs one after another, and a whole epoch leaves no noise",
    ),
    pointwise(
        "A3.2",
        smooth_samples,
        "Assumption 3.2 between y(t) and x",
        Evaluation("f_ij", y, g, which=(c, t)),
        Evaluation("f_ij", x, g0, which=(c, t)),
    ),
    Fact(
        "A3.4",
        sp.Le(c * V(c), sig(c) + P2 * D * norm2(gf)),
        "assumption",
        "Assumption 3.4 over the clients of class c, with P_i^2 <= P2 D and sig(c) their sum of sigma_i^2",
        VARIANCE,
    ),
    Fact("sig >= 0", sig(c) >= 0, "assumption", "a sum of squares", VARIANCE),
    Fact("sigma2", sp.Le(total(sig(c), c, C), sigma2), "assumption", "what sigma2 is", VARIANCE),
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
        VectorEquality(y, x + (vector_total(g - g0, t, t) + gf * t + q) * (-eta_l / D)),
        ("1.1", "common start", "q", "D > 0"),
        Identity(),
        "the gradients at x subtracted and added",
    ),
    Step(
        "2",
        sp.Le(away, 2 * eta_l**2 / D**2 * (norm2(vector_total(g - g0, t, t)) + norm2(gf * t + q))),
        ("1", "D > 0"),
        Jensen((half, half), (vector_total(g - g0, t, t) * (-2 * eta_l / D), (gf * t + q) * (-2 * eta_l / D))),
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


def noise(k: Any) -> Any:
    """The noise of the first k samples of an epoch, as a claim."""
    return sp.Le(norm2(p.at(j, k)), k * (D - k) * V(c), evaluate=False)


SECOND = (
    Step("4.1", noise(sp.Integer(0)), ("epoch start",), Combine(), "no sample, no noise"),
    Step(
        "4.2",
        sp.Implies(noise(a), noise(a + 1)),
        ("next sample", "without replacement", "spread", "index a"),
        Supposing(Combine({"hypothesis": 1 - 2 / (D - a), "without replacement": 2 / (D - a), "spread": 1})),
        "one more sample",
    ),
    Step("4.3", noise(j), ("4.1", "4.2", "index j"), Induction("4.1", "4.2", a, j), "Lemma B.5"),
    Step(
        "4.4",
        sp.Le(total(norm2(p), j, D), D * (D**2 - 1) / 6 * V(c)),
        ("4.3", "D > 0"),
        SumOver("4.3", j, D),
        "sum of j (D - j)",
    ),
    Step(
        "4.5",
        sp.Le(total(total(norm2(p), j, D), e, E), E * D * (D**2 - 1) / 6 * V(c)),
        ("4.4", "domain E"),
        SumOver("4.4", e, E),
        "the orders of the epochs are drawn alike",
    ),
    Step(
        "4",
        sp.Le(total(norm2(q), t, T), E * D**2 / 3 * (sig(c) + P2 * D * norm2(gf))),
        ("epochs", "4.5", "A3.4", "sig >= 0", "index c", "domain E", "domain P2"),
        Combine({"epochs": 1, "4.5": 1, "A3.4": E * D * (D + 1) / 6, "sig >= 0": E * D * (D - 1) / 6}),
        "Assumption 3.4, and D + 1 <= 2 D",
    ),
    Step(
        "5",
        sp.Le(norm2(gf * t + q), t**2 * norm2(gf) + norm2(q)),
        ("no bias", "index t"),
        Combine({"no bias": 2 * t}),
        "mean and variance, (17)",
    ),
)

VISITS = (
    Step(
        "6",
        sp.Le(away, 2 * eta_l**2 / D**2 * (t * L**2 * Y + t**2 * norm2(gf) + norm2(q))),
        ("2", "3", "5", "D > 0"),
        Combine({"2": 1, "3": 2 * eta_l**2 / D**2, "5": 2 * eta_l**2 / D**2}),
        "both parts",
    ),
    Step(
        "7.1",
        sp.Le(
            Y,
            2
            * eta_l**2
            / D**2
            * (T * (T - 1) / 2 * L**2 * Y + T * (T - 1) * (2 * T - 1) / 6 * norm2(gf) + total(norm2(q), t, T)),
        ),
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

own = 2 * eta_l**2 * L**2 * E**2  # the share of the drift that the drift itself causes
SIZES = ("domain L", "domain E", "domain eta_l", "domain P2")


def derivation(statement: Any) -> Derivation:
    """The derivation; the condition on the local step is the statement's."""
    names = [f"condition {condition.name}" for condition in statement.conditions]
    ending = (
        Step("own", own <= half, (*names, *SIZES), Decide(), "from the condition on the local step"),
        Step(
            "display",
            sp.Le(xi, 2 * eta_l**2 * ((E**2 + P2 / 3) * client_grad2_0 + sigma2 / 3) / (1 - own)),
            ("8", "drift", "gradients", "sigma2", "own", *SIZES),
            Combine({"8": 1 / (E * (1 - own)), "sigma2": 2 * eta_l**2 / (3 * (1 - own))}),
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
    )
