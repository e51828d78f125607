"""A symbol without a key takes no constant of method and problem, whatever its name is."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from boundcheck.certified.constant import Constant, Known
from boundcheck.engines.run import run
from boundcheck.errors import BadInput
from boundcheck.evidence.compare import compare
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import Setting
from boundcheck.theory.dimension import LENGTH2, ONE
from boundcheck.theory.statement import Algorithm, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common
from boundcheck.verdict import Outcome

NAMES = ("alpha", "beta", "rho", "S2", "M", "W", "tau")
PROBLEM = build_problem({"kind": "random_quadratics", "clients": 3, "d": 2, "seed": 1})
METHOD = build_method({"kind": "uniform_sampling", "m": 2, "K": 2, "eta_l": "1/1000"})


def mine() -> Statement:
    """That the distance is at most its start, times the sum of the symbols."""
    symbols = tuple(Symbol(name, "a number of my own", ONE) for name in NAMES)
    factor = sum((s.expr for s in symbols), sp.Integer(0))
    return Statement(
        Source("mine", "1", "here"), "as_printed", "t", (common.dist2_0, common.T.but(index=True, key=""), *symbols),
        Metric("dist2", LENGTH2, index="T", rounds=common.T.expr), common.dist2_0.expr * factor,
        algorithm=Algorithm("uniform_sampling"),
    )  # fmt: skip


def test_none_is_filled_in_and_near_keys_are_listed() -> None:
    pair = Setting(METHOD, PROBLEM)
    assert {"participation/alpha", "participation/beta", "participation/rho", "surrogate/S2", "schedule/tau"} <= set(
        pair.constants()
    )
    assert set(mine().known(pair.constants())) == {"dist2_0"}
    with pytest.raises(BadInput, match="no value for alpha, beta, rho, S2, M, W, tau") as error:
        compare(mine(), run(METHOD, PROBLEM, rounds=[0, 1, 5]))
    assert "alpha has no key; near keys: participation/alpha" in str(error.value)
    assert "S2 has no key; near keys: surrogate/S2" in str(error.value)


class Lettered:
    """A problem that reports a constant of its own under a name that only methods have in the catalogue."""

    def __getattr__(self, name: str) -> Any:
        return getattr(PROBLEM, name)

    def constants(self) -> dict[str, Constant]:
        own = Constant(Fraction(7), Known.EXACT, "exact", "my own rho")
        return {**PROBLEM.constants(), "rho": own}


def test_a_problem_does_not_fill_in_what_only_methods_have() -> None:
    plain = build_method({"kind": "gradient_descent", "eta": "1/1000"})
    problem: Any = Lettered()
    pair = Setting(plain, problem)
    keyed = Symbol("r0", "largest sum of the weights", ONE, key="participation/rho")
    claimed = Statement(
        Source("mine", "1", "here"), "as_printed", "t", (common.dist2_0, keyed), Metric("dist2", LENGTH2),
        common.dist2_0.expr * keyed.expr, algorithm=Algorithm("gradient_descent"),
    )  # fmt: skip
    found = claimed.known(pair.constants())
    assert "r0" not in found or found["r0"].value != 7
    assert pair.constant("problem/rho").value == 7


def test_given_values_are_named_as_not_checked() -> None:
    found = compare(mine(), run(METHOD, PROBLEM, rounds=[0, 1, 5]), dict.fromkeys(NAMES, 1))
    assert found.outcome is Outcome.HOLDS
    assert f"the given values of {', '.join(NAMES)}" in found.reason
