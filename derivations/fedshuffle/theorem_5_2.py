"""The proof of Theorem 5.2 (FedShuffleMVR) from Lemma D.5: the error of the first momentum.

Vectors are random and <u, v> is the expectation of their inner product.

    n(j)  gradient of the client of warm-up round j at x^0, minus grad f(x^0)    p(k)  n(0) + ... + n(k-1)
    fi(j), f  these gradients    first  squared error of the first momentum, the mean of the gradients fi(j)
    mean  what the theorem bounds
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.lemma import Lemma
from boundcheck.proof.rules import Induction, Supposing
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import gradient_dissimilarity

READINGS = ("corrected", "as_printed")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


L, G2, B2, sigma2, E, R, eta_l, delta, a, warm_up = _symbols("L G2 B2 sigma2 E R eta_l delta a warm_up")
gap_0, h2_0, first, mean, j = _symbols("gap_0 h2_0 first mean j")
n, fi, p, f = vector("n", j), vector("fi", j), vector("p", j), vector("f")
origin = Vector(())

DRAWN = ((f, 0), (p, j), (fi, j + 1))
FACTS = (
    Fact("index j", j >= 0, "index", "rounds of the warm-up"),
    Fact("n", VectorEquality(n, fi - f), "definition", "deviation of the sampled gradient"),
    Fact("nothing", VectorEquality(p.at(j, 0), origin), "algorithm", "no round of the warm-up"),
    Fact("next", VectorEquality(p.at(j, j + 1), p + n), "algorithm", "one more"),
    Fact("by weight", sp.Ge(inner(fi, f), norm2(f)), "algorithm", "a client drawn by weight: the mean of fi is f"),
    Fact("independent", sp.Le(inner(p, n), 0), "algorithm", "drawn independently of the rounds before, of mean 0"),
    Fact(
        "momentum", sp.Le(warm_up**2 * first, norm2(p.at(j, warm_up))), "algorithm", "m^0 is the mean of the gradients"
    ),
    Fact("first >= 0", first >= 0, "metric", "a squared norm"),
    pointwise(
        "A3.3",
        gradient_dissimilarity,
        "(4), for a client drawn by weight",
        Evaluation("F", origin, f),
        client_grad2=norm2(fi),
    ),
)
SIZES = tuple(
    f"domain {name}" for name in ("L", "G2", "B2", "P2", "sigma2", "E", "eta_l", "delta", "a", "warm_up", "R")
)


def after(rounds: Any) -> Any:
    """The squared error after so many rounds of the warm-up, as a claim."""
    return sp.Le(norm2(p.at(j, rounds)), rounds * G2, evaluate=False)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    printed = statement.reading == "as_printed"
    names = tuple(f"condition {c.name}" for c in statement.conditions if c.name != "warm-up")
    warm = ("condition warm-up",) if printed else ()
    steps = (
        Step(
            "deviation",
            sp.Le(norm2(n), G2),
            ("A3.3", "by weight", "n", "condition B is 1"),
            Combine({"A3.3": 1, "by weight": 2}),
            "Assumption 3.3 with B = 1",
        ),
        Step("base case", after(sp.Integer(0)), ("nothing",), Combine(), "no round"),
        Step(
            "step case",
            sp.Implies(after(j), after(j + 1)),
            ("next", "independent", "deviation"),
            Supposing(Combine({"hypothesis": 1, "independent": 2, "deviation": 1})),
            "variances add up",
        ),
        Step(
            "warm-up",
            after(warm_up),
            ("base case", "step case", "domain warm_up"),
            Induction("base case", "step case", j, warm_up),
            "all rounds of the warm-up",
        ),
        Step(
            "first momentum",
            sp.Le(first, G2 / warm_up),
            ("warm-up", "momentum", "domain warm_up"),
            Combine({"momentum": 1 / warm_up**2, "warm-up": 1 / warm_up**2}),
            "a mean of so many has this variance",
        ),
        Step(
            "D.5",
            sp.Le(
                mean,
                5 * (gap_0 + sp.Rational(288, 23) * eta_l * E / a * first) / (eta_l * R * E)
                + 25 * eta_l**2 * L**2 * sigma2
                + 255 * a * G2,
            ),
            ("first >= 0", "domain gap_0", *names, *SIZES),
            Lemma("fedshuffle/lemma_d_5/corrected", mean, {gap_0: gap_0, h2_0: first}),
            "Lemma D.5 for this first momentum",
        ),
        Step(
            "conclusion",
            sp.Le(mean, statement.bound),
            ("D.5", "first momentum", *warm, *names, *SIZES),
            Combine({"D.5": 1, "first momentum": sp.Rational(1440, 23) / (a * R)}),
            "1440/23 <= 63" + (", and a <= 1" if printed else ""),
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        steps,
        conclusion="conclusion",
        target=mean,
        quantities=frozenset({"gap_0", "G2", "sigma2"}),
        rounds=((first, 0),),
        drawn=DRAWN,
    )
