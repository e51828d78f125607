"""Bound against curve: the Verdict of a claim on one run.

Precedence: FAILED, OUT_OF_SCOPE, VIOLATED, VACUOUS, UNDECIDED, HOLDS. Both sides are enclosures, so an
inequality is decided only where the enclosures are apart; what touches is UNDECIDED unless exact
arithmetic decides it (`evidence.judging`). The expectation of a sampled curve is judged by `evidence.confidence`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.certified.constant import Constant, Known
from boundcheck.core.numbers import format_exact, format_short
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.summaries import NoAverage
from boundcheck.errors import BadInput
from boundcheck.evidence.assumptions import covers
from boundcheck.evidence.compared_points import Points, index_name, points_of, run_again
from boundcheck.evidence.judging import Judgement, NoLimit, judge, tightness_of
from boundcheck.evidence.kind_parameters import UNDECIDED, Parameters, objection_to_run
from boundcheck.evidence.measurement_error import from_below, low_precision
from boundcheck.evidence.taken_for_granted import untested
from boundcheck.setting.user_constants import check_parameters, given_constants, key_of, rounded, within_rounding
from boundcheck.theory.choices import check_choices
from boundcheck.theory.decide import Undefined
from boundcheck.theory.nearest import guarantees_nothing, nearest_guarantee
from boundcheck.theory.quantities import round_symbols
from boundcheck.theory.scope import decide_scope, index_conditions, index_rows, missed_by, scope_symbols
from boundcheck.theory.statement import Kind, Statement
from boundcheck.theory.typeset import relation_text
from boundcheck.verdict import Grade, Outcome, Verdict, plain

if TYPE_CHECKING:
    from boundcheck.theory.assumptions import Assumption
    from boundcheck.theory.scope import Scope

_MISSED = "condition "  # how the reason of a step condition begins

# How `Curve.assumptions` says that a hypothesis was decided for the constants of a claim, not only for the run's own.
DECIDED_HERE = "decided for the given constants"


def symbol_values(
    statement: Statement, curve: Curve, constants: Mapping[str, Any] | None
) -> tuple[dict[str, Fraction], dict[str, Constant]]:
    """Values of the statement's symbols (the index excepted) and how each is known.

    Given constants take precedence over the curve's own as far as they do not contradict them
    (`setting.user_constants`). Raises BadInput where one is missing or contradicts the run.
    """
    known: dict[str, Constant] = {}
    methods = tuple(statement.known(dict.fromkeys(curve.parameters or ())))
    if curve.parameters is not None:
        check_parameters(statement, methods)
    own = statement.known(curve.constants)
    given = given_constants(statement, own, constants or {}, methods)
    for symbol in statement.symbols:
        if symbol.name == statement.metric.index:
            continue
        if symbol.name in given:
            known[symbol.name] = given[symbol.name]
        elif symbol.name in own:
            known[symbol.name] = own[symbol.name]
    changing = round_symbols(statement)
    missing = [s.name for s in statement.symbols if s.name not in {*known, *changing, statement.metric.index}]
    if missing:
        raise BadInput(
            f"{statement.best_id}: no value for {', '.join(missing)}; neither the problem nor the method has "
            f"{'it' if len(missing) == 1 else 'them'}, so give {'it' if len(missing) == 1 else 'them'} as constants"
            f"{statement.keyless(missing)}."
        )
    return {name: c.value for name, c in known.items()}, known


def standing(statement: Statement, curve: Curve, known: Mapping[str, Constant]) -> dict[str, str]:
    """How each assumption of the statement is known at these constants.

    "broken"; "decided" (exactly, by the problem); "sampled" (at many points); "granted" (taken for granted). What the
    problem decided for its own constants says nothing about others that were given, unless they are on the safe side.
    """
    found: dict[str, str] = {}
    own = statement.known(curve.constants)
    for assumption in statement.assumptions:
        state = curve.assumptions.get(key_of(assumption), "granted")
        if objection_of(curve, assumption) is not None:
            state = "broken"
        elif state == DECIDED_HERE:
            state = "decided"
        elif state == "decided" and not covers(assumption, own, {k: c.value for k, c in known.items()}):
            state = "granted"
        found[assumption.name] = state
    return found


def objection_of(curve: Curve, assumption: Assumption) -> str | None:
    """Why the run's problem breaks an assumption, None where it is not known to."""
    if key_of(assumption) in curve.violations:
        return curve.violations[key_of(assumption)]
    kind, _, asked = assumption.name.partition(":")
    own = [name.partition(":")[2] for name in curve.assumptions if name.startswith("instance:")]
    if kind == "instance" and own and asked not in own:
        return f"the statement is about the example '{asked}', the problem is '{own[0]}'."
    return None


