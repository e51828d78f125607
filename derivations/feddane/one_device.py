"""One device in the proof of Theorem 7 (FedDANE, Appendix V-F), as checked steps: the upper model at its point.

Vectors are random and <u, v> is the expectation of their inner product. Points are relative to w^{t-1}.

    slope  gradient of f at w^{t-1}    v  exact minimiser of the subproblem    d  the point that the device returns
    g      mean gradient of S_t        h  change of grad F_k from w^{t-1} to v

With gamma_k + e and L_k + e for gamma_k and L_k where one divides by them; e goes to 0.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.proof.rules import Limit
from boundcheck.proof.vectors import inner, norm2, vector

READINGS = ("corrected",)

L_f, inv, gam, lip, grad2, product, square, factor = symbols("L_f inv gam lip grad2 product square factor")
e, model = symbols("e model")
slope, g, v, d, h = (vector(name) for name in ("slope", "g", "v", "d", "h"))


def derivation(statement: Any) -> Any:
    """The derivation."""
    p = Proof(statement, model, drawn=((slope, 0), (g, 1), (v, 1), (d, 1), (h, 1)))  # S_t, and the local solver
    p.range("e", sp.And(e > 0, e < 1), "what is added to gamma_k and L_k")
    p.known("model", eq(model, inner(slope, d) + L_f / 2 * norm2(d)), "without the value at w^{t-1}")
    p.known("gradient", eq(grad2, norm2(slope)), "squared gradient norm")
    p.known("product", eq(product, inner(slope, g)), "expected inner product")
    p.known("square", eq(square, norm2(g)), "second moment")
    p.algorithm("optimality", eq(v, -(g + h) * inv), "the exact minimiser of the subproblem")
    p.assume("smooth", "smooth_device", norm2(h) <= lip**2 * norm2(v), "F_k is L_k-smooth")
    p.assume("convex", "convex_device", inner(h, v) >= 0, "its gradient is monotone")
    p.assume("inexact", "inexact_device", norm2(d - v) <= gam**2 * norm2(v), "Definition 1")

    near, room, each = gam + e, lip + e, norm2(slope) + norm2(g)
    p.step("length of v", norm2(v) <= inv**2 * norm2(g), {"convex": 2 * inv}, "optimality",
        why="the subproblem is mu_k-strongly convex")
    p.step("error", norm2(d - v) <= near**2 * norm2(v), {"inexact": 1},
        why="Definition 1 with a little more than gamma_k")
    p.step("length.1", norm2(d) <= (1 + near)**2 * norm2(v), {"error": (1 + near) / near},
        why="the triangle inequality")
    p.rule("length", Limit("length.1", e), "length.1", claim=norm2(d) <= (1 + gam)**2 * norm2(v), why="for gamma_k")
    p.step("error.1", 2 * inner(slope, d - v) <= near * inv * each,
        {"error": 1 / (near * inv), "length of v": near / inv}, why="<slope, d - v> <= gamma_k |slope| |g|/mu_k")
    p.rule("error.2", Limit("error.1", e), "error.1", claim=2 * inner(slope, d - v) <= gam * inv * each,
        why="for gamma_k")
    p.step("change.1", -2 * inner(slope, h) <= room * inv * each,
        {"smooth": 1 / (room * inv), "length of v": room / inv}, why="<slope, h> >= -L_k |slope| |v|")
    p.rule("change", Limit("change.1", e), "change.1", claim=-2 * inner(slope, h) <= lip * inv * each, why="for L_k")
    spread, moved = (lip * inv**2 + gam * inv) / 2, L_f * (1 + gam)**2 * inv**2 / 2
    p.step("upper model", model <= -inv * inner(slope, g) + spread * each + moved * norm2(g),
        {"change": inv / 2, "error.2": sp.Rational(1, 2), "length": L_f / 2, "length of v": L_f * (1 + gam)**2 / 2},
        "model", "optimality", why="before the expectation")
    p.conclude(model <= -(inv - spread * (1 + factor) - moved * factor) * grad2,
        {"upper model": 1, "condition unbiased": inv, "condition second moment": spread + moved},
        "gradient", "product", "square", why="the moments of g")
    return p.done()
