"""Step sizes that rise in a warm-up and decay at given rounds: what users write, and that every engine takes them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.run import run
from boundcheck.errors import BadInput
from boundcheck.evidence.spec import claims_from_text
from boundcheck.methods.build import build
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts import Decaying
from boundcheck.problems.build import build as build_problem

STEP: dict[str, Any] = {"value": "1/5", "at": [3, 5], "factor": "1/2", "warm_up": 2}
SIZES = [Fraction(1, 10), *[Fraction(1, 5)] * 2, *[Fraction(1, 10)] * 2, *[Fraction(1, 20)] * 2]


def test_it_rises_and_decays_at_the_rounds_given() -> None:
    method = build({"kind": "scgd", "E": 1, "eta": STEP})
    clients = Clients.alike(3)  # a period of scgd is three rounds, but every round has its step size
    assert [method.schedule.step(method.cycle_of(t, clients)) for t in range(7)] == SIZES
    assert method.parameters() == {"E": 1, "eta_g": 1}
    assert not method.schedule.is_constant()
    assert method.schedule.is_exact()


def test_the_default_divides_by_ten() -> None:
    method = build({"kind": "fedavg_sgd", "eta_l": {"value": 2, "at": [1]}})
    assert method.schedule == Decaying(Fraction(2), (1,), Fraction(1, 10))
    assert [method.schedule.step(t + 1) for t in range(3)] == [2, Fraction(1, 5), Fraction(1, 5)]


def test_the_exact_engine_follows_it() -> None:
    problem = build_problem({"kind": "quadratics", "clients": [{"A": 2, "b": 2}, {"A": 4, "b": -4}], "start": [1]})
    curve = run(
        build({"kind": "fedavg", "E": 1, "eta": STEP}), problem, rounds=range(8), metrics=["dist2"],
        arithmetic=Arithmetic.RATIONAL,
    )  # fmt: skip
    least, x = Fraction(-1, 3), Fraction(1)  # the gradients are 2 x - 2 and 4 x + 4
    found = [x]
    for eta in SIZES:
        x -= eta * (3 * x + 1)
        found.append(x)
    assert list(curve.exact["dist2"]) == [(x - least) ** 2 for x in found]


def test_no_statement_about_a_constant_step_size_takes_it() -> None:
    text = (
        'schema = 1\n[[claim]]\nname = "a"\nstatement = "fedshuffle/theorem_5_1_convex"\nexpect = "HOLDS"\n'
        'problem = { kind = "fedshuffle_36" }\nat = { R = [1, 5] }\n'
        'method = { kind = "fedshuffle", E = 1, eta_l = %s }\n'
    )
    claims_from_text(text % '"1/1000"')
    with pytest.raises(BadInput, match="with the parameter eta_l, which the method of this run has not"):
        claims_from_text(text % '{ value = "1/1000", at = [3] }')
