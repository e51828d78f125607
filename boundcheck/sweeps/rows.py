"""The rows of a chunk: bounds in boxes of the grid at once, claims and tunings one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, BoundcheckError, MissingExtra, Unsupported
from boundcheck.evidence.claim import Claim, ClaimResult, run_claim
from boundcheck.evidence.claim_spec import ClaimSpec
from boundcheck.evidence.rate import fit_rate
from boundcheck.evidence.tuning import Choice, Tuning, tune
from boundcheck.problems.build import build as build_problem
from boundcheck.sweeps.axes import Axis, Box, Path, boxes, levels
from boundcheck.sweeps.checks import CONSTANTS, setting_values
from boundcheck.sweeps.sweep import RESULTS, Sweep
from boundcheck.theory.discovery import statement
from boundcheck.theory.vectorised import evaluate_arrays
from boundcheck.verdict import Outcome

Columns = dict[str, Any]
# What a row is called on maps and in counts.
TIGHT, LOOSE, VACUOUS, OUT, VIOLATED = "tight", "loose", "vacuous", "out of scope", "violated"
UNDECIDED, IN_SCOPE, NOT_RUN = "undecided", "in scope", "not run"
LABELS = (TIGHT, LOOSE, IN_SCOPE, VACUOUS, OUT, VIOLATED, UNDECIDED, NOT_RUN)


def columns_of(sweep: Sweep, start: int, stop: int, tell: Callable[[float], None] | None = None) -> Columns:
    """The columns of the rows start..stop-1: those of the axes, then those of the results (`sweep.RESULTS`).

    `label` holds places in `LABELS`.
    """
    found = _axis_columns(sweep, start, stop)
    if sweep.kind == "bound":
        return found | _bounds(sweep, start, stop)
    rows: list[Mapping[str, Any]] = []
    for row in range(start, stop):
        rows.append(_compared(sweep, row) if sweep.kind == "compare" else _tuned(sweep, row))
        if tell is not None:
            tell((row + 1 - start) / (stop - start))
    found |= {name: [row.get(name) for row in rows] for name in RESULTS[sweep.kind]}
    return found | {"label": np.array([LABELS.index(name) for name in found["label"]])}


def point(sweep: Sweep, row: int) -> dict[Path, Any]:
    """The value of each axis at a row, exactly."""
    at = levels(row, sweep.shape)
    found = {axis.path: axis.values[level] for axis, level in zip(sweep.axes, at, strict=False)}
    if sweep.latin is not None:
        for number, axis in enumerate(sweep.latin.ranges):
            found[axis.path] = Fraction(float(sweep.latin.values(number, np.array([at[-1]]))[0]))
    return found


def _axis_columns(sweep: Sweep, start: int, stop: int) -> Columns:
    """Numbers of an axis as doubles; other values as they stand."""
    rows = np.arange(start, stop)
    places = np.unravel_index(rows, sweep.shape)
    found: Columns = {}
    for axis, place in zip(sweep.axes, places, strict=False):
        if axis.is_numeric:
            found[axis.name] = axis.floats[place]
        else:
            found[axis.name] = [axis.values[i] for i in place]
    if sweep.latin is not None:
        for number, axis in enumerate(sweep.latin.ranges):
            found[axis.name] = sweep.latin.values(number, np.asarray(places[-1]))
    return found


# --- bounds ----------------------------------------------------------------------------------------------------------


def _bounds(sweep: Sweep, start: int, stop: int) -> Columns:
    """Bound and scope, evaluated over the inner axes (constants and index) at once for each point of the outer ones."""
    outer = tuple(axis for axis in sweep.axes if axis.path[0] not in CONSTANTS)
    inner_shape = sweep.shape[len(outer) :]
    inner = math.prod(inner_shape)
    parts: list[Columns] = []
    for number in range(start // inner, -(-stop // inner)):
        at = levels(number, sweep.shape[: len(outer)])
        here = {axis.path: axis.values[i] for axis, i in zip(outer, at, strict=True)}
        low, high = max(start, number * inner) - number * inner, min(stop, (number + 1) * inner) - number * inner
        parts.append(_inner_bounds(sweep, here, inner_shape or (1,), low, high))
    return {name: np.concatenate([part[name] for part in parts]) for name in RESULTS["bound"]}


def _inner_bounds(
    sweep: Sweep, here: Mapping[Path, Any], shape: tuple[int, ...], start: int, stop: int
) -> dict[str, NDArray[Any]]:
    table = sweep.table(here)
    claimed = statement(str(table["statement"]))
    symbols = {s.name for s in claimed.symbols}
    value, in_scope, vacuous = np.full(stop - start, np.nan), *np.zeros((2, stop - start), dtype=bool)
    reasons = np.full(stop - start, None, dtype=object)
    fixed: dict[str, Any] = {}
    if "problem" in table or "method" in table:
        given = setting_values(claimed, table)
        if isinstance(given, str):
            reasons[:] = f"{claimed.best_id}: {given}."
            start = stop  # nothing is evaluated
        else:
            fixed |= given
    for group in CONSTANTS:
        fixed |= {k: as_fraction(v, k) for k, v in table.get(group, {}).items() if k in symbols}
    domain = f"outside the domain of {claimed.best_id}: {', '.join(map(str, claimed.domain))} is needed."
    done = 0
    for box in boxes(shape, start, stop):
        rows, form = slice(done, done + box.size), (len(box.slice), *box.rest)
        done += box.size
        values = fixed | _box_values(sweep, box, symbols)
        own = np.broadcast_shapes(*(np.shape(v) for v in values.values()))
        outside = np.zeros(math.prod(own), dtype=bool)
        try:
            found = (*evaluate_arrays(claimed, values, outside=outside)[:3], outside.reshape(own))
        except BoundcheckError as error:
            reasons[rows] = str(error)
            continue
        value[rows], in_scope[rows], vacuous[rows], out = (np.broadcast_to(f, form).reshape(-1) for f in found)
        if out.any():
            reasons[done - box.size + np.flatnonzero(out)] = domain
    label = np.where(in_scope, np.where(vacuous, *map(LABELS.index, (VACUOUS, IN_SCOPE))), LABELS.index(OUT))
    refused = np.not_equal(reasons, np.array(None))
    label[refused], value[refused] = LABELS.index(NOT_RUN), np.nan
    return {"label": label, "bound": value, "in_scope": in_scope, "vacuous": vacuous, "reason": reasons}


def _box_values(sweep: Sweep, box: Box, symbols: set[str]) -> dict[str, Any]:
    """Symbol -> exact number, or array that broadcasts over the box: each level is converted once, not each row."""
    axes: list[Axis | None] = [axis for axis in sweep.axes if axis.path[0] in CONSTANTS]
    if sweep.latin is not None:
        axes.append(None)
    found: dict[str, Any] = {}
    sides = [*(range(level, level + 1) for level in box.fixed), box.slice, *map(range, box.rest)]
    for number, (axis, along) in enumerate(zip(axes, sides, strict=False)):
        form = [1] * (1 + len(box.rest))
        form[max(0, number - len(box.fixed))] = len(along)
        if axis is not None:
            here = np.empty(len(along), dtype=object)
            here[:] = axis.values[along.start : along.stop]
            found[axis.path[-1]] = here.reshape(form)
        elif sweep.latin is not None:
            index = np.arange(along.start, along.stop)
            for k, of in enumerate(sweep.latin.ranges):
                found[of.path[-1]] = sweep.latin.values(k, index).reshape(form)
    return {name: array for name, array in found.items() if name in symbols}


# --- claims ----------------------------------------------------------------------------------------------------------


def claim_of(sweep: Sweep, row: int) -> Claim:
    """The claim of a row."""
    values = {path: value for path, value in point(sweep, row).items() if path != ("target",)}
    return ClaimSpec.model_validate(sweep.table(values)).to_claim(row)


def _compared(sweep: Sweep, row: int) -> Mapping[str, Any]:
    try:
        result = run_claim(claim_of(sweep, row))
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
    """The log-log slope of the metric over the last half of the log range of rounds; None where there is none."""
    kept = [i for i, r in enumerate(result.rounds[: len(result.metric_high)]) if r > 0]
    middle = [(result.metric_low[i] + result.metric_high[i]) / 2 for i in kept]
    try:
        return fit_rate([float(result.rounds[i]) for i in kept], middle).slope
    except (BadInput, ValueError):
        return None


# --- recommendations -------------------------------------------------------------------------------------------------


def _tuned(sweep: Sweep, row: int) -> Mapping[str, Any]:
    try:
        claim = claim_of(sweep, row)
        target = as_fraction(point(sweep, row).get(("target",), sweep.target), "target")
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
