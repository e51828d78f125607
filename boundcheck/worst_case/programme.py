"""The semidefinite programme of a worst case, and its certified upper value.

maximise `objective` over Gram matrices G >= 0 and values v with every inequality. A floating solver proposes
multipliers; they are rounded to fractions, the equations that they must satisfy are solved exactly, and the matrix that
must be positive semidefinite is factored exactly. What comes out is an upper value for certain, or none.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.worst_case.classes import Inequality
from boundcheck.worst_case.forms import ZERO, Form, number

MARGINS = (3e-9, 3e-8, 3e-7, 3e-6)  # of the matrix above 0, relative to the units of rows
LEVEL = 1e-7  # by which an instance may stay below the value, relative to it
BITS = 44  # of rounded multipliers
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Programme:
    """maximise objective; see the module. units: of each basis vector, and of values, in powers of two.

    rows, values: how many basis vectors and values there are.
    """

    objective: Form
    inequalities: Sequence[Inequality]
    rows: int
    values: int
    unit_rows: Sequence[Fraction]
    unit_value: Fraction


@dataclass(frozen=True)
class Certified:
    """An upper value, and the multipliers with which sum of multiplier times form - objective + upper is a square.

    floating: what the solver gave for the objective.
    """

    upper: Fraction
    multipliers: Sequence[Fraction]
    floating: float


def solve(programme: Programme) -> Certified | str:
    """The certified upper value, or why there is none."""
    own = _Conic(programme)
    why = "the solver found no multipliers"
    for margin in MARGINS:
        found = own.solve(margin)
        if isinstance(found, str):
            why = found
            continue
        _, _, floating, raw = found
        rounded = _rounded(programme, raw)
        if rounded is not None and positive_semidefinite(slack(programme, rounded), programme.rows):
            upper = -sum((m * q.form.const for m, q in zip(rounded, programme.inequalities, strict=True) if m), ZERO)
            return Certified(upper + programme.objective.const, rounded, floating)
        why = "the solver's multipliers are not exact enough to be rounded to fractions that prove a value"
    return why


def floating(programme: Programme) -> float | None:
    """What the solver gives for the worst case, which proves nothing; None where it gives nothing."""
    found = _Conic(programme).solve(MARGINS[0])
    return None if isinstance(found, str) else found[2]


def attaining(programme: Programme, value: float) -> tuple[Floats, Floats] | None:
    """A Gram matrix and values whose objective is near `value`, of few directions: the trace is least, in units."""
    level = Fraction(value - LEVEL * max(abs(value), 1e-300)) - programme.objective.const
    above = Inequality(("level",), number(level) - replace(programme.objective, const=ZERO))
    trace = Form({(k, k): -1 / (unit * unit) for k, unit in enumerate(programme.unit_rows)})
    found = _Conic(replace(programme, objective=trace, inequalities=[*programme.inequalities, above])).solve(0.0)
    return None if isinstance(found, str) else found[:2]


def slack(programme: Programme, multipliers: Sequence[Fraction]) -> dict[tuple[int, int], Fraction]:
    """sum of multiplier times quad less the objective's, which must be positive semidefinite."""
    found = {pair: -c for pair, c in programme.objective.quad.items()}
    for m, q in zip(multipliers, programme.inequalities, strict=True):
        if m:
            for pair, c in q.form.quad.items():
                found[pair] = found.get(pair, ZERO) + m * c
    return found


