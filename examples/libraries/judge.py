"""Hold a pair against its composition: with all clients, with the cohorts that it drew itself, in law, and a bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import boundcheck as bc
from boundcheck import Agreement
from boundcheck import judge as judged
from boundcheck.judge.against_bound import check_against_bound
from boundcheck.judge.reference import iterates
from boundcheck.judge.task import task_of
from libraries.pairs import TOLERANCES, Pair, problem
from libraries.runs import local_steps

ROUNDS = 12  # compared number by number
LAST = 120  # where a run ends
SIZE = 2  # clients of a cohort
SIZE_IN_LAW, ROUNDS_IN_LAW, SEEDS = 3, 1, 1024  # few clients, so that one drawn twice is likely
STATEMENT = "classics/local_gd_convex/sharp"
LAST_OF_BOUND = 300


@dataclass(frozen=True)
class Answer:
    """What one comparison found.

    digits: decimal digits to which the iterates agree, relative to the largest coordinate so far. ends: squared
    distance to the minimiser after LAST rounds, of the library and of the composition.
    """

    agreement: Agreement
    digits: float
    ends: tuple[float, float]


@dataclass(frozen=True)
class Judged:
    """A pair with all clients ("full"), and with the cohorts of SIZE that the library drew ("partial")."""

    pair: Pair
    answers: dict[str, Answer]


def judge(pair: Pair) -> Judged:
    """Both comparisons of a pair, number by number."""
    drawn = {"kind": "uniform", "size": SIZE}
    return Judged(pair, {"full": _one_run(pair, None), "partial": _one_run(pair, drawn)})


def judge_cohorts(pair: Pair) -> Agreement:
    """The cohorts of SIZE_IN_LAW clients that a library draws, against cohorts drawn uniformly, none twice.

    What is compared are rounds of FedAvg in double precision with these cohorts, so that rounding is no difference.
    """

    def run(task: Any, seed: int) -> list[np.ndarray]:
        x, points = task.start, []
        for cohort in pair.runs(drawing=True)(task, seed).cohorts:
            returned = [(task.weights[i], local_steps(task, task.clients[i], x)) for i in cohort]
            x = sum(w * y for w, y in returned) / sum(w for w, _ in returned)
            points.append(x)
        return points

    method = {**pair.method, "participation": {"kind": "uniform", "size": SIZE_IN_LAW}}
    return judged(method, run, problem(pair.problem), rounds=ROUNDS_IN_LAW, seeds=SEEDS)


def judge_bounds(judged: Sequence[Pair]) -> tuple[list[tuple[Pair, Any]], str]:
    """The verdicts of STATEMENT on these pairs, with all clients and one sample each, and what it misses."""
    method = {"kind": "fedavg", "E": 2, "eta": "9/10*largest"}
    claim = bc.Claim(STATEMENT, problem("one sample"), method, at={"R": [1, 10, 100, LAST_OF_BOUND]})

    def points(run: Any) -> Any:
        return lambda task, seed: run(task, seed).points[-task.rounds :]

    found = [check_against_bound(claim, points(pair.runs()), power=pair is judged[0]) for pair in judged]
    missed = found[0].power.words() if found[0].power else ""
    return [(pair, checked.verdict) for pair, checked in zip(judged, found, strict=True)], missed


def _one_run(pair: Pair, participation: Any) -> Answer:
    """The run of seed 0. Where clients are drawn, the composition gets the cohorts that the library drew."""
    instance = bc.problem(problem(pair.problem))
    spec = dict(pair.method) if participation is None else {**pair.method, "participation": participation}
    record = pair.runs()(task_of(bc.method(spec), instance, LAST), 0)
    if participation is not None:
        spec["participation"] = {"kind": "pattern", "cohorts": [sorted(c) for c in record.cohorts]}
    got, tolerance = np.array(record.points)[-LAST:], TOLERANCES[pair.tolerance]
    agreement = judged(spec, lambda task, seed: got[: task.rounds], instance, rounds=ROUNDS, tolerance=tolerance)
    whole = iterates(bc.method(spec), instance, LAST)
    ends = [float(instance.metric("dist2", x[-1])) if np.isfinite(x[-1]).all() else math.inf for x in (got, whole)]
    return Answer(agreement, _digits(got[:ROUNDS], whole[1 : ROUNDS + 1]), (ends[0], ends[1]))


def _digits(got: np.ndarray, whole: np.ndarray) -> float:
    scale = np.maximum.accumulate(np.abs(whole).max(axis=1))
    with np.errstate(invalid="ignore", over="ignore"):
        worst = float((np.abs(got - whole).max(axis=1) / scale).max())
    return 0.0 if not worst < 1 else min(16.0, -math.log10(max(worst, 1e-17)))
