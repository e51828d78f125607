"""`check`: the results of claims that a file, a table or a statement with a problem and a method states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundcheck.core.cards import Card, Shown
from boundcheck.core.parameters import checks_types
from boundcheck.core.store import Store
from boundcheck.core.toml_lines import TomlFile
from boundcheck.core.toml_models import validate
from boundcheck.errors import BadInput, BoundcheckError, shown
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.claim_result import Claim, ClaimResult
from boundcheck.evidence.claim_spec import ClaimSpec
from boundcheck.evidence.spec import claim_from_table, load_claims
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Outcome

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


class Results(tuple[ClaimResult, ...], Shown):
    """The results of claims in their order; shown as a table with a row for each claim."""

    __slots__ = ()

    @property
    def met(self) -> bool:
        """Whether every claim meets what it expects; one that expects nothing must hold."""
        return all(not r.failures and (r.claim.expect is not None or r.verdict.outcome is Outcome.HOLDS) for r in self)

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

    def bibtex(self) -> str:
        """The BibTeX entries of the papers that print the statements, one each."""
        return "\n\n".join(dict.fromkeys(r.claim.claimed.source.paper.bibtex() for r in self))


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
    table: dict[str, Any] = {"problem": _spec("problem", problem), "method": _spec("method", method), **(options or {})}
    if isinstance(what, str):
        return [claim_from_table({"statement": what, **table}, "check")]
    file = TomlFile("check", {"statement": what.best_id, **table}, {})
    return [replace(validate(ClaimSpec, file).to_claim(1), statement=what, number=None)]


def _spec(name: str, given: Mapping[str, Any] | Problem | Method | None) -> dict[str, Any]:
    """The specification of a problem or a method; objects that were built know theirs."""
    found: Any = given if isinstance(given, Mapping) else getattr(given, "spec", None)
    if not isinstance(found, Mapping):
        raise BadInput(f"check: the {name} must be a specification such as {{'kind': ...}}, not {shown(given)}.")
    return dict(found)
