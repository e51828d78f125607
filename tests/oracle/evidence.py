"""Derivation records, witnesses and verdicts of the shipped claims, as far as they must stay the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from boundcheck.evidence.claim import ClaimResult
from boundcheck.evidence.witness import load_witness
from boundcheck.proof.discovery import derivation, shipped_readings
from boundcheck.proof.records import record
from boundcheck.report.data import claim_data
from tests.oracle.frozen import check, digest, load

PROVED = "PROVED"
EXAMPLES = Path(__file__).parents[2] / "examples"
# Files of claims that a test carries out whole by command, in a few seconds to half a minute.
CHECKED = (
    *("async_fl", "classics", "feddane", "formulas", "fedshuffle", "fedshuffle_constants"),
    *("partial_averaging", "scgd"),
)
CHECKED_ONE_BY_ONE = ("fedshuffle_real",)  # some of its claims take minutes
# Files of which no verdict is frozen here, with the reason.
NOT_FROZEN = {
    "async_schemes": "a study without claims; tests/evidence/test_studies.py",
    "feddane_mu": "a study without claims; tests/evidence/test_studies.py",
    "fedshuffle_mnist": "its data are not there without a download; its test freezes outcome and grade",
    "methods_compared": "a study without claims; tests/test_examples.py",
    "numbers": "both sides are exact numbers; tests/test_examples.py",
}
# Of frozen decimals, fewer than a double has: another library's last digit is no difference. Sums over sampled steps
# are rounded differently by compiled code of other processors.
DIGITS, DIGITS_OF_SAMPLED = 12, 8
DIGITS_OF_CERTIFIED = 6  # constants that floats found and exact arithmetic certified: the last ones are the processor's


def steps() -> dict[str, dict[str, Any]]:
    """Full id of a reading with a derivation -> step -> its status on record; of a step in parts the weakest."""
    found: dict[str, dict[str, Any]] = {}
    for id in shipped_readings():
        known = record(id)
        assert known is not None, id
        found[id] = {s.name: PROVED for s in derivation(id).steps}
        for name, status in known.failing.items():
            whole = name if name in found[id] else name.rpartition(".")[0]
            if whole in found[id]:  # the last line is the statement, and no step
                found[id][whole] = status
    return found


def witnesses() -> dict[str, dict[str, Any]]:
    """Stem of a witness file -> its claim and verdict; that a replay finds this is a test of the examples."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted((EXAMPLES / "witnesses").glob("*.json")):
        witness = load_witness(path)
        found[path.stem] = {
            "statement": witness.statement,
            "instance": digest([dict(witness.problem), dict(witness.method), dict(witness.at)]),
            "outcome": witness.verdict.outcome.value,
            "grade": witness.verdict.grade.value,
            "points": witness.verdict.points,
            "provenance": digest(dict(witness.provenance)),
        }
    return found


def short(value: Any, digits: int) -> Any:
    """A JSON value with its floats as text of this many digits."""
    if isinstance(value, float):
        return f"{value:.{digits - 1}e}"
    if isinstance(value, Mapping):
        return {name: short(part, digits) for name, part in value.items()}
    if isinstance(value, list):
        return [short(part, digits) for part in value]
    return value


def _shown(constant: Mapping[str, Any]) -> Any:
    """Its value, of certified ones the digits that all processors share; "below 1e-30" for a residual."""
    value = constant["value"]
    if constant["known"] != "certified" or not isinstance(value, str):
        return value
    return (
        "below 1e-30"
        if 0 < Fraction(value) < Fraction(1, 10**30)
        else short(float(Fraction(value)), DIGITS_OF_CERTIFIED)
    )


def _margin(condition: Mapping[str, Any], certified: bool) -> Any:
    """By how much a condition holds, exactly; with certified constants the digits that all processors share."""
    exact = condition["exact"]
    return short(float(Fraction(exact)), DIGITS_OF_CERTIFIED) if certified and exact else exact


def shown(result: Mapping[str, Any]) -> dict[str, Any]:
    """What is frozen of one claim, as a report or `boundcheck check --json` has it."""
    digits = DIGITS_OF_SAMPLED if result["run"]["engine"] == "sampled" else DIGITS
    certified = any(constant["known"] == "certified" for constant in result["constants"].values())
    digits = DIGITS_OF_CERTIFIED if certified else digits
    verdict, scope, curve = result["verdict"], result["scope"], result["curve"] or {}
    points = {name: curve.get(name) for name in ("index", "rounds", "metric_low", "metric_high", "bound")}
    return {
        "statement": verdict["statement"],
        "outcome": verdict["outcome"],
        "grade": verdict["grade"],
        "points": verdict["points"],
        "tightness": short(verdict["tightness"], digits),
        "met": result["expectation"]["met"],
        "in_scope": scope.get("in_scope"),
        "scope": digest([[c["name"], c["holds"], _margin(c, certified)] for c in scope.get("conditions", [])]),
        "last": {name: short(of[-1], digits) for name, of in points.items() if of},
        "curve": digest(short(points, digits)),
        "constants": digest({name: [_shown(c), c["known"], c["side"]] for name, c in result["constants"].items()}),
        "readings": {other["id"]: other["in_scope"] for other in result["readings"]},
        "rate": short(result["rate"], digits),
    }


def verdicts(printed: str, stem: str) -> dict[str, dict[str, Any]]:
    """File and name of a claim -> what is frozen of it, from the output of `boundcheck check FILE --json`."""
    return {f"{stem}: {result['label']}": shown(result) for result in json.loads(printed)["claims"]}


def check_verdicts(stem: str, printed: str) -> int:
    """Fail unless the verdicts of this file of examples are as frozen; the number of claims, all of them met."""
    found = verdicts(printed, stem)
    check("verdicts", found, {name: item for name, item in load("verdicts").items() if name.startswith(f"{stem}: ")})
    assert all(item["met"] for item in found.values())
    return len(found)


def check_claim(stem: str, result: ClaimResult) -> None:
    """Fail unless the verdict of this claim of a file of examples is as frozen."""
    found = {f"{stem}: {result.claim.label()}": shown(claim_data(result))}
    check("verdicts", found, {name: item for name, item in load("verdicts").items() if name in found})


def stems() -> Iterator[str]:
    return (path.stem for path in sorted(EXAMPLES.glob("*.toml")))
