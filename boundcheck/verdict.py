"""The words in which boundcheck answers: outcomes, grades of evidence, and the Verdict that carries them."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar, cast

from boundcheck.errors import BadInput, UnknownName, shown


class Outcome(StrEnum):
    """What is said of a claim, in order of precedence (the first that applies is the answer)."""

    FAILED = "FAILED"  # the run could not be executed
    OUT_OF_SCOPE = "OUT_OF_SCOPE"  # a hypothesis of the statement does not hold here
    VIOLATED = "VIOLATED"  # in scope, and the inequality is false; there is a witness
    VACUOUS = "VACUOUS"  # hypotheses cannot be met, or the bound never beats its trivial value
    UNDECIDED = "UNDECIDED"  # the evidence does not decide
    HOLDS = "HOLDS"  # true at every compared point, with the given grade

    @property
    def rank(self) -> int:
        """0 for the outcome that takes precedence over all others."""
        return list(Outcome).index(self)


class Grade(StrEnum):
    """How the outcome is known, strongest first."""

    PROVED = "PROVED"  # an exact certificate covers all instances
    EXACT = "EXACT"  # exact arithmetic at these constants, or floats with a rigorous rounding bound
    SUPPORTED = "SUPPORTED"  # statistics, plain floating point, estimated constants, finite range of a limit

    @property
    def rank(self) -> int:
        """0 for the strongest grade."""
        return list(Grade).index(self)

    def at_most(self, other: Grade) -> Grade:
        """The weaker of the two: a chain of evidence is as strong as its weakest link."""
        return self if self.rank >= other.rank else other


@dataclass(frozen=True)
class Tightness:
    """How much room there is between bound and measurement (all dimensionless).

    ratio_min: least bound/empirical over the compared points at which the bound is at most half its trivial
        value, or over all if there is none (1 is tight; inf where empirical is 0, left out
        where both are; nan where none is left).
    ratio_max: largest of the same.
    decrease: promised over actual decrease per unit of the statement's index, log scale, from the start to
        where the bound has first halved (1 is tight, small is loose), or None.
    """

    ratio_min: float
    ratio_max: float
    decrease: float | None = None


def _no_mapping() -> Mapping[str, Any]:
    return {}


def plain(value: Any) -> Any:
    """The same value in what JSON has: floats that it lacks become "inf", "-inf", "nan", which `float` reads back."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in cast("Sequence[Any]", value)]
    return value


@dataclass(frozen=True, repr=False)
class Verdict:
    """The answer to one claim.

    statement: full id; outcome, grade: see the enums (grade is None where nothing was compared);
    reason: one sentence; witness: JSON-able numbers that show the outcome (for VIOLATED it replays);
    points: how many points were compared; details: JSON-able extras for reports.
    """

    statement: str
    outcome: Outcome
    grade: Grade | None
    reason: str
    witness: Mapping[str, Any] = field(default_factory=_no_mapping)
    tightness: Tightness | None = None
    points: int = 0
    details: Mapping[str, Any] = field(default_factory=_no_mapping)

    def __bool__(self) -> bool:
        """Refused: every outcome but HOLDS would have to be false, and UNDECIDED is not false."""
        raise TypeError("a Verdict is not a truth value; compare its outcome with Outcome.HOLDS")

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form, infinities and NaN as text; `from_dict` restores it."""
        tight = None if self.tightness is None else {f.name: getattr(self.tightness, f.name) for f in fields(Tightness)}
        return {
            "schema": 1,
            "statement": self.statement,
            "outcome": self.outcome.value,
            "grade": None if self.grade is None else self.grade.value,
            "reason": self.reason,
            "witness": plain(self.witness),
            "tightness": plain(tight),
            "points": self.points,
            "details": plain(self.details),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Verdict:
        """Inverse of `to_dict`. Raises BadInput for a missing entry and for one of the wrong type."""
        read = partial(entry, data, "a verdict")
        tight = None if data.get("tightness") is None else read("tightness", Mapping)
        grade = read("grade", str, None)
        return Verdict(
            statement=read("statement", str),
            outcome=_word(Outcome, read("outcome", str)),
            grade=None if grade is None else _word(Grade, grade),
            reason=read("reason", str),
            witness=read("witness", Mapping, {}),
            tightness=None if tight is None else _tightness(tight),
            points=read("points", int, 0),
            details=read("details", Mapping, {}),
        )

    def __repr__(self) -> str:
        grade = "" if self.grade is None else f" ({self.grade})"
        return f"<Verdict {self.outcome}{grade} {self.statement}: {self.reason}>"

    def _repr_html_(self) -> str:
        grade = "" if self.grade is None else f" ({self.grade})"
        return f"<b>{self.outcome}</b>{grade} <code>{html.escape(self.statement)}</code>: {html.escape(self.reason)}"

    def _repr_markdown_(self) -> str:
        grade = "" if self.grade is None else f" ({self.grade})"
        return f"**{self.outcome}**{grade} `{self.statement}`: {html.escape(self.reason, quote=False)}\n"


_TYPES: Mapping[type, str] = {str: "text", int: "an integer", Mapping: "a table"}


def entry(data: Mapping[str, Any], what: str, name: str, kind: type, default: Any = ...) -> Any:
    """The entry `name` of a JSON object, which `what` names in messages; `default` where it is absent or null.

    Raises BadInput for a missing entry without a default, and for one that is not of the type `kind` (str, int or
    Mapping).
    """
    value = data.get(name)
    if value is None:
        if default is ...:
            raise BadInput(f"{what} lacks the entry '{name}'; it must be {_TYPES[kind]}.")
        return default
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadInput(f"{what}: {name} = {shown(repr(value))} is not allowed; it must be {_TYPES[kind]}.")
    return value


W = TypeVar("W", bound=StrEnum)


def _word(known: type[W], text: str) -> W:
    if text not in list(known):
        raise UnknownName(f"a verdict: the {known.__name__.lower()}", text, [w.value for w in known])
    return known(text)


def _tightness(data: Mapping[str, Any]) -> Tightness:
    decrease = data.get("decrease")
    return Tightness(
        _float(data, "ratio_min"), _float(data, "ratio_max"), None if decrease is None else _float(data, "decrease")
    )


def _float(data: Mapping[str, Any], name: str) -> float:
    try:
        return float(cast("Any", data.get(name)))
    except (TypeError, ValueError, OverflowError):
        text = shown(repr(data.get(name)))
        raise BadInput(f"a verdict: {name} = {text} of its tightness is not a number.") from None


def count_by(verdicts: Iterable[Verdict]) -> dict[str, dict[str, int]]:
    """Counts of all outcomes and all grades, zeros included, so that nothing unknown is hidden."""
    outcomes = {o.value: 0 for o in Outcome}
    grades = {g.value: 0 for g in Grade} | {"none": 0}
    for v in verdicts:
        outcomes[v.outcome.value] += 1
        grades["none" if v.grade is None else v.grade.value] += 1
    return {"outcome": outcomes, "grade": grades}
