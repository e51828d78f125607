"""The table of all statements: how loose each bound is at small sizes; shipped as a file, with digests.

A row says for each size between which numbers the looseness lies, or why there is no worst case. The file keeps a
digest of the modules of this room and one of every statement, so that a reader sees what has changed since.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from boundcheck.core.digest import digest
from boundcheck.errors import BoundcheckError
from boundcheck.theory.discovery import all_statements
from boundcheck.theory.statement import Belief, Kind, Statement
from boundcheck.worst_case.case import METRICS, Case
from boundcheck.worst_case.sizes import ROUNDS, looked_at

KIND = "boundcheck worst cases"
COMMAND = "boundcheck worst-case --all -o boundcheck/worst_case/table.json"
SHIPPED = Path(__file__).with_name("table.json")


def code() -> str:
    """The digest of the modules of this room."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return digest([[f.name, f.read_text(encoding="utf-8")] for f in files])


def state(statement: Statement) -> str:
    """The digest of a statement."""
    return digest(statement.to_dict())


def of_table() -> list[Statement]:
    """The statements that have a row: upper bounds on runs of a method, believed true.

    Lemmas about other metrics than those of worst cases are left out, theorems and corollaries never.
    """
    bounds = [s for s in all_statements() if s.kind is Kind.UPPER_BOUND and s.algorithm is not None]
    return [
        s
        for s in bounds
        if s.belief is Belief.TRUE
        and (s.metric.quantity in METRICS or s.id.split("/")[1].startswith(("theorem", "corollary")))
    ]


def row(statement: Statement, rounds: tuple[int, ...] = ROUNDS) -> dict[str, Any]:
    """How loose a statement is at its small sizes: between which numbers, or why nothing is known; JSON-able.

    It ends at the first size that is refused; `why` says why there is no size at all.
    """
    found: list[dict[str, Any]] = []
    try:
        Case(statement, {})  # refuses what is no upper bound on a run
        why = "no small size in scope was found"
    except BoundcheckError as error:
        why = str(error)
    for size, own in looked_at(statement, rounds):
        if isinstance(own, str):
            why = own
            break
        ends = [None if v is None else float(f"{v:.6g}") for v in own.looseness]
        found.append({"at": size.words(), "outcome": own.outcome, "looseness": ends, "why": own.why})
    why = why.removeprefix(statement.best_id).lstrip(": ")
    own_row = {"statement": statement.best_id, "title": statement.title, "digest": state(statement)}
    return {**own_row, "sizes": found, "why": "" if found else why}


def table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The file of the rows."""
    return {"schema": 1, "kind": KIND, "command": COMMAND, "code": code(), "rows": rows}


def text_of(data: Mapping[str, Any]) -> str:
    """JSON, a line for each row."""
    head = json.dumps({k: v for k, v in data.items() if k != "rows"})
    rows = ",\n".join(json.dumps(own) for own in data["rows"])
    return f'{head[:-1]}, "rows": [\n{rows}\n]}}\n'


def shipped() -> dict[str, Any]:
    """The table that comes with boundcheck."""
    return json.loads(SHIPPED.read_text(encoding="utf-8"))


def changed(data: Mapping[str, Any]) -> Iterator[str]:
    """What is not as it was when a table was made: "the code", and ids of statements."""
    if data["code"] != code():
        yield "the code"
    today = {s.best_id: state(s) for s in of_table()}
    known = {own["statement"]: own["digest"] for own in data["rows"]}
    yield from sorted(id for id in {*today, *known} if today.get(id) != known.get(id))
