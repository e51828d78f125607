"""pytest plugin: the fixture `boundcheck`, with which a test suite holds a method to a published bound.

    def test_my_rate(boundcheck):
        boundcheck.assert_holds("my_paper/theorem_1", problem={...}, method={...}, rounds=500)

Statement, outcome, grade and tightness are recorded as properties of the test, so that `pytest --junitxml` writes
them. This module imports nothing of boundcheck before the fixture is used: pytest loads it in every run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from boundcheck.evidence.claim import Claim, ClaimResult


GRID = 200  # compared points when `rounds` is a number; all of them up to here, a log grid beyond


@pytest.fixture
def boundcheck(request: pytest.FixtureRequest) -> Boundcheck:
    """Assertions about published bounds; see `Boundcheck`."""
    return Boundcheck(request.node.user_properties)


class Boundcheck:
    """What the fixture offers. Every method returns the result, so that a test may look further.

    statement: an id; a bare one takes the best reading. problem, method: specifications as in a claim file; a step
    size may be "largest", "0.9*largest" or "tuned". rounds: compare up to this communication round, or at these rounds;
    at: or at these values of the statement's index, {"K": "log:1:1e6:60"}; neither: up to where the bound meets its
    floor. Further options are those of a claim: constants, engine, arithmetic, seeds, level, tightness (least,
    largest bound/metric).
    """

    def __init__(self, properties: list[tuple[str, object]]) -> None:
        self._properties = properties

    def assert_holds(
        self,
        statement: str,
        *,
        problem: Mapping[str, Any],
        method: Mapping[str, Any],
        rounds: int | Sequence[int] | None = None,
        at: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> ClaimResult:
        """Fails unless the bound holds on this run (outcome HOLDS; VACUOUS and UNDECIDED are not enough)."""
        __tracebackhide__ = True
        return self.assert_verdict(
            statement, problem=problem, method=method, expect="HOLDS", rounds=rounds, at=at, **options
        )

    def assert_verdict(
        self,
        statement: str,
        *,
        problem: Mapping[str, Any],
        method: Mapping[str, Any],
        expect: str,
        rounds: int | Sequence[int] | None = None,
        at: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> ClaimResult:
        """Fails unless the outcome is `expect`: HOLDS, VIOLATED, VACUOUS, OUT_OF_SCOPE, UNDECIDED or FAILED."""
        __tracebackhide__ = True
        from boundcheck.errors import UnknownName
        from boundcheck.verdict import Outcome

        if expect not in list(Outcome):
            raise UnknownName("the outcome", expect, list(Outcome))
        claim = _claim(statement, problem, method, rounds, at, {**options, "expect": Outcome(expect)})
        return self._settle(claim)

    def assert_rate(
        self,
        statement: str,
        *,
        problem: Mapping[str, Any],
        method: Mapping[str, Any],
        slope: tuple[Any, Any],
        metric: str = "",
        last: Any = "1/2",
        rounds: int | Sequence[int] | None = None,
        at: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> ClaimResult:
        """Fails unless the log-log slope of the metric by round is known to lie between slope[0] and slope[1].

        metric: default the statement's. last: the share of the log range of rounds, at its end, that is fitted.
        """
        __tracebackhide__ = True
        from boundcheck.core.numbers import as_fraction
        from boundcheck.evidence.claim import RateClaim
        from boundcheck.theory.discovery import statement as find

        low, high = (as_fraction(v, "slope") for v in slope)
        rate = RateClaim(metric or find(statement).metric.quantity, low, high, as_fraction(last, "last"))
        return self._settle(_claim(statement, problem, method, rounds, at, {**options, "rate": rate}))

    def _settle(self, claim: Claim) -> ClaimResult:
        __tracebackhide__ = True
        from boundcheck.evidence.claim import run_claim

        result = run_claim(claim)
        verdict = result.verdict
        self._properties.append(("statement", verdict.statement))
        self._properties.append(("outcome", verdict.outcome.value))
        self._properties.append(("grade", "none" if verdict.grade is None else verdict.grade.value))
        if verdict.tightness is not None:
            self._properties.append(("tightness", f"{verdict.tightness.ratio_min:.6g}"))
        if result.rate is not None:
            self._properties.append(("slope", f"{result.rate.slope:.6g}"))
        if result.failures:
            witness = json.dumps(dict(verdict.witness), default=str, indent=1)
            raise AssertionError("\n".join([f"{claim.label()}: {' '.join(result.failures)}", f"witness: {witness}"]))
        return result


def _claim(
    statement: str,
    problem: Any,
    method: Any,
    rounds: int | Sequence[int] | None,
    at: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> Claim:
    from dataclasses import fields

    from boundcheck.errors import BadInput, UnknownName
    from boundcheck.evidence.claim import Claim

    known = [f.name for f in fields(Claim)]
    for name in options:
        if name not in known:
            raise UnknownName("the option", name, known)
    for what, spec in (("problem", problem), ("method", method)):
        if not isinstance(spec, Mapping):
            raise BadInput(f"the {what} must be a specification such as {{'kind': ...}}, not {type(spec).__name__}.")
    if rounds is not None and at is not None:
        raise BadInput("give either rounds or at, not both.")
    where = {} if at is None else dict(at)
    if rounds is not None:
        where = _index_at(statement, problem, method, rounds)
    return Claim(statement, dict(problem), dict(method), at=where, **options)


def _index_at(
    statement: str, problem: Mapping[str, Any], method: Mapping[str, Any], rounds: int | Sequence[int]
) -> dict[str, Any]:
    """The statement's index at (or up to) these communication rounds, which are affine in it."""
    from fractions import Fraction

    from boundcheck.core.numbers import as_fraction, parse_grid
    from boundcheck.errors import BadInput
    from boundcheck.evidence.open_step_sizes import placeholder
    from boundcheck.methods.build import build as build_method
    from boundcheck.problems.build import build
    from boundcheck.problems.problem import clients_of
    from boundcheck.setting import Setting
    from boundcheck.theory.discovery import statement as find

    claimed = find(statement)
    if claimed.metric.index is None:
        raise BadInput(f"{claimed.best_id} is about a single round; leave out rounds.")
    symbol, expr = claimed.symbol(claimed.metric.index), claimed.metric.rounds
    needed = {s.name for s in expr.free_symbols} - {symbol.name}
    instance = build(problem)
    known = {name: c.value for name, c in claimed.known(instance.constants()).items()}
    for name in claimed.parameters:  # a step size that the statement is to give has no number yet
        if name in method and not (isinstance(method[name], str) and _is_open(method[name])):
            known[name] = as_fraction(method[name], name)
    if not needed <= set(known):  # such as the rounds of a period, which method and problem have together
        composed = build_method(placeholder(method))
        composed.check(clients_of(instance), instance.dim)
        own = claimed.known(Setting(composed, instance).constants())
        known |= {name: c.value for name, c in own.items() if name in needed}
    if not needed <= set(known):
        lacking = ", ".join(sorted(needed - set(known)))
        raise BadInput(f"{claimed.best_id}: its rounds depend on {lacking}, which is not known; give at, not rounds.")
    other = {s: known[s.name] for s in expr.free_symbols if s.name != symbol.name and s.name in known}
    first, second = (as_fraction(expr.subs({**other, symbol.expr: k}), "rounds") for k in (0, 1))
    low = Fraction(0) if symbol.low is None else symbol.low
    if not isinstance(rounds, int):
        wanted = [Fraction(int(r) - first, 1) / (second - first) for r in rounds]
        for r, k in zip(rounds, wanted, strict=True):
            if not symbol.admits(k):
                raise BadInput(f"{claimed.best_id}: round {r} falls on no admissible {symbol.name}.")
        return {symbol.name: wanted}
    top = (rounds - first) // (second - first)
    if top < low:
        raise BadInput(f"{claimed.best_id}: rounds = {rounds} is before the first {symbol.name} = {low}.")
    if top - low <= GRID:
        return {symbol.name: list(range(int(low), int(top) + 1))}
    return {symbol.name: [low, *(k for k in parse_grid(f"log:{max(low, 1)}:{top}:{GRID}", integer=True) if k > low)]}


def _is_open(text: str) -> bool:
    from boundcheck.evidence.open_step_sizes import TUNED

    return "largest" in text or text.strip() == TUNED
