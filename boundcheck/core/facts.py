"""What the bytes of a result depend on besides its specification: code, versions of packages, arithmetic."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from boundcheck._version import __version__
from boundcheck.core.digest import package_version

PACKAGES = ("numpy", "numba", "scipy", "sympy", "python-flint", "clarabel")
_GROUPS = ("papers", "derivations", "problems", "methods", "parts", "data")
_IN_WORDS = {
    "boundcheck": "boundcheck {}",
    "code": "boundcheck code with digest {}",
    "precision": "arithmetic with {}",
    "seal": "a key in BOUNDCHECK_STORE_KEY with check value {}",
}


@cache
def facts() -> dict[str, str]:
    """Name -> value; equal in two processes whose results are equal byte for byte."""
    import numpy as np

    kept = "kept" if float(np.float64(sys.float_info.min) / 2) > 0 else "flushed"
    precision = f"{np.finfo(np.longdouble).nmant} bits in long double and subnormal numbers {kept}"
    versions = {name: str(package_version(name)) for name in PACKAGES}
    code = _code(Path(__file__).resolve().parents[1])
    return {"boundcheck": __version__, "code": code, "precision": precision, **versions, **_plugins()}


def in_words(name: str, value: str | None) -> str:
    """A fact as a phrase after "has"."""
    return _IN_WORDS.get(name, f"{name} {{}}").format("none" if value is None else value)


def _plugins() -> dict[str, str]:
    """Distribution -> its version and the digest of its top-level packages that boundcheck loads from."""
    points: dict[str, list[EntryPoint]] = {}
    for group in _GROUPS:
        for point in entry_points(group=f"boundcheck.{group}"):
            if point.dist is not None and point.dist.name != "boundcheck":
                points.setdefault(point.dist.name, []).append(point)
    return {name: f"{package_version(name)} with code {_code(*_places(own))}" for name, own in sorted(points.items())}


def _places(points: list[EntryPoint]) -> list[Path]:
    found: list[Path] = []
    for top in sorted({point.module.partition(".")[0] for point in points}):
        spec = importlib.util.find_spec(top)
        if spec is not None:
            found += map(Path, spec.submodule_search_locations or filter(None, [spec.origin]))
    return found


def _code(*places: Path) -> str:
    """Digest of the names and bytes of all sources in folders, or of files."""
    found = hashlib.sha256()
    for place in places:
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            name = os.path.relpath(path, place.parent)
            found.update(f"{name}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()[:12]
