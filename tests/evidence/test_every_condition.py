"""Every condition of every statement, on both sides, and what a curve made by hand leaves open.

Values are drawn within the declared domains, and where a condition is an equation one symbol takes the value that
meets it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from boundcheck.certified.constant import Constant, Known
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.errors import BadInput
from boundcheck.evidence.compare import compare
from boundcheck.theory.discovery import all_statements
from boundcheck.theory.quantities import round_symbols
from boundcheck.theory.scope import check_domain, holds
from boundcheck.theory.statement import Condition, Kind, Statement
from boundcheck.theory.symbols import Symbol
from boundcheck.verdict import Grade, Outcome


def keyed(s: Statement) -> Statement:
    """The statement with a key for every symbol, so that a curve made by hand can carry its value."""
    symbols = tuple(y if y.key else y.but(key=f"by_hand/{y.name}") for y in s.symbols)
    return replace(s, symbols=symbols)


STATEMENTS = tuple(keyed(s) for s in all_statements())
# Lemmas about a round take values from the curve of every round, which is not made by hand.
BY_HAND = tuple(s for s in STATEMENTS if s.kind is not Kind.FORMULA and not round_symbols(s))
COMPARED = tuple(s for s in BY_HAND if s.metric.value is None)
TRIES = 400
Values = Mapping[str, Fraction]


def draw(symbol: Symbol, source: random.Random, wanted: list[Fraction]) -> Fraction:
    """A value within the symbol's domain, over orders of magnitude; now and then one of the wanted ones."""
    for _ in range(100):
        size = Fraction(source.randint(1, 12)) * Fraction(10) ** source.randint(-7, 5)
        value = source.choice(wanted) if wanted and source.random() < 0.2 else size
        value = Fraction(source.randint(0, 40)) if symbol.integer and source.random() < 0.7 else value
        value = -value if source.random() < 0.1 else value
        if source.random() < 0.05:
            value = Fraction(0)
        if symbol.admits(value):
            return value
    raise AssertionError(f"no value for {symbol.name}: {symbol.allowed()}")


def at(expr: Any, values: Values) -> Any:
    """An expression with the values of its symbols."""
    return expr.subs({sp.Symbol(n, real=True): sp.Rational(v.numerator, v.denominator) for n, v in values.items()})


def assignments(s: Statement, relation: Any, seed: int = 0) -> Iterator[Values]:
    """Values of all symbols within the domain of the statement."""
    source = random.Random(seed)
    wanted = [Fraction(int(v.p), int(v.q)) for v in relation.atoms(sp.Rational)] if relation is not None else []
    equation = relation is not None and isinstance(relation, sp.Eq)
    for k in range(TRIES):
        values = {symbol.name: draw(symbol, source, wanted) for symbol in s.symbols}
        if equation and relation.lhs.is_Symbol and k % 2:
            try:
                solved = at(relation.rhs, values)
            except (TypeError, ValueError):
                continue
            if solved.is_Rational and s.symbol(str(relation.lhs)).admits(Fraction(int(solved.p), int(solved.q))):
                values[str(relation.lhs)] = Fraction(int(solved.p), int(solved.q))
        try:
            check_domain(s, values)
        except BadInput:
            continue
        yield values


def side(s: Statement, condition: Condition, want: bool) -> Values:
    """Values at which the condition holds, or fails, in the domain of the statement."""
    for values in assignments(s, condition.relation):
        if holds(condition.relation, values) is want:
            return values
    raise AssertionError(f"{s.id}: condition '{condition.name}' is never seen to {'hold' if want else 'fail'}")


