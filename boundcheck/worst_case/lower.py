"""Instances that attain a lower value: rebuilt from what the solver found, and run by the ordinary readers.

Where the Gram matrix has one direction, functions on the line: each slope is linear by pieces through its answers, with
curvatures mu and L alone and the right area between two answers, so that it is of the class. In several directions, a
quadratic for each client that fits its answers. Only what a run measures counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.certified.slopes import Slope, mixed
from boundcheck.core.numbers import format_exact, format_short
from boundcheck.errors import BoundcheckError
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.claim_result import Claim
from boundcheck.problems.build import build as build_problem
from boundcheck.theory.keys import name_of
from boundcheck.verdict import Outcome, Verdict
from boundcheck.worst_case.case import STARTS, Case
from boundcheck.worst_case.forms import Row
from boundcheck.worst_case.programme import attaining, floating

GRID = 2**32  # points and slopes of a rebuilt function are multiples of the unit over this
DIRECTIONS = 4  # of a quadratic that is rebuilt
NEAR, ROUNDING = Fraction(1, 10**6), Fraction(1, 10**9)  # of constants of the start, and of others, relative
SMALL = 1e-7  # of an eigenvalue of the Gram matrix, relative to the largest, that is rounding
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Attained:
    """An instance, and what the run of the method on it gave.

    value: the metric, from below. problem, method, at: its specification. constants: those of the instance. verdict: of
    the statement on it.
    """

    value: float
    problem: Mapping[str, Any]
    method: Mapping[str, Any]
    at: Mapping[str, Any]
    constants: Mapping[str, Fraction]
    verdict: Verdict


def best(case: Case, upper: float) -> tuple[Attained | None, list[str]]:
    """The instance with the largest metric among those that satisfy what is given, and why others do not count.

    upper: what the solver gave for the worst case.
    """
    found: Attained | None = None
    why: list[str] = []
    for problem in _problems(case, upper):
        try:
            own = _run(case, _scaled(case, problem))
        except BoundcheckError as error:
            why.append(str(error))
            continue
        if isinstance(own, str):
            why.append(own)
        elif found is None or own.value > found.value:
            found = own
    return found, list(dict.fromkeys(why))


def _problems(case: Case, upper: float) -> Iterator[Mapping[str, Any]]:
    near = attaining(case.programme, upper)
    yield from () if near is None else candidates(case, *near)
    if case.curvature.lower is not None and case.curvature.lower < 0:
        smaller = Case(case.statement, case.given, case.sizes, case.rounds, case.spec, convex=True)
        value = floating(smaller.programme)
        near = None if value is None else attaining(smaller.programme, value)
        yield from () if near is None else candidates(smaller, *near)


def candidates(case: Case, gram: Floats, values: Floats) -> Iterator[Mapping[str, Any]]:
    """Specifications of problems."""
    eigenvalues, vectors = np.linalg.eigh(gram)
    if not np.isfinite(eigenvalues).all() or eigenvalues[-1] <= 0:
        return
    directions = [k for k in range(len(eigenvalues)) if eigenvalues[k] > SMALL * eigenvalues[-1]][-DIRECTIONS:]
    factor = vectors[:, directions] * np.sqrt(eigenvalues[directions])
    line = _on_line(case, factor[:, -1], values)
    if line is not None:
        yield line
    yield _quadratics(case, factor)
    yield from _constant_curvature(case)


def _scaled(case: Case, problem: Mapping[str, Any]) -> Mapping[str, Any]:
    """The problem with f(x) replaced by s^2 f(x/s), so that its first constant of the start is as given.

    All constants of the start scale with s^2, and curvatures stay.
    """
    built = build_problem(problem)
    symbol = next((s for s in case.statement.symbols if s.key in STARTS and s.name in case.values), None)
    own = None if symbol is None else built.constants().get(name_of(symbol.key))
    if symbol is None or own is None or own.value <= 0 or case.values[symbol.name] <= 0:
        return problem
    ratio = case.values[symbol.name] / own.value
    factor = Fraction(math.isqrt(int(ratio * GRID**4)), GRID**2)
    return _times(problem, factor)


def _times(given: Any, factor: Fraction, name: str = "") -> Any:
    """A specification with points and slopes times a factor."""
    if isinstance(given, Mapping):
        return {key: _times(value, factor, key) for key, value in given.items()}
    if isinstance(given, list):
        return [_times(value, factor, name) for value in given]
    scaled = name in ("start", "knots", "slopes", "b") and isinstance(given, str)
    return format_exact(Fraction(given) * factor) if scaled else given


def _run(case: Case, problem: Mapping[str, Any]) -> Attained | str:
    """What the ordinary reader makes of it; or why it does not count."""
    statement = case.statement
    index = statement.metric.index
    at = {} if index is None else {index: [format_exact(case.index)]}
    spec = dict(case.method_spec)
    free = {s.name: format_exact(case.values[s.name]) for s in statement.symbols
            if s.name in case.values and not s.key and s.name != index}  # fmt: skip
    result = run_claim(Claim(statement, problem, spec, at=at, constants=free))
    if not result.metric_low or result.verdict.outcome in (Outcome.FAILED, Outcome.OUT_OF_SCOPE):
        return f"a rebuilt instance does not count: {result.verdict.reason}"
    constants = {name: Fraction(c["value"]) for name, c in result.verdict.details.get("constants", {}).items()}
    broken = _beyond(case, constants)
    return broken or Attained(result.metric_low[-1], problem, spec, at, constants, result.verdict)


def _beyond(case: Case, constants: Mapping[str, Fraction]) -> str:
    """The first constant of an instance that is not within what is given, in a sentence."""
    for symbol in case.statement.symbols:
        value = constants.get(symbol.name)
        if value is None or symbol.name not in case.values or not symbol.key or symbol.key.startswith("method/"):
            continue
        given = case.values[symbol.name]
        sign = -1 if symbol.key in ("objective/mu", "samples/mu") else 1
        beyond = sign * (value - given) / (abs(given) or 1)
        if symbol.key in STARTS:
            beyond = abs(beyond) - NEAR
        if beyond > ROUNDING:
            text = f"{symbol.name} = {format_short(value, 7)} where {format_short(given, 7)} is given"
            return f"a rebuilt instance does not count: it has {text}"
    return ""


# --- on the line ----------------------------------------------------------------------------------------------------


def _on_line(case: Case, direction: Floats, values: Floats) -> Mapping[str, Any] | None:
    """Functions by pieces through the answers."""
    mu, smooth = case.curvature.lower, case.curvature.L
    if mu is None or smooth is None:
        return None
    unit = Fraction(2) ** math.floor(math.log2(max(float(np.abs(direction).max()), 1e-300)))
    clients: list[list[Slope]] = []
    for i, size in enumerate(case.sizes):
        own: list[Slope] = []
        for j in range(size):
            points: dict[Fraction, tuple[Fraction, float]] = {}
            for a in case.answers.answers[i, j]:
                x, g = (_rounded(_along(row, direction), unit) for row in (a.point, a.gradient))
                points[x] = (g, sum(float(c) * values[k] for k, c in a.value.lin.items()))
            own.append(_through(points, mu, smooth, unit))
        clients.append(own)
    whole = mixed(
        (w, mixed((Fraction(1, len(own)), s) for s in own))
        for w, own in zip(case.answers.weights, clients, strict=True)
    )
    if not whole.minima:
        return None
    start = _rounded(_along(case.start, direction), unit)
    return {
        "kind": "piecewise_quadratics",
        "start": format_exact(start),
        "clients": [_client(own) for own in clients],
    }


def _client(slopes: Sequence[Slope]) -> Mapping[str, Any]:
    each = [
        {
            "knots": [format_exact(v) for v in s.knots],
            "slopes": [format_exact(v) for v in s.values],
            "beyond": [format_exact(v) for v in s.beyond],
        }
        for s in slopes
    ]
    return each[0] if len(each) == 1 else {"samples": each}


def _along(row: Row, direction: Floats) -> float:
    return sum(float(c) * float(direction[k]) for k, c in row.items())


def _rounded(value: float, unit: Fraction) -> Fraction:
    return round(Fraction(value) / unit * GRID) * unit / GRID


def _through(
    points: Mapping[Fraction, tuple[Fraction, float]], mu: Fraction, smooth: Fraction, unit: Fraction
) -> Slope:
    """The slope through answers: between two of them curvature mu, then L, then mu, where the area asks for it."""
    order = sorted(points)
    knots, slopes = [order[0]], [points[order[0]][0]]
    for x, y in pairwise(order):
        begin = slopes[-1]
        end = min(max(points[y][0], begin + mu * (y - x)), begin + smooth * (y - x))
        width = (end - begin - mu * (y - x)) / (smooth - mu)
        more = points[y][1] - points[x][1] - float(begin * (y - x) + mu * (y - x) ** 2 / 2)
        if width > 0:
            rise = float(smooth - mu) * float(width)
            place = float(y) - float(width) / 2 - more / rise if rise else float(x)
            first = min(max(_rounded(place, unit), x), y - width)
            for knot, slope in ((first, begin + mu * (first - x)), (first + width, end - mu * (y - first - width))):
                if knots[-1] < knot < y:
                    knots.append(knot)
                    slopes.append(slope)
        knots.append(y)
        slopes.append(end)
    for side in (0, -1):  # beyond its outermost answers a function goes down to a least value, as soon as it may
        if slopes[side] * (1 if side else -1) < 0:
            knot = knots[side] - slopes[side] / smooth
            knots.insert(0 if side == 0 else len(knots), knot)
            slopes.insert(0 if side == 0 else len(slopes), Fraction(0))
    outer = max(mu, Fraction(0))
    return Slope(tuple(knots), tuple(slopes), (outer, outer))


# --- quadratics -----------------------------------------------------------------------------------------------------


def _quadratics(case: Case, factor: Floats) -> Mapping[str, Any]:
    """A quadratic for every function: least squares through its answers, curvatures within the class."""
    scale = float(np.abs(factor).max())
    unit = Fraction(2) ** math.floor(math.log2(scale))
    low, high = case.curvature.lower, case.curvature.L
    clients: list[Any] = []
    for i, size in enumerate(case.sizes):
        own = [_quadratic(case, factor, (i, j), unit, low, high) for j in range(size)]
        clients.append(own[0] if size == 1 else {"samples": own})
    start = [format_exact(_rounded(v, unit)) for v in _place(case.start, factor)]
    return {"kind": "quadratics", "clients": clients, "start": start}


def _place(row: Row, factor: Floats) -> Floats:
    found = np.zeros(factor.shape[1])
    for k, c in row.items():
        found += float(c) * factor[k]
    return found


def _quadratic(
    case: Case, factor: Floats, cell: tuple[int, int], unit: Fraction, low: Fraction | None, high: Fraction | None
) -> Mapping[str, Any]:
    answers = case.answers.answers[cell]
    x = np.array([_place(a.point, factor) for a in answers])
    g = np.array([_place(a.gradient, factor) for a in answers])
    steps, slopes = x[1:] - x[0], g[1:] - g[0]
    d = factor.shape[1]
    if len(steps):
        found = np.linalg.lstsq(steps, slopes, rcond=1e-9)[0]
        found = (found + found.T) / 2
    else:
        found = np.zeros((d, d))
    eigenvalues, vectors = np.linalg.eigh(found)
    ends = (-np.inf if low is None else float(low), np.inf if high is None else float(high))
    inside = np.clip(eigenvalues, *ends)
    if np.isfinite(ends).all():
        middle = (ends[0] + ends[1]) / 2
        inside = middle + (inside - middle) * (1 - 1e-8)
    matrix = (vectors * inside) @ vectors.T
    A = [[Fraction(round(float(v) * GRID), GRID) for v in row] for row in (matrix + matrix.T) / 2]
    b = [_rounded(-v, unit) for v in g[0] - matrix @ x[0]]
    return {"A": [[format_exact(v) for v in row] for row in A], "b": [format_exact(v) for v in b]}


def _constant_curvature(case: Case) -> Iterator[Mapping[str, Any]]:
    """One quadratic for all: of the least or the largest curvature, or of that which the start asks for."""
    known, curvature = case.by_key, case.curvature
    found = [h for h in (curvature.L, curvature.mu) if h]
    if {"start/gap", "start/grad2"} <= {*known} and known["start/gap"]:
        found.append(known["start/grad2"] / (2 * known["start/gap"]))
    for h in dict.fromkeys(found):
        if curvature.L is None or (curvature.mu or 0) <= h <= curvature.L:
            one = {"A": [[format_exact(h)]], "b": ["0"]}
            clients = [one if size == 1 else {"samples": [one] * size} for size in case.sizes]
            yield {"kind": "quadratics", "clients": clients, "start": ["1"]}
