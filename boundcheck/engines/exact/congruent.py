"""Many rounds of second moments where no covariance depends on the state: M <- T M T' + C, C times M[-1, -1] = 1.

Such maps compose as pairs (T, C) of (D, D) matrices instead of operators on D(D+1)/2 packed moments. With rounds
r = a B + b, b < B, a metric trace(Q M) at r is <T_b' Q T_b, M_aB> + <Q, C_b>, (T_b, C_b) the first b rounds of B; so
that all rounds up to R take about sqrt(R) moments, sqrt(R) forms, and one product of the table of the one with that
of the other. Nothing is left out or taken to have settled, in any arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.engines.exact.budget import seconds_of
from boundcheck.engines.exact.rings import Matrix, Ring, after_steps, picked

_ZERO = Fraction(0)
_FEW = 4  # this many applications of a map are cheaper than composing it with itself
Forms = Sequence[Mapping[str, Matrix]]


@dataclass(frozen=True)
class Congruence:
    """M -> T M T' + C; constant: C, or None for 0."""

    ring: Ring
    linear: Matrix
    constant: Matrix | None = None

    def apply(self, moment: Matrix) -> Matrix:
        """The image of one second moment."""
        ring = self.ring
        moved = ring.mul(ring.mul(self.linear, moment), self.linear.transpose())
        return moved if self.constant is None else moved + self.constant

    def then(self, after: Congruence) -> Congruence:
        """This map and then the other."""
        constant = after.constant if self.constant is None else after.apply(self.constant)
        return Congruence(self.ring, self.ring.mul(after.linear, self.linear), constant)


@dataclass(frozen=True)
class _Split:
    """Rounds r = a B + b with B = period * 2^doublings; products: of matrices, about."""

    doublings: int
    products: float


