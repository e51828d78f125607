"""What is missing from a combination of facts that was not shown: the nearest multipliers and what they leave over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from boundcheck.proof.vectors import Inner

TERMS = 6  # of a list of multipliers, or of what is left over, that are written out
WIDTH = 80  # characters of a factor


@dataclass(frozen=True)
class Shortfall:
    """One combination that was tried, and the first thing about it that was not shown.

    rest: inner product, sum or quantity (1 for what has none of these) -> factor that the multipliers leave over.
    """

    multipliers: Mapping[str, Any]
    rest: Mapping[Any, Any]
    reason: str

    def words(self) -> str:
        """Two sentences."""
        used = [f"{factor(v)} times '{k}'" for k, v in self.multipliers.items() if v != 0]
        left = [_product(v, a) for a, v in self.rest.items()]
        nearest = f"The nearest combination is {_listed(used)}" if used else "No fact is of use"
        what = f"What is left to be shown at least 0 is {_listed(left)}" if left else "Nothing is left over"
        return f"{nearest}. {what}; {self.reason}."


def factor(value: Any) -> str:
    """A factor as text, cut where it is long."""
    text = str(sp.factor(value))
    text = f"({text})" if sp.factor(value).is_Add else text
    return text if len(text) <= WIDTH else f"({text[: WIDTH - 5]} ...)"


def in_words(atom: Any) -> str:
    """A squared norm as |a|^2, an inner product as <a, b>, anything else as it is written."""
    if not isinstance(atom, Inner):
        return str(atom)
    first, second = atom.args
    return f"|{first}|^2" if first == second else f"<{first}, {second}>"


def _product(value: Any, atom: Any) -> str:
    if atom == 1:
        return factor(value)
    return {1: "", -1: "-"}.get(value, f"{factor(value)}*") + in_words(atom)


def _listed(parts: list[str]) -> str:
    rest = len(parts) - TERMS
    shown = " + ".join(parts[:TERMS])
    return f"{shown} + {rest} more" if rest > 0 else shown
