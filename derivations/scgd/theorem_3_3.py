"""The proof of Theorem 3.3 (S. Ma, semi-cyclic gradient descent): Lemma 3.1 in every cycle, then induction.

    dist2(k)   squared distance to the solution set after k cycles
    run(k, t)  the same after t rounds of a run that is started at the point which k cycles have reached
    c, b       factor and noise of one cycle                    D0  squared distance at the start
    floor      what is left of the noise after any number of cycles: b + c b + c^2 b + ...

The sharp reading has the factor A/D and the noise B/D of the display that Lemma 3.1 rounds, and keeps the first K terms
of the series; A, B and D are polynomials, which have values before the step condition is known.

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

READINGS = ("corrected", "as_printed_main", "as_printed_appendix", "conservative", "sharp")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


mu, L, n, E, eta, sigma2, dist2_0, K = _symbols("mu L n E eta sigma2 dist2_0 K")
s, c, b, floor, k, t, A, B, D = _symbols("s c b floor k t A B D")
dist2: Any = sp.Function("dist2", real=True)
run: Any = sp.Function("run", real=True)

POSITIVE = ("domain mu", "domain L", "domain 1", "s > 0")
SCOPE = ("domain mu", "domain L", "domain n", "domain E", "domain eta", "domain sigma2", "domain 1")

TOTAL = Fact("s", sp.Eq(s, n * E * eta), "definition", "total step of a cycle")
RUN = (
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
FACTS = (
    TOTAL,
    Fact("c", sp.Eq(c, 1 - mu * s / 3), "definition", "factor of one cycle"),
    Fact("b", sp.Eq(b, 4 * L**2 * s**3 / mu * sigma2), "definition", "noise of one cycle"),
    Fact("floor", sp.Eq(floor, b / (1 - c)), "definition", "the geometric series b + c b + c^2 b + ..."),
    *RUN,
)
SHARP_FACTS = (
    TOTAL,
    Fact("D", sp.Eq(D, mu * (1 - mu * s / 2) * (1 - 2 * L**2 * s**2)), "definition", "the denominators of the display"),
    Fact(
        "A",
        sp.Eq(A, mu * (1 - mu * s + L**2 * s**2) * (1 - 2 * L**2 * s**2) + 4 * L**4 * s**3 * (1 - mu * s / 2)),
        "definition",
        "D times the factor of one cycle",
    ),
    Fact("B", sp.Eq(B, 2 * L**2 * s**3 * (1 - mu * s / 2) * sigma2), "definition", "D times the noise of one cycle"),
    *RUN,
)
SIZES = ("domain mu", "domain L", "domain 1", "domain n", "domain E", "domain eta")
POSITIVE_S = Step("s > 0", s > 0, ("s", "domain n", "domain E", "domain eta"), Decide(), "the total step is positive")


def after(cycles: Any) -> Any:
    """The bound after so many cycles, as a claim."""
    return sp.Le(dist2(cycles), c**cycles * dist2_0 + floor, evaluate=False)


def _steps(statement: Any) -> tuple[Step, ...]:
    condition = statement.conditions[0]
    limit = f"condition {condition.name}"
    return (
        POSITIVE_S,
        Step(
            "s <= C",
            sp.Le(s, condition.relation.rhs, evaluate=False),
            ("s", limit, *SIZES),
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


def after_sharp(cycles: Any) -> Any:
    """The sharp bound after so many cycles, as a claim."""
    power = (A / D) ** cycles
    return sp.Le(dist2(cycles), power * dist2_0 + (1 - power) / (1 - A / D) * B / D, evaluate=False)


factor = (1 - mu * s + L**2 * s**2) / (1 - mu * s / 2) + 4 * L**4 * s**3 / (mu * (1 - 2 * L**2 * s**2))
noise = 2 * L**2 * s**3 / (mu * (1 - 2 * L**2 * s**2))
VALUES = ("mu s < 1", "solvable", "domain mu")
SHARP = (
    POSITIVE_S,
    Step("small step", 4 * L**2 * s < mu, ("s", "condition contraction", *SIZES), Decide(), "in terms of s"),
    Step("mu s < 1", mu * s < 1, ("small step", *POSITIVE), Decide(), "mu <= L"),
    Step("solvable", 2 * L**2 * s**2 < 1, ("small step", *POSITIVE), Decide(), "mu <= L"),
    Step("D > 0", D > 0, ("D", *VALUES), Decide(), "positive factors"),
    Step("A >= 0", A >= 0, ("A", "s > 0", "domain L", "domain 1", *VALUES), Decide(), "no negative term"),
    Step(
        "D - A",
        sp.Eq(D - A, s * (mu - 4 * L**2 * s) * (mu * (1 - 2 * L**2 * s**2) + 2 * L**2 * s) / 2),
        ("A", "D"),
        Decide(),
        "a cycle contracts exactly for s < mu/(4 L^2)",
    ),
    Step("A < D", A < D, ("D - A", "small step", "s > 0", "solvable", "domain mu"), Decide(), "the factor contracts"),
    Step(
        "lemma",
        sp.Le(run(k, n), factor * run(k, 0) + noise * sigma2),
        ("s", "run is a distance", "condition contraction", *VALUES, *SCOPE),
        Cited("scgd/lemma_3_1/sharp", run(k, t), t),
        "Lemma 3.1 for the run that starts after k cycles",
    ),
    Step(
        "one cycle",
        sp.Le(run(k, n), A / D * run(k, 0) + B / D),
        ("lemma", "A", "B", "D", "D > 0", *VALUES),
        Combine(),
        "over one denominator",
    ),
    Step(
        "recursion",
        sp.Le(dist2(k + 1), A / D * dist2(k) + B / D),
        ("one cycle", "next cycle", "run starts", "A >= 0", "D > 0"),
        Combine(),
        "the lemma for every cycle",
    ),
    Step("base case", after_sharp(sp.Integer(0)), ("start", "A < D", "D > 0"), Decide(), "no cycle, no decrease"),
    Step(
        "step case",
        sp.Implies(after_sharp(k), after_sharp(k + 1)),
        ("recursion", "A >= 0", "A < D", "D > 0"),
        Supposing(Combine()),
        "one more cycle",
    ),
    Step(
        "induction",
        after_sharp(K),
        ("base case", "step case", "A < D", "D > 0", "domain K"),
        Induction("base case", "step case", k, K),
        "for every number of cycles",
    ),
    Step(
        "conclusion",
        sp.Le(dist2(K), factor**K * dist2_0 + (1 - factor**K) / (1 - factor) * noise * sigma2, evaluate=False),
        ("induction", "A", "B", "D", "A < D", "D > 0", *VALUES),
        Combine(),
        "factor and noise written out",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of Theorem 3.3."""
    sharp = statement.reading == "sharp"
    return Derivation(
        statement,
        (*scope_facts(statement), *(SHARP_FACTS if sharp else FACTS)),
        SHARP if sharp else _steps(statement),
        conclusion="conclusion",
        target=dist2(K),
    )
