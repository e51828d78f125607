"""Results of claims for CI services: JUnit XML, and a summary in Markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from boundcheck.core.places import reason
from boundcheck.errors import StoreError

if TYPE_CHECKING:
    from boundcheck.evidence.claim import Claim, ClaimResult
    from boundcheck.evidence.contradictions import Contradiction
    from boundcheck.evidence.not_run import NotRun

    Settled = ClaimResult | tuple[Claim, str]  # the result of a claim, or the claim and why it is bad input


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
        failure.text = _legal(f"{verdict.reason}\nwitness: {witness}")


def _legal(text: str) -> str:
    """The text without the control characters that XML 1.0 has no way to write."""
    return "".join(c if c in "\n\t" or " " <= c <= "\ud7ff" or c >= "\ue000" else "?" for c in text)


def append_summary(done: Sequence[Settled], suite: str, path: Path, not_run: Sequence[NotRun] = ()) -> None:
    """Appends the Markdown summary, as CI services expect of every step; raises StoreError where the disk refuses."""
    from boundcheck.evidence.not_run import NotRun
    from boundcheck.report.data import report_data
    from boundcheck.report.markdown import markdown

    results = [d for d in done if not isinstance(d, tuple)]
    refused = [NotRun("claim", d[0].label(), d[1]) for d in done if isinstance(d, tuple)]
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(markdown(report_data(results, f"boundcheck {suite}", not_run=[*refused, *not_run])) + "\n")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {reason(error)}.") from error
