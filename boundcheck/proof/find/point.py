"""A point that meets the facts of a derivation: numbers for its symbols, with all vectors 0.

Functions are 0 where that is possible, since squared norms and gaps are free to be 0 together; else they are constants,
or what a recursion with constant coefficients makes of them. Where no such point is found, the record has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.proof.find.rational import rational_points
from boundcheck.proof.find.text import text
from boundcheck.proof.language import parts
from boundcheck.proof.vectors import Inner, VectorEquality
from boundcheck.verify import boundcheck_verify as v

SMALL = 3  # integers up to this are tried first: the values of an index are then few
NICE = (0, 1, 3, 4, sp.Rational(1, 4), 12, 9)  # for what stands under a root
TRIES = 60


def find_point(proof: Any, data: dict[str, Any]) -> dict[str, Any] | None:
    """The point as the record has it, or None where none was found."""
    indices = {str(p.lhs) for f in proof.facts if f.kind in ("index", "range") for p in parts(f.claim)}
    claims = {
        f"{fact.name}.{k}": part
        for fact in proof.facts
        if fact.kind not in ("index", "range")
        for k, part in enumerate(parts(fact.claim))
        if not isinstance(part, VectorEquality)
    }
    own = {
        f"{fact.name}.0": fact.claim.lhs
        for fact in proof.facts
        if fact.kind == "definition" and isinstance(fact.claim, sp.Eq)
    }
    while ends := [n for n, x in own.items() if n in claims and not any(c.has(x) for m, c in claims.items() if m != n)]:
        for name in ends:  # nothing else is about what it defines
            del claims[name]
    kinds = data["names"]
    equations = [claim for claim in claims.values() if isinstance(claim, sp.Eq)]
    scalars = [n for n, kind in kinds.items() if kind == "function" and n not in dict(_recursions(equations, {}))]
    for values in (dict.fromkeys(scalars, sp.Integer(0)), {n: sp.Symbol(f"at {n}", real=True) for n in scalars}):
        recursive = dict(_recursions(equations, values))
        try:
            relations = _relations(claims, values, recursive, indices)
        except (ValueError, ZeroDivisionError, AttributeError):
            continue
        whole = proof.integers
        for more in islice(_pins(relations, whole - indices, kinds), TRIES):
            for found in rational_points([*relations.values(), *more.values()], whole):
                point = _point(found, values, recursive, indices, data)
                if point is not None:
                    return point
        if not scalars:
            break
    return None


def _relations(
    claims: dict[str, Any], values: dict[str, Any], recursive: dict[str, Any], indices: set[str]
) -> dict[str, Any]:
    """What the numbers of the point must meet, with these values of functions.

    What is about an index, or has a power with a symbol in the exponent, is left to the check of the point.
    A recursion adds nothing where that is possible, so that the mean of what it gives is 0.
    """
    relations: dict[str, Any] = {f"of {n}": sp.Eq(more, 0) for n, (_, more) in recursive.items() if more.free_symbols}
    for name, part in claims.items():
        if {type(f).__name__ for f in part.atoms(AppliedUndef)} & set(recursive):
            continue
        own = part.func(*(_without_terms(side, values) for side in part.args), evaluate=False)
        if not {s.name for s in own.free_symbols} & indices and not any(p.exp.free_symbols for p in own.atoms(sp.Pow)):
            relations[name] = own
    return relations


def _recursions(equations: Iterable[Any], values: dict[str, Any]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Functions with F(0) == 0 and F(i + 1) == a F(i) + b, where other functions have these values: F, (a, b)."""
    starts = {type(e.lhs).__name__ for e in equations if e.rhs == 0 and getattr(e.lhs, "args", ()) == (0,)}
    for equation in equations:
        after: Any = equation.lhs
        if not isinstance(after, AppliedUndef) or len(after.args) != 1 or type(after).__name__ not in starts:
            continue
        index: Any = sp.expand(after.args[0]) - 1
        if not index.is_Symbol:
            continue
        before = after.func(index)
        slope = sp.expand(equation.rhs).coeff(before)
        more = _without_terms(sp.expand(equation.rhs - slope * before), values)
        if index not in (slope + more).free_symbols and not slope.has(AppliedUndef):
            yield type(after).__name__, (slope, more)


