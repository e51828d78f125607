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

from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.theory.discovery import statement as find_statement

READINGS = ("corrected", "as_printed")

mu, L, n, E, eta, eta0, sigma2, dist2_0 = symbols("mu L n E eta eta0 sigma2 dist2_0")
a, b, m, K1, C, first, s0, c, limit, noise, x, y = symbols("a b m K1 C first s0 c limit noise x y")
u = functions("u")
k = K1 + m
CYCLE, CHUNG = "scgd/lemma_3_1/corrected", "scgd/lemma_3_2/corrected"


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    printed, lemma, step = statement.reading == "as_printed", find_statement(CYCLE), {eta: eta0 / k}
    spread, positive = (noise, ("noise >= 0",)) if printed else (sigma2, ())
    means = {dist2_0: u(k), **({sigma2: noise} if printed else {})}
    small = lemma.conditions[0].relation.xreplace(step)  # the step condition in the cycle k
    (root,) = (power for power in small.atoms(sp.Pow) if power.exp == sp.Rational(1, 2))
    (largest,) = (side for side in small.rhs.args if side.has(root))  # the largest total step that has a root

    p = Proof(statement, limit, rounds=((u(c), n * (c - 1)),))
    if printed:
        p.range("noise >= 0", noise >= 0, "any mean of the sigma_i^2")
    p.define(s0, n * E * eta0, "total step of the first cycle")
    p.define(b, 4 * L**2 * s0**3 * (1 if printed else sigma2) / mu, "noise constant of the recursion")
    p.define(x, mu / (14 * L**2) + root - largest, "what the root must exceed")
    p.define(y, root, "the root in the condition of Lemma 3.1")
    p.define(a, mu * s0 / 3, "contraction constant of the recursion")
    p.count("K1", sp.And(K1 >= 1, K1 >= a, K1 >= 14 * L**2 * s0 / mu), "some whole number that is large enough")
    p.index(m, None, "cycles after the first K1")
    p.define(C, K1**a * first, "factor of the sequence that vanishes faster")
    p.known("first", eq(first, u(K1)), "the squared distance at K1")
    p.known("u >= 0", u(k) >= 0, "a squared distance")
    p.known("at K1", u(K1) >= 0, "a squared distance")

    p.signs(s0 > 0, "s0", why="a product of positive numbers")
    p.signs(a > 2, "a", "s0", why="the condition")
    p.signs(b >= 0, "b", "s0 > 0", *positive, why="a product of such")
    p.take_steps(CHUNG, "k > 0")
    p.step("small", 14 * L**2 * s0 / k <= mu, "k > 0", "s0 > 0", why="from K1 on")
    p.step("small times L", 14 * L**2 * s0 <= L * k, "small", "k > 0", why="mu is at most L")
    p.step("small over L", 14 * L * s0 <= k, "small times L", why="divided by L")
    p.signs(x >= 0, "x", why="mu is at most L")
    p.signs(y >= 0, "y", why="a root")
    p.step("squares", x**2 <= y**2, "x", "y", why="1/14^2 + 1/28 is below 1/24")
    p.step("root", x <= y, "x >= 0", "y >= 0", "squares", why="roots grow with what they are taken of")
    p.step("step condition", small, "small", "small over L", "root", "x", "y", "s0", "k > 0", why="that of Lemma 3.1")
    p.cite_mean("cycle", u(k + 1) <= lemma.bound.xreplace(step | means), CYCLE, u(k + 1), means, "step condition",
        "u >= 0", "k > 0", *positive, why="Lemma 3.1 with the step of the cycle", eta=eta0 / k)
    p.step("noise", 4 * L**2 * (n * E * eta0 / k)**3 / mu * spread <= b / k**3, "b", "s0", "k > 0", *positive,
        why="the mean of sigma_i^2 is left out" if printed else "in terms of b")
    p.step("recursion", u(k + 1) <= (1 - a / k) * u(k) + b / k**3, {"cycle": 1, "noise": 1}, "a", "s0", "k > 0",
        why="in terms of a and b")
    p.take_steps(CHUNG, skip=("a > 2", "b >= 0", "k > 0"))
    p.take_steps(CHUNG, "limit")
    p.step("bound", b / (a - 2) <= p.bound, "a", "b", "s0", "a > 2", "b >= 0", "s0 > 0", why="a and b written out")
    p.conclude(limit <= p.bound, {"limit": 1, "bound": 1}, "s0", "a", why="together")
    return p.done()
