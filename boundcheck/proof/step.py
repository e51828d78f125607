"""The words of a proof: facts, steps, findings, and how strong each is.

A *fact* is an assumption of the statement (or a definition); a *step* is a claim with the names of the facts and
earlier steps that it uses and a *method* that decides it; a *finding* is what the method found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol

# kinds of what is trusted that say what a term stands for; facts of the other kinds are claims, written by an author
NAMES = ("evaluation", "law", "cited")

Proposition = Any  # a SymPy relational, a conjunction or implication of such, or a VectorEquality


class Status(StrEnum):
    """What became of a step, strongest first."""

    PROVED = "PROVED"  # follows from what it uses
    ASSUMED = "ASSUMED"  # taken as it is: a cited result, or what a method says that is not one of the checker's own
    OPEN = "OPEN"  # neither a certificate nor a witness was found, or it cites what is refuted
    UNDECIDED = "UNDECIDED"  # neither shown nor refuted
    VACUOUS = "VACUOUS"  # what it uses cannot all hold, so it says nothing: weaker than a step that may yet be shown
    REFUTED = "REFUTED"  # does not follow: an exact rational witness meets what it uses and breaks the claim

    @property
    def rank(self) -> int:
        """0 for the strongest."""
        return list(Status).index(self)


def weakest(statuses: Iterable[Status]) -> Status:
    """A chain is as strong as its weakest link; PROVED for an empty chain."""
    return max(statuses, key=lambda s: s.rank, default=Status.PROVED)


def _empty() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class Finding:
    """The outcome of one decision.

    how: the kind of evidence in words ("certificate", "z3 and cvc5", "Jensen's inequality", ...);
    certificate: JSON-able and re-verified in exact arithmetic, or None; witness: symbol name -> exact fraction as
    text; note: one sentence for people; parts: the findings it rests on.
    """

    status: Status
    how: str
    certificate: Mapping[str, Any] | None = None
    witness: Mapping[str, str] = field(default_factory=_empty)
    note: str = ""
    parts: tuple[Finding, ...] = ()
    claim: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "claim": self.claim,
            "status": self.status.value,
            "how": self.how,
            "certificate": None if self.certificate is None else dict(self.certificate),
            "witness": dict(self.witness),
            "note": self.note,
            "parts": [p.to_dict() for p in self.parts],
        }


def unmeetable(claim: str, certificate: Mapping[str, Any] | None = None) -> Finding:
    """The finding of a step whose hypotheses contradict each other; certificate: what shows it, where there is one."""
    note = "the hypotheses cannot all be met"
    return Finding(Status.VACUOUS, "contradictory hypotheses", certificate, note=note, claim=claim)


def assumed(found: Finding, label: str) -> Finding:
    """What a method found that nobody has checked."""
    note = f"the method '{label}' is not one of the checker's own, or shows nothing; what it says is taken as it is"
    return replace(found, status=Status.ASSUMED, how=f"assumed: {label}", certificate=None, note=note)


@dataclass(frozen=True)
class Context:
    """What every step of a derivation may rely on besides the facts it names.

    quantities: names of symbols that stand for squared norms, sums of such, or gaps: real and at least 0, and free
    to be 0 together; integers: names of integer symbols; ranges: (index, relation) pairs in the order of declaration;
    a claim holds for all values of its indices that meet them; seconds: limit of one solver call; statement: what is
    being derived, for steps that cite another statement (None: no step may); supposed: what is assumed for the
    decision at hand only; background: (name, relation) pairs that hold throughout, from which it may be shown that a
    claim has a value; clock: the rounds of the terms of the derivation (`clock.Clock`); laws: how its vectors are drawn
    (`laws.Law`); drawn: on how many draws each vector depends (`outcomes.Drawn`).
    """

    quantities: frozenset[str] = frozenset()
    integers: frozenset[str] = frozenset()
    ranges: tuple[tuple[Any, Any], ...] = ()
    seconds: float = 10.0
    statement: Any = None
    supposed: tuple[Any, ...] = ()
    background: tuple[tuple[str, Any], ...] = ()
    clock: Any = None
    laws: tuple[Any, ...] = ()
    drawn: tuple[Any, ...] = ()


class Justification(Protocol):
    """A way to decide a claim from propositions; implemented by the kernels and by the general rules."""

    @property
    def label(self) -> str:
        """What the report calls it."""
        ...

    def check(self, claim: Proposition, facts: Mapping[str, Proposition], setting: Context) -> Finding:
        """Decide `claim` from `facts` (name -> proposition) alone."""
        ...


@dataclass(frozen=True)
class Fact:
    """An assumption of the statement at explicit points, one of its conditions, or a definition of a new symbol.

    kind: "domain" or "condition" (taken from the statement), "assumption" (an instance of one of its assumptions),
    "algorithm" (what the method does), "metric" (what the statement's metric is at explicit points), "count" (a fixed
    integer of the problem that is no symbol of the statement, with its least value), "index" (an integer for all of
    whose values the claims hold that mention it), "range" (the same for a real variable), or "definition" (introduces
    a symbol, assumes nothing). source: where the paper says it. assumption: for that kind, the name of the assumption
    of the statement. instance: the `at_points.AtPoints` from which the claim was made, where that assumption has an
    inequality.
    """

    name: str
    claim: Proposition
    kind: str
    source: str
    assumption: str = ""
    instance: Any = None


@dataclass(frozen=True)
class Trusted:
    """Something that a proof takes over unchecked.

    name: of the fact or step; kind: "assumption", "metric", "algorithm" or "count" as for facts that are transcribed,
    "presumed" for what the method of a step takes for granted, and in `NAMES` what says no more than what a term stands
    for: "evaluation" for a gradient, a value, the metric or a round, "law" for what is drawn and what is known before,
    "cited" for another derivation;
    claim: in words; source: where the paper says it, or why it is needed.
    """

    name: str
    kind: str
    claim: str
    source: str

    def to_dict(self) -> dict[str, str]:
        """JSON-able form."""
        return {"name": self.name, "kind": self.kind, "claim": self.claim, "source": self.source}


@dataclass(frozen=True)
class Step:
    """One step: `claim` follows from the facts and earlier steps named in `uses`, decided by `by`.

    text: the paper's reason in our words. No step says what will come out.
    """

    name: str
    claim: Proposition
    uses: tuple[str, ...]
    by: Justification
    text: str


@dataclass(frozen=True)
class StepResult:
    """A step with its finding.

    depends_on: the earlier steps, used directly or indirectly, that are not PROVED; the finding is conditional on
    them. seconds: wall time of the decision, the only part of a report that two runs need not share.
    """

    step: Step
    finding: Finding
    depends_on: tuple[str, ...]
    seconds: float

    @property
    def status(self) -> Status:
        """The finding's status."""
        return self.finding.status

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "name": self.step.name,
            "text": self.step.text,
            "uses": list(self.step.uses),
            "method": self.step.by.label,
            "depends_on": list(self.depends_on),
            "seconds": round(self.seconds, 3),
            **self.finding.to_dict(),
            "claim": str(self.step.claim),
        }
