"""The project's own proof about FedAvg with all devices: it is complete, and changes of it are noticed."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from derivation_tools import fresh

from boundcheck.proof.discovery import derivation
from boundcheck.proof.step import Status
from boundcheck.proof.vectors import VectorEquality, norm2, vector

ID = "scgd/fedavg_full_participation/corrected"
mu, L, E, eta, s, c, N, sigma2, dist2_0, r = (
    sp.Symbol(n, real=True) for n in ["mu", "L", "E", "eta", "s", "c", "N", "sigma2", "dist2_0", "r"]
)
u = norm2(vector("u", r))


CHECKED = (ID,)


def report():
    return fresh(ID)


def step(original, name):
    return next(st for st in original.steps if st.name == name)


def swapped(original, name, **changes):
    found = step(original, name)
    return replace(original, steps=tuple(replace(found, **changes) if st is found else st for st in original.steps))


def test_it_assumes_nothing_but_the_statements_assumptions():
    """No fact says that a loss is convex: the only lower bounds are on inner products with the gradient of F."""
    assumed = [f for f in report().facts if f.kind == "assumption"]
    assert {f.name.partition(" ")[0] for f in assumed} == {"A2.1", "A2.2", "A2.3"}
    assert {a.assumption for a in assumed} == {
        "strong_quasi_convexity",
        "smooth_clients",
        "finite_gradient_noise",
    }


def test_another_constant_in_the_statement_is_not_what_is_proved():
    original = derivation(ID)
    bound = original.statement.bound - L**2 * (E * eta) ** 2 / mu**2 * sigma2  # 11 in place of 12
    _, sentence = replace(original, statement=replace(original.statement, bound=bound))._compare()
    assert "differs from the statement's" in sentence
    matches, _ = original._compare()
    assert matches


nearly = sp.Rational(99, 100)
MUTATIONS = {
    "gradient of F": (lambda claim: claim.rhs * nearly, Status.REFUTED),
    "E3.1": (lambda claim: claim.rhs * nearly, Status.REFUTED),
    "E3": (lambda claim: claim.rhs * nearly, Status.REFUTED),
    "E4": (lambda claim: claim.rhs - L**2 * s**2 * u / 100, Status.REFUTED),
    "E5.5": (lambda claim: claim.rhs * nearly, Status.UNDECIDED),
    "E5": (lambda claim: claim.rhs * nearly, Status.UNDECIDED),
    "E7": (lambda claim: claim.rhs - E * N * sigma2 / 100, Status.UNDECIDED),
    "E8": (lambda claim: claim.rhs * nearly, Status.UNDECIDED),
    "E9": (lambda claim: claim.rhs - L**4 * s**3 / mu * u / 100, Status.UNDECIDED),
    "E11'": (lambda claim: claim.rhs - mu * s / 6, Status.REFUTED),  # 1/3 -> 1/2
    "E11 noise": (lambda claim: claim.rhs * nearly, Status.REFUTED),
    "round": (lambda claim: claim.rhs - mu * s / 6 * u, Status.REFUTED),
    "noise": (lambda claim: claim.rhs * sp.Rational(11, 12), Status.REFUTED),
    "base case": (lambda claim: claim.rhs - dist2_0 / 2, Status.REFUTED),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_changed_constant_is_noticed(name):
    change, status = MUTATIONS[name]
    original = derivation(ID)
    claim = step(original, name).claim
    changed = claim.func(claim.lhs, change(claim), evaluate=False)
    assert changed != claim
    assert swapped(original, name, claim=changed).check_step(name).status is status


@pytest.mark.parametrize(
    ("name", "unused"),
    [
        ("E1.2", "common start"),
        ("E1", "average"),
        ("E1", "mean gradient"),
        ("E3", "E3.3"),
        ("E4", "minimum"),
        ("E5.2", "common start"),
        ("E8", "requirement 2"),
        ("round", "E11'"),
        ("recursion", "distance"),
        ("step case", "recursion"),
    ],
)
def test_a_step_needs_what_it_uses(name, unused):
    original = derivation(ID)
    less = tuple(x for x in step(original, name).uses if x != unused)
    assert len(less) + 1 == len(step(original, name).uses)
    assert swapped(original, name, uses=less).check_step(name).status is not Status.PROVED


def test_a_server_that_moves_half_the_way_is_another_method():
    original = derivation(ID)
    fact = next(f for f in original.facts if f.name == "average")
    start = vector("u", r)
    lazy = replace(fact, claim=VectorEquality(fact.claim.left, (fact.claim.right + start) / 2))
    mutated = replace(original, facts=tuple(lazy if f is fact else f for f in original.facts))
    assert original.check_step("E1").status is Status.PROVED
    assert mutated.check_step("E1").status is not Status.PROVED
