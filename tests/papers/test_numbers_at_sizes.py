"""Lemmas about numbers at other sizes than that which their files compare: 2 to 4 clients, vectors of 1 to 3 entries.

A claim about numbers computes its printed symbols from data of one small size. Here the symbols and the left side are
computed from random rational data of several sizes, straight from the definitions, and the printed right side is
evaluated at them.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Kind

SIZES = [(n, d) for n in (2, 3, 4) for d in (1, 2, 3)]
Vector = Sequence[Fraction]
Case = tuple[Any, Mapping[str, Any]]  # the left side, and the symbols of the right side


def number(r: random.Random, low: int = -9, high: int = 9) -> Fraction:
    return Fraction(r.randint(low, high), r.randint(1, 9))


def vector(r: random.Random, d: int) -> list[Fraction]:
    return [number(r) for _ in range(d)]


def weights(r: random.Random, n: int) -> list[Fraction]:
    raw = [number(r, 1) for _ in range(n)]
    return [v / sum(raw) for v in raw]


def square(x: Vector) -> Fraction:
    return sum((v * v for v in x), Fraction(0))


def mixed(shares: Sequence[Fraction], vectors: Sequence[Vector]) -> list[Fraction]:
    return [
        sum((w * v for w, v in zip(shares, column, strict=True)), Fraction(0)) for column in zip(*vectors, strict=True)
    ]


def minus(x: Vector, y: Vector) -> list[Fraction]:
    return [a - b for a, b in zip(x, y, strict=True)]


def cross_terms(r: random.Random, n: int, d: int) -> Case:
    q, x = [number(r, 1) for _ in range(n)], [vector(r, d) for _ in range(n)]
    scaled = [[w * v for v in own] for w, own in zip(q, x, strict=True)]
    pairs = [(a, b) for i, a in enumerate(scaled) for j, b in enumerate(scaled) if i != j]
    value = sum((u * v for a, b in pairs for u, v in zip(a, b, strict=True)), Fraction(0))
    return value, {"together": square(mixed(q, x)), "single": sum(map(square, scaled), Fraction(0))}


def surrogate_gradient(r: random.Random, n: int, d: int) -> Case:
    """n kinds of data take part and one does not; F_j(x) = L/2 sum of k_jl (x_l - o_jl)^2 with k between 0 and 1."""
    L, x = number(r, 1), vector(r, d)
    shares, s = weights(r, n + 1), [number(r, 1) for _ in range(n)]
    k = [[Fraction(r.randint(1, 9), 9) for _ in range(d)] for _ in range(n + 1)]
    o = [vector(r, d) for _ in range(n + 1)]
    q = sum(s, Fraction(0))
    t = [v / q for v in s]
    slopes = [[L * a * (u - v) for a, u, v in zip(own, x, at, strict=True)] for own, at in zip(k, o, strict=True)]

    def loss(j: int, y: Vector) -> Fraction:
        return L / 2 * sum((a * (u - v) ** 2 for a, u, v in zip(k[j], y, o[j], strict=True)), Fraction(0))

    best = [
        sum((s[j] * k[j][m] * o[j][m] for j in range(n)), Fraction(0)) / sum(s[j] * k[j][m] for j in range(n))
        for m in range(d)
    ]
    least = sum((s[j] * loss(j, best) for j in range(n)), Fraction(0))
    value = square(minus(mixed(shares, slopes), mixed(t, slopes[:n])))
    return value, {
        "L": L,
        "q": q,
        "chi2_n": sum(((a - b) ** 2 / b for a, b in zip(shares, t, strict=False)), Fraction(0)),
        "gap_n": sum((s[j] * loss(j, x) for j in range(n)), Fraction(0)) - least,
        "spread_n": least,  # every F_j* is 0
        "absent": shares[n] * loss(n, x),
    }


def matrix_vector(r: random.Random, n: int, d: int) -> Case:
    """A = H D H' with a reflection H, so that its operator norm is the largest |D_ii|."""
    size = max(n, d)
    normal = [number(r, 1) for _ in range(size)]
    own, b = [number(r) for _ in range(size)], vector(r, size)

    def reflected(x: Vector) -> list[Fraction]:
        along = 2 * sum((u * v for u, v in zip(normal, x, strict=True)), Fraction(0)) / square(normal)
        return [v - along * u for u, v in zip(normal, x, strict=True)]

    product = reflected([w * v for w, v in zip(own, reflected(b), strict=True)])
    return square(product), {"norm_A": max(map(abs, own)), "norm2_b": square(b)}


