"""A derivation of a few steps about Lemma 3.1 of SCGD, for attempts to prove what does not follow."""

from __future__ import annotations

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.step import Fact, Status, Step
from boundcheck.proof.vectors import vector
from boundcheck.theory.discovery import statement

LEMMA = statement("scgd/lemma_3_1/corrected")
NAMES = "mu L n E eta sigma2 dist2_0 P s m t a y z j k T dist2_1"
mu, L, n, E, eta, sigma2, dist2_0, P, s, m, t, a, y, z, j, k, T, dist2_1 = sp.symbols(NAMES, real=True)
g, u, v, grad = vector("g", m), vector("u"), vector("v"), vector("grad_F")
f = sp.Function("f", real=True)
PLAIN = "plain_mean"  # an assumption of the lemma that has no inequality
INDEX_M = Fact("index m", sp.And(m >= 0, m <= n - 1), "index", "")
INDEX_K = Fact("index k", k >= 0, "index", "")
RANGE_A = Fact("range a", sp.And(a > 0, a < 1), "range", "")


def relation(kind, left, right):
    return kind(left, right, evaluate=False)


def step(name, claim, uses, by):
    return Step(name, claim, uses, by, "")


def attempt(facts, steps, quantities=(), target=dist2_1, about=LEMMA, drawn=()):
    """The derivation of these steps from the scope of the statement and these facts."""
    every = (*scope_facts(about), *facts)
    return Derivation(about, every, tuple(steps), steps[-1].name, target, frozenset(quantities), drawn=drawn)


def last(facts, steps, **more):
    """The finding of the last step and the report."""
    report = attempt(facts, steps, **more).examine(5)
    assert report.status is not Status.PROVED
    return report.results[-1].finding


def definition(name, value):
    return Fact(name, sp.Eq(sp.Symbol(name, real=True), value), "definition", "")
