"""Means over the clients: the closed forms against enumeration, and attempts to prove what is false of them."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from attack_tools import relation, step

from boundcheck.errors import BadInput
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import Expected
from boundcheck.proof.families import Averaged, Averages
from boundcheck.proof.gram import Combine
from boundcheck.proof.laws import Draws
from boundcheck.proof.step import Fact, Status
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.discovery import statement

F = Fraction
LEMMA_2 = statement("partial_averaging/lemma_2/sharp")
t, n, m, apart = sp.symbols("t n m apart", real=True)
x, X, y, Y, e, E, w = (vector(name, t) for name in ("x", "X", "y", "Y", "e", "E", "w"))
zero = Vector(())
CLIENTS = Averages("clients", "averages_uniformly", ((x, X), (y, Y)))
NOISE = Draws("noise", "block_variance", ((e, zero), (E, zero)))
WITH_NOISE = Averages("clients", "averages_uniformly", ((x, X), (e, E)), clients=m, independent=(e,))
FACTS = (
    Fact("index n", n >= 0, "index", ""),
    Fact("index t", sp.And(t >= 0, t <= n), "index", ""),
    Fact("local step", VectorEquality(x.at(t, t + 1), x - y * 2), "algorithm", ""),
)
DRAWN = ((x, t), (X, t), *((v, t + 1) for v in (y, Y, w, e, E)))


def proof(claim: Any, by: Any, laws: tuple[Any, ...] = (CLIENTS,), facts: tuple[Fact, ...] = FACTS) -> Derivation:
    every = (*scope_facts(LEMMA_2), *facts)
    names = tuple(f.name for f in every if f.name != "local step" or isinstance(by, Averaged))
    return Derivation(LEMMA_2, every, (step("it", claim, names, by),), "it", apart, drawn=DRAWN, laws=laws)


def status(claim: Any, by: Any = None, **more: Any) -> Status:
    by = Expected(("clients",), Combine()) if by is None else by
    return proof(claim, by, **more).check_step("it", 5).status


def products(weights: list[Fraction], families: dict[str, list[tuple[int, ...]]]) -> dict[tuple[str, ...], Fraction]:
    """<u, v> of families, and of their means (capital letters), by enumeration."""
    size = len(weights)
    values: dict[str, list[tuple[Any, ...]]] = {}
    for name, members in families.items():
        mean = tuple(sum((p * v[k] for p, v in zip(weights, members, strict=True)), F(0)) for k in range(2))
        values |= {name: list(members), name.upper(): [mean] * size}
    return {
        (a, b): sum(
            (p * sum(u[k] * v[k] for k in range(2)) for p, u, v in zip(weights, values[a], values[b], strict=True)),
            F(0),
        )
        for a, b in itertools.product(values, repeat=2)
    }


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_closed_forms_by_enumeration(size: int) -> None:
    draw = random.Random(size)
    shares = [draw.randint(1, 5) for _ in range(size)]
    weights = [F(s, sum(shares)) for s in shares]
    own = {name: [(draw.randint(-4, 4), draw.randint(-4, 4)) for _ in range(size)] for name in "xy"}
    found = products(weights, own)
    for first, second in itertools.product((x, X, y, Y), repeat=2):
        a, b = (v.terms[0][0] for v in (first, second))
        closed = CLIENTS.expected(a, b)
        names = tuple(type(v).__name__ for v in (a, b))
        families = sum(name.islower() for name in names)
        assert (closed is None) is (families != 1)  # of two families, and of two means, nothing is said
        if closed is not None:
            assert found[names] == found[tuple(type(v).__name__ for v in closed[0].args)]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_mean_of_independent_noise_by_enumeration(size: int) -> None:
    """Each client draws one of two opposite vectors of its own length: E|mean|^2 is the mean of E|e|^2, over m."""
    lengths = list(range(1, size + 1))
    outcomes = list(itertools.product((-1, 1), repeat=size))
    mean2 = sum(F(sum(s * v for s, v in zip(signs, lengths, strict=True)), size) ** 2 for signs in outcomes)
    found = WITH_NOISE.expected(E.terms[0][0], E.terms[0][0])
    assert found is not None
    closed, needed = found
    each = F(sum(v**2 for v in lengths), size)
    value = closed.subs(inner(e, e), sp.Rational(each.numerator, each.denominator)).subs(m, size)
    assert F(int(value.p), int(value.q)) == mean2 / len(outcomes)
    assert needed == (sp.Ge(m, 1),)
    assert WITH_NOISE.expected(e.terms[0][0], E.terms[0][0]) == found  # <e, E> = <E, E>


S, T = (vector_total(v, t, n) for v in (x, X))


@pytest.mark.parametrize(
    ("claim", "true"),
    [
        (relation(sp.Le, norm2(x - X), norm2(x)), True),  # |(I - J) x| <= |x|
        (relation(sp.Ge, inner(X, x - X), 0), True),  # <J x, x - J x> = 0
        (relation(sp.Le, inner(X, x - X), 0), True),
        (relation(sp.Le, norm2(S - T), norm2(S)), True),
        (relation(sp.Ge, inner(X, y), inner(x, Y)), True),  # J is symmetric
        (relation(sp.Le, norm2(x - X), norm2(x) / 2), False),
        (relation(sp.Le, norm2(X), norm2(x) / 2), False),
        (relation(sp.Le, norm2(x), norm2(X)), False),
        (relation(sp.Ge, inner(x, y), inner(X, Y)), False),
        (relation(sp.Ge, inner(x, X.at(t, 0)), inner(X, X)), False),
        (relation(sp.Le, inner(x, w), inner(X, w)), False),  # w is alike for all clients by no law
        (relation(sp.Le, norm2(X), norm2(x)), False),  # true, but not of these products alone
    ],
    ids=str,
)
def test_what_is_true_of_a_mean(claim: Any, true: bool) -> None:
    found = status(claim)
    assert found is Status.PROVED if true else found is not Status.PROVED


@pytest.mark.parametrize(
    ("claim", "true"),
    [
        (VectorEquality(X.at(t, t + 1), X - Y * 2), True),
        (VectorEquality(X.at(t, t + 1), X - Y * 3), False),
        (VectorEquality(X, X.at(t, t - 1) - Y * 2), False),
        (VectorEquality(X.at(t, t + 1), x - y * 2), False),
        (VectorEquality(X.at(t, t + 1), X - w * 2), False),
        (VectorEquality(x, X), False),
    ],
    ids=str,
)
def test_the_mean_of_an_equation(claim: VectorEquality, true: bool) -> None:
    found = status(claim, Averaged("clients", "local step"))
    assert found is Status.PROVED if true else found is not Status.PROVED


def test_an_equation_with_a_vector_without_a_mean_has_none() -> None:
    other = (*FACTS[:2], Fact("local step", VectorEquality(x.at(t, t + 1), x - w), "algorithm", ""))
    for claim in (VectorEquality(X.at(t, t + 1), X - w), VectorEquality(X.at(t, t + 1), X)):
        assert status(claim, Averaged("clients", "local step"), facts=other) is Status.UNDECIDED
    assert status(FACTS[2].claim, Averaged("clients", "nowhere")) is Status.UNDECIDED
    assert status(FACTS[2].claim, Averaged("nowhere", "local step")) is Status.UNDECIDED


@pytest.mark.parametrize(
    ("claim", "true"),
    [
        (relation(sp.Le, norm2(e - E), (1 - 1 / m) * norm2(e)), True),
        (relation(sp.Ge, norm2(e - E), (1 - 1 / m) * norm2(e)), True),
        (relation(sp.Le, norm2(e - E), (1 - 2 / m) * norm2(e)), False),
        (relation(sp.Le, norm2(x - X), (1 - 1 / m) * norm2(x)), False),  # models are not independent
        (relation(sp.Le, norm2(e - E), 0), False),
    ],
    ids=str,
)
def test_independent_noise(claim: Any, true: bool) -> None:
    found = status(claim, laws=(NOISE, WITH_NOISE))
    assert found is Status.PROVED if true else found is not Status.PROVED


def test_noise_of_the_steps_before_adds_up_in_squares() -> None:
    drift, by = vector_total(e - E, t, t), Expected(("noise",), Combine())
    for factor, true in ((1, True), (sp.Rational(99, 100), False)):
        claim = relation(sp.Le, norm2(drift), factor * total(norm2(e - E), t, t))
        found = status(claim, by, laws=(NOISE, WITH_NOISE))
        assert found is Status.PROVED if true else found is not Status.PROVED
    assert "given all that is drawn before it" in NOISE.words()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Averages("a", "", ((x, X), (y, X))), "name a vector or an argument twice"),
        (lambda: Averages("a", "", ((x, x),)), "its own mean"),
        (lambda: Averages("a", "", ((x, X), (X, Y))), "name a vector or an argument twice"),
        (lambda: Averages("a", "", ((x, X - Y),)), "one single vector"),
        (lambda: Averages("a", "", ((x, X * 2),)), "one single vector"),
        (lambda: Averages("a", "", ((x, zero),)), "one single vector"),
        (lambda: Averages("a", "", ((x, vector("X", t, n)),)), "the same arguments"),
        (lambda: Averages("a", "", ((x, X),), (w,)), "neither past nor time"),
        (lambda: Averages("a", "", ((x, X),), independent=(x,)), "the number of clients"),
        (lambda: Averages("a", "", ((x, X),), clients=m, independent=(y,)), "averages of what is independent"),
    ],
)
def test_averages_that_make_no_sense(make: Any, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        make()


@pytest.mark.parametrize(
    ("laws", "why"),
    [
        ((WITH_NOISE,), "independent noise of mean 0"),
        ((Draws("noise", "block_variance", ((e, w),), (w,)), WITH_NOISE), "independent noise of mean 0"),
        ((NOISE, replace(WITH_NOISE, of="iid_clients")), "must be declared by"),
        ((NOISE, Averages("clients", "block_variance", ((x, X),))), "declares Draws"),
        ((NOISE, Averages("clients", "nowhere", ((x, X),))), "must be declared by"),
    ],
)
def test_the_statement_declares_the_averages(laws: tuple[Any, ...], why: str) -> None:
    with pytest.raises(Exception, match=why):
        proof(relation(sp.Le, norm2(X), norm2(x)), Expected(("clients",), Combine()), laws=laws)
