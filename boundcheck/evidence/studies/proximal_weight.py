"""Which proximal weight mu FedDANE's theorems need, beside the grid that the paper tuned over.

T. Li et al., "FedDANE", Theorems 3 and 5: the guaranteed decrease rho is positive only for mu above L (2 B^2 + 1/2)
with exact local solutions, B = B(w) the dissimilarity of the devices at the point w. B grows along a run; it is
measured at points of gradient descent with the step 1/L. L is taken twice: the certified upper bound, with which the
theorem may be used, and a lower bound on the best possible L, so that a mu below what that one needs is out of every
proof's reach. gamma must be below 2/(2 B^2 + 1) whatever mu is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field, field_validator

from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import as_double, as_fraction, format_short
from boundcheck.errors import BadInput
from boundcheck.evidence.studies.study import Series, Study, StudyTable, TableSpec
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Floats, Problem
from boundcheck.theory.discovery import statement

GRID = ("0", "1/1000", "1/100", "1/10", "1")  # FedDANE, Section V: mu was tuned over these
ROUNDS = 300
POINTS = 12
POWERS = 30  # steps of the power method
REACH = 1e-4  # length of the differences
MARGIN = 1e-9


class Spec(TableSpec):
    """One `[[proximal_weight]]` table. rounds: of gradient descent, along which B is measured."""

    name: str
    """what the page calls it"""
    problems: list[dict[str, Any]]
    """problems, as in a claim"""
    grid: list[Any] = Field(list(GRID))
    """the values of mu that were tuned over"""
    rounds: int = ROUNDS
    """of gradient descent, along which B is measured"""

    @field_validator("problems")
    @classmethod
    def _some(cls, problems: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if not problems:
            raise ValueError("problems = [] is not allowed; at least one is needed")
        return problems


class At(NamedTuple):
    """What the theorem needs at one point: the least mu with the lower and with the certified L, the largest gamma.

    rounds: of gradient descent; b2: B(w)^2.
    """

    rounds: int
    b2: float
    low: float
    high: float
    gamma: float

    def short_of(self, tried: float) -> str:
        """By how much a weight that was tried falls short of what is needed."""
        if tried > self.high:
            return "is enough"
        if tried > self.low:
            return "undecided (between what the two L need)"
        return f"too small by a factor {self.low / tried:.4g}" if tried > 0 else "too small by any factor"


@dataclass(frozen=True)
class Needed:
    """What the theorem needs on one problem. low, high: around the best common smoothness constant of the devices."""

    name: str
    low: float
    high: float
    points: tuple[At, ...]


def check(spec: Spec) -> None:
    """Raises BadInput and UnknownName for what cannot be carried out."""
    for value in spec.grid:
        if as_fraction(value, "grid") < 0:
            raise BadInput(f"grid: mu = {value} is not allowed; it is at least 0.")
    if not 1 <= spec.rounds <= 10**6:
        raise BadInput(f"rounds = {spec.rounds} is not allowed; 1 to 1000000 are.")
    for problem in spec.problems:
        built = build_problem(problem)
        if "L" not in built.constants():
            raise BadInput(f"the problem '{built.name}' has no common smoothness constant L of its clients.")


def lower_smoothness(problem: Problem, x: Floats) -> float:
    """A lower bound on the common smoothness constant of the clients: the largest curvature found at x.

    Differences of gradients along directions that the power method finds, client by client: |grad f(y) - grad f(x)| is
    at most L |y - x| whatever y is. What the rounding of the gradients can add is taken off.
    """
    best, rounding = 0.0, 64 * np.finfo(float).eps * np.sqrt(problem.dim)
    for client in range(problem.clients):
        v = np.cos(np.arange(problem.dim) + client)  # any direction that is not orthogonal to the top eigenvector
        at = problem.gradient(client, x)
        for _ in range(POWERS):
            y = x + REACH * v / np.linalg.norm(v)
            there = problem.gradient(client, y)
            v = there - at
            error = rounding * float(np.linalg.norm(there) + np.linalg.norm(at))
            best = max(best, (float(np.linalg.norm(v)) - error) / float(np.linalg.norm(y - x)))
            if not v.any():
                break
    return best * (1 - MARGIN)


def needed_weights(problem: Problem, rounds: int = ROUNDS) -> Needed:
    """What Theorem 3 needs along gradient descent with the step 1/L on a problem (exact local solutions).

    The points end where the gradient of f vanishes in double precision: B is not defined there.
    """
    x = np.array([as_double(v, "a coordinate of the start") for v in problem.start])
    high = as_double(problem.constants()["L"].value, "L")
    low = lower_smoothness(problem, x)
    wanted = {0, *(int(v) for v in np.geomspace(1, rounds, POINTS).round())}
    least, largest = statement("feddane/feasibility_mu/least"), statement("feddane/feasibility_gamma")
    points: list[At] = []
    weights = np.array([float(w) for w in problem.weights])
    for done in range(rounds + 1):
        slopes = np.array([problem.gradient(k, x) for k in range(problem.clients)])
        of_all = weights @ slopes
        grad2 = float(of_all @ of_all)
        if grad2 == 0:
            break
        if done in wanted:
            b2 = Fraction(max(1.0, float(weights @ (slopes**2).sum(axis=1)) / grad2))
            mus = [float(least.evaluate(L=Fraction(size), B2=b2, gamma=0).value) for size in (low, high)]
            points.append(At(done, float(b2), mus[0], mus[1], float(largest.evaluate(B2=b2).value)))
        x = x - of_all / high
    if not points:
        raise BadInput(f"the problem '{problem.name}' starts where its gradient vanishes, and B(w) is not defined.")
    return Needed(problem.name, low, high, tuple(points))


def study(spec: Spec, on_progress: Callable[[float], None] | None = None) -> Study:
    """Carries out the table."""
    grid = [as_fraction(v, "grid") for v in spec.grid]
    found: list[Needed] = []
    for k, problem in enumerate(spec.problems):
        found.append(needed_weights(build_problem(problem), spec.rounds))
        if on_progress is not None:
            on_progress((k + 1) / len(spec.problems))
    largest = max(grid)
    summary: list[tuple[str, ...]] = []
    rows: list[tuple[str, ...]] = []
    series: list[Series] = []
    for k, one in enumerate(found):
        first, last = one.points[0], one.points[-1]
        summary.append(
            (
                one.name,
                f"{one.low:.4g} to {one.high:.4g}",
                f"{first.b2**0.5:.3g} to {last.b2**0.5:.3g}",
                f"{first.low:.4g}",
                f"{last.low:.4g}",
                f"{first.gamma:.2g} to {last.gamma:.2g}",
                first.short_of(nearest_float(largest)),
                last.short_of(nearest_float(largest)),
            )
        )
        rows += [
            (one.name, str(done), f"{b2**0.5:.4g}", f"{low:.4g}", f"{high:.4g}", f"{gamma:.3g}")
            for done, b2, low, high, gamma in one.points
        ]
        x = tuple(float(max(p.rounds, 1)) for p in one.points)
        series.append(Series(f"{one.name}: needed with the lower L", x, tuple(p.low for p in one.points), "metric", k))
    ends = (1.0, float(spec.rounds))
    tried = [(f"tried: mu = {format_short(v)}", nearest_float(v)) for v in grid if v > 0]
    series += [Series(name, ends, (v, v), "bound", 2) for name, v in tried]
    words = (
        "FedDANE's Theorem 3 guarantees a decrease only for mu > L (2 B² + 1/2), exact local solutions granted; mu was "
        f"tuned over {', '.join(format_short(v) for v in grid)}.",
        "L is bounded from both sides. Below what the lower one needs, no valid constants put the theorem to work; "
        "there it is vacuous. B is measured at the points of gradient descent with the step 1/L.",
        "The sharp readings take E|g|² as it is and need mu > L (B² + 1/2), or L (3/2 + (B² - 1)/K) with K draws by "
        "weight.",
    )
    tables = (
        StudyTable(
            "In short",
            (
                "devices",
                "L between",
                "B(w), start to end",
                "mu above, at the start",
                "mu above, at the end",
                "gamma below",
                f"mu = {format_short(largest)} at the start",
                f"mu = {format_short(largest)} at the end",
            ),
            tuple(summary),
            (3, 4),
        ),
        StudyTable(
            "Along gradient descent",
            ("devices", "round", "B(w)", "mu above (lower L)", "mu above (certified L)", "gamma below"),
            tuple(rows),
            (1, 2, 3, 4, 5),
        ),
    )
    return Study(
        "proximal_weight",
        spec.name,
        words,
        tables,
        tuple(series),
        ("rounds of gradient descent", "proximal weight mu, in [f]/[x]²"),
        (True, True),
        "Blue: the least mu with which the theorem guarantees anything (lower bound of L). Red: the values tried.",
        {"problems": [{"name": n.name, "L": [n.low, n.high], "points": list(n.points)} for n in found]},
    )
