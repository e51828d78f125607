"""What a comparison of an implementation with its method, or a check of either, has found, and how it is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from boundcheck.judge.task import Task
from boundcheck.verdict import plain

MOST_NAMED = 6


class Status(StrEnum):
    """The result of a check."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_ASKED = "not asked"  # there is no room for it in what is checked; never counted as passed
    EXPECTED_FAILURE = "expected failure"
    UNEXPECTED_PASS = "unexpected pass"  # an error too: what was expected to fail did not


@dataclass(frozen=True)
class Difference:
    """The first place where an implementation parts from its method.

    what: "coordinate 0", or a metric. expected: of the method, an expectation where it is random; exact: the same as a
    fraction, "" where it is not known or long. got: of the implementation, a mean over seeds where it is random.
    """

    round: int
    what: str
    expected: float
    exact: str
    got: float

    def words(self) -> str:
        """As a clause."""
        shown = f"{self.exact} = {self.expected:.12g}" if self.exact else f"{self.expected:.12g}"
        return f"after round {self.round}, {self.what} is {self.got:.12g} instead of {shown}"


@dataclass(frozen=True, repr=False)
class Agreement:
    """Whether an implementation does what its method does.

    agrees: no difference was found. how: "run" (a method without randomness, compared number by number), "expectation"
    (means against exact expectations, laws against draws of the sampled engine) or "two samples" (the latter alone).
    difference: the first one, or None. mistakes: name -> sentence of the known mistakes with which the implementation
    agrees; [] where none of the `tried` does. alike: names of the mistakes that this problem cannot tell from the
    method. reason: the whole as text. evidence: numbers of the statistical tests. compatible: as `mistakes`, those that
    the implementation does not refute, without agreeing with them more than with the method.
    """

    method: str
    problem: str
    rounds: int
    agrees: bool
    how: Literal["run", "expectation", "two samples"]
    difference: Difference | None
    mistakes: Mapping[str, str]
    tried: int
    alike: tuple[str, ...]
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict[str, Any])
    compatible: Mapping[str, str] = field(default_factory=dict[str, str])

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        own = None if self.difference is None else dict(vars(self.difference))
        lists = {"mistakes": dict(self.mistakes), "alike": list(self.alike), "compatible": dict(self.compatible)}
        return plain({**vars(self), "schema": 1, "difference": own, **lists})

    def __repr__(self) -> str:
        return f"<Agreement {'yes' if self.agrees else 'no'}: {self.reason}>"


def listed(names: Sequence[str], most: int = MOST_NAMED, between: str = ", ", more: str = " and {} more") -> str:
    """The first names, and how many more there are."""
    return between.join(list(names)[:most]) + (more.format(len(names) - most) if len(names) > most else "")


def labels(task: Task, names: Sequence[str]) -> tuple[str, ...]:
    """What the columns of a comparison are called: the coordinates, or the metrics that were returned."""
    return tuple(names) if names else tuple(f"coordinate {k}" for k in range(task.dimension))


def within_single(of: str, tolerance: float) -> str:
    """That single precision explains all differences, as a sentence."""
    return (
        f"All differences of these {of} are below {tolerance:.2g}, relative to the largest number, which rounding in "
        f"single precision explains; tolerance = {tolerance:.2g} accepts them, as do iterates of type float32. "
    )


def looks_like(mistakes: Mapping[str, str], tried: int, compatible: Mapping[str, str] | None = None) -> str:
    """Which mistakes explain a difference, as a sentence."""
    if not mistakes and compatible:
        return (
            f"None of the {tried} known mistakes is shown to explain it; it is compatible with "
            f"{listed(list(compatible))}, as it is with the method's means."
        )
    if not mistakes:
        return f"None of the {tried} known mistakes explains it."
    shown = [f"{name} ({sentence})" for name, sentence in mistakes.items()]
    if len(mistakes) == 1:
        return f"It looks like this mistake: {shown[0]}."
    which = listed(shown, between="; ", more=", and {} more")
    return f"It looks like one of {len(mistakes)} mistakes that this run does not tell apart: {which}."


def also_those_of(names: Sequence[str]) -> str:
    """That points after the look-ahead are those of mistakes as well, as a sentence."""
    which = " or ".join(f"'{name}'" for name in names[:MOST_NAMED])
    return f" On this problem they are also the points of {which}; a problem that is not quadratic tells them apart."


def at_first(names: Sequence[str], until: int) -> str:
    """Which mistakes the first rounds look like where none explains all of them, as a sentence."""
    which = listed([f"'{name}'" for name in names], between=" or ", more=" or {} more")
    rounds = "Round 1 is" if until == 1 else f"Rounds 1 to {until} are"
    return f"{rounds} as with {which}; from round {until + 1} on it is something else."


def not_told(alike: Sequence[str], asked: bool = True, what: str = "cannot be told from the method") -> str:
    """Which mistakes the problem does not show, as a sentence; "" where it shows all."""
    if not asked:
        return " Which mistakes this problem would not show was not computed."
    if not alike:
        return ""
    return f" On this problem these mistakes {what}: {listed(alike)}."
