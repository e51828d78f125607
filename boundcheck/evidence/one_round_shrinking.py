"""A violation that the search on one round of FedDANE found in double precision, brought to short fractions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.core.numbers import format_exact, simplest_between
from boundcheck.errors import BoundcheckError
from boundcheck.evidence.claim import Claim, ClaimResult, run_claim
from boundcheck.evidence.shrinking import shorter
from boundcheck.evidence.steps import TUNED
from boundcheck.evidence.witness import Witness
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Grade, Outcome

if TYPE_CHECKING:
    from boundcheck.evidence.one_round import Devices

__all__ = ["OneRoundShrinking"]

# how far numbers may move, relatively, when they are made short
TOLERANCES = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 10), Fraction(1, 100), Fraction(1, 10**4), Fraction(1, 10**9))
VISIBLE = 0.05  # shrinking leaves metric and bound so far apart, relatively, or half as far as they were found
Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class _Exact:
    """One instance in fractions. root, sign: the rows of the triangular factor of each device, and the signs.

    Values that shrinking changes lie in one row: `root` (d(d + 1)/2 a device), `slope` (d a device), `mu` (one, or one
    a device).
    """

    root: Row
    slope: Row
    mu: Row
    sign: tuple[Row, ...]

    def hessian(self, device: int) -> list[list[Fraction]]:
        signs = self.sign[device]
        d = len(signs)
        own = self.root[device * d * (d + 1) // 2 : (device + 1) * d * (d + 1) // 2]
        rows = [own[:1]] if d == 1 else [(own[0], Fraction(0)), own[1:]]
        return [
            [sum((s * a * b for s, a, b in zip(signs, p, q, strict=True)), Fraction(0)) for q in rows] for p in rows
        ]


class OneRoundShrinking:
    """One instance found in double precision, brought to short fractions as far as it stays a violation."""

    def __init__(self, statement: Statement, found: Devices, tuned: bool) -> None:
        self.statement, self.found, self.tuned = statement, found, tuned
        self.n, self.d = found.setup.n, found.setup.dim

    def problem(self, exact: _Exact) -> dict[str, Any]:
        """The specification."""
        clients: list[dict[str, Any]] = []
        for k in range(self.n):
            A = [[format_exact(v) for v in row] for row in exact.hessian(k)]
            b = [format_exact(-v) for v in exact.slope[k * self.d : (k + 1) * self.d]]
            clients.append({"A": A, "b": b})
        return {"kind": "quadratics", "clients": clients, "start": ["0"] * self.d}

    def claim(self, exact: _Exact) -> Claim:
        """The claim that is violated."""
        mu: Any = [format_exact(v) for v in exact.mu]
        mu = TUNED if self.tuned else mu[0] if len(mu) == 1 else mu
        K = self.found.setup.K
        cohorts: dict[str, Any] = {"participation": "full"} if K is None else {"K": K}
        return Claim(self.statement.best_id, self.problem(exact), {"kind": "feddane", "mu": mu, **cohorts})

    def check(self, exact: _Exact) -> ClaimResult | None:
        """The result where it is a violation in exact arithmetic."""
        try:
            result = run_claim(self.claim(exact), claimed=self.statement)
        except BoundcheckError:  # no minimum any more, or a subproblem without one
            return None
        verdict = result.verdict
        return result if verdict.outcome is Outcome.VIOLATED and verdict.grade is Grade.EXACT else None

    def witness(self, provenance: Mapping[str, Any]) -> Witness | None:
        """The shrunk witness."""
        exact = self._coarsest()
        if exact is None:
            return None
        kept = min(VISIBLE, _apart(self.check(exact)) / 2)
        for part, at in [(p, k) for p in ("slope", "root", "mu") for k in range(len(getattr(exact, p)))]:
            for candidate in _plainer(exact, part, at):
                if _apart(self.check(candidate)) >= kept:
                    exact = candidate
                    break
        found = self.check(exact)
        if found is None:
            return None
        method = {k: v if isinstance(v, int | str | list) else str(v) for k, v in found.method.items()}
        verdict = replace(found.verdict, details={})
        return Witness(self.statement.best_id, self.problem(exact), method, {}, verdict, dict(provenance))

    def _coarsest(self) -> _Exact | None:
        found = self.found
        triangle = [(i, j) for i in range(self.d) for j in range(i + 1)]
        roots = [float(found.root[0, k, i, j]) for k in range(self.n) for i, j in triangle]
        slopes = [float(v) for v in found.slope[0].ravel()]
        weights = [float(v) for v in found.mu[0]][: 1 if found.setup.common else self.n]
        sign = tuple(tuple(Fraction(int(v)) for v in row) for row in found.sign[0])
        for tolerance in TOLERANCES:
            root, slope, mu = (tuple(_near(v, tolerance) for v in part) for part in (roots, slopes, weights))
            candidate = _Exact(root, slope, mu, sign)
            if self.check(candidate) is not None:
                return candidate
        return None


def _near(value: float, tolerance: Fraction) -> Fraction:
    exact = Fraction(value)
    return simplest_between(*sorted((exact * (1 - tolerance), exact * (1 + tolerance)))) if exact else exact


def _plainer(exact: _Exact, part: str, at: int) -> Iterator[_Exact]:
    """The instance with plainer values in one place, the plainest first: 0 (but for mu), another's value, shorter."""
    row: Row = getattr(exact, part)
    value = row[at]
    others = [v for v in dict.fromkeys(itertools.chain((Fraction(1),), row[:at])) if v * value > 0 and v != value]
    for new in [*shorter(value), *sorted(others, key=lambda v: len(format_exact(v)))]:
        if len(format_exact(new)) <= len(format_exact(value)) and (new or part != "mu"):
            changed: Any = {part: (*row[:at], new, *row[at + 1 :])}
            yield replace(exact, **changed)


def _apart(result: ClaimResult | None) -> float:
    """How far the metric is above the bound, relative to the larger of their moduli; -1 where nothing is violated."""
    if result is None:
        return -1.0
    metric, bound = result.metric_low[0], result.bound[0]
    return (metric - bound) / max(abs(metric), abs(bound))
