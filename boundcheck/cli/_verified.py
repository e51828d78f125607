"""Proof records: written from the derivations, and checked by the verifier in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from boundcheck.cli._output import line, print_json, progress, table
from boundcheck.errors import BadInput


def _run(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """What the verifier says of each record; where it ends without an answer, the record is invalid."""
    from boundcheck.verify import boundcheck_verify

    file = str(Path(boundcheck_verify.__file__).resolve())
    asked, rows = list(paths), list[dict[str, Any]]()
    while len(rows) < len(asked):
        command = [sys.executable, "-I", file, "--json", *map(str, asked[len(rows) :])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        rows += map(json.loads, done.stdout.splitlines())
        if len(rows) < len(asked):
            row = boundcheck_verify.answer(asked[len(rows)])
            rows.append(row | {"verdict": f"invalid the verifier ended on it with exit code {done.returncode}"})
    return rows


def compared(ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Id -> what the verifier says of its proof record; valid only where the record is about today's statement.

    So must be the records that it cites. Where they are, the facts that are generated are those that the record says.
    """
    from boundcheck.certificates.record import record_file, skeleton
    from boundcheck.certificates.text import Unwritten
    from boundcheck.proof.discovery import derivation, folder
    from boundcheck.verify.boundcheck_verify import weight

    asked = list(ids)
    today: dict[str, str] = {}
    found = dict(zip(asked, _run(record_file(folder(), id) for id in asked), strict=True))
    for id, row in found.items():
        row |= {"id": id, "generated": 0}
        for about, digest in row["cites"].items() if row["valid"] else ():
            if about not in today:
                try:
                    today[about] = skeleton(derivation(about))["digest"]
                except (BadInput, Unwritten) as error:
                    today[about] = str(error)
            if today[about] != digest or id not in row["cites"]:
                other = "" if about == id else f"it cites {about}, whose record is "
                more = "" if len(today[about]) == 64 else f" ({today[about]})"
                row |= {"valid": False, "verdict": f"invalid {other}not about this statement as it is today{more}"}
        if row["valid"] and (step := _not_refuted(id, row["refuted"])):
            why = f"invalid at step '{step}': the derivation claims another relation, or from more than the record uses"
            row |= {"valid": False, "verdict": why}
        if row["valid"]:
            said = set(row["said_generated"])
            row["generated"] = sum(not r.endswith("]") for r in said)
            row["transcribed"] -= row["generated"]
            rests = [r.replace("transcribed", "generated", 1) if r in said else r for r in row["rests"]]
            row["rests"] = sorted(rests, key=weight)
    return found


def _not_refuted(id: str, refuted: Mapping[str, Any]) -> str:
    """The first of these steps whose failure at a point says nothing about the derivation of today; "" for none.

    The claim must be that of the step, and follow, by its method, from what the step uses alone.
    """
    from boundcheck.certificates.text import claim_text
    from boundcheck.proof.countermodel import FROM_FACTS_ALONE
    from boundcheck.proof.discovery import derivation
    from boundcheck.proof.language import parts

    def named(name: str, claim: Any) -> dict[str, Any]:
        return {f"{name}.{k}" if k else name: part for k, part in enumerate(parts(claim))}

    proof = derivation(id) if refuted else None
    left = dict(refuted)
    known = {p.name: p.claim for p in (*proof.facts, *proof.steps)} if proof else {}
    for step in proof.steps if proof else ():
        uses = {part for name in step.uses for part in named(name, known[name])}
        for name, part in named(step.name, step.claim).items():
            own = left.pop(name, None)
            alone = own is None or (type(step.by) in FROM_FACTS_ALONE and own["claim"] == claim_text(part))
            if own is not None and not (alone and uses <= set(own["uses"])):
                return name
    return next(iter(left), "")


def verify_one(id: str, *, as_json: bool) -> int:
    """Checks one record, compares it with today's statement and prints what it says; quotations begin with >."""
    from boundcheck.certificates.record import record_file
    from boundcheck.proof.discovery import folder
    from boundcheck.theory.discovery import statement
    from boundcheck.verify.boundcheck_verify import account, quoted

    full = statement(id).id
    path = record_file(folder(), full)
    if not path.is_file():
        raise BadInput(f"{full} has no proof record; one would be {path.name} beside its derivation.")
    row = compared([full])[full]
    if as_json:
        print_json(row)
        return int(not row["valid"])
    sys.stdout.write(quoted([*row["shown"], *(f"  rests on {what}" for what in row["rests"])]))
    more = account(row["rests"]) if row["valid"] else ""
    line(f"{full}: {row['verdict']}{more}  ({row['lines']} lines, {row['seconds']:.2f} s)")
    return int(not row["valid"])


