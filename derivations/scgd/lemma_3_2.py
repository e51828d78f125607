"""The proof of Lemma 3.2 (Chung) as checked steps: comparison with a sequence of explicit rate.

    k = K1 + m  the index, from a K1 on that is at least k0 and a       u(k)  the sequence
    level       b/(a - 2)                                               C     K1^a u(K1)

w(k) = level/k^2 + C k^(-a) satisfies w(k+1) >= (1 - a/k) w(k) + b/k^3, so that u stays below it. Then k^2 u(k) is at
most level + C k^(2-a), which tends to level.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, functions, le, symbols
from boundcheck.proof.rules import BernoulliPower, LimitSuperior, PositivePower

READINGS = ("corrected",)

a, b, m, k0, K1, C, first, limit = symbols("a b m k0 K1 C first limit")
u = functions("u")
k, level = K1 + m, b / (a - 2)


def below(steps: Any) -> Any:
    """The sequence is at most the other one, as a claim."""
    return le(u(K1 + steps), level / (K1 + steps)**2 + C * (K1 + steps)**-a)


def derivation(statement: Any) -> Any:
    """The derivation."""
    p = Proof(statement, limit)
    p.count("k0", k0 >= 1, "where the recursion begins to hold")
    p.count("K1", sp.And(K1 >= 1, K1 >= k0, K1 >= a), "some whole number that is large enough")
    p.index(m, None, "steps after K1")
    p.define(C, K1**a * first, "factor of the sequence that vanishes faster")
    p.known("first", eq(first, u(K1)), "the sequence at K1")
    p.assume("at K1", "chung_recursion", u(K1) >= 0, "u_k >= 0 for k >= k0")
    p.assume("recursion", "chung_recursion", u(k + 1) <= (1 - a / k) * u(k) + b / k**3,
        "the recursion at k = K1 + m, which is at least k0")

    p.signs(a > 2, why="the condition")
    p.signs(b >= 0, why="its domain")
    p.step("k > 0", k > 0, why="K1 >= 1")
    p.step("next > 0", k + 1 > 0, why="K1 >= 1")
    p.step("k >= a", a / k <= 1, why="K1 >= a")
    p.step("level >= 0", level >= 0, "a > 2", "b >= 0", why="a > 2")
    p.rule("power > 0", PositivePower(K1, a), why="a power of K1")
    p.signs(C >= 0, "C", "first", "at K1", "power > 0", why="a product of such")
    p.rule("k^a > 0", PositivePower(k, a), "k > 0", why="a power of it")
    p.rule("next^a > 0", PositivePower(k + 1, a), "next > 0", why="a power of it")
    p.rule("power", BernoulliPower(k, a), "k > 0", "a > 2", why="the tangent of k^(-a)")
    p.step("square", 1 / (k + 1)**2 >= (1 - 2 / k) / k**2, "k > 0", why="the tangent of k^(-2)")
    p.induct("below", below, m, m, "a > 2", "b >= 0", why="for every k >= K1", names=("base", "step"),
        base=("C", "first", "level >= 0", "power > 0", "a > 2", "b >= 0"),
        step=({"recursion": 1, "hypothesis": 1 - a / k, "power": C, "square": level}, "a > 2", "b >= 0", "k > 0",
            "next > 0", "k^a > 0", "next^a > 0", "k >= a", "level >= 0", "C >= 0"),
        words=("the sequence at K1", "w(k+1) >= (1 - a/k) w(k) + b/k^3"))
    p.step("rate", le(k**2 * u(k), level + C * k**(2 - a)), "below", "k > 0", "a > 2", "b >= 0", why="times k^2")
    p.rule("limit", LimitSuperior("rate", limit, k**2 * u(k), level, C, K1, a - 2, m), "rate", "a > 2",
        why="k^(2-a) tends to 0")
    p.ends_with("limit")
    return p.done()
