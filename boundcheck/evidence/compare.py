"""Bound against curve: the Verdict of a claim on one run.

Precedence: FAILED, OUT_OF_SCOPE, VIOLATED, VACUOUS, UNDECIDED, HOLDS. Both sides are enclosures, so an
inequality is decided only where the enclosures are apart; what touches is UNDECIDED unless exact
arithmetic decides it. A sampled curve is judged by `evidence.confidence` instead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.constants.constant import Constant, Known
from boundcheck.core.numbers import as_fraction, format_exact, format_short
from boundcheck.engines.curve import Arithmetic, Curve, Floats
from boundcheck.errors import BadInput
from boundcheck.theory.statement import Kind, Statement
from boundcheck.verdict import Grade, Outcome, Tightness, Verdict

if TYPE_CHECKING:
    from boundcheck.theory.scope import Scope

__all__ = ["Points", "compare", "hypotheses", "points_of", "resolve"]

# Relative distance below which two plain doubles of a curve and a bound are called equal, not ordered.
FLOAT_EQUAL = 1e-9
# Share of the points (the last ones) over which a limit superior is looked at.
TAIL = 0.5


@dataclass(frozen=True)
class Points:
    """What is compared: indices, and enclosures of the scaled metric and of the bound at each (float64, (P,))."""

    rounds: tuple[int, ...]
    index: tuple[Fraction, ...]
    low: Floats
    high: Floats
    bound_low: Floats
    bound_high: Floats
    exact: tuple[Fraction, ...] | None
    samples: Floats | None


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


def hypotheses(statement: Statement, curve: Curve, values: Mapping[str, Fraction]) -> tuple[str | None, Scope]:
    """Why the statement says nothing about this run (None: it does), and the decided step conditions."""
    scope = statement.scope(**{k: v for k, v in values.items() if k in _scope_names(statement)})
    if (
        statement.algorithm is not None
        and curve.algorithms is not None
        and statement.algorithm.kind not in curve.algorithms
    ):
        ran = " or ".join(curve.algorithms) or "no named method"
        return f"the statement is about {statement.algorithm.kind}, the run is {ran}", scope
    for assumption in statement.assumptions:
        if assumption.name in curve.violations:
            return f"assumption {assumption.name} fails: {curve.violations[assumption.name]}", scope
    for c in scope.conditions:
        if c.holds is False:
            return f"condition '{c.name}' fails: {c.relation} is missed by {-c.slack[1]:.3g}", scope
    return None, scope


def _scope_names(statement: Statement) -> set[str]:
    names: set[str] = set()
    for relation in [c.relation for c in statement.conditions] + list(statement.domain):
        names |= {s.name for s in relation.free_symbols}
    return names


def points_of(statement: Statement, curve: Curve, values: Mapping[str, Fraction]) -> Points:
    """The curve's rounds that fall on an index of the statement, with both sides enclosed.

    Raises BadInput where the curve has not the metric.
    """
    metric = statement.metric
    if metric.quantity not in curve.values:
        raise BadInput(
            f"{statement.best_id} is about the metric '{metric.quantity}', which the curve does not hold "
            f"(it holds {', '.join(curve.values) or 'none'})."
        )
    if statement.kind is Kind.FORMULA:
        raise BadInput(f"{statement.best_id} is a formula, not a claim about a run; evaluate it instead.")
    chosen, index = _indices(statement, curve, values)
    name = metric.quantity
    mid = curve.values[name][chosen]
    low = curve.low[name][chosen] if name in curve.low else mid
    high = curve.high[name][chosen] if name in curve.high else mid
    exact = tuple(curve.exact[name][i] for i in chosen) if name in curve.exact else None
    samples = curve.samples[name][:, chosen] if name in curve.samples else None
    if metric.scale != 1:
        scale_low, scale_high = _enclose(metric.scale, statement, values, index)
        low, high = low * scale_low, high * scale_high
        exact = None
        samples = None if samples is None else samples * scale_high
    bound_low, bound_high = _enclose(statement.bound, statement, values, index)
    rounds = tuple(int(curve.rounds[i]) for i in chosen)
    return Points(rounds, tuple(index), low, high, bound_low, bound_high, exact, samples)


def _indices(statement: Statement, curve: Curve, values: Mapping[str, Fraction]) -> tuple[list[int], list[Fraction]]:
    """Positions on the curve's grid that are an admissible index, and those indices; rounds is affine in it.

    A statement without index has one number of rounds; its index is then that number.
    """
    metric = statement.metric
    if metric.index is None:
        only = as_fraction(metric.rounds.subs({s: values[s.name] for s in metric.rounds.free_symbols}), "rounds")
        found = [position for position, done in enumerate(curve.rounds) if int(done) == only]
        return found, [only] * len(found)
    symbol = statement.symbol(str(metric.index))
    other = {s: values[s.name] for s in metric.rounds.free_symbols if s.name != symbol.name}
    at0, at1 = (as_fraction(metric.rounds.subs({**other, symbol.expr: k}), "the rounds of the metric") for k in (0, 1))
    if at1 <= at0:
        raise BadInput(f"{statement.best_id}: the metric's rounds do not grow with {symbol.name}.")
    chosen: list[int] = []
    index: list[Fraction] = []
    for position, done in enumerate(curve.rounds):
        k = (int(done) - at0) / (at1 - at0)
        if symbol.admits(k):
            chosen.append(position)
            index.append(k)
    return chosen, index


def _enclose(
    expr: Any, statement: Statement, values: Mapping[str, Fraction], index: list[Fraction]
) -> tuple[Floats, Floats]:
    from boundcheck.theory.evaluation import enclose_along

    return enclose_along(expr, values, _index_name(statement), index)


def _index_name(statement: Statement) -> str:
    return statement.metric.index or "rounds"


def compare(
    statement: Statement, curve: Curve, constants: Mapping[str, Any] | None = None, *, level: float = 0.999
) -> Verdict:
    """The verdict on one run.

    constants: values (or Constant objects) by symbol name, over those that the curve carries. level: of the
    sequential test on sampled curves. Raises BadInput where a symbol has no value, the metric is missing or
    the statement's symbols do not admit the values (mu > L, ...).
    """
    values, known = resolve(statement, curve, constants)
    ceiling = _ceiling(curve, known)
    out, scope = hypotheses(statement, curve, values)
    details: dict[str, Any] = {
        "constants": {k: c.to_dict() for k, c in known.items()},
        "scope": scope.to_dict(),
        "taken_for_granted": [a.name for a in statement.assumptions],
        "violations": dict(curve.violations),
    }
    base = Verdict(statement.best_id, Outcome.UNDECIDED, None, "", details=details)
    if out is not None:
        return replace(base, outcome=Outcome.OUT_OF_SCOPE, grade=ceiling, reason=f"Out of scope: {out}.")
    points = points_of(statement, curve, values)
    if not points.index:
        return replace(
            base,
            outcome=Outcome.FAILED,
            reason=f"No measured round falls on an admissible {_index_name(statement)}; measure at other rounds.",
        )
    broken = np.isnan(points.low) | np.isnan(points.high)
    if broken.any():
        at = points.rounds[int(np.argmax(broken))]
        return replace(base, outcome=Outcome.FAILED, reason=f"The run gave no number at round {at}.")
    base = replace(base, points=len(points.index), tightness=_tightness(points, _trivial(statement, points, values)))
    if scope.in_scope is None:
        return replace(base, reason="A condition could not be decided, so neither can the claim.")
    verdict = _judge(statement, curve, points, values, base, level)
    return replace(verdict, grade=None if verdict.grade is None else verdict.grade.at_most(ceiling))


def _ceiling(curve: Curve, known: Mapping[str, Constant]) -> Grade:
    grade = Grade.EXACT
    if curve.arithmetic in (Arithmetic.FLOAT64, Arithmetic.SAMPLED):
        grade = Grade.SUPPORTED
    for constant in known.values():
        grade = grade.at_most(constant.known.best_grade)
    return grade


def _judge(
    statement: Statement,
    curve: Curve,
    points: Points,
    values: Mapping[str, Fraction],
    base: Verdict,
    level: float,
) -> Verdict:
    if statement.kind is Kind.EQUALITY:
        return _judge_equality(statement, points, values, base)
    if statement.kind in (Kind.LIMSUP, Kind.LIMIT):
        return _judge_limit(statement, points, base)
    if points.samples is not None:
        exceeds, within, worst = _sampled(points, level, base.details)
    else:
        exceeds, within, worst = _ordered(points, curve.arithmetic)
        if not within and not exceeds and points.exact is not None:
            exceeds, within, worst = _ordered_exactly(statement, points, values)
    witness = _witness(statement, points, worst, values)
    at = f"{_index_name(statement)} = {format_short(points.index[worst])}"
    if exceeds:
        return replace(
            base,
            outcome=Outcome.VIOLATED,
            grade=Grade.EXACT,
            witness=witness,
            reason=f"At {at} the metric is {points.low[worst]:.6g}, above the bound {points.bound_high[worst]:.6g}.",
        )
    if _vacuous(statement, points, values):
        return replace(
            base,
            outcome=Outcome.VACUOUS,
            grade=Grade.EXACT,
            reason="The bound is nowhere in the compared range below its trivial value.",
        )
    if not within:
        return replace(
            base, witness=witness, reason=f"Metric and bound are too close to decide at {at}.", grade=Grade.SUPPORTED
        )
    return replace(
        base,
        outcome=Outcome.HOLDS,
        grade=Grade.EXACT,
        witness=witness,
        reason=f"The metric is at most the bound at all {len(points.index)} compared points; closest at {at}.",
    )


def _ordered(points: Points, arithmetic: Arithmetic) -> tuple[bool, bool, int]:
    """Whether some point exceeds, whether all are within, and the point with the largest metric over bound."""
    slack = FLOAT_EQUAL if arithmetic is Arithmetic.FLOAT64 else 0.0
    over = points.low > points.bound_high * (1 + slack)
    within = points.high <= points.bound_low * (1 - slack)
    return bool(over.any()), bool(within.all()), _worst(points)


def _worst(points: Points) -> int:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(points.high > 0, points.high / points.bound_low, 0.0)
    return int(np.argmax(np.nan_to_num(ratio, nan=math.inf)))


def _ordered_exactly(statement: Statement, points: Points, values: Mapping[str, Fraction]) -> tuple[bool, bool, int]:
    """The same in exact arithmetic, for what touches in double precision."""
    from boundcheck.theory.decide import sign

    assert points.exact is not None
    symbol = _index_name(statement)
    signs = [
        sign(statement.bound - _rational(metric), {**values, symbol: k})
        for metric, k in zip(points.exact, points.index, strict=True)
    ]
    exceeds = [s is not None and s < 0 for s in signs]
    within = all(s is not None and s >= 0 for s in signs)
    return any(exceeds), within, exceeds.index(True) if any(exceeds) else _worst(points)


def _rational(value: Fraction) -> Any:
    import sympy as sp

    return sp.Rational(value.numerator, value.denominator)


def _sampled(points: Points, level: float, details: Mapping[str, Any]) -> tuple[bool, bool, int]:
    from boundcheck.evidence.confidence import ASSUMPTIONS, Decision, SequentialTest

    assert points.samples is not None
    test = SequentialTest(points.bound_low, level=level).update(points.samples)
    if isinstance(details, dict):
        details["statistics"] = {
            "seeds": test.seeds,
            "level": level,
            "assumptions": ASSUMPTIONS,
            "lower": [float(v) for v in test.lower],
            "upper": [float(v) for v in test.upper],
        }
    return test.decision is Decision.EXCEEDS, test.decision is Decision.WITHIN, int(test.worst_round)


def _judge_equality(statement: Statement, points: Points, values: Mapping[str, Fraction], base: Verdict) -> Verdict:
    apart = (points.low > points.bound_high) | (points.high < points.bound_low)
    grade = Grade.EXACT
    if points.exact is not None:
        from boundcheck.theory.decide import sign

        symbol = _index_name(statement)
        signs = [
            sign(statement.bound - _rational(m), {**values, symbol: k})
            for m, k in zip(points.exact, points.index, strict=True)
        ]
        apart = np.array([s is not None and s != 0 for s in signs])
        if any(s is None for s in signs):
            return replace(base, reason="The equality could not be decided at every point.")
    else:
        grade = Grade.SUPPORTED
        scale = np.maximum(np.abs(points.bound_low), np.abs(points.bound_high))
        apart &= np.minimum(abs(points.low - points.bound_high), abs(points.high - points.bound_low)) > (
            FLOAT_EQUAL * scale
        )
    if apart.any():
        at = int(np.argmax(apart))
        return replace(
            base,
            outcome=Outcome.VIOLATED,
            grade=Grade.EXACT if points.exact is not None else Grade.SUPPORTED,
            witness=_witness(statement, points, at, values),
            reason=f"At {_index_name(statement)} = {format_short(points.index[at])} the metric is "
            f"{points.low[at]:.10g}, not {points.bound_low[at]:.10g}.",
        )
    return replace(
        base,
        outcome=Outcome.HOLDS,
        grade=grade,
        reason=f"Both sides are equal at all {len(points.index)} compared points"
        + ("." if grade is Grade.EXACT else f" to a relative {FLOAT_EQUAL:g}."),
    )


def _judge_limit(statement: Statement, points: Points, base: Verdict) -> Verdict:
    """A limit is seen over a finite range only: HOLDS at most SUPPORTED, never VIOLATED."""
    tail = slice(int(len(points.index) * (1 - TAIL)), None)
    if statement.kind is Kind.LIMIT:
        start = np.abs(points.high[0] - points.bound_low[0])
        end = np.abs(points.high[tail] - points.bound_low[tail])
        arrived = bool(len(points.index) > 1 and (end[-1] <= 1e-3 * start))
        text = "The metric tends to its limit over the compared range."
        fallback = "The metric does not come within 1/1000 of its start's distance to the limit."
    else:
        arrived = bool((points.high[tail] <= points.bound_low[tail]).all())
        text = "The scaled metric stays at most the limit over the last half of the compared points."
        fallback = "The scaled metric is above its limit superior in the last half of the compared points."
    if arrived:
        return replace(base, outcome=Outcome.HOLDS, grade=Grade.SUPPORTED, reason=text)
    return replace(base, reason=f"{fallback} A finite range decides no limit.", grade=Grade.SUPPORTED)


def _vacuous(statement: Statement, points: Points, values: Mapping[str, Fraction]) -> bool:
    trivial = _trivial(statement, points, values)
    return trivial is not None and bool((points.bound_low >= trivial).all())


def _trivial(statement: Statement, points: Points, values: Mapping[str, Fraction]) -> Floats | None:
    """The trivial value at each point, None where none is declared."""
    if statement.trivial is None:
        return None
    return _enclose(statement.trivial, statement, values, list(points.index))[0]


def _witness(statement: Statement, points: Points, at: int, values: Mapping[str, Fraction]) -> dict[str, Any]:
    return {
        "constants": {k: format_exact(v) for k, v in values.items()},
        "index": {_index_name(statement): format_exact(points.index[at])},
        "round": points.rounds[at],
        "metric": [float(points.low[at]), float(points.high[at])],
        "bound": [float(points.bound_low[at]), float(points.bound_high[at])],
    }


def _tightness(points: Points, trivial: Floats | None) -> Tightness:
    """Ratios bound/metric where the bound says something, and promised over actual log-decrease.

    "Says something": is at most half the trivial value, where one is declared and some point is. The decrease is
    taken from the first point to the first such point (to the last point where there is none).
    """
    middle = points.low + (points.high - points.low) / 2
    telling = np.ones(len(middle), dtype=bool) if trivial is None else points.bound_high <= trivial / 2
    target = int(np.argmax(telling)) if trivial is not None and telling.any() else len(middle) - 1
    if not telling.any():
        telling[:] = True
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(middle == 0, np.inf, points.bound_high / middle)[telling]
    decrease = None
    ends = (middle[0], middle[target], points.bound_high[0], points.bound_high[target])
    if target > 0 and min(ends) > 0 and all(math.isfinite(v) for v in ends):
        actual = math.log(ends[0]) - math.log(ends[1])
        promised = math.log(ends[2]) - math.log(ends[3])
        decrease = promised / actual if actual > 0 else None
    ratio = ratio[~np.isnan(ratio)]
    if not len(ratio):
        return Tightness(math.nan, math.nan, decrease)
    return Tightness(float(ratio.min()), float(ratio.max()), decrease)
