"""Bound against curve: the Verdict of a claim on one run.

Precedence: FAILED, OUT_OF_SCOPE, VIOLATED, VACUOUS, UNDECIDED, HOLDS. Both sides are enclosures, so an
inequality is decided only where the enclosures are apart; what touches is UNDECIDED unless exact
arithmetic decides it (`evidence.deciding`, whose findings `evidence.reasons` puts in words). The expectation of a
sampled curve is judged by `evidence.confidence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.certified.constant import Constant, Known
from boundcheck.core.numbers import format_exact, format_short
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.summaries import NoAverage
from boundcheck.errors import BadInput
from boundcheck.evidence.claim_rounds import index_name
from boundcheck.evidence.compared_points import Points, points_of, run_again
from boundcheck.evidence.deciding import Finding, NoLimit, decide, tightness_of
from boundcheck.evidence.hypotheses import (
    MISSED,
    assumption_states,
    hypotheses,
    objection_of,
    scope_of,
    steps_objection,
    symbol_values,
    untested,
)
from boundcheck.evidence.measurement_error import from_below, low_precision
from boundcheck.evidence.reasons import reason_of
from boundcheck.setting.user_constants import key_of, rounded, within_rounding
from boundcheck.theory.choices import check_choices
from boundcheck.theory.decide import Undefined
from boundcheck.theory.nearest import guarantees_nothing, nearest_guarantee
from boundcheck.theory.scope import index_conditions, index_rows, scope_symbols
from boundcheck.theory.statement import Kind, Statement
from boundcheck.theory.typeset import relation_text
from boundcheck.verdict import Grade, Outcome, Verdict, plain


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
    the limit, which no finite range could refute, and stands in `details["limit"]`. `details` (JSON-able) holds the
    constants and how each is known, the scope with slacks, `assumptions` (name -> broken, decided, sampled or granted),
    `taken_for_granted` (the names that are not decided), `violations`, `negligible` (how many points were left out
    because both sides are below 1e-300) and for sampled runs `statistics`.
    What was neither decided nor sampled is named at the end of the reason ("Taken for granted: ..."), and the grade is
    then at most SUPPORTED. Where constants were estimated along a run, another sentence names them.
    Raises BadInput where a symbol has no value, the metric is missing or the statement's symbols do not admit the
    values (mu > L, ...).
    """
    return comparison(statement, curve, constants, level=level, at=at, limit=limit).verdict


@dataclass(frozen=True)
class Comparison:
    """A verdict with what was compared.

    curve: as given, or run again with the summary that the statement needs. points: None if nothing was compared.
    """

    verdict: Verdict
    curve: Curve
    points: Points | None = None


def comparison(
    statement: Statement,
    curve: Curve,
    constants: Mapping[str, Any] | None = None,
    *,
    level: float = 0.999,
    at: Sequence[Fraction] | None = None,
    limit: Fraction | NoLimit | None = None,
) -> Comparison:
    """The verdict of `compare` with the points."""
    try:
        values, known = symbol_values(statement, curve, constants)
    except BadInput:
        other = _of_other_steps(statement, curve, constants or {})
        if other is None:
            raise
        return Comparison(other, curve)
    case = _Case(statement, run_again(statement, curve, values), values, known, level, at, limit)
    verdict = case.verdict()
    doubt = case.doubt() if verdict.outcome is Outcome.VIOLATED else None
    if doubt is not None:
        verdict = replace(verdict, outcome=Outcome.UNDECIDED, grade=Grade.SUPPORTED, reason=doubt)
    estimates = [name for name, constant in known.items() if constant.known is Known.ESTIMATED]
    if "estimated" in curve.info and estimates:
        reason = f"{verdict.reason} Estimated, not proved, {curve.info['estimated']}: {', '.join(estimates)}.".strip()
        grade = None if verdict.grade is None else verdict.grade.at_most(Grade.SUPPORTED)
        verdict = replace(verdict, grade=grade, reason=reason)
    return Comparison(verdict, case.curve, case.points)


def _of_other_steps(statement: Statement, curve: Curve, constants: Mapping[str, Any]) -> Verdict | None:
    """The verdict on a run of other step sizes than the statement's, where a value of it may not even exist."""
    values = {name: c.value for name, c in statement.known(curve.constants).items()}
    values |= {name: c.value if isinstance(c, Constant) else c for name, c in constants.items()}
    steps, _ = steps_objection(statement, curve, values)
    if steps is None:
        return None
    details = {"constants": {}, "assumptions": {}, "taken_for_granted": [], "violations": {}}
    return Verdict(statement.best_id, Outcome.OUT_OF_SCOPE, Grade.EXACT, f"Out of scope: {steps}.", details=details)


