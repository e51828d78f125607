"""What is known of a derivation from its record `derivations/<paper>/<statement>.<reading>.proof.json`.

A record counts only where the verifier accepted it, a process of its own that reads nothing but records. What it said
is kept in the record, member "accepted", with plain hashes of the verifier, of the record and of those that it cites,
and with the digest of what it is about. Where one of these is another today, the derivation is not checked.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from boundcheck.core.places import write_whole
from boundcheck.errors import BadInput
from boundcheck.proof.about import objection
from boundcheck.proof.discovery import derivation, derived_readings, folder
from boundcheck.proof.find.citation import entry_of
from boundcheck.proof.find.record import assumed, record_file, skeleton, text_of
from boundcheck.proof.find.text import Unwritten, claim_text
from boundcheck.proof.language import named
from boundcheck.proof.methods import cited_in
from boundcheck.proof.rules import FROM_FACTS_ALONE
from boundcheck.proof.step import Status
from boundcheck.verify import boundcheck_verify as v

ACCEPTED = "accepted"
NOT_CHECKED = "not checked"
TAKEN_OVER = ("record", "metric", "averaged", "rest", "means", "vectors", "special", "implied")  # by a citation
VERIFIER = Path(v.__file__).resolve()
STATUS = {"proved": Status.PROVED, "refuted": Status.REFUTED, "assumed": Status.ASSUMED, "open": Status.OPEN}


@dataclass(frozen=True)
class Record:
    """What is known of a derivation without finding it again.

    status: PROVED where the verifier accepted a proof, REFUTED where it accepted a refutation, OPEN
    where it accepted neither; or "not checked", for a `reason`. counts: number of steps by status; failing: step ->
    status, of the steps that are not proved; transcribed: number of facts by kind that are taken over from the paper;
    cites: full ids of the readings on which this one rests; rests: what the verifier says that the proof rests on;
    witnesses: step -> the values at which it fails; notes: step -> why it is open;
    inherited: the steps that cite a refuted reading -> that reading; lines: number of its lines.
    """

    status: str
    reason: str = ""
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    failing: Mapping[str, str] = field(default_factory=dict[str, str])
    transcribed: Mapping[str, int] = field(default_factory=dict[str, int])
    cites: tuple[str, ...] = ()
    rests: tuple[str, ...] = ()
    witnesses: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    inherited: Mapping[str, str] = field(default_factory=dict[str, str])
    lines: int = 0

    @property
    def proved(self) -> bool:
        """Whether the verifier accepted the proof; no other status counts as that."""
        return self.status == Status.PROVED.value

    @property
    def refuted_at(self) -> tuple[str, ...]:
        """The steps that fail at given values, or that cite a refuted reading."""
        own = (n for n, status in self.failing.items() if status == Status.REFUTED.value)
        return tuple(dict.fromkeys((*own, *self.inherited)))


def content(statement_id: str) -> dict[str, Any] | None:
    """The record of a reading as the file has it; None without a readable one."""
    try:
        found: Any = json.loads(record_file(folder(), statement_id).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def record(statement_id: str) -> Record | None:
    """What is known of one reading, by its full id; None where it has no derivation."""
    paper, name, reading = statement_id.split("/")
    if reading not in derived_readings(paper, name):
        return None
    data = content(statement_id)
    if data is None:
        return Record(NOT_CHECKED, "it has no record")
    try:
        reason = _stale(statement_id, data)
        return Record(NOT_CHECKED, reason) if reason else _known(data)
    except (KeyError, TypeError, AttributeError, ValueError):
        return Record(NOT_CHECKED, "its record cannot be read")


def _known(data: Mapping[str, Any]) -> Record:
    kept: Any = data[ACCEPTED]
    counts = {s.value: 0 for s in Status} | kept["counts"]
    taken = Counter(f["kind"] for f in data["facts"] if f["origin"] == "transcribed")
    points = {line["name"]: line["by"]["point"] for line in data["lines"] if line["by"]["rule"] == "refuted"}
    witnesses = {n: {k: str(x) for k, x in p["numbers"].items()} for n, p in points.items()}
    return Record(
        status=kept["status"],
        counts=counts,
        failing=dict(kept["failing"]),
        transcribed=dict(sorted(taken.items())),
        cites=tuple(sorted(kept["cites"])),
        rests=tuple(kept["rests"]),
        witnesses=witnesses,
        notes={e["name"]: e["by"]["why"] for e in data["lines"] if e["by"]["rule"] == "open"},
        inherited={
            e["name"]: e["by"]["record"] for e in data["lines"] if e["by"]["rule"] == "open" and "record" in e["by"]
        },
        lines=len(data["lines"]),
    )


def _stale(statement_id: str, data: Mapping[str, Any]) -> str:
    """Why what was accepted does not count today; "" where it does."""
    kept: Any = data.get(ACCEPTED)
    if not isinstance(kept, dict):
        return "the verifier has not accepted its record"
    if kept["verifier"] != _hash(VERIFIER.read_bytes()) or kept["content"] != _sealed(data, kept):
        return "the record and the verifier are not as they were when it was accepted"
    for other, own in kept["cites"].items():
        cited = content(other)
        if cited is None or hash_of(cited) != own:
            return f"the record of {other}, which it cites, is not as it was when it was accepted"
    for about in (statement_id, *kept["cites"]):
        if kept["about"].get(about) != stamp(about):
            what = "it" if about == statement_id else f"{about}, which it cites,"
            return f"the record is not about {what} as it is today"
    return ""


@cache
def today(statement_id: str) -> str:
    """The digest of the skeleton of a derivation as it is in this process, or why it has none."""
    try:
        return str(skeleton(derivation(statement_id))["digest"])
    except (BadInput, Unwritten) as error:
        return str(error)


@cache
def stamp(statement_id: str) -> str:
    """SHA-256 of what a record is compared with: the skeleton, and what the rounds and the terms of citations are."""
    try:
        proof = derivation(statement_id)
    except BadInput as error:
        return str(error)
    cited = [by for by in (cited_in(step.by) for step in proof.steps) if by is not None]
    return _hash(repr((today(statement_id), proof.rounds, proof.drawn, cited)).encode())


def hash_of(data: Mapping[str, Any]) -> str:
    """SHA-256 of a record without what was accepted."""
    own = {k: x for k, x in data.items() if k != ACCEPTED}
    return _hash(json.dumps(own, sort_keys=True, separators=(",", ":")).encode())


def _sealed(data: Mapping[str, Any], kept: Mapping[str, Any]) -> str:
    """SHA-256 of a record with what was accepted."""
    said = {k: x for k, x in kept.items() if k != "content"}
    return _hash((hash_of(data) + json.dumps(said, sort_keys=True)).encode())


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def verified(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """What the verifier says of each record; where it ends without an answer, the record is invalid."""
    asked, rows = list(paths), list[dict[str, Any]]()
    while len(rows) < len(asked):
        command = [sys.executable, "-I", str(VERIFIER), "--json", *map(str, asked[len(rows) :])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        rows += map(json.loads, done.stdout.splitlines())
        if len(rows) < len(asked):
            row = v.answer(asked[len(rows)])
            rows.append(row | {"verdict": f"invalid the verifier ended on it with exit code {done.returncode}"})
    return rows


def compared(ids: Iterable[str], place: Path | None = None) -> dict[str, dict[str, Any]]:
    """Id -> what the verifier says of its record; valid only where the record is about today's statement.

    So must be the records that it cites. Where they are, the facts that are generated are those that the record says.
    place: the folder of the records, that of the shipped derivations where it is not given.
    """
    asked = list(ids)
    found = dict(zip(asked, verified(record_file(place or folder(), id) for id in asked), strict=True))
    for id, row in found.items():
        row |= {"id": id, "generated": 0}
        for about, digest in row["cites"].items() if row["valid"] else ():
            now = today(about)
            if now != digest or id not in row["cites"]:
                other = "" if about == id else f"it cites {about}, whose record is "
                more = "" if len(now) == 64 else f" ({now})"
                row |= {"valid": False, "verdict": f"invalid {other}not about this statement as it is today{more}"}
            elif otherwise := _cited_otherwise(about, record_file(place or folder(), about)):
                row |= {"valid": False, "verdict": f"invalid {otherwise}"}
        if row["valid"] and (step := _not_refuted(id, row["refuted"])):
            why = f"invalid at step '{step}': the derivation claims another relation, or from more than the record uses"
            row |= {"valid": False, "verdict": why}
        if row["valid"]:
            said = set(row["said_generated"])
            row["generated"] = sum(not r.endswith("]") for r in said)
            row["transcribed"] -= row["generated"]
            rests = [r.replace("transcribed", "generated", 1) if r in said else r for r in row["rests"]]
            row["rests"] = sorted(rests, key=v.weight)
    return found


def _cited_otherwise(id: str, path: Path) -> str:
    """The first line that cites a statement for other terms than a step of the derivation of today does; "" for none.

    Nor may the statement be about other terms than those of the step, see `about.objection`.
    """
    data = json.loads(path.read_bytes())
    lines = [entry for entry in data["lines"] if entry["by"]["rule"] == "cite"]
    entries = _entries(id) if lines else []
    for line in lines:
        own = [e for e in entries if _is_of(line["by"], e[0], data["names"])]
        if not own or own[0][1]:
            why = own[0][1] if own else "no step of the derivation cites it so"
            return f"at step '{line['name']}' of {id}: {why}"
    return ""


def _is_of(by: Mapping[str, Any], entry: Mapping[str, Any], names: Mapping[str, str]) -> bool:
    """Whether a line takes over what the step does; a symbol without a name here may have the value 1 besides."""
    own, images = entry["images"], by["images"]
    free = all(text == "1" and n not in names for n, text in images.items() if n not in own)
    rest = {k: by.get(k) for k in TAKEN_OVER} == {k: entry.get(k) for k in TAKEN_OVER}
    return rest and free and all(images.get(n) == text for n, text in own.items())


@cache
def _entries(id: str) -> list[tuple[dict[str, Any], str]]:
    """What the citations of a derivation say of their terms, and why they say nothing."""
    proof = derivation(id)
    cited = [by for by in (cited_in(step.by) for step in proof.steps) if by is not None]
    names = [a.name for a in assumed(proof)]
    return [(entry_of(by, names), objection(proof, by)) for by in cited]


def _not_refuted(id: str, refuted: Mapping[str, Any]) -> str:
    """The first of these steps whose failure at a point says nothing about the derivation of today; "" for none.

    The claim must be that of the step, and follow, by its method, from what the step uses alone.
    """
    if not refuted:
        return ""
    proof, left = derivation(id), dict(refuted)
    known = {p.name: p.claim for p in (*proof.facts, *proof.steps)}
    for step in proof.steps:
        uses = {part for name in step.uses for part in named(name, known[name])}
        for name, part in named(step.name, step.claim).items():
            own = left.pop(name, None)
            alone = own is None or (type(step.by) in FROM_FACTS_ALONE and own["claim"] == claim_text(part))
            if own is not None and not (alone and uses <= set(own["uses"])):
                return name
    return next(iter(left), "")


def status_of(row: Mapping[str, Any]) -> Status:
    """The status of a derivation by what `compared` says of its record: what is not valid is at best open."""
    if row["valid"]:
        return Status.PROVED if row["kind"] == "proof" else Status.REFUTED
    return Status.OPEN


def accept(ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Asks the verifier about these records and keeps what it says in each; what `compared` says is returned."""
    rows = compared(ids)
    for id, row in rows.items():
        data = content(id)
        if data is None or (not row["valid"] and not row["steps"]):
            continue
        others = {other: content(other) for other in row["cites"] if other != id}
        failing = {n: STATUS[s].value for n, s in row["steps"].items() if s != "proved"}
        kept = {
            "status": status_of(row).value,
            "counts": dict(Counter(STATUS[s].value for s in row["steps"].values())),
            "failing": failing,
            "rests": row["rests"],
            "cites": {other: hash_of(found or {}) for other, found in others.items()},
            "about": {other: stamp(other) for other in row["cites"]},
            "verifier": _hash(VERIFIER.read_bytes()),
        }
        data[ACCEPTED] = kept | {"content": _sealed(data, kept)}
        write_whole(record_file(folder(), id), text_of(data).encode())
    return rows


def examined_records() -> tuple[int, list[dict[str, Any]], list[dict[str, Any]]]:
    """Exit code, what is said of each shipped record, and a row for each statement, the last for all."""
    files = sorted(folder().glob("*/*.proof.json"))
    rows = list(compared("/".join([p.parent.name, *p.name.split(".")[:2]]) for p in files).values())
    by_statement: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_statement.setdefault(row["id"].rpartition("/")[0], []).append(row)
    found: list[dict[str, Any]] = []
    for name, readings in [*by_statement.items(), ("all", rows)]:
        found.append(
            {
                "statement": name,
                "readings": len(readings),
                "valid": sum(r["valid"] for r in readings),
                "steps": sum(len(r["steps"]) for r in readings),
                "certificates": sum(list(r["steps"].values()).count("proved") for r in readings),
                "lines": sum(r["lines"] for r in readings),
                "generated": sum(r["generated"] for r in readings),
                "transcribed": sum(r["transcribed"] for r in readings),
                "seconds": round(sum(r["seconds"] for r in readings), 2),
            }
        )
    return int(not rows or not all(r["valid"] for r in rows)), rows, found
