"""The claim that `boundcheck compare ID --curve FILE` makes: the table that a specification file would have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from boundcheck.errors import BadInput, UnknownName

if TYPE_CHECKING:
    from boundcheck.evidence.claim import Claim, ClaimResult

NAME = "boundcheck compare"


def claim_of_options(
    id: str, curve: Path, problem: Path | None, sets: Sequence[str], columns: Sequence[str], deterministic: bool
) -> Claim:
    """The claim of the options. A --set of a parameter that the method lacks completes the method, any other one is a
    constant. Raises BadInput, UnknownName and SpecError, as for a file.
    """
    from boundcheck.evidence.spec import claim_from_table, instance_of

    named = pairs(columns, "--column", "ROLE=COLUMN, such as round=step or value=loss")
    source: dict[str, Any] = {"file": str(curve), **named, **({"deterministic": True} if deterministic else {})}
    table: dict[str, Any] = {"statement": id, "curve": source}
    table |= {} if problem is None else instance_of(problem)
    method, constants = (dict(cast("Mapping[str, Any]", table.get(key, {}))) for key in ("method", "constants"))
    for name, value in pairs(sets, "--set", "NAME=VALUE, such as eta=1/10").items():
        if name in method:
            raise BadInput(f"--set {name}: the method of {problem} has {name} already; leave one of them out.")
        if method and name in _parameters(method):
            method[name] = value
        else:
            constants[name] = value
    table |= {key: part for key, part in (("method", method), ("constants", constants)) if part}
    return claim_from_table(table, NAME)


def _parameters(method: Mapping[str, Any]) -> tuple[str, ...]:
    """The parameters of the method's kind; none for an unknown kind, which is said later."""
    from boundcheck.methods.build import kind_of

    try:
        return tuple(kind_of(str(method.get("kind"))).parameters())
    except UnknownName:
        return ()


def pairs(texts: Sequence[str], option: str, form: str) -> dict[str, str]:
    """NAME=VALUE options. Raises BadInput for another form and for a name that is given twice."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise BadInput(f"{option} '{text}' is not of the form {form}.")
        if name in found:
            raise BadInput(f"{option} gives {name} twice; give each once.")
        found[name] = value
    return found


def of_runs(claims: Sequence[Claim], command: str) -> Sequence[Claim]:
    """The claims, for a command that looks at problem and method. Raises BadInput where one has a curve alone."""
    bare = next((claim for claim in claims if claim.curve is not None and not claim.method), None)
    if bare is not None:
        raise BadInput(f"{command}: {bare.label()} has a curve and no method; write the problem and the method, too.")
    return claims


def column_notes(results: Sequence[ClaimResult]) -> list[str]:
    """Which columns were taken of each curve from outside, one line each."""
    told = [
        f"{r.info['source']}: taking {r.info['columns']} as the metric {next(iter(_metrics(r)), '')}"
        for r in results
        if r.claim.curve is not None and "columns" in r.info
    ]
    return list(dict.fromkeys(told))


def _metrics(result: ClaimResult) -> list[str]:
    from boundcheck.theory.discovery import statement

    return [statement(result.claim.statement).metric.quantity]
