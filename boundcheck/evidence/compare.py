"""Bound against curve: the Verdict of a claim on one run.

Precedence: FAILED, OUT_OF_SCOPE, VIOLATED, VACUOUS, UNDECIDED, HOLDS. Both sides are enclosures, so an
inequality is decided only where the enclosures are apart; what touches is UNDECIDED unless exact
arithmetic decides it (`evidence.judging`). The expectation of a sampled curve is judged by `evidence.confidence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.constants.constant import Constant, Known
from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.errors import BadInput
from boundcheck.evidence.assumptions import covers
from boundcheck.evidence.judging import judge, tightness_of
from boundcheck.evidence.points import Points, index_name, points_of
from boundcheck.theory.scope import scope_symbols
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Grade, Outcome, Verdict, plain

if TYPE_CHECKING:
    from boundcheck.theory.scope import Scope

__all__ = ["Points", "compare", "hypotheses", "points_of", "resolve", "standing"]


def resolve(
    statement: Statement, curve: Curve, constants: Mapping[str, Any] | None
) -> tuple[dict[str, Fraction], dict[str, Constant]]:
    """Values of the statement's symbols (the index excepted) and how each is known.

    Given constants take precedence over the curve's own. Raises BadInput where one is missing.
    """
    known: dict[str, Constant] = {}
    given = dict(constants or {})
    for name in given:
        statement.symbol(name)
    for symbol in statement.symbols:
        if symbol.name == statement.metric.index:
            continue
        if symbol.name in given:
            value = given[symbol.name]
            if not isinstance(value, Constant):
                value = Constant(as_fraction(value, symbol.name), Known.EXACT, "exact", "given")
            known[symbol.name] = value
        elif symbol.name in curve.constants:
            known[symbol.name] = curve.constants[symbol.name]
    missing = [s.name for s in statement.symbols if s.name not in known and s.name != statement.metric.index]
    if missing:
        raise BadInput(
            f"{statement.best_id}: no value for {', '.join(missing)}; neither the problem nor the method has "
            f"{'it' if len(missing) == 1 else 'them'}, so give {'it' if len(missing) == 1 else 'them'} as constants."
        )
    return {name: c.value for name, c in known.items()}, known


def standing(statement: Statement, curve: Curve, known: Mapping[str, Constant]) -> dict[str, str]:
    """How each assumption of the statement is known at these constants.

    "broken"; "decided" (exactly, by the problem); "sampled" (at many points); "granted" (taken for granted). What the
    problem decided for its own constants says nothing about others that were given, unless they are on the safe side.
    """
    found: dict[str, str] = {}
    for assumption in statement.assumptions:
        state = curve.assumptions.get(assumption.name, "granted")
        if _objection(curve, assumption.name) is not None:
            state = "broken"
        elif state == "decided" and not covers(assumption, curve.constants, {k: c.value for k, c in known.items()}):
            state = "granted"
        found[assumption.name] = state
    return found


def _objection(curve: Curve, assumption: str) -> str | None:
    """Why the run's problem breaks an assumption, None where it is not known to."""
    if assumption in curve.violations:
        return curve.violations[assumption]
    kind, _, asked = assumption.partition(":")
    own = [name.partition(":")[2] for name in curve.assumptions if name.startswith("instance:")]
    if kind == "instance" and own and asked not in own:
        return f"the statement is about the example '{asked}', the problem is '{own[0]}'."
    return None


def hypotheses(statement: Statement, curve: Curve, values: Mapping[str, Fraction]) -> tuple[str | None, Scope]:
    """Why the statement says nothing about this run (None: it does), and the decided step conditions."""
    names = scope_symbols(statement)
    scope = statement.scope(**{k: v for k, v in values.items() if k in names})
    if (
        statement.algorithm is not None
        and curve.algorithms is not None
        and statement.algorithm.kind not in curve.algorithms
    ):
        ran = " or ".join(curve.algorithms) or "no named method"
        return f"the statement is about {statement.algorithm.kind}, the run is {ran}", scope
    for assumption in statement.assumptions:
        objection = _objection(curve, assumption.name)
        if objection is not None:
            return f"assumption {assumption.name} fails: {objection.rstrip('.')}", scope
    for c in scope.conditions:
        if c.holds is False:
            missed = "a side has no real value" if np.isnan(c.slack[1]) else f"is missed by {-c.slack[1]:.3g}"
            return f"condition '{c.name}' fails: {c.relation} {missed}", scope
    return None, scope


