"""Assumptions that a problem cannot decide at the constants of a claim, tried at many points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from boundcheck.evidence.assumptions import check_assumption
from boundcheck.evidence.compare import DECIDED_HERE, standing, symbol_values
from boundcheck.setting.user_constants import key_of
from boundcheck.verdict import Grade, Outcome

if TYPE_CHECKING:
    from boundcheck.engines.curve import Curve
    from boundcheck.problems.problem import Problem
    from boundcheck.theory.statement import Statement


def with_assumptions(curve: Curve, constants: Mapping[str, Any], claimed: Statement, problem: Problem) -> Curve:
    """The curve with the assumptions that the problem has not decided at these constants tried at many points."""
    _, known = symbol_values(claimed, curve, constants)
    states = standing(claimed, curve, known)
    values = {name: c.value for name, c in known.items()}
    tried, broken = dict(curve.assumptions), dict(curve.violations)
    for assumption in claimed.assumptions:
        if states[assumption.name] != "granted":
            continue
        key = key_of(assumption)
        tried.pop(key, None)
        found = check_assumption(assumption, problem, values, claimed=claimed)
        if found.outcome is Outcome.VIOLATED:
            broken[key] = found.reason
            if found.grade is not Grade.EXACT:
                tried[key] = "sampled"
        elif found.outcome is Outcome.HOLDS:
            tried[key] = DECIDED_HERE if found.grade is Grade.EXACT else "sampled"
    return replace(curve, assumptions=tried, violations=broken)
