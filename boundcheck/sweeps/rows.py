"""The rows of a chunk: bounds in boxes of the grid at once, claims and tunings one after the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, BoundcheckError, MissingExtra, Unsupported
from boundcheck.evidence.claim import Claim, ClaimResult, run_claim
from boundcheck.evidence.claim_spec import ClaimSpec
from boundcheck.evidence.rate import fit_rate
from boundcheck.evidence.tuning import Choice, Tuning, tune
from boundcheck.problems.build import build as build_problem
from boundcheck.sweeps.checks import setting_values
from boundcheck.sweeps.sweep import CONSTANTS, RESULTS, Box, Path, Sweep, objects
from boundcheck.theory.arrays import evaluate_arrays
from boundcheck.theory.discovery import statement
from boundcheck.verdict import Outcome

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement

Columns = dict[str, Any]
# What a row is called on maps and in counts.
TIGHT, LOOSE, VACUOUS, OUT, VIOLATED = "tight", "loose", "vacuous", "out of scope", "violated"
UNDECIDED, IN_SCOPE, NOT_RUN = "undecided", "in scope", "not run"
LABELS = (TIGHT, LOOSE, IN_SCOPE, VACUOUS, OUT, VIOLATED, UNDECIDED, NOT_RUN)


def columns_of(sweep: Sweep, box: Box, tell: Callable[[float], None] | None = None) -> Columns:
    """The columns of the rows of a box: those of the axes, then those of the results (`sweep.RESULTS`).

    Numbers of an axis are doubles, other values stand as they are; `label` holds places in `LABELS`.
    """
    found = {name: np.broadcast_to(column, [*map(len, box)]).reshape(-1) for name, column in _sides(sweep, box)}
    if sweep.kind == "bound":
        return found | _bounds(sweep, box)
    rows: list[Mapping[str, Any]] = []
    total = math.prod(map(len, box))
    for levels in itertools.product(*box):
        point = sweep.point(levels)
        rows.append(_compared(sweep, point) if sweep.kind == "compare" else _tuned(sweep, point))
        if tell is not None:
            tell(len(rows) / total)
    found |= {name: [row.get(name) for row in rows] for name in RESULTS[sweep.kind]}
    return found | {"label": np.array([LABELS.index(name) for name in found["label"]])}


def _sides(sweep: Sweep, box: Box, *, exact: bool = False) -> list[tuple[str, Any]]:
    """(name of the column, its values at the levels of the box) of every axis, in the shape that broadcasts over it.

    exact: numbers of the grids as fractions, and names of symbols.
    """
    found: list[tuple[str, Any]] = []
    for number, axis in enumerate(sweep.axes):
        form = [1] * len(box)
        form[number] = len(box[number])
        part = slice(box[number].start, box[number].stop)
        values = objects(axis.values[part]) if exact else axis.column[part]
        found.append((axis.path[-1] if exact else axis.name, values.reshape(form)))
    if sweep.latin is not None:
        table = sweep.latin.table[box[-1].start : box[-1].stop]
        names = [r.path[-1] if exact else r.name for r in sweep.latin.ranges]
        found += [(name, table[:, k]) for k, name in enumerate(names)]
    return found


# --- bounds ----------------------------------------------------------------------------------------------------------


def _bounds(sweep: Sweep, box: Box) -> Columns:
    """Bound and scope, evaluated over the inner axes (constants and index) at once for each point of the outer ones."""
    outer = sum(axis.path[0] not in CONSTANTS for axis in sweep.axes)
    inner = [range(level, level + 1) for level in (0,) * outer]
    values = _sides(sweep, (*inner, *box[outer:]), exact=True)[outer:]
    form = tuple(map(len, box[outer:]))
    parts = [
        _inner_bounds(
            sweep, sweep.table(sweep.point(levels)), {n: v.reshape(v.shape[-len(form) :]) for n, v in values}, form
        )
        for levels in itertools.product(*box[:outer])
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in RESULTS["bound"]}


def _inner_bounds(sweep: Sweep, table: dict[str, Any], values: dict[str, Any], form: tuple[int, ...]) -> Columns:
    """The results at one point of the outer axes, whose keys of a claim are given.

    values: of the symbols of the inner axes, in shapes that broadcast to `form`.
    """
    claimed = statement(str(table["statement"]))
    symbols = {s.name for s in claimed.symbols}
    size = math.prod(form)
    reasons = np.full(size, None, dtype=object)
    value, in_scope, vacuous, outside = np.full(size, np.nan), *np.zeros((3, size), dtype=bool)
    try:
        given: dict[str, Any] = dict(_of_setting(claimed, table))
        for group in CONSTANTS:
            given |= {k: as_fraction(v, k) for k, v in table.get(group, {}).items() if k in symbols}
        given |= {name: array for name, array in values.items() if name in symbols}
        own = np.broadcast_shapes(*(np.shape(v) for v in given.values()))
        out = np.zeros(math.prod(own), dtype=bool)
        found = (*evaluate_arrays(claimed, given, outside=out)[:3], out.reshape(own))
        value, in_scope, vacuous, outside = (np.broadcast_to(f, form).reshape(-1) for f in found)
    except BoundcheckError as error:
        reasons[:] = str(error)
    reasons[outside] = f"outside the domain of {claimed.best_id}: {', '.join(map(str, claimed.domain))} is needed."
    label = np.where(in_scope, np.where(vacuous, *map(LABELS.index, (VACUOUS, IN_SCOPE))), LABELS.index(OUT))
    refused = np.not_equal(reasons, np.array(None))
    label[refused], value = LABELS.index(NOT_RUN), np.where(refused, np.nan, value)
    return {"label": label, "bound": value, "in_scope": in_scope, "vacuous": vacuous, "reason": reasons}


def _of_setting(claimed: Statement, table: Mapping[str, Any]) -> Mapping[str, Fraction]:
    """The constants of problem and method, where the table names them. Raises BadInput where they give none."""
    if "problem" not in table and "method" not in table:
        return {}
    found = setting_values(claimed, table)
    if isinstance(found, str):
        raise BadInput(f"{claimed.best_id}: {found}.")
    return found


# --- claims ----------------------------------------------------------------------------------------------------------


def claim_of(sweep: Sweep, point: Mapping[Path, Any]) -> Claim:
    """The claim of a row, whose point is given."""
    values = {path: value for path, value in point.items() if path != ("target",)}
    return ClaimSpec.model_validate(sweep.table(values)).to_claim(0)


def _compared(sweep: Sweep, point: Mapping[Path, Any]) -> Mapping[str, Any]:
    try:
        result = run_claim(claim_of(sweep, point))
    except (BadInput, MissingExtra, Unsupported) as error:
        return {"label": NOT_RUN, "reason": str(error)}
    verdict = result.verdict
    ratio = None if verdict.tightness is None else verdict.tightness.ratio_min
    return {
        "label": _label(verdict.outcome, ratio, sweep.tight),
        "outcome": verdict.outcome.value,
        "grade": None if verdict.grade is None else verdict.grade.value,
        "tightness": ratio,
        "slope": _slope(result),
        "bound_end": result.bound[-1] if result.bound else None,
        "metric_low_end": result.metric_low[-1] if result.metric_low else None,
        "metric_high_end": result.metric_high[-1] if result.metric_high else None,
        "reason": verdict.reason,
    }


def _label(outcome: Outcome, ratio: float | None, tight: float) -> str:
    if outcome is Outcome.HOLDS:
        return TIGHT if ratio is not None and ratio <= tight else LOOSE
    named = {Outcome.VACUOUS: VACUOUS, Outcome.OUT_OF_SCOPE: OUT, Outcome.VIOLATED: VIOLATED}
    return named.get(outcome, UNDECIDED if outcome is Outcome.UNDECIDED else NOT_RUN)


def _slope(result: ClaimResult) -> float | None:
    """The log-log slope of the metric over the last half of the log range of rounds; None if there is none."""
    kept = [i for i, r in enumerate(result.rounds[: len(result.metric_high)]) if r > 0]
    middle = [(result.metric_low[i] + result.metric_high[i]) / 2 for i in kept]
    try:
        return fit_rate([float(result.rounds[i]) for i in kept], middle).slope
    except (BadInput, ValueError):
        return None


# --- recommendations -------------------------------------------------------------------------------------------------


def _tuned(sweep: Sweep, point: Mapping[Path, Any]) -> Mapping[str, Any]:
    try:
        claim = claim_of(sweep, point)
        target = as_fraction(point.get(("target",), sweep.target), "target")
        found = tune(statement(claim.statement), build_problem(claim.problem), claim.method, target, claim.constants)
    except (BadInput, MissingExtra, Unsupported) as error:
        return {"label": NOT_RUN, "reason": str(error)}
    if found.recommended is None:
        return {"label": VACUOUS, "reason": found.why}
    steps = [_step(found, choice) for choice in (found.recommended, found.best)]
    ratio = found.ratio
    return {
        "label": UNDECIDED if ratio is None else TIGHT if ratio <= sweep.tight else LOOSE,
        "ratio": ratio,
        "step_ratio": None if None in steps else nearest_float(steps[1] / steps[0]),  # type: ignore[operator]
        "recommended_step": None if steps[0] is None else nearest_float(steps[0]),
        "best_step": None if steps[1] is None else nearest_float(steps[1]),
        "promised_rounds": found.recommended.rounds,
        "needed_rounds": found.really,
        "best_rounds": None if found.best is None else found.best.rounds,
        "reason": None,
    }


def _step(found: Tuning, choice: Choice | None) -> Fraction | None:
    if choice is None or found.step is None or found.step not in choice.method:
        return None
    return as_fraction(choice.method[found.step], found.step)
