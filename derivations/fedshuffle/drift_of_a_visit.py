"""The drift of a client's visit by its gradient where the visit begins (FedShuffle, Appendix E) as checked steps.

The client has N samples and makes Q epochs; step t of the T = Q N steps is sample j of epoch e, t = e N + j. Vectors
are random, and <u, v> is the expectation of their inner product over the orders of the samples.

    y(t)  local point before step t         x      the point at which the visit begins
    g(t)  gradient of the sample used       g0(t)  the same sample's gradient at x
    a(j)  gradient of sample j at x         gf     gradient of the client's loss at x, their mean
    P(t)  g0(0) + ... + g0(t-1)             Y      sum of the squared distances of the y(t) to x
    W     sum over the samples of the squared distances of their gradients at x to gf
    step  the client's local step, eta_l over its divisor
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


L, P2_gen, eta_l, own_grad2_0, own_noise_0 = _symbols("L P2_gen eta_l own_grad2_0 own_noise_0")
N, Q, t, e, j, i, step, sig, p, drift = _symbols("N Q t e j i step sig p drift")

T = Q * N  # steps of the visit
x, gf, own = vector("x"), vector("gf"), vector("a", i)
y, g, g0 = vector("y", t), vector("g", t), vector("g0", t)
P = vector_total(g0, t, t)
half = sp.Rational(1, 2)

away, Y = norm2(y - x), total(norm2(y - x), t, T)
W = total(norm2(own - gf), i, N)
others = sp.Max(1, N - 1)

ORDER = Order("order", "fedshuffle_gen", ((g0, own),), (own, x), N, epochs=True)
DRAWN = ((y, t), (g, t + 1))
FACTS = (
    Fact("samples", N >= 1, "count", "samples of the client"),
    Fact("epochs", Q >= 1, "count", "epochs of the visit"),
    Fact("index t", sp.And(t >= 0, t <= T - 1), "index", "steps of the visit"),
    Fact("index e", sp.And(e >= 0, e <= Q - 1), "index", "epochs"),
    Fact("index j", sp.And(j >= 0, j <= N - 1), "index", "samples of an epoch"),
    Fact("index i", sp.And(i >= 0, i <= N - 1), "index", "samples of the client"),
    Fact("gf", VectorEquality(gf, vector_total(own, i, N) / N), "definition", "f_i is the mean of its samples' losses"),
    Fact("drift", sp.Eq(drift, Y / T), "metric", "mean over the steps of the visit"),
    Fact("gradient", sp.Eq(own_grad2_0, norm2(gf)), "metric", "squared gradient norm at the start of the visit"),
    Fact("local step", VectorEquality(y.at(t, t + 1), y - g * step), "algorithm", "Algorithm 4"),
    Fact("divisor", sp.And(step >= 0, sp.Le(step * T, eta_l)), "algorithm", "step = eta_l/c_i, and c_i >= E_i |D_i|"),
    Fact("start", VectorEquality(y.at(t, 0), x), "algorithm", "every client starts from the server's point"),
    pointwise(
        "A3.2",
        smooth_samples,
        "Assumption 3.2 between y(t) and x",
        Evaluation("f_ij", y, g, which=t),
        Evaluation("f_ij", x, g0, which=t),
    ),
    pointwise(
        "A3.4",
        local_variance,
        "Assumption 3.4 for the client, with sig for sigma_i^2 and p for P_i^2/|D_i|",
        Evaluation("f_i", x, gf),
        Evaluation("f_ij", x, own, which=i),
        sigma2_i=sig,
        P2=p,
        D_i=N,
    ),
    Fact("noise", sp.Eq(sig, 3 * N * Q**2 * own_noise_0), "metric", "what own_noise_0 is"),
    Fact("share", sp.Le(p, 3 * Q**2 * P2_gen), "metric", "what P2_gen is: the largest P_i^2/(3 |D_i| E_i^2)"),
)

COUNTS = ("samples", "epochs")
VISIT = (
    Step("T >= 1", T >= 1, COUNTS, Decide(), "a visit has a step"),
    Step(
        "1.1",
        VectorEquality(y, y.at(t, 0) + vector_total(g * -step, t, t)),
        ("local step", "index t"),
        Telescoping("local step", t, t),
        "the local point is the sum of its steps",
    ),
    Step(
        "1",
        VectorEquality(y, x + (vector_total(g - g0, t, t) + P) * -step),
        ("1.1", "start"),
        Identity(),
        "the gradients at x subtracted and added",
    ),
    Step(
        "2",
        sp.Le(away, 2 * step**2 * (norm2(vector_total(g - g0, t, t)) + norm2(P))),
        ("1",),
        Jensen((half, half), (vector_total(g - g0, t, t) * (-2 * step), P * (-2 * step))),
        "Lemma B.6 with a = 1",
    ),
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

C_j = j * (N - j) / (N * others)  # E|P|^2 - |E P|^2 after j samples of an epoch, over W
SECOND = (
    Step(
        "4.1",
        sp.Le(norm2(P).subs(t, e * N + j), (e * N + j) ** 2 * norm2(gf) + C_j * W),
        ("gf", "index e", "index j", "samples"),
        Expected(("order",), Combine()),
        "mean and variance, (17) and Lemma B.5: whole epochs leave no noise",
    ),
    Step(
        "4.2",
        sp.Le(total(norm2(P).subs(t, e * N + j), j, N), total((e * N + j) ** 2 * norm2(gf) + C_j * W, j, N)),
        ("4.1", "samples"),
        SumOver("4.1", j, N),
        "summed over an epoch",
    ),
    Step(
        "4.3",
        sp.Le(
            total(total(norm2(P).subs(t, e * N + j), j, N), e, Q),
            T * (T - 1) * (2 * T - 1) / 6 * norm2(gf) + Q * (N**2 - 1) / (6 * others) * W,
        ),
        ("4.2", "epochs"),
        SumOver("4.2", e, Q),
        "and over the epochs",
    ),
    Step(
        "4.4",
        sp.Le(total(norm2(P), t, T), total(total(norm2(P).subs(t, e * N + j), j, N), e, Q)),
        COUNTS,
        InEpochs(norm2(P), t, e, Q, j, N),
        "step t is sample j of epoch e",
    ),
    Step("4.5", sp.Ge(norm2(own - gf), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step("4.6", sp.Ge(W, 0, evaluate=False), ("4.5", "samples"), SumOver("4.5", i, N), "and a sum of such"),
    Step("4.7", sp.Le((N**2 - 1) / others, N + 1), ("samples",), Decide(), "0 for a single sample"),
    Step(
        "4.8",
        sp.Le(W, 3 * N**2 * Q**2 * (own_noise_0 + P2_gen * own_grad2_0)),
        ("A3.4", "noise", "share", "gradient", *COUNTS, "domain own_grad2_0"),
        Decide(),
        "Assumption 3.4 in terms of the lemma",
    ),
    Step(
        "4",
        sp.Le(total(norm2(P), t, T), T**3 * (own_grad2_0 + own_noise_0 + P2_gen * own_grad2_0)),
        (
            *("4.3", "4.4", "4.6", "4.7", "4.8", "gradient", *COUNTS),
            *("domain P2_gen", "domain own_grad2_0", "domain own_noise_0"),
        ),
        Combine(
            {
                "4.3": 1,
                "4.4": 1,
                "4.6": Q / 6 * (N + 1 - (N**2 - 1) / others),
                "4.8": Q * (N + 1) / 6,
            }
        ),
        "N + 1 <= 2 N and T (T - 1)(2 T - 1)/6 <= T^3",
    ),
)

own_share = 2 * eta_l**2 * L**2
bound = (1 + P2_gen) * own_grad2_0 + own_noise_0
SIZES = ("divisor", "domain L", "domain eta_l", *COUNTS)
ENDING = (
    Step(
        "6",
        sp.Le(away, 2 * step**2 * (t * L**2 * Y + norm2(P))),
        ("2", "3"),
        Combine({"2": 1, "3": 2 * step**2}),
        "both parts",
    ),
    Step(
        "7.1",
        sp.Le(Y, 2 * step**2 * (T * (T - 1) / 2 * L**2 * Y + total(norm2(P), t, T))),
        ("6", "T >= 1"),
        SumOver("6", t, T),
        "summed over the visit",
    ),
    Step("7.2", sp.Ge(away, 0, evaluate=False), (), Combine(), "a squared norm"),
    Step("7.3", sp.Ge(Y, 0, evaluate=False), ("7.2", "T >= 1"), SumOver("7.2", t, T), "and a sum of such"),
    Step("T step", step**2 * T**2 <= eta_l**2, SIZES, Decide(), "the divisor is at least the number of steps"),
    Step(
        "bound >= 0",
        bound >= 0,
        ("domain P2_gen", "domain own_grad2_0", "domain own_noise_0"),
        Decide(),
        "no negative term",
    ),
    Step("drift >= 0", drift >= 0, ("7.3", "drift", *COUNTS), Decide(), "a mean of squares"),
    Step(
        "7",
        sp.Le(drift, 2 * step**2 * T**2 * (L**2 * drift + bound)),
        ("7.1", "7.3", "4", "drift", *SIZES),
        Combine({"7.1": 1 / T, "4": 2 * step**2 / T, "7.3": step**2 * L**2 * (T + 1)}),
        "T (T - 1)/2 <= T^2",
    ),
    Step(
        "8",
        sp.Le(drift, 2 * eta_l**2 * (L**2 * drift + bound)),
        ("7", "T step", "bound >= 0", "drift >= 0", "domain L"),
        Decide(),
        "in terms of eta_l",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation; the condition on the local step is the statement's."""
    ending = (
        Step("own", own_share <= half, ("condition local step", "domain L", "domain eta_l"), Decide(), "the condition"),
        Step(
            "conclusion",
            sp.Le(drift, statement.bound),
            ("8", "own", "domain L", "domain eta_l"),
            Combine({"8": 1 / (1 - own_share)}),
            "solved for the drift",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        (*VISIT, *SECOND, *ENDING, *ending),
        conclusion="conclusion",
        target=drift,
        drawn=DRAWN,
        laws=(ORDER,),
    )
