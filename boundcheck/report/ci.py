"""Results of claims for CI services: JUnit XML, SARIF 2.1.0, annotations of GitHub, and a summary in Markdown.

Source of SARIF: OASIS, Static Analysis Results Interchange Format Version 2.1.0, sections 3.13 to 3.30.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree

from boundcheck._version import __version__
from boundcheck.core.places import reason
from boundcheck.errors import StoreError
from boundcheck.report.words import prose, tightness
from boundcheck.verdict import Outcome

if TYPE_CHECKING:
    from boundcheck.errors import SpecError
    from boundcheck.evidence.claim import Claim, ClaimResult
    from boundcheck.evidence.contradictions import Contradiction
    from boundcheck.evidence.not_run import NotRun

    Settled = ClaimResult | tuple[Claim, str]  # the result of a claim, or the claim and why it is bad input

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RULES = {
    "missed-expectation": "A claim does not meet the outcome, tightness or slope that it expects.",
    "bad-input": "A claim cannot be carried out as it is written.",
    "contradictory-evidence": "A reading with a proved derivation is violated.",
}
_MET = {True: "met", False: "**missed**", None: "not stated"}


def junit_xml(
    done: Sequence[Settled],
    suite: str,
    against: Sequence[Contradiction] = (),
    not_run: Sequence[NotRun] = (),
) -> bytes:
    """One test case a claim: a failure where an expectation was missed, an error where the claim is bad input.

    against: contradictory evidence on their readings, each an error of a test case of its own, before the claims.
    not_run: claims whose data set or package is not here, skipped.
    """
    failures = sum(not isinstance(d, tuple) and bool(d.failures) for d in done)
    errors = sum(isinstance(d, tuple) for d in done) + len(against)
    tests = len(done) + len(against) + len(not_run)
    numbers = {"tests": tests, "failures": failures, "errors": errors, "skipped": len(not_run)}
    counts = {name: str(number) for name, number in numbers.items()}
    root = ElementTree.Element("testsuites", counts)
    parent = ElementTree.SubElement(root, "testsuite", {"name": f"boundcheck {suite}", **counts})
    for found in against:
        about = {"classname": found.statement.replace("/", "."), "name": "contradictory evidence"}
        case = ElementTree.SubElement(parent, "testcase", about)
        ElementTree.SubElement(case, "error", {"message": _legal(str(found)), "type": "contradiction"})
    for d in done:
        claim = d[0] if isinstance(d, tuple) else d.claim
        case = ElementTree.SubElement(
            parent, "testcase", {"classname": claim.id.replace("/", "."), "name": _legal(claim.label())}
        )
        if isinstance(d, tuple):
            ElementTree.SubElement(case, "error", {"message": _legal(d[1]), "type": "BadInput"})
        else:
            _fill(case, d)
    for missing in not_run:
        about = {"classname": missing.kind, "name": _legal(missing.name)}
        case = ElementTree.SubElement(parent, "testcase", about)
        ElementTree.SubElement(case, "skipped", {"message": _legal(missing.why)})
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _fill(case: ElementTree.Element, result: ClaimResult) -> None:
    verdict = result.verdict
    properties = ElementTree.SubElement(case, "properties")
    values = {"statement": verdict.statement, "outcome": verdict.outcome.value, "points": str(verdict.points)}
    if verdict.grade is not None:
        values["grade"] = verdict.grade.value
    if verdict.tightness is not None:
        values["tightness"] = f"{verdict.tightness.ratio_min:.6g}"
    if result.rate is not None:
        values["slope"] = f"{result.rate.slope:.6g}"
    for name, value in values.items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": _legal(value)})
    if result.failures:
        message = " ".join(result.failures)
        failure = ElementTree.SubElement(case, "failure", {"message": _legal(message), "type": verdict.outcome.value})
        witness = json.dumps(verdict.witness, indent=1, default=str)
        point = "witness" if verdict.outcome is Outcome.VIOLATED else "closest point"
        failure.text = _legal(f"{verdict.reason}\n{point}: {witness}")


def _legal(text: str) -> str:
    """The text without the control characters that XML 1.0 has no way to write."""
    return "".join(c if c in "\n\t" or " " <= c <= "\ud7ff" or c >= "\ue000" else "?" for c in text)


def append_summary(done: Sequence[Settled], suite: str, path: Path, not_run: Sequence[NotRun] = ()) -> None:
    """Appends the Markdown summary, as CI services expect of every step; raises StoreError where the disk refuses."""
    from boundcheck.evidence.not_run import NotRun
    from boundcheck.report.data import report_data

    results = [d for d in done if not isinstance(d, tuple)]
    refused = [NotRun("claim", d[0].label(), d[1]) for d in done if isinstance(d, tuple)]
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(markdown(report_data(results, f"boundcheck {suite}", not_run=[*refused, *not_run])) + "\n")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {reason(error)}.") from error


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


def markdown(report: Mapping[str, Any]) -> str:
    """Contradictory evidence first, counts, one table row a claim, and every missed expectation in full.

    Without claims, the studies come before all that.
    """
    lines = [f"# {_cell(report['title'])}", ""]
    for found in report["contradictions"]:
        lines += [f"**{_cell(found['sentence'])}**", ""]
    studies = [f"- {_cell(s['name'])}: {_cell(' '.join(s.get('words', ())[:1]))}" for s in report["studies"]]
    studies += [f"- {_cell(s['name'])}: limits of constant step sizes" for s in report["limits"]]
    if not report["claims"]:
        lines += studies + [""] * bool(studies)
        studies = []
    for name, counts in report["counts"].items():
        lines.append(f"- {name}: " + ", ".join(f"{count} {_cell(key)}" for key, count in counts.items()))
    lines += ["", "| claim | statement | outcome | grade | tightness | expectation | reason |", "|" + "---|" * 7]
    for claim in report["claims"]:
        verdict = claim["verdict"]
        flag = " (units disagree)" if claim["statement"]["dimension_errors"] else ""
        row = (
            claim["label"],
            claim["statement"]["id"] + flag,
            verdict["outcome"],
            verdict["grade"] or "none",
            tightness(claim),
            "",
            prose(verdict["reason"]),
        )
        cells = [_cell(text) for text in row]
        cells[5] = _MET[claim["expectation"]["met"]]
        lines.append("| " + " | ".join(cells) + " |")
    missed = [(c["label"], f) for c in report["claims"] for f in c["expectation"]["failures"]]
    if missed:
        lines += ["", "## Missed", ""] + [f"- {_cell(label)}: {_cell(failure)}" for label, failure in missed]
    lines += ["", "## Studies", "", *studies] if studies else []
    if report["not_run"]:
        lines += ["", "## Not run", ""] + [f"- {_cell(n['name'])}: {_cell(n['why'])}" for n in report["not_run"]]
    versions = ", ".join(f"{k} {v}" for k, v in report["versions"].items())
    return "\n".join([*lines, "", f"Computed with {versions}.", ""])


def _cell(text: str) -> str:
    """Text that can break neither a table nor the page around it."""
    for mark in "\\|`*_<>[]#":
        text = text.replace(mark, "\\" + mark)
    return " ".join(text.split())
