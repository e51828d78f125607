"""Which published method code carries out: its runs beside those of every kind with its options."""

from __future__ import annotations

import inspect
import runpy
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_exact
from boundcheck.core.parameters import checks_types
from boundcheck.errors import BadInput, BoundcheckError, Unsupported
from boundcheck.judge.agreement import RATE, same_law
from boundcheck.judge.diagnosis import Measure, Mutations, agreeing
from boundcheck.judge.instances import telling_problem
from boundcheck.judge.reference import attempted, is_random, iterates, sampled_iterates
from boundcheck.judge.task import Task, task_of
from boundcheck.judge.trajectories import Run, follow
from boundcheck.methods.build import build as build_method
from boundcheck.methods.build import known_kinds
from boundcheck.methods.method import Method
from boundcheck.methods.parameters import NEEDED
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Floats, Problem
from boundcheck.verdict import plain

ROUNDS = 30
SEEDS = 512
TOLERANCE = 1e-8
FAR = 6.0  # standard errors within which means are alike
LOOKED = (1, 2, 5, 10)  # rounds at which laws are compared
_STEP = "1/10"
# What every candidate has where it has such a parameter; the code under test gets these numbers by these names.
VALUES: Mapping[str, Any] = {
    "eta": _STEP, "eta_l": _STEP, "K": 2, "E": 2, "steps": 2, "mu": "1/2", "momentum_g": "1/2", "a": "1/2", "inner": 2,
    "m": 2, "size": 2, "tau": 2, "dt": "1", "times": ["1", "2", "3"],
}  # fmt: skip
_COHORT = {"participation": {"kind": "uniform", "size": 2}}
# Further options that are tried one at a time.
_OPTIONS: tuple[Mapping[str, Any], ...] = (
    _COHORT, {"size": 2}, {"weights": "data"}, {"weights": "uniform"}, {"weights": "average"}, {"weights": "identical"},
    {"eta_g": "3/2"}, {"momentum_l": "1/2"}, {"nesterov": True}, {"start": "gradient"}, {"sampling": "replacement"},
    {"batch": 1}, {"pipelined": True}, {"solver": "exact"}, {"decay": "inverse"},
    {"solver": {"steps": 2, "eta": _STEP}}, {"solver": {"E": 1, "eta": _STEP}},
)  # fmt: skip
_COUNTS = ("K", "E", "steps")  # of which a kind that takes several needs one


@dataclass(frozen=True)
class Match:
    """A kind of method whose runs are those of the code, with its options, and where it is published."""

    kind: str
    options: Mapping[str, Any]
    paper: str
    equation: str

    def words(self) -> str:
        """As a clause."""
        own = ", ".join(f"{name} = {value}" for name, value in self.options.items())
        place = ", ".join(part for part in (self.paper, self.equation) if part)
        return f"'{self.kind}'" + (f" with {own}" if own else "") + (f" ({place})" if place else "")


@dataclass(frozen=True, repr=False)
class Identified:
    """What code was found to be.

    matches: kinds that agree, those with the fewest options first. mistaken: (kind, mistake, sentence) where none
    agrees: kinds with one known mistake that do. tried: how many kinds were carried out. random: whether seeds differ.
    """

    matches: tuple[Match, ...]
    mistaken: tuple[tuple[str, str, str], ...]
    tried: int
    random: bool
    problem: str
    rounds: int
    seeds: int = 1
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def reason(self) -> str:
        """The whole as text."""
        how = f"{self.rounds} rounds on '{self.problem}'"
        if self.matches:
            how += f", in law, {self.seeds} seeds" if self.random else ""
            rest = f" The same holds for {'; '.join(m.words() for m in self.matches[1:6])}." if self.matches[1:] else ""
            said = "no difference was seen" if self.random else "its runs agree"
            return f"The code is {self.matches[0].words()}: {said} ({how}).{rest}"
        none = f"The code is none of {self.tried} kinds, with any one of their options ({how})."
        if not self.mistaken:
            return none
        kinds: dict[tuple[str, str], list[str]] = {}
        for kind, name, why in self.mistaken:
            kinds.setdefault((name, why), []).append(f"'{kind}'")
        shown = [f"{', '.join(own[:4])} with the mistake '{name}': {why}" for (name, why), own in kinds.items()]
        return f"{none} Its runs are those of {'; '.join(shown[:4])}."

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        own = {"matches": [vars(m) for m in self.matches], "mistaken": [list(m) for m in self.mistaken]}
        return plain({"schema": 1, **vars(self), **own, "reason": self.reason})

    def __repr__(self) -> str:
        return f"<Identified: {self.reason}>"


