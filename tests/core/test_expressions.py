"""Sequences that users write as text: values by hand, rounding of square roots, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from boundcheck.core.expressions import MAX_DEPTH, Expression, parse_expression
from boundcheck.errors import BadInput, UnknownName

F = Fraction


def parsed(text: str, **constants: object) -> Expression:
    return parse_expression(text, "eta_l", ("r", "t"), constants)


VALUES = [
    ("2/(8 + t)", F(2, 11)),
    ("1 - 2 - t", F(-4)),
    ("12/2/t", F(2)),
    ("-t^2 + 1", F(-8)),
    ("(-t)^2", F(9)),
    ("2^-t", F(1, 8)),
    ("2**t * (r+1)", F(64)),
    ("2^2^t", F(256)),
    ("t * -r", F(-21)),
    ("min(1/4, 2/(t+1), 7)", F(1, 4)),
    ("max(r - t, 0)", F(4)),
    ("floor(r/2)/10", F(3, 10)),
    ("sqrt(t+1)/3", F(2, 3)),
    ("1e-3*t", F(3, 1000)),
    (".5", F(1, 2)),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_values(text: str, value: Fraction) -> None:
    assert parsed(text).at(r=7, t=3) == value


def test_constants_are_put_in() -> None:
    found = parsed("2/(mu*(8*L/mu + t))", mu="1/2", L=3)
    assert found.at(t=3) == F(4, 51)
    assert found.text == "2/((1/2)*(8*(3)/(1/2)+t))"
    assert found.variables == {"t"}
    assert parsed(found.text) == found


@pytest.mark.parametrize("text", ["1/sqrt(t+1)", "sqrt(t+1)/7", "sqrt(t+2)-sqrt(t+1)", "1/(1+sqrt(t/3))"])
def test_irrational_values_are_rounded_down(text: str) -> None:
    own = parsed(text)
    assert not own.is_exact
    for t in (1, 2, 4, 10**6):
        with_floats = eval(text, {"sqrt": math.sqrt, "t": t})
        found = own.at(t=t)
        assert float(found) == pytest.approx(with_floats, rel=1e-9)
        assert found.limit_denominator(10**30) == found  # a decimal of 13 digits
    squared = parsed("sqrt(t+1)").at(t=1)
    assert squared**2 < 2 < (squared + F(1, 10**12)) ** 2


def test_degrees() -> None:
    assert parsed("2/(8+t)").degrees("t") == (0, 1)
    assert parsed("(t+1)^-2 * r").degrees("t") == (0, 2)
    assert parsed("(t+1)^-2 * r").degrees("r") == (1, 0)
    assert parsed("1/t + 1/(t+1)").degrees("t") == (1, 2)
    assert parsed("2^t").degrees("t") is None
    assert parsed("min(1, t)").degrees("t") is None
    assert parsed("min(1, t)").degrees("r") == (0, 0)


NO_VALUE = [
    ("1/t", "at t = 0: it divides by zero"),
    ("t^(1/2)", "a square root is written sqrt"),
    ("sqrt(t-1)", "not real"),
    ("9^9^9", "too many digits"),
    ("0^(t-1)", "it divides by zero"),
]
REFUSED = [
    ("", "it ends too early"),
    ("t +", "it ends too early"),
    ("t t", "'t' stands where an operation"),
    ("(t", "a bracket is not closed"),
    ("1//t", "'/' stands where a number or name"),
    ("t.real", "is not understood"),
    ("__import__('os')", "is not understood"),
    ("exec(t)", "'exec' is unknown"),
    ("a*t", "'a' is unknown"),
    ("sqrt", "needs its argument"),
    ("sqrt(1, 2)", "has one argument"),
    ("(" * (MAX_DEPTH + 5) + "t" + ")" * (MAX_DEPTH + 5), "brackets are open"),
    ("t" + "^t" * (MAX_DEPTH + 5), "exponents stand above each other"),
    ("t" * 501, "501 characters"),
    ("1e5000", "exponent beyond"),
]


@pytest.mark.parametrize(("text", "says"), [*REFUSED, *NO_VALUE])
def test_what_is_refused(text: str, says: str) -> None:
    with pytest.raises((BadInput, UnknownName), match=says):
        parsed(text).at(t=0, r=0)


def test_a_constant_does_not_hide_a_variable() -> None:
    with pytest.raises(BadInput, match="name of a variable"):
        parsed("t", t=1)
