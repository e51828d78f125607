"""A claim: one statement, one problem, one method, where to compare, and what is expected.

This is the unit of reports, of `boundcheck compare` and of `boundcheck check`. `run_claim` is a pure
function of the claim (and of the code), so an executor may carry it out anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.core.numbers import format_apart, format_short, parse_grid
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.run import ENGINES, check_engine, describe, is_round_metric
from boundcheck.errors import BadInput, UnknownName
from boundcheck.evidence.assumptions import check_assumption
from boundcheck.evidence.averages import NoAverage
from boundcheck.evidence.claim_rounds import default_index, rounds_of
from boundcheck.evidence.compare import DECIDED_HERE, compare, points_of, resolve, standing
from boundcheck.evidence.constant_claims import broken_assumption, constant_of, curve_of_constant
from boundcheck.evidence.estimated import along_a_run
from boundcheck.evidence.given import given_constants, is_library, key_of
from boundcheck.evidence.rate import Rate, fit_rate, fit_rate_sampled, within
from boundcheck.evidence.readings import Reading, readings_beside
from boundcheck.evidence.steps import START, joint, objective, placeholder, resolve_steps, start_constants, with_start
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of
from boundcheck.theory.discovery import statement
from boundcheck.theory.largest import NothingAllowed
from boundcheck.theory.quantities import check_measurable
from boundcheck.theory.statement import Kind, Statement
from boundcheck.verdict import Grade, Outcome, Verdict

if TYPE_CHECKING:
    from boundcheck.certified.constant import Constant
    from boundcheck.core.store import Store
    from boundcheck.problems.problem import Problem

__all__ = ["Claim", "ClaimResult", "RateClaim", "Reading", "resolve_steps", "run_claim"]

FIRST_SEEDS = 50  # a sampled claim starts with so many seeds and doubles them until decided or out of budget
# Runs where a claim names no number: the budget of the sampled engine, and what decides at level 0.999 with some room.
SEEDS: Mapping[str, int] = {"sampled": 1000, "neural": 200}
MOST_SAMPLES = 2 * 10**8  # numbers that the seeds of an average over rounds may hold together


@dataclass(frozen=True)
class RateClaim:
    """The log-log slope of `metric` over the last share `last` of the range lies in [low, high]."""

    metric: str
    low: Fraction
    high: Fraction
    last: Fraction = Fraction(1, 2)


def _nothing() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class Claim:
    """What is claimed, in the terms of a specification file.

    statement: id (a bare one takes the best reading). problem, method: specifications by kind; a step size may be
    "c*largest" or "tuned" (see `evidence.steps`). at: index symbol -> grid (see `core.numbers.parse_grid`); empty: a
    log grid up to where the bound has met its floor. constants: values that neither problem nor method knows, or weaker
    ones than the problem's (see `evidence.given`), by the statement's names. expect: the outcome that `check` asks for.
    tightness: (least, largest) allowed value of the least ratio bound/metric over the compared points where the bound
    is at most half its trivial value (over all points where there is none; see `evidence.judging.tightness_of`).
    arithmetic: of the exact engine (None: "ball"). seeds: budget of the sampled engine, number of runs of the neural
    one (None: that of `SEEDS`). estimate: with how much effort (`engines.neural.probing.Effort`; empty: its defaults)
    constants that the problem does not know are measured along the run; None: they are not. neural: settings of the
    neural engine. number: which of its file it is, from 1.
    """

    statement: str
    problem: Mapping[str, Any]
    method: Mapping[str, Any]
    name: str = ""
    at: Mapping[str, Any] = field(default_factory=_nothing)
    constants: Mapping[str, Any] = field(default_factory=_nothing)
    engine: str = "exact"
    arithmetic: str | None = None
    seeds: int | None = None
    level: float = 0.999
    expect: Outcome | None = None
    tightness: tuple[float | None, float | None] = (None, None)
    rate: RateClaim | None = None
    estimate: Mapping[str, Any] | None = None
    neural: Mapping[str, Any] | None = None
    number: int | None = field(default=None, compare=False)

    @property
    def runs(self) -> int:
        """How many seeds a run with a random method may have."""
        return SEEDS.get(self.engine, 0) if self.seeds is None else self.seeds

    def label(self) -> str:
        """The claim's own name, or one made of its number in the file, statement, problem and method."""
        parts = [str(self.problem.get("data") or self.problem.get("kind", "")), str(self.method.get("kind", ""))]
        place = "" if self.number is None else f"claim {self.number}: "
        return self.name or place + " ".join([self.statement, "on", *parts])


