"""What matplotlib draws in the colours of the pages: marker colours that become CSS variables of the page around.

Text stays text; identifiers are hashed with a fixed salt, so that equal data gives equal bytes.
"""

from __future__ import annotations

import html
import re
from typing import Any

# Marker colour -> the CSS variable that the page defines for light and dark.
_VARIABLES = {
    "#010203": "ink",
    "#010204": "ink-soft",
    "#010205": "rule",
    "#010206": "series-metric",
    "#010207": "series-bound",
    "#010208": "series-reading",
    "#010209": "series-trivial",
    "#01020a": "violated",
}
_COLOUR = {name: marker for marker, name in _VARIABLES.items()}

SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "boundcheck",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": _COLOUR["ink-soft"],
    "axes.labelcolor": _COLOUR["ink"],
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _COLOUR["ink-soft"],
    "ytick.color": _COLOUR["ink-soft"],
    "text.color": _COLOUR["ink"],
    "grid.color": _COLOUR["rule"],
    "grid.linewidth": 0.5,
    "lines.solid_capstyle": "round",
}


def colour(variable: str) -> str:
    """The marker colour that stands for a variable of the page, such as "series-metric"."""
    return _COLOUR[variable]


def finish(svg: str, title: str, description: str) -> str:
    """Inline form: no prolog, no fixed size, page colours, and a name and description for screen readers."""
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg[svg.index("<svg") :], flags=re.S)
    svg = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', _opening, svg, count=1)
    for marker, name in _VARIABLES.items():
        svg = svg.replace(marker, f"var(--{name})")
    words = f"<title>{html.escape(title)}</title>\n<desc>{html.escape(description)}</desc>\n"
    head, _, rest = svg.partition(">\n")
    return f"{head}>\n{words}{rest}"


def _opening(match: re.Match[str]) -> str:
    space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'<svg {space} viewBox="{match[1]}" role="img" class="plot">'
