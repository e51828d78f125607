"""What `boundcheck.run`, `compare` and `check` return, and `check`: the results of the claims that it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundcheck.core.cards import Card, axis
from boundcheck.core.palette import HUES, hue
from boundcheck.core.parameters import checks_types
from boundcheck.core.store import Store
from boundcheck.core.toml_lines import TomlFile
from boundcheck.core.toml_models import validate
from boundcheck.engines.curve import Curve
from boundcheck.errors import BadInput, BoundcheckError, shown
from boundcheck.evidence.claim import run_claim, with_points
from boundcheck.evidence.claim_result import (
    Claim,
    ClaimResult,
    claim_card,
    claim_columns,
    claim_picture,
    symbol_columns,
)
from boundcheck.evidence.claim_spec import ClaimSpec
from boundcheck.evidence.compare import Comparison, comparison
from boundcheck.evidence.spec import claim_from_table, load_claims
from boundcheck.theory.discovery import all_statements
from boundcheck.theory.results import Picture, Result, scale, shortened
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


class Results(tuple[ClaimResult, ...], Result):
    """The results of claims in their order; shown as a table with a row for each claim."""

    __slots__ = ()

    @property
    def met(self) -> bool:
        """Whether every claim meets what it expects; one that expects nothing must hold."""
        return all(map(_met, self))

    def __repr__(self) -> str:
        return shortened(f"<Results {self._card().title}: {', '.join(r.claim.label() for r in self)}>")

    def _claimed(self) -> list[Statement]:
        return [r.claim.claimed for r in self]

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form; each claim's as `ClaimResult.from_dict` reads it."""
        return {"schema": 1, "results": [r.to_dict() for r in self]}

    def _columns(self) -> dict[str, list[Any]]:
        """A row for each claim: the table of the card, whether it is met, and its constants by symbol."""
        known = [symbol_columns(r.verdict) for r in self]
        columns: dict[str, Any] = {**(self._card().columns or {}), "met": [_met(r) for r in self]}
        for name in dict.fromkeys(name for own in known for name in own):
            columns[name] = [own.get(name) for own in known]
        return columns

    def _picture(self) -> Picture:
        """Bound and metric of one claim; of several the metric over the bound, a line for each."""
        pictures = [r._picture() for r in self]  # pyright: ignore[reportPrivateUsage]
        if len(pictures) == 1:
            return pictures[0]
        lines = {
            r.claim.label(): [(x, m / b) for (x, b), (_, m) in zip(*p.lines.values(), strict=True) if b]
            for r, p in zip(self, pictures, strict=True)
        }
        return Picture({name: points for name, points in lines.items() if points}, "index", "metric / bound")

    def _card(self) -> Card:
        tight = [r.verdict.tightness for r in self]
        columns: dict[str, list[Any]] = {
            "claim": [r.claim.label() for r in self],
            "statement": [r.claim.id for r in self],
            "outcome": [r.verdict.outcome.value for r in self],
            "grade": ["" if r.verdict.grade is None else r.verdict.grade.value for r in self],
            "tightness": [None if t is None else t.ratio_min for t in tight],
            "reason": [r.verdict.reason for r in self],
            "missed": ["; ".join(r.failures) for r in self],
        }
        counts: dict[str, int] = {}
        for outcome in columns["outcome"]:
            counts[outcome] = counts.get(outcome, 0) + 1
        return Card(", ".join(f"{count} {outcome}" for outcome, count in counts.items()), columns=columns)


def _met(result: ClaimResult) -> bool:
    expected = result.claim.expect is not None or result.verdict.outcome is Outcome.HOLDS
    return expected and not result.failures


@checks_types
def check(
    what: Claim | Mapping[str, Any] | Path | str | Statement,
    problem: Mapping[str, Any] | Problem | None = None,
    method: Mapping[str, Any] | Method | None = None,
    *,
    store: Store | Path | str | None = None,
    on_progress: Callable[[float], None] | None = None,
    **options: Any,
) -> Results:
    """The results of one claim or of all claims of a file.

    what: a specification file, the table of one claim as `[[claim]]` has it, a Claim, or, with problem and method, a
    statement or its id. problem, method: of that statement, objects or specifications. options: further keys of
    `[[claim]]`, such as at, constants, engine or expect. store: a result store or its place, which keeps runs; without
    one nothing is kept. on_progress: called with the finished share. Raises the errors of bad input: all mistakes of a
    table or a file at once, before anything is run.
    """
    claims = claims_of(what, problem, method, options)
    kept = Store(store) if isinstance(store, str | PathLike) else store
    found: list[ClaimResult] = []
    for number, claim in enumerate(claims):

        def share(part: float, number: int = number) -> None:
            if on_progress is not None:
                on_progress((number + part) / len(claims))

        try:
            found.append(run_claim(claim, kept, share))
        except BoundcheckError as error:
            if len(claims) == 1:
                raise
            raise BadInput(f"claim '{claim.label()}': {error}") from error
    return Results(found)


def claims_of(
    what: Claim | Mapping[str, Any] | Path | str | Statement,
    problem: Mapping[str, Any] | Problem | None = None,
    method: Mapping[str, Any] | Method | None = None,
    options: Mapping[str, Any] | None = None,
) -> list[Claim]:
    """The claims that `check` is given; those of a table or a file are validated as a whole. Raises as `check` does."""
    if problem is None and method is None and not isinstance(what, Statement):
        if options:
            raise BadInput(f"check: {', '.join(options)} belong to a statement with a problem and a method.")
        if isinstance(what, Mapping):
            keys: list[Any] = list(what)
            other = [key for key in keys if not isinstance(key, str)]
            if other:
                raise BadInput(f"check: the keys of a claim are texts, not {shown(other[0])}.")
            return [claim_from_table(what, "the claim")]
        return [what] if isinstance(what, Claim) else load_claims(what)
    if not isinstance(what, str | Statement):
        raise BadInput(f"check: {shown(what)} is no statement; a problem and a method are given with one or its id.")
    table: dict[str, Any] = {
        "problem": spec_of("problem", problem),
        "method": spec_of("method", method),
        **(options or {}),
    }
    if isinstance(what, str):
        return [claim_from_table({"statement": what, **table}, "check")]
    file = TomlFile("check", {"statement": what.best_id, **table}, {})
    return [replace(validate(ClaimSpec, file).to_claim(1), statement=what, number=None)]


def spec_of(name: str, given: Mapping[str, Any] | Problem | Method | None, call: str = "check") -> dict[str, Any]:
    """The specification of a problem or a method; objects that were built know theirs."""
    found: Any = given if isinstance(given, Mapping) else getattr(given, "spec", None)
    if not isinstance(found, Mapping):
        raise BadInput(f"{call}: the {name} must be a specification such as {{'kind': ...}}, not {shown(given)}.")
    return dict(found)


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

    about, given, level: what was compared, as `compare` takes it; found: with the points; result: of a curve from
    outside, which has its points already.
    """

    about: Statement | None = None
    found: Comparison | None = None
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
        found = comparison(statement, curve, constants, level=level)
        return Compared.of(found.verdict, statement, found=found, given=constants or {}, level=level)

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
        result = ClaimResult(Claim(self.about, constants=self.given, level=self.level), self, {}, ())
        return result if self.found is None else with_points(result, self.found)

    def _claimed(self) -> Sequence[Statement]:
        return () if self.about is None else (self.about,)

    def _card(self) -> Card:
        return claim_card(self.compared)

    def _columns(self) -> dict[str, list[Any]]:
        return claim_columns(self.compared)

    def _picture(self) -> Picture:
        return claim_picture(self.compared)
