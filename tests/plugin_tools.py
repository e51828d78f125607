"""Packages of plug-ins for tests, on the path as an installation puts them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from boundcheck.core import plugins
from boundcheck.methods import build


def forget() -> None:
    """Lets entry points be read anew."""
    for cached in (plugins._points, build._installed, build._all_of):
        cached.cache_clear()


def install(
    monkeypatch: pytest.MonkeyPatch, site: Path, module: str, source: str, points: Mapping[str, Mapping[str, str]]
) -> None:
    """Puts a module with entry points (group without "boundcheck." -> name -> value) on the path of this test."""
    info = site / f"{module}-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 0.1.0\n")
    groups = (
        f"[boundcheck.{group}]\n" + "".join(f"{k} = {v}\n" for k, v in own.items()) for group, own in points.items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups))
    (site / f"{module}.py").write_text(source)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, module, raising=False)
    importlib.invalidate_caches()
    forget()
