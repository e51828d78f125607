"""The proof of Lemma B.2 (FedShuffle, Appendix B.2) at any step: the linear rate with the exact sum of the weights.

    d(r)   the sequence, r counting from 0      part(r)  weighted sum of the first r increments    V(r)  of the weights

The weights v_r = (1 - mu eta)^(1-r) grow; both sums are multiplied by (1 - mu eta)^(r-1), so that only powers with a
positive exponent are left: part and V stand for these products.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import Induction, Supposing
from boundcheck.proof.step import Fact, Step

READINGS = ("fixed_step",)

mu, d0, c1, c2, K, eta, psi, r, f = sp.symbols("mu d0 c1 c2 K eta psi r f", real=True)
d: Any = sp.Function("d", real=True)
part: Any = sp.Function("part", real=True)
V: Any = sp.Function("V", real=True)

FACTS = (
    Fact("f", sp.Eq(f, 1 - mu * eta), "definition", "factor of the recursion"),
    Fact("index r", r >= 0, "index", "terms"),
    Fact("start", sp.Eq(d0, d(0)), "metric", "d_0"),
    Fact("psi", sp.Eq(psi * V(K), part(K)), "metric", "Psi is the weighted mean of the increments"),
    Fact("nothing", sp.Eq(part(0), 0), "metric", "an empty sum"),
    Fact("no weight", sp.Eq(V(0), 0), "metric", "an empty sum"),
    Fact("weight", sp.Eq(V(r + 1), f * V(r) + 1), "metric", "v_(r+1) times (1 - mu eta)^r is 1"),
    Fact(
        "increment",
        sp.Eq(part(r + 1), f * part(r) + f * d(r) / eta - d(r + 1) / eta + c1 * eta + c2 * eta**2),
        "metric",
        "the increment of r + 1, with v_(r+1) times (1 - mu eta)^r",
    ),
    Fact("last", d(K) >= 0, "assumption", "no member of the sequence is negative", "weighted_increments"),
)
SIZES = ("domain mu", "domain eta", "f > 0", "f < 1")


def after(terms: Any) -> Any:
    """What the first so many increments sum up to, as a claim."""
    return sp.Le(part(terms), (f**terms * d0 - d(terms)) / eta + (c1 * eta + c2 * eta**2) * V(terms), evaluate=False)


def weights(terms: Any) -> Any:
    """The sum of so many weights, as a claim."""
    return sp.Eq(V(terms), (1 - f**terms) / (1 - f), evaluate=False)


def power(terms: Any) -> Any:
    """f to the number of terms is at most this, as a claim."""
    return sp.Le(f**terms * (1 + terms * (1 - f)), 1, evaluate=False)


def positive(terms: Any) -> Any:
    """f to the number of terms is positive, as a claim."""
    return sp.Gt(f**terms, 0, evaluate=False)


def derivation(statement: Any) -> Derivation:
    """The derivation; the condition on the step is the statement's."""
    names = tuple(f"condition {c.name}" for c in statement.conditions)
    steps = (
        Step("f > 0", f > 0, ("f", *names, "domain mu", "domain eta"), Decide(), "the weights exist"),
        Step("f < 1", f < 1, ("f", "domain mu", "domain eta"), Decide(), "the recursion contracts"),
        Step("weights 0", weights(sp.Integer(0)), ("no weight", "f < 1"), Decide(), "no term"),
        Step(
            "weights r",
            sp.Implies(weights(r), weights(r + 1)),
            ("weight", "index r", *SIZES),
            Supposing(Decide()),
            "one more weight",
        ),
        Step(
            "weights",
            weights(K),
            ("weights 0", "weights r", "domain K", *SIZES),
            Induction("weights 0", "weights r", r, K),
            "the geometric sum",
        ),
        Step("sum 0", after(sp.Integer(0)), ("nothing", "no weight", "start", "domain eta"), Decide(), "no term"),
        Step(
            "sum r",
            sp.Implies(after(r), after(r + 1)),
            ("increment", "weight", "index r", *SIZES),
            Supposing(Decide()),
            "one more increment",
        ),
        Step(
            "sum",
            after(K),
            ("sum 0", "sum r", "domain K", *SIZES),
            Induction("sum 0", "sum r", r, K),
            "the sum telescopes",
        ),
        Step("positive 0", positive(sp.Integer(0)), (), Decide(), "1 > 0"),
        Step(
            "positive r",
            sp.Implies(positive(r), positive(r + 1)),
            ("index r", *SIZES),
            Supposing(Decide()),
            "a product of positive numbers",
        ),
        Step(
            "positive",
            positive(r),
            ("positive 0", "positive r", "index r", *SIZES),
            Induction("positive 0", "positive r", r, r),
            "every power is positive",
        ),
        Step("power 0", power(sp.Integer(0)), (), Decide(), "1 <= 1"),
        Step(
            "power r",
            sp.Implies(power(r), power(r + 1)),
            ("positive", "index r", *SIZES),
            Supposing(Decide()),
            "f (1 + (r + 1)(1 - f)) <= 1 + r (1 - f)",
        ),
        Step(
            "power",
            power(K),
            ("power 0", "power r", "domain K", *SIZES),
            Induction("power 0", "power r", r, K),
            "Bernoulli's inequality, so that f^K < 1",
        ),
        Step(
            "conclusion",
            sp.Le(psi, mu * d0 * f**K / (1 - f**K) + c1 * eta + c2 * eta**2),
            ("f", "sum", "weights", "power", "psi", "last", "domain K", *SIZES),
            Decide(),
            "over the sum of the weights; the last member is dropped",
        ),
    )
    return Derivation(statement, (*scope_facts(statement), *FACTS), steps, conclusion="conclusion", target=psi)
