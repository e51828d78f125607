"""Witnesses against steps: points at which all that a step uses holds and its claim fails.

Candidates come from simple rational numbers, then from vectors of the plane, then from a solver with a time limit. None
of them is believed: a witness is written only where the verifier accepts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from itertools import islice, product
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.find.rational import rational_points
from boundcheck.proof.find.steps import Asked
from boundcheck.proof.find.text import claim_text
from boundcheck.proof.find.writer import Writer
from boundcheck.proof.language import has_terms
from boundcheck.proof.refute import smt, vectors
from boundcheck.proof.refute.vectors import NotExplicit, Point, opposites
from boundcheck.proof.step import Context
from boundcheck.verify import boundcheck_verify as v

MODELS = 40  # candidates in the plane
FEW = 4  # values of an index that are tried


def refute(w: Writer, asked: Asked, name: str, known: Mapping[str, Any], *, by_solver: bool) -> bool:
    """Adds a refuted line for the claim where a witness is found; says whether one was.

    known: name of a line -> proposition, for the hypotheses that are about the same symbols; by_solver: ask a solver,
    which takes longer, and try nothing else.
    """
    text = claim_text(asked.claim)
    claim = w.language.claim(text)
    uses = {n: w.claim(n) for n in asked.names if n in w.record.lines}
    about = v.leaves(claim.atoms.union(*(c.atoms for c in uses.values())))
    uses |= {n: w.claim(n) for n in w.quantities if v.leaves(w.claim(n).atoms) <= about}
    given = w.record.with_scope(claim, uses)
    facts = {n: known[n] for n in given if n in known}
    facts |= {n: asked.facts[n] for n in uses if n in asked.facts}
    kind, w.record.kind = w.record.kind, "refutation"
    search = _by_solver if by_solver else _candidates
    for candidate in search(asked.claim, facts, asked.setting):
        for point in _at_indices(w, _named(w, candidate, claim, given), claim):
            try:
                w.add(text, {"rule": "refuted", "uses": list(uses), "point": point}, asked.now, name)
            except v.Invalid:
                continue
            w.data["kind"] = "refutation"
            return True
    w.record.kind = kind
    return False


def _named(w: Writer, point: Point, claim: Any, given: Mapping[str, Any]) -> Point:
    """The point with values for the names that occur, of which those that are defined by what is used are left out."""
    atoms = claim.atoms.union(*(c.atoms for c in given.values()))
    names = v.leaves(atoms.union(*(r.atoms for i in w.record.closure(atoms) for r in w.record.ranges[i])))
    definitions = [v.parsed(r["claim"]) for r in w.data["facts"] if r["kind"] == "definition" and r["name"] in given]
    defined = {tree[1][1] for tree in definitions}
    numbers, functions = dict[str, Any](), dict[str, Any]()
    for name in sorted(names - defined):
        kind = w.language.kinds.get(name, "number")
        if kind.endswith("function"):
            functions[name] = point["functions"].get(name) or [list("xyz"[: _arity(w, name)]), "0"]
        elif name in point["numbers"] or kind == "vector":
            numbers[name] = point["numbers"].get(name, "0")
    return {"numbers": numbers, "functions": functions}


def _at_indices(w: Writer, point: Point, claim: Any) -> Iterator[Point]:
    """The point with small values for the integer indices of the claim that have none."""
    free = [i for i in w.record.closure(claim.atoms) & w.language.integers if v.ATOMS[i][1] not in point["numbers"]]
    for values in product(range(FEW), repeat=len(free)):
        own = {v.ATOMS[i][1]: str(k) for i, k in zip(free, values, strict=True)}
        yield {**point, "numbers": {**point["numbers"], **own}}


def _arity(w: Writer, name: str) -> int:
    """How many arguments a function has in the lines of the record."""
    sizes = [len(v.ATOMS[n][2]) for line in w.record.lines.values() for n in line.claim.atoms
             if v.ATOMS[n][0] in ("f", "vf") and v.ATOMS[n][1] == name]  # fmt: skip
    return max(sizes, default=1)


def _candidates(claim: Any, facts: Mapping[str, Any], setting: Context) -> Iterator[Point]:
    """Points that may be witnesses, found without a solver."""
    plain = isinstance(claim, sp.Rel) and not has_terms(claim)
    for relations in _failures(claim, facts, setting) if plain else ():
        for point in rational_points(relations, setting.integers):
            yield _of_numbers(point)
    if not plain or any(has_terms(f) for f in facts.values()):
        with suppress(NotExplicit, BadInput):
            yield from islice(vectors.points(claim, facts, setting), MODELS)


def _by_solver(claim: Any, facts: Mapping[str, Any], setting: Context) -> Iterator[Point]:
    """The points that a solver finds, if it finds one."""
    if isinstance(claim, sp.Rel) and not has_terms(claim):
        found = (smt.point(relations, setting.integers) for relations in _failures(claim, facts, setting))
        yield from (_of_numbers(point) for point in found if point is not None)


def _failures(claim: Any, facts: Mapping[str, Any], setting: Context) -> Iterator[list[Any]]:
    """The facts about numbers, and the claim negated, in one or two ways."""
    scalars = [f for f in facts.values() if isinstance(f, sp.Rel) and not has_terms(f)]
    about = {str(s) for r in (claim, *scalars) for s in r.free_symbols}
    signs = [sp.Ge(sp.Symbol(n, real=True), 0, evaluate=False) for n in sorted(setting.quantities & about)]
    ranges = [r for s, r in setting.ranges if s.name in about]
    for opposite in opposites(claim):
        yield [*scalars, *signs, *ranges, opposite]


def _of_numbers(point: Mapping[str, Fraction]) -> Point:
    return {"numbers": {n: str(x) for n, x in point.items()}, "functions": {}}
