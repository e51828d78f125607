"""Deriving: find a record for a derivation, let the verifier check it, and report the status of each step."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from boundcheck.errors import BadInput, UnknownName
from boundcheck.proof.discovery import citations, derivation, folder
from boundcheck.proof.find.record import record_file
from boundcheck.proof.find.write import save, write_record
from boundcheck.proof.language import named
from boundcheck.proof.records import STATUS, accept, compared, record, status_of
from boundcheck.proof.step import Fact, Status, Step


@dataclass(frozen=True)
class StepResult:
    """The status of a step.

    REFUTED too where it cites a reading whose record the verifier accepted as a refutation. rule: of its line in the
    record; witness: values at which it fails; note: why it is open, or which refuted reading it cites, one sentence.
    """

    step: Step
    status: Status
    rule: str
    witness: Mapping[str, str] = field(default_factory=dict[str, str])
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "name": self.step.name,
            "text": self.step.text,
            "claim": str(self.step.claim),
            "uses": list(self.step.uses),
            "method": self.step.by.label,
            "status": self.status.value,
            "rule": self.rule,
            "witness": dict(self.witness),
            "note": self.note,
        }


@dataclass(frozen=True)
class DerivationReport:
    """What the verifier says of the record of a derivation.

    status: PROVED where it accepted a proof, REFUTED where it accepted a refutation (the derivation is refuted, the
    statement may still be true), else OPEN. verdict: its sentence; rests: what the proof rests on, by
    weight; lines: number of lines of the record; seconds: time that finding and verifying took.
    """

    statement: str
    status: Status
    results: tuple[StepResult, ...]
    facts: tuple[Fact, ...]
    verdict: str
    rests: tuple[str, ...]
    lines: int
    seconds: float

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

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "schema": 2,
            "statement": self.statement,
            "status": self.status.value,
            "verdict": self.verdict,
            "counts": self.counts,
            "rests_on": list(self.rests),
            "facts": [{"name": f.name, "claim": str(f.claim), "kind": f.kind, "source": f.source} for f in self.facts],
            "steps": [r.to_dict() for r in self.results],
            "lines": self.lines,
            "seconds": round(self.seconds, 3),
        }


def derive(statement_id: str, *, keep: bool = False) -> DerivationReport:
    """Find the record of a reading anew and let the verifier check it.

    statement_id: full or bare id. keep: also replaces the shipped record. What it cites is read from the shipped
    records. Raises UnknownName and BadInput as `proof.discovery.derivation` does, BadInput for `keep` with a
    derivation that does not come with boundcheck.
    """
    begin = perf_counter()
    proof = derivation(statement_id)
    id = proof.statement.id
    if keep:
        paper, name, _ = id.split("/")
        if not (folder() / paper / f"{name}.py").is_file():
            raise BadInput(f"the derivation of {id} comes from another package; only shipped ones have records here.")
        save(write_record(proof, folder()), folder())
        row = accept([id])[id]
        return _report(proof, json.loads(record_file(folder(), id).read_bytes()), row, perf_counter() - begin)
    with tempfile.TemporaryDirectory() as place:
        for other in citations(id):
            _copy(other, Path(place))
        outcome = write_record(proof, Path(place))
        save(outcome, Path(place))
        row = compared([id], Path(place))[id]
    return _report(proof, outcome.data, row, perf_counter() - begin)


def _copy(id: str, place: Path) -> None:
    source, target = record_file(folder(), id), record_file(place, id)
    if source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())


def recorded(statement_id: str) -> DerivationReport:
    """Return the report of the shipped record after the verifier checks it again; raises BadInput without a record."""
    begin = perf_counter()
    proof = derivation(statement_id)
    id, path = proof.statement.id, record_file(folder(), proof.statement.id)
    if not path.is_file():
        raise BadInput(f"{id} has no record; `boundcheck derive {id} --record` writes one.")
    return _report(proof, json.loads(path.read_bytes()), compared([id])[id], perf_counter() - begin)


def _report(proof: Any, data: Mapping[str, Any], row: Mapping[str, Any], seconds: float) -> DerivationReport:
    lines = {entry["name"]: entry["by"] for entry in data["lines"]}
    status = status_of(row)
    results: list[StepResult] = []
    for step in proof.steps:
        found = {n: STATUS[row["steps"].get(n, "open")] for n in named(step.name, step.claim)}
        weakest = max(found, key=lambda n: found[n].rank)
        by = lines.get(weakest, {"rule": "open"})
        refuted = row["valid"] and by["rule"] == "open" and "record" in by  # it cites a refuted reading
        one = Status.REFUTED if refuted else found[weakest]
        witness = {k: str(x) for k, x in by.get("point", {}).get("numbers", {}).items()}
        results.append(StepResult(step, one, by["rule"], witness, by.get("why", "")))
    rests = tuple(row["rests"])
    return DerivationReport(
        proof.statement.id, status, tuple(results), proof.facts, row["verdict"], rests, row["lines"], seconds
    )


def cited_first(ids: Iterable[str]) -> list[str]:
    """The readings and all that they cite, each after those that it cites itself."""
    every = list(dict.fromkeys(one for id in ids for one in (*citations(id), id)))
    return sorted(every, key=lambda one: len(citations(one)))


def counts_of(ids: Iterable[str]) -> dict[str, int]:
    """Number of readings by their status on record."""
    found = (record(id) for id in ids)
    return dict(Counter(r.status for r in found if r is not None))