def _scope(statement: Statement, values: Mapping[str, Fraction]) -> Scope:
    """The scope without what is said of the index, which decides where to compare (`evidence.compared_points`)."""
    if index_conditions(statement):
        return decide_scope(statement, values, every_index=True)
    return statement.scope(**values)


def hypotheses(statement: Statement, curve: Curve, values: Mapping[str, Fraction]) -> tuple[str | None, Scope]:
    """Why the statement says nothing about this run (None: it does), and the decided step conditions."""
    names = scope_symbols(statement, choices=True)
    scope = _scope(statement, {k: v for k, v in values.items() if k in names})
    if (
        statement.algorithm is not None
        and curve.algorithms is not None
        and statement.algorithm.kind not in curve.algorithms
    ):
        kind = statement.algorithm.kind
        why = curve.info.get("unnamed", {}).get(kind)
        if why is not None:
            return f"the statement is about {kind}, {why}", scope
        ran = " or ".join(curve.algorithms) or "no named method"
        return f"the statement is about {kind}, the run is {ran}", scope
    steps = objection_to_run(statement, Parameters.of_curve(curve), _last(curve), values)
    if steps is not None and not steps.startswith(UNDECIDED):
        return steps, scope
    for assumption in statement.assumptions:
        objection = objection_of(curve, assumption)
        if objection is not None:
            return f"assumption {assumption.name} fails: {objection.rstrip('.')}", scope
    for choice in check_choices(statement, values):
        if choice.met is False:
            return choice.objection(values[choice.name]), scope
    for c in scope.conditions:
        if c.holds is False:
            return f"{_MISSED}'{c.name}' fails: {c.relation} {missed_by(c)}", scope
    return None, scope


def _last(curve: Curve) -> int:
    """The last measured round."""
    return int(curve.rounds[-1]) if len(curve.rounds) else 0


def _other_steps(statement: Statement, curve: Curve, constants: Mapping[str, Any] | None) -> Verdict | None:
    """The verdict on a run of other step sizes, for which a value of the statement may not even exist; else None."""
    values = {name: c.value for name, c in statement.known(curve.constants).items()}
    values |= {name: c.value if isinstance(c, Constant) else c for name, c in (constants or {}).items()}
    steps = objection_to_run(statement, Parameters.of_curve(curve), _last(curve), values)
    if steps is None or steps.startswith(UNDECIDED):
        return None
    details = {"constants": {}, "assumptions": {}, "taken_for_granted": [], "violations": {}}
    return Verdict(statement.best_id, Outcome.OUT_OF_SCOPE, Grade.EXACT, f"Out of scope: {steps}.", details=details)