Entries = dict[tuple[str, str], dict[str, dict[str, Any]]]


def with_verdicts(found: Mapping[str, Mapping[str, Any]]) -> Entries:
    """(paper, statement) -> reading -> what a record holds, with what the verifier says of the proof record today.

    found: full id -> the content without that. A proof record with other facts than the derivation counts for nothing.
    """
    from boundcheck.certificates.record import record_file
    from boundcheck.proof.discovery import folder
    from boundcheck.proof.records import VERIFIED, acceptance

    asked = [id for id, content in found.items() if content["status"] == "PROVED"]
    rows = compared(id for id in asked if record_file(folder(), id).is_file())
    entries: Entries = {}
    for id, content in found.items():
        paper, name, reading = id.split("/")
        own = {k: x for k, x in content.items() if k != VERIFIED}
        row = rows.get(id, {"valid": False})
        if row["valid"] and row["kind"] == "proof":
            own[VERIFIED] = acceptance(id, own["cites"], row["rests"])
        entries.setdefault((paper, name), {})[reading] = own
    return entries


def standing(content: Mapping[str, Any]) -> str:
    """The status of a derivation with PROVED only where the verifier accepts its proof record."""
    from boundcheck.proof.records import DERIVED, VERIFIED

    return DERIVED if content["status"] == "PROVED" and VERIFIED not in content else str(content["status"])


def keep_verdicts(ids: Iterable[str]) -> None:
    """Writes what the verifier says into the records of checked derivations; those that do not fit stay as they are."""
    from boundcheck.proof.records import DIGEST, NOT_CHECKED, record, recorded, write_record

    known: dict[str, dict[str, Any]] = {}
    for id in ids:
        found = record(id)
        if found is not None and found.status != NOT_CHECKED:
            paper, name, reading = id.split("/")
            known[id] = {k: x for k, x in recorded(paper, name)[reading].items() if k != DIGEST}
    for (paper, name), entries in with_verdicts(known).items():
        write_record(paper, name, entries)


def shipped_readings() -> list[str]:
    """Full ids of all readings with a shipped derivation, by paper and statement."""
    from boundcheck.proof.discovery import derived_readings, folder

    files = sorted(path for path in folder().glob("*/*.py"))
    return [f"{p.parent.name}/{p.stem}/{r}" for p in files for r in derived_readings(p.parent.name, p.stem)]


def examined_records() -> tuple[int, list[dict[str, Any]], list[dict[str, Any]]]:
    """Exit code, what is said of each shipped record, and a row for each statement, the last for all."""
    from boundcheck.proof.discovery import folder

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


def verify_all(*, as_json: bool) -> int:
    """Checks all records and prints a row for each statement."""
    code, rows, (*found, total) = examined_records()
    if as_json:
        print_json({"records": rows, "statements": found, "total": {k: total[k] for k in list(total)[1:]}})
        return code
    names = list(total)
    table(names, [[str(row[n]) for n in names] for row in [*found, total]])
    line()
    for row in rows:
        if not row["valid"]:
            line(f"{row['id']}: {row['verdict']}")
    kinds = {kind: [r["valid"] for r in rows if r["kind"] == kind] for kind in ("proof", "refutation")}
    said = " and ".join(f"{sum(own)} of {len(own)} {kind}s" for kind, own in kinds.items())
    line(f"{said} are valid; the verifier took {total['seconds']} s.")
    return code


def write_records(id: str = "") -> None:
    """Writes the records of the readings anew, proofs and refutations, those that they cite first."""
    from boundcheck.certificates.record import record_file
    from boundcheck.certificates.write import save, write_record
    from boundcheck.proof.discovery import citations, derivation, folder
    from boundcheck.theory.discovery import statement
    from boundcheck.verify.boundcheck_verify import Invalid

    wanted = [statement(id).id] if id else shipped_readings()
    order = list(dict.fromkeys(one for w in wanted for one in (*_cited_first(w, citations), w)))
    with progress(f"{len(order)} proof records", float(len(order))) as show:
        for k, one in enumerate(order, start=1):
            try:
                outcome = write_record(derivation(one), folder())
            except (Invalid, BadInput, KeyError, AttributeError, ValueError) as error:
                record_file(folder(), one).unlink(missing_ok=True)
                line(f"{one}: no proof record ({error!s:.100})")
                continue
            save(outcome, folder())
            for step, reason in outcome.open.items():
                line(f"{one}: neither a certificate nor a witness for step {step} ({reason[:100]})")
            show(float(k))
    keep_verdicts(order)


def _cited_first(id: str, citations: Any) -> list[str]:
    """The readings that one rests on, each after those that it cites itself."""
    found = list(citations(id))
    return sorted(found, key=lambda one: (len(citations(one)), one))
