"""The colours and dashes of all pictures: pages, notebooks, and files that matplotlib writes.

A line differs from the others by its dash and its name as well as by its colour.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Name -> colour on a light and on a dark ground. Series: the lines of pictures. The others: ground, text, outcomes.
PALETTE: Mapping[str, tuple[str, str]] = {
    "paper": ("#ffffff", "#14161a"),
    "tint": ("#f5f6f8", "#1c1f24"),
    "ink": ("#1b1e22", "#e4e6e9"),
    "ink-soft": ("#5a626b", "#9ca4ad"),
    "rule": ("#d8dce1", "#343a42"),
    "link": ("#1f5fa8", "#8ab8ee"),
    "series-metric": ("#1d67a8", "#6cb2ea"),
    "series-bound": ("#b5432a", "#f09470"),
    "series-reading": ("#6b55a3", "#bba7e6"),
    "series-trivial": ("#727a83", "#98a0a9"),
    "holds": ("#17724a", "#63c995"),
    "violated": ("#b0261d", "#ff8d84"),
    "out-of-scope": ("#4a5a6b", "#a8b6c5"),
    "vacuous": ("#835c00", "#dfb254"),
    "undecided": ("#5746b4", "#b5a8ff"),
    "failed": ("#92175e", "#ff87bf"),
}
ROLES = ("bound", "metric", "reading", "trivial")  # of lines: what a statement claims, what is measured, the rest
# Of lines of equal standing, such as the methods in a figure of a paper, in the order of their use.
HUES = ("series-metric", "series-bound", "holds", "series-reading", "vacuous", "series-trivial", "failed", "ink")
DASHES = ("", "7 4", "2 3", "9 3 2 3", "4 2", "12 4")  # as SVG writes them


def colour(name: str) -> str:
    """A colour of `PALETTE` as CSS: the variable of the page, with the light colour as its fallback."""
    return f"var(--{name},{PALETTE[name][0]})"


def hue(number: int) -> str:
    """The colour of one of `HUES` on a light ground, again from the first after the last."""
    return PALETTE[HUES[number % len(HUES)]][0]


def look(name: str, number: int) -> tuple[str, int]:
    """Role and place in `DASHES` of a line by its name; what is no role is a metric, dashed by its number."""
    return (name, 0) if name in ROLES else ("metric", number % len(DASHES))


def line_style(name: str, number: int = 0) -> dict[str, Any]:
    """The same for matplotlib: colour and line style."""
    role, dash = look(name, number)
    lengths = tuple(float(v) / 2 for v in DASHES[dash].split())
    return {"color": PALETTE[f"series-{role}"][0], "linestyle": (0, lengths) if lengths else "solid"}
