"""Attempts to use a lemma for vectors that are not drawn, or do not depend on each other, as its own are."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.discovery import derivation
from boundcheck.proof.for_vectors import ForVectors, plain
from boundcheck.proof.step import Status
from boundcheck.proof.vectors import VectorEquality, norm2, vector

D3 = "fedshuffle/lemma_d_3/as_printed"
e = sp.Symbol("e", real=True)
g, d, f, fi, y = (vector(name, e) for name in ("g", "d", "f", "fi", "y"))
fix, fx, m = vector("fix"), vector("fx"), vector("m")
h2, gam2 = sp.symbols("h2 gam2", real=True)


def found(which, proof=None, **changes):
    """The finding of a step of Lemma D.3 that cites another lemma."""
    proof = derivation(D3) if proof is None else proof
    steps = tuple(replace(s, **changes) if s.name == which else s for s in proof.steps)
    return replace(proof, steps=steps).check_step(which, 5)


def by(which):
    return next(s.by for s in derivation(D3).steps if s.name == which)


def swapped(which, name, image):
    rule = by(which)
    return replace(rule, vectors=tuple((n, a, image if n == name else v) for n, a, v in rule.vectors))


def test_the_lemmas_are_used_for_the_vectors_of_the_round():
    assert found("D.1").status is Status.PROVED
    assert found("D.2").status is Status.PROVED
    kinds = {t.kind for t in derivation(D3).trusted()}
    assert "presumed" not in kinds
    assert by("D.1").lemma().metric == norm2(g - fi)


@pytest.mark.parametrize(
    ("which", "name", "image", "why"),
    [
        ("D.1", "fy", f, "'direction' of fedshuffle/lemma_d_1/corrected is not shown"),
        ("D.1", "d", f, "'direction' of fedshuffle/lemma_d_1/corrected is not shown"),
        ("D.1", "mean", fi, "is not known before what fi(e) depends on"),
        ("D.1", "m", g, "'direction' of"),
        ("D.2", "fiy", g, "'direction' of fedshuffle/lemma_d_2/as_printed is not shown"),
        ("D.2", "m", fx, "'direction' of fedshuffle/lemma_d_2/as_printed is not shown"),
        ("D.2", "fx", f, "that h2 is for the images what it is"),
    ],
)
def test_other_vectors(which, name, image, why):
    """A gradient elsewhere, one that the order has moved, a momentum with another error."""
    result = found(which, by=swapped(which, name, image))
    assert result.status is Status.UNDECIDED
    assert why in result.note


def test_what_is_drawn_must_be_drawn_after_the_past():
    """The average gradient of the epoch declared as known before the order is drawn."""
    proof = derivation(D3)
    early = tuple((v, e if v == g else level) for v, level in proof.drawn)
    facts = tuple(x for x in proof.facts if x.name != "epoch")
    steps = tuple(s for s in proof.steps if s.name == "D.1")
    alone = replace(proof, drawn=early, facts=facts, steps=steps, conclusion="D.1")
    result = alone.check_step("D.1", 5)
    assert result.status is Status.UNDECIDED
    assert "is not known before what g(e) depends on" in result.note


def test_facts_of_the_step_show_what_the_lemma_needs():
    uses = next(s.uses for s in derivation(D3).steps if s.name == "D.1")
    assert found("D.1", uses=tuple(u for u in uses if u != "direction")).status is Status.UNDECIDED
    uses = next(s.uses for s in derivation(D3).steps if s.name == "D.2")
    for missing in ("h2", "gam2"):
        assert found("D.2", uses=tuple(u for u in uses if u != missing)).status is Status.UNDECIDED


def test_a_bound_for_less_than_the_lemma_says():
    claim = next(s.claim for s in derivation(D3).steps if s.name == "D.1")
    small = sp.Le(claim.lhs, claim.rhs * sp.Rational(99, 100), evaluate=False)
    assert found("D.1", claim=small).status is not Status.PROVED


def test_images_must_be_given():
    rule = by("D.1")
    for name, why in (("mean", "nothing stands for a vector of"), ("d", "nothing stands for a vector of")):
        less = replace(rule, vectors=tuple(v for v in rule.vectors if v[0] != name))
        with pytest.raises(BadInput, match=why):
            less.lemma()
    twice = replace(rule, vectors=(*rule.vectors, ("m", (), fx)))
    with pytest.raises(BadInput, match="two vectors stand for m"):
        twice.lemma()
    assert plain(m=m) == (("m", (), m),)


def test_a_run_of_fewer_epochs_is_another():
    """Lemma D.3 for the first E - 1 epochs only, in a derivation whose index ends there."""
    D4 = "fedshuffle/lemma_d_4/corrected"
    proof = derivation(D4)
    E = sp.Symbol("E", real=True)
    shorter = tuple(replace(x, claim=sp.And(e >= 0, e <= E - 2)) if x.name == "index e" else x for x in proof.facts)
    result = replace(proof, facts=shorter).check_step("D.3", 5)
    assert result.status is Status.UNDECIDED
    assert "e has another range" in result.note
    undone = tuple(
        replace(x, claim=VectorEquality(x.claim.left, x.claim.right + fi)) if x.name == "epoch" else x
        for x in proof.facts
    )
    result = replace(proof, facts=undone).check_step("D.3", 5)
    assert "'epoch' of fedshuffle/lemma_d_3/as_printed is not shown" in result.note
    assert isinstance(next(s.by for s in proof.steps if s.name == "D.3"), ForVectors)
