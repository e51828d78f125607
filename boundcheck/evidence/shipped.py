"""Where the witnesses that come with boundcheck lie."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["shipped_witnesses"]


def shipped_witnesses() -> dict[str, Path]:
    """Statement id -> witness file: inside an installed package, or `examples/witnesses` beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "_witnesses"
    folder = inside if inside.is_dir() else package.parent / "examples" / "witnesses"
    return {str(json.loads(path.read_text())["statement"]): path for path in sorted(folder.glob("*.json"))}
