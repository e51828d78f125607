"""Output of `derive` and `verify`: what the verifier says of records, and what became of each step."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from boundcheck.cli._output import line, print_json, progress, table
from boundcheck.errors import BadInput

if TYPE_CHECKING:
    from boundcheck.proof.derive import DerivationReport, StepResult


def verify_one(id: str, *, as_json: bool) -> int:
    """Checks one record, compares it with today's statement and prints what it says; quotations begin with >."""
    from boundcheck.proof.discovery import folder
    from boundcheck.proof.find.record import record_file
    from boundcheck.proof.records import compared
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


def shipped_readings() -> list[str]:
    """Full ids of all readings with a shipped derivation, by paper and statement."""
    from boundcheck.proof.discovery import derived_readings, folder

    files = sorted(path for path in folder().glob("*/*.py"))
    return [f"{p.parent.name}/{p.stem}/{r}" for p in files for r in derived_readings(p.parent.name, p.stem)]


def examined_records() -> tuple[int, list[dict[str, Any]], list[dict[str, Any]]]:
    """Exit code, what is said of each shipped record, and a row for each statement, the last for all."""
    from boundcheck.proof.discovery import folder
    from boundcheck.proof.records import compared

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


def accept_all(ids: list[str]) -> None:
    """Asks the verifier about these records and keeps what it says in them."""
    from boundcheck.proof import derive, records

    records.accept(derive.cited_first(ids))


def derive_all(*, keep: bool, anew: bool, as_json: bool) -> int:
    """Finds the records of all shipped derivations that are not accepted as they are today, and says what changed."""
    from boundcheck.proof.derive import cited_first, counts_of, derive
    from boundcheck.proof.records import NOT_CHECKED, record

    ids = cited_first(shipped_readings())
    rows: list[list[str]] = []
    before = {id: found.status for id in ids if (found := record(id)) is not None}
    wanted = [id for id in ids if anew or before.get(id, NOT_CHECKED) == NOT_CHECKED]
    with progress(f"{len(wanted)} derivations", float(max(len(wanted), 1))) as show:
        for k, id in enumerate(wanted, start=1):
            now = derive(id, keep=keep).status.value
            if now != before.get(id, "none"):
                rows.append([id, before.get(id, "none"), now])
            show(float(k))
    counts = counts_of(ids)
    if as_json:
        changed = [{"id": id, "recorded": old, "found": now} for id, old, now in rows]
        print_json({"counts": counts, "found": len(wanted), "changed": changed, "recorded": keep})
    else:
        if rows:
            table(["reading", "recorded", "found"], rows)
        said = ", ".join(f"{n} {status}" for status, n in sorted(counts.items()))
        line(f"{len(ids)} derivations, {len(wanted)} of them found anew. On record: {said}.")
    return int(any(old == "PROVED" for _, old, _ in rows))


def show_report(report: DerivationReport) -> None:
    """A derivation as one reads it: what is given, the steps, what the verifier says and what it rests on."""
    from boundcheck.report.written import in_words
    from boundcheck.verify.boundcheck_verify import account

    used = {name for r in report.results for name in r.step.uses}
    line("From")
    table(["name", "claim", "kind"], [[f.name, in_words(f.claim), f.kind] for f in report.facts if f.name in used])
    line()
    line("Proof")
    for number, result in enumerate(report.results, start=1):
        show_step(result, f"{number}. ")
    line()
    print_rests(report.rests)
    line(", ".join(f"{count} {status}" for status, count in report.counts.items() if count))
    verified = ", verified" if report.status.value == "PROVED" else f" ({report.verdict})"
    line(f"{report.statement}: {report.status.value}{verified}{account(list(report.rests))}")


def show_rests(id: str) -> None:
    """What the record of a derivation says, and each thing that the proof rests on."""
    from boundcheck.evidence.derivation_words import RESTS_ON, derivation_words
    from boundcheck.proof.records import record

    found = record(id)
    if found is None:
        raise BadInput(f"{id} has no derivation, so that there is nothing that its proof rests on.")
    line(f"{id}: {derivation_words(id).partition(f' {RESTS_ON}')[0]}")
    print_rests(found.rests)


def print_rests(rests: Iterable[str]) -> None:
    """What a proof rests on, a group for each kind, the heaviest first; quotations of records begin with >."""
    from boundcheck.evidence.derivation_words import rests_groups
    from boundcheck.verify.boundcheck_verify import quoted

    for words, own in rests_groups(rests):
        line(f"Rests on {words}")
        sys.stdout.write(quoted(f"  {what}" for what in own))
        line()


def show_step(result: StepResult, number: str = "") -> None:
    """A step as one reads it: what it claims, because of what, from what."""
    from boundcheck.report.words import shortened
    from boundcheck.report.written import in_words

    line(f"{number}{result.step.name}: {result.status.value}")
    line(f"   claim    {in_words(result.step.claim)}")
    line(f"   because  {result.step.text} ({result.step.by.label})")
    line(f"   from     {', '.join(result.step.uses) or 'nothing'}")
    if result.witness:
        line("   witness  " + ", ".join(f"{k} = {shortened(str(v))}" for k, v in result.witness.items()))
    if result.note:
        line(f"   note     {result.note}")
