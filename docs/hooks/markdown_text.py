"""Texts and tables as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Any

SPECIAL = re.compile(r"[\\*_\[\]#<>|]")


def plain(text: str) -> str:
    """Text in which only `code` is Markdown: what would be HTML, emphasis or a column is written as an entity."""
    parts = re.split(r"(`[^`\n]+`)", text)
    own = (part if part.startswith("`") and len(part) > 1 else SPECIAL.sub(_entity, part) for part in parts)
    return "".join(own)


def _entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are Markdown."""
    lines = (
        [cell.replace("|", "&#124;").replace("\n", " ") for cell in line] for line in (head, ["---"] * len(head), *rows)
    )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code(value: Any) -> str:
    """Inline code, "" for an empty text."""
    return f"`{value}`" if str(value) else ""


def doc(thing: Any) -> str:
    """A docstring as Markdown. Raises AssertionError if there is none."""
    text = inspect.getdoc(thing)
    assert text, f"{thing} has no docstring"
    return "\n\n".join(plain(part) for part in text.split("\n\n"))
