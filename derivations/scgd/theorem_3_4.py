"""The proof of Theorem 3.4 (S. Ma, semi-cyclic gradient descent): Lemma 3.1 in every cycle, then Chung's comparison.

    u(k)  squared distance to the solution set when cycle k is about to start, which has the step eta0/k
    k     K1 + m, from a K1 on where the step condition of Lemma 3.1 holds      s0  total step of the first cycle
    y     the root in that condition, and x what it must exceed: the total step is at most y less something

The comparison with level/k^2 + C k^(-a) is that of `scgd/lemma_3_2`, for these a and b. The printed reading leaves
the mean of sigma_i^2, here noise, out of b.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.lemma import Lemma
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.weaker import taken
from boundcheck.theory.discovery import statement as find_statement

READINGS = ("corrected", "as_printed")

mu, L, n, E, eta, eta0, sigma2, dist2_0 = sp.symbols("mu L n E eta eta0 sigma2 dist2_0", real=True)
a, b, m, K1, C, first, s0, c, limit, noise, x, y = sp.symbols("a b m K1 C first s0 c limit noise x y", real=True)
u: Any = sp.Function("u", real=True)
k = K1 + m
LEMMA = "scgd/lemma_3_1/corrected"
SCOPE = tuple(f"domain {name}" for name in ("mu", "L", "n", "E", "eta0", "1"))

TOTAL = Fact("s0", sp.Eq(s0, n * E * eta0), "definition", "total step of the first cycle")
FACTS = (
    Fact("a", sp.Eq(a, mu * s0 / 3), "definition", "contraction constant of the recursion"),
    Fact(
        "K1",
        sp.And(K1 >= 1, sp.Ge(K1, a), sp.Ge(K1, 14 * L**2 * s0 / mu)),
        "count",
        "some whole number that is large enough",
    ),
    Fact("index m", m >= 0, "index", "cycles after the first K1"),
    Fact("C", sp.Eq(C, K1**a * first), "definition", "factor of the sequence that vanishes faster"),
    Fact("first", sp.Eq(first, u(K1)), "metric", "the squared distance at K1"),
    Fact("u >= 0", u(k) >= 0, "metric", "a squared distance"),
    Fact("at K1", u(K1) >= 0, "metric", "a squared distance"),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    lemma, chung = find_statement(LEMMA), derivation_of("scgd/lemma_3_2/corrected")
    printed = statement.reading == "as_printed"
    spread, positive = (noise, "noise >= 0") if printed else (sigma2, "domain sigma2")
    means = {dist2_0: u(k), **({sigma2: noise} if printed else {})}
    step = {eta: eta0 / k}
    constant = Fact(
        "b",
        sp.Eq(b, 4 * L**2 * s0**3 * (1 if printed else sigma2) / mu),
        "definition",
        "noise constant of the recursion",
    )
    missing = Fact("noise >= 0", noise >= 0, "range", "any mean of the sigma_i^2")
    small = lemma.conditions[0].relation.xreplace(step)
    (root,) = (power for power in small.atoms(sp.Pow) if power.exp == sp.Rational(1, 2))
    (largest,) = (side for side in small.rhs.args if side.has(root))  # the largest total step that has a root
    sides = (
        Fact("x", sp.Eq(x, mu / (14 * L**2) + root - largest), "definition", "what the root must exceed"),
        Fact("y", sp.Eq(y, root), "definition", "the root in the condition of Lemma 3.1"),
    )
    own = ("a > 2", "b >= 0")
    steps = (
        Step("s0 > 0", s0 > 0, ("s0", *SCOPE), Decide(), "a product of positive numbers"),
        Step("a > 2", a > 2, ("a", "s0", "condition first step"), Decide(), "the condition"),
        Step("b >= 0", b >= 0, ("b", "s0 > 0", positive, *SCOPE), Decide(), "a product of such"),
        *taken(chung, "k > 0", without=("k0",)),
        Step(
            "small",
            14 * L**2 * s0 / k <= mu,
            ("K1", "index m", "k > 0", "s0 > 0", *SCOPE),
            Decide(),
            "from K1 on",
        ),
        Step("small times L", 14 * L**2 * s0 <= L * k, ("small", "k > 0", *SCOPE), Decide(), "mu is at most L"),
        Step("small over L", 14 * L * s0 <= k, ("small times L", *SCOPE), Decide(), "divided by L"),
        Step("x >= 0", x >= 0, ("x", *SCOPE), Decide(), "mu is at most L"),
        Step("y >= 0", y >= 0, ("y", *SCOPE), Decide(), "a root"),
        Step("squares", x**2 <= y**2, ("x", "y", *SCOPE), Decide(), "1/14^2 + 1/28 is below 1/24"),
        Step("root", x <= y, ("x >= 0", "y >= 0", "squares"), Decide(), "roots grow with what they are taken of"),
        Step(
            "step condition",
            small,
            ("small", "small over L", "root", "x", "y", "s0", "k > 0", *SCOPE),
            Decide(),
            "that of Lemma 3.1",
        ),
        Step(
            "cycle",
            sp.Le(u(k + 1), lemma.bound.xreplace(step | means)),
            ("step condition", "u >= 0", "k > 0", positive, *SCOPE),
            Lemma(LEMMA, u(k + 1), means, {"eta": eta0 / k}),
            "Lemma 3.1 with the step of the cycle",
        ),
        Step(
            "noise",
            4 * L**2 * (n * E * eta0 / k) ** 3 / mu * spread <= b / k**3,
            ("b", "s0", "k > 0", positive, *SCOPE),
            Decide(),
            "the mean of sigma_i^2 is left out" if printed else "in terms of b",
        ),
        Step(
            "recursion",
            sp.Le(u(k + 1), (1 - a / k) * u(k) + b / k**3),
            ("cycle", "noise", "a", "s0", "k > 0", "domain mu"),
            Combine({"cycle": 1, "noise": 1}),
            "in terms of a and b",
        ),
        *(s for s in taken(chung, without=("k0",)) if s.name not in (*own, "k > 0")),
        Step(
            "bound",
            sp.Le(b / (a - 2), statement.bound),
            ("a", "b", "s0", *own, "s0 > 0", *SCOPE),
            Decide(),
            "a and b written out",
        ),
        Step(
            "conclusion",
            sp.Le(limit, statement.bound),
            ("limit", "bound", "s0", "a", "condition first step", *SCOPE),
            Combine({"limit": 1, "bound": 1}),
            "together",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *((missing,) if printed else ()), TOTAL, constant, *sides, *FACTS),
        steps,
        conclusion="conclusion",
        target=limit,
        rounds=((u(c), n * (c - 1)),),
    )