def _split(period: int, grid: Sequence[int], metrics: int) -> _Split:
    """The B for which the rounds of a grid take the fewest matrix products."""
    rounds = np.array(grid, dtype=object if grid[-1] >= 2**62 else np.int64)
    levels = max(int(grid[-1] // period).bit_length(), 1)
    distinct: list[int] = []
    for j in range(levels):
        begun = rounds // (period << j)
        distinct.append(int((begun[1:] != begun[:-1]).sum()) + 1)
    best: _Split | None = None
    for s in range(levels):
        moments = sum(distinct[s:]) + 3 * (levels - s)  # at every level a map for half of them, and one squaring
        longest = min(period << s, grid[-1] + 1)
        forms = longest * (3 + 2 * metrics) + 3 * s
        if best is None or moments + forms < best.products:
            best = _Split(s, moments + forms)
    assert best is not None
    return best


def cheaper(ring: Ring, size: int, period: int, grid: Sequence[int], metrics: int) -> bool:
    """Whether this takes less time than operators on the packed moments of a state of `size` coordinates."""
    one, multiplication = seconds_of(ring)
    packed, last = size * (size + 1) // 2, grid[-1]
    squarings = period + max(last.bit_length() - packed.bit_length(), 0)
    operators = squarings * packed**3 + 2 * len(grid) * packed**2
    table = len(grid) * packed
    return _split(period, grid, metrics).products * (one + size**3 * multiplication) + table * multiplication < (
        operators * multiplication
    )


def trajectory(
    maps: Sequence[Congruence],
    start: Matrix,
    grid: Sequence[int],
    forms: Forms,
    progress: Callable[[float], None],
) -> dict[str, list[Any]]:
    """The metrics at each round of the grid.

    maps: of the rounds of one period. start: M before round 0 (D, D). forms: for each round of a period, metric -> Q.
    """
    ring, period = maps[0].ring, len(maps)
    block = period << _split(period, grid, len(forms[0])).doublings
    places = [divmod(r, block) for r in grid]
    offsets = sorted({b for _, b in places})
    whole = maps[0]
    for m in maps[1:]:
        whole = whole.then(m)
    for _ in range((block // period).bit_length() - 1):
        whole = whole.then(whole)
    blocks = sorted({a for a, _ in places})
    moments = after_steps(whole, start, blocks, _FEW, lambda m: m.then(m), lambda m, own: [m.apply(v) for v in own])
    progress(0.5)
    rows: dict[str, list[Matrix]] = {name: [] for name in forms[0]}
    added: dict[str, list[Any]] = {name: [] for name in forms[0]}
    wanted, now = set(offsets), None
    for b in range(offsets[-1] + 1):
        if b in wanted:
            for name, q in forms[b % period].items():
                row, more = _form(ring, q, now)
                rows[name].append(row)
                added[name].append(more)
        now = maps[b % period] if now is None else now.then(maps[b % period])
    progress(0.8)
    return _table(ring, moments, offsets, rows, added, places)


def in_parts(
    maps: Sequence[Congruence],
    start: Matrix,
    grid: Sequence[int],
    forms: Forms,
    parts: Sequence[Sequence[int]],
    progress: Callable[[float], None],
) -> dict[str, list[Any]]:
    """`trajectory` for each group of coordinates, where T, C and M are 0 between groups: the metrics add up."""
    ring = maps[0].ring
    found: dict[str, list[Any]] = {}
    for number, part in enumerate(parts):
        cut = [{name: _within(ring, q, part) for name, q in own.items()} for own in forms]
        wanted = [name for name in forms[0] if not all(ring.vanishes(own[name]) for own in cut)]
        if wanted:
            own_maps = [Congruence(ring, _within(ring, m.linear, part), _constant(m, part)) for m in maps]
            chosen = [{name: own[name] for name in wanted} for own in cut]
            values = trajectory(own_maps, _within(ring, start, part), grid, chosen, lambda _: None)
            for name, column in values.items():
                before = found.get(name)
                found[name] = column if before is None else [a + b for a, b in zip(before, column, strict=True)]
        progress((number + 1) / len(parts))
    return {name: found.get(name, [ring.scalar(_ZERO)] * len(grid)) for name in forms[0]}


def _within(ring: Ring, m: Matrix, part: Sequence[int]) -> Matrix:
    """The rows and columns of a group of coordinates."""
    if len(part) == ring.shape(m)[0]:
        return m
    return picked(ring, m, part, part)


def _constant(m: Congruence, part: Sequence[int]) -> Matrix | None:
    return None if m.constant is None else _within(m.ring, m.constant, part)


def _form(ring: Ring, q: Matrix, done: Congruence | None) -> tuple[Matrix, Any]:
    """The packed row of T'QT and <Q, C>, for a map that was done first (None: none)."""
    if done is None:
        return ring.rows(ring.weights(q))[0], ring.scalar(_ZERO)
    moved = ring.mul(ring.mul(done.linear.transpose(), q), done.linear)
    more = ring.scalar(_ZERO) if done.constant is None else ring.dot(q.transpose(), done.constant)
    return ring.rows(ring.weights(moved))[0], more


def _table(
    ring: Ring,
    moments: Mapping[int, Matrix],
    offsets: Sequence[int],
    rows: Mapping[str, Sequence[Matrix]],
    added: Mapping[str, Sequence[Any]],
    places: Sequence[tuple[int, int]],
) -> dict[str, list[Any]]:
    """The values at (a, b): row of b times moment of a, plus what was added since."""
    at = {b: k for k, b in enumerate(offsets)}
    packed = {a: ring.rows(ring.pack(m).transpose())[0] for a, m in moments.items()}
    found: dict[str, list[Any]] = {name: [] for name in rows}
    names = list(rows)
    if 2 * len(places) < len(packed) * len(offsets):
        for name in names:
            left = ring.from_rows([rows[name][at[b]] for _, b in places])
            right = ring.from_rows([packed[a] for a, _ in places])
            values = ring.row_dots(left, right)
            found[name] = [v + added[name][at[b]] for v, (_, b) in zip(values, places, strict=True)]
        return found
    column = {a: k for k, a in enumerate(packed)}
    right = ring.from_rows(list(packed.values())).transpose()
    for name in names:
        table = ring.rows(ring.mul(ring.from_rows(rows[name]), right))
        found[name] = [table[at[b]][column[a]] + added[name][at[b]] for a, b in places]
    return found
