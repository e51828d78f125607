"""Whole records: all steps of a derivation as lines, the statement as the last, and a point that meets the facts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boundcheck.certificates.combine import Combination
from boundcheck.certificates.lines import NotShown
from boundcheck.certificates.point import find_point
from boundcheck.certificates.record import record_file, skeleton
from boundcheck.certificates.steps import quantity_lines, write_step
from boundcheck.certificates.text import Unwritten, claim_text
from boundcheck.certificates.writer import Writer
from boundcheck.core.places import write_whole
from boundcheck.errors import BadInput
from boundcheck.proof.derivation import Derivation, _facts  # pyright: ignore[reportPrivateUsage]
from boundcheck.proof.language import parts
from boundcheck.verify import boundcheck_verify as v

STATEMENT = "statement"  # the name of the last line


@dataclass
class Outcome:
    """A record as data, and the steps for which no certificate was found: name -> reason."""

    data: dict[str, Any]
    open: dict[str, str] = field(default_factory=dict[str, str])


def write_record(proof: Derivation, folder: Path) -> Outcome:
    """The record of a derivation; cited records are read from the folder, where they must be already."""
    data = skeleton(proof)
    w = Writer(data, record_file(folder, proof.statement.id))
    known: dict[str, Any] = {f.name: f.claim for f in proof.facts}
    setting = proof._setting(10.0)  # pyright: ignore[reportPrivateUsage]
    quantity_lines(w, proof, setting)
    outcome = Outcome(data)
    for step in proof.steps:
        before = w.mark()
        try:
            write_step(w, step, _facts(known, step.uses), setting)
        except (NotShown, v.Invalid, Unwritten, BadInput) as error:
            outcome.open[step.name] = str(error)
            w.back(before)
            for k, part in enumerate(parts(step.claim)):
                w.add(claim_text(part), {"rule": "solver"}, (), f"{step.name}.{k}" if k else step.name)
        known[step.name] = step.claim
    try:
        _statement(w, proof, known, setting)
    except (NotShown, v.Invalid) as error:
        outcome.open[STATEMENT] = str(error)
        w.add(data["statement"]["claim"], {"rule": "solver"}, (), STATEMENT)
    data["lines"] = _needed(data["lines"])
    data["point"] = find_point(proof, data)
    return outcome


def _statement(w: Writer, proof: Derivation, known: dict[str, Any], setting: Any) -> None:
    """The last line: the conclusion with the definitions put in is the claim of the statement."""
    text = w.data["statement"]["claim"]
    definitions = {f.name: f.claim for f in proof.facts if f.kind == "definition"}
    scope = {f.name: f.claim for f in proof.facts if f.kind in ("definition", "domain", "condition")}
    from boundcheck.certificates.steps import Asked

    claim = next(s.claim for s in proof.steps if s.name == proof.conclusion)
    every = _facts({**scope, **known}, [*definitions, *scope, proof.conclusion, *(s.name for s in proof.steps)])
    usable = {n: c for n, c in every.items() if n in w.record.lines}
    found = Combination(w, Asked(claim, {n: c for n, c in usable.items() if n in _facts(scope, scope)}, setting))
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
    if isinstance(by, dict):
        return set().union(*(names_in(x) for x in by.values())) if by else set()
    if isinstance(by, list | tuple):
        return set().union(*(names_in(x) for x in by)) if by else set()
    return set()


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
    rows = {k: x for k, x in outcome.data.items() if k not in ("facts", "lines")}
    text = json.dumps(rows, indent=1, ensure_ascii=False)[:-2]
    for key in ("facts", "lines"):
        body = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in outcome.data[key])
        text += f',\n "{key}": [\n{body}\n ]'
    write_whole(path, (text + "\n}\n").encode())
    return path
