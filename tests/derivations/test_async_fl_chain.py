"""The chain of Theorem 1 of the asynchronous paper: Lemmas 2, 5 and 6, and what is taken from which."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import sympy as sp

from boundcheck.proof.derivation import DerivationReport
from boundcheck.proof.discovery import citations, derivation
from boundcheck.proof.step import Finding, Status

PAPER = "async_fl/"
LEMMAS = ("lemma_2/corrected", "lemma_5/corrected", "lemma_6/corrected")
THEOREM = ("theorem_1/corrected", "theorem_1/sharp", "theorem_1/corrected_certain")
OTHERS = (
    *("theorem_2/corrected", "theorem_2/corrected_every_type", "theorem_3/corrected", "corollary_1/corrected"),
    *("equation_105/corrected", "equation_105/corrected_every_type"),
)
NAMES = ("lemma_2", "lemma_3", "lemma_3_gradients", "lemma_4", "lemma_5", "lemma_6")


CHAINS = (*LEMMAS[1:], *THEOREM, *OTHERS)


@cache
def report(name: str) -> DerivationReport:
    return derivation(PAPER + name).examine()


def changed(name: str, which: str, **changes: Any) -> Finding:
    original = derivation(PAPER + name)
    steps = tuple(replace(s, **changes) if s.name == which else s for s in original.steps)
    return replace(original, steps=steps).check_step(which)


def step(name: str, which: str) -> Any:
    return next(s for s in derivation(PAPER + name).steps if s.name == which)


@pytest.mark.parametrize(
    "name",
    [
        *("lemma_2/corrected", "lemma_7/as_printed"),
        *(pytest.param(x, marks=pytest.mark.slow(reason="decides a chain of lemmas")) for x in CHAINS),
    ],
)
def test_every_step_is_proved(name: str) -> None:
    found = report(name)
    assert found.status is Status.PROVED
    assert found.bound_matches
    assert all(r.status is Status.PROVED and r.depends_on == () for r in found.results)


def test_what_theorem_1_rests_on() -> None:
    lemmas = {f"async_fl/{x}/corrected" for x in NAMES}
    steps = {f"async_fl/equation_{k}_constraints/corrected" for k in (97, 98)}
    assert set(citations("async_fl/theorem_1/sharp")) == lemmas
    assert set(citations("async_fl/theorem_1/corrected")) == {*lemmas, *steps}


def test_105_as_printed_breaks_at_its_factors() -> None:
    found = report("equation_105/as_printed")
    assert [r.step.name for r in found.results if r.status is not Status.PROVED] == ["conclusion"]
    assert found.status is Status.REFUTED
    v = {k: sp.Rational(x) for k, x in found.result("conclusion").finding.witness.items()}
    spread = v["gap_n"] + v["spread_n"]
    assert v["far"] <= 4 * v["L"] * v["chi2_n"] * spread / v["q"] + 4 * v["L"] * v["absent"]
    assert v["slope2"] <= 2 * v["L"] * v["gap_n"] / v["q"]
    assert v["g2"] <= 2 * v["far"] + 2 * v["slope2"]
    assert v["g2"] > 4 * v["L"] * ((v["chi2_n"] / v["q"] + 1 / v["q"] ** 2) * v["gap_n"] + v["absent"]) + (
        4 * v["L"] * v["chi2_n"] / v["q"] * v["spread_n"]
    )


@pytest.mark.parametrize(
    ("name", "refuted"),
    [
        ("lemma_2/as_printed", ("(59)",)),
        *((f"theorem_1/{x}", ("(86)",)) for x in ("as_printed", "as_printed_used")),
        ("theorem_2/as_printed", ("(105)", "Theorem 1")),
        ("theorem_3/as_printed", ("(25)", "Theorem 1")),
        ("corollary_1/as_printed", ("round", "Theorem 1")),
    ],
)
def test_printed_readings_break_where_the_paper_slips(name: str, refuted: tuple[str, ...]) -> None:
    found = report(name)
    assert found.status is Status.REFUTED
    assert found.bound_matches
    assert tuple(r.step.name for r in found.results if r.status is Status.REFUTED) == refuted


def test_the_cross_term_of_lemma_2_for_one_client_and_two_steps() -> None:
    """w is 0 or d with the chance c: E<w g, v(1)> is not q E<g, v(1)>, since v(1) = v(0) - et w g."""
    c, d, et, v0, g0, g1 = map(sp.Rational, ("1/2", "1", "1/4", "3", "2", "1"))
    outcomes = ((c, d), (1 - c, sp.Integer(0)))
    cross = sum(chance * w * g1 * (v0 - et * w * g0) for chance, w in outcomes)
    printed = c * d * g1 * sum(chance * (v0 - et * w * g0) for chance, w in outcomes)
    assert printed - cross == et * c * (1 - c) * d**2 * g0 * g1 > 0


@pytest.mark.parametrize("name", [*LEMMAS, *THEOREM, *OTHERS])
def test_nothing_is_assumed_of_terms_without_a_fact(name: str) -> None:
    kinds = {t.kind for t in derivation(PAPER + name).trusted()}
    assert kinds <= {"algorithm", "metric", "assumption", "count", "evaluation", "law", "cited"}


@pytest.mark.parametrize(
    ("name", "which"),
    [
        *(("lemma_5/corrected", w) for w in ("gaps", "A, all", "N", "slope", "display")),
        *(("lemma_6/corrected", w) for w in ("(83)", "(84)", "window")),
        *(("theorem_1/sharp", w) for w in ("(87)",)),
        *(("lemma_7/as_printed", w) for w in ("present, eps", "slope", "others")),
        *(("equation_105/corrected", w) for w in ("round", "conclusion")),
        *(("theorem_2/corrected", w) for w in ("round",)),
        *(("corollary_1/corrected", w) for w in ("round",)),
        *(("theorem_3/corrected", w) for w in ("work", "client, up", "client, down", "pair")),
    ],
)
def test_one_percent_less_is_not_proved(name: str, which: str) -> None:
    claim = step(name, which).claim
    smaller = sp.Le(claim.lhs, claim.rhs * sp.Rational(99, 100), evaluate=False)
    assert changed(name, which, claim=smaller).status is not Status.PROVED


n = sp.Symbol("n", real=True)


def other_round(by: Any) -> Any:
    return replace(by, images=tuple((k, v.subs(n, n + 1) if k == "Z" else v) for k, v in by.images))


def swapped(by: Any) -> Any:
    images = dict(by.images)
    return replace(by, images=tuple((k, images["sg1" if k == "Z" else "Z" if k == "sg1" else k]) for k in images))


def left_out(by: Any) -> Any:
    return replace(by, images=by.images[1:])


def of_another(by: Any) -> Any:
    return replace(by, metric=sp.Symbol("moved", real=True))


def with_a_constant(by: Any) -> Any:
    return replace(by, images=(*by.images, ("L", sp.Function("L2", real=True)(n))))


@pytest.mark.parametrize("change", [other_round, swapped, left_out, of_another, with_a_constant])
def test_a_lemma_is_about_one_round_and_its_own_quantities(change: Any) -> None:
    original = step("theorem_1/sharp", "(72)")
    by = change(original.by)
    claim = original.claim
    if change in (other_round, swapped):
        claim = by.instance({})
    found = changed("theorem_1/sharp", "(72)", by=by, claim=claim)
    assert found.status is not Status.PROVED


def test_a_lemma_is_cited_under_its_assumptions_only() -> None:
    original = derivation("async_fl/theorem_1/sharp")
    weaker = tuple(a for a in original.statement.assumptions if a.name != "convex_samples")
    found = replace(original, statement=replace(original.statement, assumptions=weaker)).check_step("(72)")
    assert found.status is not Status.PROVED
    assert "convex_samples" in found.note


def test_an_average_is_cited_for_the_same_average_only() -> None:
    original = derivation("async_fl/theorem_1/sharp")
    metric = replace(original.statement.metric, weights=sp.Integer(2))
    found = replace(original, statement=replace(original.statement, metric=metric)).check_step("(82)")
    assert found.status is not Status.PROVED
    assert "another average" in found.note
