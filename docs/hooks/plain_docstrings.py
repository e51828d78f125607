"""Docstrings as plain text, an extension of mkdocstrings' parser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from griffe import Extension, Object

sys.path.insert(0, str(Path(__file__).parent))

from markdown_text import plain


class PlainDocstrings(Extension):
    """Escapes the docstring of every object of the reference; indented examples stay code."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            paragraphs = obj.docstring.value.split("\n\n")
            obj.docstring.value = "\n\n".join(p if p.startswith("    ") else plain(p) for p in paragraphs)