def positive_semidefinite(quad: dict[tuple[int, int], Fraction], rows: int) -> bool:
    """Whether sum of quad[a, b] G[a, b] >= 0 for all G >= 0: elimination in integers (Bareiss), pivots at least 0."""
    from math import lcm

    scale = lcm(*(c.denominator for c in quad.values())) if quad else 1
    own = [[0] * rows for _ in range(rows)]
    for (a, b), c in quad.items():
        value = int(c * scale)
        if a == b:
            own[a][a] += 2 * value
        else:
            own[a][b] += value
            own[b][a] += value
    before = 1
    left = list(range(rows))
    while left:
        pivot = next((k for k in left if own[k][k] > 0), None)
        if pivot is None:
            return all(own[a][b] == 0 for a in left for b in left)
        if any(own[k][k] < 0 for k in left):
            return False
        left.remove(pivot)
        top, p = own[pivot], own[pivot][pivot]
        for a in left:
            factor, line = own[a][pivot], own[a]
            for b in left:
                line[b] = (p * line[b] - factor * top[b]) // before
        before = p
    return True


# --- the floating side ----------------------------------------------------------------------------------------------


class _Conic:
    """The programme as matrices for Clarabel, in units in which entries are about 1."""

    def __init__(self, programme: Programme) -> None:
        from scipy.sparse import csc_matrix

        self._programme, n = programme, programme.rows
        self._triangle = n * (n + 1) // 2
        width = self._triangle + programme.values
        units = np.array([float(u) for u in programme.unit_rows])
        self._scale = np.empty(width)
        self._place: dict[tuple[int, int], int] = {}
        for b in range(n):
            for a in range(b + 1):
                k = b * (b + 1) // 2 + a
                self._place[a, b] = k
                self._scale[k] = units[a] * units[b] * (1 if a == b else np.sqrt(0.5))
        self._scale[self._triangle :] = float(programme.unit_value)
        lines = [self._line(q.form) for q in programme.inequalities]
        sizes = np.array([max(np.abs(v).max(initial=0.0), abs(float(q.form.const)), 1e-300) for (_, v), q in
                          zip(lines, programme.inequalities, strict=True)])  # fmt: skip
        self._sizes = sizes
        order = sorted(range(len(lines)), key=lambda k: not programme.inequalities[k].equal)
        self._order, self._equal = order, sum(q.equal for q in programme.inequalities)
        index, column, entry, right = [], [], [], []
        for r, k in enumerate(order):
            places, numbers = lines[k]
            index += [r] * len(places)
            column += list(places)
            entry += list(numbers / sizes[k])
            right.append(-float(programme.inequalities[k].form.const) / sizes[k])
        index += range(len(order), len(order) + self._triangle)
        column += range(self._triangle)
        entry += [-1.0] * self._triangle
        right += [0.0] * self._triangle
        self._A = csc_matrix((entry, (index, column)), shape=(len(right), width))
        self._b = np.array(right)
        self._q = np.zeros(width)
        places, numbers = self._line(programme.objective)
        self._goal = max(np.abs(numbers).max(initial=0.0), 1e-300)
        np.add.at(self._q, list(places), -numbers / self._goal)

    def _line(self, form: Form) -> tuple[list[int], Floats]:
        places = [self._place[pair] for pair in form.quad] + [self._triangle + k for k in form.lin]
        numbers = np.array([float(c) for c in (*form.quad.values(), *form.lin.values())])
        return places, numbers * self._scale[places]

    def solve(self, margin: float) -> tuple[Floats, Floats, float, list[float]] | str:
        """Gram matrix, values, objective and multipliers; or why there are none."""
        from scipy.sparse import csc_matrix

        clarabel: Any = import_module("clarabel")
        n, count = self._programme.rows, len(self._order)
        q = self._q.copy()
        for a in range(n):
            q[self._place[a, a]] -= margin
        cones: list[Any] = [clarabel.ZeroConeT(self._equal)] if self._equal else []
        if count > self._equal:
            cones.append(clarabel.NonnegativeConeT(count - self._equal))
        cones.append(clarabel.PSDTriangleConeT(n))
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_iter = False, 200
        settings.tol_gap_abs = settings.tol_gap_rel = min(1e-9, margin / 3 or 1e-9)
        settings.tol_feas = min(1e-10, margin / 10 or 1e-10)
        width = len(q)
        solution = clarabel.DefaultSolver(csc_matrix((width, width)), q, self._A, self._b, cones, settings).solve()
        status = str(solution.status)
        if "Infeasible" in status:
            return (
                "the worst case has no bound: the class and what is given of the start leave the metric free"
                if "Dual" in status
                else "no instance satisfies what is given: the numbers contradict the class"
            )
        y, z = np.array(solution.x) * self._scale, np.array(solution.z)
        gram = np.zeros((n, n))
        for (a, b), k in self._place.items():
            gram[a, b] = gram[b, a] = y[k] * (1 if a == b else 1.0)
        raw = [0.0] * count
        for r, k in enumerate(self._order):
            raw[k] = z[r] * self._goal / self._sizes[k]
        floating = float(-(self._q @ np.array(solution.x)) * self._goal + float(self._programme.objective.const))
        return gram, y[self._triangle :], floating, raw


