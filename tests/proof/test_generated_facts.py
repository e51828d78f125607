"""Facts that the statement gives: each of them, and what differs from it in one place, which stays transcribed."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

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


def statement(of: str = "fedavg", quantity: str = "gap", weights: Any = sp.S.One, steps: Any = ()) -> Any:
    symbols = [SimpleNamespace(name=n, key=key, expr=sp.Symbol(n, real=True), integer=False) for n, key in KEYS.items()]
    metric = SimpleNamespace(quantity=quantity, weights=weights, with_last=False, rounds=R, scale=sp.S.One)
    return SimpleNamespace(symbols=symbols, metric=metric, algorithm=Algorithm(of, ("eta",), steps))


def made(*claims: Any, kind: str = "metric", target: Any = mean, of: str = "fedavg", **about: Any) -> list[bool]:
    """Which of the claims the statement gives."""
    facts = [Fact(str(n), claim, kind, "") for n, claim in enumerate(claims)]
    return [f.name in generated(statement(of, **about), facts, target) for f in facts]  # pyright: ignore


MEAN = total(gap(r), r, R) / R
NAMED, NORM, END = sp.Eq(mean, MEAN), sp.Eq(dist2_0, norm2(x.at(r, 0))), {"target": dist2_1, "quantity": "dist2"}


@pytest.mark.parametrize(("claims", "about", "given"), [
    # the metric is a mean over the rounds
    ([NAMED], {}, [True]), ([NAMED], {"weights": None}, [False]), ([NAMED], {"weights": r}, [False]),
    *(([sp.Eq(mean, right)], {}, [False]) for right in
      (total(gap(r), r, R + 1) / R, total(gap(r + 1), r, R) / R, total(gap(r), r, R) / (R + 1), 2 * MEAN, R * MEAN,
       MEAN + 1)),
    ([sp.Le(mean, MEAN)], {}, [False]), ([sp.Eq(gap_0, MEAN)], {}, [False]),
    # a term has one meaning
    ([sp.Eq(gap_0, gap(0)), NORM], {}, [True, True]), ([sp.Eq(gap_0, G(0)), sp.Eq(dist2_0, G(0))], {}, [True, False]),
    ([sp.Eq(gap_0, gap(0)), sp.Eq(gap_0, G(0))], {}, [True, False]),
    ([sp.Eq(gap_0, norm2(x.at(r, 0))), NORM], {}, [True, False]),
    ([sp.Eq(dist2_0, 2 * norm2(x)), sp.Eq(dist2_0, norm2(x - s)), sp.Eq(eta, G(0))], {}, [False] * 3),
    # signs of named quantities only
    ([NAMED, gap(r) >= 0, gap(R) >= 0, G(r) >= 0, gap(r) >= 1, gap(r) <= 0], {}, [True] * 3 + [False] * 3),
    ([gap(r) >= 0], {}, [False]), ([NAMED, gap(r) >= 0], {"quantity": "inner"}, [True, False]),
    # the distance is at most that to a minimiser
    ([sp.Le(dist2_1, norm2(x))], END, [True]), ([sp.Ge(dist2_1, norm2(x))], END, [False]),
    ([sp.Le(dist2_1, norm2(x))], END | {"quantity": "grad2"}, [False]),
], ids=str)  # fmt: skip
def test_a_fact_about_the_metric(claims: Any, about: Any, given: list[bool]) -> None:
    assert made(*claims, **about) == given


NEXT = y.at(k, k + 1)


def to(right: Any, left: Any = NEXT) -> Any:
    return VectorEquality(left, right)


LOCAL, START, AVERAGE = to(y - g * eta), to(x, y.at(k, 0)), vector_total(d, i, C)
MIXED = to(y - (g + (m - g0) * (1 - a)) * eta / C)
MVR, DANE = "fedshuffle_mvr", "feddane"


@pytest.mark.parametrize(("claims", "of", "given"), [
    ([LOCAL], "fedavg", [True]), *(([LOCAL], of, [False]) for of in (MVR, DANE, "scaffold", "fedshuffle_nova")),
    *(([wrong], "fedavg", [False]) for wrong in (
        to(y + g * eta), to(y - g * eta * 2), to(y - g * eta / R), to(y - g * eta, y.at(k, k + 2)),
        to(y - g * eta, y.at(i, i + 1)), to(y * 2 - g * eta), to(y - g * eta - s * eta),
        to(y - vector_total(g, k, R) * eta), sp.Eq(norm2(y.at(k, k + 1)), norm2(y - g * eta)))),
    # a step with momentum or a divisor
    ([MIXED], MVR, [True]), ([MIXED], "fedshuffle", [False]),
    *(([to(y - wrong * eta / C)], MVR, [False]) for wrong in (
        g + (m - g0) * a, g + (g0 - m * 2) * (1 - a), g * (1 - a) + m - g0, g + m * (1 - a))),
    # a visit starts at the server's point, where something says that y(i, k) is a local point
    ([LOCAL, START], "fedavg", [True, True]), ([START], "fedavg", [False]),
    ([LOCAL, to(x, y.at(k, 1))], "fedavg", [True, False]),
    # the server takes the mean
    ([to(AVERAGE / C, s)], "fedavg", [True]), ([to(AVERAGE / C, s)], "fedshuffle", [False]),
    ([to(AVERAGE / (C + 1), s)], "fedavg", [False]),
    # the subproblem of a device
    ([to(m * -1 - s * mu, vector("h"))], DANE, [True]), ([to(m * -1 - s * mu, vector("h"))], "fedavg", [False]),
    ([to(m * -1 + s * mu, vector("h"))], DANE, [False]),
], ids=str)  # fmt: skip
def test_a_fact_about_the_method(claims: Any, of: str, given: list[bool]) -> None:
    assert made(*claims, kind="algorithm", of=of) == given


def test_a_step_size_that_changes_makes_another_step() -> None:
    assert made(LOCAL, kind="algorithm", steps=(("eta", eta / 2),)) == [False]


def test_a_function_is_known_by_its_name_when_sympy_makes_it_anew() -> None:
    before = vector("y", i, k)
    clear_cache()
    after = vector("y", i, k + 1)
    assert after.terms[0][0].func is not before.terms[0][0].func
    assert made(VectorEquality(after, before - g * eta), kind="algorithm") == [True]


@pytest.mark.parametrize(("point", "given"), [(y, True), (x, False)], ids=str)
def test_the_gradient_of_a_step_is_that_at_its_point(point: Any, given: bool) -> None:
    smooth = pointwise("smooth", smooth_clients, "", Evaluation("F", point, g), Evaluation("F", m, g0))
    own: Any = statement(), [Fact("step", LOCAL, "algorithm", ""), smooth], mean
    assert ("step" in generated(*own)) is given


def test_a_changed_fact_counts_as_transcribed() -> None:
    proof = derivation("scgd/fedavg_full_participation/corrected")

    def written(one: Any) -> set[str]:
        return {r["name"] for r in fact_rows(one) if (r["kind"], r["origin"]) == ("algorithm", "transcribed")}

    assert not {"local step", "common start", "average"} & written(proof)
    step = next(f for f in proof.facts if f.name == "local step")
    half = VectorEquality(step.claim.left, step.claim.left - (step.claim.left - step.claim.right) / 2)
    facts = tuple(replace(f, claim=half) if f is step else f for f in proof.facts)
    assert {"local step", "common start"} <= written(replace(proof, facts=facts))