@dataclass(frozen=True)
class ClaimResult:
    """Everything a report needs of one claim.

    failures: what an expectation missed, one sentence each (empty: all met). index, rounds, metric_low,
    metric_high, bound: what was compared, point by point; for sampled curves the metric is the band of the
    sequential test. method: the resolved specification (step sizes as numbers).
    """

    claim: Claim
    verdict: Verdict
    method: Mapping[str, Any]
    failures: tuple[str, ...]
    index: tuple[Fraction, ...] = ()
    rounds: tuple[int, ...] = ()
    metric_low: tuple[float, ...] = ()
    metric_high: tuple[float, ...] = ()
    bound: tuple[float, ...] = ()
    readings: tuple[Reading, ...] = ()
    rate: Rate | None = None
    info: Mapping[str, Any] = field(default_factory=_nothing)


def run_claim(
    claim: Claim,
    store: Store | None = None,
    on_progress: Callable[[float], None] | None = None,
    *,
    claimed: Statement | None = None,
) -> ClaimResult:
    """Resolve, run, compare.

    claimed: the statement itself, where it is none that discovery finds under the claim's id. A step size that is
    asked of conditions which allow none is a VACUOUS verdict, without a run. Assumptions that the problem cannot
    decide at these constants are tried at many points (`evidence.assumptions`). Raises the errors of bad input; where
    the process that runs a claim is lost, the executor's caller makes that a FAILED verdict.
    """
    claimed = statement(claim.statement) if claimed is None else claimed
    check_measurable(claimed)
    if claim.engine not in ENGINES:
        raise UnknownName("the engine", claim.engine, ENGINES)
    check_engine(claim.engine, build_problem(claim.problem), claim.neural, claim.arithmetic)
    problem, known = _instance(claim, claimed)
    given_constants(claimed, known, claim.constants)  # a contradiction is told before anything rests on it
    beyond = _beyond(claim, claimed, problem, known)
    if beyond is not None:
        return _without_run(claim, Verdict(claimed.best_id, Outcome.OUT_OF_SCOPE, Grade.EXACT, beyond))
    try:
        method_spec = resolve_steps(claim.method, claimed, problem, claim.constants, claim.at)
    except NothingAllowed as error:
        reason = f"The hypotheses cannot be met: {error}"
        untested = claim.constants or claim.estimate is not None  # given constants are not tested without a run
        grade = Grade.SUPPORTED if untested else Grade.EXACT
        return _without_run(claim, Verdict(claimed.best_id, Outcome.VACUOUS, grade, reason))
    method = build_method(method_spec)
    own = joint(claimed, method, problem)
    values = _values(claim, claimed, own, method)
    index = _index(claim, claimed, values)
    rounds = rounds_of(claimed, index, values)
    start = start_constants(claimed, method, problem)
    curve = _run_until_decided(claim, claimed, problem, method, method_spec, rounds, index, start, store, on_progress)
    curve = _with_assumptions(curve, claim, claimed, problem)
    limit = None
    if claimed.kind is Kind.LIMIT and curve.arithmetic is Arithmetic.RATIONAL:
        from boundcheck.evidence.limits import exact_limit

        limit = exact_limit(claimed, method, problem)
    verdict = compare(claimed, curve, claim.constants, level=claim.level, at=index or None, limit=limit)
    result = ClaimResult(claim, verdict, method_spec, (), info=dict(curve.info))
    if verdict.outcome is not Outcome.FAILED:
        with suppress(NoAverage):  # out of scope, where weights may make no average: nothing is compared
            result = _with_points(result, claimed, curve, claim, index or None)
    rate = None if claim.rate is None else _rate(claim.rate, curve)
    result = replace(result, rate=rate)
    return replace(result, failures=tuple(_failures(claim, result)))


