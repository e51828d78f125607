"""pytest plugin: the fixture `boundcheck`, with which a test suite holds a method to a published bound.

    def test_my_rate(boundcheck):
        boundcheck.assert_holds("my_paper/theorem_1", problem={...}, method={...}, rounds=500)

`judge` makes one test of each named check of an implementation.

Statement, outcome, grade and tightness are recorded as properties of the test, so that `pytest --junitxml` writes
them. This module imports nothing of boundcheck before the fixture is used: pytest loads it in every run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from boundcheck.evidence.claim import Claim, ClaimResult
    from boundcheck.judge.against_bound import BoundCheck
    from boundcheck.judge.findings import Agreement
    from boundcheck.judge.task import Task
    from boundcheck.theory.statement import Statement


SHARP = 1e-9  # relative: bounds that agree to this are equally sharp
GRID = 200  # compared points when `rounds` is a number; all of them up to here, a log grid beyond


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option --boundcheck-update."""
    words = "record the tightness baselines of `boundcheck.assert_tightness` instead of comparing with them"
    parser.getgroup("boundcheck").addoption("--boundcheck-update", action="store_true", help=words)


@pytest.fixture
def boundcheck(request: pytest.FixtureRequest) -> Boundcheck:
    """Assertions about published bounds; see `Boundcheck`."""
    update = bool(request.config.getoption("--boundcheck-update", default=False))
    return Boundcheck(request.node.user_properties, request.node.path, request.node.name, update)


