"""Propositions and proofs as they are written: nothing changes its value, and every claim can be set."""

from __future__ import annotations

import pytest
import sympy as sp

from boundcheck.proof.discovery import derivation, shipped_readings
from boundcheck.proof.vectors import Inner, VectorEquality, inner, norm2, vector
from boundcheck.report.written import Norm2, folded, in_latex, in_words
from boundcheck.theory.mathml import latex_to_mathml

x, y, z = vector("x"), vector("y"), vector("z", sp.Symbol("i"))
a, i, n = sp.symbols("a i n")


def unfolded(expr):
    """Squared norms of a folded expression as inner products again."""

    def square(*args):
        pairs = list(zip(args[::2], args[1::2], strict=True))
        return sum(c * d * Inner(u, v) for c, u in pairs for d, v in pairs)

    return sp.expand(expr.replace(Norm2, square))


@pytest.mark.parametrize(
    "expr",
    [
        norm2(x - y),
        3 * norm2(x - y * 2 + z * a) - 5 * inner(x, z),
        norm2(x - y) + norm2(x + y),  # two squares that share what they are made of
        norm2(x - y) + inner(x, y),
        a * norm2(x) - 2 * a * inner(x, y) + 2 * a * norm2(y),  # no square: one product is too large
        sp.Sum(Inner(sp.Symbol("u"), sp.Symbol("v")), (i, 0, n - 1)),
    ],
)
def test_folding_keeps_the_value(expr):
    assert sp.expand(unfolded(folded(expr)) - sp.expand(expr)) == 0


def test_squares_are_found():
    assert in_words(sp.Le(norm2(x - y * 3 + z), 1)) == "|x - 3*y + z(i)|^2 <= 1"
    assert in_words(sp.Le(a * norm2(x - y) / 2, norm2(y))) == "a*|x - y|^2/2 <= |y|^2"
    sums = [sp.Sum(Inner(u, v), (i, 0, n - 1)) for u, v in ((f(i), g(i)) for f, g in PAIRS)]
    assert in_words(sp.Le(sums[0] - 2 * sums[1] + sums[2], 1)) == "sum[i = 0, ..., n - 1](|f(i) - g(i)|^2) <= 1"
    assert in_words(VectorEquality(x, y * -2)) == "x = -2*y"


f, g = sp.Function("f"), sp.Function("g")
PAIRS = ((f, f), (f, g), (g, g))


def test_every_claim_of_a_shipped_derivation_can_be_set():
    ids = [id for id in shipped_readings() if id.startswith(("fedshuffle/lemma_d_5/c", "scgd/lemma"))]
    count = 0
    for id in ids:
        found = derivation(id)
        for step in found.steps:
            assert in_words(step.claim)
            assert latex_to_mathml(in_latex(step.claim, found.statement)).startswith("<math")
            count += 1
    assert count > 40
