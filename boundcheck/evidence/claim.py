"""A claim: one statement, one problem, one method, where to compare, and what is expected.

This is the unit of reports, of `boundcheck compare` and of `boundcheck check`. `run_claim` is a pure
function of the claim (and of the code), so an executor may carry it out anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.core.numbers import parse_grid
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.run import ENGINES, MAX_ROUNDS, check_engine, describe
from boundcheck.engines.summaries import NoAverage, Summary, summary_of, weights_of
from boundcheck.engines.trained import training_engine
from boundcheck.errors import BadInput, UnknownName
from boundcheck.evidence.claim_result import SEEDS as SEEDS
from boundcheck.evidence.claim_result import Claim as Claim
from boundcheck.evidence.claim_result import ClaimResult as ClaimResult
from boundcheck.evidence.claim_result import RateClaim as RateClaim
from boundcheck.evidence.claim_rounds import default_index, rounds_of
from boundcheck.evidence.compare import compare as compare_curve
from boundcheck.evidence.compared_points import points_of
from boundcheck.evidence.constant_claims import (
    curve_of_numbers,
    curve_without_run,
    missing_quantity,
    needs_no_run,
    with_hypotheses,
)
from boundcheck.evidence.expectations import failures, measured_rate
from boundcheck.evidence.hypotheses import hypotheses, symbol_values, with_assumptions
from boundcheck.evidence.kind_parameters import UNDECIDED, Parameters, objection_to_run
from boundcheck.evidence.open_step_sizes import first_method, start_constants, with_start, with_steps
from boundcheck.evidence.outside import at_rounds, compare_outside, describe_outside, read_curve
from boundcheck.evidence.readings import readings_beside
from boundcheck.evidence.round_values import check_fits, metrics_of
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of
from boundcheck.setting import Setting
from boundcheck.setting.user_constants import given_constants, is_library
from boundcheck.theory.decide import Undefined
from boundcheck.theory.discovery import statement
from boundcheck.theory.free_data import about_numbers, freed, in_free_data, numbers_at
from boundcheck.theory.largest import NothingAllowed
from boundcheck.theory.quantities import check_measurable, round_symbols
from boundcheck.theory.statement import Statement
from boundcheck.verdict import Grade, Outcome, Verdict

if TYPE_CHECKING:
    from boundcheck.certified.constant import Constant
    from boundcheck.core.store import Store
    from boundcheck.evidence.stored import Spread
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem

FIRST_SEEDS = 50  # a sampled claim starts with so many seeds and doubles them until decided or out of budget


@dataclass(frozen=True)
class Resolved:
    """A claim of which everything is known that can be known before it is run.

    setting: the method with its step sizes as numbers, on the problem that the statement is about. spec: the method's
    specification with these step sizes. index: where to compare; rounds: at which rounds the metric is measured. start:
    constants that only a run at the start gives, by key.
    """

    claimed: Statement
    setting: Setting
    spec: Mapping[str, Any]
    index: list[Fraction]
    rounds: list[int]
    start: Mapping[str, Constant]

    @property
    def asked(self) -> list[str]:
        """The hypotheses of the statement that method and problem are asked about."""
        return [a.name for a in self.claimed.assumptions if is_library(a)]


def run_claim(
    claim: Claim,
    store: Store | None = None,
    on_progress: Callable[[float], None] | None = None,
    spread: Spread | None = None,
) -> ClaimResult:
    """The result of a claim: `resolve`, `run`, `compare`; spread: see `evidence.stored.run_or_recall`.

    A step size that is asked of conditions which allow none is a VACUOUS verdict, without a run. Assumptions that the
    problem cannot decide at these constants are tried at many points (`evidence.assumptions`). Raises the errors of bad
    input; where the process that runs a claim is lost, the executor's caller makes that a FAILED verdict.
    """
    if claim.curve is not None:
        return _compare_outside(claim, statement(claim.statement))
    claimed = statement(claim.statement)
    if about_numbers(claimed):
        if not claim.problem and not claim.method:
            return _compare_numbers(claim, freed(claimed))
        claimed = in_free_data(claimed)
    resolved = resolve(claim, claimed)
    if isinstance(resolved, Verdict):
        result = ClaimResult(claim, resolved, dict(claim.method), ())
        return replace(result, failures=failures(claim, result))
    out = None if claim.engine == "exact" else out_of_scope(claim, resolved)  # a short exact run shows where it is
    return out or compare(claim, resolved, run(claim, resolved, store, on_progress, spread))


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
    verdict = compare_curve(claimed, curve, claim.constants)
    result = ClaimResult(claim, verdict, resolved.spec, ())
    return replace(result, failures=failures(claim, result))


def resolve(claim: Claim, claimed: Statement) -> Resolved | Verdict:
    """The setting of a claim, with numbers for its step sizes and the rounds to measure at.

    A verdict instead says why nothing needs to be run: an assumption fails without which the metric or a constant does
    not exist (OUT_OF_SCOPE), or no step size is allowed (VACUOUS). Raises the errors of bad input.
    """
    check_measurable(claimed)
    check_fits(claimed, claim.engine, claim.arithmetic, claim.constants)
    if claim.engine not in ENGINES:
        raise UnknownName("the engine", claim.engine, ENGINES)
    problem = build_problem(claim.problem)
    check_engine(claim.engine, problem, claim.neural, claim.arithmetic)
    first = _first_setting(claim, claimed, problem)
    given_constants(claimed, _without_parameters(claimed, first), claim.constants)  # raises on contradictory values
    missing = missing_quantity(claimed, first, claim.constants)
    if missing is not None:
        return Verdict(claimed.best_id, Outcome.OUT_OF_SCOPE, Grade.EXACT, missing)
    try:
        spec, setting = with_steps(claim.method, claimed, first, claim.constants, claim.at)
    except NothingAllowed as error:
        reason = f"The hypotheses cannot be met: {error}"
        untested = claim.constants or claim.estimate is not None  # given constants are not tested without a run
        return Verdict(claimed.best_id, Outcome.VACUOUS, Grade.SUPPORTED if untested else Grade.EXACT, reason)
    values = _values(claim, claimed, setting)
    if not set(claimed.parameters) <= set(claimed.known(setting.parameters)):
        steps = objection_to_run(claimed, Parameters.of_setting(setting), MAX_ROUNDS, values)
        if steps is not None and not steps.startswith(UNDECIDED):
            return Verdict(claimed.best_id, Outcome.OUT_OF_SCOPE, Grade.EXACT, f"Out of scope: {steps}.")
    index = _index(claim, claimed, values)
    return Resolved(claimed, setting, spec, index, rounds_of(claimed, index, values), start_constants(claimed, setting))


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
    values = _values(claim, claimed, resolved.setting)
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
    verdict = compare_curve(claimed, curve, claim.constants, level=claim.level, at=index, limit=limit)
    return _result(claim, claimed, curve, verdict, resolved.spec, index)


def _result(
    claim: Claim,
    claimed: Statement,
    curve: Curve,
    verdict: Verdict,
    spec: Mapping[str, Any],
    index: Sequence[Fraction] | None,
) -> ClaimResult:
    """The verdict with the compared points and the rate, and what an expectation of the claim missed."""
    result = ClaimResult(claim, verdict, spec, (), info=dict(curve.info))
    if verdict.outcome is not Outcome.FAILED:
        with suppress(NoAverage, Undefined):  # out of scope, where a side may have no value: nothing is compared
            result = _with_points(result, claimed, curve, claim, index)
    rate = None if claim.rate is None else measured_rate(claim.rate, curve)
    result = replace(result, rate=rate)
    return replace(result, failures=failures(claim, result))


def _compare_numbers(claim: Claim, claimed: Statement) -> ClaimResult:
    """The result of a claim about numbers that are given alone, without a problem and a method."""
    values = numbers_at(claimed, {**claim.constants, **claim.at})
    curve = curve_of_numbers(claimed)
    verdict = compare_curve(claimed, curve, values, level=claim.level)
    return replace(_result(replace(claim, constants=values), claimed, curve, verdict, {}, None), claim=claim)


def _compare_outside(claim: Claim, claimed: Statement) -> ClaimResult:
    """The result of a claim about a curve that was measured elsewhere."""
    check_measurable(claimed)
    problem = build_problem(claim.problem) if claim.problem else None
    setting, spec = None, dict(claim.method)
    if claim.method:
        if problem is None:
            raise BadInput(f"{claimed.best_id}: the method of a curve says nothing without a problem; give one.")
        setting = _first_setting(claim, claimed, problem)
        try:
            spec, setting = with_steps(claim.method, claimed, setting, claim.constants, claim.at)
        except NothingAllowed as error:
            reason = f"The hypotheses cannot be met: {error}"
            verdict = Verdict(claimed.best_id, Outcome.VACUOUS, Grade.SUPPORTED, reason)
            result = ClaimResult(claim, verdict, spec, ())
            return replace(result, failures=failures(claim, result))
        problem = setting.problem
    assert claim.curve is not None
    curve = describe_outside(read_curve(claim.curve, claimed, claim.level), claimed, problem, setting)
    if setting is not None:
        curve = with_start(curve, start_constants(claimed, setting))
    if problem is not None:
        curve = with_assumptions(curve, claim.constants, claimed, problem)
    index = None
    if claim.at:
        values, _ = symbol_values(claimed, curve, claim.constants)
        index = _index(claim, claimed, values)
        if not claimed.metric.over_rounds:
            curve = at_rounds(curve, rounds_of(claimed, index, values))
    verdict, compared = compare_outside(claimed, curve, claim.constants, claim.level, index)
    return _result(claim, claimed, compared, verdict, spec, index)


# --- parts of `resolve` ---------------------------------------------------------------------------------------------


def _first_setting(claim: Claim, claimed: Statement, problem: Problem) -> Setting:
    """The setting before the statement has given its step sizes; constants are estimated where the claim says so."""
    method = first_method(claim.method)
    method.check(clients_of(problem), problem.dim)
    if claim.estimate is not None:
        planned = partial(_planned, claim, claimed, method)
        engine = training_engine("neural")
        problem = engine.along_a_run(problem, claim.neural, planned, method, effort=claim.estimate)
    first = Setting(method, problem)
    return first.following() if claimed.metric.surrogate else first


def _planned(claim: Claim, claimed: Statement, method: Method, problem: Problem) -> tuple[Method, int] | None:
    """The method with its step sizes and the number of rounds, or None where no step size is allowed."""
    try:
        _, setting = with_steps(claim.method, claimed, Setting(method, problem), claim.constants, claim.at)
    except NothingAllowed:
        return None
    values = _values(claim, claimed, setting)
    return setting.method, max(rounds_of(claimed, _index(claim, claimed, values), values))


def _without_parameters(claimed: Statement, setting: Setting) -> dict[str, Constant]:
    """The constants that the statement names, without the parameters of the method, whose sizes may be open."""
    parameters = claimed.known(setting.parameters)
    return {name: c for name, c in claimed.known(setting.constants()).items() if name not in parameters}


def _values(claim: Claim, claimed: Statement, setting: Setting) -> dict[str, Fraction]:
    own = claimed.known(setting.constants())
    given = given_constants(claimed, own, claim.constants, claimed.known(setting.parameters))
    return {k: c.value for k, c in own.items()} | {name: c.value for name, c in given.items()}


def _index(claim: Claim, claimed: Statement, values: Mapping[str, Fraction]) -> list[Fraction]:
    name = claimed.metric.index
    for given in claim.at:
        if given != name:
            raise UnknownName(f"{claimed.best_id}: the index", given, [name or "none: it has a single round"])
    if name is None:
        return []
    if name not in claim.at:
        return default_index(claimed, values)
    symbol = claimed.symbol(name)
    return sorted({symbol.check(k, claimed.best_id) for k in parse_grid(claim.at[name], name, integer=symbol.integer)})


# --- parts of `compare` ----------------------------------------------------------------------------------------------


def _with_points(
    result: ClaimResult, claimed: Statement, curve: Curve, claim: Claim, index: Sequence[Fraction] | None
) -> ClaimResult:
    values, _ = symbol_values(claimed, curve, claim.constants)
    points = points_of(claimed, curve, values, index)
    low, high = points.low, points.high
    statistics = result.verdict.details.get("statistics")
    if statistics is not None:
        low, high = (np.array([float(v) for v in statistics[end]]) for end in ("lower", "upper"))
    return replace(
        result,
        index=points.index,
        rounds=points.rounds,
        metric_low=tuple(float(v) for v in low),
        metric_high=tuple(float(v) for v in high),
        bound=tuple(float(v) for v in points.bound_high),
        readings=readings_beside(claimed, curve, values, points),
    )
