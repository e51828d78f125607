"""A constant of an instance, with how it is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import format_exact, format_short, parse_number
from boundcheck.verdict import Grade


class Known(StrEnum):
    """How a constant is known, strongest first."""

    EXACT = "exact"  # the value itself
    CERTIFIED = "certified"  # a rational bound in the safe direction, proved in exact arithmetic
    ESTIMATED = "estimated"  # measured; verdicts that rest on it are SUPPORTED at most

    @property
    def best_grade(self) -> Grade:
        """The strongest grade a verdict may have that rests on such a constant."""
        return Grade.SUPPORTED if self is Known.ESTIMATED else Grade.EXACT


@dataclass(frozen=True)
class Constant:
    """One constant.

    value: exact rational; known: how; side: "upper" / "lower" for a bound in the safe direction, "exact"
    for the value itself; how: one clause naming the computation, for reports.
    """

    value: Fraction
    known: Known
    side: str
    how: str

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {"value": format_exact(self.value), "known": self.known.value, "side": self.side, "how": self.how}

    @staticmethod
    def from_dict(data: Mapping[str, str]) -> Constant:
        """Inverse of `to_dict`."""
        value = parse_number(data["value"], "the constant", max_text=len(data["value"]))
        return Constant(value, Known(data["known"]), data["side"], data["how"])

    def __str__(self) -> str:
        sign = {"upper": "<= ", "lower": ">= "}.get(self.side, "")
        return f"{sign}{format_short(self.value, 10)} ({self.known.value}: {self.how})"


def exact(value: Fraction | int, how: str) -> Constant:
    """The value itself."""
    return Constant(Fraction(value), Known.EXACT, "exact", how)
