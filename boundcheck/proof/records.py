"""Records: what the last check of a shipped derivation found, beside it as `<statement>.json`.

A record is read instead of checking the derivation again, so each of its readings carries a digest of its own content
and of everything that the outcome depends on: the statement, the derivation, the derivations and statements that it
cites, and this package, over syntax trees. Where the digest does not fit, the derivation counts as not checked.

A reading is PROVED only where the verifier accepted its proof record, and where that record, those that it cites and
the verifier are still the files that they were then. What the checker alone decided is DERIVED.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from boundcheck.core.digest import Undigestible, digest
from boundcheck.core.places import write_whole
from boundcheck.errors import BadInput
from boundcheck.proof.discovery import derived_readings, folder
from boundcheck.proof.sources import PACKAGE, derivation_digest, file_digest, kernel_digest, statement_digest
from boundcheck.proof.step import Status

SCHEMA = 2
DIGEST = "digest"  # the member of a record that is not part of its content
VERIFIED = "verified"  # the member that says what the verifier accepted, see `acceptance`
VERIFIER = PACKAGE / "verify" / "boundcheck_verify.py"
NOT_CHECKED = "not checked"
DERIVED = "DERIVED"  # the checker proves every step, and the verifier has accepted no proof record of it


def _none() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class Record:
    """What is known of a derivation without checking it.

    status: that of the last check, with PROVED only where the verifier accepted the proof record and DERIVED
    elsewhere, or "not checked" without a record that fits; `reason` says why for these two. counts: number of steps by
    status; failing: step -> status, of the steps that are not proved; transcribed: number of facts by kind that are
    taken over from the paper unchecked; cites: full ids of the readings on whose derivations this one rests; rests:
    what the verifier says that the proof rests on.
    """

    status: str
    reason: str = ""
    counts: Mapping[str, int] = field(default_factory=_none)
    failing: Mapping[str, str] = field(default_factory=_none)
    transcribed: Mapping[str, int] = field(default_factory=_none)
    cites: tuple[str, ...] = ()
    rests: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether the verifier accepted the proof; no other status counts as that."""
        return self.status == Status.PROVED.value

    @property
    def derived(self) -> bool:
        """Whether the checker proves every step, verified or not."""
        return self.proved or self.status == DERIVED


def record_file(paper: str, name: str) -> Path:
    """Path of the record of a shipped derivation, whether or not it exists."""
    return folder() / paper / f"{name}.json"


def recorded(paper: str, name: str) -> dict[str, dict[str, Any]]:
    """Reading -> record as the file has it, whether or not its digest fits; empty without a readable record."""
    try:
        content: Any = json.loads(record_file(paper, name).read_bytes())
        readings: Any = content["readings"] if content["schema"] == SCHEMA else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    if not isinstance(readings, dict):
        return {}
    return {r: e for r, e in cast("dict[str, Any]", readings).items() if isinstance(e, dict)}


def record(statement_id: str) -> Record | None:
    """The record of one reading, by its full id; None where it has no derivation."""
    paper, name, reading = statement_id.split("/")
    if reading not in derived_readings(paper, name):
        return None
    entry = recorded(paper, name).get(reading)
    if entry is None:
        return Record(NOT_CHECKED, "it has no record of a check")
    content = {k: v for k, v in entry.items() if k != DIGEST}
    try:
        fits = entry.get(DIGEST) == seal(statement_id, content)
    except BadInput:
        fits = False
    if not fits:
        return Record(NOT_CHECKED, "its record does not fit the statement, the derivation and the checker as they are")
    parts: dict[str, Any] = {**content, "cites": tuple(content["cites"])}
    accepted = parts.pop(VERIFIED, None)
    if content["status"] != Status.PROVED.value:
        return Record(**parts)
    reason = _unverified(statement_id, accepted)
    if reason:
        return replace(Record(**parts), status=DERIVED, reason=reason)
    return Record(**parts, rests=tuple(accepted["rests"]))


def proof_file(statement_id: str) -> str:
    """Path of the proof record of a reading, below the folder of the derivations."""
    paper, name, reading = statement_id.split("/")
    return f"{paper}/{name}.{reading}.proof.json"


def acceptance(statement_id: str, cites: Iterable[str], rests: Iterable[str]) -> dict[str, Any]:
    """What a record keeps of a proof record that the verifier accepted: the files as they are, and what it rests on."""
    files = {name: file_digest(folder() / name) for name in map(proof_file, (statement_id, *cites))}
    return {"verifier": file_digest(VERIFIER), "files": files, "rests": list(rests)}


def _unverified(statement_id: str, accepted: Any) -> str:
    """Why the verifier's answer is none on the files as they are; "" where it is."""
    if not isinstance(accepted, dict):
        return "it has no proof record that the verifier accepts"
    kept = cast("dict[str, Any]", accepted)
    files = cast("dict[str, str]", kept["files"])
    now = acceptance(statement_id, (), ())
    if kept["verifier"] != now["verifier"] or not now["files"].items() <= files.items():
        return "its proof record and the verifier are not as they were when it was verified"
    stale = [name for name, own in files.items() if file_digest(folder() / name) != own]
    return f"the proof record {stale[0]} is not as it was when it was verified" if stale else ""


def write_record(paper: str, name: str, found: Mapping[str, Mapping[str, Any]]) -> None:
    """Replaces the records of these readings, each sealed anew; those of other readings stay as they are.

    found: reading -> content, the members of `Record` without `reason`. Records of readings without a derivation are
    removed. Raises BadInput where the digest cannot be computed and StoreError where the file cannot be written.
    """
    entries = recorded(paper, name)
    for reading, content in found.items():
        entries[reading] = {**content, DIGEST: seal(f"{paper}/{name}/{reading}", content)}
    kept = {r: entries[r] for r in derived_readings(paper, name) if r in entries}
    text = json.dumps({"schema": SCHEMA, "statement": f"{paper}/{name}", "readings": kept}, indent=2)
    write_whole(record_file(paper, name), (text + "\n").encode())


def seal(statement_id: str, content: Mapping[str, Any]) -> str:
    """SHA-256 of the content of a record and of what it depends on.

    Raises BadInput where a source cannot be read or the content is none that a check gives.
    """
    cites: Any = content.get("cites")
    if not isinstance(cites, list) or not all(isinstance(id, str) for id in cast("list[Any]", cites)):
        raise BadInput(f"the record of {statement_id} does not name what its derivation cites.")
    about = {id.rpartition("/")[0] for id in (statement_id, *cast("list[str]", cites))}
    sources = {
        "kernel": kernel_digest(),
        "derivations": {name: derivation_digest(name) for name in about},
        "statements": {name: statement_digest(name) for name in about},
    }
    try:
        return digest({"id": statement_id, "content": dict(content), "sources": sources})
    except Undigestible as error:
        raise BadInput(f"the record of {statement_id} has content that no check gives.") from error
