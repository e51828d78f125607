"""Every formula of every reading against a table of formulas that were typed from the papers, not from the code.

The tables in `tests/papers/values` hold, for each reading, its bound, both sides of each condition with their relation,
prescribed step sizes, the trivial value, the printed rate, and the metric's scale, weights, rounds, value and data.
Tables and statements are compared at points where all symbols are distinct and none is 1, so that a changed
coefficient, exponent or symbol is noticed.
"""

import functools
from collections.abc import Iterator
from fractions import Fraction
from hashlib import sha256
from importlib import import_module
from typing import Any

import mpmath
import pytest
import sympy as sp
from values.arithmetic import DIGITS, Formula

from boundcheck.theory.decide import enclose
from boundcheck.theory.discovery import all_statements, papers
from boundcheck.theory.statement import ROUND, Statement

PAPERS = {
    "scgd": ("scgd",),
    "feddane": ("feddane",),
    "classics": ("classics",),
    "partial_averaging": ("partial_averaging",),
    "async_fl": ("async_fl", "async_fl_lemmas"),
    "fedshuffle": ("fedshuffle", "fedshuffle_lemmas", "fedshuffle_general"),
}
# an entry's keys that name no formula: the domain as text, points at which another argument of a minimum or maximum
# decides (changes to the paper's first point), and arguments that decide nowhere in the domain
OTHER = {"domain", "more points", "never decides"}
SHIPPED = {name for name, module in papers().items() if module.startswith("boundcheck.")}
STATEMENTS = {s.id: s for s in all_statements() if s.id.split("/")[0] in SHIPPED}


@functools.cache
def table(paper: str) -> dict[str, dict[str, Any]]:
    """Name and reading -> part of the statement -> formula; besides, see the keys in OTHER."""
    modules = [import_module(f"values.{module}") for module in PAPERS[paper]]
    let, functions, entries = (
        {name: found for module in modules for name, found in getattr(module, part, {}).items()}
        for part in ("LET", "FUNCTIONS", "VALUES")
    )
    for part, found in (("LET", let), ("VALUES", entries)):
        assert len(found) == sum(len(getattr(module, part, {})) for module in modules)
    made = functools.cache(lambda text: Formula(text, let, functions))
    return {
        name: {part: value if part in OTHER else made(value) for part, value in own.items()}
        for name, own in entries.items()
    }


@functools.cache
def points(paper: str) -> tuple[dict[str, Fraction], ...]:
    lines = import_module(f"values.{PAPERS[paper][0]}").POINTS
    return tuple(read(line) for line in lines)


def read(line: str) -> dict[str, Fraction]:
    """A point, written as "L=7/3 K=4"."""
    return {name: Fraction(text) for name, text in (item.split("=") for item in line.split())}


def points_of(statement: Statement) -> list[dict[str, Fraction]]:
    """The paper's points and those of the entry, restricted to the symbols of the statement."""
    paper = statement.id.split("/")[0]
    names = {s.name for s in statement.symbols} | {ROUND.name}
    more = [points(paper)[0] | read(line) for line in entry(statement).get("more points", ())]
    others = [free_data(statement, place) for place in range(len(points(paper)) + len(more))]
    return [
        other | {n: v for n, v in point.items() if n in names}
        for other, point in zip(others, (*points(paper), *more), strict=True)
    ]


def free_data(statement: Statement, place: int) -> dict[str, Fraction]:
    """Numbers for the symbols that the paper's points leave out, made of their names, within their ends."""
    found: dict[str, Fraction] = {}
    for symbol in statement.symbols:
        number = int.from_bytes(sha256(f"{symbol.name} {place}".encode()).digest()[:4], "big")
        size = Fraction(number % 89 + 2, 97)
        value = Fraction(number % 7 + 3) if symbol.integer else size if symbol.high is not None else 4 * size
        found[symbol.name] = value + (symbol.low or 0) if symbol.high is None else value
    return found


def entry(statement: Statement) -> dict[str, Any]:
    paper, name = statement.id.split("/", 1)
    assert name in table(paper), f"tests/papers/values has no values of {statement.id}"
    return table(paper)[name]


def parts(statement: Statement) -> Iterator[tuple[str, Any]]:
    """Every expression of a statement under its name in the tables."""
    yield "bound", statement.bound
    for condition in statement.conditions:
        yield condition.name, condition.relation
    for name, expr in statement.choices:
        yield f"choice of {name}", expr
    metric = statement.metric
    optional = {
        "trivial": statement.trivial,
        "rate": statement.printed_rate,
        "metric scale": None if metric.scale == 1 else metric.scale,
        "metric rounds": None if metric.rounds == 0 else metric.rounds,
        "metric weights": metric.weights,
        "value": metric.value,
    }
    yield from ((name, expr) for name, expr in optional.items() if expr is not None)
    yield from ((f"where {name}", expr) for name, expr in metric.where)


