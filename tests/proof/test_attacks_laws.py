"""Attempts to prove with the wrong law, with hidden dependence, or with a vector of the past that is drawn."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from attack_tools import relation, step

from boundcheck.errors import BadInput, UnknownName
from boundcheck.proof.at_points import Evaluation, pointwise
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import EverySample, Expected, Variance, variance_of
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Identity
from boundcheck.proof.laws import Draws, Law, Order
from boundcheck.proof.rules import InEpochs, SumOver
from boundcheck.proof.step import Fact, Status
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import smooth_samples
from boundcheck.theory.discovery import statement

B5 = statement("fedshuffle/lemma_b_5/corrected")
D1 = statement("fedshuffle/lemma_d_1/corrected")
n, k, sigma2, a, i, j, variance = sp.symbols("n k sigma2 a i j variance", real=True)
u, v, w, x, y, h = vector("u", i), vector("v", i), vector("w"), vector("x", a), vector("y", a), vector("h")
ORDER = Order("order", "without_replacement", ((x, u),), (u, w), n)
NAMES = ("domain k", "domain 1", "domain n", "index a")
INDEX = Fact("index a", sp.And(a >= 0, a <= n - 1), "index", "")
mean = vector_total(u, i, n) / n
squares = total(norm2(u), i, n)
first = vector_total(x, a, k)


def proof(claim, laws=(ORDER,), facts=(), by=None, about=B5, drawn=((h, 1),)):
    every = (*scope_facts(about), INDEX, *facts)
    names = (*(f.name for f in every if f.name.startswith(("domain", "index"))), *(f.name for f in facts))
    by = Expected(tuple(law.name for law in laws)) if by is None else by
    return Derivation(about, every, (step("it", claim, names, by),), "it", variance, laws=laws, drawn=drawn)


def status(claim, **more):
    return proof(claim, **more).check_step("it", 5).status


def equal(left, right):
    return relation(sp.Eq, left, right)


SPREAD = squares - n * norm2(mean)
FACTOR = k * (n - k) / (n * sp.Max(1, n - 1))


@pytest.mark.parametrize(
    "claim",
    [
        equal(inner(first, w), k * inner(mean, w)),
        equal(norm2(first), k**2 * norm2(mean) + FACTOR * SPREAD),
        equal(norm2(x), squares / n),
        relation(sp.Eq, norm2(vector_total(x, a, n)), n**2 * norm2(mean)),
    ],
    ids=["linear", "quadratic", "one", "all"],
)
def test_what_is_true_of_an_order(claim):
    assert status(claim) is Status.PROVED


@pytest.mark.parametrize(
    "claim",
    [
        equal(norm2(first), k**2 * norm2(mean) + k / n * SPREAD),  # with replacement
        equal(norm2(first), k**2 * norm2(mean) + k * (n - k) / n**2 * SPREAD),
        equal(norm2(first), k**2 * norm2(mean) + k * (n - k - 1) / (n * sp.Max(1, n - 1)) * SPREAD),
        equal(norm2(first), k**2 * norm2(mean) + FACTOR * sp.Rational(101, 100) * SPREAD),
        relation(sp.Eq, norm2(first), k**2 * norm2(mean)),  # Jensen as an equation
        relation(sp.Le, norm2(first), k**2 * norm2(mean)),
        equal(inner(first, x), (k - 1) / (n * sp.Max(1, n - 1)) * (n**2 * norm2(mean) - squares)),
        equal(norm2(x - w), norm2(mean - w)),  # a draw is not its mean
        equal(inner(x.at(a, 0), x.at(a, 1)), norm2(mean)),  # two draws of an order are not independent
        equal(norm2(vector_total(x, a, k + 1)), (k + 1) ** 2 * norm2(mean) + FACTOR * SPREAD),
    ],
    ids=str,
)
def test_what_is_false_of_an_order(claim):
    assert status(claim) is not Status.PROVED
    assert status(claim, by=Expected(("order",), Combine())) is not Status.PROVED


def test_the_next_draw_is_not_among_the_first():
    """Off by one: x(k) given x(0), ..., x(k-1) against x(k-1), which is one of these; x(n) is no draw at all."""
    inside = sp.Eq(inner(first, x.at(a, k - 1)), inner(first, x.at(a, k)), evaluate=False)
    few = Fact("few", sp.And(j >= 1, j <= n - 1), "index", "")
    before = vector_total(x, a, j)
    after = equal(inner(before, x.at(a, j)), j / (n * sp.Max(1, n - 1)) * (n**2 * norm2(mean) - squares))
    assert status(inside) is not Status.PROVED
    assert status(after, facts=(few,)) is Status.PROVED
    two = equal(inner(before, x.at(a, j)), j * (norm2(mean) - SPREAD / (n * sp.Max(1, n - 1))))
    assert status(two, facts=(few,)) is Status.PROVED
    missing = proof(two.xreplace({j: k}))
    assert missing.check_step("it", 5).status is Status.UNDECIDED  # k = n: there is no draw n
    assert status(equal(inner(x.at(a, n), w), inner(mean, w))) is Status.UNDECIDED
    assert status(equal(inner(x.at(a, -1), w), inner(mean, w))) is Status.UNDECIDED
    half = relation(sp.Eq, inner(x.at(a, n / 2 - n / 2 + sp.Rational(1, 2)), w), inner(mean, w))
    assert status(half) is Status.UNDECIDED


def test_a_vector_that_is_not_of_the_past_is_not_independent():
    """<x, h> for an h of which nothing is known, or that is one of the draws in disguise."""
    assert status(equal(inner(first, h), k * inner(mean, h))) is not Status.PROVED
    disguised = Fact("h", VectorEquality(h, x.at(a, 0) - w), "definition", "")
    law = replace(ORDER, past=(u, w, h))
    for kind in ("definition", "algorithm"):
        with pytest.raises(BadInput, match="h is known before the draw, but x is not"):
            proof(equal(inner(first, h), k * inner(mean, h)), laws=(law,), facts=(replace(disguised, kind=kind),))
    both = Fact("h", VectorEquality(h, y.at(a, 0)), "algorithm", "")
    with pytest.raises(BadInput, match="h is known before the draw, but y is not"):
        proof(equal(inner(first, h), k * inner(mean, h)), laws=(law,), facts=(both,), drawn=((y, a + 1),))
    turned = Fact("h", VectorEquality(x, h), "algorithm", "")
    with pytest.raises(BadInput, match="x is given by its law"):
        proof(equal(inner(first, h), k * inner(mean, h)), laws=(law,), facts=(turned,))
    for kind in ("definition", "metric"):
        whole = Fact("whole", VectorEquality(vector_total(x, a, n), h), kind, "")
        with pytest.raises(BadInput, match=r"is given by its law|must define one vector atom"):
            proof(equal(inner(first, h), k * inner(mean, h)), laws=(law,), facts=(whole,))


def test_the_future_is_not_known():
    """A law that is drawn first may not take what is drawn later for known, nor both each other."""
    one = Order("one", "without_replacement", ((x, u),), (u, w, y), n)
    two = Order("two", "without_replacement", ((y, v),), (v, w, x), n)
    claim = equal(inner(first, y.at(a, 0)), k * inner(mean, y.at(a, 0)))
    with pytest.raises(BadInput, match="takes y as known before"):
        proof(claim, laws=(one, two))
    later = replace(two, past=(u, v, w, x))
    own = replace(one, past=(u, v, w))
    true = equal(inner(first, vector_total(y, a, k)), k**2 * inner(mean, vector_total(v, i, n) / n))
    assert status(true, laws=(own, later), by=Expected(("two", "one")), drawn=((y, a + 1), (x, a + 1))) is Status.PROVED
    with pytest.raises(BadInput, match="draws or is called what another law does"):
        proof(true, laws=(own, replace(later, drawn=((x, v),), past=(u, v, w))))
    silent = proof(true, laws=(own, replace(two, past=(v, w))), by=Expected(("two", "one")))
    assert silent.check_step("it", 5).status is Status.UNDECIDED  # nothing says that the orders are independent


@pytest.mark.parametrize(
    ("law", "why"),
    [
        (Draws("order", "without_replacement", ((x, mean),), (u, w)), "declares Order"),
        (Order("order", "nowhere", ((x, u),), (u, w), n), "must be declared by an assumption, the method"),
        (Law("order", "without_replacement", ((x, u),), (u, w)), "not one of the checker's own"),
    ],
)
def test_the_law_is_the_statements(law, why):
    with pytest.raises((BadInput, UnknownName), match=why):
        proof(equal(norm2(first), squares), laws=(law,))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Order("o", "", ((x, u),), (u, x), n), "draws a vector twice, or one that is known"),
        (lambda: Order("o", "", ((x, u), (x, v)), (u, v), n), "draws a vector twice"),
        (lambda: Order("o", "", ((x, v),), (u,), n), "which is not known before the draw"),
        (lambda: Order("o", "", ((x, u * 2),), (u,), n), "must be a family"),
        (lambda: Order("o", "", ((x, u + w),), (u, w), n), "must be a family"),
        (lambda: Order("o", "", ((x, vector("u", j, i)),), (vector("u", j, i),), n), "must be a family"),
        (lambda: Order("o", "", ((x, u),), (u,)), "needs the number of its items"),
        (lambda: Order("o", "", ((w, u),), (u,), n), "must be a function of symbols"),
        (lambda: Order("o", "", ((vector("x", a, a), u),), (u,), n), "must be a function of symbols"),
        (lambda: Order("o", "", ((x, u),), (u, Vector(())), n), "single vectors"),
        (lambda: Draws("d", "", ((x, h),), (w,)), "which is not known before the draw"),
    ],
)
def test_a_law_stands_on_its_own(make, why):
    with pytest.raises(BadInput, match=why):
        make()


def test_a_gradient_at_a_drawn_point_is_not_of_the_past():
    """g is the gradient where the run is, which the order moves: neither fixed nor one of a fixed family."""
    D_i = sp.Symbol("D_i", real=True)
    g, at, G = vector("g", a), vector("p", a), vector("G", i)
    index = Fact("index a", sp.And(a >= 0, a <= D_i - 1), "index", "")
    smooth = pointwise(
        "A3.2", smooth_samples, "", Evaluation("f_ij", at, g, which=a), Evaluation("f_ij", Vector(()), y, which=a)
    )
    for law in (
        Order("order", "fedshuffle_mvr", ((g, G),), (G, w), D_i),
        Order("order", "fedshuffle_mvr", ((x, u),), (u, w, g), D_i),
    ):
        with pytest.raises(BadInput, match="is a gradient at a point that is not known before the draw, p"):
            Derivation(
                D1,
                (*scope_facts(D1), index, smooth),
                (step("it", equal(inner(g, w), 0), (), Expected(("order",))),),
                "it",
                variance,
                laws=(law,),
                drawn=((at, a),),
            )


def test_the_metric_is_the_variance_that_it_says():
    true = variance_of("variance", variance, first / k, ORDER)
    claim = equal(variance, (n - k) / (k * sp.Max(1, n - 1)) * sigma2)
    spread = Fact("spread", equal(sigma2, total(norm2(u - mean), i, n) / n), "metric", "")
    assert status(claim, facts=(true, spread)) is Status.PROVED
    forged = replace(true, claim=equal(variance, norm2(first / k)))
    with pytest.raises(BadInput, match="is not what the variance of"):
        proof(claim, facts=(forged, spread))
    with pytest.raises(BadInput, match="what its law does not draw"):
        proof(claim, facts=(variance_of("variance", variance, first / k + h, ORDER), spread))
    with pytest.raises(BadInput, match="what its law does not draw"):
        proof(claim, facts=(variance_of("variance", variance, first / k, replace(ORDER, name="other")), spread))
    other = replace(B5, metric=replace(B5.metric, quantity="dist2"))
    with pytest.raises(BadInput, match="is a variance, which it is not"):
        proof(claim, facts=(true, spread), about=other)
    assert Variance(first, ORDER).claim(variance) != forged.claim


def test_expectations_are_put_into_nothing_else():
    """A rule inside would use its claims for all indices; a name without a law is none."""
    claim = equal(norm2(x), squares / n)
    inside = Expected(("order",), SumOver("it", a, n))  # pyright: ignore
    assert status(claim, by=inside) is Status.UNDECIDED
    assert status(claim, by=Expected(("nowhere",))) is Status.UNDECIDED
    assert status(claim, by=Identity()) is not Status.PROVED
    one = proof(equal(norm2(x), squares / n)).check_step("it", 5)
    assert one.certificate is not None
    assert one.certificate["kind"] == "expectation"
    assert one.certificate["put in"][0]["product"] == "Inner(x(a), x(a))"


# draws that are made again in every round

LEMMA_1 = statement("partial_averaging/lemma_1/corrected")
r, K = sp.symbols("r K", real=True)
g, b, s = vector("g", r, i), vector("b", r, i), vector("s", r)
NOISE = Draws("noise", "block_variance", ((g, b),), (b, s), time=r)
ROUNDS = Fact("index r", sp.And(r >= 1, r <= K - 1), "index", "")


def rounds(claim, law=NOISE, facts=(), drawn=((g, r + 1), (b, r), (s, r))):
    every = (*scope_facts(LEMMA_1), ROUNDS, *facts)
    names = tuple(f.name for f in every if not f.name.startswith("condition"))
    one = step("it", claim, names, Expected((law.name,)))
    return Derivation(LEMMA_1, every, (one,), "it", variance, laws=(law,), drawn=drawn)


def at(v, time, place=0):
    return v.at(r, time).at(i, place)


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        (equal(inner(at(g, r), s), inner(at(b, r), s)), Status.PROVED),
        (equal(inner(at(g, r), s.at(r, r - 1)), inner(at(b, r), s.at(r, r - 1))), Status.PROVED),
        (equal(inner(at(g, r), at(g, r, 1)), inner(at(b, r), at(b, r, 1))), Status.PROVED),
        # what is known after the round depends on its draws
        (equal(inner(at(g, r), s.at(r, r + 1)), inner(at(b, r), s.at(r, r + 1))), Status.UNDECIDED),
        (equal(inner(at(g, r), at(b, r + 1)), inner(at(b, r), at(b, r + 1))), Status.UNDECIDED),
        (equal(inner(at(g, r), at(g, r + 1)), inner(at(b, r), at(b, r + 1))), Status.UNDECIDED),
        (equal(inner(at(g, r), s.at(r, K)), inner(at(b, r), s.at(r, K))), Status.UNDECIDED),
        (relation(sp.Eq, norm2(at(g, r)), norm2(at(b, r))), Status.UNDECIDED),  # no noise
        (relation(sp.Eq, norm2(at(g, r) + at(g, r, 1)), norm2(at(b, r) + at(b, r, 1))), Status.UNDECIDED),
    ],
    ids=str,
)
def test_a_round_knows_its_past_and_not_its_future(claim, status):
    found = rounds(claim).check_step("it", 5).status
    assert found is status if status is Status.PROVED else found is not Status.PROVED


def test_the_state_of_a_run_depends_on_what_was_drawn():
    """s' = s - g may be known in the next round, never in the same one, nor before all of them."""
    after = Fact("s", VectorEquality(s.at(r, r + 1), s - at(g, r)), "algorithm", "")
    claim = equal(inner(at(g, r), s.at(r, r + 1)), inner(at(b, r), s) - norm2(at(g, r)))
    assert rounds(claim, facts=(after,)).check_step("it", 5).status is Status.PROVED
    same = replace(after, claim=VectorEquality(s, s.at(r, r - 1) - at(g, r)))
    with pytest.raises(BadInput, match="s is known before the draw, but g is not"):
        rounds(claim, facts=(same,))
    timeless = replace(NOISE, past=(b, s, w))
    fixed = replace(after, claim=VectorEquality(w, s.at(r, 3) - at(g, 2)))
    with pytest.raises(BadInput, match="w is known before the draw, but g, s is not"):
        rounds(claim, law=timeless, facts=(fixed,))
    with pytest.raises(BadInput, match="s is known before the draw, but g is not"):
        rounds(claim, law=Draws("noise", "block_variance", ((g, b),), (b, s)), facts=(after,))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Draws("d", "", ((g, b.at(r, r + 1)),), (b,), time=r), "known at another time"),
        (lambda: Draws("d", "", ((g, b),), (b,), time=i), "has no argument i, its time"),
        (lambda: Draws("d", "", ((g, b),), (b,), time=K), "has no argument K, its time"),
    ],
)
def test_a_law_with_a_time(make, why):
    with pytest.raises(BadInput, match=why):
        make()