def _without_run(claim: Claim, verdict: Verdict) -> ClaimResult:
    result = ClaimResult(claim, verdict, dict(claim.method), ())
    return replace(result, failures=tuple(_failures(claim, result)))


def _instance(claim: Claim, claimed: Statement) -> tuple[Problem, dict[str, Constant]]:
    """The problem that the statement is about, and its constants under the statement's names.

    Those that it shares with the method (its parameters excepted) are among them.
    """
    problem = build_problem(claim.problem)
    method = build_method(placeholder(claim.method))
    method.check(clients_of(problem), problem.dim)
    if claim.estimate is not None:
        problem = along_a_run(problem, claim.neural, partial(_planned, claim, claimed), method, effort=claim.estimate)
    problem = objective(claimed, method, problem)
    parameters = set(claimed.known(dict.fromkeys(method.parameters())))
    return problem, {k: c for k, c in joint(claimed, method, problem).items() if k not in parameters}


def _planned(claim: Claim, claimed: Statement, problem: Problem) -> tuple[Method, int] | None:
    """The method with its step sizes and the number of rounds, or None where no step size is allowed."""
    try:
        method = build_method(resolve_steps(claim.method, claimed, problem, claim.constants, claim.at))
    except NothingAllowed:
        return None
    values = _values(claim, claimed, joint(claimed, method, problem), method)
    return method, max(rounds_of(claimed, _index(claim, claimed, values), values))


def _beyond(claim: Claim, claimed: Statement, problem: Problem, own: Mapping[str, Constant]) -> str | None:
    """Which assumption the problem breaks, where it therefore lacks the metric or a constant; None: it can be run."""
    method = build_method(placeholder(claim.method))
    parameters = claimed.known(dict.fromkeys(method.parameters()))
    known = {*own, *claim.constants, *claimed.parameters, *parameters, str(claimed.metric.index)}
    lacking = [s.name for s in claimed.symbols if s.name not in known and s.reported not in START]
    quantity = claimed.metric.quantity
    if constant_of(claimed) is None and quantity not in problem.metrics and not is_round_metric(quantity):
        lacking.append(f"the metric {claimed.metric.quantity}")
    if not lacking:
        return None
    broken = broken_assumption(claimed, method, problem)
    return None if broken is None else f"Out of scope: {broken}. There is no {', '.join(lacking)}."


def _values(claim: Claim, claimed: Statement, own: Mapping[str, Constant], method: Method) -> dict[str, Fraction]:
    methods = claimed.known(dict.fromkeys(method.parameters()))
    given = given_constants(claimed, own, claim.constants, methods)
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


