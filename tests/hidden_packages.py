"""Packages that look as if they were not installed, for one test."""

from __future__ import annotations

import sys

import pytest


def hide(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Makes the import of these packages, and of what is inside them, raise ModuleNotFoundError."""
    for name in names:
        for loaded in [m for m in sys.modules if m.startswith(f"{name}.")]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.setitem(sys.modules, name, None)