# epochs

DRIFT = statement("fedshuffle/drift_of_a_round/corrected")
E, t, e, N, q = sp.symbols("E t e N q", real=True)
gradient = vector("x", t)
anew = Order("order", "fedshuffle", ((gradient, u),), (u, w), N, True)
EPOCHS = (
    Fact("samples", N >= 1, "count", ""),
    Fact("index e", sp.And(e >= 0, e <= E - 1), "index", ""),
    Fact("index q", sp.And(q >= 0, q <= N - 1), "index", ""),
    Fact("index t", sp.And(t >= 0, t <= E * N - 1), "index", ""),
)
average = vector_total(u, i, N) / N
apart = total(norm2(u), i, N) - N * norm2(average)


def in_epochs(claim, by=None, law=anew):
    every = (*scope_facts(DRIFT), *EPOCHS)
    names = ("samples", "index e", "index q", "index t", "domain E")
    one = step("it", claim, names, Expected(("order",)) if by is None else by)
    return Derivation(DRIFT, every, (one,), "it", variance, laws=(law,)).check_step("it", 5).status


def upto(count):
    return vector_total(gradient, t, count)


@pytest.mark.parametrize(
    ("claim", "true"),
    [
        (equal(norm2(upto(e * N + q)), (e * N + q) ** 2 * norm2(average)
               + q * (N - q) / (N * sp.Max(1, N - 1)) * apart), True),
        (equal(norm2(upto(e * N)), (e * N) ** 2 * norm2(average)), True),
        (equal(inner(upto(t), w), t * inner(average, w)), True),
        (equal(norm2(gradient.at(t, e * N + q)), total(norm2(u), i, N) / N), True),
        # the noise of the epochs before adds nothing, and that of this one does not grow for ever
        (equal(norm2(upto(e * N + q)), (e * N + q) ** 2 * norm2(average)
               + (e + 1) * q * (N - q) / (N * sp.Max(1, N - 1)) * apart), False),
        (equal(norm2(upto(t)), t**2 * norm2(average) + t * (N - t) / (N * sp.Max(1, N - 1)) * apart), False),
        (equal(norm2(upto(e * N + q + 1)), (e * N + q + 1) ** 2 * norm2(average)
               + q * (N - q) / (N * sp.Max(1, N - 1)) * apart), False),
        (relation(sp.Eq, norm2(upto(e * N + q)), (e * N + q) ** 2 * norm2(average)), False),
    ],
    ids=str,
)  # fmt: skip
def test_epochs(claim, true):
    found = in_epochs(claim)
    assert found is Status.PROVED if true else found is not Status.PROVED


