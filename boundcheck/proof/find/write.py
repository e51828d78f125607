"""Whole records: all steps of a derivation as lines, the statement as the last, and a point that meets the facts."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

from boundcheck.core.places import write_whole
from boundcheck.errors import BadInput
from boundcheck.proof.about import objection
from boundcheck.proof.derivation import Derivation, named_parts
from boundcheck.proof.find.combination import Combination
from boundcheck.proof.find.lines import NotShown
from boundcheck.proof.find.multipliers import shortfall
from boundcheck.proof.find.point import find_point
from boundcheck.proof.find.record import record_file, skeleton, text_of
from boundcheck.proof.find.steps import Asked, quantity_lines, write_part
from boundcheck.proof.find.text import Unwritten, claim_text
from boundcheck.proof.find.writer import Writer
from boundcheck.proof.language import named
from boundcheck.proof.methods import cited_in
from boundcheck.proof.refute.witnesses import refute
from boundcheck.proof.rules import FROM_FACTS_ALONE
from boundcheck.theory.discovery import statement as find_statement
from boundcheck.verify import boundcheck_verify as v

STATEMENT = "statement"  # the name of the last line
SECONDS = 20.0  # processor time for the search of one certificate, since a false claim has none


class Late(Exception):
    """The time for a search is over; no step of the search takes it for a claim that is not shown."""


@dataclass
class Outcome:
    """A record as data, and the lines without certificate and without witness: name -> reason."""

    data: dict[str, Any]
    open: dict[str, str] = field(default_factory=dict[str, str])


def write_record(proof: Derivation, folder: Path, seconds: float = SECONDS) -> Outcome:
    """The record of a derivation; cited records are read from the folder, where they must be already.

    seconds: processor time for the search of one certificate; a tenth of it before witnesses are looked for.
    """
    data = skeleton(proof)
    try:
        w = Writer(data, record_file(folder, proof.statement.id))
        w.record.check_target()
    except v.Invalid as error:
        raise BadInput(f"the derivation of {proof.statement.id} is refused: {error}.") from error
    known: dict[str, Any] = {f.name: f.claim for f in proof.facts}
    setting = proof.setting
    quantity_lines(w, proof, setting)
    outcome = Outcome(data)
    for step in proof.steps:
        facts = named_parts(known, step.uses)
        for name, part in named(step.name, step.claim).items():
            asked = Asked(part, facts, setting)
            reason = _cites(w, proof, step.by, asked, name)
            if reason is None:
                reason = _line(w, step.by, asked, name, named_parts(known, known), seconds)
            if reason:
                outcome.open[name] = reason
        known[step.name] = step.claim
    try:
        _statement(w, proof, known, setting)
    except (NotShown, v.Invalid) as error:
        outcome.open[STATEMENT] = str(error)
        w.add(data["statement"]["claim"], {"rule": "open", "why": f"no certificate: {error!s:.200}"}, (), STATEMENT)
    data["lines"] = _needed(data["lines"])
    data["point"] = find_point(proof, data)
    return outcome


def _cites(w: Writer, proof: Derivation, by: Any, asked: Asked, name: str) -> str | None:
    """An open line where a step cites what is refuted or not about its terms: why it is open; None for other steps."""
    cited = cited_in(by)
    if cited is None:
        return None
    id, text = find_statement(cited.statement).id, claim_text(asked.claim)
    row: dict[str, str] = {"rule": "open", "why": f"it cites {id}, which is refuted", "record": id}
    try:
        w.add(text, row, asked.now, name)
    except v.Invalid:
        why = objection(proof, cited)
        if why:
            w.add(text, {"rule": "open", "why": why}, asked.now, name)
        return why or None
    w.data["kind"] = w.record.kind = "refutation"
    return ""


def _line(w: Writer, by: Any, asked: Asked, name: str, known: Mapping[str, Any], limit: float) -> str:
    """Adds one part of a step with a certificate or with a witness against it, else as open; why it is open, or ""."""
    text, why = claim_text(asked.claim), ""
    alone = type(by) in FROM_FACTS_ALONE  # what shows more may be true where a point meets what the step uses
    for seconds in (limit / 10, limit) if alone else (limit,):
        before, failed, w.nearest = w.mark(), set(w.failed), None
        try:
            with within(seconds):
                write_part(w, by, asked, name)
            return ""
        except (NotShown, v.Invalid, Unwritten, BadInput, Late) as error:
            late = f"no certificate within {seconds:g} s{f'; {shortfall(*w.nearest)}' if w.nearest else ''}"
            why = late if isinstance(error, Late) else str(error)
        w.back(before)
        w.failed.intersection_update(failed)  # what is not found in this time may be found for another step
        if alone and refute(w, asked, name, known, by_solver=seconds == limit):
            w.data["lines"][-1]["by"]["why"] = f"no certificate: {why:.400}"
            return ""
    w.add(text, {"rule": "open", "why": f"neither a certificate nor a witness was found: {why:.400}"}, asked.now, name)
    return why


@contextmanager
def within(seconds: float) -> Generator[None]:
    """Raises Late after this much processor time, at the next operation on exact values."""
    before = v.METER.until, v.METER.late
    v.METER.until, v.METER.late = process_time() + seconds, Late
    try:
        yield
    finally:
        v.METER.until, v.METER.late = before


def _statement(w: Writer, proof: Derivation, known: dict[str, Any], setting: Any) -> None:
    """The last line: the conclusion with the definitions put in is the claim of the statement."""
    text = w.data["statement"]["claim"]
    definitions = {f.name: f.claim for f in proof.facts if f.kind == "definition"}
    scope = {f.name: f.claim for f in proof.facts if f.kind in ("definition", "domain", "condition")}
    claim = next(s.claim for s in proof.steps if s.name == proof.conclusion)
    every = named_parts({**scope, **known}, [*definitions, *scope, proof.conclusion, *(s.name for s in proof.steps)])
    usable = {n: c for n, c in every.items() if n in w.record.lines}
    found = Combination(w, Asked(claim, {n: c for n, c in usable.items() if n in named_parts(scope, scope)}, setting))
    found.scalars = tuple(n for n in usable if w.claim(n).op in (">", ">=", "!=", "=="))
    found.text = text
    by = {"rule": "sum", "put": found.put, **_own(w, proof.conclusion)}
    own = next(e["by"] for e in w.data["lines"] if e["name"] == proof.conclusion)
    found.add(STATEMENT, {**by, "signs": [*own.get("signs", ())]}, ())


def _own(w: Writer, conclusion: str) -> dict[str, Any]:
    if w.claim(conclusion).op == "==":
        return {"equal": [[conclusion, "1"]]}
    return {"terms": [["1", [conclusion]]]}


def names_in(by: Any) -> set[str]:
    """All texts of a certificate, among them the names of the lines that it rests on."""
    if isinstance(by, str):
        return {by}
    inside: Any = by.values() if isinstance(by, dict) else by if isinstance(by, list | tuple) else ()
    return {name for x in inside for name in names_in(x)}


def _needed(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the auxiliary lines that no other uses."""
    wanted: set[str] = set()
    kept: list[dict[str, Any]] = []
    for entry in reversed(lines):
        if entry["name"].startswith("@") and entry["name"] not in wanted:
            continue
        wanted |= names_in(entry["by"])
        kept.append(entry)
    return kept[::-1]


def save(outcome: Outcome, folder: Path) -> Path:
    """Writes the record to its place below the folder."""
    path = record_file(folder, outcome.data["id"])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text_of(outcome.data).encode())
    return path