@checks_types
def identify(
    run: Run, problem: Problem | Mapping[str, Any] | None = None, *, rounds: int = ROUNDS, seeds: int = SEEDS
) -> Identified:
    """The kind of method that `run(task, seed)` is, found from its runs.

    run: the implementation, which returns the iterates. problem: an object or specification, by default one on which
    methods differ. rounds: that are compared. seeds: of a run that is random.

    The task has the numbers of `VALUES` by these names, so that the code may read whichever it knows. Runs without
    randomness are compared number by number with every kind and its options; random ones by their means and their law,
    so that a match means that no difference was seen. Raises BadInput and Unsupported; an error inside `run` passes.
    """
    if not callable(run):
        raise BadInput(f"run is {type(run).__name__}; it must be a function run(task, seed).")
    if rounds < max(LOOKED) or seeds < 32:
        raise BadInput(f"identify needs at least {max(LOOKED)} rounds and 32 seeds; given {rounds} and {seeds}.")
    plainest = build_method({"kind": "fedavg_sync", "K": 2, "eta_l": _STEP})
    given = telling_problem(plainest) if problem is None else problem
    instance = build_problem(given) if isinstance(given, Mapping) else given
    numbers = {name: float(Fraction(str(v))) for name, v in VALUES.items() if not isinstance(v, list)}
    task = replace(task_of(plainest, instance, rounds), parameters={**numbers, "eta_g": 1.0, "momentum_l": 0.5})
    two = _points(run, task, range(2))
    if np.array_equal(two[0], two[1], equal_nan=True):
        return _fixed(task, two[0])
    return _random(task, _points(run, task, range(seeds)))


def function_of(file: Path, name: str) -> Run:
    """The function of a Python file, which is run. Raises BadInput where the file fails or has no such function."""
    if not file.is_file():
        raise BadInput(f"{file} cannot be run: there is no such file.")
    sys.path.insert(0, str(file.resolve().parent))  # for what it imports beside it
    try:
        own = runpy.run_path(str(file), run_name=file.stem)
    except Exception as error:  # the user's own code may raise anything
        raise BadInput(f"{file} cannot be run: {type(error).__name__}: {error}.") from error
    finally:
        sys.path.pop(0)
    if not callable(own.get(name)):
        there = ", ".join(n for n, v in own.items() if inspect.isfunction(v)) or "none"
        raise BadInput(f"{file} has no function '{name}'; its functions are: {there}.")

    def run(task: Task, seed: int) -> Any:
        try:
            return own[name](task, seed)
        except BoundcheckError:
            raise
        except Exception as error:  # the user's own code may raise anything
            raise BadInput(f"{file}: the function '{name}' fails: {type(error).__name__}: {error}.") from error

    return run


def _points(run: Run, task: Task, seeds: range) -> Floats:
    found = follow(run, task, seeds).points
    if found is None:
        raise Unsupported("identify compares iterates; the code returned metrics.")
    return found


def candidates(values: Mapping[str, Any] = VALUES) -> Iterator[tuple[str, Mapping[str, Any], Method]]:
    """(kind, options, method) of every kind, plain and with each option that it takes, with these values."""
    for kind, known in known_kinds().items():
        declared = {p.name: p for p in known.declared}
        needed = {name: values[name] for name, p in declared.items() if name in values and p.default is NEEDED}
        steps = next((name for name in ("eta", "eta_l") if name in declared), None)
        plainly = {**needed, **({} if steps is None else {steps: values[steps]})}
        counts = [{name: values[name]} for name in _COUNTS if name in declared and name not in plainly]
        cohorts = [{}, _COHORT] if "participation" in declared else [{}]
        for base in [{}, *counts]:
            for option in [{}, *_OPTIONS]:
                for cohort in cohorts:
                    options = {**base, **option, **cohort}
                    if not options.keys() <= declared.keys() or (cohort and option == _COHORT):
                        continue
                    own = {k: v for k, v in plainly.items() if k != steps} if "solver" in options else plainly
                    try:
                        yield kind, options, build_method({"kind": kind, **own, **options})
                    except BoundcheckError:
                        continue


