"""The proof of Lemma 3 (asynchronous federated learning, Appendix A.3, (61)), corrected, as checked steps.

A vector stands for the family of one vector a client, and <u, v> for the sum of qt_i(n) E<u_i, v_i>. Points are
relative to theta^n. k = 0, ..., K-1 counts the local steps, s = 0, ..., tau-1 the rounds before round n.

    y(k)  local model before step k      b(s)   the movement of round n-1-s where the client has missed it, else 0
    g(k)  stochastic gradient there      g0(k)  the same sample's gradient at theta^n
    star  theta-bar^n                    gs(k)  the same sample's gradient there
    Q(s)  E|theta^{n-s} - theta^{n-s-1}|^2
    f0(k), fs(k)  expected loss of the sample of step k, at theta^n and at theta-bar^n
    Y, S  sums over k of <y(k), y(k)> and <g(k), g(k)>
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, lower_model, pointwise, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import CauchySchwarz, Jensen, PartialSum, SumOver, Telescoping
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import convex_samples, smooth_samples

READINGS = ("corrected",)


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


L, K, eta_l, tau, q, Qs, Z, sg1 = _symbols("L K eta_l tau q Qs Z sg1")
k, s, phi = _symbols("k s phi")
Q, f0, fs, low = (sp.Function(name, real=True) for name in ("Q", "f0", "fs", "low"))
y, g, g0, gs = (vector(name, k) for name in ("y", "g", "g0", "gs"))
b, star = vector("b", s), vector("star")
f0, fs, low, Q = f0(k), fs(k), low(k), Q(s)
start, third, half = y.at(k, 0), sp.Rational(1, 3), sp.Rational(1, 2)
origin = y * 0
Y, S = total(norm2(y), k, K), total(norm2(g), k, K)
e = eta_l**2 * (K - 1) ** 2
drift = 6 * e * L**2

at_y = Evaluation("f_ij", y, g, which=k)
at_origin = Evaluation("f_ij", origin, g0, f0, which=k)
at_star = Evaluation("f_ij", star, gs, fs, which=k)
past = Evaluation("f_ij", (g0 - gs) * (-1 / L), value=low, which=k)
FACTS = (
    Fact("index k", sp.And(k >= 0, k <= K - 1), "index", "local steps"),
    Fact("index s", sp.And(s >= 0, s <= tau - 1), "index", "rounds before"),
    Fact("phi", sp.Eq(phi, Y / K), "metric", "mean over the local steps"),
    Fact("Z", sp.Ge(K * Z, q * total(f0 - fs, k, K)), "metric", "L^n has the weights q_i(n) = q qt_i(n)"),
    Fact("sg1", sp.Ge(K * sg1, total(norm2(gs), k, K)), "metric", "one sample a step, all drawn alike"),
    Fact("Qs", sp.Eq(Qs, total(Q, s, tau)), "metric", "the movements of the last rounds"),
    Fact("local step", VectorEquality(y.at(k, k + 1), y - g * eta_l), "algorithm", "a local step"),
    Fact("delay", VectorEquality(start, vector_total(b, s, tau) * -1), "algorithm", "the missed rounds, tau at most"),
    Fact("movement", sp.Le(norm2(b), Q), "algorithm", "the weights qt_i(n) sum to 1, and are drawn independently"),
    Fact(
        "optimal",
        sp.Le(total(inner(gs, star), k, K), 0),
        "metric",
        "theta-bar^n minimises L^n: the sum of qt_i(n) grad L_i is 0 there",
    ),
    pointwise("smooth", smooth_samples, "between y(k) and theta^n", at_y, at_origin),
    upper_model("smooth, 1", smooth_samples, "around theta^n", at_origin, past),
    lower_model("convex, 1", convex_samples, "around theta-bar^n", at_star, past),
)
DRAWN = ((b, 0), (star, 0), (y, k), (g, k + 1), (g0, k + 1), (gs, k + 1))
SIZES = ("domain L", "domain K", "domain eta_l")

MODELS = {"smooth, 1": 1, "convex, 1": 1}


def _total(claim: Any) -> Any:
    """The inequality summed over the local steps, as a claim."""
    return sp.Ge(total(claim.rhs - claim.lhs, k, K), 0)


distance = sp.Le(norm2(g0 - gs), 2 * L * (f0 - fs + inner(gs, star)))
gradient = sp.Le(norm2(g), 3 * L**2 * norm2(y) + 3 * norm2(g0 - gs) + 3 * norm2(gs))
model = sp.Le(norm2(y), 2 * norm2(start) + 2 * eta_l**2 * k * S)
STEPS = (
    Step(
        "split",
        sp.Le(norm2(g), 3 * norm2(g - g0) + 3 * norm2(g0 - gs) + 3 * norm2(gs)),
        (),
        Jensen((third, third, third), ((g - g0) * 3, (g0 - gs) * 3, gs * 3)),
        "(67)",
    ),
    Step("(68)", distance, ("smooth, 1", "convex, 1", "domain L"), Combine(dict.fromkeys(MODELS, 2 * L)), "Bregman"),
    Step("gradients", gradient, ("split", "smooth"), Combine({"split": 1, "smooth": 3}), "smoothness"),
    Step("(68), summed", _total(distance), ("(68)", "domain K"), SumOver("(68)", k, K), "all steps"),
    Step("gradients, summed", _total(gradient), ("gradients", "domain K"), SumOver("gradients", k, K), "all steps"),
    Step(
        "work",
        sp.Le(S, 3 * L**2 * Y + 6 * L * K * Z / q + 3 * K * sg1),
        ("gradients, summed", "(68), summed", "optimal", "Z", "sg1", "domain q", "domain L", "domain K"),
        Combine({"gradients, summed": 1, "(68), summed": 3, "optimal": 6 * L, "Z": 6 * L / q, "sg1": 3}),
        "S by phi",
    ),
    Step(
        "path",
        VectorEquality(y, start + vector_total(g * -eta_l, k, k)),
        ("local step", "index k"),
        Telescoping("local step", k, k),
        "(63)",
    ),
    Step(
        "halves",
        sp.Le(norm2(y), 2 * norm2(start) + 2 * eta_l**2 * norm2(vector_total(g, k, k))),
        ("path",),
        Jensen((half, half), (start * 2, vector_total(g, k, k) * (-2 * eta_l))),
        "delay and local work",
    ),
    Step(
        "squares",
        sp.Le(norm2(vector_total(g, k, k)), k * total(norm2(g), k, k)),
        ("index k",),
        CauchySchwarz(g, k, k),
        "k steps",
    ),
    Step("part", sp.Le(total(norm2(g), k, k), S), ("index k",), PartialSum(norm2(g), k, k, K), "k of K steps"),
    Step(
        "model",
        model,
        ("halves", "squares", "part", "index k", "domain eta_l"),
        Combine({"halves": 1, "squares": 2 * eta_l**2, "part": 2 * eta_l**2 * k}),
        "(69)",
    ),
    Step("model, summed", _total(model), ("model", "domain K"), SumOver("model", k, K), "all steps"),
    Step(
        "missed",
        sp.Le(norm2(vector_total(b, s, tau)), tau * total(norm2(b), s, tau)),
        ("domain tau",),
        CauchySchwarz(b, s, tau),
        "tau rounds",
    ),
    Step(
        "movements",
        sp.Ge(total(Q - norm2(b), s, tau), 0),
        ("movement", "domain tau"),
        SumOver("movement", s, tau),
        "the movement of each",
    ),
    Step(
        "delays",
        sp.Le(norm2(start), tau * Qs),
        ("delay", "missed", "movements", "Qs", "domain tau"),
        Combine({"missed": 1, "movements": tau}),
        "(66)",
    ),
    Step("counts", K * (K - 1) <= 2 * (K - 1) ** 2, ("domain K",), Decide(), "K is 1, or at least 2"),
    Step("S >= 0", sp.Ge(norm2(g), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step("S >= 0, summed", sp.Ge(S, 0, evaluate=False), ("S >= 0", "domain K"), SumOver("S >= 0", k, K), "and a sum"),
    Step(
        "display",
        sp.Le(Y, 2 * K * tau * Qs + 2 * e * S),
        ("model, summed", "delays", "counts", "S >= 0, summed", "domain K", "domain eta_l"),
        Combine({"model, summed": 1, "delays": 2 * K, "S >= 0, summed": eta_l**2 * (2 * (K - 1) ** 2 - K * (K - 1))}),
        "sum of k",
    ),
    Step(
        "conclusion",
        sp.Le(phi, 4 * tau * Qs + 4 * drift * Z / (L * q) + 12 * e * sg1),
        (
            "display",
            "work",
            "phi",
            "condition drift",
            "domain Z",
            "domain Qs",
            "domain sg1",
            "domain tau",
            "domain q",
            *SIZES,
        ),
        Combine({"display": 1 / (K * (1 - drift)), "work": 2 * e / (K * (1 - drift))}),
        "(70), divided by 1 - D, which is at least 1/2",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of the corrected reading."""
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        STEPS,
        conclusion="conclusion",
        target=phi,
        quantities=frozenset({"Qs", "Z", "sg1"}),
        drawn=DRAWN,
    )
