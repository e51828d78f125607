"""Facts that the statement gives: each of them, and what differs from it in one place, which stays transcribed."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
import sympy as sp
from sympy.core.cache import clear_cache

from boundcheck.proof.at_points import Evaluation, pointwise
from boundcheck.proof.discovery import derivation
from boundcheck.proof.find.record import fact_rows
from boundcheck.proof.generated import generated
from boundcheck.proof.step import Fact
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import VectorEquality, norm2, vector
from boundcheck.theory.assumptions import smooth_clients
from boundcheck.theory.statement import Algorithm

eta, mu, a, R, C, r, i, k = sp.symbols("eta mu a R C r i k", real=True)
mean, gap_0, dist2_0, dist2_1 = sp.symbols("mean gap_0 dist2_0 dist2_1", real=True)
gap, G = (sp.Function(name, real=True) for name in ("gap", "G"))
x, s, y, g, d = vector("x", r), vector("s", r), vector("y", i, k), vector("g", i, k), vector("d", i)
m, g0 = vector("m"), vector("g0")
KEYS = {"eta": "method/eta", "mu": "method/prox", "a": "method/a", "gap_0": "start/gap", "dist2_0": "start/dist2"}


def statement(kind="fedavg", quantity="gap", weights=sp.S.One, steps=()):
    symbols = [SimpleNamespace(name=n, key=key, expr=sp.Symbol(n, real=True), integer=False) for n, key in KEYS.items()]
    metric = SimpleNamespace(quantity=quantity, weights=weights, with_last=False, rounds=R, scale=sp.S.One)
    return SimpleNamespace(symbols=symbols, metric=metric, algorithm=Algorithm(kind, ("eta",), steps))


def made(*claims, kind="metric", target=mean, statement_kind="fedavg", **about):
    facts = [Fact(str(n), claim, kind, "") for n, claim in enumerate(claims)]
    return [f.name in generated(statement(statement_kind, **about), facts, target) for f in facts]


def test_the_metric_is_a_mean_over_the_rounds():
    right = sp.Eq(mean, total(gap(r), r, R) / R)
    assert made(right) == [True]
    for wrong in (
        sp.Eq(mean, total(gap(r), r, R + 1) / R), sp.Eq(mean, total(gap(r + 1), r, R) / R),
        sp.Eq(mean, total(gap(r), r, R) / (R + 1)), sp.Eq(mean, 2 * total(gap(r), r, R) / R),
        sp.Eq(mean, total(gap(r), r, R)), sp.Eq(mean, total(gap(r), r, R) / R + 1),
        sp.Le(mean, total(gap(r), r, R) / R), sp.Eq(gap_0, total(gap(r), r, R) / R),
    ):  # fmt: skip
        assert made(wrong) == [False]
    assert made(right, weights=None) == made(right, weights=r) == [False]


def test_a_term_has_one_meaning():
    assert made(sp.Eq(gap_0, gap(0)), sp.Eq(dist2_0, norm2(x.at(r, 0)))) == [True, True]
    assert made(sp.Eq(gap_0, G(0)), sp.Eq(dist2_0, G(0))) == [True, False]
    assert made(sp.Eq(gap_0, gap(0)), sp.Eq(gap_0, G(0))) == [True, False]
    assert made(sp.Eq(gap_0, norm2(x.at(r, 0))), sp.Eq(dist2_0, norm2(x.at(r, 0)))) == [True, False]
    assert made(sp.Eq(dist2_0, 2 * norm2(x)), sp.Eq(dist2_0, norm2(x - s)), sp.Eq(eta, G(0))) == [False] * 3


def test_signs_of_named_quantities_only():
    named = sp.Eq(mean, total(gap(r), r, R) / R)
    assert made(named, gap(r) >= 0, gap(R) >= 0, G(r) >= 0, gap(r) >= 1, gap(r) <= 0) == [True] * 3 + [False] * 3
    assert made(gap(r) >= 0) == [False]
    assert made(named, gap(r) >= 0, quantity="inner") == [True, False]


def test_the_distance_is_at_most_that_to_a_minimiser():
    claim = sp.Le(dist2_1, norm2(x))
    assert made(claim, target=dist2_1, quantity="dist2") == [True]
    assert made(claim, target=dist2_1, quantity="grad2") == [False]
    assert made(sp.Ge(dist2_1, norm2(x)), target=dist2_1, quantity="dist2") == [False]


LOCAL = VectorEquality(y.at(k, k + 1), y - g * eta)


@pytest.mark.parametrize("wrong", [
    VectorEquality(y.at(k, k + 1), y + g * eta), VectorEquality(y.at(k, k + 1), y - g * eta * 2),
    VectorEquality(y.at(k, k + 1), y - g * eta / R), VectorEquality(y.at(k, k + 2), y - g * eta),
    VectorEquality(y.at(i, i + 1), y - g * eta), VectorEquality(y.at(k, k + 1), y * 2 - g * eta),
    VectorEquality(y.at(k, k + 1), y - g * eta - s * eta),
    VectorEquality(y.at(k, k + 1), y - vector_total(g, k, R) * eta),
    sp.Eq(norm2(y.at(k, k + 1)), norm2(y - g * eta)),
], ids=str)  # fmt: skip
def test_a_local_step_is_that_of_the_composition(wrong):
    assert made(LOCAL, kind="algorithm") == [True]
    assert made(wrong, kind="algorithm") == [False]


def test_a_function_is_known_by_its_name_when_sympy_makes_it_anew():
    before = vector("y", i, k)
    clear_cache()
    after = vector("y", i, k + 1)
    assert after.terms[0][0].func is not before.terms[0][0].func
    assert made(VectorEquality(after, before - g * eta), kind="algorithm") == [True]


def test_methods_with_further_parts_and_changing_steps_do_other_steps():
    for kind in ("fedshuffle_mvr", "feddane", "scaffold", "fedshuffle_nova"):
        assert made(LOCAL, kind="algorithm", statement_kind=kind) == [False]
    assert made(LOCAL, kind="algorithm", steps=(("eta", eta / 2),)) == [False]


def test_a_step_with_momentum_or_a_divisor():
    mixed = y - (g + (m - g0) * (1 - a)) * eta / C
    claim = VectorEquality(y.at(k, k + 1), mixed)
    assert made(claim, kind="algorithm", statement_kind="fedshuffle_mvr") == [True]
    assert made(claim, kind="algorithm", statement_kind="fedshuffle") == [False]
    for wrong in (
        y - (g + (m - g0) * a) * eta / C, y - (g + (g0 - m * 2) * (1 - a)) * eta / C,
        y - (g * (1 - a) + m - g0) * eta / C, y - (g + m * (1 - a)) * eta / C,
    ):  # fmt: skip
        assert made(VectorEquality(y.at(k, k + 1), wrong), kind="algorithm", statement_kind="fedshuffle_mvr") == [False]


def test_a_visit_starts_at_the_servers_point_and_the_server_takes_the_mean():
    start, average = VectorEquality(y.at(k, 0), x), VectorEquality(s, vector_total(d, i, C) / C)
    assert made(LOCAL, start, kind="algorithm") == [True, True]
    assert made(start, kind="algorithm") == [False]  # nothing says that y(i, k) is a local point
    assert made(LOCAL, VectorEquality(y.at(k, 1), x), kind="algorithm") == [True, False]
    assert made(average, kind="algorithm") == [True]
    assert made(average, kind="algorithm", statement_kind="fedshuffle") == [False]
    assert made(VectorEquality(s, vector_total(d, i, C) / (C + 1)), kind="algorithm") == [False]


def test_the_subproblem_of_a_device():
    claim = VectorEquality(vector("h"), m * -1 - s * mu)
    assert made(claim, kind="algorithm", statement_kind="feddane") == [True]
    assert made(claim, kind="algorithm") == [False]
    assert made(VectorEquality(vector("h"), m * -1 + s * mu), kind="algorithm", statement_kind="feddane") == [False]


def test_the_gradient_of_a_step_is_that_at_its_point():
    def facts(point):
        here, there = Evaluation("F", point, g), Evaluation("F", m, g0)
        return [Fact("step", LOCAL, "algorithm", ""), pointwise("smooth", smooth_clients, "", here, there)]

    assert "step" in generated(statement(), facts(y), mean)
    assert "step" not in generated(statement(), facts(x), mean)


def test_a_changed_fact_counts_as_transcribed():
    proof = derivation("scgd/fedavg_full_participation/corrected")

    def written(one):
        return {r["name"] for r in fact_rows(one) if (r["kind"], r["origin"]) == ("algorithm", "transcribed")}

    assert not {"local step", "common start", "average"} & written(proof)
    step = next(f for f in proof.facts if f.name == "local step")
    half = VectorEquality(step.claim.left, step.claim.left - (step.claim.left - step.claim.right) / 2)
    facts = tuple(replace(f, claim=half) if f is step else f for f in proof.facts)
    assert {"local step", "common start"} <= written(replace(proof, facts=facts))
