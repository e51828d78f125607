"""Lemmas about numbers at other sizes than that which their files compare: 2 to 4 clients, vectors of 1 to 3 entries.

A claim about numbers computes its printed symbols from data of one small size. Here the symbols and the left side are
computed from random rational data of several sizes, straight from the definitions, and the printed right side is
evaluated at them.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from boundcheck.theory.decide import Point
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Kind

SIZES = [(n, d) for n in (2, 3, 4) for d in (1, 2, 3)]
Numbers = np.ndarray[Any, np.dtype[np.object_]]  # fractions
Case = tuple[Any, Mapping[str, Any]]  # the left side, and the symbols of the right side


def number(r: random.Random, low: int = -9, high: int = 9) -> Fraction:
    return Fraction(r.randint(low, high), r.randint(1, 9))


def numbers(r: random.Random, *shape: int, low: int = -9) -> Numbers:
    return np.array([number(r, low) for _ in range(math.prod(shape))], dtype=object).reshape(shape)


def weights(r: random.Random, n: int) -> Numbers:
    raw = numbers(r, n, low=1)
    return raw / raw.sum()


def square(x: Numbers) -> Fraction:
    """The sum of the squared entries."""
    return (x * x).sum()


def cross_terms(r: random.Random, n: int, d: int) -> Case:
    scaled = numbers(r, n, low=1)[:, None] * numbers(r, n, d)
    value = sum((scaled[i] @ scaled[j] for i, j in itertools.permutations(range(n), 2)), Fraction(0))
    return value, {"together": square(scaled.sum(axis=0)), "single": square(scaled)}


def surrogate_gradient(r: random.Random, n: int, d: int) -> Case:
    """n kinds of data take part and one does not; F_j(x) = L/2 sum of k_jl (x_l - o_jl)^2 with k between 0 and 1."""
    L, x, shares, s = number(r, 1), numbers(r, d), weights(r, n + 1), numbers(r, n, low=1)
    k = np.array([[Fraction(r.randint(1, 9), 9) for _ in range(d)] for _ in range(n + 1)], dtype=object)
    o, t = numbers(r, n + 1, d), s / s.sum()
    slopes = L * k * (x - o)

    def losses(y: Numbers) -> Numbers:
        return (k * (y - o) ** 2).sum(axis=1) * L / 2

    present = s[:, None] * k[:n]
    least = s @ losses((present * o[:n]).sum(axis=0) / present.sum(axis=0))[:n]
    return square(shares @ slopes - t @ slopes[:n]), {
        "L": L,
        "q": s.sum(),
        "chi2_n": ((shares[:n] - t) ** 2 / t).sum(),
        "gap_n": s @ losses(x)[:n] - least,
        "spread_n": least,  # every F_j* is 0
        "absent": shares[n] * losses(x)[n],
    }


def matrix_vector(r: random.Random, n: int, d: int) -> Case:
    """A = H D H' with a reflection H, so that its operator norm is the largest |D_ii|."""
    size = max(n, d)
    normal, own, b = numbers(r, size, low=1), numbers(r, size), numbers(r, size)

    def reflected(x: Numbers) -> Numbers:
        return x - 2 * (normal @ x) / square(normal) * normal

    return square(reflected(own * reflected(b))), {"norm_A": max(abs(own)), "norm2_b": square(b)}


def deviation(r: random.Random, n: int, d: int) -> Case:
    blocks = numbers(r, n, d)
    mean = blocks.sum(axis=0) / n
    return square(blocks - mean), {"m": n, "norm2_x": square(blocks), "norm2_mean": square(mean)}


def gradients(r: random.Random, shares: Numbers, d: int) -> tuple[Numbers, Numbers, Fraction]:
    """One vector for each share, their mean, which is not 0, and the mean of their squared norms."""
    found = numbers(r, len(shares), d)
    mean = shares @ found
    return (found, mean, shares @ (found * found).sum(axis=1)) if any(mean) else gradients(r, shares, d)


