"""Steps that many derivations share: one reading of a statement from a sharper one, or from a more general method's."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.citations import Instance, Specialised
from boundcheck.proof.derivation import scope_facts
from boundcheck.proof.methods import Combine, Decide
from boundcheck.proof.step import Step
from boundcheck.theory.discovery import statement as find_statement

Images = tuple[tuple[str, Any], ...]


def _scope(statement: Any) -> tuple[str, ...]:
    """Names of the facts of `scope_facts` that are about the domain."""
    return tuple(f.name for f in scope_facts(statement) if f.kind == "domain")


def _needed(statement: Any, relations: tuple[tuple[str, Any], ...], uses: tuple[str, ...]) -> tuple[Step, ...]:
    """A step for each hypothesis of what is cited that is none of the statement's own."""
    own = {c.relation for c in statement.conditions}
    names = (*uses, *(f"condition {c.name}" for c in statement.conditions), *_scope(statement))
    return tuple(
        Step(f"needs {name}", relation, names, Decide(), "what is cited needs it")
        for name, relation in relations
        if relation not in own
    )


def _case(
    statement: Any, rule: Any, relations: tuple[tuple[str, Any], ...], name: str, text: str, uses: tuple[str, ...]
) -> tuple[Step, ...]:
    needed = _needed(statement, relations, uses)
    own = (f"condition {c.name}" for c in statement.conditions if c.relation in {r for _, r in relations})
    names = (*(s.name for s in needed), *own, *_scope(statement))
    return (*needed, Step(name, rule.instance({}), names, rule, text))


def from_sharper(statement: Any, sharper: str, metric: Any, images: Images, slip: str = "") -> tuple[Step, ...]:
    """Steps "needs ...", "sharp", "rounding" and "conclusion": the bound of a sharper reading, rounded up.

    images: values at the start, as for an `Instance`. slip: what the printed reading gets wrong in the rounding.
    """
    text = slip if slip and statement.reading == "as_printed" else "term by term"
    found = find_statement(sharper)
    relations = tuple((c.name, c.relation) for c in found.conditions)
    cited = _case(statement, Instance(sharper, metric, images), relations, "sharp", "the sharper reading", ())
    scope = _scope(statement)
    inside = tuple(f"condition {c.name}" for c in statement.conditions) if statement.reading == "as_printed" else ()
    scale = statement.metric.scale
    return (
        *cited,
        Step("rounding", sp.Le(found.bound, statement.bound), (*inside, *scope), Decide(), text),
        Step(
            "conclusion",
            sp.Le(scale * metric, statement.bound),
            ("sharp", "rounding", *scope),
            Combine({"sharp": 1, "rounding": 1}),
            "together",
        ),
    )


def from_general(
    statement: Any, general: str, metric: Any, images: Images, uses: tuple[str, ...] = ()
) -> tuple[Step, ...]:
    """Steps "needs ..." and "conclusion": the bound of a statement about a method of which this one is a special case.

    uses: steps that help to show the conditions.
    """
    rule = Specialised(general, metric, images)
    cited = find_statement(general)
    values = rule.values(cited)
    relations = tuple((c.name, c.relation.xreplace(values)) for c in cited.conditions)
    return _case(statement, rule, relations, "conclusion", "a special case", uses)