def _run_until_decided(
    claim: Claim,
    claimed: Statement,
    problem: Problem,
    method: Method,
    method_spec: Mapping[str, Any],
    rounds: list[int],
    index: list[Fraction],
    start: Mapping[str, Constant],
    store: Store | None,
    on_progress: Callable[[float], None] | None,
) -> Curve:
    """The run; a sampled one gets seeds in doubling blocks until decided or out of budget, a neural one all at once."""
    from boundcheck.evidence.stored import run_or_recall

    metrics = sorted({claimed.metric.quantity} | ({claim.rate.metric} if claim.rate else set()))
    how: dict[str, Any] = {"rounds": rounds, "engine": claim.engine, "metrics": metrics}
    if claim.engine == "exact":
        how["arithmetic"] = Arithmetic(claim.arithmetic or Arithmetic.BALL).value
    asked = [a.name for a in claimed.assumptions if is_library(a)]
    if constant_of(claimed) is not None:
        return curve_of_constant(claimed, method, problem, asked)

    def recalled(**more: Any) -> Curve:
        found = run_or_recall(store, method, problem, method_spec, assumptions=asked, **how, **more)
        return with_start(found, start)

    if claim.engine != "exact" and claimed.metric.weights is not None and claim.runs * len(rounds) > MOST_SAMPLES:
        raise BadInput(
            f"{claimed.best_id}: {claim.runs} seeds of {len(rounds)} rounds, all of which the average needs, are "
            f"more than {MOST_SAMPLES} numbers; take fewer seeds or rounds."
        )
    if claim.engine == "exact":
        return recalled(seeds=range(0), on_progress=on_progress)
    if claim.engine == "neural":
        return recalled(seeds=range(claim.runs), neural=claim.neural, on_progress=on_progress)
    from boundcheck.engines.sampled import concatenate

    curve: Curve | None = None
    done, stop = 0, min(FIRST_SEEDS, claim.runs)
    while True:

        def share(part: float, done: int = done, stop: int = stop) -> None:
            if on_progress is not None:
                on_progress((done + part * (stop - done)) / claim.runs)

        block = recalled(seeds=range(done, stop), on_progress=share)
        if curve is None:
            curve = block
        else:
            curve = describe(concatenate([curve, block]), method, problem, asked)
            curve = with_start(curve, start)
        verdict = compare(claimed, curve, claim.constants, level=claim.level, at=index or None)
        if verdict.outcome is not Outcome.UNDECIDED or stop >= claim.runs or not method.is_random(clients_of(problem)):
            return curve
        done, stop = stop, min(2 * stop, claim.runs)


def _with_assumptions(curve: Curve, claim: Claim, claimed: Statement, problem: Problem) -> Curve:
    """The curve with the assumptions that the problem has not decided at these constants tried at many points."""
    _, known = resolve(claimed, curve, claim.constants)
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


def _with_points(
    result: ClaimResult, claimed: Statement, curve: Curve, claim: Claim, index: Sequence[Fraction] | None
) -> ClaimResult:
    values, _ = resolve(claimed, curve, claim.constants)
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


def _rate(claim: RateClaim, curve: Curve) -> Rate:
    if claim.metric not in curve.values:
        raise UnknownName("the rate: metric", claim.metric, curve.values)
    positive = curve.rounds > 0
    x = curve.rounds[positive].astype(float)
    if claim.metric in curve.samples:
        return fit_rate_sampled(x, curve.samples[claim.metric][:, positive], last=float(claim.last))
    return fit_rate(x, curve.values[claim.metric][positive], last=float(claim.last))


def _failures(claim: Claim, result: ClaimResult) -> list[str]:
    missed: list[str] = []
    verdict = result.verdict
    if claim.expect is not None and verdict.outcome is not claim.expect:
        missed.append(f"expected {claim.expect.value}, got {verdict.outcome.value}: {verdict.reason}")
    least, largest = claim.tightness
    if least is not None or largest is not None:
        found = math.nan if verdict.tightness is None else verdict.tightness.ratio_min
        if math.isnan(found):
            missed.append("no tightness was measured")
        elif least is not None and found < least:
            shown, limit = format_apart(found, least)
            missed.append(f"tightness {shown} is below at_least = {limit}")
        elif largest is not None and found > largest:
            shown, limit = format_apart(found, largest)
            missed.append(f"tightness {shown} is above at_most = {limit}")
    if claim.rate is not None and result.rate is None:
        missed.append("no slope was measured, because nothing was run")
    elif claim.rate is not None and result.rate is not None:
        decided = within(result.rate, float(claim.rate.low), float(claim.rate.high))
        if decided is not Outcome.HOLDS:
            missed.append(
                f"the slope {result.rate.slope:.4f} in [{result.rate.low:.4f}, {result.rate.high:.4f}] is not known to "
                f"lie in [{format_short(claim.rate.low)}, {format_short(claim.rate.high)}]: {decided.value}"
            )
    return missed
