"""Weights to first order in the step against numbers by hand, on equation (36) of FedShuffle."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from boundcheck.errors import Unsupported
from boundcheck.methods.build import build as method_of
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Constant, GradientSteps, Pattern
from boundcheck.problems.build import build
from boundcheck.problems.problem import clients_of
from boundcheck.setting.followed_objective import effective_weights, small_step_weights, weighted_minimiser

P = build({"kind": "fedshuffle_36"})
DATA = [Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)]


def over(total: int, *parts: int) -> list[Fraction]:
    return [Fraction(p, total) for p in parts]


@pytest.mark.parametrize(
    ("spec", "weights"),
    [
        ({"kind": "fedavg_rr"}, over(14, 1, 4, 9)),
        ({"kind": "fedavg_rr", "participation": {"kind": "uniform", "size": 1}}, DATA),
        ({"kind": "fedavg_min"}, DATA),
        ({"kind": "fedshuffle_nova_rr"}, DATA),
        ({"kind": "fedshuffle_unfinished", "missed": [0, 1, 1]}, DATA),
        ({"kind": "fedshuffle_gen", "c": "max", "E": [3, 1, 1]}, over(16, 3, 4, 9)),
        ({"kind": "fedshuffle_gen", "c": "work", "E": {"low": 2, "high": 5}}, DATA),
    ],
)
def test_weights(spec: dict[str, Any], weights: list[Fraction]) -> None:
    assert small_step_weights(method_of({"eta_l": "1/8", **spec}), clients_of(P)) == weights


def test_the_point_that_fedavg_tends_to_and_back() -> None:
    """FedAvgRR's small-step limit on (36) has the coordinates (1,2,2,3,3,3)/14 and the gap 5/588."""
    weights = over(14, 1, 4, 9)
    x = weighted_minimiser(P, weights)
    assert list(x) == over(14, 1, 2, 2, 3, 3, 3)
    assert sum((v - Fraction(1, 6)) ** 2 for v in x) / 2 == Fraction(5, 588)
    assert effective_weights(P, x) == weights


def test_where_there_is_no_answer() -> None:
    alike = {"A": [[1, 0], [0, 1]], "b": [1, 0]}
    twins = build({"kind": "quadratics", "clients": [alike, alike]})
    assert effective_weights(twins, weighted_minimiser(twins, [*DATA[:1], Fraction(5, 6)])) is None
    flat = build({"kind": "quadratics", "clients": [{"A": [[1, 0], [0, 0]]}]})
    with pytest.raises(Unsupported, match="has no single minimiser"):
        weighted_minimiser(flat, [Fraction(1)])


def test_empty_rounds_move_nothing_and_first_rounds_do_not_come_again() -> None:
    alike = {"A": 1, "b": 1}
    clients = clients_of(build({"kind": "quadratics", "clients": [alike] * 3}))
    steps = {"kind": "biased_sampling", "K": 2, "eta_l": "1/9", "weights": "average"}
    assert small_step_weights(method_of({**steps, "cohorts": [[0, 1], [], [2]]}), clients) == over(4, 1, 1, 2)
    turns = Pattern(((0, 1), (2,)), lead=((0,), (0,), (0,)))
    assert small_step_weights(Method("m", turns, GradientSteps(1), Constant(Fraction(1, 9))), clients) == over(
        4, 1, 1, 2
    )
