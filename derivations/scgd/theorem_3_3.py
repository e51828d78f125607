"""The proof of Theorem 3.3 (S. Ma, semi-cyclic gradient descent): Lemma 3.1 in every cycle, then induction.

    dist2(k)   squared distance to the solution set after k cycles
    run(k, t)  the same after t rounds of a run that is started at the point which k cycles have reached
    c, b       factor and noise of one cycle                    D0  squared distance at the start
    floor      what is left of the noise after any number of cycles: b + c b + c^2 b + ...

Each reading rests on the same reading of the lemma and is as strong as the lemma's own derivation.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.cited import Cited
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.rules import Induction, Supposing
from boundcheck.proof.step import Fact, Step

READINGS = ("corrected", "as_printed_main", "as_printed_appendix", "conservative")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


mu, L, n, E, eta, sigma2, dist2_0, K = _symbols("mu L n E eta sigma2 dist2_0 K")
s, c, b, floor, k, t = _symbols("s c b floor k t")
dist2: Any = sp.Function("dist2", real=True)
run: Any = sp.Function("run", real=True)

POSITIVE = ("domain mu", "domain L", "domain 1", "s > 0")
SCOPE = ("domain mu", "domain L", "domain n", "domain E", "domain eta", "domain sigma2", "domain 1")

FACTS = (
    Fact("s", sp.Eq(s, n * E * eta), "definition", "total step of a cycle"),
    Fact("c", sp.Eq(c, 1 - mu * s / 3), "definition", "factor of one cycle"),
    Fact("b", sp.Eq(b, 4 * L**2 * s**3 / mu * sigma2), "definition", "noise of one cycle"),
    Fact("floor", sp.Eq(floor, b / (1 - c)), "definition", "the geometric series b + c b + c^2 b + ..."),
    Fact("index k", k >= 0, "index", "cycles"),
    Fact("start", sp.Eq(dist2_0, dist2(0)), "metric", "no cycle has been run at the start"),
    Fact("run starts", sp.Le(run(k, 0), dist2(k)), "metric", "the run starts at the point after k cycles"),
    Fact("run is a distance", sp.Ge(run(k, 0), 0), "metric", "a squared distance"),
    Fact(
        "next cycle",
        sp.Le(dist2(k + 1), run(k, n)),
        "algorithm",
        "step size and order of the devices never change: cycle k + 1 is the first cycle of a run started there",
    ),
)


def after(cycles: Any) -> Any:
    """The bound after so many cycles, as a claim."""
    return sp.Le(dist2(cycles), c**cycles * dist2_0 + floor, evaluate=False)


def _steps(statement: Any) -> tuple[Step, ...]:
    condition = statement.conditions[0]
    limit = f"condition {condition.name}"
    return (
        Step("s > 0", s > 0, ("s", "domain n", "domain E", "domain eta"), Decide(), "the total step is positive"),
        Step(
            "s <= C",
            sp.Le(s, condition.relation.rhs, evaluate=False),
            ("s", limit, "domain mu", "domain L", "domain 1", "domain n", "domain E", "domain eta"),
            Decide(),
            "the step condition in terms of s",
        ),
        Step("c >= 0", c >= 0, ("c", "s <= C", *POSITIVE), Decide(), "the factor is not negative"),
        Step("c < 1", c < 1, ("c", "s > 0", "domain mu"), Decide(), "the factor contracts"),
        Step(
            "lemma",
            sp.Le(run(k, n), (1 - mu * s / 3) * run(k, 0) + 4 * L**2 * s**3 / mu * sigma2),
            ("s", "run is a distance", limit, *SCOPE),
            Cited(f"scgd/lemma_3_1/{statement.reading}", run(k, t), t),
            "Lemma 3.1 for the run that starts after k cycles",
        ),
        Step(
            "recursion",
            sp.Le(dist2(k + 1), c * dist2(k) + b),
            ("lemma", "next cycle", "run starts", "c", "b", "c >= 0", "domain mu", "domain L"),
            Combine(),
            "the lemma for every cycle",
        ),
        Step(
            "floor >= 0",
            floor >= 0,
            ("floor", "b", "c", "domain mu", "domain L", "domain sigma2", "s > 0"),
            Decide(),
            "the series has no negative term",
        ),
        Step("base case", after(sp.Integer(0)), ("start", "floor >= 0"), Decide(), "no cycle, no decrease"),
        Step(
            "step case",
            sp.Implies(after(k), after(k + 1)),
            ("recursion", "floor", "c >= 0", "c < 1"),
            Supposing(Combine()),
            "one more cycle: c (c^k D0 + floor) + b = c^(k+1) D0 + floor",
        ),
        Step(
            "induction",
            after(K),
            ("base case", "step case", "domain K"),
            Induction("base case", "step case", k, K),
            "for every number of cycles",
        ),
        Step(
            "noise",
            sp.Eq(floor, 12 * L**2 * s**2 * sigma2 / mu**2),
            ("floor", "b", "c", "domain mu", "s > 0"),
            Identity(),
            "the series summed: the noise of one cycle over mu s/3",
        ),
        Step(
            "conclusion",
            sp.Le(dist2(K), (1 - mu * s / 3) ** K * dist2_0 + 12 * L**2 * s**2 / mu**2 * sigma2, evaluate=False),
            ("induction", "noise", "c", "domain mu"),
            Combine(),
            "factor and floor written out",
        ),
    )


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of Theorem 3.3."""
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        _steps(statement),
        conclusion="conclusion",
        target=dist2(K),
    )
