"""The proof of Lemma 2 (asynchronous federated learning, Appendix A.3, (56)) as checked steps.

Vectors are random and <u, v> is the expectation of their inner product. i = 0, ..., M-1 counts the clients, and
k = 0, ..., K-1 their local steps. Points are relative to x, the minimiser of the surrogate problem.

    here, then  the global model before and after round n     g(i, k)  stochastic gradient of client i in step k
    gb(i)       mean of g(i, k) over k                         a(i)     w_i gb(i), with the random weight w_i
    p(i), d(i)  q_i(n) = E w_i, and what w_i is when client i takes part      z(i)  p(i) gb(i)

The weights are drawn independently of the models and of the gradients, so that the cross term has their means, and the
square of the step is that of Lemma 1, here with gamma_i = p(i) (d(i) - alpha p(i)) by the law of the weights.

The printed reading is about the virtual models v(k) = theta^{n,k} less x, with

    B(k), Y(k)  sum of w_i g(i, k), and of q_i g(i, k)      own(k)  sum of q_i |g(i, k)|^2

The weights are the same in all steps of a round. So v(k) depends on them for k > 0, and (59), which has their means in
the cross term, does not follow from what is known of them.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import Expected
from boundcheck.proof.gram import Combine
from boundcheck.proof.rules import Accumulation, CauchySchwarz, SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import VectorEquality, inner, norm2, vector
from boundcheck.proof.weights import Weights

READINGS = ("corrected", "as_printed")

K, eta_l, eta_g, alpha, beta, q, Rn, Sn = sp.symbols("K eta_l eta_g alpha beta q Rn Sn", real=True)
along, change, M, i, k = sp.symbols("inner change M i k", real=True)
p: Any = sp.Function("p", real=True)(i)
d: Any = sp.Function("d", real=True)(i)
g, gb, a, z = vector("g", i, k), vector("gb", i), vector("a", i), vector("z", i)
here, then = vector("here"), vector("then")
h = K * eta_g * eta_l
squares = total(norm2(g), k, K)  # of the steps of client i
own = p * d - alpha * p**2  # gamma_i

WEIGHTS = Weights(
    "weights",
    "covariance_of_weights",
    ((a, z),),
    (z, gb, g, here),
    weighted=(gb,),
    mean_weight=p,
    largest=d,
    correlation=alpha,
    clients=M,
)
DRAWN = ((here, 0), (g, 1), (a, 2), (vector_total(a, i, M), 2), (then, 2))
FACTS = (
    Fact("clients", M >= 1, "count", "clients"),
    Fact("index i", sp.And(i >= 0, i <= M - 1), "index", "clients"),
    Fact("index k", sp.And(k >= 0, k <= K - 1), "index", "local steps"),
    Fact("gb", VectorEquality(gb, vector_total(g, k, K) / K), "definition", "mean gradient of a client's local work"),
    Fact("z", VectorEquality(z, gb * p), "definition", "with the expected weight"),
    Fact("round", VectorEquality(then, here - vector_total(a, i, M) * h), "algorithm", "(6): a client sends K steps"),
    Fact("change", sp.Eq(change, norm2(then) - norm2(here)), "metric", "of the squared distance to x"),
    Fact("D", sp.Eq(along, inner(vector_total(z, i, M), here)), "metric", "D(x, n)"),
    Fact("R", sp.Eq(Rn, norm2(vector_total(z, i, M)) / q**2), "metric", "qt_i(n) = q_i(n)/q(n)"),
    Fact("S", sp.Eq(Sn, total(p * squares, i, M) / (q * K)), "metric", "qt_i(n) = q_i(n)/q(n)"),
    Fact("p >= 0", p >= 0, "metric", "a mean of weights"),
    Fact("beta", sp.Le(own, beta * p), "metric", "beta is the largest d_i - alpha q_i of those that can take part"),
)
STEPS = (
    Step(
        "(59)",
        sp.Le(change, -2 * h * along + h**2 * (alpha * q**2 * Rn + total(own * norm2(gb), i, M))),
        ("round", "change", "D", "R", "clients", "domain q"),
        Expected(("weights",), Combine()),
        "the square expanded; Lemma 1",
    ),
    Step(
        "mean",
        sp.Le(norm2(vector_total(g, k, K)), K * squares),
        ("domain K",),
        CauchySchwarz(g, k, K),
        "the square of a mean",
    ),
    Step("square", sp.Ge(norm2(gb), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "client",
        sp.Le(own * norm2(gb), beta / K * p * squares),
        ("mean", "square", "gb", "beta", "p >= 0", "domain K", "domain beta"),
        Combine({"mean": beta * p / K**2, "square": beta * p - own}, (p, d)),
        "gamma_i <= beta q_i",
    ),
    Step(
        "clients together",
        sp.Le(total(own * norm2(gb), i, M), beta / K * total(p * squares, i, M)),
        ("client", "clients", "domain K"),
        SumOver("client", i, M),
        "all clients",
    ),
    Step(
        "conclusion",
        sp.Le(change, -2 * h * along + h**2 * alpha * q**2 * Rn + h**2 * beta * q * Sn),
        ("(59)", "clients together", "S", "domain q", "domain K", "domain eta_l", "domain eta_g"),
        Combine({"(59)": 1, "clients together": h**2}),
        "(60) for a whole round",
    ),
)


et = eta_g * eta_l
v, B, Y = (vector(name, k) for name in ("v", "B", "Y"))
each: Any = sp.Function("own", real=True)(k)
DRAWN_PRINTED = ((v, k), (B, k + 1), (Y, 0))
FACTS_PRINTED = (
    Fact("index k", sp.And(k >= 0, k <= K - 1), "index", "local steps"),
    Fact("virtual step", VectorEquality(v.at(k, k + 1), v - B * et), "algorithm", "(7)"),
    Fact(
        "weights",
        sp.And(sp.Ge(inner(B, v.at(k, 0)), inner(Y, v.at(k, 0))), sp.Le(inner(B, v.at(k, 0)), inner(Y, v.at(k, 0)))),
        "algorithm",
        "q_i is the mean of w_i, on which theta^n does not depend",
    ),
    Fact(
        "squares",
        sp.Le(norm2(B), alpha * norm2(Y) + beta * each),
        "assumption",
        "Lemma 1 in step k, and gamma_i <= beta q_i",
        "covariance_of_weights",
    ),
    Fact("change", sp.Eq(change, (norm2(v.at(k, K)) - norm2(v.at(k, 0))) / K), "metric", "the mean over the steps"),
    Fact("D", sp.Eq(along, total(inner(Y, v), k, K) / K), "metric", "mean over the steps"),
    Fact("R", sp.Eq(Rn, total(norm2(Y), k, K) / (K * q**2)), "metric", "qt_i(n) = q_i(n)/q(n)"),
    Fact("S", sp.Eq(Sn, total(each, k, K) / (K * q)), "metric", "qt_i(n) = q_i(n)/q(n)"),
)
growth = -2 * et * inner(Y, v) + et**2 * (alpha * norm2(Y) + beta * each)
STEPS_PRINTED = (
    Step(
        "(58)",
        sp.Le(norm2(v.at(k, k + 1)), norm2(v) - 2 * et * inner(B, v) + et**2 * norm2(B)),
        ("virtual step",),
        Combine(),
        "the square expanded",
    ),
    Step(
        "(59)",
        sp.Le(-inner(B, v), -inner(Y, v)),
        ("virtual step", "weights", "domain eta_l", "domain eta_g"),
        Combine(),
        "the mean of the weights put in",
    ),
    Step(
        "(60)",
        sp.Le(norm2(v.at(k, k + 1)), norm2(v) + growth),
        ("(58)", "(59)", "squares", "domain eta_l", "domain eta_g"),
        Combine({"(58)": 1, "(59)": 2 * et, "squares": et**2}),
        "with Lemma 1",
    ),
    Step(
        "(60), steps",
        sp.Le(norm2(v.at(k, K)), norm2(v.at(k, 0)) + total(growth, k, K)),
        ("(60)", "domain K"),
        Accumulation("(60)", norm2(v), k, K),
        "all steps",
    ),
    Step(
        "conclusion",
        sp.Le(change, -2 * et * along + et**2 * alpha * q**2 * Rn + et**2 * beta * q * Sn),
        ("(60), steps", "change", "D", "R", "S", "domain K", "domain q"),
        Combine({"(60), steps": 1 / K}),
        "the mean over the steps",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    if statement.reading == "as_printed":
        facts = (*scope_facts(statement), *FACTS_PRINTED)
        return Derivation(statement, facts, STEPS_PRINTED, "conclusion", change, drawn=DRAWN_PRINTED)
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        STEPS,
        conclusion="conclusion",
        target=change,
        drawn=DRAWN,
        laws=(WEIGHTS,),
    )
