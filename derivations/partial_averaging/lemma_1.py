"""The proof of Lemma 1 (partial model averaging, Appendix B) as checked steps.

Vectors are random and <u, v> is the expectation of their inner product. r counts the iterations that are done, i the
clients. A vector whose name ends in l has the blocks of the one without it, times the roots of the L_j.

    s(r)     gradient of F at u, the averaged model     b(r, i)   p_i times the gradient of F_i at its own model x_i
    g(r, i)  its stochastic form, so that u' = u - eta (g(r, 0) + ... + g(r, m-1))
    c(r, k)  grad F_i(u) of a client that is drawn with the weights p_i       cx(r, k)  grad F_i(x_i) of the same client
    gap(r)   expected gap at u                          apart(r)  sum of p_i L_j^2 E|u_j - x_ij|^2

The identity (21) is used for the sum of the b(r, i), not worker by worker, so that the clients may differ. The printed
reading takes Assumption 1 block by block, so that (19) and (30) are no instances of it but steps, which fail for

    F = Lmax (one^2 + other^2)/2 + across one other,    two blocks of one number, 0 <= across <= Lmax,

whose gradient is Lmax-Lipschitz in each block, and which is convex.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import Expected
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.laws import Draws
from boundcheck.proof.rules import Accumulation, SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import block_variance, bounded_below, smooth_weighted

READINGS = ("corrected", "as_printed")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


eta, K, m, Lmax, sum_p2, noise, gap_0, apart_mean = _symbols("eta K m Lmax sum_p2 sum_L_sigma2 gap_0 L2_discrepancy")
r, i, k, mean = _symbols("r i k mean")
gap: Any = sp.Function("gap", real=True)
p2: Any = sp.Function("p2", real=True)(i)  # p_i^2
apart: Any = sp.Function("apart", real=True)(r)
s, g, gl, b, bl = (vector("s", r), *(vector(name, r, i) for name in ("g", "gl", "b", "bl")))
c, cx, move, AVERAGED = vector("c", r, k), vector("cx", r, k), vector("move", r), vector("B", r)
u, x = Vector(()), vector("x", r, k)  # the averaged model, to which points are relative, and that of the drawn client
G, GL, B, BL = (vector_total(one, i, m) for one in (g, gl, b, bl))
CLIENTS = Draws("client", "averages_as_objective", ((c, s), (cx, AVERAGED), (x, u)), (s, AVERAGED, b), time=r)
NOISE = Draws("noise", "block_variance", ((g, b), (gl, bl)), (b, bl, s), time=r)

FACTS = (
    Fact("index r", sp.And(r >= 0, r <= K - 1), "index", "iterations"),
    Fact("clients", m >= 1, "count", "the clients"),
    Fact("index i", sp.And(i >= 0, i <= m - 1), "index", "clients"),
    Fact("B", VectorEquality(AVERAGED, B), "definition", "the averaged gradient"),
    Fact("move", VectorEquality(move, GL * eta), "definition", "the step of the averaged model, scaled"),
    Fact("mean", sp.Eq(mean, total(norm2(s), r, K) / K), "metric", "over u_1, ..., u_K"),
    Fact("discrepancy", sp.Eq(apart_mean, total(apart, r, K) / K), "metric", "as measured"),
    Fact("start", sp.Eq(gap_0, gap(0)), "metric", "the gap of the common start"),
    Fact("weights", sp.Eq(sum_p2, total(p2, i, m)), "metric", "what sum_p2 is"),
    Fact("largest", sp.Le(norm2(BL), Lmax * norm2(B)), "metric", "every L_j is at most Lmax"),
    pointwise("bounded", bounded_below, "inf F is finite", gap=gap(K)),
    upper_model(
        "descent",
        smooth_weighted,
        "(19) for u' = u - eta g: a Hessian whose square is at most diag(L_j^2) is at most diag(L_j)",
        Evaluation("F", u, s, gap(r)),
        Evaluation("F", G * -eta, value=gap(r + 1)),
        scaled_move2=norm2(move),
    ),
    pointwise(
        "noise",
        block_variance,
        "(23) to (26), the blocks added up with the weights L_j",
        draw_deviation2=gl - bl,
        weight2=p2,
        deviation2=noise,
    ),
    pointwise(
        "smooth",
        smooth_weighted,
        "one inequality over all blocks, for the client's objective without its linear part at its own model",
        Evaluation("f_i", u, c.at(k, 0), which=r),
        Evaluation("f_i", x.at(k, 0), cx.at(k, 0), which=r),
        scaled_difference2=apart,
    ),
)
SIZES = ("domain eta", "domain Lmax", "condition step size")
HALF = sp.Rational(1, 2)


STEPS = (
    Step("square", sp.Ge(norm2((c - cx).at(k, 0) - s + AVERAGED), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "(30)",
        sp.Le(norm2(s - AVERAGED), apart),
        ("square", "smooth"),
        Expected(("client",), Combine({"smooth": 1, "square": 1})),
        "Jensen's inequality over the clients",
    ),
    Step(
        "(22)",
        sp.Ge(2 * inner(s, B), norm2(s) + norm2(B) - apart),
        ("(30)", "B"),
        Combine({"(30)": 1}),
        "2 <a, b> = |a|^2 + |b|^2 - |a - b|^2",
    ),
    Step(
        "one client",
        sp.Le(norm2(gl) - norm2(bl), p2 * noise),
        ("noise",),
        Expected(("noise",), Combine({"noise": 1})),
        "the noise has mean 0",
    ),
    Step(
        "all clients",
        sp.Le(total(norm2(gl) - norm2(bl), i, m), total(p2, i, m) * noise),
        ("one client", "clients"),
        SumOver("one client", i, m),
        "independent noise of the clients",
    ),
    Step(
        "step",
        sp.Le(norm2(GL), norm2(BL) + sum_p2 * noise),
        ("all clients", "weights", "clients"),
        Expected(("noise",), Combine({"all clients": 1})),
        "(23) to (26)",
    ),
    Step("unbiased", sp.Ge(inner(s, G), inner(s, B)), ("clients",), Expected(("noise",), Combine()), "E g is the mean"),
    Step(
        "decrease",
        sp.Le(gap(r + 1), gap(r) - eta / 2 * norm2(s) + eta / 2 * apart + eta**2 / 2 * sum_p2 * noise),
        ("descent", "move", "unbiased", "step", "largest", "(22)", *SIZES),
        Combine({"descent": 1, "unbiased": eta, "step": eta**2 / 2, "largest": eta**2 / 2, "(22)": eta / 2}),
        "eta Lmax <= 1 leaves nothing of |gb|^2",
    ),
    Step(
        "(28)",
        sp.Le(
            gap(K),
            gap(0) + total(-eta / 2 * norm2(s) + eta / 2 * apart + eta**2 / 2 * sum_p2 * noise, r, K),
        ),
        ("decrease", "domain K"),
        Accumulation("decrease", gap(r), r, K),
        "all iterations",
    ),
    Step(
        "conclusion",
        sp.Le(mean, 2 * gap_0 / (eta * K) + eta * sum_p2 * noise + apart_mean),
        ("(28)", "mean", "discrepancy", "start", "bounded", "domain K", "domain eta"),
        Combine({"(28)": 2 / (eta * K), "bounded": 2 / (eta * K)}),
        "(18)",
    ),
)


one, other, across = _symbols("one other across")
COUPLED = (
    Step(
        "(19) for coupled blocks",
        sp.Le(Lmax * (one**2 + other**2) / 2 + across * one * other, Lmax * (one**2 + other**2) / 2, evaluate=False),
        ("across", "domain Lmax"),
        Decide(),
        "F at the move (one, other) from its minimum, by the sum of L_j/2 times the squares of the blocks",
    ),
    Step(
        "(30) for coupled blocks",
        sp.Le(
            (Lmax * one + across * other) ** 2 + (Lmax * other + across * one) ** 2,
            Lmax**2 * (one**2 + other**2),
            evaluate=False,
        ),
        ("across", "domain Lmax"),
        Decide(),
        "the difference of its gradients there, by the sum of L_j^2 times the squares of the blocks",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    printed = statement.reading == "as_printed"
    facts, steps = FACTS, STEPS
    if printed:
        slips = {"descent": COUPLED[0], "smooth": COUPLED[1]}
        facts = (
            Fact("across", sp.And(across >= 0, across <= Lmax), "range", "how two blocks may be coupled"),
            Fact("equal weights", sp.Eq(sum_p2, 1 / m), "definition", "all clients have the same weight"),
            *(f for f in FACTS if f.name not in (*slips, "clients")),
        )
        steps = (
            *COUPLED,
            *(
                Step(f.name, f.claim, (slips[f.name].name,), Combine(), "as if Assumption 1 gave it")
                for f in FACTS
                if f.name in slips
            ),
            Step("clients", m >= 1, ("domain m",), Decide(), "the clients"),
            *(replace(s, uses=(*s.uses, "equal weights", "domain m")) for s in STEPS),
        )
    return Derivation(
        statement, (*scope_facts(statement), *facts), steps, conclusion="conclusion", target=mean, laws=(CLIENTS, NOISE)
    )