def agree(low: Fraction, high: Fraction, expected: Any) -> bool:
    """Whether [low, high] is within a relative 1e-25 of the expected value, and equal to it where both are exact."""
    if low == high and isinstance(expected, Fraction):
        return low == expected
    with mpmath.workdps(DIGITS):
        ends = [mpmath.mpf(end.numerator) / end.denominator for end in (low, high)]
        right = mpmath.mpf(expected.numerator) / expected.denominator if isinstance(expected, Fraction) else expected
        return max(abs(end - right) for end in ends) <= mpmath.mpf(10) ** -25 * abs(right)


def differs(expr: Any, point: dict[str, Fraction], expected: Any) -> str:
    """How the value of an expression differs from the expected one; empty where it does not."""
    low, high = enclose(expr, point)
    return "" if agree(low, high, expected) else f"{float(low)!r} instead of {float(expected)!r} at {point}"


@pytest.mark.parametrize("id", STATEMENTS)
def test_every_formula_has_the_value_of_the_table(id: str) -> None:
    statement = STATEMENTS[id]
    expected = entry(statement)
    found = dict(parts(statement))
    assert set(expected) - OTHER == set(found)
    assert expected.get("domain", ()) == tuple(str(r) for r in statement.domain)
    wrong: list[str] = []
    for point in points_of(statement):
        for name, expr in found.items():
            wanted = expected[name].value(point)
            if not isinstance(wanted, tuple):
                wrong += [f"{name}: {d}" for d in [differs(expr, point, wanted)] if d]
                continue
            left, relation, right = wanted
            assert relation == expr.rel_op, (name, expr.rel_op)
            sides = [differs(expr.lhs, point, left), differs(expr.rhs, point, right)]
            wrong += [f"{name}, {side} side: {d}" for side, d in zip(("left", "right"), sides, strict=True) if d]
    assert not wrong, "\n".join(wrong)
    first = points_of(statement)[0]
    evaluated = statement.evaluate(**{n: v for n, v in first.items() if n != ROUND.name}).exact
    assert evaluated is not None
    ends = (evaluated, evaluated) if isinstance(evaluated, Fraction) else (evaluated.low, evaluated.high)
    assert agree(*ends, expected["bound"].value(first)), f"evaluate gives {ends} at {first}"


@pytest.mark.parametrize("id", STATEMENTS)
def test_every_symbol_counts(id: str) -> None:
    """A symbol that could be changed without changing a value would not be tested at all."""
    statement = STATEMENTS[id]
    for part, expr in parts(statement):
        formula = entry(statement)[part]
        names = {s.name for s in expr.free_symbols}
        assert formula.symbols == names, part
        for point in points_of(statement):
            here = formula.value(point)
            for name in sorted(names):
                whole = name == ROUND.name or statement.symbol(name).integer
                steps = (2, 3) if whole else (Fraction(23, 22), Fraction(1, 3), 3)
                if any(formula.value(point | {name: point[name] * step}) != here for step in steps):
                    names.remove(name)
        assert not names, part


@pytest.mark.parametrize("id", STATEMENTS)
def test_every_argument_of_a_minimum_decides_somewhere(id: str) -> None:
    """A formula under a minimum or maximum that another argument decides at all points would not be tested at all."""
    statement = STATEMENTS[id]
    never = set(entry(statement).get("never decides", ()))
    idle: set[str] = set()
    for part, expr in parts(statement):
        if part == "value" or part.startswith("where "):  # the search for counterexamples goes everywhere in these
            continue
        for node in expr.atoms(sp.Min, sp.Max):
            sign = 1 if isinstance(node, sp.Min) else -1
            undecided = set(node.args)
            for point in points_of(statement):
                undecided.discard(min(node.args, key=lambda arg, point=point, sign=sign: sign * enclose(arg, point)[0]))
            idle |= {str(arg) for arg in undecided}
    assert idle == never


@pytest.mark.parametrize("paper", PAPERS)
def test_the_points_tell_symbols_apart(paper: str) -> None:
    for point in points(paper):
        assert Fraction(1) not in point.values()
        assert Fraction(0) not in point.values()
        assert len(set(point.values())) == len(point)


def test_every_shipped_paper_has_a_table() -> None:
    assert set(PAPERS) == SHIPPED


@pytest.mark.parametrize("paper", PAPERS)
def test_no_entry_of_a_table_is_without_a_statement(paper: str) -> None:
    assert {f"{paper}/{name}" for name in table(paper)} == {id for id in STATEMENTS if id.startswith(f"{paper}/")}
