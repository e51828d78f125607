"""The nearest constants at which a statement guarantees something."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.evidence.compare import compare
from boundcheck.theory.dimension import CURVATURE, GRADIENT2, ONE, VALUE
from boundcheck.theory.discovery import statement
from boundcheck.theory.evaluation import guarantees
from boundcheck.theory.nearest import nearest_guarantee
from boundcheck.theory.statement import Condition, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol
from boundcheck.verdict import Outcome

B2, mu, L, gap_0, grad2_0 = sp.symbols("B2 mu L gap_0 grad2_0", real=True)
rho = 1 / mu - L * (2 * B2 + sp.Rational(1, 2)) / mu**2


def _positive(name: str, dimension: object, low: int = 0) -> Symbol:
    return Symbol(name, name, dimension, low=Fraction(low), low_open=low == 0)  # pyright: ignore[reportArgumentType]


# A guarantee that is empty for small mu: the decrease is rho |grad f|^2, rho > 0 iff mu > L (2 B2 + 1/2).
STATEMENT = Statement(
    source=Source("a paper", "Theorem 1", "here"),
    reading="as_printed",
    title="decrease of a step",
    symbols=(
        _positive("B2", ONE, 1),
        _positive("mu", CURVATURE),
        _positive("L", CURVATURE),
        _positive("gap_0", VALUE),
        _positive("grad2_0", GRADIENT2),
    ),
    metric=Metric("gap", VALUE, rounds=sp.S.One),
    bound=gap_0 - rho * grad2_0,
    conditions=(Condition("decrease", rho > 0, "it promises a decrease", vacuity=True),),
    trivial=gap_0,
    name="theorem_1",
)
VALUES = {"B2": Fraction(4), "mu": Fraction(1), "L": Fraction(1), "gap_0": Fraction(1), "grad2_0": Fraction(1)}


def test_each_symbol_moves_to_just_inside_its_edge() -> None:
    found = {near.name: near for near in nearest_guarantee(STATEMENT, VALUES)}
    # mu > 17/2; L < 2/17 of mu; B2 alone cannot help: at its least value 1 mu > 5/2 is needed.
    assert set(found) == {"mu", "L"}
    assert found["mu"].direction == "up"
    assert Fraction(17, 2) < found["mu"].value < Fraction(17, 2) * Fraction(1002, 1000)
    assert found["L"].direction == "down"
    assert Fraction(2, 17) * Fraction(998, 1000) < found["L"].value < Fraction(2, 17)
    assert STATEMENT.scope(**{**VALUES, "mu": found["mu"].value}).in_scope is True


def test_dissimilarity_is_told_where_it_can_help() -> None:
    found = {near.name: near for near in nearest_guarantee(STATEMENT, {**VALUES, "mu": Fraction(5)})}
    assert found["B2"].direction == "down"  # B2 < 9/4
    assert Fraction(9, 4) * Fraction(998, 1000) < found["B2"].value < Fraction(9, 4)


def test_a_negative_constant_moves_down() -> None:
    """lam in Theorem 5 of FedDANE may be negative: more strongly convex devices have a smaller one."""
    values = {"L": 5, "mu": 5, "gamma": 0, "B2": 3, "lam": -1, "gap_0": 1, "grad2_0": 1}
    found = {
        n.name: n
        for n in nearest_guarantee(statement("feddane/theorem_5"), {k: Fraction(v) for k, v in values.items()})
    }
    assert found["lam"].value < -1
    assert found["lam"].direction == "down"
    assert found["lam"].words().startswith("lam at most about -")


def test_an_empty_guarantee_is_vacuous_and_says_what_would_do() -> None:
    import numpy as np

    curve = Curve(
        rounds=np.array([0, 1]),
        values={"gap": np.array([1.0, 0.5])},
        arithmetic=Arithmetic.RATIONAL,
        low={"gap": np.array([1.0, 0.5])},
        high={"gap": np.array([1.0, 0.5])},
        exact={"gap": (Fraction(1), Fraction(1, 2))},
    )
    verdict = compare(STATEMENT, curve, VALUES)
    assert verdict.outcome is Outcome.VACUOUS
    assert "guarantees nothing" in verdict.reason
    assert "mu at least about 8.506" in verdict.reason
    assert set(verdict.details["nearest"]) == {"mu", "L"}
    inside = compare(STATEMENT, curve, {**VALUES, "mu": 20})
    assert inside.outcome is Outcome.HOLDS


def test_what_guarantees_something_is_in_scope_and_not_vacuous() -> None:
    """The search asks for less than the whole evaluation; its answer is that of the whole."""
    feddane = statement("feddane/theorem_3/as_printed")
    known = {"mu": 18, "L": 2, "B2": 2, "gamma": 0, "grad2_0": 1, "gap_0": 1}
    for claimed, values in ((STATEMENT, VALUES), (feddane, known)):
        answers = set()
        for name in ("mu", "L", "B2"):
            for factor in (Fraction(1, 8), Fraction(1, 2), 1, Fraction(17, 2), 64):
                point = {**values, name: values[name] * factor}
                if any(not s.admits(Fraction(point[s.name])) for s in claimed.symbols if s.name in point):
                    continue
                found = claimed.evaluate(**point)
                assert guarantees(claimed, point) is (found.in_scope is True and not found.vacuous)
                answers.add(guarantees(claimed, point))
        assert answers == {True, False}


def test_a_count_that_moves_down_to_nothing() -> None:
    delay = sp.Symbol("delay", real=True)
    late = Statement(
        source=Source("a paper", "Theorem 2", "here"),
        reading="as_printed",
        title="delayed updates",
        symbols=(Symbol("delay", "delay", ONE, integer=True, low=Fraction(0)), _positive("gap_0", VALUE)),
        metric=Metric("gap", VALUE, rounds=sp.S.One),
        bound=gap_0 * (delay + sp.Rational(1, 2)),
        trivial=gap_0,
        name="theorem_2",
    )
    (near,) = nearest_guarantee(late, {"delay": Fraction(3), "gap_0": Fraction(1)})
    assert (near.name, near.value, near.direction) == ("delay", 0, "down")
