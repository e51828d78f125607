"""Derivations with one change, and whether the finder still has a certificate for a step that the verifier accepts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from boundcheck.proof.derivation import Derivation
from boundcheck.proof.discovery import folder
from boundcheck.proof.find import write
from boundcheck.proof.methods import Combine, Imported
from boundcheck.proof.step import Step

LESS = sp.Rational(99, 100)
SECONDS = 0.5  # processor time for a search that finds nothing


def shown(proof: Derivation, name: str, seconds: float = SECONDS) -> bool:
    """Whether a certificate is found for a step, where all earlier ones are taken; no witness is looked for."""
    place = [s.name for s in proof.steps].index(name)
    before = (replace(s, by=Imported("taken"), uses=()) for s in proof.steps[:place])
    alone = replace(proof, steps=(*before, proof.steps[place]), conclusion=name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "refute", lambda *_, **__: False)
        patch.setattr(write, "find_point", lambda *_: None)
        patch.setattr(write, "_statement", lambda *_: None)
        outcome = write.write_record(alone, folder(), seconds)
    without_one = {e["name"] for e in outcome.data["lines"] if e["by"]["rule"] == "open"}
    return not any(n == name or n.startswith(f"{name}.") for n in without_one)


def follows(proof: Derivation) -> bool:
    """Whether the statement is what its last step says, all steps being taken."""
    taken = tuple(replace(s, by=Imported("taken"), uses=()) for s in proof.steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "find_point", lambda *_: None)
        return not write.write_record(replace(proof, steps=taken), folder(), SECONDS).open


def step(proof: Derivation, name: str) -> Step:
    return next(s for s in proof.steps if s.name == name)


def with_step(proof: Derivation, name: str, **changes: Any) -> Derivation:
    """The derivation with another claim, method or uses of one step."""
    own = step(proof, name)
    return replace(proof, steps=tuple(replace(s, **changes) if s is own else s for s in proof.steps))


def with_fact(proof: Derivation, name: str, change: Callable[[Any], Any]) -> Derivation:
    """The derivation with another claim of one fact."""
    (own,) = (f for f in proof.facts if f.name == name)
    other = replace(own, claim=change(own.claim))
    assert other.claim != own.claim
    return replace(proof, facts=tuple(other if f is own else f for f in proof.facts))


def smaller(proof: Derivation, name: str, less: str | sp.Rational = LESS) -> Derivation:
    """The larger side of a step's claim times a number below 1, or less a term; of a zero side, its positive terms."""
    claim = step(proof, name).claim
    claim = (
        next((c for c in claim.args if isinstance(c, sp.Le)), claim.args[-1]) if isinstance(claim, sp.And) else claim
    )
    turned = isinstance(claim, sp.Ge | sp.Gt)
    small, large = (claim.rhs, claim.lhs) if turned else (claim.lhs, claim.rhs)
    if isinstance(less, str):
        names = {n: sp.Symbol(n, real=True) for n in re.findall(r"[A-Za-z_]\w*", less)}
        large = large - sp.parse_expr(less, local_dict=names)
    elif small == 0:
        terms = (t for t in sp.Add.make_args(sp.expand(large)) if not t.could_extract_minus_sign())
        large = large - sum(terms) * (1 - less)
    else:
        large = large * less
    other = claim.func(large, small, evaluate=False) if turned else claim.func(small, large, evaluate=False)
    assert other != claim
    return with_step(proof, name, claim=other)


def without(proof: Derivation, name: str, unused: str) -> Derivation:
    """A step that does not use a fact or an earlier step, nor multiplies it by anything."""
    own = step(proof, name)
    assert unused in own.uses
    return with_step(proof, name, uses=tuple(u for u in own.uses if u != unused), by=_without(own.by, unused))


def _without(by: Any, unused: str) -> Any:
    if isinstance(by, Combine):
        return Combine({k: m for k, m in by.multipliers.items() if k != unused})
    return replace(by, by=_without(by.by, unused)) if isinstance(getattr(by, "by", None), Combine) else by
