"""Statements through JSON and back; nothing in a file is evaluated."""

from __future__ import annotations

import json

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.theory.discovery import all_statements, papers, statement
from boundcheck.theory.serial import expr_from_json, expr_to_json
from boundcheck.theory.statement import Statement

x, y = sp.symbols("x y", real=True)


@pytest.mark.parametrize("paper", sorted(papers()))
def test_every_statement_round_trips(paper: str) -> None:
    for s in all_statements(paper):
        text = json.dumps(s.to_dict(), allow_nan=False)
        again = Statement.from_dict(json.loads(text))
        assert again == s
        assert json.dumps(again.to_dict()) == text


@pytest.mark.parametrize(
    "expr",
    [
        sp.Rational(-7, 3),
        x**2 * y - sp.sqrt(x) / 3,
        x**y,
        sp.Min(x, y, 1),
        sp.Max(x, 2 * y),
        sp.Abs(x) + sp.floor(y) - sp.ceiling(x * y),
        sp.exp(-x) * sp.log(y),
        sp.pi + sp.E + x,
        sp.Le(x, y),
        sp.Gt(x, y),
        sp.Eq(x, y),
        sp.Ne(x, 1),
        sp.Ge(sp.Integer(3), x),
        sp.Integer(10) ** 4200,
    ],
)
def test_expressions_round_trip(expr: sp.Basic) -> None:
    assert expr_from_json(json.loads(json.dumps(expr_to_json(expr)))) == expr


@pytest.mark.parametrize(
    "data",
    [
        ["__import__", "os"],
        "__import__('os').system('x')",
        "9**9**9**9",
        {"symbol": ""},
        {"symbol": 1},
        {"constant": "nan"},
        {"symbol": "x", "constant": "pi"},
        [],
        ["+"],
        ["^", "1"],
        ["log", "1", "2"],
        ["<=", "1", "2", "3"],
        None,
        1.5,
        True,
        [["+"], "1"],
    ],
)
def test_malformed_expressions_are_refused(data: object) -> None:
    with pytest.raises(BadInput):
        expr_from_json(data)


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(BadInput, match="sin"):
        expr_to_json(sp.sin(x))
    with pytest.raises(BadInput, match="Float"):
        expr_to_json(x + sp.Float(0.1))


def test_malformed_statements_are_refused() -> None:
    good = statement("scgd/theorem_3_3").to_dict()
    for change in (
        {"schema": 2},
        {"kind": "rumour"},
        {"bound": ["+", {"symbol": "mu"}, {"symbol": "unheard"}]},
        {"symbols": [{"name": "mu"}]},
        {"metric": None},
        {"conditions": [{"name": "c", "relation": ["<=", "1", "2"], "meaning": ""}]},
        {"source": {"paper": "x", "page": 1}},
    ):
        with pytest.raises(BadInput):
            Statement.from_dict({**good, **change})
    with pytest.raises(BadInput, match="bound"):
        Statement.from_dict({k: v for k, v in good.items() if k != "bound"})