def test_only_whole_epochs_use_every_sample_once():
    every, by = vector_total(u, i, N), EverySample("order")
    assert in_epochs(VectorEquality(upto(E * N), every * E), by) is Status.PROVED
    assert in_epochs(VectorEquality(upto(N), every), by) is Status.PROVED
    for wrong in (
        VectorEquality(upto(E * N), every),
        VectorEquality(upto(N - 1), every),
        VectorEquality(upto(N + 1), every),
        VectorEquality(upto(e * N + q), average * (e * N + q)),
        VectorEquality(gradient.at(t, 0), average),
    ):
        assert in_epochs(wrong, by) is not Status.PROVED
    once = Order("order", "fedshuffle", ((gradient, u),), (u, w), N)
    assert in_epochs(VectorEquality(upto(E * N), every * E), by, once) is not Status.PROVED


def test_a_sum_over_epochs_has_as_many_terms():
    f = sp.Function("f", real=True)
    rule = InEpochs(f(t), t, e, E, q, N)
    both = total(total(f(e * N + q), q, N), e, E)
    assert in_epochs(relation(sp.Le, total(f(t), t, sp.expand(E * N)), both), rule) is Status.PROVED
    for wrong in (
        relation(sp.Le, total(f(t), t, sp.expand(E * N) + 1), both),
        relation(sp.Le, total(f(t), t, sp.expand(E * N)), total(total(f(e * N + q), q, N - 1), e, E)),
        relation(sp.Le, total(f(t), t, sp.expand(E * N)), total(total(f(e * N + q + 1), q, N), e, E)),
        relation(sp.Lt, total(f(t), t, sp.expand(E * N)), both),
    ):
        assert in_epochs(wrong, rule) is not Status.PROVED
    for bad in (InEpochs(f(q), t, e, E, q, N), InEpochs(f(t), t, e, E, e, N), InEpochs(f(t), t, e, e, q, N)):
        with pytest.raises(BadInput, match="sum"):
            bad.instance({})