def deviation(r: random.Random, n: int, d: int) -> Case:
    blocks = [vector(r, d) for _ in range(n)]
    mean = mixed([Fraction(1, n)] * n, blocks)
    value = sum((square(minus(x, mean)) for x in blocks), Fraction(0))
    return value, {"m": n, "norm2_x": sum(map(square, blocks), Fraction(0)), "norm2_mean": square(mean)}


def gradients(r: random.Random, shares: Sequence[Fraction], d: int) -> list[list[Fraction]]:
    """One vector for each share, whose mean is not 0."""
    found = [vector(r, d) for _ in shares]
    return found if any(mixed(shares, found)) else gradients(r, shares, d)


def dissimilarity(r: random.Random, n: int, d: int) -> Case:
    p = weights(r, n)
    g = gradients(r, p, d)
    mean = mixed(p, g)
    apart = sum((w * square(minus(x, mean)) for w, x in zip(p, g, strict=True)), Fraction(0))
    second = sum((w * square(x) for w, x in zip(p, g, strict=True)), Fraction(0))
    return sp.sqrt(exact(1 + apart / square(mean))), {"client_grad2_0": second, "grad2_0": square(mean)}


def draws(r: random.Random, n: int, d: int, K: int) -> Case:
    """K draws with the probabilities p, by all n^K outcomes."""
    p = weights(r, n)
    g = gradients(r, p, d)
    mean, value = mixed(p, g), Fraction(0)
    for drawn in itertools.product(range(n), repeat=K):
        plain = mixed([Fraction(1, K)] * K, [g[i] for i in drawn])
        value += math.prod((p[i] for i in drawn), start=Fraction(1)) * square(minus(plain, mean))
    second = sum((w * square(x) for w, x in zip(p, g, strict=True)), Fraction(0))
    return value, {"K": K, "B2": second / square(mean), "grad2_0": square(mean)}


def cohorts(r: random.Random, n: int, d: int) -> Case:
    K, alike = r.randint(1, n), [Fraction(1, n)] * n
    g = gradients(r, alike, d)
    mean = mixed(alike, g)
    found = [square(minus(mixed([Fraction(1, K)] * K, own), mean)) for own in itertools.combinations(g, K)]
    second = sum(map(square, g), Fraction(0)) / n
    return sum(found, Fraction(0)) / len(found), {"K": K, "n": n, "B2": second / square(mean), "grad2_0": square(mean)}


def inexact(r: random.Random, n: int, d: int) -> Case:
    """d coordinates; the residual is small enough by the size of the solution."""
    lam, gap = number(r, 0), number(r, 1)
    s, e = [100 * number(r, 1) for _ in range(d)], vector(r, d)
    curved = [gap + number(r, 0) / 9 for _ in range(d)]
    residual2 = square([c * v for c, v in zip(curved, e, strict=True)])
    moved2 = square([a + b for a, b in zip(s, e, strict=True)])
    value = sp.sqrt(exact(square(e))) / sp.sqrt(exact(square(s)))
    return value, {"lam": lam, "mu": lam + gap, "residual2": residual2, "moved2": moved2}


