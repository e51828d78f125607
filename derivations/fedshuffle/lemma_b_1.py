"""The proof of Lemma B.1 (FedShuffle, Appendix B.1): strong convexity with the gradient at a perturbed point.

x, y, z  the points        grad  gradient of h at x        hx, hy, hz  values of h
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.rules import Jensen
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import inner, norm2, vector

READINGS = ("as_printed", "sharp")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


mu, L, rise, norm2_yz, norm2_zx = _symbols("mu L rise norm2_yz norm2_zx")
hx, hy, hz, product = _symbols("hx hy hz product")
x, y, z, grad = vector("x"), vector("y"), vector("z"), vector("grad")
half = sp.Rational(1, 2)
SMOOTH, CONVEX = "smooth_function", "strongly_convex_function"

FACTS = (
    Fact("product", sp.Eq(product, inner(grad, y - z)), "metric", "minus the left side as printed"),
    Fact("rise", sp.Eq(rise, hy - hz), "metric", "minus the difference as printed"),
    Fact("yz", sp.Eq(norm2_yz, norm2(y - z)), "metric", "squared distance"),
    Fact("zx", sp.Eq(norm2_zx, norm2(z - x)), "metric", "squared distance"),
    Fact("smooth", sp.Ge(inner(grad, z - x), hz - hx - L / 2 * norm2(z - x)), "assumption", "h is L-smooth", SMOOTH),
    Fact(
        "convex",
        sp.Ge(inner(grad, x - y), hx - hy + mu / 2 * norm2(y - x)),
        "assumption",
        "h is mu-strongly convex",
        CONVEX,
    ),
)

COMMON = (
    Step(
        "1.1",
        sp.Le(norm2(y - z), 2 * norm2(y - x) + 2 * norm2(x - z)),
        (),
        Jensen((half, half), ((y - x) * 2, (x - z) * 2)),
        "the relaxed triangle inequality",
    ),
    Step(
        "1",
        sp.Ge(mu / 2 * norm2(y - x), mu / 4 * norm2(y - z) - mu / 2 * norm2(x - z)),
        ("1.1", "domain mu"),
        Combine({"1.1": mu / 4}),
        "times mu/4",
    ),
    Step(
        "2",
        sp.Ge(inner(grad, z - y), hz - hy + mu / 4 * norm2(y - z) - (L + mu) / 2 * norm2(z - x)),
        ("1", "smooth", "convex"),
        Combine({"1": 1, "smooth": 1, "convex": 1}),
        "all inequalities together",
    ),
)

ROUNDED = (
    Step("0", sp.Ge(norm2(z - x), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "conclusion",
        sp.Le(product, rise - mu / 4 * norm2_yz + L * norm2_zx),
        ("2", "0", "product", "rise", "yz", "zx", "domain 1", "domain L"),
        Combine({"2": 1, "0": (L - mu) / 2}),
        "mu <= L",
    ),
)
SHARP = (
    Step(
        "conclusion",
        sp.Le(product, rise - mu / 4 * norm2_yz + (L + mu) / 2 * norm2_zx),
        ("2", "product", "rise", "yz", "zx"),
        Combine({"2": 1}),
        "in the lemma's words",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    steps = (*COMMON, *(SHARP if statement.reading == "sharp" else ROUNDED))
    return Derivation(statement, (*scope_facts(statement), *FACTS), steps, conclusion="conclusion", target=product)
