"""What a step finds by itself, and what a vector step that is not shown says is missing."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from boundcheck.proof.derivation import Derivation
from boundcheck.proof.discovery import derivation
from boundcheck.proof.gram import Combine
from boundcheck.proof.scope import with_scope
from boundcheck.proof.step import Context, Fact, Status, Step
from boundcheck.proof.vectors import inner, norm2, vector

s, L, D, h = (sp.Symbol(n, real=True) for n in ("s", "L", "D", "h"))
n, b, r = (sp.Symbol(name, real=True) for name in ("n", "b", "r"))
u, g = vector("u"), vector("g")
COERCIVE = {"co": sp.Ge(L * inner(g, u), norm2(g)), "L": L > 0, "s": s > 0}


def note(claim, facts, multipliers=None):
    found = Combine(multipliers or {}).check(claim, facts, Context())
    assert found.status is Status.UNDECIDED
    return found.note


def test_the_nearest_multipliers_and_what_they_leave_over():
    words = note(sp.Le(norm2(u - g * s), norm2(u)), COERCIVE)
    assert "The nearest combination is 2*s/L times 'co'." in words
    assert "What is left to be shown at least 0 is -s*(L*s - 2)/L*|g|^2" in words
    assert Combine().check(sp.Le(norm2(u - g * s), norm2(u)), {**COERCIVE, "step": s * L <= 2}, Context()).status is (
        Status.PROVED
    )


def test_given_multipliers_are_shown_with_the_first_sign_that_is_missing():
    claim = sp.Le(norm2(u - g * s), norm2(u))
    assert "the factor of 'co' is negative" in note(claim, COERCIVE, {"co": -s / L})
    without = {k: f for k, f in COERCIVE.items() if k != "s"}
    assert "the factor of 'co' is not shown to be at least 0" in note(claim, without, {"co": 2 * s / L})
    assert "A multiplier is given for 'coercive', which is no inequality" in note(claim, COERCIVE, {"coercive": 1})


def test_a_missing_fact_shows_in_what_is_left():
    words = note(sp.Le(norm2(u), D), {"far": sp.Le(norm2(u), 2 * norm2(g))})
    assert "-|u|^2 + D" in words or "-2*|g|^2 + D" in words
    assert len(words) < 300


def test_multipliers_may_be_written_with_defined_symbols():
    facts = {**COERCIVE, "step": s * L <= 2, "h": sp.Eq(h, 2 * s / L)}
    assert Combine({"co": h}).check(sp.Le(norm2(u - g * s), norm2(u)), facts, Context()).status is Status.PROVED


FACTS = (
    Fact("domain n", n >= 1, "domain", ""),
    Fact("domain b", b >= 1, "domain", ""),
    Fact("domain 1", b <= n, "domain", ""),
    Fact("condition small", n <= 5, "condition", ""),
    Fact("index r", sp.And(r >= 0, r <= b - 1), "index", ""),
)


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        (n >= 0, {"domain n"}),
        (n >= b, {"domain n", "domain b", "domain 1"}),
        (r >= 0, {"index r", "domain b"}),
        (s >= 0, set()),
    ],
)
def test_a_step_finds_domains_and_ranges_but_no_condition(claim, found):
    (step,) = with_scope((Step("one", claim, ("condition small",) if claim == (n >= 0) else (), Combine(), ""),), FACTS)
    assert set(step.uses) - {"condition small"} == found


def test_what_is_found_stands_in_the_record_of_the_step():
    proof = derivation("classics/gradient_descent_nonconvex/as_printed")
    bare = tuple(replace(s, uses=tuple(n for n in s.uses if not n.startswith("domain"))) for s in proof.steps)
    again: Derivation = replace(proof, steps=bare)
    report = again.examine()
    assert report.status is Status.PROVED
    used = [name for r in report.to_dict()["steps"] for name in r["uses"]]
    assert any(name.startswith("domain") for name in used)