def siblings(method: Method, problem: Problem, got: Floats, measure: Measure, tolerance: float) -> tuple[Match, ...]:
    """The kinds, with the numbers of the method and one option, whose runs without randomness are this one."""
    if not method.schedule.is_constant():
        return ()
    step = format_exact(Fraction(method.schedule.step(1)))
    own = {name: format_exact(value) for name, value in method.parameters().items() if name in VALUES}
    counts = {name: int(own[name]) for name in _COUNTS if name in own}
    given = counts.get("E", counts.get("K", counts.get("steps", 1)))
    values = {**VALUES, **dict.fromkeys(_COUNTS, given), **own, **counts, "eta": step, "eta_l": step}
    return _shortest(_agreeing(values, problem, got, measure, tolerance, {}))


def _agreeing(
    values: Mapping[str, Any], problem: Problem, got: Floats, measure: Measure, tolerance: float,
    plainest: dict[str, Method],
) -> list[Match]:  # fmt: skip
    """The candidates whose runs without randomness are these; plainest: to which the first of each kind is added."""
    found: list[Match] = []
    for kind, options, method in candidates(values):
        early = (
            None
            if attempted(is_random, method, problem)
            else attempted(iterates, method, problem, min(2, len(got) - 1))
        )
        if early is None:
            continue
        plainest.setdefault(kind, method)
        if not agreeing(got[:3], measure(early), tolerance).all():
            continue
        whole = attempted(iterates, method, problem, len(got) - 1)
        if whole is not None and agreeing(got, measure(whole), tolerance).all():
            found.append(_match(kind, options))
    return found


def _fixed(task: Task, got: Floats) -> Identified:
    problem, plainest = task.problem, dict[str, Method]()
    found = _agreeing(VALUES, problem, got, lambda points: points, TOLERANCE, plainest)
    tried = len(plainest)
    mistaken: list[tuple[str, str, str]] = []
    for kind, method in plainest.items() if not found else ():
        known = Mutations(method, problem, task.rounds, lambda points: points)
        mistaken += [(kind, m.name, m.sentence) for m in known.like(got, TOLERANCE)]
    return Identified(_shortest(found), tuple(mistaken), tried, False, problem.name, task.rounds, 1, VALUES)


def _random(task: Task, points: Floats) -> Identified:
    found, tried, problem, looked = list[Match](), set[str](), task.problem, list(LOOKED)
    rows = points[:, looked].reshape(len(points), -1)
    mean, error = rows.mean(0), rows.std(0, ddof=1) / np.sqrt(len(rows)) + 1e-12
    for kind, options, method in candidates():
        if not attempted(is_random, method, problem):
            continue
        expected = attempted(iterates, method, problem, max(LOOKED))
        tried.add(kind)
        if expected is not None and (np.abs(expected[looked].reshape(-1) - mean) > FAR * error).any():
            continue
        drawn = attempted(sampled_iterates, method, problem, [0, *looked], range(4 * len(points)))
        labels = [str(k) for k in range(rows.shape[1])]
        if drawn is not None and not same_law(rows, drawn[:, 1:].reshape(len(drawn), -1), labels, rate=RATE).refuted:
            found.append(_match(kind, options))
    return Identified(_shortest(found), (), len(tried), True, problem.name, task.rounds, len(points), VALUES)


def _match(kind: str, options: Mapping[str, Any]) -> Match:
    own = known_kinds()[kind]
    return Match(kind, dict(options), own.paper, own.equation)


def _shortest(found: list[Match]) -> tuple[Match, ...]:
    """Each kind once, with its fewest options; those with the fewest first."""
    best: dict[str, Match] = {}
    for match in sorted(found, key=lambda m: len(m.options)):
        best.setdefault(match.kind, match)
    return tuple(best.values())
