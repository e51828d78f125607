"""Attempts to take the bound of a cited statement for another number of rounds, another start or another quantity."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.cited import Cited, Instance
from boundcheck.proof.clock import Clock, Untimed
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.identity import Decide
from boundcheck.proof.lemma import Lemma
from boundcheck.proof.step import Fact, Status, Step
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import VectorEquality, norm2, vector
from boundcheck.theory import assumptions
from boundcheck.theory.assumptions import dissimilarity_at_start
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Condition, Kind

THEOREM = statement("scgd/theorem_3_3/corrected")
LEMMA = statement("scgd/lemma_3_1/corrected")
ITERATION = statement("feddane/theorem_6_iteration/as_printed")
T6 = statement("feddane/theorem_6/corrected")
names = "mu L n E eta sigma2 dist2_0 K k t y z T gap_0 grad2_0 B2"
mu, L, n, E, eta, sigma2, dist2_0, K, k, t, y, z, T, gap_0, grad2_0, B2 = sp.symbols(names, real=True)
dist2, gap, G = (sp.Function(name, real=True) for name in ("dist2", "gap", "G"))
NEXT = gap(t + 1)
INDEX = Fact("index k", k >= 0, "index", "")
LOW = (Fact("dist2 >= 0", sp.Ge(dist2(k), 0), "metric", ""), Fact("y >= 0", sp.Ge(y, 0), "metric", ""))
START = {dist2_0: dist2_0}


def cycles(rule, target=None, about=THEOREM, rounds=(), facts=(), claim=None):
    """The finding of one step that takes the claim from Lemma 3.1 in a derivation of Theorem 3.3."""
    every = (*scope_facts(about), INDEX, *LOW, *facts)
    one = Step("it", rule.instance({}) if claim is None else claim, tuple(f.name for f in every), rule, "")
    target = dist2(K) if target is None else target
    return Derivation(about, every, (one,), "it", target, rounds=rounds).check_step("it", 5)


def fails(found, why):
    assert found.status is Status.UNDECIDED
    assert why in found.note


@pytest.mark.parametrize(
    ("means", "why"),
    [({}, "nothing stands for dist2_0"), (START, "is taken K*n rounds after its start, and the bound is for n")],
)
@pytest.mark.parametrize("target", [dist2(K), y])
def test_many_cycles_are_not_within_the_bound_of_one(means, target, why):
    """Theorem 3.3 with the bound of Lemma 3.1: all K cycles would do no more than one."""
    wrong = replace(THEOREM, bound=LEMMA.bound + 0 * K, symbols=THEOREM.symbols)
    every = scope_facts(wrong)
    rule = Lemma("scgd/lemma_3_1/corrected", target, means)
    one = Step("it", sp.Le(target, LEMMA.bound), tuple(f.name for f in every), rule, "")
    report = Derivation(wrong, every, (one,), "it", target).examine(5)
    assert report.status is Status.UNDECIDED
    assert why in report.results[0].finding.note
    images = tuple((str(s), image) for s, image in means.items())
    one = replace(one, by=Instance("scgd/lemma_3_1/corrected", target, images))
    report = Derivation(wrong, every, (one,), "it", target).examine(5)
    assert report.status is Status.UNDECIDED
    assert why in report.results[0].finding.note


def test_one_cycle_is():
    rounds = ((dist2(k), n * k),)
    for start, end in ((dist2(k), k + 1), (dist2(3), 4), (dist2_0, 1)):
        rule = Lemma("scgd/lemma_3_1/corrected", dist2(end), {dist2_0: start})
        low = () if start == dist2_0 else (Fact("low", sp.Ge(start, 0), "metric", ""),)
        assert cycles(rule, rounds=rounds, facts=low).status is Status.PROVED
    assert cycles(Instance("scgd/lemma_3_1/corrected", dist2(1), (("dist2_0", dist2_0),)), rounds=rounds).status \
        is Status.PROVED  # fmt: skip


@pytest.mark.parametrize(
    ("start", "end", "why"),
    [
        (dist2(k), k + 2, "is taken 2*n rounds after its start"),
        (dist2(k), k, "is taken 0 rounds after its start"),
        (dist2(k + 1), k, "is taken -n rounds after its start"),
        (dist2(k), K, "is taken K*n - k*n rounds after its start"),
        (dist2_0, k, "is taken k*n rounds after its start"),
        (dist2(k) + dist2(k + 1), k + 1, "mixes values after"),
        (total(dist2(k), k, K), 1, "mixes values after different numbers"),
        (mu / L, 1, "no value at its start stands for one"),
        (y, 1, "after how many rounds y is taken is not given"),
    ],
    ids=str,
)
def test_other_numbers_of_rounds(start, end, why):
    rule = Lemma("scgd/lemma_3_1/corrected", dist2(end), {dist2_0: start})
    fails(cycles(rule, rounds=((dist2(k), n * k),)), why)


@pytest.mark.parametrize(
    ("rounds", "why"),
    [
        (((dist2(k), n),), "are n, but the statement's are"),
        (((dist2(K), n),), "are n, but the statement's are"),
        (((dist2(k), n * (k + 1)),), "but the statement's are"),
        (((dist2(k), n * k), (dist2(t), t)), "are given twice"),
        (((dist2_0, n),), "a value at the start"),
        (((dist2(2 * k), n),), "must be symbols"),
        (((dist2(k), n * t),), "may mention its arguments"),
        (((dist2(k) + 1, n),), "only a symbol, a function or a vector"),
        (((vector("w") * 2, n),), "only single vectors"),
        (((z, n),), "follow from its definition"),
    ],
)
def test_rounds_do_not_contradict_the_statement(rounds, why):
    defined = Fact("z", sp.Eq(z, 2 * y), "definition", "")
    with pytest.raises(BadInput, match=why):
        cycles(Lemma("scgd/lemma_3_1/corrected", dist2(1), START), rounds=rounds, facts=(defined,))


def test_a_definition_does_not_hide_the_rounds():
    defined = Fact("z", sp.Eq(z, dist2(K)), "definition", "")
    rule = Lemma("scgd/lemma_3_1/corrected", z, START)
    fails(cycles(rule, facts=(defined,)), "is taken K*n rounds after its start")
    own = vector("w", k)
    facts = (
        Fact("v", VectorEquality(vector("v", k), own * 2), "definition", ""),
        Fact("index t", t >= 0, "index", ""),
    )
    clock = Derivation(THEOREM, (*scope_facts(THEOREM), INDEX, *facts), (Step("it", mu > 0, (), Decide(), ""),), "it",
                       dist2(K), rounds=((own, n * k),))._clock()  # fmt: skip
    assert clock.rounds(norm2(vector("v", k + 1))) == n * (k + 1)
    assert clock.rounds(k * t * mu * L) is None
    with pytest.raises(Untimed, match="mixes"):
        clock.rounds(norm2(vector("v", k + 1) - own))


def test_a_run_that_is_the_statements_own_counts_its_rounds():
    """dist2(K) counts cycles, so that dist2(n) is no value after n rounds."""
    low = Fact("low", sp.Ge(dist2(0), 0), "metric", "")
    fails(cycles(Cited("scgd/lemma_3_1/corrected", dist2(K), K), facts=(low,)), "dist2(0) is taken is not given")
    given = ((dist2(k), n * k),)
    fails(cycles(Cited("scgd/lemma_3_1/corrected", dist2(k), k), facts=(low,), rounds=given), "rounds after its start")
    run = sp.Function("run", real=True)
    low = Fact("low", sp.Ge(run(0), 0), "metric", "")
    assert cycles(Cited("scgd/lemma_3_1/corrected", run(t), t), facts=(low,)).status is Status.PROVED
    slow = cycles(Cited("scgd/lemma_3_1/corrected", run(t), t), facts=(low,), rounds=((run(t), 2 * t),))
    fails(slow, "is taken 2*t rounds after its start")


def test_an_average_over_rounds_has_no_rounds():
    every = scope_facts(T6)
    mean = sp.Symbol("mean", real=True)
    facts = (*every, Fact("index t", t >= 0, "index", ""), Fact("low", sp.And(gap(t) >= 0, G(t) >= 0), "metric", ""))
    names = tuple(f.name for f in facts)
    for means in ({gap_0: gap_0, grad2_0: G(0)}, {gap_0: gap(t), grad2_0: G(t)}):
        rule = Lemma(ITERATION.id, mean, means)
        step = Step("it", rule.instance({}), names, rule, "")
        rounds = ((gap(t), t), (G(t), t))
        fails(
            Derivation(T6, facts, (step,), "it", mean, rounds=rounds).check_step("it", 5), "mean is taken is not given"
        )
        with pytest.raises(BadInput, match="an average over rounds, which has none"):
            Derivation(T6, facts, (step,), "it", mean, rounds=(*rounds, (mean, T)))


# means


def decrease(means, metric=NEXT, low=True, about=T6):
    """The finding of one step that takes the claim from Theorem 5 in a derivation of Theorem 6."""
    at = 0 if metric == gap(1) else t
    given = (Fact("gap >= 0", gap(at) >= 0, "metric", ""), Fact("G >= 0", G(at) >= 0, "metric", "")) if low else ()
    every = (*scope_facts(about), Fact("index t", t >= 0, "index", ""), *given)
    rule = Lemma(ITERATION.id, metric, means)
    one = Step("it", rule.instance({}), tuple(f.name for f in every), rule, "")
    rounds = ((gap(t), t), (G(t), t))
    return Derivation(about, every, (one,), "it", y, rounds=rounds).check_step("it", 5)


def test_means_of_values_at_the_start():
    assert decrease({gap_0: gap(t), grad2_0: G(t)}).status is Status.PROVED


def test_a_mean_lies_where_the_values_do():
    fails(decrease({gap_0: gap(t), grad2_0: G(t)}, low=False), "not shown: gap(t) >= 0")
    fails(decrease({gap_0: -gap(t), grad2_0: G(t)}), "not shown: -gap(t) >= 0")
    fails(decrease({gap_0: gap(t), grad2_0: -G(t)}), "not shown: -G(t) >= 0")
    assert decrease({gap_0: gap(t) + 3, grad2_0: 2 * G(t)}).status is Status.PROVED  # presumed, and said


@pytest.mark.parametrize(
    ("means", "why"),
    [
        ({dist2_0: -dist2_0, sigma2: -sigma2}, "no other dist2_0"),
        ({dist2_0: -dist2_0}, "no other dist2_0"),
        ({dist2_0: dist2_0 / 2}, "no other dist2_0"),
        ({dist2_0: dist2_0, sigma2: -sigma2}, "sigma2 of scgd/lemma_3_1/corrected is a constant"),
        ({dist2_0: dist2_0, sigma2: sigma2 / 2}, "sigma2 of scgd/lemma_3_1/corrected is a constant"),
        ({dist2_0 * sigma2: y}, "no single value at the start"),
        ({dist2_0: dist2_0, sp.Integer(1): sp.Integer(0)}, "is no expression"),
        ({dist2_0: dist2_0, sp.Integer(0): y}, "is no expression"),
    ],
    ids=str,
)
def test_a_constant_is_its_own_mean_and_a_start_that_of_no_other(means, why):
    """The first one proved dist2_1 <= -(1 - mu s/3) dist2_0 - 4 L^2 s^3 sigma2/mu."""
    dist2_1 = sp.Symbol("dist2_1", real=True)
    every = scope_facts(LEMMA)
    about = replace(LEMMA, id="scgd/lemma_3_1/conservative")
    rule = Lemma("scgd/lemma_3_1/corrected", dist2_1, means)
    claim = sp.Le(dist2_1, LEMMA.bound.xreplace({s: m for s, m in means.items() if s.is_Symbol}))
    step = Step("it", claim, tuple(f.name for f in every), rule, "")
    fails(Derivation(about, every, (step,), "it", dist2_1).check_step("it", 5), why)


def test_a_sign_of_an_expression_is_kept():
    """sigma_i^2/|D_i| is at least 0, and so is its mean; -|y|^2 is the mean of no squared norm."""
    about = statement("fedshuffle/lemma_d_5/corrected")
    sigma2_i, D_i, d2 = sp.symbols("sigma2_i D_i d2", real=True)
    u, v = vector("u"), vector("v")
    every = scope_facts(about)
    for noise, square, why in (
        (sigma2, norm2(v), ""),
        (-sigma2, norm2(v), "not shown: -sigma2 >= 0"),
        (sigma2, -norm2(v), "not shown: -Inner(v, v) >= 0"),
    ):
        rule = Lemma("fedshuffle/lemma_d_1/corrected", norm2(u), {sigma2_i / D_i: noise, d2: square})
        step = Step("it", rule.instance({}), tuple(f.name for f in every), rule, "")
        found = Derivation(about, every, (step,), "it", y, rounds=((u, 3), (v, 3))).check_step("it", 5)
        if why:
            fails(found, why)
        else:
            assert found.status is Status.PROVED


# assumptions on the start


def test_an_assumption_on_the_start_is_not_one_on_later_points(monkeypatch):
    """What the first point meets, the point after t iterations need not."""
    from boundcheck.proof.discovery import derivation

    proof = derivation(ITERATION.id)
    more = (*ITERATION.assumptions, dissimilarity_at_start)
    monkeypatch.setattr("boundcheck.proof.lemma.derivation", lambda _: replace(
        proof, statement=replace(ITERATION, assumptions=more)))  # fmt: skip
    about = replace(T6, assumptions=(*T6.assumptions, dissimilarity_at_start))
    fails(decrease({gap_0: gap(t), grad2_0: G(t)}, about=about), "assumes dissimilarity_at_start, which a later start")
    assert decrease({gap_0: gap(0), grad2_0: G(0)}, metric=gap(1), about=about).status is Status.PROVED
    run = sp.Function("run", real=True)
    start = replace(LEMMA, assumptions=(*LEMMA.assumptions, dissimilarity_at_start))
    monkeypatch.setattr("boundcheck.proof.cited.derivation", lambda _: replace(
        derivation(LEMMA.id), statement=start))  # fmt: skip
    both = replace(THEOREM, assumptions=(*THEOREM.assumptions, dissimilarity_at_start))
    low = Fact("low", sp.Ge(run(k, 0), 0), "metric", "")
    fails(cycles(Cited(LEMMA.id, run(k, t), t), about=both, facts=(low,)), "which a later start need not meet")


def test_assumptions_on_the_start_are_called_so():
    found = [a for a in vars(assumptions).values() if isinstance(a, assumptions.Assumption)]
    assert len(found) > 20
    assert sorted(a.name for a in found if "start" in a.meaning) == ["dissimilarity_at_start", "zero_at_start"]


# quantities


def test_a_term_is_one_quantity():
    """gap(t + 1) <= gap(t) - rho gap(t) would be linear convergence."""
    fails(decrease({gap_0: gap(t), grad2_0: gap(t)}), "gap(t + 1) stands for gap, and gap(t) for grad2")
    fails(decrease({gap_0: gap(t), grad2_0: G(t)}, metric=G(t + 1)), "stands for")


def test_what_the_statement_bounds_is_its_metric():
    about = replace(LEMMA, metric=replace(LEMMA.metric, quantity="gap"))
    rule = Lemma("scgd/lemma_3_1/corrected", y, START)
    fails(cycles(rule, target=y, about=about), "y stands for dist2, and y for gap")
    several = replace(LEMMA, metric=replace(LEMMA.metric, average="mean"))
    fails(cycles(rule, target=y, about=several), "after how many rounds y is taken is not given")
    scaled = replace(LEMMA, metric=replace(LEMMA.metric, scale=mu))
    fails(cycles(rule, target=y, about=scaled), "does not bound what")
    assert cycles(rule, target=y, about=replace(LEMMA, id="scgd/lemma_3_1/other")).status is Status.PROVED


# what may not be cited

CHANGES = {
    "scaled": ({"scale": 2 * mu / mu}, {}, True),
    "scaled by a symbol": ({"scale": mu}, {}, False),
    "halved": ({"scale": sp.Rational(1, 2)}, {}, False),
    "an equality": ({}, {"kind": Kind.EQUALITY}, True),
    "a limit": ({}, {"kind": Kind.LIMIT}, True),
    "a limsup": ({}, {"kind": Kind.LIMSUP}, True),
    "a formula": ({}, {"kind": Kind.FORMULA}, True),
    "an average": ({"average": "mean"}, {}, True),
    "a least value": ({"average": "least"}, {}, True),
    "another objective": ({"surrogate": True}, {}, True),
    "no method": ({}, {"algorithm": None}, True),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_may_not_be_cited(name, monkeypatch):
    """Lemma 3.1 as another kind of claim, whose derivation is proved all the same."""
    metric, changes, never = CHANGES[name]
    from boundcheck.proof.discovery import derivation

    proof = derivation("scgd/lemma_3_1/corrected")
    other = replace(proof.statement, metric=replace(proof.statement.metric, **metric), **changes)
    for module in ("cited", "lemma"):
        monkeypatch.setattr(f"boundcheck.proof.{module}.derivation", lambda _: replace(proof, statement=other))
        monkeypatch.setattr(f"boundcheck.proof.{module}.find_statement", lambda _: other)
    run = sp.Function("run", real=True)
    low = Fact("low", sp.Ge(run(0), 0), "metric", "")
    rules = [Lemma(other.id, y, START), Cited(other.id, run(t), t)]
    if never and "scale" not in metric:
        rules.append(Instance(other.id, y, (("dist2_0", dist2_0),)))
    about = replace(LEMMA, id="scgd/lemma_3_1/other")
    for rule in rules:
        left = rule.instance({}).lhs
        found = cycles(rule, target=y, about=about, facts=(low,), claim=sp.Le(left, LEMMA.bound.subs(dist2_0, (
            run(0) if isinstance(rule, Cited) else dist2_0))))  # fmt: skip
        assert found.status is Status.UNDECIDED, (name, rule)
        assert "no decision" in found.how


def test_a_prescribed_step_is_shown(monkeypatch):
    """A statement about a tuned step says nothing of other steps within its conditions."""
    from boundcheck.proof.discovery import derivation

    proof = derivation(LEMMA.id)
    value = mu / (100 * L**2 * n * E)
    tuned = replace(LEMMA, choices=(("eta", value),))
    for module in ("cited", "lemma"):
        monkeypatch.setattr(f"boundcheck.proof.{module}.derivation", lambda _: replace(proof, statement=tuned))
        monkeypatch.setattr(f"boundcheck.proof.{module}.find_statement", lambda _: tuned)
    about = replace(LEMMA, id="scgd/lemma_3_1/other")
    run = sp.Function("run", real=True)
    low = Fact("low", sp.Ge(run(0), 0), "metric", "")
    images = (("dist2_0", dist2_0),)
    for rule in (Lemma(LEMMA.id, y, START), Cited(LEMMA.id, run(t), t), Instance(LEMMA.id, y, images)):
        fails(cycles(rule, target=y, about=about, facts=(low,)), "not shown: Eq(eta")
        same = replace(about, conditions=(*about.conditions, Condition("tuned", sp.Eq(eta, value, evaluate=False))))
        assert cycles(rule, target=y, about=same, facts=(low,)).status is Status.PROVED


def test_a_scaled_bound_is_divided_by_its_scale(monkeypatch):
    """Where 3 E L eta_g eta_l times the drift is bounded, the drift alone is not bounded by the same."""
    about = statement("fedshuffle/recursion_convex/corrected")
    xi = sp.Symbol("xi", real=True)
    every = (*scope_facts(about), Fact("low", sp.Ge(xi, 0), "metric", ""))
    rule = Instance("fedshuffle/lemma_c_2/corrected", xi, (("gap_0", gap_0),))
    whole = rule.instance({})
    for left, status in ((whole.lhs, Status.PROVED), (xi, Status.UNDECIDED), (2 * whole.lhs, Status.UNDECIDED)):
        step = Step("it", sp.Le(left, whole.rhs), tuple(f.name for f in every), rule, "")
        proof = Derivation(about, every, (step,), "it", y, rounds=((xi, 0),))
        assert proof.check_step("it", 5).status is status


def test_an_expectation_bounds_no_single_outcome():
    about = statement("fedshuffle/lemma_c_1/corrected")
    certain = replace(about, metric=replace(about.metric, expectation="none: for every outcome"))
    drift_0 = sp.Symbol("drift_0", real=True)
    images = tuple((str(s), s) for s in (dist2_0, gap_0, drift_0))
    every = scope_facts(certain)
    for own, status in ((about, Status.PROVED), (certain, Status.UNDECIDED)):
        own = replace(own, id="fedshuffle/lemma_c_1/other")
        rule = Instance("fedshuffle/lemma_c_1/corrected", y, images)
        step = Step("it", rule.instance({}), tuple(f.name for f in every), rule, "")
        assert Derivation(own, every, (step,), "it", y).check_step("it", 5).status is status


def test_the_clock_of_a_statement_about_no_method():
    general = statement("fedshuffle/lemma_b_3/as_printed")
    clock = Clock(general, y)
    with pytest.raises(Untimed, match="y is taken is not given"):
        clock.rounds(y)
    assert clock.rounds(sp.Integer(3)) is None


def test_the_rounds_that_are_given_are_in_the_trusted_base():
    from boundcheck.proof.discovery import derivation

    trusted = [x.claim for x in derivation("feddane/theorem_6/corrected").trusted()]
    assert "gap(t) is taken after t rounds" in trusted
    assert "G(t) is taken after t rounds" in trusted


@pytest.mark.parametrize(
    ("means", "why"),
    [
        ({gap_0: gap(t), grad2_0: z}, "z stands for grad2, and gap(t + 1) for gap"),  # z == gap(t)
        ({gap_0: gap(t), grad2_0: 2 * gap(t)}, "stands for grad2, and gap(t + 1) for gap"),
        ({gap_0: sp.Integer(0), grad2_0: G(t)}, "0 is no value of a run"),
        ({gap_0: gap(t), grad2_0: sp.Integer(5)}, "5 is no value of a run"),
        ({gap_0: gap(t), grad2_0: B2 * G(t)}, "is no value of a run"),
        ({gap_0: t, grad2_0: G(t)}, "t is no value of a run"),
        ({gap_0: gap(t, t), grad2_0: G(t)}, "another number of arguments"),
    ],
    ids=str,
)
def test_what_stands_for_a_start_is_a_value_of_the_run(means, why):
    z_is = Fact("z", sp.Eq(z, gap(0)), "definition", "")
    low = (Fact("gap >= 0", gap(t) >= 0, "metric", ""), Fact("G >= 0", G(t) >= 0, "metric", ""))
    every = (*scope_facts(T6), Fact("index t", t >= 0, "index", ""), *low, z_is)
    rule = Lemma(ITERATION.id, gap(1) if z in means.values() else gap(t + 1), means)
    one = Step("it", rule.instance({}), tuple(f.name for f in every), rule, "")
    if z in means.values():
        one = replace(one, by=replace(rule, means={gap_0: gap(0), grad2_0: z}))
        why = why.replace("gap(t + 1)", "gap(1)")
    proof = Derivation(T6, every, (one,), "it", y, rounds=((gap(t), t), (G(t), t)))
    fails(proof.check_step("it", 5), why)


@pytest.mark.parametrize("term", [t, mu])
def test_an_index_or_a_parameter_has_no_rounds(term):
    every = (*scope_facts(T6), Fact("index t", t >= 0, "index", ""))
    with pytest.raises(BadInput, match="is no value of a run"):
        Derivation(T6, every, (Step("it", mu > 0, (), Decide(), ""),), "it", y, rounds=((term, 5),))


def test_a_general_lemma_does_not_bound_the_metric():
    """|A b|^2 <= |A|^2 |b|^2, said of the distance to the solution, would bound it by anything."""
    general = "fedshuffle/lemma_b_6/sharp"
    images = (("norm2_u", sp.Rational(1, 4)), ("norm2_v", sp.Rational(1, 9)))
    dist2_1 = sp.Symbol("dist2_1", real=True)
    fails(cycles(Instance(general, dist2_1, images), target=dist2_1), "stands for norm2_of_sum, and dist2_1 for dist2")
    assert cycles(Instance(general, y, images), target=dist2_1).status is Status.PROVED  # presumed of y, and said
