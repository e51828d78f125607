"""The programs of the shipped statements, found without SymPy: entries of `core.index`, one for each statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundcheck.core.index import PACKAGE, is_keeping, kept
from boundcheck.core.loaded import LOADED
from boundcheck.theory.stored import Stored, stored

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement


def numbers_of(id: str) -> Stored | Statement:
    """What evaluates a statement and decides its scope; id: as in `theory.discovery.statement`, whose errors it raises.

    A `Stored` for a shipped statement, unless the statements of this process are imported already.
    """
    paper, name, reading = [*id.strip().strip("/").split("/"), "", ""][:3]
    if is_keeping() and paper not in LOADED and _is_shipped(paper, name):
        found = kept(f"numbers {paper}/{name}", lambda: _made(paper, name), plugins=False)
        own = [] if found is None else found["readings"]
        row = next((r for r in own if reading in ("", r["id"].rpartition("/")[2])), None)
        if row is not None:
            return Stored.from_json(row)
    from boundcheck.theory.discovery import statement

    return statement(id)


def keep_all() -> int:
    """Makes the entries of all shipped statements, and that of their names; the number of statements."""
    from boundcheck.theory.discovery import all_statements, lasting_names

    lasting_names()
    return len({numbers_of(s.id).best_id for s in all_statements() if _is_shipped(s.id.partition("/")[0], s.name)})


def _is_shipped(paper: str, name: str) -> bool:
    return bool(name) and (PACKAGE / "papers" / paper).is_dir() and paper.isidentifier() and name.isidentifier()


def _made(paper: str, name: str) -> dict[str, list[object]] | None:
    """The programs of all readings, the best first; None where there is no such statement."""
    from boundcheck.theory.discovery import readings

    try:
        return {"readings": [stored(s).to_json() for s in readings(paper, name)]}
    except KeyError:
        return None
