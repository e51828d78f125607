"""The proof of (105) (asynchronous federated learning, Appendix B.2) as checked steps.

Facts, notation and the steps up to (99) are those of Lemma 7, `derivations/async_fl/lemma_7.py`; besides

    M(j)  st(j) G(j)    y  their sum, the gradient of L^n/q at x    up(j)  F_j(x - y/L)    g2  |grad F(x)|^2

Where every kind of data is in the round, (102) has one sum and needs no factor 2. The printed reading ends with the
factors that it prints, 1/q^2 for 1/q and 4 for 8.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import Jensen, SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import smooth_clients

READINGS = ("corrected", "corrected_every_type", "as_printed")

L, q, chi2_n, gap_n, spread_n, absent = sp.symbols("L q chi2_n gap_n spread_n absent", real=True)
J, j, g2, far, slope2, least = sp.symbols("J j g2 far slope2 least", real=True)
st, f, up = (sp.Function(name, real=True)(j) for name in ("st", "f", "up"))
G, M, v, w, y = vector("G", j), vector("M", j), vector("v"), vector("w"), vector("y")
half = sp.Rational(1, 2)
here = Evaluation("f_i", Vector(()), G, f, which=j)
past = Evaluation("f_i", y * (-1 / L), value=up, which=j)
model = st * (f - up) - inner(M, y) / L + st * norm2(y) / (2 * L)

FACTS = (
    Fact("M", VectorEquality(M, G * st), "definition", "a term of the gradient of L^n/q"),
    Fact("y", VectorEquality(y, vector_total(M, j, J)), "definition", "the gradient of L^n/q"),
    Fact("slope2", sp.Eq(slope2, norm2(y)), "metric", "the last term of (104)"),
    Fact("st sum", sp.Le(total(st, j, J), 1), "metric", "the shares in L^n sum to 1"),
    Fact("minimum", sp.Ge(q * total(up * st, j, J), least), "metric", "least is the minimum of L^n"),
    upper_model("smooth, y", smooth_clients, "to x - y/L", here, past),
)
ROUND = (
    Step(
        "round, kind",
        sp.Ge(model, 0),
        ("smooth, y", "M", "st > 0", "domain L"),
        Combine({"smooth, y": st}, (st,)),
        "times its share",
    ),
    Step(
        "round, kinds",
        sp.Ge(total(model, j, J), 0),
        ("round, kind", "kinds", "domain L"),
        SumOver("round, kind", j, J),
        "L^n/q is smooth",
    ),
    Step(
        "round",
        sp.Le(slope2, 2 * L * gap_n / q),
        ("round, kinds", "slope2", "y", "st sum", "minimum", "gap", "domain L", "domain q"),
        Combine({"round, kinds": 2 * L, "minimum": 2 * L / q}, (total(st, j, J),)),
        "of a smooth function that is bounded below",
    ),
)
SIZES = ("domain L", "domain q", "domain chi2_n", "domain gap_n", "domain spread_n")


ABSENT = ("B", "w", "far", "index a", "ra >= 0", "shares", "others", "(102)", "conclusion")


def _everywhere(part: Fact | Step) -> bool:
    """Whether a fact or a step of Lemma 7 is about kinds of data in the round alone."""
    return "absent" not in part.name and part.name not in ABSENT


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    lemma = derivation_of("async_fl/lemma_7/as_printed")
    facts = tuple(x for x in lemma.facts if x.kind not in ("domain", "condition"))
    if statement.reading == "corrected_every_type":
        facts, steps = tuple(filter(_everywhere, facts)), tuple(filter(_everywhere, lemma.steps))
        others, by, uses = v, {"present": 2, "slopes": 2 * chi2_n}, ("present", "slopes", "v", "gap", "spread")
    else:
        steps = tuple(replace(s, name="(99)") if s.name == lemma.conclusion else s for s in lemma.steps)
        others, by, uses = v + w, {"(99)": 2}, ("(99)", "far", "v", "w")
    parts = Step(
        "(104)",
        sp.Le(norm2(others + y), 2 * norm2(others) + 2 * norm2(y)),
        (),
        Jensen((half, half), (others * 2, y * 2)),
        "two parts",
    )
    ending = Step(
        "conclusion",
        sp.Le(g2, statement.bound),
        ("(104)", "g2", "slope2", "round", *uses, *SIZES),
        Combine({"(104)": 1, "round": 2, **by}),
        "both parts",
    )
    printed = (
        Step(
            "(104), far",
            sp.Le(g2, 2 * far + 2 * slope2),
            ("(104)", "g2", "far", "slope2", "v", "w"),
            Combine({"(104)": 1}),
            "two parts",
        ),
        replace(ending, uses=("(104), far", "(99)", "round", "domain absent", *SIZES), by=Decide(), text="as printed"),
    )
    last = printed if statement.reading == "as_printed" else (ending,)
    known = Fact(
        "g2", sp.Eq(g2, norm2(others + y)), "metric", "F has the shares of L^n in the kinds, and others besides"
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *facts, *FACTS, known),
        (*steps, *ROUND, parts, *last),
        conclusion="conclusion",
        target=g2,
        quantities=frozenset(x for x in ("absent",) if x in {s.name for s in statement.symbols}),
    )
