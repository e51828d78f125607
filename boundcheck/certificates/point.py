"""A point that meets the facts of a derivation: numbers for its symbols, with all vectors and functions 0.

Squared norms and gaps are free to be 0 together, so such a point mostly exists; where it does not, none is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.language import parts
from boundcheck.proof.scalar import sample
from boundcheck.proof.step import Context
from boundcheck.proof.vectors import Inner, VectorEquality
from boundcheck.verify import boundcheck_verify as v

SMALL = 3  # integers up to this are tried first: the values of an index are then few
NICE = (0, 1, 3, 4, sp.Rational(1, 4), 12, 9)  # for what stands under a root
TRIES = 60


def find_point(proof: Any, data: dict[str, Any]) -> dict[str, Any] | None:
    """The point as the record has it, or None where none was found."""
    indices = {str(p.lhs) for f in proof.facts if f.kind in ("index", "range") for p in parts(f.claim)}
    relations: dict[str, Any] = {}
    try:
        for fact in proof.facts:
            if fact.kind in ("index", "range"):
                continue
            for k, part in enumerate(parts(fact.claim)):
                if isinstance(part, VectorEquality):
                    continue
                zero = part.func(*(_without_terms(side) for side in part.args), evaluate=False)
                if not {s.name for s in zero.free_symbols} & indices:
                    relations[f"{fact.name}.{k}"] = zero
    except (ValueError, ZeroDivisionError, AttributeError):
        return None
    whole = proof._integers()  # pyright: ignore[reportPrivateUsage]
    defined = {row["claim"].split(" ")[0] for row in data["facts"] if row["kind"] == "definition"}
    kinds = data["names"]
    functions = {n: ["xyz"[: _arity(n, data)], "0"] for n, kind in kinds.items() if kind.endswith("function")}
    functions = {n: [list(names), text] for n, (names, text) in functions.items()}
    for more in islice(_pins(relations, whole - indices, kinds), TRIES):
        try:
            found = sample({**relations, **more}, Context(integers=whole))
        except (BadInput, TypeError, ValueError):
            continue
        if found is None:
            continue
        numbers = {n: str(x) for n, x in found.items()}
        numbers |= {n: "0" for n, kind in kinds.items() if kind in ("number", "integer", "vector") and n not in numbers}
        numbers = {n: x for n, x in sorted(numbers.items()) if n in kinds and n not in indices | defined}
        own = {n: x for n, x in functions.items() if not any(d.startswith(f"{n}(") for d in defined)}
        point = {"numbers": numbers, "functions": own}
        try:
            record = v.Record(Path(), data={**data, "point": point})
            record.read_facts()
            v.Model(record).check()
            return point
        except (v.Invalid, KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
            continue
    return None


def _arity(name: str, data: dict[str, Any]) -> int:
    """How many arguments a function of the record has."""

    def of(tree: Any) -> int:
        if not isinstance(tree, tuple):
            return 0
        own = len(tree[2]) if tree[:2] == ("call", name) else 0
        return max([own, *(of(part) for part in tree)], default=0)

    rows = (*data["facts"], *data["lines"])
    return next((n for n in (of(v.parsed(row["claim"])) for row in rows) if n), 1)


def _without_terms(expr: Any) -> Any:
    """The expression with all vectors and functions 0."""
    if isinstance(expr, Inner | AppliedUndef | sp.Derivative):
        return sp.Integer(0)
    if isinstance(expr, sp.Sum):
        inside = _without_terms(expr.function)
        return sp.Integer(0) if inside == 0 else inside * (expr.limits[0][2] + 1)
    if not expr.args:
        return expr
    return expr.func(*map(_without_terms, expr.args))


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
