"""Run an implementation on the instances of a check, and find where it parts from its method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_exact, format_short
from boundcheck.errors import BadInput, BoundcheckError
from boundcheck.judge.checks.instances import Case, own_coordinates
from boundcheck.judge.checks.outcomes import Outcomes
from boundcheck.judge.precision import SINGLE_ROUNDOFF, rounding_of
from boundcheck.judge.task import Task, task_of
from boundcheck.judge.trajectories import Run, follow
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Floats, Problem, clients_of

CANNOT_TELL = "cannot be told"


class NotAsked(Exception):
    """A check that the method's composition or the implementation has no room for; the reason is a clause."""


class RunFailed(Exception):
    """The implementation raised an error, or returned what are no iterates."""


@dataclass(frozen=True)
class Parting:
    """Where an implementation and its method first differ.

    round: from 1. coordinate: of the iterate, from 0. client: which client's contribution differs, in words. expected:
    an exact fraction (of random cohorts: the nearest possible value). got: what the implementation returned. case:
    which of the check's cases. seed: of the run.
    """

    round: int
    coordinate: int
    client: str
    expected: str
    got: float
    case: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        own = dict(vars(self))
        return {**own, "got": self.got if np.isfinite(self.got) else str(self.got)}

    def __str__(self) -> str:
        value = Fraction(self.expected)
        short = format_short(value, 12)
        exact = self.expected if len(self.expected) <= 60 else f"{self.expected[:28]}...{self.expected[-28:]}"
        return (
            f"round {self.round}, coordinate {self.coordinate}, client: {self.client}; expected {exact}"
            f"{'' if short == exact else f' = {short}'}, got {self.got:.12g} (seed {self.seed})"
        )


@dataclass(frozen=True)
class Finding:
    """What a check found. reason: empty where it passed. error: the smallest error that it would have seen, in words.

    rate: probability of a false failure; seeds: how many were run.
    """

    reason: str
    error: str
    parting: Parting | None = None
    rate: float = 0.0
    seeds: int = 1


