"""What `boundcheck.run` and `boundcheck.compare` return: a curve and a verdict with what every answer offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from boundcheck.core.cards import Card, axis
from boundcheck.core.palette import HUES, hue
from boundcheck.engines.curve import Curve
from boundcheck.engines.summaries import NoAverage
from boundcheck.evidence.claim import with_points
from boundcheck.evidence.claim_result import Claim, ClaimResult, claim_card, claim_columns, claim_picture
from boundcheck.evidence.compare import compare
from boundcheck.evidence.compared_points import run_again
from boundcheck.evidence.hypotheses import symbol_values
from boundcheck.theory.decide import Undefined
from boundcheck.theory.discovery import all_statements
from boundcheck.theory.results import Picture, Result, scale, shortened
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Outcome, Verdict

TABLE_ROWS = 12  # of the table of a run in LaTeX


@dataclass(frozen=True, repr=False)
class Run(Curve, Result):
    """The curve of a run. Its citations are the papers with statements about the method."""

    @staticmethod
    def of(curve: Curve) -> Run:
        """The same curve."""
        return Run(**{f.name: getattr(curve, f.name) for f in fields(Curve)})

    def __repr__(self) -> str:
        return shortened(super().__repr__())

    def _claimed(self) -> Sequence[Statement]:
        own = self.algorithms or ()
        return [s for s in all_statements() if s.algorithm is not None and s.algorithm.kind in own]

    def plot(self, ax: Any = None, metric: str | None = None) -> Any:
        """See `Curve.plot`; in the colours of the pages."""
        drawn = axis(ax)
        drawn.set_prop_cycle(color=[hue(k) for k in range(len(HUES))])
        super().plot(drawn, metric)
        scale(drawn)
        names = [metric] if metric is not None else list(self.values)
        drawn.set_ylabel(names[0] if len(names) == 1 else "metric")
        return drawn

    def latex(self) -> str:
        """The metrics as a table: all rounds, or at most 12 of them from the first to the last."""
        count = len(self.rounds)
        least = min(count, TABLE_ROWS)
        rows = sorted({round(k * (count - 1) / max(least - 1, 1)) for k in range(least)})
        cells = [["round", *(name.replace("_", r"\_") for name in self.values)]]
        cells += [[str(self.rounds[k]), *(f"{row[k]:.4g}" for row in self.values.values())] for k in rows]
        head, *body = (" & ".join(row) + r" \\" for row in cells)
        return "\n".join([rf"\begin{{tabular}}{{{'r' * len(cells[0])}}}", head, r"\hline", *body, r"\end{tabular}"])


@dataclass(frozen=True, repr=False, eq=False)
class Compared(Result, Verdict):
    """The verdict on a run, equal to any other verdict with the same content.

    about, curve, given, level: what was compared, as `compare` takes it; result: of a curve from outside, which has
    been compared already.
    """

    about: Statement | None = None
    curve: Curve | None = None
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    level: float = 0.999
    result: ClaimResult | None = None

    @staticmethod
    def of(verdict: Verdict, about: Statement, **how: Any) -> Compared:
        """The verdict with what it is about."""
        return Compared(**{f.name: getattr(verdict, f.name) for f in fields(Verdict)}, about=about, **how)

    @staticmethod
    def at(statement: Statement, curve: Curve, constants: Mapping[str, Any] | None, level: float) -> Compared:
        """See `evidence.compare.compare`, which judges."""
        verdict = compare(statement, curve, constants, level=level)
        return Compared.of(verdict, statement, curve=curve, given=constants or {}, level=level)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Verdict) and self.to_dict() == other.to_dict()

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return shortened(Verdict.__repr__(self))

    @cached_property
    def compared(self) -> ClaimResult:
        """The verdict with the compared points; without points where nothing could be compared."""
        assert self.about is not None
        if self.result is not None:
            return self.result
        claim = Claim(self.about, constants=self.given, level=self.level)
        found = ClaimResult(claim, self, {}, ())
        if self.outcome is not Outcome.FAILED and self.curve is not None:
            with suppress(NoAverage, Undefined):
                values, _ = symbol_values(self.about, self.curve, self.given)
                return with_points(found, self.about, run_again(self.about, self.curve, values), claim, None)
        return found

    def _claimed(self) -> Sequence[Statement]:
        return () if self.about is None else (self.about,)

    def _card(self) -> Card:
        return claim_card(self.compared)

    def _columns(self) -> dict[str, list[Any]]:
        return claim_columns(self.compared)

    def _picture(self) -> Picture:
        return claim_picture(self.compared)
