"""Kinds of evidence on a reading, as pages show them: one column each.

A room above this one adds a kind by a module with a `KIND` that it registers under `core.providers.EVIDENCE`; the pages
take their columns from all kinds that are registered, and name none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from boundcheck.evidence.standing import Known
    from boundcheck.theory.statement import Statement


@dataclass(frozen=True)
class Evidence:
    """What one kind of evidence says of one reading.

    word: for the table; tone: "good", "bad", "open" or "none", the class of its colour; text: a sentence; command:
    what computes it again ("": none); links: (words, page) pairs; groups: with what the sentence ends, and what each
    of these counts.
    """

    word: str
    tone: str
    text: str
    command: str = ""
    links: tuple[tuple[str, str], ...] = ()
    groups: tuple[tuple[str, list[str]], ...] = ()


@dataclass(frozen=True)
class Sources:
    """What the kinds read. claims: the claims of the report's data; witnesses: id -> file of a kept counterexample."""

    known: Known
    claims: Sequence[Mapping[str, Any]] = ()
    witnesses: Mapping[str, Path] | None = None


@dataclass(frozen=True)
class Kind:
    """A column. of: the evidence on a reading, None if there is none."""

    name: str
    meaning: str
    of: Callable[[Statement, Sources], Evidence | None]