def sequence(r: random.Random, n: int, d: int) -> Case:
    """Psi of n*d terms at the step of Lemma B.2, the step computed as its text says."""
    K, mu, c1, c2 = n * d, 1.0, r.choice([0.0, r.random()]), r.random()
    eta_max, d0 = r.uniform(1 / (2 * K), 1), 10 ** r.uniform(-2, 3)
    ratios = [mu**2 * K * d0 / c1 if c1 else math.inf, mu**3 * K**2 * d0 / c2]
    eta = min(eta_max, max(0.5, math.log(max(1.0, min(ratios)))) / (mu * K))
    members = [d0, *(d0 * r.random() ** (k + 1) for k in range(K))]
    shares = [(1 - mu * eta) ** (1 - k) for k in range(1, K + 1)]
    terms = [((1 - mu * eta) * members[k - 1] - members[k]) / eta + c1 * eta + c2 * eta**2 for k in range(1, K + 1)]
    value = sum(w * v for w, v in zip(shares, terms, strict=True)) / sum(shares)
    return value, {"K": K, "mu": mu, "c1": c1, "c2": c2, "eta_max": eta_max, "d0": d0}


def exact(value: Fraction) -> Any:
    return sp.Rational(value.numerator, value.denominator)


def sides(id: str, case: Case) -> tuple[Any, Any]:
    left, symbols = case
    at = {
        sp.Symbol(name, real=True): sp.Float(v, 30) if isinstance(v, float) else exact(Fraction(v))
        for name, v in symbols.items()
    }
    right = statement(id).bound.subs(at)
    assert not right.free_symbols
    return (exact(left) if isinstance(left, Fraction) else sp.sympify(left)), right


CASES: dict[str, Callable[[random.Random, int, int], Case]] = {
    "async_fl/lemma_1_jensen/corrected": cross_terms,
    "async_fl/lemma_7/as_printed": surrogate_gradient,
    "partial_averaging/other_lemma_1/as_printed": matrix_vector,
    "partial_averaging/other_lemma_2/as_printed": deviation,
    "partial_averaging/other_lemma_2/sharp": deviation,
    "feddane/definition_1/certified": inexact,
    "feddane/definition_2/as_printed": dissimilarity,
    "feddane/equation_11/corrected": lambda r, n, d: draws(r, n, d, 1),
    "feddane/equation_11/sharp": lambda r, n, d: draws(r, n, d, r.choice([1, 2, 3])),
    "feddane/equation_11/uniform_without_replacement": cohorts,
    "fedshuffle/lemma_b_2/corrected": sequence,
}


@pytest.mark.parametrize("id", CASES)
def test_a_lemma_holds_at_every_size(id: str) -> None:
    r, equality = random.Random(id), statement(id).kind is Kind.EQUALITY
    tightest = 0.0
    for n, d in SIZES:
        for _ in range(1 if CASES[id] is sequence else 3):
            left, right = sides(id, CASES[id](r, n, d))
            if equality:
                assert left == right or sp.simplify(left**2 - right**2) == 0
            else:
                assert left <= right
            tightest = max(tightest, float(left / right) if right else 0.0)
    assert tightest > 0.05  # the two sides are of one size somewhere


@pytest.mark.parametrize(
    ("id", "wrong"),
    [
        ("async_fl/lemma_1_jensen/corrected", {"single": 2}),
        ("async_fl/lemma_7/as_printed", {"chi2_n": 0, "absent": 0}),
        ("partial_averaging/other_lemma_2/sharp", {"m": 2}),
        ("feddane/equation_11/sharp", {"K": 4}),
        ("feddane/equation_11/corrected", {"B2": "1/2"}),
        ("fedshuffle/lemma_b_2/corrected", {"c2": 0, "d0": "1/100"}),
    ],
)
def test_a_wrong_symbol_is_noticed(id: str, wrong: Mapping[str, Any]) -> None:
    """Symbols times a factor other than 1 no longer fit, at some size."""
    r, equality, noticed = random.Random(0), statement(id).kind is Kind.EQUALITY, False
    for n, d in SIZES:
        left, symbols = CASES[id](r, n, d)
        changed = {k: v * type(v)(Fraction(wrong[k])) if k in wrong else v for k, v in symbols.items()}
        value, right = sides(id, (left, changed))
        noticed |= bool(value != right) if equality else bool(value > right)
    assert noticed
