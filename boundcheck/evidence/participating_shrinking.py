"""A violation that the search on clients who take part in turn or at random found, brought to short fractions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.core.numbers import format_exact, simplest_between
from boundcheck.errors import BoundcheckError
from boundcheck.evidence.claim import Claim, ClaimResult, run_claim
from boundcheck.evidence.witness import Witness
from boundcheck.verdict import Grade, Outcome

if TYPE_CHECKING:
    from boundcheck.evidence.participating import ParticipatingSearch, Quadratics

__all__ = ["ParticipatingShrinking"]

MARGIN = 1e-3  # a simplified instance is left so far above the bound, as the score measures it
PARTS = (1, 2, 4, 10, 100, 1000, 10**4)
LONGEST = 100_000  # rounds of the run in exact arithmetic


@dataclass(frozen=True)
class _Exact:
    """One instance in fractions; periods: the length of the run."""

    c: tuple[Fraction, ...]
    t: tuple[Fraction, ...]
    start: Fraction
    share: Fraction
    periods: int


class ParticipatingShrinking:
    """One instance found in double precision, simplified as far as double precision still sees a clear violation, then
    carried out in exact arithmetic."""

    def __init__(self, search: ParticipatingSearch, found: Quadratics) -> None:
        self.search, self.found = search, found
        self.setup = found.setup

    def witness(self, provenance: Mapping[str, Any]) -> Witness | None:
        """The witness; None where exact arithmetic takes it back or it needs too long a run."""
        exact = self._coarsest()
        if exact is None:
            return None
        changed = True
        while changed:
            changed = False
            for candidate in self._simpler(exact):
                at = self._violates(candidate)
                if at is not None:
                    exact, changed = replace(candidate, periods=at), True
                    break
        result = self._check(exact)
        if result is None:
            return None
        claim, verdict = self._claim(exact), replace(result.verdict, details={})
        return Witness(claim.statement, claim.problem, claim.method, claim.at, verdict, dict(provenance))

    def _coarsest(self) -> _Exact | None:
        found = self.found
        rounds = self.search.rounds_of(found)
        begin = float(found.start[0] + rounds.surrogate[0])
        for parts in PARTS:

            def near(x: float, parts: int = parts) -> Fraction:
                return Fraction(round(x * parts), parts)

            c = tuple(near(float(v)) for v in found.c[0])
            if min(c) <= 0:
                continue
            t = tuple(near(float(v)) for v in found.t[0])
            share = near(float(found.edge[0])) or Fraction(1, parts)
            exact = _Exact(c, t, near(begin), min(share, Fraction(1)), 1)
            at = self._violates(exact)
            if at is not None:
                return replace(exact, periods=at)
        return None

    def _violates(self, exact: _Exact) -> int | None:
        """The fewest periods, of those compared, at which double precision sees a clear violation."""
        one = replace(
            self.found,
            c=np.array([[float(v) for v in exact.c]]),
            t=np.array([[float(v) for v in exact.t]]),
            start=np.zeros(1),
            edge=np.array([float(exact.share)]),
        )
        rounds = self.search.rounds_of(one)
        one = replace(one, start=np.array([float(exact.start)]) - rounds.surrogate)
        for periods, score in self.search.scores(one):
            if periods * rounds.period <= LONGEST and score[0] > MARGIN:
                return periods
        return None

    def _simpler(self, exact: _Exact) -> Iterator[_Exact]:
        """Plainer instances, the plainest first."""
        n = len(exact.c)
        if len(set(exact.c)) > 1:
            yield replace(exact, c=(max(exact.c),) * n)
        for k in range(n):
            for v in _shorter(exact.c[k]):
                if v > 0:
                    yield replace(exact, c=_with(exact.c, k, v))
            for v in _shorter(exact.t[k]):
                yield replace(exact, t=_with(exact.t, k, v))
        if exact.share != 1:
            yield replace(exact, share=Fraction(1))
        for v in _shorter(exact.start):
            yield replace(exact, start=v)

    def _claim(self, exact: _Exact) -> Claim:
        clients = [
            {"components": [{"A": format_exact(c), "b": format_exact(c * t)}]}
            for c, t in zip(exact.c, exact.t, strict=True)
        ]
        problem = {"kind": "quadratics", "clients": clients, "start": [format_exact(exact.start)]}
        step = "largest" if exact.share == 1 else f"{format_exact(exact.share)}*largest"
        own = {"K": self.setup.K, "eta_g": format_exact(self.setup.eta_g), "eta_l": step}
        at = {str(self.search.statement.metric.index): [exact.periods]}
        return Claim(self.search.statement.best_id, problem, {**self.setup.scheme, **own}, at=at)

    def _check(self, exact: _Exact) -> ClaimResult | None:
        try:
            result = run_claim(self._claim(exact), claimed=self.search.statement)
        except BoundcheckError:
            return None
        verdict = result.verdict
        return result if verdict.outcome is Outcome.VIOLATED and verdict.grade is Grade.EXACT else None


def _with(values: tuple[Fraction, ...], k: int, value: Fraction) -> tuple[Fraction, ...]:
    return (*values[:k], value, *values[k + 1 :])


def _shorter(value: Fraction) -> list[Fraction]:
    """0, 1, -1 and shorter fractions near the value."""
    if value == 0:
        return []
    near = [simplest_between(*sorted((value * (1 - s), value * (1 + s)))) for s in (Fraction(1, 3), Fraction(1, 20))]
    whole = [Fraction(0), Fraction(1) if value > 0 else Fraction(-1)]
    return [v for v in (*whole, *near) if len(format_exact(v)) < len(format_exact(value))]
