"""Hand-made results for the tests of reports; every number is chosen here and computed nowhere."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from boundcheck.evidence.claim import Claim, ClaimResult
from boundcheck.evidence.claim_result import Reading
from boundcheck.verdict import Grade, Outcome, Tightness, Verdict

AXE = Path(os.environ.get("AXE_CORE") or Path(__file__).parents[2] / "build/axe/node_modules/axe-core/axe.min.js")
CONSTANTS: Mapping[str, Any] = {
    "mu": {"value": "1/3", "known": "certified", "side": "lower", "how": "exact LDL^T of A - mu*P"},
    "L": {"value": "2", "known": "certified", "side": "upper", "how": "largest eigenvalue"},
    "n": {"value": "20", "known": "exact", "side": "exact", "how": "counted: clients"},
    "E": {"value": "4", "known": "exact", "side": "exact", "how": "parameter of the method"},
    "eta": {"value": "1/10000", "known": "exact", "side": "exact", "how": "parameter of the method"},
    "sigma2": {"value": "7/10", "known": "estimated", "side": "upper", "how": "mean of 10 measurements"},
    "dist2_0": {"value": "8", "known": "exact", "side": "exact", "how": "given"},
}


def _scope(holds: bool) -> dict[str, Any]:
    slack = 0.00125 if holds else -0.00125
    row = {
        "name": "step size",
        "relation": "n*E*eta <= C",
        "holds": holds,
        "slack": [slack, slack],
        "exact": None,
        "relative": slack / 0.01,
        "note": "",
    }
    return {"schema": 1, "in_scope": holds, "conditions": [row], "assumptions": [], "values": {}}


SCOPE_IN: Mapping[str, Any] = {"constants": CONSTANTS, "scope": _scope(True), "violations": {}}
SCOPE_OUT: Mapping[str, Any] = {"constants": CONSTANTS, "scope": _scope(False), "violations": {}}


def hand_made(
    outcome: Outcome,
    grade: Grade | None,
    *,
    name: str = "hand-made",
    statement: str = "scgd/theorem_3_3/corrected",
    reason: str = "A sentence.",
    expect: Outcome | None = None,
    failures: tuple[str, ...] = (),
    points: int = 4,
    high: Sequence[float] = (8.0, 4.0, 1.0, 0.25),
    details: Mapping[str, Any] = SCOPE_IN,
    witness: Mapping[str, Any] | None = None,
) -> ClaimResult:
    """A result of four points at K = 0, 1, 100, 10000 with the bound 8, 8, 4, 2."""
    verdict = Verdict(
        statement, outcome, grade, reason, witness or {}, Tightness(1.0, 8.0, 0.4) if points else None, points, details
    )
    claim = Claim(
        statement, {"kind": "quadratics"}, {"kind": "scgd", "E": 4, "eta": "largest"}, name=name, expect=expect
    )
    method = {"kind": "scgd", "E": 4, "eta": "1/10000"}
    if not points:
        return ClaimResult(claim, verdict, method, failures)
    index = tuple(Fraction(k) for k in (0, 1, 100, 10000))
    return ClaimResult(
        claim,
        verdict,
        method,
        failures,
        index=index,
        rounds=tuple(int(20 * k) for k in index),
        metric_low=(8.0, 3.0, 0.5, 0.125),
        metric_high=tuple(high),
        bound=(8.0, 8.0, 4.0, 2.0),
        readings=(
            Reading("scgd/theorem_3_3/as_printed_main", False, (8.0, 8.0, 4.0, 2.0)),
            Reading("scgd/theorem_3_3/conservative", True, (16.0, 16.0, 8.0, 4.0)),
        ),
    )
