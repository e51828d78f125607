"""Checking derivations and keeping what was found in the records beside them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from boundcheck.cli._output import line, print_json, progress, table
from boundcheck.cli._verified import shipped_readings, standing, with_verdicts
from boundcheck.errors import BadInput

if TYPE_CHECKING:
    from boundcheck.proof.derivation import DerivationReport


def content(report: DerivationReport) -> dict[str, Any]:
    """What a record holds of a report."""
    from boundcheck.proof.discovery import citations

    return {**report.summary(), "cites": list(citations(report.statement))}


def judged(report: DerivationReport) -> tuple[str, list[str]]:
    """The status of a derivation, PROVED only where the verifier accepts its proof record today; what that rests on."""
    from boundcheck.proof.records import VERIFIED
    from boundcheck.proof.step import Status

    if report.status is not Status.PROVED:
        return report.status.value, []
    ((entry,),) = (found.values() for found in with_verdicts({report.statement: content(report)}).values())
    return standing(entry), entry.get(VERIFIED, {}).get("rests", [])


def write_report(report: DerivationReport) -> None:
    """Writes the outcome of one check into the record; BadInput for a derivation that does not come with boundcheck."""
    from boundcheck.proof.discovery import folder
    from boundcheck.proof.records import write_record

    paper, name, _ = report.statement.split("/")
    if not (folder() / paper / f"{name}.py").is_file():
        raise BadInput(
            f"the derivation of {report.statement} comes from another package; only shipped ones have records."
        )
    write_record(paper, name, with_verdicts({report.statement: content(report)})[paper, name])


def _checked(item: tuple[str, float]) -> dict[str, Any]:
    """The content of one record; at the top of the module, so that worker processes find it."""
    from boundcheck.proof.discovery import derivation

    id, seconds = item
    return content(derivation(id).check(seconds))


def check_all(seconds: float, workers: int | None, *, record: bool, as_json: bool) -> int:
    """Checks every shipped derivation anew and compares with the records; record: also writes them, sealed anew."""
    from boundcheck.core.executor import Lost, Where, chosen_executor
    from boundcheck.errors import BoundcheckError
    from boundcheck.proof.records import recorded, write_record
    from boundcheck.proof.sources import write_sources

    ids = shipped_readings()
    done = 0
    with progress(f"{len(ids)} derivations", float(max(len(ids), 1))) as show:

        def count(place: int, result: Any) -> None:
            nonlocal done
            done += 1
            show(done)

        found = chosen_executor(Where(workers)).map(_checked, [(id, seconds) for id in ids], count)
    entries_of: dict[str, dict[str, Any]] = {}
    rows: list[list[str]] = []
    for id, entry in zip(ids, found, strict=True):
        if isinstance(entry, Lost):
            raise BoundcheckError(f"{id}: {entry.reason}")
        paper, name, reading = id.split("/")
        entries_of[id] = entry
        before = str(recorded(paper, name).get(reading, {}).get("status", "none"))
        if before != entry["status"]:
            rows.append([id, before, str(entry["status"])])
    by_file = with_verdicts(entries_of)
    if record:
        for (paper, name), entries in by_file.items():
            write_record(paper, name, entries)
        write_sources(f"{paper}/{name}" for paper, name in by_file)
    counts = dict(Counter(standing(e) for entries in by_file.values() for e in entries.values()))
    if as_json:
        changed = [{"id": id, "recorded": before, "found": now} for id, before, now in rows]
        print_json({"counts": counts, "changed": changed, "recorded": record})
    else:
        if rows:
            table(["reading", "recorded", "found"], rows)
        line(f"{len(ids)} derivations checked: " + ", ".join(f"{n} {status}" for status, n in sorted(counts.items())))
        line(
            f"{len(rows)} of them came out otherwise than recorded"
            + ("; all records are sealed anew." if record else ".")
        )
    return 1 if any(before == "PROVED" for _, before, _ in rows) else 0