class Boundcheck:
    """What the fixture offers. Every method returns the result, so that a test may look further.

    statement: an id (a bare one takes the best reading), or a Statement. problem, method: specifications as in a claim
    file; a step size may be "largest", "0.9*largest" or "tuned". rounds: compare up to this communication round, or at
    these rounds; at: or at these values of the statement's index, {"K": "log:1:1e6:60"}; neither: up to where the bound
    meets its floor. Further options are those of a claim: constants, engine, arithmetic, seeds, level, tightness
    (least, largest bound/metric).
    """

    def __init__(
        self, properties: list[tuple[str, object]], path: Path | None = None, name: str = "", update: bool = False
    ) -> None:
        self._properties, self._path, self._name, self._update = properties, path, name, update

    def assert_holds(
        self,
        statement: str | Statement,
        *,
        problem: Mapping[str, Any],
        method: Mapping[str, Any],
        rounds: int | Sequence[int] | None = None,
        at: Mapping[str, Any] | None = None,
        at_least_as_sharp_as: str | Statement | None = None,
        **options: Any,
    ) -> ClaimResult:
        """Fails unless the bound holds on this run (outcome HOLDS; VACUOUS and UNDECIDED are not enough).

        at_least_as_sharp_as: another statement or reading. It must hold on the same run, with the same step sizes,
        and its tightness (least bound/metric) must not be below that of this one.
        """
        __tracebackhide__ = True
        from boundcheck.core.numbers import format_apart

        found = self.assert_verdict(
            statement, problem=problem, method=method, expect="HOLDS", rounds=rounds, at=at, **options
        )
        if at_least_as_sharp_as is not None:
            where = {"rounds": rounds, "at": at}
            other = self.assert_verdict(
                at_least_as_sharp_as, problem=problem, method=found.method, expect="HOLDS", **where, **options
            )
            own, theirs = _tightness(found), _tightness(other)
            if not own <= theirs * (1 + SHARP):
                texts = format_apart(own, theirs)
                raise AssertionError(
                    f"{found.verdict.statement} is less sharp on this run than {other.verdict.statement}: its least "
                    f"bound/metric is {texts[0]}, that of the other {texts[1]}."
                )
        return found

    def assert_tightness(
        self,
        statement: str | Statement,
        *,
        problem: Mapping[str, Any],
        method: Mapping[str, Any],
        rounds: int | Sequence[int] | None = None,
        at: Mapping[str, Any] | None = None,
        rel: float = 1e-6,
        **options: Any,
    ) -> ClaimResult:
        """Fails unless the bound holds and its tightness is the recorded one, up to a relative `rel`.

        Baselines stand in the file `<test module>.tightness.json` beside the test, by test and statement.
        `pytest --boundcheck-update` records them.
        """
        __tracebackhide__ = True
        from boundcheck.errors import BadInput
        from boundcheck.evidence.baselines import Baselines

        found = self.assert_verdict(
            statement, problem=problem, method=method, expect="HOLDS", rounds=rounds, at=at, **options
        )
        if self._path is None:
            raise BadInput("assert_tightness keeps its baselines beside a test; use the fixture `boundcheck`.")
        baselines = Baselines(self._path.with_suffix(".tightness.json"), self._update)
        why = baselines.against(f"{self._name}: {found.claim.label()}", _tightness(found), rel)
        if why is not None:
            raise AssertionError(f"{found.claim.label()}: {why}.")
        return found

    def assert_verdict(
        self,
        statement: str | Statement,
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
        statement: str | Statement,
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

    def assert_curve(
        self,
        statement: str | Statement,
        *,
        problem: Mapping[str, Any],
        method: Mapping[str, Any],
        run: Callable[[Task, int], Any],
        rounds: int | Sequence[int] | None = None,
        at: Mapping[str, Any] | None = None,
        seeds: int = 50,
        power: bool | Literal["required"] = True,
        **options: Any,
    ) -> BoundCheck:
        """Fails unless the curve of `run(task, seed)` is known to be within the bound (HOLDS, SUPPORTED at most).

        method: what the implementation is meant to be; its constants are used, and it is not checked. The result says
        which mistakes the comparison would have missed (`power`), in `reason` and as properties of the test; with
        power = "required" the test fails where there are any that a problem can show.
        """
        __tracebackhide__ = True
        from boundcheck.judge.against_bound import check_against_bound
        from boundcheck.verdict import Outcome

        claim = _claim(statement, problem, method, rounds, at, {**options, "expect": Outcome.HOLDS})
        found = check_against_bound(claim, run, seeds, bool(power))
        self._record(found.result)
        if found.power is not None:
            self._properties.append(("caught mistakes", len(found.power.caught)))
            missed = [j.mutant.name for j in found.power.missed]
            self._properties.append(("missed mistakes", ", ".join(missed)))
            if power == "required" and missed:
                raise AssertionError(f"the comparison with the bound would miss {len(missed)} mistakes. {found.reason}")
        if found.result.failures:
            raise AssertionError(f"{claim.label()}: {' '.join(found.result.failures)}")
        return found

    def assert_matches(
        self,
        *,
        method: Mapping[str, Any],
        run: Callable[[Task, int], Any],
        problem: Mapping[str, Any] | None = None,
        rounds: int = 200,
        **options: Any,
    ) -> Agreement:
        """Fails unless `run(task, seed)` does what the method does: see `boundcheck.judge`.

        problem: default one on which the mistakes of the method differ. options: tolerance, seeds, rate, power; with
        power = "required" the test also fails where the problem does not tell every known mistake from the method.
        """
        __tracebackhide__ = True
        from boundcheck.judge.comparison import compare_implementation

        required = options.get("power") == "required"
        if required:
            del options["power"]
        found = compare_implementation(method, run, problem, rounds=rounds, **options)
        self._properties.append(("method", found.method))
        self._properties.append(("agrees", found.agrees))
        if not found.agrees:
            self._properties.append(("mistakes", ", ".join(found.mistakes)))
            raise AssertionError(found.reason)
        if required and found.alike:
            raise AssertionError(f"the comparison would miss {len(found.alike)} mistakes. {found.reason}")
        return found

    def _settle(self, claim: Claim) -> ClaimResult:
        __tracebackhide__ = True
        from boundcheck.evidence.claim import run_claim

        result = run_claim(claim)
        self._record(result)
        if result.failures:
            witness = json.dumps(dict(result.verdict.witness), default=str, indent=1)
            point = "witness" if result.verdict.outcome == "VIOLATED" else "closest point"
            raise AssertionError(f"{claim.label()}: {' '.join(result.failures)}\n{point}: {witness}")
        return result

    def _record(self, result: ClaimResult) -> None:
        verdict = result.verdict
        self._properties.append(("statement", verdict.statement))
        self._properties.append(("outcome", verdict.outcome.value))
        self._properties.append(("grade", "none" if verdict.grade is None else verdict.grade.value))
        if verdict.tightness is not None:
            self._properties.append(("tightness", f"{verdict.tightness.ratio_min:.6g}"))
        if result.rate is not None:
            self._properties.append(("slope", f"{result.rate.slope:.6g}"))


def judge(
    run: Callable[..., Any],
    method: Mapping[str, Any],
    *,
    checks: Sequence[str] | None = None,
    lacks: Collection[str] = (),
    expected: Mapping[str, str] | None = None,
    **settings: Any,
) -> pytest.MarkDecorator:
    """Parametrise a test with the named checks of an implementation; see `boundcheck.judge`.

        @judge(my_fedavg, method={"kind": "fedavg", "E": 2, "eta": "1/10"})
        def test_my_fedavg(check):
            check()

    A check that is not asked is skipped with its reason. `expected` maps checks to the reasons for which they fail;
    such a failure is an xfail, and a pass is an error. Raises UnknownName and BadInput as `boundcheck.judge` does.
    """
    from boundcheck.core.parameters import check_types
    from boundcheck.judge.checks.run import validated

    given = {"run": run, "method": method, "checks": checks, "lacks": lacks, "expected": expected}
    check_types("judge", judge.__annotations__, given)
    names = [c.name for c in validated(method, lacks, expected, settings, checks)]
    how = {"lacks": lacks, "expected": expected, **settings}
    return pytest.mark.parametrize("check", [pytest.param(_Check(run, method, n, how), id=n) for n in names])


class _Check:
    """One named check of an implementation; a call runs it."""

    def __init__(self, run: Callable[..., Any], method: Mapping[str, Any], name: str, how: Mapping[str, Any]) -> None:
        self.run, self.method, self.name, self.how = run, method, name, dict(how)

    def __call__(self) -> Any:
        """The result of the check; fails, skips or xfails the test that calls it."""
        __tracebackhide__ = True
        from boundcheck.judge.checks.result import BAD
        from boundcheck.judge.checks.run import check_implementation
        from boundcheck.judge.findings import Status

        expected = {k: v for k, v in (self.how["expected"] or {}).items() if k == self.name}
        how: dict[str, Any] = {**self.how, "checks": [self.name], "expected": expected}
        result = check_implementation(self.method, self.run, **how)[self.name]
        if result.status in BAD:
            raise AssertionError(str(result))
        if result.status is Status.NOT_ASKED:
            pytest.skip(f"not asked: {result.reason}")
        if result.status is Status.EXPECTED_FAILURE:
            pytest.xfail(result.reason)
        return result

    def __repr__(self) -> str:
        return f"<check {self.name} of {self.method['kind']}>"


def _tightness(result: ClaimResult) -> float:
    found = result.verdict.tightness
    return float("nan") if found is None else found.ratio_min


def _claim(
    statement: str | Statement,
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
    statement: str | Statement,
    problem: Mapping[str, Any],
    method: Mapping[str, Any],
    rounds: int | Sequence[int],
) -> dict[str, Any]:
    """The statement's index at (or up to) these communication rounds, which are affine in it."""
    from fractions import Fraction

    from boundcheck.core.numbers import as_fraction, parse_grid
    from boundcheck.errors import BadInput
    from boundcheck.evidence.open_step_sizes import first_method
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
        composed = first_method(method)
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
