"""A claim: one statement, one problem, one method, where to compare, and what is expected.

This is the unit of reports, of `boundcheck compare` and of `boundcheck check`. `run_claim` is a pure
function of the claim (and of the code), so an executor may carry it out anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.run import describe
from boundcheck.engines.summaries import NoAverage, Summary, summary_of, weights_of
from boundcheck.errors import BadInput
from boundcheck.evidence.claim_result import SEEDS as SEEDS
from boundcheck.evidence.claim_result import Claim as Claim
from boundcheck.evidence.claim_result import ClaimResult as ClaimResult
from boundcheck.evidence.claim_result import RateClaim as RateClaim
from boundcheck.evidence.claim_result import Reading, failures, measured_rate
from boundcheck.evidence.claim_rounds import metrics_of, rounds_of
from boundcheck.evidence.compare import Comparison, comparison
from boundcheck.evidence.compare import compare as compare_curve
from boundcheck.evidence.compared_points import Points, points_of
from boundcheck.evidence.constant_claims import curve_of_numbers, curve_without_run, needs_no_run, with_hypotheses
from boundcheck.evidence.hypotheses import hypotheses, objection_of, symbol_values, with_assumptions
from boundcheck.evidence.open_step_sizes import start_constants, with_start, with_steps
from boundcheck.evidence.outside import at_rounds, compare_outside, describe_outside
from boundcheck.evidence.resolve import Resolved as Resolved
from boundcheck.evidence.resolve import index_of, nothing_allowed, prepare, values_of
from boundcheck.evidence.resolve import resolve as resolve
from boundcheck.theory.discovery import readings
from boundcheck.theory.free_data import about_numbers
from boundcheck.theory.largest import NothingAllowed
from boundcheck.theory.quantities import round_symbols
from boundcheck.theory.scope import decide_scope, scope_symbols
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from boundcheck.core.store import Store
    from boundcheck.evidence.stored import Spread

FIRST_SEEDS = 50  # of a sampled claim, doubled until it is decided or the budget is spent


def run_claim(
    claim: Claim,
    store: Store | None = None,
    on_progress: Callable[[float], None] | None = None,
    spread: Spread | None = None,
) -> ClaimResult:
    """The result of a claim: `resolve`, `run`, `compare`; spread: see `evidence.stored.run_or_recall`.

    Where the conditions allow no step size the verdict is VACUOUS, without a run. Assumptions that the
    problem cannot decide at these constants are tried at many points (`evidence.assumptions`). Raises the errors of bad
    input; where the process that runs a claim is lost, the executor's caller makes that a FAILED verdict.
    """
    if claim.curve is not None:
        return _compare_outside(claim)
    if not claim.problem and not claim.method and about_numbers(claim.claimed):
        return _compare_numbers(claim)
    resolved = resolve(claim)
    if isinstance(resolved, Verdict):
        return _without_run(claim, resolved, dict(claim.method))
    out = None if claim.engine == "exact" else out_of_scope(claim, resolved)  # a short exact run shows where it is
    return out or compare(claim, resolved, run(claim, resolved, store, on_progress, spread))


def _without_run(claim: Claim, verdict: Verdict, spec: Mapping[str, Any]) -> ClaimResult:
    """The result of a claim that is decided before anything is run."""
    result = ClaimResult(claim, verdict, spec, ())
    return replace(result, failures=failures(claim, result))


def out_of_scope(claim: Claim, resolved: Resolved) -> ClaimResult | None:
    """The result of a claim whose hypotheses fail whatever its run gives; None where none is known to fail.

    Raises BadInput where a constant has no value.
    """
    claimed = resolved.claimed
    empty = Curve(np.array(resolved.rounds, dtype=np.int64), {}, Arithmetic.BALL)
    curve = with_start(describe(empty, resolved.setting, resolved.asked), resolved.start)
    try:
        values, _ = symbol_values(claimed, curve, claim.constants)
        if hypotheses(claimed, curve, values)[0] is None:
            return None
    except BadInput:  # a value may be missing for a run of other step sizes alone
        pass
    return _without_run(claim, compare_curve(claimed, curve, claim.constants), resolved.spec)


def run(
    claim: Claim,
    resolved: Resolved,
    store: Store | None = None,
    on_progress: Callable[[float], None] | None = None,
    spread: Spread | None = None,
) -> Curve:
    """The curve of a resolved claim.

    A sampled run gets seeds in doubling blocks until the claim is decided or the budget is spent, a neural one all at
    once. A claim about a constant needs no engine.
    """
    claimed, setting, rounds = resolved.claimed, resolved.setting, resolved.rounds
    if needs_no_run(claimed):
        return curve_without_run(claimed, setting, resolved.asked)
    metrics = {claimed.metric.quantity, *metrics_of(claimed)} | ({claim.rate.metric} if claim.rate else set())
    asked = _summaries(claim, resolved)
    if claimed.metric.over_rounds and (claim.rate is not None or not asked):
        rounds = list(range(rounds[-1] + 1))  # a slope is fitted over every round; weights are looked at in every round
    how: dict[str, Any] = {"rounds": rounds, "engine": claim.engine, "metrics": sorted(metrics), "summaries": asked}
    if claim.engine == "exact":
        usual = Arithmetic.RATIONAL if round_symbols(claimed) else Arithmetic.BALL
        how["arithmetic"] = Arithmetic(claim.arithmetic or usual).value

    def recalled(**more: Any) -> Curve:
        from boundcheck.evidence.stored import run_or_recall

        found = run_or_recall(store, setting, resolved.spec, assumptions=resolved.asked, **how, **more)
        return with_hypotheses(with_start(found, resolved.start), claimed, setting)

    if claim.engine == "exact":
        return recalled(seeds=range(0), on_progress=on_progress)
    if claim.engine == "neural":
        return recalled(seeds=range(claim.runs), neural=claim.neural, on_progress=on_progress)
    return _sampled_until_decided(claim, resolved, partial(recalled, spread=spread), on_progress)


def _summaries(claim: Claim, resolved: Resolved) -> tuple[Summary, ...]:
    """The summaries that the comparison needs; none where weights are no weights, which it says."""
    claimed = resolved.claimed
    if not claimed.metric.over_rounds:
        return ()
    values = values_of(claim, claimed, resolved.setting)
    values |= {name: c.value for name, c in claimed.known(resolved.start).items() if name not in values}
    asked = [summary_of(claimed, values, name) for name in (claimed.metric.quantity, *sorted(metrics_of(claimed)))]
    try:
        weights_of(asked[0], resolved.rounds[-1] + 1)
    except NoAverage:
        return ()
    return tuple(asked)


def _sampled_until_decided(
    claim: Claim, resolved: Resolved, recalled: Callable[..., Curve], on_progress: Callable[[float], None] | None
) -> Curve:
    from boundcheck.engines.simulate import concatenate

    curve: Curve | None = None
    done, stop, asked = 0, min(FIRST_SEEDS, claim.runs), _summaries(claim, resolved)
    random = resolved.setting.method.is_random(resolved.setting.clients)
    while True:

        def share(part: float, done: int = done, stop: int = stop) -> None:
            if on_progress is not None:
                on_progress((done + part * (stop - done)) / claim.runs)

        block = recalled(seeds=range(done, stop), on_progress=share)
        if curve is None:
            curve = block
        else:
            curve = describe(concatenate([curve, block]), resolved.setting, resolved.asked, asked)
            curve = with_hypotheses(with_start(curve, resolved.start), resolved.claimed, resolved.setting)
        verdict = compare_curve(resolved.claimed, curve, claim.constants, level=claim.level, at=resolved.index or None)
        if verdict.outcome is not Outcome.UNDECIDED or stop >= claim.runs or not random:
            return curve
        done, stop = stop, min(2 * stop, claim.runs)


def compare(claim: Claim, resolved: Resolved, curve: Curve) -> ClaimResult:
    """The verdict on the curve, and what an expectation of the claim missed."""
    claimed, index = resolved.claimed, resolved.index or None
    curve = with_assumptions(curve, claim.constants, claimed, resolved.setting.problem)
    limit = None
    if claimed.kind.limit and curve.arithmetic is Arithmetic.RATIONAL:
        from boundcheck.evidence.limits import exact_limit

        limit = exact_limit(claimed, resolved.setting.method, resolved.setting.problem)
    found = comparison(claimed, curve, claim.constants, level=claim.level, at=index, limit=limit)
    return _result(claim, found, resolved.spec)


def _result(claim: Claim, found: Comparison, spec: Mapping[str, Any]) -> ClaimResult:
    """The verdict with the compared points and the rate, and what an expectation of the claim missed."""
    result = with_points(ClaimResult(claim, found.verdict, spec, (), info=dict(found.curve.info)), found)
    if claim.rate is not None:
        result = replace(result, rate=measured_rate(claim.rate, found.curve))
    return replace(result, failures=failures(claim, result))


def _compare_numbers(claim: Claim) -> ClaimResult:
    """The result of a claim about numbers that are given alone, without a problem and a method."""
    parts = prepare(claim)
    assert parts is not None
    found = comparison(parts.claimed, curve_of_numbers(parts.claimed), parts.values, level=claim.level)
    return _result(claim, found, {})


def _compare_outside(claim: Claim) -> ClaimResult:
    """The result of a claim about a curve that was measured elsewhere."""
    parts = prepare(claim)
    assert parts is not None
    assert parts.curve is not None
    claimed, problem, setting, spec = parts.claimed, parts.problem, parts.first, dict(claim.method)
    if setting is not None:
        try:
            spec, setting = with_steps(claim.method, claimed, setting, claim.constants, claim.at)
        except NothingAllowed as error:
            return _without_run(claim, nothing_allowed(claim, claimed, error), spec)
        problem = setting.problem
    curve = describe_outside(parts.curve, claimed, problem, setting)
    if setting is not None:
        curve = with_start(curve, start_constants(claimed, setting))
    if problem is not None:
        curve = with_assumptions(curve, claim.constants, claimed, problem)
    index = None
    if claim.at:
        values, _ = symbol_values(claimed, curve, claim.constants)
        index = index_of(parts, values)
        if not claimed.metric.over_rounds:
            curve = at_rounds(curve, rounds_of(claimed, index, values))
    return _result(claim, compare_outside(claimed, curve, claim.constants, claim.level, index), spec)


def with_points(result: ClaimResult, found: Comparison) -> ClaimResult:
    """The result with the compared points, where there are any."""
    points = found.points
    if points is None or found.verdict.outcome is Outcome.FAILED:
        return result
    low, high = points.low, points.high
    statistics = found.verdict.details.get("statistics")
    if statistics is not None:
        low, high = (np.array([float(v) for v in statistics[end]]) for end in ("lower", "upper"))
    return replace(
        result,
        index=points.index,
        rounds=points.rounds,
        metric_low=tuple(float(v) for v in low),
        metric_high=tuple(float(v) for v in high),
        bound=tuple(float(v) for v in points.bound_high),
        readings=readings_beside(points, found.curve),
    )


def readings_beside(points: Points, curve: Curve) -> tuple[Reading, ...]:
    """Those readings that measure the same at the compared points and whose symbols all have admissible values."""
    claimed = points.statement
    paper, _, rest = claimed.id.partition("/")
    beside: list[Reading] = []
    for other in readings(paper, rest.partition("/")[0]) if rest else ():
        if other.id == claimed.id or other.metric != claimed.metric or not metrics_of(other) <= set(curve.values):
            continue
        at = _constants_of(other, points, curve)
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


def _constants_of(other: Statement, points: Points, curve: Curve) -> dict[str, Fraction]:
    """The values of another reading's symbols: the claim's where both mean the same, else those of the run."""
    keys = {s.name: s.key for s in points.statement.symbols}
    found = {k: c.value for k, c in other.known(curve.constants).items()}
    same = {s.name: points.values[s.name] for s in other.symbols if s.name in points.values}
    found |= {s.name: same[s.name] for s in other.symbols if s.name in same and keys.get(s.name) == s.key}
    return {s.name: found[s.name] for s in other.symbols if s.name in found}
