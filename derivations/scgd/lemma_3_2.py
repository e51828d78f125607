"""The proof of Lemma 3.2 (Chung) as checked steps: comparison with a sequence of explicit rate.

    k = K1 + m  the index, from a K1 on that is at least k0 and a       u(k)  the sequence
    level       b/(a - 2)                                               C     K1^a u(K1)

w(k) = level/k^2 + C k^(-a) satisfies w(k+1) >= (1 - a/k) w(k) + b/k^3, so that u stays below it. Then k^2 u(k) is at
most level + C k^(2-a), which tends to level.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import BernoulliPower, Induction, LimitSuperior, PositivePower, Supposing
from boundcheck.proof.step import Fact, Step

READINGS = ("corrected",)

a, b, m, k0, K1, C, first, limit = sp.symbols("a b m k0 K1 C first limit", real=True)
u: Any = sp.Function("u", real=True)
k = K1 + m
level = b / (a - 2)

FACTS = (
    Fact("k0", k0 >= 1, "count", "where the recursion begins to hold"),
    Fact("K1", sp.And(K1 >= 1, sp.Ge(K1, k0), sp.Ge(K1, a)), "count", "some whole number that is large enough"),
    Fact("index m", m >= 0, "index", "steps after K1"),
    Fact("C", sp.Eq(C, K1**a * first), "definition", "factor of the sequence that vanishes faster"),
    Fact("first", sp.Eq(first, u(K1)), "metric", "the sequence at K1"),
    Fact("at K1", u(K1) >= 0, "assumption", "u_k >= 0 for k >= k0", "chung_recursion"),
    Fact(
        "recursion",
        sp.Le(u(k + 1), (1 - a / k) * u(k) + b / k**3),
        "assumption",
        "the recursion at k = K1 + m, which is at least k0",
        "chung_recursion",
    ),
)


def below(steps: Any) -> Any:
    """The sequence is at most the other one, as a claim."""
    return sp.Le(u(K1 + steps), level / (K1 + steps) ** 2 + C * (K1 + steps) ** -a, evaluate=False)


SCOPE = ("a > 2", "b >= 0")
COMPARISON = (
    Step("a > 2", a > 2, ("condition contraction",), Decide(), "the condition"),
    Step("b >= 0", b >= 0, ("domain b",), Decide(), "its domain"),
    Step("k > 0", k > 0, ("index m", "K1"), Decide(), "K1 >= 1"),
    Step("next > 0", k + 1 > 0, ("index m", "K1"), Decide(), "K1 >= 1"),
    Step("k >= a", a / k <= 1, ("index m", "K1"), Decide(), "K1 >= a"),
    Step("level >= 0", level >= 0, SCOPE, Decide(), "a > 2"),
    Step("power > 0", sp.Gt(K1**a, 0, evaluate=False), ("K1",), PositivePower(K1, a), "a power of K1"),
    Step("C >= 0", C >= 0, ("C", "first", "at K1", "power > 0"), Decide(), "a product of such"),
    *(
        Step(name, sp.Gt(base**a, 0, evaluate=False), ("k > 0", "next > 0"), PositivePower(base, a), "a power of it")
        for name, base in (("k^a > 0", k), ("next^a > 0", k + 1))
    ),
    Step(
        "power",
        sp.Ge((k + 1) ** -a, (1 - a / k) * k**-a, evaluate=False),
        ("k > 0", "a > 2"),
        BernoulliPower(k, a),
        "the tangent of k^(-a)",
    ),
    Step("square", sp.Ge(1 / (k + 1) ** 2, (1 - 2 / k) / k**2), ("k > 0",), Decide(), "the tangent of k^(-2)"),
    Step(
        "base",
        below(sp.Integer(0)),
        ("C", "first", "level >= 0", "K1", "power > 0", *SCOPE),
        Decide(),
        "the sequence at K1",
    ),
    Step(
        "step",
        sp.Implies(below(m), below(m + 1)),
        (
            "recursion",
            "power",
            "square",
            *SCOPE,
            "k > 0",
            "next > 0",
            "k^a > 0",
            "next^a > 0",
            "k >= a",
            "level >= 0",
            "C >= 0",
        ),
        Supposing(Combine({"recursion": 1, "hypothesis": 1 - a / k, "power": C, "square": level})),
        "w(k+1) >= (1 - a/k) w(k) + b/k^3",
    ),
    Step(
        "below",
        below(m),
        ("base", "step", "index m", "K1", *SCOPE),
        Induction("base", "step", m, m),
        "for every k >= K1",
    ),
    Step(
        "rate",
        sp.Le(k**2 * u(k), level + C * k ** (2 - a), evaluate=False),
        ("below", "k > 0", *SCOPE),
        Decide(),
        "times k^2",
    ),
    Step(
        "limit",
        sp.Le(limit, level),
        ("rate", "K1", "index m", "a > 2"),
        LimitSuperior("rate", limit, k**2 * u(k), level, C, K1, a - 2, m),
        "k^(2-a) tends to 0",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation."""
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        COMPARISON,
        conclusion="limit",
        target=limit,
    )
