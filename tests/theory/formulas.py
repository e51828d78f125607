"""Statements made of a formula and relations, for tests."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Condition, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol


def number(name: str, **domain: Any) -> Symbol:
    return Symbol(name, "number", ONE, **domain)


def formula(bound: Any, *relations: sp.Basic, symbols: tuple[Symbol, ...] = (), **parts: Any) -> Statement:
    """The conditions are c0, c1, ...; symbols that are not declared are plain numbers."""
    trivial = parts.get("trivial")
    expressions = [sp.sympify(bound), *relations, *parts.get("domain", ()), *([] if trivial is None else [trivial])]
    used = sorted({s.name for expr in expressions for s in expr.free_symbols})
    known = {s.name: s for s in symbols}
    return Statement(
        **{"source": Source("none", "Test 1", "here"), "title": "test", "metric": Metric("none", None), **parts},
        reading="as_printed",
        symbols=tuple(known.get(name) or number(name) for name in used),
        bound=sp.sympify(bound),
        conditions=tuple(Condition(f"c{i}", r) for i, r in enumerate(relations)),
        name="test_1",
    )
