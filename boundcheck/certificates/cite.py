"""Citations as lines."""

from __future__ import annotations

from typing import Any

from boundcheck.certificates.writer import NotShown


def write_citation(rule: Any) -> None:
    """The line of a cited statement; raises NotShown."""
    raise NotShown("citation")
