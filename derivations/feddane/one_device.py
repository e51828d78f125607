"""One device in the proof of Theorem 7 (FedDANE, Appendix V-F), as checked steps: the upper model at its point.

Vectors are random and <u, v> is the expectation of their inner product. Points are relative to w^{t-1}.

    slope  gradient of f at w^{t-1}    v  exact minimiser of the subproblem    d  the point that the device returns
    g      mean gradient of S_t        h  change of grad F_k from w^{t-1} to v

With gamma_k + e and L_k + e for gamma_k and L_k where one divides by them; e goes to 0.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.rules import Limit
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import VectorEquality, inner, norm2, vector

READINGS = ("corrected",)


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


L_f, inv, gam, lip, grad2, product, square, factor = _symbols("L_f inv gam lip grad2 product square factor")
e, model = _symbols("e model")
slope, g, v, d, h = (vector(name) for name in ("slope", "g", "v", "d", "h"))

DRAWN = ((slope, 0), *((one, 1) for one in (g, v, d, h)))  # S_t, and the local solver
FACTS = (
    Fact("e", sp.And(e > 0, e < 1), "range", "what is added to gamma_k and L_k"),
    Fact("model", sp.Eq(model, inner(slope, d) + L_f / 2 * norm2(d)), "metric", "without the value at w^{t-1}"),
    Fact("gradient", sp.Eq(grad2, norm2(slope)), "metric", "squared gradient norm"),
    Fact("product", sp.Eq(product, inner(slope, g)), "metric", "expected inner product"),
    Fact("square", sp.Eq(square, norm2(g)), "metric", "second moment"),
    Fact("optimality", VectorEquality(v, -(g + h) * inv), "algorithm", "the exact minimiser of the subproblem"),
    Fact("smooth", sp.Le(norm2(h), lip**2 * norm2(v)), "assumption", "F_k is L_k-smooth", "smooth_device"),
    Fact("convex", sp.Ge(inner(h, v), 0), "assumption", "its gradient is monotone", "convex_device"),
    Fact("inexact", sp.Le(norm2(d - v), gam**2 * norm2(v)), "assumption", "Definition 1", "inexact_device"),
)
near, room = gam + e, lip + e
each = norm2(slope) + norm2(g)
GAMMA = ("domain gam", "e")
half = sp.Rational(1, 2)
spread = (lip * inv**2 + gam * inv) / 2
moved = L_f * (1 + gam) ** 2 * inv**2 / 2

STEPS = (
    Step(
        "length of v",
        sp.Le(norm2(v), inv**2 * norm2(g)),
        ("optimality", "convex", "domain inv"),
        Combine({"convex": 2 * inv}),
        "the subproblem is mu_k-strongly convex",
    ),
    Step(
        "error",
        sp.Le(norm2(d - v), near**2 * norm2(v)),
        ("inexact", *GAMMA),
        Combine({"inexact": 1}),
        "Definition 1 with a little more than gamma_k",
    ),
    Step(
        "length.1",
        sp.Le(norm2(d), (1 + near) ** 2 * norm2(v)),
        ("error", *GAMMA),
        Combine({"error": (1 + near) / near}),
        "the triangle inequality",
    ),
    Step("length", sp.Le(norm2(d), (1 + gam) ** 2 * norm2(v)), ("length.1",), Limit("length.1", e), "for gamma_k"),
    Step(
        "error.1",
        sp.Le(2 * inner(slope, d - v), near * inv * each),
        ("error", "length of v", "domain inv", *GAMMA),
        Combine({"error": 1 / (near * inv), "length of v": near / inv}),
        "<slope, d - v> <= gamma_k |slope| |g|/mu_k",
    ),
    Step("error.2", sp.Le(2 * inner(slope, d - v), gam * inv * each), ("error.1",), Limit("error.1", e), "for gamma_k"),
    Step(
        "change.1",
        sp.Le(-2 * inner(slope, h), room * inv * each),
        ("smooth", "length of v", "domain inv", "domain lip", "e"),
        Combine({"smooth": 1 / (room * inv), "length of v": room / inv}),
        "<slope, h> >= -L_k |slope| |v|",
    ),
    Step("change", sp.Le(-2 * inner(slope, h), lip * inv * each), ("change.1",), Limit("change.1", e), "for L_k"),
    Step(
        "upper model",
        sp.Le(model, -inv * inner(slope, g) + spread * each + moved * norm2(g)),
        ("model", "optimality", "change", "error.2", "length", "length of v", "domain inv", "domain gam", "domain L_f"),
        Combine({"change": inv / 2, "error.2": half, "length": L_f / 2, "length of v": L_f * (1 + gam) ** 2 / 2}),
        "before the expectation",
    ),
    Step(
        "conclusion",
        sp.Le(model, -(inv - spread * (1 + factor) - moved * factor) * grad2),
        (
            *("upper model", "gradient", "product", "square", "condition unbiased", "condition second moment"),
            *(f"domain {name}" for name in ("inv", "gam", "lip", "L_f")),
        ),
        Combine({"upper model": 1, "condition unbiased": inv, "condition second moment": spread + moved}),
        "the moments of g",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation."""
    return Derivation(
        statement, (*scope_facts(statement), *FACTS), STEPS, conclusion="conclusion", target=model, drawn=DRAWN
    )
