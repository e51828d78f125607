"""Exact values from z3, for claims about numbers: a question in SMT-LIB, asked in a process that is given little time.

What it answers is a candidate for a witness. It is an extra: without it such steps stay open.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

SECONDS = 5  # of one question
HIGHEST = 12  # power that is written out
_ASK = f"""
import sys, z3
solver = z3.Solver()
solver.set("timeout", {1000 * SECONDS})
solver.from_string(sys.stdin.read())
if solver.check() == z3.sat:
    model = solver.model()
    for name in model.decls():
        if z3.is_rational_value(model[name]) or z3.is_int_value(model[name]):
            print(name.name(), model[name])
"""
_OPERATORS: dict[Any, str] = {sp.Le: "<=", sp.Lt: "<", sp.Ge: ">=", sp.Gt: ">", sp.Eq: "=", sp.Ne: "distinct"}


class _Unwritten(Exception):
    """The relation has no form in SMT-LIB here."""


def point(relations: Sequence[Any], integers: frozenset[str]) -> dict[str, Fraction] | None:
    """Rational values at which z3 says that the relations hold; None without z3, an answer in time, or such values."""
    if importlib.util.find_spec("z3") is None:
        return None
    question = _Question(integers)
    for relation in relations:
        try:
            question.add(relation)
        except _Unwritten:
            return None
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _ASK],
            input=question.text(),
            capture_output=True,
            text=True,
            timeout=2 * SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    rows = (line.split(" ") for line in done.stdout.splitlines())
    found = {row[0]: Fraction(row[1]) for row in rows if len(row) == 2}
    names = sorted({s.name for r in relations for s in r.free_symbols})
    return {n: found[n] for n in names} if set(names) <= set(found) else None


class _Question:
    """Relations in SMT-LIB; roots, Min, Max and Abs are variables of their own."""

    def __init__(self, integers: frozenset[str]) -> None:
        self.integers, self.rows, self.names, self.own = integers, list[str](), dict[str, None](), dict[Any, str]()

    def text(self) -> str:
        """The whole question."""
        kinds = ((n, "Int" if n in self.integers else "Real") for n in self.names)
        return "\n".join([*(f"(declare-const {n} {kind})" for n, kind in kinds), *self.rows])

    def add(self, relation: Any) -> None:
        """One more relation."""
        operator = _OPERATORS.get(type(relation))
        if operator is None:
            raise _Unwritten
        left, right = (self._term(side) for side in relation.args)
        self.rows.append(f"(assert ({operator} {left} {right}))")

    def _term(self, expr: Any) -> str:
        if expr.is_Rational:
            number = f"(/ {abs(int(expr.p))}.0 {int(expr.q)}.0)"
            return f"(- {number})" if expr.p < 0 else number
        if expr.is_Symbol and expr.name.isidentifier():
            self.names[expr.name] = None
            return f"(to_real {expr.name})" if expr.name in self.integers else expr.name
        if isinstance(expr, sp.Add | sp.Mul):
            return f"({'+' if isinstance(expr, sp.Add) else '*'} {' '.join(map(self._term, expr.args))})"
        if isinstance(expr, sp.Pow) and expr.exp.is_Rational:
            exponent = Fraction(str(expr.exp))
            if max(abs(exponent.numerator), exponent.denominator) > HIGHEST:
                raise _Unwritten
            base = self._term(expr.base) if exponent.denominator == 1 else self._root(expr.base, exponent.denominator)
            power = f"(* {' '.join([base] * abs(exponent.numerator))} 1.0)"
            if exponent > 0:
                return power
            self.rows.append(f"(assert (distinct {base} 0.0))")
            return f"(/ 1.0 {power})"
        if isinstance(expr, sp.Min | sp.Max):
            return self._extreme(expr.args, "<=" if isinstance(expr, sp.Min) else ">=")
        if isinstance(expr, sp.Abs):
            return self._extreme((expr.args[0], -expr.args[0]), ">=")
        raise _Unwritten

    def _variable(self) -> str:
        name = f"own!{len(self.own)}"
        self.own[name] = name
        self.rows.append(f"(declare-const {name} Real)")
        return name

    def _root(self, base: Any, degree: int) -> str:
        inside, name = self._term(base), self._variable()
        self.rows += [f"(assert (>= {name} 0.0))", f"(assert (= {inside} (* {' '.join([name] * degree)})))"]
        return name

    def _extreme(self, values: Iterable[Any], operator: str) -> str:
        terms, name = [self._term(v) for v in values], self._variable()
        self.rows += [f"(assert ({operator} {name} {t}))" for t in terms]
        self.rows.append(f"(assert (or {' '.join(f'(= {name} {t})' for t in terms)}))")
        return name
