"""The other readings of a claim's statement beside it: their bounds at the same points and the same constants."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from boundcheck.engines.curve import Curve
from boundcheck.errors import BadInput
from boundcheck.evidence.claim_rounds import metrics_of
from boundcheck.evidence.compared_points import Points, points_of
from boundcheck.evidence.hypotheses import objection_of
from boundcheck.theory.discovery import readings
from boundcheck.theory.quantities import round_symbols
from boundcheck.theory.scope import decide_scope, scope_symbols
from boundcheck.theory.statement import Statement


@dataclass(frozen=True)
class Reading:
    """Another reading of the same statement at the same constants: its bound, and whether it is in scope.

    Out of scope is also what rests on an assumption that the run is known to break. remark: why its bound has no value
    here, or empty; the bound is NaN then.
    """

    id: str
    in_scope: bool | None
    bound: tuple[float, ...]
    remark: str = ""


def readings_beside(
    claimed: Statement, curve: Curve, values: Mapping[str, Fraction], points: Points
) -> tuple[Reading, ...]:
    """Those readings that measure the same at the compared points and whose symbols all have admissible values."""
    paper, _, rest = claimed.id.partition("/")
    beside: list[Reading] = []
    for other in readings(paper, rest.partition("/")[0]) if rest else ():
        if other.id == claimed.id or other.metric != claimed.metric or not metrics_of(other) <= set(curve.values):
            continue
        at = _constants_of(other, claimed, values, curve)
        if {s.name for s in other.symbols} - set(at) - {str(other.metric.index), *round_symbols(other)}:
            continue
        if not all(s.admits(at[s.name]) for s in other.symbols if s.name in at):  # it does not cover these values
            continue
        try:
            bound = points_of(other, curve, at, points.index, every_index=True).bound_high
            if len(bound) != len(points):
                continue
            names = scope_symbols(other)
            in_scope = decide_scope(other, {k: v for k, v in at.items() if k in names}, every_index=True).in_scope
        except BadInput as error:  # the claim is about another reading, so that this is a remark
            beside.append(Reading(other.id, None, (math.nan,) * len(points), str(error)))
            continue
        if any(objection_of(curve, assumption) is not None for assumption in other.assumptions):
            in_scope = False
        beside.append(Reading(other.id, in_scope, tuple(float(b) for b in bound)))
    return tuple(beside)


def _constants_of(
    other: Statement, claimed: Statement, values: Mapping[str, Fraction], curve: Curve
) -> dict[str, Fraction]:
    """The values of another reading's symbols: the claim's where both mean the same, else those of the run."""
    keys = {s.name: s.key for s in claimed.symbols}
    found = {k: c.value for k, c in other.known(curve.constants).items()}
    found |= {s.name: values[s.name] for s in other.symbols if s.name in values and keys.get(s.name) == s.key}
    return {s.name: found[s.name] for s in other.symbols if s.name in found}
