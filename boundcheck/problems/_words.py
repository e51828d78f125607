"""How problems show themselves: one line, whatever their size, and their specification."""

from __future__ import annotations

import html
from typing import Any


def _size(problem: Any) -> str:
    return f"{problem.clients} client{'' if problem.clients == 1 else 's'}, d = {problem.dim}"


class Shown:
    """A problem that shows itself so."""

    def __repr__(self) -> str:
        """Such as <LeastSquares 'least_squares': 20 clients, d = 10>."""
        own: Any = self
        return f"<{type(self).__name__} '{own.name}': {_size(self)}>"

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        own: Any = self
        return f"<b>{html.escape(own.name)}</b>: {_size(self)}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form: the specification, from which `boundcheck.problem` rebuilds the instance."""
        own: Any = self
        return {"schema": 1, **own.spec}
