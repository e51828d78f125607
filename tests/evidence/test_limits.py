"""Limit studies: where methods end on equation (36) of FedShuffle, against fractions by hand."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from boundcheck.core.toml_lines import parse_toml
from boundcheck.engines.exact.growing import stays_away
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.deciding import NoLimit
from boundcheck.evidence.limits import exact_limit, limit_study, load_limits
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Kind
from boundcheck.verdict import Grade, Outcome

TABLE = """
[[limits]]
name = "ends"
problem = { kind = "fedshuffle_36" }
methods = [{ kind = "fedavg_rr" }, { kind = "fedshuffle", participation = { kind = "uniform", size = 2 } }]
parameter = "eta_l"
values = ["1/8", "1/2", 3]
"""


def test_limits_on_equation_36() -> None:
    (limits,) = load_limits(parse_toml(TABLE, "limits.toml", parse_float=str))
    seen: list[float] = []
    study = limit_study(limits, seen.append)
    fedavg, fedshuffle = study.curves
    assert fedavg.predicted_weights == (Fraction(1, 14), Fraction(4, 14), Fraction(9, 14))
    assert fedavg.predicted_bias == Fraction(5, 588)
    eighth, half, beyond = fedavg.points
    assert eighth.weights == (Fraction(64, 811), Fraction(240, 811), Fraction(507, 811))
    assert eighth.bias == Fraction(53753, 7892652)
    assert eighth.gap is not None
    assert float(eighth.gap) == pytest.approx(0.0069425, rel=1e-4)
    # weights (1, 2(2-eta), 3(3-3eta+eta^2))/(14-11eta+3eta^2) at eta = 1/2: (1, 3, 21/4)/(37/4)
    assert half.weights == (Fraction(4, 37), Fraction(12, 37), Fraction(21, 37))
    assert (beyond.gap, beyond.bias, beyond.weights) == (None, None, None)
    assert "has no stationary distribution" in beyond.why
    assert fedshuffle.predicted_weights == study.data_weights
    assert fedshuffle.predicted_bias == 0
    assert fedshuffle.label == "fedshuffle, participation uniform size 2"
    assert seen[-1] == 1


# --- claims about a limit ----------------------------------------------------------------------------------------

PRINTED = "fedshuffle/section_4_1_limit/as_printed"
FEDAVG = {"kind": "fedavg_rr", "eta_l": "1/8"}


def by_hand(eta: Fraction = Fraction(1, 8)) -> Fraction:
    """The limit of FedAvg's gap on (36): half of the bias and of what the orders of the samples add, by enumeration."""
    sizes, keep = (1, 2, 3), 1 - eta
    shares = [Fraction(s, 6) for s in sizes]
    pulls = [w * (1 - keep**s) for w, s in zip(shares, sizes, strict=True)]
    factor = sum((w * keep**s for w, s in zip(shares, sizes, strict=True)), Fraction(0))
    ends = [pull / sum(pulls) / s for pull, s in zip(pulls, sizes, strict=True) for _ in range(s)]
    bias = sum(((x - Fraction(1, 6)) ** 2 for x in ends), Fraction(0))
    fresh = Fraction(0)
    for w, s in zip(shares, sizes, strict=True):
        visits = list(itertools.permutations([eta * keep**k for k in range(s)]))
        means = [sum((v[j] for v in visits), Fraction(0)) / len(visits) for j in range(s)]
        fresh += w**2 * sum((v[j] - means[j]) ** 2 for v in visits for j in range(s)) / len(visits)
    return (bias + fresh / (1 - factor**2)) / 2


def limit_claim(limit: Fraction | None = None, arithmetic: str = "rational") -> Claim:
    claimed: Any = statement(PRINTED)
    if limit is not None:
        claimed = replace(claimed, bound=sp.Rational(limit.numerator, limit.denominator))
    return Claim(claimed, {"kind": "fedshuffle_36"}, FEDAVG, at={"R": [0, 1, 10]}, arithmetic=arithmetic)


def test_the_exact_limit_decides_a_claim_about_it() -> None:
    limit = by_hand()
    problem = build_problem({"kind": "fedshuffle_36"})
    assert exact_limit(statement(PRINTED), build_method(FEDAVG), problem) == limit
    found = run_claim(limit_claim(limit)).verdict
    assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.EXACT)
    assert Fraction(found.details["limit"]) == limit
    # nothing is too near to be separated, and ten rounds suffice
    for off in (Fraction(-1, 10**40), Fraction(1, 10**40)):
        found = run_claim(limit_claim(limit + off)).verdict
        assert (found.outcome, found.grade) == (Outcome.VIOLATED, Grade.EXACT)
    found = run_claim(limit_claim()).verdict
    assert found.outcome is Outcome.VIOLATED
    assert "0.006942533052, not 0.008503401361" in found.reason


