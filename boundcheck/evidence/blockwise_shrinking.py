"""A violation that the search on averaged blocks found in double precision, brought to short fractions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.core.numbers import format_exact, parse_number, simplest_between
from boundcheck.errors import BoundcheckError
from boundcheck.evidence.claim import Claim, ClaimResult, run_claim
from boundcheck.evidence.shrinking import GRIDS, shorter
from boundcheck.evidence.witness import Witness, excess
from boundcheck.methods.parts.exchange import even_blocks
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Grade, Outcome

if TYPE_CHECKING:
    from boundcheck.evidence.blockwise import Workers

__all__ = ["BlockShrinking"]

VISIBLE = 0.25  # shrinking leaves the metric so far above the bound, or half as far as it was found
Row = tuple[Fraction, ...]
Table = tuple[Row, ...]


@dataclass(frozen=True)
class _Exact:
    """One instance in fractions: H = G G', row by row, where blocks are coupled or not; the noise vectors.

    noise: of all clients, or of one that stands for all. b: of all clients but the last. order: None for the natural
    one. step: a number or a share of the largest one in scope.
    """

    factor: Table
    a: Row
    b: Table
    noise: tuple[Table, ...]
    start: Row
    weights: Row
    partition: tuple[tuple[int, ...], ...]
    order: tuple[int, ...] | None
    step: str
    index: int

    def last_b(self) -> Row:
        """b of the last client, which makes the weighted sum 0."""
        columns = list(zip(*self.b, strict=True)) or [()] * len(self.start)
        sums = [sum((w * v for w, v in zip(self.weights, c, strict=False)), Fraction(0)) for c in columns]
        return tuple(-s / self.weights[-1] for s in sums)


class BlockShrinking:
    """One instance found in double precision, brought to short fractions as far as it stays a violation."""

    def __init__(self, statement: Statement, step: str, found: Workers) -> None:
        self.statement, self.step, self.found, self.shape = statement, step, found, found.shape
        self.kept = 0.0  # the least excess of metric over bound that shrinking leaves

    def problem(self, exact: _Exact) -> dict[str, Any]:
        """The specification."""
        d = len(exact.start)
        block = {k: j for j, own in enumerate(exact.partition) for k in own}

        def entry(p: int, q: int) -> Fraction:
            if not self.shape.coupled and block[p] != block[q]:
                return Fraction(0)
            return sum((x * y for x, y in zip(exact.factor[p], exact.factor[q], strict=True)), Fraction(0))

        H = [[entry(p, q) for q in range(d)] for p in range(d)]
        clients: list[dict[str, Any]] = []
        for i, (a, b) in enumerate(zip(exact.a, (*exact.b, exact.last_b()), strict=False)):
            A = [[format_exact(a * v) for v in row] for row in H]
            vectors = exact.noise[i % len(exact.noise)]
            signed = [b] if not any(map(any, vectors)) else [_moved(b, z, s) for z in vectors for s in (1, -1)]
            parts = [{"A": A, "b": [format_exact(v) for v in own]} for own in signed]
            clients.append(parts[0] if len(parts) == 1 else {"components": parts})
        return {
            "kind": "quadratics",
            "clients": clients,
            "weights": [*map(format_exact, exact.weights)],
            "start": [*map(format_exact, exact.start)],
        }

    def claim(self, exact: _Exact) -> Claim:
        """The claim that is violated."""
        method: dict[str, Any] = {"kind": "block_averaging", "tau": len(exact.partition)}
        if exact.partition != even_blocks(len(exact.start), len(exact.partition)):
            method["partition"] = [[*block] for block in exact.partition]
        if exact.order is not None:
            method["order"] = [*exact.order]
        if self.shape.data:
            method["weights"] = "data"
        method[self.step] = exact.step
        at = {str(self.statement.metric.index): [exact.index]}
        return Claim(self.statement.best_id, self.problem(exact), method, at=at)

    def check(self, exact: _Exact) -> ClaimResult | None:
        """The result where it is a violation in exact arithmetic, large enough to be seen."""
        try:
            result = run_claim(self.claim(exact), claimed=self.statement)
        except BoundcheckError:
            return None
        verdict = result.verdict
        sure = verdict.outcome is Outcome.VIOLATED and verdict.grade is Grade.EXACT
        return result if sure and _excess(result) >= self.kept else None

    def witness(self, violating: Mapping[int, float], provenance: Mapping[str, Any]) -> Witness | None:
        """The shrunk witness. violating: number of rounds -> log(metric/bound), in double precision."""
        self.kept = min(VISIBLE, math.expm1(min(1.0, max(violating.values()))) / 2)
        exact = self._coarsest(violating)
        if exact is None:
            return None
        exact = self._fewer(exact)
        for change in self._changes(exact):
            for candidate in change(exact):
                if self.check(candidate) is not None:
                    exact = candidate
                    break
        found = self.check(exact)
        if found is None:
            return None
        claim = self.claim(exact)
        verdict = replace(found.verdict, details={})
        method = {**claim.method, self.step: format_exact(_number(found.method[self.step]))}
        return Witness(claim.statement, claim.problem, method, claim.at, verdict, dict(provenance))

    def _coarsest(self, violating: Mapping[int, float]) -> _Exact | None:
        """The instance, in units of its largest curvature and gradient, on the coarsest grid that keeps it violated."""
        factor, b, noise, start = (v[0] for v in (self.found.factor, self.found.b, self.found.noise, self.found.start))
        share, unit = float(self.found.edge[0]), float(np.abs(factor).max())
        size = max(float(np.abs(v).max(initial=0.0)) for v in (b, noise, start * unit**2))
        size = size or 1.0
        noise = noise[:1] if self.shape.alike else noise
        for parts in GRIDS:

            def near(x: float, parts: int = parts) -> Fraction:
                return Fraction(round(x * parts), parts)

            def row(values: Any, near: Callable[[float], Fraction] = near) -> Row:
                return tuple(near(float(v)) for v in values)

            candidate = _Exact(
                tuple(row(v / unit) for v in factor),
                row(self.found.a[0]),
                tuple(row(v / size) for v in b[:-1]),
                tuple(tuple(row(z / size) for z in own) for own in noise),
                row(start * unit**2 / size),
                self.shape.weights,
                self.shape.partition,
                self.shape.order,
                "largest" if share > 1 - 1e-6 else f"{Fraction(share).limit_denominator(10**6)}*largest",
                max(violating, key=lambda k: violating[k]),
            )
            if self.check(candidate) is not None:
                return candidate
        return None

    def _fewer(self, exact: _Exact) -> _Exact:
        """Coordinates (and with them blocks) and clients left out one by one, as far as at least two of each stay."""
        for drop, count in ((_without_coordinate, len(exact.start)), (self._without_client, len(exact.weights))):
            for k in reversed(range(count)):
                smaller = drop(exact, k)
                if smaller is not None and self.check(smaller) is not None:
                    exact = smaller
        return exact

    def _without_client(self, exact: _Exact, k: int) -> _Exact | None:
        """The others keep their weights relative to each other; the last one's b is again what the others' leave."""
        m = len(exact.weights)
        if m <= 2:
            return None
        left = [i for i in range(m) if i != k]
        whole = sum((exact.weights[i] for i in left), Fraction(0))
        return replace(
            exact,
            weights=tuple(exact.weights[i] / whole for i in left),
            a=tuple(exact.a[i] for i in left),
            b=tuple([*exact.b, exact.last_b()][i] for i in left[:-1]),
            noise=exact.noise if self.shape.alike else tuple(exact.noise[i] for i in left),
        )

    def _changes(self, first: _Exact) -> list[Callable[[_Exact], list[_Exact]]]:
        """Simplifications in turn; each gives candidates, the plainest first, of which the first violation is kept."""
        d, rank, m = len(first.start), len(first.factor[0]), len(first.weights)
        changes: list[Callable[[_Exact], list[_Exact]]] = [
            lambda e: [replace(e, order=None)],
            lambda e: [replace(e, partition=even_blocks(d, len(e.partition)))],
            lambda e: [replace(e, start=(Fraction(0),) * d)] if any(e.start) else [],
            lambda e: [replace(e, a=(Fraction(1),) * m)] if set(e.a) != {1} else [],
            lambda e: [replace(e, b=((Fraction(0),) * d,) * (m - 1))] if any(map(any, e.b)) else [],
            lambda e: [replace(e, noise=tuple(own[:1] for own in e.noise))] if len(e.noise[0]) > 1 else [],
            lambda e: [replace(e, noise=((((Fraction(0),) * d,),) * len(e.noise)))],
            lambda e: [replace(e, index=2**k) for k in range(e.index.bit_length() - 1)],
            self._short_steps,
            lambda e: [replace(e, factor=tuple(row[:1] for row in e.factor))] if rank > 1 else [],
        ]
        for i, j in itertools.product(range(d), range(rank)):
            changes.append(
                lambda e, i=i, j=j: (
                    [replace(e, factor=_with(e.factor, i, j, v)) for v in _plainer(e.factor[i][j])]
                    if j < len(e.factor[i])
                    else []
                )
            )
        for c, s, i in itertools.product(range(len(first.noise)), range(len(first.noise[0])), range(d)):
            changes.append(
                lambda e, c=c, s=s, i=i: (
                    [
                        replace(e, noise=(*e.noise[:c], _with(e.noise[c], s, i, v), *e.noise[c + 1 :]))
                        for v in _plainer(e.noise[c][s][i])
                    ]
                    if s < len(e.noise[c])
                    else []
                )
            )
        for c, i in itertools.product(range(len(first.b)), range(d)):
            changes.append(lambda e, c=c, i=i: [replace(e, b=_with(e.b, c, i, v)) for v in _plainer(e.b[c][i])])
        for i in range(d):
            changes.append(
                lambda e, i=i: [replace(e, start=_with((e.start,), 0, i, v)[0]) for v in _plainer(e.start[i])]
            )
        changes += [
            lambda e, i=i: [replace(e, a=_with((e.a,), 0, i, v)[0]) for v in _plainer(e.a[i])] for i in range(m)
        ]
        return changes

    def _short_steps(self, exact: _Exact) -> list[_Exact]:
        found = self.check(exact)
        if found is None:
            return []
        top = _number(found.method[self.step])
        slacks = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 10), Fraction(1, 100), Fraction(1, 10**4))
        return [replace(exact, step=format_exact(simplest_between(top * (1 - s), top))) for s in slacks]


def _excess(result: ClaimResult | None) -> float:
    """`witness.excess`, where a bound of 0 is exceeded by as much as one likes."""
    tight = None if result is None else result.verdict.tightness
    return 1e9 if tight is not None and tight.ratio_min == 0 else excess(result)


def _number(step: Any) -> Fraction:
    return parse_number(str(step), "the step size", max_text=100_000)


def _moved(b: Row, z: Row, sign: int) -> Row:
    return tuple(v + sign * w for v, w in zip(b, z, strict=True))


def _with(rows: Table, j: int, i: int, value: Fraction) -> Table:
    changed = [list(row) for row in rows]
    changed[j][i] = value
    return tuple(map(tuple, changed))


def _without_coordinate(exact: _Exact, k: int) -> _Exact | None:
    """The instance without coordinate k, and without its block where that had no other."""
    if len(exact.start) <= 2:
        return None
    moved = [tuple(i - (i > k) for i in block if i != k) for block in exact.partition]
    gone = next((j for j, block in enumerate(moved) if not block), None)
    if gone is not None and len(moved) <= 2:
        return None
    order = exact.order
    if order is not None and gone is not None:
        order = tuple(j - (j > gone) for j in order if j != gone)

    def cut(row: Row) -> Row:
        return row[:k] + row[k + 1 :]

    return replace(
        exact,
        factor=exact.factor[:k] + exact.factor[k + 1 :],
        b=tuple(map(cut, exact.b)),
        noise=tuple(tuple(map(cut, own)) for own in exact.noise),
        start=cut(exact.start),
        partition=tuple(block for block in moved if block),
        order=order,
    )


def _plainer(value: Fraction) -> list[Fraction]:
    """0, 1 or -1, and shorter fractions near the value."""
    found = shorter(value)
    one = Fraction(1 if value > 0 else -1)
    return [*found[:1], one, *found[1:]] if value not in (0, one) else found