# --- the exact side -------------------------------------------------------------------------------------------------


def _rounded(programme: Programme, raw: Sequence[float]) -> list[Fraction] | None:
    """Fractions near the multipliers, at least 0, with which all values cancel exactly."""
    inequalities = programme.inequalities
    largest = max((abs(v) for v in raw), default=0.0)
    if not np.isfinite(largest):
        return None
    found: list[Fraction] = []
    for value, q in zip(raw, inequalities, strict=True):
        own = _near(value)
        found.append(own if q.equal or own > 0 else ZERO)
    left = dict(programme.objective.lin)
    for m, q in zip(found, inequalities, strict=True):
        if m:
            for k, c in q.form.lin.items():
                left[k] = left.get(k, ZERO) - m * c
    left = {k: c for k, c in left.items() if c}
    if not left:
        return found
    order = sorted(range(len(raw)), key=lambda k: -abs(raw[k]))
    change = _solved([(k, inequalities[k].form.lin) for k in order if inequalities[k].form.lin], left)
    if change is None:
        return None
    for k, c in change.items():
        found[k] += c
        if found[k] < 0 and not inequalities[k].equal:
            return None
    return found


def _near(value: float) -> Fraction:
    if value == 0:
        return ZERO
    exponent = int(np.floor(np.log2(abs(value))))
    unit = Fraction(2) ** (max(exponent, -20) - BITS)
    return round(Fraction(value) / unit) * unit


def _solved(columns: Sequence[tuple[int, Any]], right: dict[int, Fraction]) -> dict[int, Fraction] | None:
    """Numbers with sum of numbers times columns = right, of the first columns that are independent; or None."""
    basis: list[tuple[int, int, dict[int, Fraction], dict[int, Fraction]]] = []  # pivot, column, reduced, in columns
    places: dict[int, int] = {}

    def reduce(line: dict[int, Fraction], made: dict[int, Fraction]) -> None:
        for k in itertools.count():
            if k >= len(basis):
                return
            pivot, _, own, of = basis[k]
            c = line.get(pivot)
            if c:
                for p, v in own.items():
                    line[p] = line.get(p, ZERO) - c * v
                    if not line[p]:
                        del line[p]
                for p, v in of.items():
                    made[p] = made.get(p, ZERO) - c * v

    rest, made = dict(right), dict[int, Fraction]()
    for k, lin in columns:
        line, own = dict(lin), {k: Fraction(1)}
        reduce(line, own)
        if not line:
            continue
        pivot = next(iter(line))
        c = line[pivot]
        basis.append((pivot, k, {p: v / c for p, v in line.items()}, {p: v / c for p, v in own.items()}))
        places[pivot] = len(basis) - 1
        c = rest.get(pivot)
        if c:
            for p, v in basis[-1][2].items():
                rest[p] = rest.get(p, ZERO) - c * v
                if not rest[p]:
                    del rest[p]
            for p, v in basis[-1][3].items():
                made[p] = made.get(p, ZERO) + c * v
        if not rest:
            return made
    return None
