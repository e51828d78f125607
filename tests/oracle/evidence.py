"""Derivation records, witnesses and verdicts of the shipped claims, as far as they must stay the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from boundcheck.cli import main
from boundcheck.evidence.witness import load_witness
from boundcheck.proof.derivation import DerivationReport
from boundcheck.proof.discovery import folder
from boundcheck.proof.records import DIGEST, recorded
from tests.oracle.frozen import check, digest, load

EXAMPLES = Path(__file__).parents[2] / "examples"
# Files of claims that a command carries out whole in a few seconds to half a minute, and what of it a test freezes.
CHECKED = ("async_fl", "classics", "feddane", "fedshuffle", "fedshuffle_constants", "partial_averaging", "scgd")
# Files of which no verdict is frozen here, with the reason.
NOT_FROZEN = {
    "async_schemes": "a study without claims; tests/evidence/test_study_schemes.py",
    "feddane_mu": "a study without claims; tests/evidence/test_proximal_weight.py",
    "fedshuffle_mnist": "its data are not there without a download; its test freezes outcome and grade",
    "fedshuffle_real": "its claims are sampled for minutes; its tests freeze outcome and grade of each",
    "methods_compared": "a study without claims; tests/test_examples_classics.py",
}
DIGITS = 12  # of frozen decimals: fewer than a double has, so that another library's last digit is no difference


def records() -> dict[str, dict[str, Any]]:
    """Full id of a reading -> its derivation record, as the file has it, but for the digest that seals it."""
    return {
        f"{path.parent.name}/{path.stem}/{reading}": {k: v for k, v in entry.items() if k != DIGEST}
        for path in sorted(folder().glob("*/*.json"))
        for reading, entry in recorded(path.parent.name, path.stem).items()
    }


def steps_of(report: DerivationReport) -> dict[str, Any]:
    """Name of a step of a derivation -> its status when checked afresh."""
    return {r.step.name: r.status.value for r in report.results}


def witnesses() -> dict[str, dict[str, Any]]:
    """Stem of a witness file -> its claim and verdict; that a replay finds this is a test of tests/evidence."""
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


def short(value: Any) -> Any:
    """A JSON value with its floats as text of 12 digits."""
    if isinstance(value, float):
        return f"{value:.{DIGITS - 1}e}"
    if isinstance(value, Mapping):
        return {name: short(part) for name, part in value.items()}
    if isinstance(value, list):
        return [short(part) for part in value]
    return value


def _shown(result: Mapping[str, Any]) -> dict[str, Any]:
    """What is frozen of one claim of `boundcheck check --json`."""
    verdict, curve = result["verdict"], result["curve"] or {}
    ends = {name: [curve[name][0], curve[name][-1]] for name in ("metric_low", "metric_high", "bound") if name in curve}
    return {
        "statement": verdict["statement"],
        "outcome": verdict["outcome"],
        "grade": verdict["grade"],
        "points": verdict["points"],
        "tightness": short(verdict["tightness"]),
        "met": result["expectation"]["met"],
        "in_scope": result["scope"]["in_scope"],
        "ends": short(ends),
        "curve": digest(short({name: curve.get(name) for name in ("index", "rounds", *ends)})),
        "constants": digest({name: [c["value"], c["side"]] for name, c in (result["constants"] or {}).items()}),
        "rate": short(result["rate"]),
    }


def verdicts(printed: str, stem: str) -> dict[str, dict[str, Any]]:
    """File and name of a claim -> what is frozen of it, from the output of `boundcheck check FILE --json`."""
    return {f"{stem}: {result['label']}": _shown(result) for result in json.loads(printed)["claims"]}


def check_verdicts(stem: str, printed: str) -> int:
    """Fail unless the verdicts of this file of examples are as frozen; the number of claims, all of them met."""
    found = verdicts(printed, stem)
    check("verdicts", found, {name: item for name, item in load("verdicts").items() if name.startswith(f"{stem}: ")})
    assert all(item["met"] for item in found.values())
    return len(found)


def carried_out(stem: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What `boundcheck check FILE --json` prints about a file of examples."""
    assert main(["check", str(EXAMPLES / f"{stem}.toml"), "--workers", "1", "--json"]) == 0
    return capsys.readouterr().out


def stems() -> Iterator[str]:
    return (path.stem for path in sorted(EXAMPLES.glob("*.toml")))
