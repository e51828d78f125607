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

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, functions, ge, symbols
from boundcheck.proof.rules import Limit
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import smooth_clients

READINGS = ("as_printed",)

L, q, chi2_n, gap_n, spread_n, absent = symbols("L q chi2_n gap_n spread_n absent")
J, A, j, a, far, least, eps = symbols("J A j a far least eps")
st, e, f, fs, low = (x(j) for x in functions("st e f fs low"))
ra, fa, fas, lowa = (x(a) for x in functions("ra fa fas lowa"))
G, C, H, B, v, w = vector("G", j), vector("C", j), vector("H", a), vector("B", a), vector("v"), vector("w")
chi, squares = total(e**2 * st, j, J), total(st * norm2(G), j, J)


def derivation(statement: Any) -> Any:
    """The derivation of the printed reading."""
    p = Proof(statement, far, squares=(absent,))
    p.count("kinds", J >= 1, "kinds of data in the round")
    p.count("absent kinds", A >= 0, "kinds of data that are not in the round")
    p.index(j, J, "kinds in the round")
    p.index(a, A, "absent kinds")
    p.range("range eps", sp.And(eps > 0, eps < 1), "which tends to 0")
    p.define(C, G * (e * st), "a term of the first sum of (101)")
    p.define(B, H * ra, "a term of the second")
    p.define(v, vector_total(C, j, J), "the first sum of (101)")
    p.define(w, vector_total(B, a, A), "the second")
    p.known("far", eq(far, norm2(vector_total(C, j, J) + vector_total(B, a, A))), "(100)")
    p.known("chi2", chi <= chi2_n, "what chi2 is")
    p.known("gap", eq(gap_n, q * total(st * f, j, J) - least), "L^n is q times the sum of st F_j")
    p.known("spread", eq(spread_n, least - q * total(st * fs, j, J)), "least is the minimum of L^n")
    p.known("absent", eq(absent, total(ra * (fa - fas), a, A)), "the gaps of the absent kinds")
    p.known("st > 0", st > 0, "a kind in the round has a weight")
    p.known("ra >= 0", ra >= 0, "a share")
    p.known("shares", total(ra, a, A) <= 1, "of the shares in F, which sum to 1")
    p.known("infimum", low - fs >= 0, "fs is the infimum")
    p.known("infimum, absent", lowa - fas >= 0, "fas is the infimum")
    for name, which, slope, value, lower in (("smooth", j, G, f, low), ("smooth, absent", J + a, H, fa, lowa)):
        p.upper_model(name, smooth_clients, "to x - grad/L", Evaluation("f_i", Vector(()), slope, value, which=which),
            Evaluation("f_i", slope * (-1 / L), value=lower, which=which))

    in_round(p)
    others(p)
    p.square_of_sum("(102)", v, w, why="two sums")
    p.conclude(far <= 4 * L * chi2_n * (gap_n + spread_n) / q + 4 * L * absent,
        {"(102)": 1, "present": 2, "slopes": 2 * chi2_n, "others": 2}, "far", "v", "w", "gap", "spread", why="(103)")
    return p.done()


def in_round(p: Proof) -> None:
    """The first sum of (101)."""
    p.step("square", ge(norm2(G - v * (e / (chi2_n + eps))), 0), numbers=(e, st), why="a squared norm")
    p.step("kind", st * norm2(G) - 2 * inner(C, v) / (chi2_n + eps) + e**2 * st * norm2(v) / (chi2_n + eps)**2 >= 0,
        {"square": st}, "C", "st > 0", numbers=(e, st), why="times its weight")
    p.sum_over("kinds together", None, "kind", j, J, why="all kinds in the round")
    p.step("present, eps", norm2(v) <= (chi2_n + eps) * squares, {"kinds together": chi2_n + eps}, "v", "chi2",
        numbers=(chi,), why="2 - chi2/(chi2 + eps) >= 1")
    p.rule("present", Limit("present, eps", eps), "present, eps", claim=norm2(v) <= chi2_n * squares,
        why="the Cauchy-Schwarz inequality with weights")
    p.step("slope", st * norm2(G) <= 2 * L * st * (f - fs), {"smooth": 2 * L * st, "infimum": 2 * L * st}, "st > 0",
        numbers=(st,), why="of a smooth function that is bounded below")
    p.sum_over("slopes", squares <= 2 * L * total(st * (f - fs), j, J), "slope", j, J, why="all of them")


def others(p: Proof) -> None:
    """The second sum of (101)."""
    p.step("square, absent", ge(norm2(H - w), 0), why="a squared norm")
    p.step("kind, absent", 2 * L * ra * (fa - fas) - 2 * inner(B, w) + ra * norm2(w) >= 0,
        {"square, absent": ra, "smooth, absent": 2 * L * ra, "infimum, absent": 2 * L * ra}, "B", "ra >= 0",
        numbers=(ra,), why="times its share")
    p.sum_over("kinds together, absent", None, "kind, absent", a, A, why="all absent kinds")
    p.step("others", norm2(w) <= 2 * L * absent, {"kinds together, absent": 1}, "w", "absent", "shares",
        numbers=(total(ra, a, A),), why="their shares sum to 1 at most")