@dataclass
class Trial:
    """An implementation on the cases of one check.

    seeds: of statistical checks; few: of the others where the method is random. rate: false failures allowed of this
    check. given: tolerance, relative to the largest coordinate on the way; None for that of the iterates' precision.
    kept: what checks of one suite share.
    """

    run: Run
    cases: tuple[Case, ...]
    given: float | None
    rate: float
    seeds: range
    few: int = 16
    kept: dict[str, Any] = field(default_factory=dict[str, Any])

    def _once(self, key: str, make: Any) -> Any:
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    @property
    def tolerance(self) -> float:
        """Relative to the largest coordinate on the way, from the runs so far."""
        if self.given is not None:
            return self.given
        return rounding_of(self.task(self.cases[0]), self.kept.get("roundoff", 0.0)).tolerance

    def problem(self, case: Case) -> Problem:
        """The problem of a case."""
        return self._once(f"problem {case.key}", lambda: build_problem(case.problem))

    def task(self, case: Case) -> Task:
        """A fresh task of a case. Raises NotAsked where an implementation gets none."""

        def make() -> Task:
            try:
                return task_of(build_method(case.method), self.problem(case), case.rounds)
            except BoundcheckError as error:
                raise NotAsked(f"there is no task: {error}") from error

        made: Task = self._once(f"task {case.key}", make)
        return replace(made, step_sizes=made.step_sizes.copy(), parameters=dict(made.parameters))

    def outcomes(self, case: Case) -> Outcomes:
        """The possible iterates of a case. Raises NotAsked where the exact engine does not carry it."""

        def make() -> Outcomes:
            try:
                return Outcomes(build_method(case.method), self.problem(case))
            except BoundcheckError as error:
                raise NotAsked(f"there is no exact reference: {error}") from error

        return self._once(f"outcomes {case.key}", make)

    def is_random(self, case: Case) -> bool:
        """Whether runs with different seeds can differ on this case; that of the method where it has no reference."""
        try:
            return len(self.outcomes(case).choices) > 1
        except NotAsked:
            return build_method(case.method).is_random(clients_of(self.problem(case)))

    def used(self, case: Case, statistical: bool = False) -> list[int]:
        """The seeds that are run: one where nothing is random."""
        if not self.is_random(case):
            return [self.seeds[0]]
        return list(self.seeds if statistical else self.seeds[: self.few])

    def points(self, case: Case, seeds: Sequence[int]) -> Floats:
        """The iterates (S, rounds + 1, d) of the implementation. Raises RunFailed, NotAsked for NotImplementedError."""

        def make(seed: int) -> Floats:
            return self._once(f"points {case.key} {seed}", lambda: self.follow(self.task(case), seed))

        return np.stack([make(seed) for seed in seeds])

    def follow(self, task: Task, seed: int) -> Floats:
        """The iterates (rounds + 1, d) of one run of a task, not kept."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                found = follow(self.run, task, [seed])
        except NotImplementedError as error:
            raise NotAsked(f"the implementation has no such thing: {error or 'NotImplementedError'}") from error
        except BadInput as error:
            raise RunFailed(str(error)) from error
        except Exception as error:
            raise RunFailed(f"the implementation raised {type(error).__name__}: {error}") from error
        if found.points is None:
            raise RunFailed("the implementation returned metrics; the named checks need the iterates after each round.")
        self.kept["roundoff"] = max(found.roundoff, self.kept.get("roundoff", 0.0))
        return found.points[0]

    def parting(self, number: int, statistical: bool = False) -> Parting | None:
        """Where the implementation first parts from the possible iterates of a case; None where all are explained."""
        case = self.cases[number]
        outcomes, seeds = self.outcomes(case), self.used(case, statistical)
        points = self.points(case, seeds)
        found = outcomes.explain(points, self.tolerance)
        if found.first is None:
            return None
        if found.unsure[found.parted > 0].any():
            raise NotAsked("different cohorts give the same iterates on this instance")
        s, t = found.first
        away = np.abs(points[s, t] - found.nearest[s, t])
        k = int(np.argmax(np.where(np.isnan(away), np.inf, away)))
        exact = outcomes.path(found.chosen[s, :t])[t][k]
        client = self.client(case)
        return Parting(t, k, client, format_exact(exact), float(points[s, t, k]), number, seeds[s])

    def client(self, case: Case) -> str:
        """Whose contribution differs, found on an instance in which each client moves a coordinate of its own."""
        try:
            companion = _companion(case)
            outcomes, seeds = self.outcomes(companion), self.used(companion)
            points = self.points(companion, seeds)
        except (NotAsked, RunFailed, BoundcheckError):
            return CANNOT_TELL
        found = outcomes.explain(points, self.tolerance)
        if found.first is None:
            return CANNOT_TELL
        s, t = found.first
        size = np.abs(found.nearest[s]).max()
        wrong = np.flatnonzero(~(np.abs(points[s, t] - found.nearest[s, t]) <= self.tolerance * size))
        if len(wrong) == len(points[s, t]):
            return "all"
        return ", ".join(str(i) for i in wrong)

    def hint(self, parting: Parting) -> str:
        """What a difference of the size of rounding in single precision suggests."""
        expected = abs(float(Fraction(parting.expected)))
        single = rounding_of(self.task(self.cases[0]), SINGLE_ROUNDOFF).tolerance
        if abs(parting.got - float(Fraction(parting.expected))) > single * max(expected, 1e-2):
            return ""
        return f" The difference is as small as rounding in single precision; tolerance = {single:.2g} allows that."

    def smallest(self) -> str:
        """What an exact comparison would have seen."""
        return f"a relative error of {self.tolerance:g} in any iterate"


def _companion(case: Case) -> Case:
    """The case with the same clients, weights and samples, on which client i moves coordinate i and no other."""
    clients: list[Any] = list(case.problem["clients"])
    sizes = [len(c["components"]) for c in clients]
    scale = max(abs(Fraction(v)) for c in clients for row in c["components"][0]["A"] for v in row)
    curved = [scale * Fraction(4 + i % 3, 6) for i in range(len(clients))]
    return Case(own_coordinates(sizes, curved, case.problem["weights"]), case.method, case.rounds)