def _closed(slope: Any, more: Any) -> str:
    """What the recursion F(x + 1) == slope F(x) + more makes of F(0) == 0."""
    a, b = text(slope), text(more)
    return f"({b})*x" if slope == 1 else f"({b})*(1 - ({a})**x)/(1 - ({a}))"


def _point(
    found: dict[str, Any], values: dict[str, Any], recursive: dict[str, Any], indices: set[str], data: dict[str, Any]
) -> dict[str, Any] | None:
    """The point with these numbers, if it meets all facts."""
    kinds = data["names"]
    defined = {row["claim"].split(" ")[0] for row in data["facts"] if row["kind"] == "definition"}
    numbers = {n: str(x) for n, x in found.items()}
    numbers |= {n: "0" for n, kind in kinds.items() if kind in ("number", "integer", "vector") and n not in numbers}
    functions: dict[str, Any] = {}
    for name, kind in kinds.items():
        if kind.endswith("function") and not any(d.startswith(f"{name}(") for d in defined):
            value = values.get(name, 0)
            body = str(found.get(str(value), 0)) if value else "0"
            if name in recursive:
                slope, more = recursive[name]
                own = {sp.Symbol(n, real=True): sp.Rational(str(x)) for n, x in found.items() if n not in kinds}
                body = _closed(slope, more.subs(own))
            functions[name] = [list("xyz"[: _arity(name, data)]), body]
    point = {
        "numbers": {n: x for n, x in sorted(numbers.items()) if n in kinds and n not in indices | defined},
        "functions": functions,
    }
    try:
        record = v.Record(Path(), data={**data, "point": point})
        record.read_facts()
        v.Model(record).check()
    except (v.Invalid, KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        return None
    return point


def _arity(name: str, data: dict[str, Any]) -> int:
    """How many arguments a function of the record has."""

    def of(tree: Any) -> int:
        if not isinstance(tree, tuple):
            return 0
        own = len(tree[2]) if tree[:2] == ("call", name) else 0
        return max([own, *(of(part) for part in tree)], default=0)

    rows = (*data["facts"], *data["lines"])
    return next((n for n in (of(v.parsed(row["claim"])) for row in rows) if n), 1)


def _without_terms(expr: Any, values: dict[str, Any]) -> Any:
    """The expression with all vectors 0, and functions constant or 0."""
    if isinstance(expr, AppliedUndef):
        return values.get(type(expr).__name__, sp.Integer(0))
    if isinstance(expr, Inner | sp.Derivative):
        return sp.Integer(0)
    if isinstance(expr, sp.Sum):
        inside = _without_terms(expr.function, values)
        limits: Any = expr.limits[0]
        return sp.expand(sp.summation(inside, limits)) if inside.has(limits[0]) else inside * (limits[2] + 1)
    if not expr.args:
        return expr
    return expr.func(*(_without_terms(arg, values) for arg in expr.args))


def _pins(relations: dict[str, Any], whole: Any, kinds: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Further relations to try: small integers, and numbers that have roots."""
    few: dict[str, Any] = {f"few {n}": sp.Le(sp.Symbol(n, real=True), SMALL) for n in sorted(whole)}
    used = {s.name for r in relations.values() for s in r.free_symbols}
    few = {k: r for k, r in few.items() if {s.name for s in r.free_symbols} <= used}
    for size in (SMALL, 1, 2):
        less = {k: sp.Le(r.lhs, size) for k, r in few.items()}
        yield less
    powers = [p for r in relations.values() for p in r.atoms(sp.Pow) if p.exp.is_Rational and p.exp.q != 1]
    roots = sorted({s for p in powers for s in p.free_symbols}, key=str)
    for values in product(NICE, repeat=len(roots)):
        yield few | {f"root {s}": sp.Eq(s, x) for s, x in zip(roots, values, strict=True)}
    yield {}
