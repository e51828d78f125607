"""The proof of Lemma 7 (asynchronous federated learning, Appendix B.1, (99)) as checked steps.

j = 0, ..., J-1 counts the kinds of data in W_n, and a = 0, ..., A-1 the others. Points are relative to x.

    st(j), e(j)  share of kind j in L^n; its share in F is (1 + e(j)) st(j)    G(j)  gradient of F_j at x
    ra(a)        share of an absent kind in F                                  H(a)  gradient of F_a at x
    C(j), B(a)   e(j) st(j) G(j) and ra(a) H(a)         v, w  the sums of C and of B
    f(j), fs(j)  F_j(x) and its infimum                 fa(a), fas(a)  those of an absent kind

The sum over W_n is bounded as by Cauchy and Schwarz with the weights st(j): |v|^2 <= chi2 times the sum of st |G|^2.
This follows from the squares st(j) |G(j) - t e(j) v|^2 >= 0 at t = 1/(chi2 + eps), and the limit of eps to 0.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.rules import Jensen, Limit, SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import smooth_clients

READINGS = ("as_printed",)

L, q, chi2_n, gap_n, spread_n, absent = sp.symbols("L q chi2_n gap_n spread_n absent", real=True)
J, A, j, a, far, least, eps = sp.symbols("J A j a far least eps", real=True)
st, e, f, fs, low = (sp.Function(name, real=True)(j) for name in ("st", "e", "f", "fs", "low"))
ra, fa, fas, lowa = (sp.Function(name, real=True)(a) for name in ("ra", "fa", "fas", "lowa"))
G, C, H, B = vector("G", j), vector("C", j), vector("H", a), vector("B", a)
v, w, origin = vector("v"), vector("w"), Vector(())
half, chi = sp.Rational(1, 2), total(e**2 * st, j, J)
squares, gaps = total(st * norm2(G), j, J), total(st * (f - fs), j, J)


def _model(name: str, which: Any, gradient: Vector, value: Any, lower: Any) -> Fact:
    here = Evaluation("f_i", origin, gradient, value, which=which)
    return upper_model(
        name, smooth_clients, "to x - grad/L", here, Evaluation("f_i", gradient * (-1 / L), value=lower, which=which)
    )


FACTS = (
    Fact("kinds", J >= 1, "count", "kinds of data in the round"),
    Fact("absent kinds", A >= 0, "count", "kinds of data that are not in the round"),
    Fact("index j", sp.And(j >= 0, j <= J - 1), "index", "kinds in the round"),
    Fact("index a", sp.And(a >= 0, a <= A - 1), "index", "absent kinds"),
    Fact("range eps", sp.And(eps > 0, eps < 1), "range", "which tends to 0"),
    Fact("C", VectorEquality(C, G * (e * st)), "definition", "a term of the first sum of (101)"),
    Fact("B", VectorEquality(B, H * ra), "definition", "a term of the second"),
    Fact("v", VectorEquality(v, vector_total(C, j, J)), "definition", "the first sum of (101)"),
    Fact("w", VectorEquality(w, vector_total(B, a, A)), "definition", "the second"),
    Fact("far", sp.Eq(far, norm2(vector_total(C, j, J) + vector_total(B, a, A))), "metric", "(100)"),
    Fact("chi2", sp.Le(chi, chi2_n), "metric", "what chi2 is"),
    Fact("gap", sp.Eq(gap_n, q * total(st * f, j, J) - least), "metric", "L^n is q times the sum of st F_j"),
    Fact("spread", sp.Eq(spread_n, least - q * total(st * fs, j, J)), "metric", "least is the minimum of L^n"),
    Fact("absent", sp.Eq(absent, total(ra * (fa - fas), a, A)), "metric", "the gaps of the absent kinds"),
    Fact("st > 0", st > 0, "metric", "a kind in the round has a weight"),
    Fact("ra >= 0", ra >= 0, "metric", "a share"),
    Fact("shares", sp.Le(total(ra, a, A), 1), "metric", "of the shares in F, which sum to 1"),
    Fact("infimum", low - fs >= 0, "metric", "fs is the infimum"),
    Fact("infimum, absent", lowa - fas >= 0, "metric", "fas is the infimum"),
    _model("smooth", j, G, f, low),
    _model("smooth, absent", J + a, H, fa, lowa),
)
PRESENT = (
    Step(
        "square",
        sp.Ge(norm2(G - v * (e / (chi2_n + eps))), 0, evaluate=False),
        ("domain chi2_n", "range eps"),
        Combine({}, (e, st)),
        "a squared norm",
    ),
    Step(
        "kind",
        sp.Ge(st * norm2(G) - 2 * inner(C, v) / (chi2_n + eps) + e**2 * st * norm2(v) / (chi2_n + eps) ** 2, 0),
        ("square", "C", "st > 0", "domain chi2_n", "range eps"),
        Combine({"square": st}, (e, st)),
        "times its weight",
    ),
    Step(
        "kinds together",
        sp.Ge(
            total(st * norm2(G) - 2 * inner(C, v) / (chi2_n + eps) + e**2 * st * norm2(v) / (chi2_n + eps) ** 2, j, J),
            0,
        ),
        ("kind", "kinds", "domain chi2_n", "range eps"),
        SumOver("kind", j, J),
        "all kinds in the round",
    ),
    Step(
        "present, eps",
        sp.Le(norm2(v), (chi2_n + eps) * squares),
        ("kinds together", "v", "chi2", "domain chi2_n", "range eps"),
        Combine({"kinds together": chi2_n + eps}, (chi,)),
        "2 - chi2/(chi2 + eps) >= 1",
    ),
    Step(
        "present",
        sp.Le(norm2(v), chi2_n * squares),
        ("present, eps",),
        Limit("present, eps", eps),
        "the Cauchy-Schwarz inequality with weights",
    ),
    Step(
        "slope",
        sp.Le(st * norm2(G), 2 * L * st * (f - fs)),
        ("smooth", "infimum", "st > 0", "domain L"),
        Combine({"smooth": 2 * L * st, "infimum": 2 * L * st}, (st,)),
        "of a smooth function that is bounded below",
    ),
    Step("slopes", sp.Le(squares, 2 * L * gaps), ("slope", "kinds", "domain L"), SumOver("slope", j, J), "all of them"),
)
ABSENT = (
    Step("square, absent", sp.Ge(norm2(H - w), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "kind, absent",
        sp.Ge(2 * L * ra * (fa - fas) - 2 * inner(B, w) + ra * norm2(w), 0),
        ("square, absent", "B", "smooth, absent", "infimum, absent", "ra >= 0", "domain L"),
        Combine({"square, absent": ra, "smooth, absent": 2 * L * ra, "infimum, absent": 2 * L * ra}, (ra,)),
        "times its share",
    ),
    Step(
        "kinds together, absent",
        sp.Ge(total(2 * L * ra * (fa - fas) - 2 * inner(B, w) + ra * norm2(w), a, A), 0),
        ("kind, absent", "absent kinds", "domain L"),
        SumOver("kind, absent", a, A),
        "all absent kinds",
    ),
    Step(
        "others",
        sp.Le(norm2(w), 2 * L * absent),
        ("kinds together, absent", "w", "absent", "shares", "domain L"),
        Combine({"kinds together, absent": 1}, (total(ra, a, A),)),
        "their shares sum to 1 at most",
    ),
)
ENDING = (
    Step(
        "(102)",
        sp.Le(norm2(v + w), 2 * norm2(v) + 2 * norm2(w)),
        (),
        Jensen((half, half), (v * 2, w * 2)),
        "two sums",
    ),
    Step(
        "conclusion",
        sp.Le(far, 4 * L * chi2_n * (gap_n + spread_n) / q + 4 * L * absent),
        (
            *("(102)", "present", "slopes", "others", "far", "v", "w", "gap", "spread"),
            *("domain L", "domain q", "domain chi2_n"),
        ),
        Combine({"(102)": 1, "present": 2, "slopes": 2 * chi2_n, "others": 2}),
        "(103)",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of the printed reading."""
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        (*PRESENT, *ABSENT, *ENDING),
        conclusion="conclusion",
        target=far,
        quantities=frozenset({"absent"}),
    )
