"""What the bytes of a result depend on besides its specification: code, versions of packages, arithmetic."""

from __future__ import annotations

import sys
from functools import cache

from boundcheck._version import __version__
from boundcheck.core.digest import package_version, plugins, sources_digest

PACKAGES = ("numpy", "numba", "scipy", "sympy", "python-flint", "clarabel")
_IN_WORDS = {
    "boundcheck": "boundcheck {}",
    "code": "boundcheck code with digest {}",
    "precision": "arithmetic with {}",
}


@cache
def facts() -> dict[str, str]:
    """Name -> value; equal in two processes whose results are equal byte for byte."""
    import numpy as np

    kept = "kept" if float(np.float64(sys.float_info.min) / 2) > 0 else "flushed"
    precision = f"{np.finfo(np.longdouble).nmant} bits in long double and subnormal numbers {kept}"
    versions = {name: str(package_version(name)) for name in PACKAGES}
    own = {dist: f"{package_version(dist)} with code {sources_digest(top)[:12]}" for top, dist in plugins().items()}
    code = sources_digest("boundcheck")[:12]
    return {"boundcheck": __version__, "code": code, "precision": precision, **versions, **own}


def differences(theirs: dict[str, str]) -> str:
    """What this process has that another one has not, as the end of a sentence; empty where nothing is."""
    own = facts()
    names = list(dict.fromkeys((*own, *theirs)))
    if theirs.get("boundcheck") != own.get("boundcheck"):
        names = ["boundcheck"]  # everything else follows from it
    parts = [
        f"has {_in_words(name, own.get(name))} where the client has {_in_words(name, theirs.get(name))}"
        for name in names
        if theirs.get(name) != own.get(name)
    ]
    return ", and ".join(parts)


def _in_words(name: str, value: str | None) -> str:
    """A fact as a phrase after "has"."""
    return _IN_WORDS.get(name, f"{name} {{}}").format("none" if value is None else value)
