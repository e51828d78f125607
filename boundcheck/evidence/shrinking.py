"""A violation that the search on clients with samples found in double precision, brought to short fractions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.core.numbers import format_exact, parse_number, simplest_between
from boundcheck.errors import BoundcheckError
from boundcheck.evidence.claim import Claim, ClaimResult, run_claim
from boundcheck.evidence.witness import Witness
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Grade, Outcome

if TYPE_CHECKING:
    from boundcheck.evidence.shuffled import Samples

__all__ = ["GRIDS", "Shrinking", "shorter"]

GRIDS = (1, 2, 4, 8, 10, 16, 32, 64, 100, 1000, 10**4)


@dataclass(frozen=True)
class _Exact:
    """One instance in fractions; A row by row, b of all samples but the last; index None: the statement has none."""

    A: tuple[tuple[Fraction, ...], ...]
    b: tuple[tuple[Fraction, ...], ...]
    start: tuple[Fraction, ...]
    E: int
    eta_g: Fraction
    step: str
    index: int | None


class Shrinking:
    """One instance found in double precision, brought to short fractions as far as it stays a violation."""

    def __init__(self, statement: Statement, step: str, found: Samples) -> None:
        self.statement, self.step, self.found = statement, step, found
        self.sizes = found.shape.sizes

    def problem(self, exact: _Exact) -> dict[str, Any]:
        """The specification."""
        last = tuple(-sum(column, Fraction(0)) for column in zip(*exact.b, strict=True))
        last = last or (Fraction(0),) * len(exact.start)
        A = [[format_exact(v) for v in row] for row in exact.A]
        parts = [{"A": A, "b": [format_exact(v) for v in b]} for b in (*exact.b, last)]
        ends = list(itertools.accumulate(self.sizes))
        clients = [{"components": parts[e - s : e]} for s, e in zip(self.sizes, ends, strict=True)]
        weights = [format_exact(Fraction(s, ends[-1])) for s in self.sizes]
        return {
            "kind": "quadratics",
            "clients": clients,
            "weights": weights,
            "start": [*map(format_exact, exact.start)],
        }

    def claim(self, exact: _Exact) -> Claim:
        """The claim that is violated."""
        method = {"kind": "fedshuffle", "E": exact.E, "eta_g": format_exact(exact.eta_g), self.step: exact.step}
        at = {} if exact.index is None else {str(self.statement.metric.index): [exact.index]}
        return Claim(self.statement.best_id, self.problem(exact), method, at=at)

    def check(self, exact: _Exact) -> ClaimResult | None:
        """The result where it is a violation in exact arithmetic."""
        try:
            result = run_claim(self.claim(exact), claimed=self.statement)
        except BoundcheckError:
            return None
        verdict = result.verdict
        return result if verdict.outcome is Outcome.VIOLATED and verdict.grade is Grade.EXACT else None

    def witness(self, violating: list[int], provenance: Mapping[str, Any]) -> Witness | None:
        """The shrunk witness."""
        exact = self._coarsest(violating)
        if exact is None:
            return None
        for change in self._changes():
            for candidate in change(exact):
                if self.check(candidate) is not None:
                    exact = candidate
                    break
        found = self.check(exact)
        if found is None:
            return None
        claim = self.claim(exact)
        verdict = replace(found.verdict, details={})
        return Witness(claim.statement, claim.problem, claim.method, claim.at, verdict, dict(provenance))

    def _coarsest(self, violating: list[int]) -> _Exact | None:
        A, b, start = self.found.A[0], self.found.b[0], self.found.start[0]
        unit = 2.0 ** np.round(np.log2(np.abs(A).max()))
        size = 2.0 ** np.round(np.log2(max(np.abs(b).max(), 1e-30)))
        share = float(self.found.edge[0])
        for parts in GRIDS:

            def near(x: float, unit: float, parts: int = parts) -> Fraction:
                return Fraction(round(x / unit * parts), parts) * Fraction(unit)

            candidate = _Exact(
                tuple(tuple(near(v, unit) for v in row) for row in (A + A.T) / 2),
                tuple(tuple(near(v, size) for v in row) for row in b[:-1]),
                tuple(near(v, 1.0, max(parts, 4)) for v in start),
                self.found.shape.E,
                self.found.shape.eta_g,
                "largest" if share > 1 - 1e-6 else f"{Fraction(share).limit_denominator(10**6)}*largest",
                None if self.statement.metric.index is None else violating[-1],
            )
            if self.check(candidate) is not None:
                return candidate
        return None

    def _changes(self) -> list[Callable[[_Exact], list[_Exact]]]:
        """Simplifications in turn; each gives candidates, the plainest first, of which the first violation is kept."""
        changes: list[Callable[[_Exact], list[_Exact]]] = [
            lambda e: [replace(e, E=k) for k in range(1, e.E)],
            lambda e: [replace(e, eta_g=Fraction(1))] if e.eta_g != 1 else [],
            lambda e: [replace(e, start=(Fraction(0),) * len(e.start))] if any(e.start) else [],
            lambda e: [] if e.index is None else [replace(e, index=k) for k in range(1, min(e.index, 9))],
            self._short_steps,
        ]
        d, total = self.found.shape.dim, sum(self.sizes)
        for j, i in itertools.product(range(total - 1), range(d)):
            changes.append(lambda e, j=j, i=i: [replace(e, b=_with(e.b, j, i, v)) for v in shorter(e.b[j][i])])
        for i in range(d):
            changes.append(lambda e, i=i: [replace(e, A=_with(e.A, i, i, v)) for v in shorter(e.A[i][i])])
            changes.append(
                lambda e, i=i: [replace(e, start=_with((e.start,), 0, i, v)[0]) for v in shorter(e.start[i])]
            )
        if d == 2:
            changes.append(lambda e: [replace(e, A=_with(_with(e.A, 0, 1, v), 1, 0, v)) for v in shorter(e.A[0][1])])
        return changes

    def _short_steps(self, exact: _Exact) -> list[_Exact]:
        found = self.check(exact)
        if found is None:
            return []
        top = parse_number(str(found.method[self.step]), self.step, max_text=100_000)
        slacks = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 10), Fraction(1, 100), Fraction(1, 10**4))
        return [replace(exact, step=format_exact(simplest_between(top * (1 - s), top))) for s in slacks]


def _with(rows: tuple[tuple[Fraction, ...], ...], j: int, i: int, value: Fraction) -> tuple[tuple[Fraction, ...], ...]:
    changed = [list(row) for row in rows]
    changed[j][i] = value
    return tuple(tuple(row) for row in changed)


def shorter(value: Fraction) -> list[Fraction]:
    """0 and shorter fractions near the value."""
    if value == 0:
        return []
    near = [simplest_between(*sorted((value * (1 - s), value * (1 + s)))) for s in (Fraction(1, 4), Fraction(1, 20))]
    return [v for v in (Fraction(0), *near) if len(format_exact(v)) < len(format_exact(value))]
