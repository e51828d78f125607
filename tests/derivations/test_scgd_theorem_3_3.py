"""The proof of Theorem 3.3 of SCGD: it is as strong as the lemma's, and changes of it are noticed."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from derivation_tools import fresh

from boundcheck.proof.citations import Cited
from boundcheck.proof.discovery import derivation, derived_readings
from boundcheck.proof.step import Status

F = Fraction
ID = "scgd/theorem_3_3/"
LEMMA = "scgd/lemma_3_1/"
mu, L, s, c, sigma2, dist2_0, K, k = (
    sp.Symbol(n, real=True) for n in ["mu", "L", "s", "c", "sigma2", "dist2_0", "K", "k"]
)


CHECKED = tuple(
    ID + reading for reading in ("corrected", "conservative", "sharp", "as_printed_main", "as_printed_appendix")
)


def report(reading):
    return fresh(ID + reading)


def step(original, name):
    return next(st for st in original.steps if st.name == name)


def swapped(original, name, **changes):
    found = step(original, name)
    return replace(original, steps=tuple(replace(found, **changes) if st is found else st for st in original.steps))


# the chain of the sharp reading takes twenty seconds


def test_every_reading_of_the_statement_is_derived_and_reported_as_json():
    assert set(derived_readings("scgd", "theorem_3_3")) == {
        "corrected",
        "conservative",
        "sharp",
        "as_printed_main",
        "as_printed_appendix",
    }
    data = json.loads(json.dumps(report("as_printed_appendix").to_dict()))
    assert data["status"] == "REFUTED"
    assert next(st for st in data["steps"] if st["name"] == "step case")["claim"].startswith("Implies(")


def test_the_series_is_what_the_recursion_sums_to():
    """By hand: mu = 1, L = 2, s = 1/20, sigma2 = 3, D0 = 7, in exact fractions."""
    factor, noise = 1 - F(1, 60), 4 * 4 * F(1, 20) ** 3 * 3
    worst = F(7)
    for cycles in range(6):
        bound = report("corrected").result("conclusion").step.claim.rhs
        at = {mu: 1, L: 2, s: sp.Rational(1, 20), sigma2: 3, dist2_0: 7, K: cycles}
        assert worst <= F(str(bound.subs(at))) == F(59, 60) ** cycles * 7 + F(12 * 4 * 3, 400)
        worst = factor * worst + noise


@pytest.mark.parametrize("constant", [11, sp.Rational(1199, 100), 13])
def test_another_constant_in_the_statement_is_not_what_is_proved(constant):
    original = derivation(ID + "corrected")
    total = sp.Mul(*(sp.Symbol(name, real=True) for name in ("n", "E", "eta")))
    bound = original.statement.bound + (constant - 12) * L**2 * total**2 / mu**2 * sigma2
    found = replace(original, statement=replace(original.statement, bound=bound)).examine()
    assert found.status is Status.UNDECIDED
    assert not found.bound_matches
    assert all(r.status is Status.PROVED for r in found.results)


def test_a_smaller_floor_is_refuted():
    claim = step(derivation(ID + "corrected"), "noise").claim
    wrong = sp.Eq(claim.lhs, claim.rhs * sp.Rational(11, 12), evaluate=False)
    found = swapped(derivation(ID + "corrected"), "noise", claim=wrong).check_step("noise")
    assert found.status is Status.REFUTED


def test_a_better_factor_than_the_lemma_gives_is_not_proved():
    original = derivation(ID + "corrected")
    factor = next(f for f in original.facts if f.name == "c")
    half = replace(factor, claim=sp.Eq(c, 1 - mu * s / 2))
    found = replace(original, facts=tuple(half if f is factor else f for f in original.facts)).examine()
    assert found.status is Status.REFUTED  # the noise no longer sums to the constant 12
    assert found.result("recursion").status is not Status.PROVED
    assert found.result("conclusion").status is not Status.PROVED
    assert "recursion" in found.result("conclusion").depends_on
    claim = step(original, "lemma").claim
    run = sp.Function("run", real=True)(k, 0)
    better = sp.Le(claim.lhs, claim.rhs - mu * s / 6 * run, evaluate=False)
    assert swapped(original, "lemma", claim=better).check_step("lemma").status is Status.UNDECIDED


def test_the_base_case_must_be_the_predicate_at_0():
    original = derivation(ID + "corrected")
    claim = step(original, "base case").claim
    weaker = sp.Le(claim.lhs, claim.rhs + sp.Symbol("floor", real=True), evaluate=False)
    off = swapped(original, "base case", claim=weaker)
    assert off.check_step("base case").status is Status.PROVED
    assert off.check_step("induction").status is Status.UNDECIDED
    stronger = sp.Le(claim.lhs, claim.rhs - dist2_0 / 2, evaluate=False)
    assert swapped(original, "base case", claim=stronger).check_step("base case").status is not Status.PROVED
    assert swapped(original, "base case", uses=("floor >= 0",)).check_step("base case").status is not Status.PROVED


@pytest.mark.parametrize("unused", ["recursion", "floor", "c >= 0", "c < 1"])
def test_the_step_case_needs_what_it_uses(unused):
    original = derivation(ID + "corrected")
    less = tuple(u for u in step(original, "step case").uses if u != unused)
    assert swapped(original, "step case", uses=less).check_step("step case").status is not Status.PROVED


def test_the_recursion_rests_on_the_run_being_the_next_cycle():
    original = derivation(ID + "corrected")
    for unused in ("next cycle", "run starts", "lemma"):
        less = tuple(u for u in step(original, "recursion").uses if u != unused)
        assert swapped(original, "recursion", uses=less).check_step("recursion").status is not Status.PROVED


# citing


def citing(original, reading):
    return swapped(original, "lemma", by=replace(step(original, "lemma").by, statement=LEMMA + reading))


@pytest.mark.parametrize(
    ("reading", "lemma"),
    [("as_printed_main", "corrected"), ("corrected", "conservative"), ("corrected", "as_printed_main")],
)
def test_a_lemma_with_another_constant_is_refused(reading, lemma):
    found = citing(derivation(ID + reading), lemma).check_step("lemma", seconds=3)
    assert found.status is Status.UNDECIDED
    assert f"{LEMMA}{lemma} does not apply: not shown: " in found.note


def test_a_smaller_step_than_the_lemma_allows_is_enough():
    found = citing(derivation(ID + "conservative"), "corrected").check_step("lemma")
    assert found.status is Status.PROVED
    assert found.certificate["statement"] == LEMMA + "corrected"


def test_the_hypotheses_of_the_lemma_must_be_there():
    original = derivation(ID + "corrected")
    uses = step(original, "lemma").uses
    for unused in ("condition step size", "run is a distance"):
        less = tuple(u for u in uses if u != unused)
        found = swapped(original, "lemma", uses=less).check_step("lemma", seconds=3)
        assert found.status is Status.UNDECIDED
        assert "does not apply" in found.note


def altered(**changes):
    original = derivation(ID + "corrected")
    return replace(original, statement=replace(original.statement, **changes)).check_step("lemma")


def test_another_method_metric_or_class_of_objectives_is_refused():
    own = derivation(ID + "corrected").statement
    notes = {
        "another method": altered(algorithm=replace(own.algorithm, kind="fedavg")).note,
        "another metric": altered(metric=replace(own.metric, quantity="gap")).note,
        "finite_gradient_noise": altered(assumptions=own.assumptions[:2]).note,
        "L is not declared": altered(
            symbols=tuple(x.but(meaning="") if x.name == "L" else x for x in own.symbols)
        ).note,
    }
    assert all(words in note for words, note in notes.items())


def test_the_lemma_is_about_one_cycle():
    run, t = sp.Function("run", real=True), sp.Symbol("t", real=True)
    original = derivation(ID + "corrected")
    later = Cited(LEMMA + "corrected", run(k + 1, t), t)
    found = swapped(original, "lemma", by=later).check_step("lemma")
    assert found.status is Status.UNDECIDED
    claim = step(original, "lemma").claim
    twice = sp.Le(claim.lhs.subs(sp.Symbol("n", real=True), 2 * sp.Symbol("n", real=True)), claim.rhs, evaluate=False)
    assert swapped(original, "lemma", claim=twice).check_step("lemma").status is Status.UNDECIDED
