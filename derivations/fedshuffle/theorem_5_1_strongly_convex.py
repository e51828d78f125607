"""The proof of Theorem 5.1 (FedShuffle) with strong convexity: the recursion of a round, weighted over the rounds.

    dist2(t)  expected squared distance to the minimiser after t rounds    gap(t)   expected objective gap there
    f         factor of the recursion, 1 - mu et/2                         mean     weighted mean of the gaps
    part(t)   weighted sum of the first t gaps                             V(t)     sum of their weights

The weights f^(-t) grow; both sums are multiplied by f^(t-1), so that only powers with a positive exponent are left:
part and V stand for these products. Each reading uses the same reading of the recursion.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.lemma import Lemma
from boundcheck.proof.rules import Induction, Supposing
from boundcheck.proof.step import Fact, Step
from boundcheck.theory.discovery import statement as find_statement

READINGS = ("corrected", "sharp")

L, mu, G2, B2, P2, sigma2, M, E, eta_l, eta_g = sp.symbols("L mu G2 B2 P2 sigma2 M E eta_l eta_g", real=True)
dist2_0, gap_0, R, t, mean, f, share, noise = sp.symbols("dist2_0 gap_0 R t mean f share noise", real=True)
dist2: Any = sp.Function("dist2", real=True)
gap: Any = sp.Function("gap", real=True)
part: Any = sp.Function("part", real=True)
V: Any = sp.Function("V", real=True)
FACTOR = ("f > 0", "f < 1")


def after(rounds: Any) -> Any:
    """What the gaps of the first rounds sum up to, as a claim."""
    return sp.Le(share * part(rounds) + dist2(rounds), f**rounds * dist2_0 + noise * V(rounds), evaluate=False)


def weights(rounds: Any) -> Any:
    """The sum of the weights of the first rounds, as a claim."""
    return sp.Eq(V(rounds), (1 - f**rounds) / (1 - f), evaluate=False)


def power(rounds: Any) -> Any:
    """Bernoulli's inequality for the factor, as a claim."""
    return sp.Le(f**rounds * (1 + rounds * (1 - f)), 1, evaluate=False)


def positive(rounds: Any) -> Any:
    """A power of the factor is positive, as a claim."""
    return sp.Gt(f**rounds, 0, evaluate=False)


def _induction(name: str, claim: Any, uses: tuple[str, ...], start: tuple[str, ...], last: Any, text: str) -> Any:
    """Base, step and conclusion of an induction over the rounds."""
    return (
        Step(f"{name} 0", claim(sp.Integer(0)), start, Decide(), "no round"),
        Step(f"{name} t", sp.Implies(claim(t), claim(t + 1)), uses, Supposing(Decide()), "one more round"),
        Step(
            name,
            claim(last),
            (f"{name} 0", f"{name} t", *uses),
            Induction(f"{name} 0", f"{name} t", t, last),
            text,
        ),
    )


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    lemma = f"fedshuffle/recursion_convex/{statement.reading}"
    bound = find_statement(lemma).bound
    names = tuple(f"condition {c.name}" for c in statement.conditions)
    gap_share, factor = -bound.coeff(gap_0), bound.coeff(dist2_0)
    rest = sp.expand(bound - factor * dist2_0 + gap_share * gap_0)
    facts = (
        Fact("f", sp.Eq(f, factor), "definition", "factor of the recursion"),
        Fact("share", sp.Eq(share, gap_share), "definition", "coefficient of the gap in the recursion"),
        Fact("noise", sp.Eq(noise, rest), "definition", "what the recursion adds in a round"),
        Fact("index t", t >= 0, "index", "rounds"),
        Fact("start", sp.Eq(dist2_0, dist2(0)), "metric", "no round has been run at the start"),
        Fact("mean", sp.Eq(mean * V(R), part(R)), "metric", "the weighted mean over the rounds 0 to R - 1"),
        Fact("no gap", sp.Eq(part(0), 0), "metric", "an empty sum"),
        Fact("no weight", sp.Eq(V(0), 0), "metric", "an empty sum"),
        Fact("weight", sp.Eq(V(t + 1), f * V(t) + 1), "metric", "the weight of round t times f^t is 1"),
        Fact("term", sp.Eq(part(t + 1), f * part(t) + gap(t)), "metric", "the gap of round t, weighted likewise"),
        Fact("dist2 >= 0", dist2(t) >= 0, "metric", "a mean of squared norms"),
        Fact("last", dist2(R) >= 0, "metric", "a mean of squared norms"),
        Fact("gap >= 0", gap(t) >= 0, "metric", "F* is the infimum of F"),
    )
    steps = (
        Step("f < 1", f < 1, ("f",), Decide(), "the recursion contracts"),
        Step("f > 0", f > 0, ("f", *names), Decide(), "mu et is at most 1/4"),
        Step("share > 0", share > 0, ("share",), Decide(), "a product of positive numbers"),
        Step(
            "round",
            sp.Le(dist2(t + 1), factor * dist2(t) - gap_share * gap(t) + rest),
            ("dist2 >= 0", "gap >= 0", *names),
            Lemma(lemma, dist2(t + 1), {dist2_0: dist2(t), gap_0: gap(t)}),
            "the recursion in every round",
        ),
        Step(
            "recursion",
            sp.Le(dist2(t + 1), f * dist2(t) - share * gap(t) + noise),
            ("round", "f", "share", "noise"),
            Combine({"round": 1}),
            "in short",
        ),
        *_induction("weights", weights, ("weight", *FACTOR), ("no weight", *FACTOR), R, "a geometric sum"),
        *_induction("positive", positive, FACTOR, (), t, "every power is positive"),
        *_induction("power", power, ("positive", *FACTOR), (), R, "so that f^R < 1"),
        *_induction(
            "sum",
            after,
            ("recursion", "weight", "term", "share > 0", *FACTOR),
            ("no gap", "no weight", "start"),
            R,
            "the recursion, weighted and added up",
        ),
        Step(
            "short",
            sp.Le(mean, (1 - f) / share * dist2_0 * f**R / (1 - f**R) + noise / share),
            ("sum", "weights", "power", "mean", "last", "share > 0", *FACTOR),
            Decide(),
            "over the sum of the weights; the last distance is dropped",
        ),
        Step(
            "conclusion",
            sp.Le(mean, statement.bound, evaluate=False),
            ("short", "f", "share", "noise", *FACTOR, "power", *names),
            Combine({"short": 1}),
            "factor, coefficient and noise written out",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=mean,
        quantities=frozenset({"dist2_0"}),
        rounds=((dist2(t), t), (gap(t), t)),
    )
