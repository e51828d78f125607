"""How problems show themselves: one line, whatever their size."""

from __future__ import annotations

import html
from typing import Any


def _size(problem: Any) -> str:
    return f"{problem.clients} client{'' if problem.clients == 1 else 's'}, d = {problem.dim}"


def short_repr(problem: Any) -> str:
    """Such as <LeastSquares 'least_squares': 20 clients, d = 10>."""
    return f"<{type(problem).__name__} '{problem.name}': {_size(problem)}>"


def html_repr(problem: Any) -> str:
    """The same for notebooks."""
    return f"<b>{html.escape(problem.name)}</b>: {_size(problem)}"
