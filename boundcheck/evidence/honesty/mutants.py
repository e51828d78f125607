"""Mutants of derivations: one fact or claim changed in one place, or one hypothesis of a step taken away.

A mutant *fails* where the derivation refuses it, or where the changed step or one that uses what was changed is no
longer PROVED. One that survives is still true, and the reason says why; a survivor without one deserves a look.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from boundcheck.errors import BoundcheckError
from boundcheck.evidence.honesty.changes import HYPOTHESIS, changes
from boundcheck.evidence.honesty.processor import processor_seconds
from boundcheck.proof.derivation import Derivation
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.scope import with_scope
from boundcheck.proof.step import Context, Status, Step
from boundcheck.proof.vectors import VectorEquality

FAILS, UNUSED, WEAKER, STRONGER, SLACK = (
    "fails",
    "unused hypothesis",
    "weaker claim",
    "stronger fact",
    "still proved, by slack",
)

EVERYWHERE = ("definition", "count", "index", "range")  # facts that count in every step, also where none names them


@dataclass(frozen=True)
class Mutant:
    """One changed place of a derivation.

    statement: full id; kind: see `changes.KINDS`; name: the fact or step; after: its claim, or its `uses` without the
    one that was taken away; taken: the name of that one.
    """

    statement: str
    kind: str
    name: str
    after: Any
    taken: str = ""

    def __str__(self) -> str:
        what = f"without '{self.taken}'" if self.taken else str(self.after)
        return f"{self.statement}, {self.name} ({self.kind}): {what}"


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: FAILS, or the reason for which it survives."""

    mutant: Mutant
    reason: str


def mutants(proof: Derivation) -> Iterator[Mutant]:
    """All mutants of the facts and steps of a derivation, in the order in which they stand."""
    own = proof.statement.id
    for part in (*proof.facts, *proof.steps):
        for kind, claim in changes(part.claim):
            if claim != part.claim:
                yield Mutant(own, kind, part.name, claim)
        if isinstance(part, Step):
            for name in part.uses:
                rest = tuple(u for u in part.uses if u != name)
                if name not in with_scope((replace(part, uses=rest),), proof.facts)[0].uses:  # else it is found again
                    yield Mutant(own, HYPOTHESIS, part.name, rest, name)


def outcome(proof: Derivation, mutant: Mutant, seconds: float) -> Outcome:
    """Check the mutant of a derivation whose steps are all PROVED; no solver call takes longer than `seconds`."""
    mutated = _mutated(proof, mutant)
    if mutated is None:
        return Outcome(mutant, FAILS)
    if any(f.name == mutant.name and f.kind in EVERYWHERE for f in proof.facts):
        if mutated.check(seconds).status is not Status.PROVED:
            return Outcome(mutant, FAILS)
        return Outcome(mutant, _reason(proof, mutant, seconds))
    for step in mutated.steps:
        about = step.name == mutant.name or (mutant.name in step.uses and mutant.kind != HYPOTHESIS)
        if about and not _proved(mutated, step.name, seconds):
            return Outcome(mutant, FAILS)
    if mutant.name == mutated.conclusion and not _states_the_bound(mutated, seconds):
        return Outcome(mutant, FAILS)
    return Outcome(mutant, _reason(proof, mutant, seconds))


def _mutated(proof: Derivation, mutant: Mutant) -> Derivation | None:
    """The derivation with the change; None where it is refused as it is made."""
    member = "uses" if mutant.kind == HYPOTHESIS else "claim"
    facts, steps = (
        tuple(replace(p, **{member: mutant.after}) if p.name == mutant.name else p for p in parts)
        for parts in (proof.facts, proof.steps)
    )
    try:
        return replace(proof, facts=facts, steps=steps)
    except BoundcheckError:
        return None


def _proved(proof: Derivation, name: str, seconds: float) -> bool:
    try:
        return proof.check_step(name, seconds).status is Status.PROVED
    except BoundcheckError:  # a rule that the claim no longer fits
        return False


def _states_the_bound(proof: Derivation, seconds: float) -> bool:
    return proof.check(seconds).bound_matches


def _reason(proof: Derivation, mutant: Mutant, seconds: float) -> str:
    if mutant.kind == HYPOTHESIS:
        return UNUSED
    step = next((s for s in proof.steps if s.name == mutant.name), None)
    if step is None:
        fact = next(f for f in proof.facts if f.name == mutant.name)
        if not any(mutant.name in s.uses for s in proof.steps):
            return UNUSED
        return STRONGER if _follows(fact.claim, mutant.after, {}, seconds) else SLACK
    known = {p.name: p.claim for p in (*proof.facts, *proof.steps) if p.name in step.uses}
    return WEAKER if _follows(mutant.after, step.claim, known, seconds) else SLACK


def _follows(claim: Any, given: Any, known: dict[str, Any], seconds: float) -> bool:
    """Whether the claim is shown to follow from what is given, of two inequalities."""
    if any(isinstance(p, VectorEquality | sp.Implies | sp.And) for p in (claim, given)):
        return False
    facts = {**{k: p for k, p in known.items() if not isinstance(p, sp.And | sp.Implies)}, "given": given}
    for method in (Decide(), Combine({"given": 1})):
        try:
            if method.check(claim, facts, Context(seconds=seconds)).status is Status.PROVED:
                return True
        except BoundcheckError:
            continue
    return False


@dataclass(frozen=True)
class Sample:
    """Outcomes of a sample: total is the number of mutants from which it was drawn."""

    total: int
    outcomes: tuple[Outcome, ...]
    seconds: float

    @property
    def survivors(self) -> tuple[Outcome, ...]:
        """Those that did not fail."""
        return tuple(o for o in self.outcomes if o.reason != FAILS)

    @property
    def explained(self) -> int:
        """Survivors that are shown to be true: an unused hypothesis, a weaker claim or a stronger fact."""
        return sum(o.reason != SLACK for o in self.survivors)


def sample(
    proofs: Sequence[Derivation],
    seed: int,
    budget: float,
    show: Callable[[Outcome], None],
    seconds: float = 2.0,
    count: int | None = None,
) -> Sample:
    """Check mutants in an order drawn from `seed` until `budget` processor seconds, or `count` of them, are spent."""
    every = [(proof, mutant) for proof in proofs for mutant in mutants(proof)]
    random.Random(seed).shuffle(every)
    begin = processor_seconds()
    found: list[Outcome] = []
    for proof, mutant in every[:count]:
        if processor_seconds() - begin > budget:
            break
        found.append(outcome(proof, mutant, seconds))
        show(found[-1])
    return Sample(len(every), tuple(found), processor_seconds() - begin)