def compare(
    statement: Statement,
    curve: Curve,
    constants: Mapping[str, Any] | None = None,
    *,
    level: float = 0.999,
    at: Sequence[Fraction] | None = None,
    limit: Fraction | NoLimit | None = None,
) -> Verdict:
    """The verdict on one run.

    constants: values (or Constant objects) by symbol name, over those that the curve carries. level: of the sequential
    test on sampled curves. at: for an average over rounds, where to compare it (`compared_points`). A value that the
    statement prescribes (a tuned step) is out of scope unless it is met, or rounded down to a relative 1e-12, which
    `details["rounded_choices"]` says. limit: the exact limit of the metric, where it is known; it decides a claim about
    the limit, which no finite range could refute, and is told in `details["limit"]`. `details` (JSON-able) holds the
    constants and how each is known, the scope with slacks, `assumptions` (name -> broken, decided, sampled or granted),
    `taken_for_granted` (the names that are not decided), `violations`, `negligible` (how many points were left out
    because both sides are below 1e-300) and for sampled runs `statistics`.
    What was neither decided nor sampled is named at the end of the reason ("Taken for granted: ..."), and the grade is
    then at most SUPPORTED. Where constants were estimated along a run, another sentence names them.
    Raises BadInput where a symbol has no value, the metric is missing or the statement's symbols do not admit the
    values (mu > L, ...).
    """
    try:
        values, known = symbol_values(statement, curve, constants)
    except BadInput:
        other = _other_steps(statement, curve, constants)
        if other is None:
            raise
        return other
    curve = run_again(statement, curve, values)
    verdict = _compared(statement, curve, values, known, level, at, limit)
    if verdict.outcome is Outcome.VIOLATED:
        told = _unresolved(statement, curve, lambda low: _compared(statement, low, values, known, level, at, limit))
        if told is not None:
            verdict = replace(verdict, outcome=Outcome.UNDECIDED, grade=Grade.SUPPORTED, reason=told)
    estimates = [name for name, constant in known.items() if constant.known is Known.ESTIMATED]
    if "estimated" not in curve.info or not estimates:
        return verdict
    told = f"Estimated, not proved, {curve.info['estimated']}: {', '.join(estimates)}."
    grade = None if verdict.grade is None else verdict.grade.at_most(Grade.SUPPORTED)
    return replace(verdict, reason=f"{verdict.reason} {told}".strip(), grade=grade)


def _unresolved(statement: Statement, curve: Curve, compared: Callable[[Curve], Verdict]) -> str | None:
    """Why a violation is none that was seen for certain; None where it stays one with the metric from below."""
    below = from_below(curve, statement.metric.quantity) if statement.metric.quantity in curve.values else None
    precision = low_precision(curve)
    if statement.kind is Kind.EQUALITY and precision is not None:
        return f"Equalities are not decided by a run in {precision}; take precision = 'float64'."
    if below is None or statement.kind is not Kind.UPPER_BOUND or compared(below).outcome is Outcome.VIOLATED:
        return None
    why = "which a metric that is known from above only, or the run's rounding, may explain"
    return f"The metric was measured above the bound, {why}."


