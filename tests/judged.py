"""A derivation, found and verified on the spot: what the verifier says of the record that the finder writes for it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from boundcheck.proof.derivation import Derivation
from boundcheck.proof.discovery import citations, folder
from boundcheck.proof.find.record import record_file, text_of
from boundcheck.proof.find.write import write_record
from boundcheck.proof.methods import Imported, cited_in
from boundcheck.proof.records import STATUS, status_of
from boundcheck.proof.step import Status
from boundcheck.verify import boundcheck_verify


@dataclass(frozen=True)
class Judged:
    """What the verifier says: its row, and why the lines are open to which nothing was found."""

    row: Mapping[str, Any]
    why: Mapping[str, str]

    @property
    def status(self) -> Status:
        return status_of(self.row)

    @property
    def verdict(self) -> str:
        return self.row["verdict"]

    def step(self, name: str) -> Status:
        return STATUS[self.row["steps"].get(name, "open")]


def judged(proof: Derivation, seconds: float = 2.0) -> Judged:
    """The record of a derivation, written and verified; seconds: processor time for the search of one certificate."""
    with tempfile.TemporaryDirectory() as place:
        for other in citations_of(proof):
            target = record_file(Path(place), other)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(record_file(folder(), other).read_bytes())
        outcome = write_record(proof, Path(place), seconds)
        path = record_file(Path(place), proof.statement.id)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(json.loads(json.dumps(outcome.data))))
        return Judged(boundcheck_verify.examined(path), outcome.open)


def judged_step(proof: Derivation, name: str, seconds: float = 2.0) -> Status:
    """The status of one step where all earlier ones are taken as they are."""
    place = [s.name for s in proof.steps].index(name)
    before = (replace(s, by=Imported("taken")) for s in proof.steps[:place])
    alone = replace(proof, steps=(*before, proof.steps[place]), conclusion=name)
    return judged(alone, seconds).step(name)


def citations_of(proof: Derivation) -> list[str]:
    """The readings whose records that of the derivation needs: those that it cites, and what they cite."""
    own = [by.statement for by in (cited_in(step.by) for step in proof.steps) if by is not None]
    return list(dict.fromkeys(one for id in own if id != proof.statement.id for one in (*citations(id), id)))