class _Case:
    """One statement against one run at given constants; `details` collects what reports show beside the verdict."""

    def __init__(
        self,
        statement: Statement,
        curve: Curve,
        values: Mapping[str, Fraction],
        known: Mapping[str, Constant],
        level: float,
        at: Sequence[Fraction] | None,
        limit: Fraction | NoLimit | None,
    ) -> None:
        self.statement, self.curve, self.values, self.known = statement, curve, values, known
        self.level, self.at, self.limit = level, at, limit
        self.points: Points | None = None
        self.out, self.scope = hypotheses(statement, curve, values)
        self.assumed = assumption_states(statement, curve, known)
        broken = [a for a in statement.assumptions if self.assumed[a.name] == "broken"]
        self.details: dict[str, Any] = {
            "constants": {k: c.to_dict() for k, c in known.items()},
            "scope": self.scope.to_dict(),
            "assumptions": self.assumed,
            "taken_for_granted": [name for name, state in self.assumed.items() if state in ("sampled", "granted")],
            "violations": {a.name: objection_of(curve, a) for a in broken},
        }

    def verdict(self) -> Verdict:
        """The first verdict that applies, in the order of precedence."""
        points, out, undecided = None, self.out, list[str]()
        if out is None or self.statement.metric.quantity in self.curve.values:  # out of scope the metric may be missing
            try:
                points = self.points = points_of(self.statement, self.curve, self.values, self.at)
            except NoAverage as error:
                if out is None:
                    return self._as(Outcome.FAILED, None, str(error))
            except Undefined:  # out of scope the sides need not have a value
                if out is None:
                    raise
        if points is not None:
            failure = _failure(points)
            if out is None and not len(points):
                out = self._no_index()
            if failure is not None and (out is None or len(points)):
                return self._as(Outcome.FAILED, None, failure)
            if out is None:
                out, by_rounding, undecided = _prescribed(points)
                self.details |= {"rounded_choices": by_rounding} if by_rounding else {}
            if index_conditions(self.statement):
                rows = index_rows(self.statement, self.values, points.index, self.at or ())
                self.details["scope"] = replace(self.scope, conditions=(*self.scope.conditions, *rows)).to_dict()
        if out is not None:
            return self._out_of_scope(out, points)
        assert points is not None
        _, open_ = steps_objection(self.statement, self.curve, self.values)
        if open_ is not None:
            return self._as(Outcome.UNDECIDED, None, f"{open_[0].upper()}{open_[1:]}.", points)
        if self.scope.in_scope is None:
            open_ = " and ".join(f"'{c.name}' ({c.relation})" for c in self.scope.conditions if c.holds is None)
            reason = f"It could not be decided whether this is in scope: condition {open_} is open."
            return self._as(Outcome.UNDECIDED, None, reason, points)
        return self._in_scope(points, undecided)

    def _as(
        self,
        outcome: Outcome,
        grade: Grade | None,
        reason: str,
        points: Points | None = None,
        found: Finding | None = None,
    ) -> Verdict:
        """A verdict. points: what was compared, None where it needs no comparison; found: what the points say."""
        witness: dict[str, Any] = {}
        if points is not None and found is not None and found.at is not None:
            witness = points.witness(found.at)
            if isinstance(self.limit, NoLimit) and self.limit.points and self.statement.kind is Kind.LIMIT:
                witness["limit_points"] = [format_exact(v) for v in self.limit.points]
        return Verdict(
            self.statement.best_id,
            outcome,
            grade,
            reason,
            witness=witness,
            tightness=None if points is None or self.statement.kind is Kind.LIMIT else tightness_of(points),
            points=0 if points is None else len(points) - (0 if found is None else found.negligible),
            details=self.details,
        )

    def _in_scope(self, points: Points, undecided: Sequence[str]) -> Verdict:
        statement, curve = self.statement, self.curve
        found = decide(points, self.level, self.limit)
        reason, outcome = reason_of(points, found, self.limit), found.outcome
        granted = untested(statement, curve, self.known, self.assumed, undecided)
        decided = not granted and all(state == "decided" for state in self.assumed.values())
        exact = decided and not curve.rounded_steps and "rounded_choices" not in self.details
        grade = found.grade.at_most(_ceiling(curve, points)).at_most(_weakest(self.known.values()))
        if curve.rounded_steps:
            self.details["rounded_steps"] = "The run's step size is the statement's, rounded down by about 1e-13."
        loose = self._bounds_in_equality() if statement.kind is Kind.EQUALITY else []
        if loose and outcome is Outcome.VIOLATED and not self._unequal_at_every_corner(points, found.at):
            outcome = Outcome.UNDECIDED
            reason = f"{reason.rstrip('.')}, which is within the certification of {', '.join(loose)}."
        if outcome is Outcome.VACUOUS and any(points.rounds):
            reason = f"{reason.rstrip('.')}{self._nearest(points)}."
        if self.limit is not None:
            self.details["limit"] = self.limit.why if isinstance(self.limit, NoLimit) else format_exact(self.limit)
        self.details["negligible"] = found.negligible
        if found.statistics:
            self.details["statistics"] = plain(found.statistics)
        reason = f"{reason} Taken for granted: {'; '.join(granted)}." if granted else reason
        grade = grade if exact and not loose else grade.at_most(Grade.SUPPORTED)
        return self._as(outcome, grade, reason, points, found)

    def doubt(self) -> str | None:
        """Why a violation is none that was seen for certain; None where it stays one with the metric from below."""
        statement, quantity = self.statement, self.statement.metric.quantity
        below = from_below(self.curve, quantity) if quantity in self.curve.values else None
        precision = low_precision(self.curve)
        if statement.kind is Kind.EQUALITY and precision is not None:
            return f"Equalities are not decided by a run in {precision}; take precision = 'float64'."
        if below is None or statement.kind is not Kind.UPPER_BOUND:
            return None
        lowered = _Case(statement, below, self.values, self.known, self.level, self.at, self.limit)
        if lowered.verdict().outcome is Outcome.VIOLATED:
            return None
        why = "which a metric that is known from above only, or the run's rounding, may explain"
        return f"The metric was measured above the bound, {why}."

    # --- out of scope ---------------------------------------------------------------------------------------------

    def _out_of_scope(self, out: str, points: Points | None) -> Verdict:
        """Out of scope; a condition that is missed by no more than the certification of a constant is undecided."""
        statement, known = self.statement, self.known
        names = scope_symbols(statement)
        grade = _weakest(known[name] for name in scope_symbols(statement, choices=True) if name in known)
        outcome, reason = Outcome.OUT_OF_SCOPE, f"Out of scope: {out}."
        if out.startswith(MISSED):
            loose = rounded(known, names)
            if loose and any(self._may_hold(values, names) for values in within_rounding(known, names)):
                why = f"{out}, which is within the certification of {', '.join(loose)}"
                reason = f"It is not decided whether this is in scope: {why}."
                return self._as(Outcome.UNDECIDED, Grade.SUPPORTED, reason)
            grade = grade.at_most(Grade.SUPPORTED if loose else Grade.EXACT)
            if guarantees_nothing(statement, self.scope):
                outcome = Outcome.VACUOUS
                reason = f"The statement guarantees nothing here: {out}{self._nearest(points)}."
        broken = [key_of(a) for a in statement.assumptions if self.assumed[a.name] == "broken"]
        if any(self.curve.assumptions.get(key) == "sampled" for key in broken):  # seen in double precision only
            grade = grade.at_most(Grade.SUPPORTED)
        return self._as(outcome, grade, reason)

    def _may_hold(self, values: Mapping[str, Fraction], names: Sequence[str]) -> bool:
        """Whether these constants are in scope, or nothing is said of them since mu has crossed L."""
        try:
            return scope_of(self.statement, {k: v for k, v in values.items() if k in names}).in_scope is not False
        except BadInput:
            return True

    def _no_index(self) -> str | None:
        """Why no measured index is compared, where a condition on the index is the reason."""
        spoken = index_conditions(self.statement)
        if not spoken or not len(points_of(self.statement, self.curve, self.values, self.at, every_index=True)):
            return None
        named = " and ".join(f"'{c.name}' ({relation_text(c.relation)})" for c in spoken)
        return f"no compared {index_name(self.statement)} meets condition {named}"

    def _nearest(self, points: Points | None) -> str:
        """The nearest constants at which the statement guarantees something, as a clause; also in the details.

        They are looked for at the last compared index; at 1 where none was compared.
        """
        values, index = dict(self.values), self.statement.metric.index
        if index is not None:
            values[index] = points.index[-1] if points is not None and len(points) else Fraction(1)
        found = nearest_guarantee(self.statement, values)
        shown = {near.name: {"value": format_exact(near.value), "move": near.direction} for near in found}
        self.details["nearest"] = shown
        if not found:
            return "; no change of one constant alone would help"
        return "; it would guarantee something with " + " or ".join(near.words() for near in found[:3])

    # --- equalities -----------------------------------------------------------------------------------------------

    def _bounds_in_equality(self) -> list[str]:
        """The constants in an equality that are bounds on the true ones."""
        sides = (self.statement.bound, self.statement.metric.scale)
        return rounded(self.known, {s.name for e in sides for s in getattr(e, "free_symbols", ())})

    def _unequal_at_every_corner(self, points: Points, at: int | None) -> bool:
        """Whether the sides differ the same way wherever the constants lie within their certification."""
        if points.samples is not None or at is None:
            return True
        sides: set[int] = set()
        for values in within_rounding(self.known, self._bounds_in_equality()):
            moved = points_of(self.statement, self.curve, values, points.index)
            if len(moved) != len(points):  # the mean with the weights of these constants was not kept
                return False
            sides.add(int(moved.low[at] > moved.bound_high[at]) - int(moved.high[at] < moved.bound_low[at]))
        return len(sides) == 1 and 0 not in sides


def _prescribed(points: Points) -> tuple[str | None, dict[str, str], list[str]]:
    """Why a prescribed value is not met at one of the points, which symbols meet theirs by rounding down, and for which
    that could not be decided."""
    statement, name = points.statement, index_name(points.statement)
    rounded_choices: dict[str, str] = {}
    undecided: list[str] = []
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
                how = "rounded down by at most a relative 1e-12" if choice.met else "not distinguished from it"
                rounded_choices[choice.name] = f"{choice.name} is the prescribed value, {how}{where}."
    return None, rounded_choices, undecided


def _failure(points: Points) -> str | None:
    """Why there is nothing to compare, or None."""
    statement = points.statement
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
