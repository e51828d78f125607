"""Witnesses: a violation as a file that runs again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from boundcheck.core.loaded import digests
from boundcheck.core.places import write_whole
from boundcheck.errors import BadInput, StoreError, shown
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.theory.discovery import is_registered, statement
from boundcheck.theory.quantities import round_symbols
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Grade, Outcome, Verdict, entry, plain

SCHEMA = 1
MAX_READ = 64 * 1024 * 1024  # bytes of a witness file


@dataclass(frozen=True)
class Witness:
    """An instance on which a statement is violated.

    problem, method, at: as in a claim, all numbers as exact text. verdict: what was found. provenance: which search,
    seed and budget found it, or which reasoning built it. definition: the statement itself, where no paper has it.
    loaded: digest of the file that was given by --load for it.
    """

    statement: str
    problem: Mapping[str, Any]
    method: Mapping[str, Any]
    at: Mapping[str, Any]
    verdict: Verdict
    provenance: Mapping[str, Any]
    definition: Mapping[str, Any] = field(default_factory=dict)
    loaded: str = ""

    def claim(self) -> Claim:
        """The claim that runs it again."""
        # a claim about a limit, or about quantities of a round on both sides, is decided in fractions alone
        if self.loaded and not self.digest():
            paper = self.statement.partition("/")[0]
            raise BadInput(f"the witness is about {self.statement}, of a file that was loaded; give --load {paper}.py.")
        claimed = Statement.from_dict(self.definition) if self.definition else statement(self.statement)
        exact = claimed.kind.limit or round_symbols(claimed)
        arithmetic = "rational" if exact else "ball"
        return Claim(claimed, self.problem, self.method, at=self.at, arithmetic=arithmetic, expect=Outcome.VIOLATED)

    def digest(self) -> str:
        """The digest of the file that is loaded now for its statement; empty without one."""
        return digests().get(self.statement.partition("/")[0], "")

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "schema": SCHEMA,
            "statement": self.statement,
            "problem": dict(self.problem),
            "method": dict(self.method),
            "at": dict(self.at),
            "verdict": self.verdict.to_dict(),
            "provenance": dict(self.provenance),
            **({"definition": dict(self.definition)} if self.definition else {}),
            **({"loaded": self.loaded} if self.loaded else {}),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Witness:
        """Inverse of `to_dict`. Raises BadInput for a missing entry and for one of the wrong type."""
        read = partial(entry, data, "a witness")
        tables = [dict(read(name, Mapping)) for name in ("problem", "method", "at", "verdict", "provenance")]
        verdict = Verdict.from_dict(tables[3])
        definition = dict(read("definition", Mapping)) if "definition" in data else {}
        loaded = read("loaded", str) if "loaded" in data else ""
        return Witness(read("statement", str), tables[0], tables[1], tables[2], verdict, tables[4], definition, loaded)


def witness_of(claim: Claim, verdict: Verdict, provenance: Mapping[str, Any]) -> Witness:
    """The witness that a claim makes: with its statement where this is not registered, or the digest of its file."""
    claimed = claim.claimed
    definition = {} if is_registered(claimed) else claimed.to_dict()
    loaded = "" if definition else digests().get(claimed.id.partition("/")[0], "")
    return Witness(
        claimed.best_id, claim.problem, claim.method, claim.at, verdict, dict(provenance), definition, loaded
    )


def save_witness(witness: Witness, path: Path) -> None:
    """Write a witness file, whole or not at all; BadInput for a folder, StoreError where the disk refuses."""
    if path.is_dir():
        raise BadInput(f"the witness file {path} is a folder; give the name of a file in it.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the witness file {path} cannot be written: {error.strerror}.") from error
    write_whole(path, (json.dumps(witness.to_dict(), indent=2) + "\n").encode())


def load_witness(path: Path) -> Witness:
    """Read a witness file; BadInput in one sentence where it is not one."""
    try:
        with path.open("rb") as file:  # never more than that of a device, which may have no end
            content = file.read(MAX_READ + 1)
    except OSError as error:
        raise BadInput(f"the witness file {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # a NUL in the name
        raise BadInput(f"the witness file {path} cannot be read: {error}.") from error
    if len(content) > MAX_READ:
        raise BadInput(f"the witness file {path} has more than {MAX_READ // 2**20} MiB, which is more than is read.")
    try:
        data = json.loads(content)
    except RecursionError as error:
        raise BadInput(f"the witness file {path} is nested too deeply to be read.") from error
    except ValueError as error:
        raise BadInput(f"the witness file {path} is not JSON: {error}.") from error
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise BadInput(f"the witness file {path} has schema {shown(repr(schema))}; this version reads {SCHEMA}.")
    try:
        return Witness.from_dict(data)
    except BadInput as error:
        raise BadInput(f"the witness file {path} holds something else than a witness does: {error}") from error


def replay(witness: Witness) -> Verdict:
    """The verdict of running it now; `stands` says whether that is a violation.

    Where numbers that the file records differ from the fresh ones, `details["differs"]` lists them in sentences and the
    reason ends with them.
    """
    fresh = run_claim(witness.claim()).verdict
    differs = differences(witness, fresh)
    if not differs:
        return fresh
    reason = f"{fresh.reason} The file records something else: {' '.join(differs)}"
    return replace(fresh, reason=reason, details={**fresh.details, "differs": list(differs)})


def stands(verdict: Verdict) -> bool:
    """Whether a replay shows a violation, in exact arithmetic."""
    return verdict.outcome is Outcome.VIOLATED and verdict.grade is Grade.EXACT


def differences(witness: Witness, fresh: Verdict) -> tuple[str, ...]:
    """What the file records otherwise than a fresh run finds, one sentence each."""
    old = witness.verdict
    found = [
        f"{name} is {before}, now {now}."
        for name, before, now in (
            ("the digest of the loaded file", witness.loaded, witness.digest()),
            ("the statement", old.statement, fresh.statement),
            ("the outcome", old.outcome.value, fresh.outcome.value),
            ("the grade", old.grade and old.grade.value, fresh.grade and fresh.grade.value),
            ("the reason", repr(old.reason), repr(fresh.reason)),
            ("the tightness", old.tightness, fresh.tightness),
            ("the number of points", old.points, fresh.points),
        )
        if before != now
    ]
    before, now = _flat(plain(old.witness)), _flat(plain(fresh.witness))
    for name in dict.fromkeys([*before, *now]):
        if before.get(name) != now.get(name):
            found.append(f"{name} is {before.get(name, 'missing')}, now {now.get(name, 'missing')}.")
    return tuple(found)


def _flat(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Entries of inner tables under their own names: "constants mu", "index K", "metric"."""
    found: dict[str, Any] = {}
    for name, value in recorded.items():
        if isinstance(value, Mapping):
            found |= {f"{name} {inner}": v for inner, v in value.items()}
        else:
            found[name] = value
    return found