def _compared(
    statement: Statement,
    curve: Curve,
    values: dict[str, Fraction],
    known: dict[str, Constant],
    level: float,
    at: Sequence[Fraction] | None,
    limit: Fraction | NoLimit | None,
) -> Verdict:
    out, scope = hypotheses(statement, curve, values)
    assumed = standing(statement, curve, known)
    details: dict[str, Any] = {
        "constants": {k: c.to_dict() for k, c in known.items()},
        "scope": scope.to_dict(),
        "assumptions": assumed,
        "taken_for_granted": [name for name, state in assumed.items() if state in ("sampled", "granted")],
        "violations": {a.name: objection_of(curve, a) for a in statement.assumptions if assumed[a.name] == "broken"},
    }
    base = Verdict(statement.best_id, Outcome.UNDECIDED, None, "", details=details)
    points = None
    undecided_choices: list[str] = []
    if out is None or statement.metric.quantity in curve.values:  # a run out of scope may lack the metric
        try:
            points = points_of(statement, curve, values, at)
        except (NoAverage, Undefined) as error:  # out of scope the sides need not have a value
            if out is None and isinstance(error, Undefined):
                raise
            if out is None:
                return replace(base, outcome=Outcome.FAILED, reason=str(error))
    if points is not None:
        failure = _failure(statement, points)
        if out is None and failure is not None and not len(points):
            out = _outside(statement, curve, values, at)
        if failure is not None and (out is None or len(points)):
            return replace(base, outcome=Outcome.FAILED, reason=failure)
        if out is None and len(points):
            out, rounded_choices, undecided_choices = _along(statement, points)
            if rounded_choices:
                details["rounded_choices"] = rounded_choices
        if index_conditions(statement):
            rows = index_rows(statement, values, points.index, at or ())
            details["scope"] = replace(scope, conditions=(*scope.conditions, *rows)).to_dict()
    if out is not None:
        verdict = _out_of_scope(statement, base, out, known)
        if verdict.outcome is Outcome.OUT_OF_SCOPE and out.startswith(_MISSED) and guarantees_nothing(statement, scope):
            told = told_nearest(statement, _at_last(statement, points, values), details)
            reason = f"The statement guarantees nothing here: {out}{told}."
            verdict = replace(verdict, outcome=Outcome.VACUOUS, reason=reason)
        broken = [key_of(a) for a in statement.assumptions if assumed[a.name] == "broken"]
        if verdict.grade is not None and any(curve.assumptions.get(key) == "sampled" for key in broken):
            verdict = replace(verdict, grade=verdict.grade.at_most(Grade.SUPPORTED))  # seen in double precision only
        return verdict
    assert points is not None
    base = replace(base, points=len(points), tightness=None if statement.kind is Kind.LIMIT else tightness_of(points))
    open_ = objection_to_run(statement, Parameters.of_curve(curve), _last(curve), values)
    if open_ is not None:
        return replace(base, reason=f"{open_[0].upper()}{open_[1:]}.")
    if scope.in_scope is None:
        open_ = " and ".join(f"'{c.name}' ({c.relation})" for c in scope.conditions if c.holds is None)
        return replace(base, reason=f"It could not be decided whether this is in scope: condition {open_} is open.")
    granted = untested(statement, curve, known, assumed, undecided_choices)
    found = judge(points, level, limit)
    grade = found.grade
    if grade is not None:
        grade = grade.at_most(_ceiling(curve, points)).at_most(_weakest(known.values()))
        if granted or not all(state == "decided" for state in assumed.values()):
            grade = grade.at_most(Grade.SUPPORTED)
        if curve.rounded_steps:
            details["rounded_steps"] = "The run's step size is the statement's, rounded down by about 1e-13."
            grade = grade.at_most(Grade.SUPPORTED)
        if "rounded_choices" in details:
            grade = grade.at_most(Grade.SUPPORTED)
    if statement.kind is Kind.EQUALITY and grade is not None:
        found, capped = _equality_within_rounding(statement, curve, points, found, known)
        grade = grade.at_most(capped)
    details["negligible"] = found.negligible
    if found.outcome is Outcome.VACUOUS and any(points.rounds):
        told = told_nearest(statement, _at_last(statement, points, values), details)
        found = replace(found, reason=f"{found.reason.rstrip('.')}{told}.")
    if limit is not None:
        details["limit"] = limit.why if isinstance(limit, NoLimit) else format_exact(limit)
    if found.statistics:
        details["statistics"] = plain(found.statistics)
    reason = f"{found.reason} Taken for granted: {'; '.join(granted)}." if granted else found.reason
    return replace(
        base,
        outcome=found.outcome,
        grade=grade,
        reason=reason,
        witness={} if found.at is None else {**points.witness(found.at), **_limit_points(statement, limit)},
        points=len(points) - found.negligible,
    )


def _limit_points(statement: Statement, limit: Fraction | NoLimit | None) -> dict[str, Any]:
    """Where the metric of a claim about a limit ends, in exact numbers."""
    if statement.kind is not Kind.LIMIT or not isinstance(limit, NoLimit) or not limit.points:
        return {}
    return {"limit_points": [format_exact(v) for v in limit.points]}


def _at_last(statement: Statement, points: Points | None, values: Mapping[str, Fraction]) -> Mapping[str, Fraction]:
    """The constants with the last compared index; 1 where none was compared."""
    if statement.metric.index is None:
        return values
    last = points.index[-1] if points is not None and len(points) else Fraction(1)
    return {**values, statement.metric.index: last}


def told_nearest(statement: Statement, values: Mapping[str, Fraction], details: dict[str, Any]) -> str:
    """The nearest constants that are not vacuous, in words for a reason; also left in `details["nearest"]`."""
    found = nearest_guarantee(statement, values)
    details["nearest"] = {near.name: {"value": format_exact(near.value), "move": near.direction} for near in found}
    if not found:
        return "; no change of one constant alone would help"
    return "; it would guarantee something with " + " or ".join(near.words() for near in found[:3])


