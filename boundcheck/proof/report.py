"""What checking a derivation found, for people and as JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from boundcheck.errors import UnknownName
from boundcheck.proof.step import Fact, Status, StepResult, Trusted


@dataclass(frozen=True)
class DerivationReport:
    """What checking a derivation found.

    status: the weakest step's; at most UNDECIDED when the conclusion is not the statement's bound, and at most VACUOUS
    when the facts cannot all hold.
    bound_matches: the conclusion is identical to the bound; remarks: sentences on the comparison and on dependence;
    conditions: names of the statement's conditions that the steps of the conclusion use; trusted: what the proof takes
    over from its author unchecked, the transcriptions of assumptions, metric and method into facts.
    A refuted step marks the derivation, not the statement, which may still be true.
    """

    statement: str
    results: tuple[StepResult, ...]
    facts: tuple[Fact, ...]
    status: Status
    bound_matches: bool
    conditions: tuple[str, ...]
    remarks: tuple[str, ...]
    seconds: float
    trusted: tuple[Trusted, ...] = ()

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {status}" for status, count in self.counts.items() if count)
        return f"<DerivationReport {self.statement}: {self.status.value}; {counts}>"

    def result(self, name: str) -> StepResult:
        """The result of one step; raises UnknownName."""
        for r in self.results:
            if r.step.name == name:
                return r
        raise UnknownName(f"{self.statement}: the step", name, [r.step.name for r in self.results])

    @property
    def counts(self) -> dict[str, int]:
        """Number of steps by status, zeros included."""
        return {s.value: sum(r.status is s for r in self.results) for s in Status}

    @property
    def transcribed(self) -> dict[str, int]:
        """Number of facts that the proof takes over unchecked, by their kind; kinds without one are left out."""
        return dict(sorted(Counter(t.kind for t in self.trusted).items()))

    def summary(self) -> dict[str, Any]:
        """Status, counts, steps that are not proved and counts of transcribed facts, for the record."""
        failing = {r.step.name: r.status.value for r in self.results if r.status is not Status.PROVED}
        return {
            "status": self.status.value,
            "counts": self.counts,
            "failing": failing,
            "transcribed": self.transcribed,
        }

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "schema": 1,
            "statement": self.statement,
            "status": self.status.value,
            "counts": self.counts,
            "bound_matches": self.bound_matches,
            "conditions": list(self.conditions),
            "remarks": list(self.remarks),
            "transcribed": self.transcribed,
            "trusted": [t.to_dict() for t in self.trusted],
            "facts": [{"name": f.name, "claim": str(f.claim), "kind": f.kind, "source": f.source} for f in self.facts],
            "steps": [r.to_dict() for r in self.results],
            "seconds": round(self.seconds, 3),
        }
