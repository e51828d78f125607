"""What `list` and `show` print of the statements, kept in the index (`core.index`)."""

from __future__ import annotations

from boundcheck.core.index import begin as begin
from boundcheck.core.index import is_keeping as is_keeping
from boundcheck.core.index import kept as kept
from boundcheck.core.loaded import LOADED


def is_loaded(id: str) -> bool:
    """Whether an id belongs to a paper of `--load`."""
    return id.strip().strip("/").partition("/")[0] in LOADED