def _outside(
    statement: Statement, curve: Curve, values: Mapping[str, Fraction], at: Sequence[Fraction] | None
) -> str | None:
    """Why no measured index is compared, where a condition on the index is the reason."""
    asked = index_conditions(statement)
    if not asked or not len(points_of(statement, curve, values, at, every_index=True)):
        return None
    named = " and ".join(f"'{c.name}' ({relation_text(c.relation)})" for c in asked)
    return f"no compared {index_name(statement)} meets condition {named}"


def _along(statement: Statement, points: Points) -> tuple[str | None, dict[str, str], list[str]]:
    """Why a prescribed value is not met at one of the compared points, which ones were met by rounding down, and the
    symbols for which neither could be decided."""
    rounded_choices: dict[str, str] = {}
    undecided: list[str] = []
    name = index_name(statement)
    moves = any(s.name == name for _, expr in statement.choices for s in expr.free_symbols)
    for k in points.index if moves else points.index[:1]:
        values = {**points.values, name: k}
        for choice in check_choices(statement, values):
            where = f" at {name} = {format_short(k)}" if moves else ""
            if choice.met is False:
                return choice.objection(values[choice.name]) + where, {}, []
            if choice.met is None and choice.name not in undecided:
                undecided.append(choice.name)
            if not choice.exact:
                how = "rounded down by at most a relative 1e-12" if choice.met else "not told apart from it"
                rounded_choices[choice.name] = f"{choice.name} is the prescribed value, {how}{where}."
    return None, rounded_choices, undecided


def _out_of_scope(statement: Statement, base: Verdict, out: str, known: Mapping[str, Constant]) -> Verdict:
    """Out of scope; a condition that is missed by no more than the certification of a constant is undecided."""
    names = scope_symbols(statement)
    grade = _weakest(known[name] for name in scope_symbols(statement, choices=True) if name in known)
    if out.startswith(_MISSED):
        loose = rounded(known, names)
        grade = grade.at_most(Grade.SUPPORTED if loose else Grade.EXACT)
        for values in within_rounding(known, names) if loose else ():
            try:
                inside = _scope(statement, {k: v for k, v in values.items() if k in names}).in_scope
            except BadInput:  # mu has crossed L, so that nothing is said of this corner
                inside = None
            if inside is not False:
                why = f"{out}, which is within the certification of {', '.join(loose)}"
                return replace(
                    base, grade=Grade.SUPPORTED, reason=f"It is not decided whether this is in scope: {why}."
                )
    return replace(base, outcome=Outcome.OUT_OF_SCOPE, grade=grade, reason=f"Out of scope: {out}.")


def _equality_within_rounding(
    statement: Statement, curve: Curve, points: Points, found: Judgement, known: Mapping[str, Constant]
) -> tuple[Judgement, Grade]:
    """The judgement of an equality and its best grade, where constants in it are bounds on the true ones."""
    used = {s.name for e in (statement.bound, statement.metric.scale) for s in getattr(e, "free_symbols", ())}
    loose = rounded(known, used)
    if not loose:
        return found, Grade.EXACT
    if found.outcome is Outcome.VIOLATED and points.samples is None:
        side = np.zeros(len(points))
        for corner, values in enumerate(within_rounding(known, used)):
            moved = points_of(statement, curve, values, points.index)
            if len(moved) != len(points):  # the mean with the weights of these constants was not kept
                side = np.zeros(len(points))
                break
            here = 1.0 * (moved.low > moved.bound_high) - 1.0 * (moved.high < moved.bound_low)
            side = here if corner == 0 else np.where(here == side, side, 0.0)
        if found.at is not None and side[found.at] == 0:
            why = f"{found.reason.rstrip('.')}, which is within the certification of {', '.join(loose)}."
            found = replace(found, outcome=Outcome.UNDECIDED, reason=why)
    return found, Grade.SUPPORTED


def _failure(statement: Statement, points: Points) -> str | None:
    """Why there is nothing to compare, or None."""
    if not len(points):
        why = f". {points.gap}" if points.gap else "; measure at other rounds."
        return f"No measured round falls on an admissible {index_name(statement)}{why}"
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