def dissimilarity(r: random.Random, n: int, d: int) -> Case:
    p = weights(r, n)
    g, mean, second = gradients(r, p, d)
    apart = p @ ((g - mean) ** 2).sum(axis=1)
    return sp.sqrt(exact(1 + apart / square(mean))), {"client_grad2_0": second, "grad2_0": square(mean)}


def draws(r: random.Random, n: int, d: int, K: int) -> Case:
    """K draws with the probabilities p, by all n^K outcomes."""
    p = weights(r, n)
    g, mean, second = gradients(r, p, d)
    outcomes = [list(drawn) for drawn in itertools.product(range(n), repeat=K)]
    value = sum((math.prod(p[o]) * square(g[o].sum(axis=0) / K - mean) for o in outcomes), Fraction(0))
    return value, {"K": K, "B2": second / square(mean), "grad2_0": square(mean)}


def cohorts(r: random.Random, n: int, d: int) -> Case:
    K = r.randint(1, n)
    g, mean, second = gradients(r, np.array([Fraction(1, n)] * n, dtype=object), d)
    found = [square(g[list(own)].sum(axis=0) / K - mean) for own in itertools.combinations(range(n), K)]
    return sum(found, Fraction(0)) / len(found), {"K": K, "n": n, "B2": second / square(mean), "grad2_0": square(mean)}


def inexact(r: random.Random, n: int, d: int) -> Case:
    """d coordinates; the residual is small enough by the size of the solution."""
    lam, gap = number(r, 0), number(r, 1)
    s, e = 100 * numbers(r, d, low=1), numbers(r, d)
    curved = gap + numbers(r, d, low=0) / 9
    value = sp.sqrt(exact(square(e))) / sp.sqrt(exact(square(s)))
    return value, {"lam": lam, "mu": lam + gap, "residual2": square(curved * e), "moved2": square(s + e)}


def sequence(r: random.Random, n: int, d: int) -> Case:
    """Psi of n*d terms at the step of Lemma B.2, the step computed as its text says."""
    K, mu, c1, c2 = n * d, 1.0, r.choice([0.0, r.random()]), r.random()
    eta_max, d0 = r.uniform(1 / (2 * K), 1), 10 ** r.uniform(-2, 3)
    ratios = [mu**2 * K * d0 / c1 if c1 else math.inf, mu**3 * K**2 * d0 / c2]
    eta = min(eta_max, max(0.5, math.log(max(1.0, min(ratios)))) / (mu * K))
    members = np.array([d0, *(d0 * r.random() ** (k + 1) for k in range(K))])
    terms = ((1 - mu * eta) * members[:-1] - members[1:]) / eta + c1 * eta + c2 * eta**2
    value = float(np.average(terms, weights=(1 - mu * eta) ** -np.arange(K)))
    return value, {"K": K, "mu": mu, "c1": c1, "c2": c2, "eta_max": eta_max, "d0": d0}


def exact(value: Fraction) -> Any:
    return sp.Rational(value.numerator, value.denominator)


def sides(id: str, case: Case) -> tuple[Any, Any]:
    left, symbols = case
    bound = statement(id).bound
    if isinstance(left, float):
        return left, float(Point(bound, {name: Fraction(v) for name, v in symbols.items()}).accurate_ball(64).mid())
    right = bound.subs({sp.Symbol(name, real=True): exact(Fraction(v)) for name, v in symbols.items()})
    assert not right.free_symbols
    return (exact(left) if isinstance(left, Fraction) else left), right


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
        for _ in range(3):
            left, right = sides(id, CASES[id](r, n, d))
            if equality:
                assert left == right or sp.simplify(left**2 - right**2) == 0
            else:
                assert left <= right
            tightest = max(tightest, float(left / right) if right else 0.0)
    assert tightest > 0.05  # the two sides are of one size somewhere
