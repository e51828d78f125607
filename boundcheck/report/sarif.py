"""Claims of `boundcheck check` that need attention, with file and line: SARIF 2.1.0, and annotations of GitHub.

Source of the format: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, sections 3.13 to 3.30.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from boundcheck._version import __version__

if TYPE_CHECKING:
    from boundcheck.errors import SpecError
    from boundcheck.evidence.contradictions import Contradiction
    from boundcheck.evidence.not_run import NotRun
    from boundcheck.report.junit import Settled

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RULES = {
    "missed-expectation": "A claim does not meet the outcome, tightness or slope that it expects.",
    "bad-input": "A claim cannot be carried out as it is written.",
    "contradictory-evidence": "A reading with a proved derivation is violated.",
}


@dataclass(frozen=True)
class Finding:
    """rule: a key of `RULES`. file: as it was named; line: from 1, or 0 where none is known."""

    rule: str
    text: str
    file: str
    line: int


def findings(
    settled: Sequence[Settled], places: Sequence[tuple[str, int]], against: Sequence[Contradiction] = ()
) -> list[Finding]:
    """What is wrong with claims, in their order. places: file and line of each claim.

    A contradiction stands at the first claim about its statement.
    """
    found: list[Finding] = []
    ids: dict[str, tuple[str, int]] = {}
    for one, place in zip(settled, places, strict=True):
        if isinstance(one, tuple):
            found.append(Finding("bad-input", f"{one[0].label()}: {one[1]}", *place))
            continue
        ids.setdefault(one.verdict.statement, place)
        if one.failures:
            found.append(Finding("missed-expectation", f"{one.claim.label()}: {' '.join(one.failures)}", *place))
    ours = [(c, ids[c.statement]) for c in against if c.statement in ids]
    return [*(Finding("contradictory-evidence", str(c), *place) for c, place in ours), *found]


def mistakes(error: SpecError) -> list[Finding]:
    """The mistakes of a file that cannot be read as claims."""
    return [Finding("bad-input", text, error.path, line) for line, text in error.problems]


def sarif(found: Sequence[Finding], not_run: Sequence[NotRun] = ()) -> bytes:
    """The SARIF file. not_run: claims whose data set or package is not here, as notifications of the run."""
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in RULES.items()]
    notes = [{"level": "note", "message": {"text": f"{n.name} was not run: {n.why}"}} for n in not_run]
    run = {
        "tool": {"driver": {"name": "boundcheck", "version": __version__, "rules": rules}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "results": [_result(one) for one in found],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return (json.dumps(log, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _result(found: Finding) -> dict[str, Any]:
    where: dict[str, Any] = {"artifactLocation": {"uri": _uri(found.file)}}
    where |= {"region": {"startLine": found.line}} if found.line else {}
    index, text = list(RULES).index(found.rule), {"text": found.text}
    place = {"physicalLocation": where}
    return {"ruleId": found.rule, "ruleIndex": index, "level": "error", "message": text, "locations": [place]}


def workflow_commands(found: Sequence[Finding]) -> list[str]:
    """Lines that the runner of GitHub Actions shows beside the claims of a pull request."""
    return [
        f"::error file={_escaped(_from_root(f.file), ',:')},{f'line={f.line},' if f.line else ''}"
        f"title={f.rule}::{_escaped(f.text)}"
        for f in found
    ]


def _escaped(text: str, more: str = "") -> str:
    for mark in "%\r\n" + more:
        text = text.replace(mark, f"%{ord(mark):02X}")
    return text


def _from_root(file: str) -> str:
    """The path from the root of the repository on GitHub, elsewhere from the folder of today; absolute outside it."""
    path, root = Path(file).resolve(), Path(os.environ.get("GITHUB_WORKSPACE", "")).resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def _uri(file: str) -> str:
    path = _from_root(file)
    return Path(path).as_uri() if Path(path).is_absolute() else quote(path)
