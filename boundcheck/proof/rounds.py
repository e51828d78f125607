"""Steps that many theorems share: the recursion of a round, added up over the rounds, all alike or with weights.

t counts the rounds, R is their number, and `mean` is what the theorem bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp

from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.lemma import Lemma
from boundcheck.proof.rules import Accumulation, Induction, Supposing
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.theory.discovery import statement as find_statement

R, t, mean = sp.symbols("R t mean", real=True)
Proof = tuple[tuple[Fact, ...], tuple[Step, ...]]


def _coefficients(recursion: str, potential: Any, measure: Any, at: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """The bound of a recursion as factor * potential - share * measure + noise: factor, share and noise."""
    values = {sp.Symbol(name, real=True): value for name, value in at.items()}
    bound = sp.expand(find_statement(recursion).bound.subs(values))
    factor, share = bound.coeff(potential), -bound.coeff(measure)
    return factor, share, sp.expand(bound - factor * potential + share * measure)


def added_up(
    statement: Any,
    recursion: str,
    potential: tuple[Any, Callable[[Any], Any]],
    measure: tuple[Any, Any],
    own: tuple[Fact, ...],
    at: Mapping[str, Any] | None = None,
    before: tuple[Step, ...] = (),
) -> Proof:
    """Facts, and the steps "decrease", "sum", "share > 0" and "conclusion", for a plain mean over the rounds.

    potential, measure: symbol of the recursion, and what it is after t rounds (the potential as a function of t). own:
    facts that say what these are, among them "start", "last" and the signs, named "... >= 0". at: constants that are
    set in the recursion. before: steps that the recursion needs.
    """
    (old, value), (gained, gain) = potential, measure
    _, share, noise = _coefficients(recursion, old, gained, at or {})
    names = (*(f"condition {c.name}" for c in statement.conditions), *(s.name for s in before))
    signs = tuple(f.name for f in own if f.name.endswith(">= 0"))
    facts = (
        Fact("index t", sp.And(t >= 0, t <= R - 1), "index", "rounds"),
        Fact("mean", sp.Eq(mean, total(gain, t, R) / R), "metric", "over the rounds 0 to R - 1, all alike"),
        *own,
    )
    steps = (
        *before,
        Step(
            "decrease",
            sp.Le(value(t + 1), value(t) - share * gain + noise),
            (*signs, *names),
            Lemma(recursion, value(t + 1), {old: value(t), gained: gain}, dict(at or {})),
            "the recursion in every round",
        ),
        Step(
            "sum",
            sp.Le(value(R), value(0) + total(-share * gain + noise, t, R)),
            ("decrease",),
            Accumulation("decrease", value(t), t, R),
            "all rounds",
        ),
        Step("share > 0", share > 0, (), Decide(), "a product of positive numbers"),
        Step(
            "conclusion",
            sp.Le(mean, statement.bound),
            ("sum", "start", "mean", "last", "share > 0", *names),
            Combine({"sum": 1 / (share * R), "last": 1 / (share * R)}),
            "divided by R and by what a round gains",
        ),
    )
    return facts, steps


# weights f**(-t), for a recursion that contracts by the factor f

dist2_0, gap_0, f, share, noise = sp.symbols("dist2_0 gap_0 f share noise", real=True)
dist2: Any = sp.Function("dist2", real=True)
gap: Any = sp.Function("gap", real=True)
part: Any = sp.Function("part", real=True)  # weighted sum of the gaps of the first rounds, times f**(rounds - 1)
V: Any = sp.Function("V", real=True)  # the sum of their weights, times the same
FACTOR = ("f > 0", "f < 1")


def _after(rounds: Any) -> Any:
    """What the gaps of the first rounds sum up to, as a claim."""
    return sp.Le(share * part(rounds) + dist2(rounds), f**rounds * dist2_0 + noise * V(rounds), evaluate=False)


def _weights(rounds: Any) -> Any:
    """The sum of the weights of the first rounds, as a claim."""
    return sp.Eq(V(rounds), (1 - f**rounds) / (1 - f), evaluate=False)


def _power(rounds: Any) -> Any:
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
        Step(name, claim(last), (f"{name} 0", f"{name} t", *uses), Induction(f"{name} 0", f"{name} t", t, last), text),
    )


def weighted(statement: Any, recursion: str, bound: Any, name: str) -> Proof:
    """Facts and steps for the mean of the gaps with the weights f**(-t); the last step, `name`, claims mean <= bound.

    The weights grow; both sums are multiplied by f**(rounds - 1), so that all exponents are positive.
    """
    names = tuple(f"condition {c.name}" for c in statement.conditions)
    factor, gap_share, rest = _coefficients(recursion, dist2_0, gap_0, {})
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
            Lemma(recursion, dist2(t + 1), {dist2_0: dist2(t), gap_0: gap(t)}),
            "the recursion in every round",
        ),
        Step(
            "recursion",
            sp.Le(dist2(t + 1), f * dist2(t) - share * gap(t) + noise),
            ("round", "f", "share", "noise"),
            Combine({"round": 1}),
            "in short",
        ),
        *_induction("weights", _weights, ("weight", *FACTOR), ("no weight", *FACTOR), R, "a geometric sum"),
        *_induction("positive", positive, FACTOR, (), t, "every power is positive"),
        *_induction("power", _power, ("positive", *FACTOR), (), R, "so that f^R < 1"),
        *_induction(
            "sum",
            _after,
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
            name,
            sp.Le(mean, bound, evaluate=False),
            ("short", "f", "share", "noise", *FACTOR, "power", *names),
            Combine({"short": 1}),
            "factor, coefficient and noise written out",
        ),
    )
    return facts, steps