def by_hand(s: Statement, values: Values, **more: Any) -> Curve | None:
    """A curve with the statement's metric 1 at the start and where the values say; None where that is no round."""
    ends = at(s.metric.rounds, values)
    last = int(ends) if ends.is_Integer and 0 <= ends <= 10**6 else None
    if last is None or (s.metric.weights is not None and last > 200):
        return None
    rounds = list(range(last + 1)) if s.metric.weights is not None else sorted({0, last})
    ones = np.ones(len(rounds))
    constants = {s.symbol(n).reported: Constant(v, Known.EXACT, "exact", "by hand") for n, v in values.items()}
    constants.pop("" if s.metric.index is None else s.symbol(s.metric.index).reported, None)
    made = Curve(
        rounds=np.array(rounds, dtype=np.int64),
        values={s.metric.quantity: ones},
        arithmetic=Arithmetic.BALL,
        low={s.metric.quantity: ones},
        high={s.metric.quantity: ones},
        constants=constants,
        assumptions={a.name: "decided" for a in s.assumptions},
        algorithms=None if s.algorithm is None else (s.algorithm.kind,),
        parameters=tuple(s.symbol(n).reported for n in s.parameters),
    )
    return replace(made, **more)


CONDITIONS = [(s, c) for s in STATEMENTS for c in s.conditions]


def always(s: Statement, condition: Condition) -> bool:
    """Whether the declared domain of a symbol implies the condition, which then cannot fail."""
    relation = condition.relation
    if not isinstance(relation, sp.Ge) or not relation.lhs.is_Symbol or not relation.rhs.is_Rational:
        return False
    low = s.symbol(str(relation.lhs)).low
    return low is not None and low >= Fraction(int(relation.rhs.p), int(relation.rhs.q))


@pytest.mark.parametrize(("s", "condition"), CONDITIONS, ids=[f"{s.id} {c.name}" for s, c in CONDITIONS])
def test_both_sides_of_a_condition(s: Statement, condition: Condition) -> None:
    side(s, condition, True)
    if always(s, condition):
        return
    outside = side(s, condition, False)
    curve = by_hand(s, outside) if s in BY_HAND else None
    if curve is not None:
        found = compare(s, curve)
        assert found.outcome in (Outcome.OUT_OF_SCOPE, Outcome.VACUOUS), found.reason
        assert found.reason.startswith(("Out of scope: ", "The statement guarantees nothing here: "))


def test_hardly_any_condition_is_implied_by_the_domain() -> None:
    assert [(s.id, c.name) for s, c in CONDITIONS if always(s, c)] == [
        ("async_fl/equation_98_constraints/as_printed", "beta")
    ]


def without_conditions(s: Statement) -> Statement:
    """The statement without conditions, prescribed and trivial values, and without the symbols that only these use."""
    metric = s.metric
    parts = [s.bound, metric.scale, metric.rounds, *s.domain]
    parts += [e for e in (metric.weights, s.printed_rate) if e is not None]
    used = {str(n) for e in parts for n in e.free_symbols} | {str(metric.index)}
    algorithm = None if s.algorithm is None else replace(s.algorithm, parameters=(), steps=())
    symbols = tuple(y for y in s.symbols if y.name in used)
    return replace(s, conditions=(), choices=(), trivial=None, symbols=symbols, algorithm=algorithm)


@pytest.mark.parametrize("s", COMPARED, ids=lambda s: s.id)
def test_a_curve_made_by_hand_names_all_that_it_did_not_ask(s: Statement) -> None:
    plain = without_conditions(s)
    for seed, values in enumerate(assignments(plain, None)):
        assert seed < TRIES / 2, "no values with a bound at a round"
        curve = by_hand(plain, values, assumptions={}, algorithms=None)
        found = None if curve is None else compare(plain, curve)
        if found is not None and found.outcome is not Outcome.FAILED:  # the bound has a value
            break
    else:
        raise AssertionError("no values within the domain")
    assert found.outcome is not Outcome.OUT_OF_SCOPE
    granted = found.reason.partition("Taken for granted: ")[2]
    assert {a.name for a in s.assumptions} <= set(granted.replace(",", "").replace(";", "").rstrip(".").split())
    assert s.algorithm is None or f"that the run is {s.algorithm.kind}" in granted
    assert found.grade is None or not granted or found.grade is Grade.SUPPORTED
