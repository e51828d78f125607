"""How far rounding takes a right implementation from the exact run, from the precision of the numbers it returns."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from boundcheck.errors import BoundcheckError
from boundcheck.judge.reference import is_random, iterates
from boundcheck.judge.task import Task
from boundcheck.problems.build import build
from boundcheck.problems.problem import Floats, clients_of

DOUBLE = 1e-9  # relative tolerance of numbers in double precision
SINGLE_ROUNDOFF = 2.0**-24
_NAMES = {2.0**-24: "single precision", 2.0**-11: "half precision"}
_FEW = 8  # dimensions up to which every coordinate of the start is displaced
_OF_A_STEP = 10  # roundings of y - eta g beside the d of g's sums: of the data, g, eta, eta g (twice y) and the sum
_OF_A_SERVER_STEP = 6


@dataclass(frozen=True)
class Rounding:
    """tolerance: relative to the largest number so far. words: how it was derived, a sentence; "" for doubles."""

    tolerance: float
    words: str = ""


def rounding_of(task: Task, roundoff: float) -> Rounding:
    """The tolerance for a run whose numbers have this unit roundoff, 2^-24 for float32.

    A round makes c = (10 + d) E + n + 6 roundings at most, E the most local steps and n the clients, each relative to
    the largest number so far. An error of round k grows or shrinks until round r by the norm of d x_r/d x_k, which runs
    of the reference from displaced starts give: d + 1 runs, or 5 in more than 8 dimensions. Where step sizes change or
    the method is random, the largest of these norms stands for each. To first order in the roundoff.
    """
    if roundoff <= 2.0**-53:
        return Rounding(DOUBLE)
    clients = clients_of(task.problem)
    everyone = tuple(range(clients.count))
    steps = max((v.steps for i in everyone for _, v in task.method.local.visits(i, everyone, clients)), default=1)
    count, growth = (_OF_A_STEP + task.dimension) * steps + clients.count + _OF_A_SERVER_STEP, _growth(task)
    tolerance = max(DOUBLE, min(0.5, count * roundoff * growth))
    of = _NAMES.get(roundoff, f"a roundoff of {roundoff:.2g}")
    words = (
        f" The numbers are in {of}: {tolerance:.2g} allows {count} roundings of {roundoff:.2g} a round, whose effects "
        f"on later rounds sum to {growth:.3g} times as much."
    )
    return Rounding(tolerance, words)


def _growth(task: Task) -> float:
    """The largest sum over k of |d x_r / d x_k|, in the maximum norm; the number of rounds where it is not computed."""
    d, rounds = task.dimension, task.rounds
    moved = np.eye(d) if d <= _FEW else np.array([[(-1.0) ** (j * i // 2) for i in range(d)] for j in range(4)])
    try:
        base = iterates(task.method, task.problem, rounds)
        away = np.stack([_from(task, row, rounds) - base for row in moved])  # (directions, rounds + 1, d)
    except BoundcheckError:
        return float(rounds)
    shown = np.abs(away)
    norms = (shown.sum(axis=0) if d <= _FEW else shown.max(axis=0)).max(axis=1)[:-1]
    if np.ptp(task.step_sizes) or is_random(task.method, task.problem):
        norms = np.full(rounds, norms.max())
    return float(max(1.0, norms.sum()))


def _from(task: Task, displaced: Floats, rounds: int) -> Floats:
    """The iterates of the reference from a displaced start."""
    start = [str(v + Fraction(float(h))) for v, h in zip(task.problem.start, displaced, strict=True)]
    return iterates(task.method, build({**task.problem.spec, "start": start}), rounds)