def compare(
    statement: Statement, curve: Curve, constants: Mapping[str, Any] | None = None, *, level: float = 0.999
) -> Verdict:
    """The verdict on one run.

    constants: values (or Constant objects) by symbol name, over those that the curve carries. level: of the
    sequential test on sampled curves. `details` (JSON-able) holds the constants and how each is known, the scope
    with slacks, `assumptions` (name -> broken, decided, sampled or granted), `taken_for_granted` (the names that are
    not decided), `violations`, `negligible` (how many points were left out because both sides are below 1e-300) and
    for sampled runs `statistics`.
    Raises BadInput where a symbol has no value, the metric is missing or the statement's symbols do not admit the
    values (mu > L, ...).
    """
    values, known = resolve(statement, curve, constants)
    out, scope = hypotheses(statement, curve, values)
    assumed = standing(statement, curve, known)
    details: dict[str, Any] = {
        "constants": {k: c.to_dict() for k, c in known.items()},
        "scope": scope.to_dict(),
        "assumptions": assumed,
        "taken_for_granted": [name for name, state in assumed.items() if state in ("sampled", "granted")],
        "violations": {name: _objection(curve, name) for name, state in assumed.items() if state == "broken"},
    }
    base = Verdict(statement.best_id, Outcome.UNDECIDED, None, "", details=details)
    points = None
    if out is None or statement.metric.quantity in curve.values:  # a run out of scope may lack the metric
        points = points_of(statement, curve, values)
        failure = _failure(statement, points)
        if failure is not None:
            return replace(base, outcome=Outcome.FAILED, reason=failure)
    if out is not None:
        grade = _weakest(known[name] for name in scope_symbols(statement))
        return replace(base, outcome=Outcome.OUT_OF_SCOPE, grade=grade, reason=f"Out of scope: {out}.")
    assert points is not None
    base = replace(base, points=len(points), tightness=tightness_of(points))
    if scope.in_scope is None:
        return replace(base, reason="A condition could not be decided, so neither can the claim.")
    found = judge(points, level)
    grade = found.grade
    if grade is not None:
        grade = grade.at_most(_ceiling(curve, points)).at_most(_weakest(known.values()))
        if not all(state == "decided" for state in assumed.values()):
            grade = grade.at_most(Grade.SUPPORTED)
    details["negligible"] = found.negligible
    if found.statistics:
        details["statistics"] = plain(found.statistics)
    return replace(
        base,
        outcome=found.outcome,
        grade=grade,
        reason=found.reason,
        witness={} if found.at is None else points.witness(found.at),
        points=len(points) - found.negligible,
    )


def _failure(statement: Statement, points: Points) -> str | None:
    """Why there is nothing to compare, or None."""
    if not len(points):
        return f"No measured round falls on an admissible {index_name(statement)}; measure at other rounds."
    broken = np.isnan(points.low) | np.isnan(points.high)
    if broken.any():
        return f"The run gave no number at round {points.rounds[int(np.argmax(broken))]}."
    unknown = np.isnan(points.bound_low) | np.isnan(points.bound_high)
    if unknown.any():
        k = format_short(points.index[int(np.argmax(unknown))])
        return f"The bound has no value at {index_name(statement)} = {k}."
    return None


def _ceiling(curve: Curve, points: Points) -> Grade:
    """The best grade that the run's arithmetic allows; exactly known metrics need no rounding bound."""
    rigorous = curve.arithmetic in (Arithmetic.RATIONAL, Arithmetic.BALL)
    return Grade.EXACT if rigorous or all(v is not None for v in points.exact) else Grade.SUPPORTED


def _weakest(constants: Iterable[Constant]) -> Grade:
    grade = Grade.EXACT
    for constant in constants:
        grade = grade.at_most(constant.known.best_grade)
    return grade
