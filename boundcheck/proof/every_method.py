"""Citations between statements about the runs of every method that meets their assumptions, without an algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.proof.at_points import inequality_of
from boundcheck.proof.step import Context
from boundcheck.theory.assumptions import follows
from boundcheck.theory.dimension import QUANTITIES
from boundcheck.theory.statement import Kind


def role_of(symbol: Any) -> str:
    """The quantity that a symbol of a round is: the metrics of a round's work are called alike."""
    name = symbol.key.removeprefix("round/")
    return f"work_{name}" if f"work_{name}" in QUANTITIES else symbol.key.replace("/", "_")


def bounding(statement: Any) -> set[Any]:
    """The symbols in the bound and in the hypotheses: others, of the trivial value alone, need no value."""
    relations = (c.relation for c in statement.conditions)
    parts = (statement.bound, statement.metric.rounds, statement.metric.scale, *relations, *statement.domain)
    return {symbol for part in parts for symbol in sp.sympify(part).free_symbols}


def _alike(symbol: Any, own: Any, free: bool) -> bool:
    """Whether a symbol is the same in both statements; free: its key does not matter."""
    if own is None or own == symbol or not free:
        return own == symbol
    return own.but(key="", meaning="") == symbol.but(key="", meaning="")


def of_every_method(cited: Any, setting: Context, images: Mapping[str, Any], metric: Any) -> str:
    """Why a statement about every method's runs says nothing about the terms of another such one; empty where it does.

    Both must be about the same run, under assumptions that the citing one makes too. The cited one may bound a value in
    a round, for which the metric and the images are terms of one round, or the average over the rounds that the citing
    one is about. Symbols that both declare alike stand for themselves, as does a constant of an assumption that follows
    from the citing one's, such as L; all others stand for the quantity of the same key.
    """
    citing = setting.statement
    if not citing.any_method or cited.kind is not Kind.UPPER_BOUND:
        return f"{cited.id} is not an upper bound on runs of every method, or {citing.id} is about others"
    keys = [s.key for s in (*cited.symbols, *citing.symbols)]
    if cited.metric.surrogate != citing.metric.surrogate and any(key.startswith("objective/") for key in keys):
        return f"{cited.id} is about another objective"
    missing = [a.name for a in cited.assumptions if not follows(a, citing.assumptions, {})]
    if missing:
        return f"{cited.id} assumes {', '.join(missing)} besides"
    own, other = citing.metric, cited.metric
    average = other.over_rounds
    if average and any(
        getattr(own, f) != getattr(other, f) for f in ("average", "weights", "with_last", "rounds", "index")
    ):
        return f"{cited.id} is about another average over rounds"
    declared = {s.name: s for s in citing.symbols}
    implied = [inequality_of(a) for a in cited.assumptions if a not in citing.assumptions]
    free = {str(s) for i in implied if i is not None for s in i.free_symbols}  # constants of what follows
    terms = [metric, *images.values()]
    for term in terms:
        if not (term.is_Symbol or isinstance(term, AppliedUndef)) or str(term) in declared:
            return f"{term} is no quantity of its own"
    rounds = {term.args if isinstance(term, AppliedUndef) else () for term in terms}
    in_a_round = not average and other.index != own.index
    if len(rounds) != 1 or in_a_round == (() in rounds):
        return f"{cited.id}: {', '.join(map(str, terms))} are not the values of one round"
    for symbol in (x for x in cited.symbols if x.index or x.expr in bounding(cited)):
        alike = symbol.index or _alike(symbol, declared.get(symbol.name), symbol.name in free)
        if alike == (symbol.name in images):
            what = "stands for itself and has no image" if alike else "is not declared here, and has no image"
            return f"{symbol.name} of {cited.id} {what}"
    named = [(metric, other.quantity), *((images[s.name], role_of(s)) for s in cited.symbols if s.name in images)]
    return next(filter(None, (setting.clock.other_quantity(term, role) for term, role in named)), "")
