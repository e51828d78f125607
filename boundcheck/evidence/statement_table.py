"""The rows of all statements, kept in the index (`core.index`)."""

from __future__ import annotations

from typing import Any

from boundcheck.core.index import is_keeping, kept
from boundcheck.core.loaded import LOADED
from boundcheck.errors import BadInput, UnknownName


def is_loaded(id: str) -> bool:
    """Whether an id belongs to a paper of `--load`."""
    return id.strip().strip("/").partition("/")[0] in LOADED


def statement_table(paper: str = "") -> dict[str, Any]:
    """The rows of all statements, or of those of one paper, from the cache: see `evidence.statement_rows`.

    Raises UnknownName for a paper that does not exist, BadInput where none of its modules can be read.
    """
    found = kept("statements", _lasting_rows) if is_keeping() else None
    if found is None or LOADED:
        from boundcheck.evidence.statement_rows import statement_rows
        from boundcheck.theory.discovery import papers

        every = sorted(papers())
        found = statement_rows([paper] if paper in every else every, found)
    if paper and paper not in found["papers"]:
        raise UnknownName("the paper", paper, found["papers"])
    if paper:
        found = {**found, "statements": [r for r in found["statements"] if r["id"].startswith(f"{paper}/")]}
    if found["broken"] and not found["statements"]:
        raise BadInput(found["broken"][0])
    return found


def _lasting_rows() -> dict[str, Any] | None:
    """The rows of all papers but those of --load; None where a module cannot be read, so that it is tried again."""
    from boundcheck.evidence.statement_rows import statement_rows
    from boundcheck.theory.discovery import papers

    found = statement_rows([p for p in sorted(papers()) if p not in LOADED])
    return None if found["broken"] else found
