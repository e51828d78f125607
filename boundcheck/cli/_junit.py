"""Results of `boundcheck check` for CI services: JUnit XML, and a summary in Markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from boundcheck.cli._execute import Done, Refused
from boundcheck.core.places import reason, write_whole
from boundcheck.errors import StoreError

if TYPE_CHECKING:
    from boundcheck.evidence.claim import ClaimResult
    from boundcheck.evidence.contradictions import Contradiction
    from boundcheck.evidence.not_run import NotRun


def junit_xml(
    done: Sequence[Done | Refused],
    suite: str,
    against: Sequence[Contradiction] = (),
    not_run: Sequence[NotRun] = (),
) -> bytes:
    """One test case a claim: a failure where an expectation was missed, an error where the claim is bad input.

    against: contradictory evidence on their readings, each an error of a test case of its own, before the claims.
    not_run: claims whose data set or package is not here, skipped.
    """
    failures = sum(isinstance(d, Done) and bool(d.result.failures) for d in done)
    errors = sum(isinstance(d, Refused) for d in done) + len(against)
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
        claim = d.claim if isinstance(d, Refused) else d.result.claim
        case = ElementTree.SubElement(
            parent, "testcase", {"classname": claim.id.replace("/", "."), "name": _legal(claim.label())}
        )
        if isinstance(d, Refused):
            ElementTree.SubElement(case, "error", {"message": _legal(d.problem), "type": "BadInput"})
        else:
            _fill(case, d.result)
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
        failure.text = _legal(f"{verdict.reason}\nwitness: {witness}")


def _legal(text: str) -> str:
    """The text without the control characters that XML 1.0 has no way to write."""
    return "".join(c if c in "\n\t" or " " <= c <= "\ud7ff" or c >= "\ue000" else "?" for c in text)


def write_junit(
    done: Sequence[Done | Refused],
    suite: str,
    path: Path,
    against: Sequence[Contradiction] = (),
    not_run: Sequence[NotRun] = (),
) -> None:
    """Writes the file whole; raises StoreError where the disk refuses."""
    write_whole(path, junit_xml(done, suite, against, not_run))


def append_summary(done: Sequence[Done | Refused], suite: str, path: Path, not_run: Sequence[NotRun] = ()) -> None:
    """Appends the Markdown summary, as CI services expect of every step; raises StoreError where the disk refuses."""
    from boundcheck.evidence.not_run import NotRun
    from boundcheck.report.data import report_data
    from boundcheck.report.markdown import markdown

    results = [d.result for d in done if isinstance(d, Done)]
    refused = [NotRun("claim", d.claim.label(), d.problem) for d in done if isinstance(d, Refused)]
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(markdown(report_data(results, f"boundcheck {suite}", not_run=[*refused, *not_run])) + "\n")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {reason(error)}.") from error