def test_a_limit_that_is_not_computed_stays_open() -> None:
    found = run_claim(limit_claim(arithmetic="ball")).verdict
    assert (found.outcome, found.grade) == (Outcome.UNDECIDED, Grade.SUPPORTED)
    assert "limit" not in found.details


def test_clients_in_turn_run_through_a_cycle() -> None:
    """x -> x + s (b - x) in turn: the fixed point of three such steps, and what comes before it."""
    problem = build_problem({"kind": "fedshuffle_36"})
    found = exact_limit(statement(PRINTED), build_method({"kind": "scgd", "E": 1, "eta": "1/10"}), problem)
    assert isinstance(found, NoLimit)
    assert "a cycle of 3 values" in found.why


def test_a_plain_mean_tends_to_the_mean_of_the_cycle() -> None:
    """x -> (x + 1)/2 -> 3/4 of that: the cycle 3/5, 4/5, where the gradient (3x/2 - 1)/2 of F is -1/20 and 1/10."""
    clients = [{"components": [{"A": 1, "b": 1}]}, {"components": [{"A": "1/2", "b": 0}]}]
    problem = {"kind": "quadratics", "start": [9], "clients": clients}
    method = {"kind": "scgd", "E": 1, "eta": "1/2"}
    own = statement("partial_averaging/remark_1/as_printed")
    for kind, bound, outcome in (
        (Kind.LIMSUP, "1/160", Outcome.HOLDS),
        (Kind.LIMSUP, "159/25600", Outcome.VIOLATED),
        (Kind.LIMSUP, "1/100", Outcome.HOLDS),
        (Kind.LIMIT, "1/160", Outcome.HOLDS),
        (Kind.LIMIT, "1/100", Outcome.VIOLATED),
    ):
        plain = {"conditions": (), "assumptions": (), "algorithm": None, "symbols": (own.symbol("K"),)}
        claimed = replace(own, kind=kind, bound=sp.Rational(bound), **plain)
        assert exact_limit(claimed, build_method(method), build_problem(problem)) == Fraction(1, 160)
        found = run_claim(Claim(claimed, problem, method, at={"K": [2, 3]}, arithmetic="rational")).verdict
        assert (found.outcome, found.grade) == (outcome, Grade.EXACT)


@pytest.mark.parametrize(("eta", "limit"), [("1/2", Fraction(0)), ("1", None), ("3/2", None)])
def test_example_1_of_the_asynchronous_paper(eta: str, limit: Fraction | None) -> None:
    """r^2 - r + phi has the roots' product phi = eta: a limit below 1, none from 1 on."""
    clients = [{"components": [{"A": 1, "b": b}]} for b in (1, 3, 1, 3)]
    problem = build_problem({"kind": "quadratics", "start": [0], "clients": clients})
    method = build_method({"kind": "fedbuff", "times": [1] * 4, "m": 2, "K": 1, "eta_l": eta})
    found = exact_limit(statement("async_fl/example_1/as_printed"), method, problem)
    assert found == limit if limit is not None else isinstance(found, NoLimit)
    at_rest = build_problem({"kind": "quadratics", "start": [2], "clients": clients})
    still = exact_limit(statement("async_fl/example_1/as_printed"), method, at_rest)
    assert still == limit  # from the optimum it stays there, which is no divergence: nothing is said where r >= 1


def test_a_run_whose_start_has_no_part_in_what_grows() -> None:
    """Curvatures 1/2 and 3 with the step 1: the second coordinate doubles, unless it starts at its minimiser."""
    client = {"components": [{"A": [["1/2", 0], [0, 3]], "b": [0, 0]}]}
    method = build_method({"kind": "centralised", "K": 1, "eta_l": 1})
    for start, away in (([1, 0], False), ([1, "1/1000"], True)):
        problem = build_problem({"kind": "quadratics", "start": start, "clients": [client]})
        assert stays_away(method, problem) is away


def test_where_no_exact_limit_is_known() -> None:
    problem = build_problem({"kind": "fedshuffle_36"})
    claimed, method = statement(PRINTED), build_method(FEDAVG)
    metric = claimed.metric
    index = claimed.symbol("R").expr
    for other in (
        replace(claimed, kind=Kind.EQUALITY),
        replace(claimed, bound=1 / index),
        replace(claimed, metric=replace(metric, scale=index)),
        replace(claimed, metric=replace(metric, average="mean", weights=index)),
        replace(claimed, kind=Kind.LIMSUP),
        replace(claimed, metric=replace(metric, quantity="drift")),
    ):
        assert exact_limit(other, method, problem) is None
    assert exact_limit(claimed, build_method({**FEDAVG, "eta_l": 3}), problem) is None  # diverges
    data = build_problem({"kind": "logistic_regression", "data": "breast_cancer", "clients": 2, "seed": 0})
    assert exact_limit(claimed, method, data) is None
