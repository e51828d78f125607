"""Resolving a claim: statement, problem and method are built once, then step sizes become numbers.

`prepare` builds the three and finds what is wrong with them. `resolve` adds what only the statement's conditions give:
step sizes, where to compare, and at which rounds to measure. What the reader of a file has prepared is kept on the
claim, so that a claim which is run in the same process is not built again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.core.numbers import format_short, parse_grid
from boundcheck.engines.run import ENGINES, MAX_ROUNDS, check_engine
from boundcheck.engines.trained import training_engine
from boundcheck.errors import BadInput, UnknownName
from boundcheck.evidence.claim_rounds import check_fits, default_index, rounds_of
from boundcheck.evidence.constant_claims import missing_quantity
from boundcheck.evidence.kind_parameters import UNDECIDED, Parameters, objection_to_run
from boundcheck.evidence.open_step_sizes import check_open, first_method, open_sizes, start_constants, with_steps
from boundcheck.evidence.outside import read_curve
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of
from boundcheck.setting import Setting
from boundcheck.setting.user_constants import given_constants, is_library
from boundcheck.theory.free_data import about_numbers, freed, in_free_data, numbers_at
from boundcheck.theory.largest import NothingAllowed
from boundcheck.theory.quantities import check_measurable
from boundcheck.verdict import Grade, Outcome, Verdict

if TYPE_CHECKING:
    from boundcheck.certified.constant import Constant
    from boundcheck.engines.curve import Curve
    from boundcheck.evidence.claim_result import Claim
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem
    from boundcheck.theory.statement import Statement

# noting(*keys, names=None): a context that may keep an error that is raised inside. keys: the part of the claim that is
# looked at; names: the table at these keys, of whose keys the error may name one.
Noting = Callable[..., AbstractContextManager[None]]


def _passing(*keys: str | int, names: Mapping[str, Any] | None = None) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True)
class Prepared:
    """What a claim is made of, built.

    claimed: the statement, in its free data where it is about numbers. first: the setting in which every size that the
    statement is to give is 1; None for a claim about a curve or about numbers that names no method. index: where to
    compare; None where that is left open. values: of a claim about numbers alone, those of its symbols. curve: one that
    was measured elsewhere.
    """

    claimed: Statement
    problem: Problem | None
    first: Setting | None
    index: list[Fraction] | None
    values: Mapping[str, Fraction] | None
    curve: Curve | None


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
        """The hypotheses of the statement that method and problem answer."""
        return [a.name for a in self.claimed.assumptions if is_library(a)]


def prepare(claim: Claim, noting: Noting = _passing) -> Prepared | None:
    """Statement, problem and method of a claim.

    Raises the errors of bad input, or hands them to `noting`, one for each independent part; None where a part could
    not be built for one of them.
    """
    if claim.prepared is not None:
        return claim.prepared
    problem, method, first, values, curve = None, None, None, None, None
    index: list[Fraction] | None = None
    run = claim.curve is None
    claimed = _statement_of(claim, noting)
    alone = run and claimed is not None and about_numbers(claimed) and not claim.problem and not claim.method
    if alone and claimed is not None:
        claimed = freed(claimed)
    if claim.problem or (run and not alone):
        with noting("problem", names=claim.problem):
            problem = build_problem(claim.problem)
    if run and problem is not None:
        _check_engine(claim, problem, claimed, noting)
    for name, value in claim.method.items():
        with noting("method", name):
            if claimed is not None:
                check_open(claimed, name, value)
    if claim.method or (run and not alone):
        with noting("method", names=claim.method):
            method = first_method(claim.method)
    if method is not None and problem is not None:
        with noting("method"):
            method.check(clients_of(problem), problem.dim)
            first = _following(claimed, Setting(method, problem))
    if claimed is None:
        return None
    _check_constants(claim, claimed, first, noting)
    if alone:
        with noting("at", names=claim.at):
            values = numbers_at(claimed, {**claim.constants, **claim.at})
    else:
        index = _given_index(claim, claimed, noting)
    if claim.curve is not None:
        if claim.method and not claim.problem:
            with noting("method"):
                raise BadInput(
                    f"{claimed.best_id}: the method of a curve says nothing without a problem; write the problem, too."
                )
        with noting("curve"):
            curve = read_curve(claim.curve, claimed, claim.level)
    complete = (alone or (problem is not None and first is not None)) if run else curve is not None
    return Prepared(claimed, problem, first, index, values, curve) if complete else None


def _statement_of(claim: Claim, noting: Noting) -> Statement | None:
    """The statement of a claim, in its free data unless the claim is about a curve."""
    with noting("statement"):
        found = claim.claimed
        check_measurable(found)
        return in_free_data(found) if claim.curve is None else found
    return None


def _following(claimed: Statement | None, setting: Setting) -> Setting:
    """The setting that the statement is about: for some, the objective that the method follows."""
    return setting.following() if claimed is not None and claimed.metric.surrogate else setting


def _check_engine(claim: Claim, problem: Problem, claimed: Statement | None, noting: Noting) -> None:
    """An engine that does not carry the problem or the statement, or wrong settings of the neural one."""
    fits = False
    with noting("problem" if claim.engine == "exact" else "engine"):
        if claim.engine not in ENGINES:
            raise UnknownName("the engine", claim.engine, ENGINES)
        check_engine(claim.engine, problem)
        fits = True
    if claimed is not None:
        other = "constants" if claim.arithmetic is None else "arithmetic"
        with noting(other if claim.engine == "exact" else "engine", names=claim.constants):
            check_fits(claimed, claim.engine, claim.arithmetic, claim.constants)
    if not fits:
        return
    with noting("arithmetic"):
        check_engine(claim.engine, problem, arithmetic=claim.arithmetic)
    if claim.neural is not None:
        with noting("neural", names=claim.neural):
            check_engine(claim.engine, problem, claim.neural)
            training_engine("neural").check_settings(claim.neural)
    if claim.estimate is not None:
        with noting("estimate"):
            if claim.engine != "neural":
                own = "the other engines have problems with constants of their own."
                raise BadInput(f"estimate is for engine = 'neural'; {own}")
            training_engine("neural").check_effort(claim.estimate)


def _check_constants(claim: Claim, claimed: Statement, first: Setting | None, noting: Noting) -> None:
    """Values of constants that contradict problem or method, or lie outside their domains."""
    if not claim.constants:
        return
    open_ = {} if first is None else open_sizes(claimed, claim.method)
    own: dict[str, Constant] = {}
    parameters: Mapping[str, Fraction] = {}
    if first is not None:
        with noting("method"):
            own = {name: c for name, c in claimed.known(first.constants()).items() if name not in open_}
            parameters = claimed.known(first.parameters)
    for name, value in claim.constants.items():
        with noting("constants", name):
            if name in open_:
                raise BadInput(
                    f"{claimed.best_id}: the constant {name} is a parameter of the method, which asks for "
                    f"{open_[name]}; leave it out."
                )
            given_constants(claimed, own, {name: value}, parameters)


def _given_index(claim: Claim, claimed: Statement, noting: Noting) -> list[Fraction] | None:
    """The values of the index that a claim names; None where it names none."""
    index, found = claimed.metric.index, None
    for name, value in claim.at.items():
        with noting("at", name):
            if index is None and name in [s.name for s in claimed.symbols]:
                first = format_short(parse_grid(value, name)[0])
                raise BadInput(
                    f"{claimed.best_id}: {name} is a constant of this statement, which has no index; write it "
                    f"under constants (constants = {{{name} = {first}}})."
                )
            if index is None:
                raise BadInput(f"{claimed.best_id} is about a single round and has no index; leave out '{name}'.")
            if name != index:
                raise UnknownName(f"{claimed.best_id}: the index", name, [index])
            symbol = claimed.symbol(name)
            points = parse_grid(value, name, integer=symbol.integer)
            found = sorted({symbol.check(point, claimed.best_id) for point in points})
    return found


def resolve(claim: Claim) -> Resolved | Verdict:
    """The setting of a claim, with numbers for its step sizes and the rounds to measure at.

    A verdict instead says why nothing needs to be run: an assumption fails without which the metric or a constant does
    not exist (OUT_OF_SCOPE), or no step size is allowed (VACUOUS). Raises the errors of bad input.
    """
    parts = prepare(claim)
    assert parts is not None
    claimed, first = parts.claimed, parts.first
    assert first is not None
    if claim.estimate is not None:
        first = _estimated(claim, parts)
    missing = missing_quantity(claimed, first, claim.constants)
    if missing is not None:
        return Verdict(claimed.best_id, Outcome.OUT_OF_SCOPE, Grade.EXACT, missing)
    try:
        spec, setting = with_steps(claim.method, claimed, first, claim.constants, claim.at)
    except NothingAllowed as error:
        return nothing_allowed(claim, claimed, error)
    values = values_of(claim, claimed, setting)
    if not set(claimed.parameters) <= set(claimed.known(setting.parameters)):
        steps = objection_to_run(claimed, Parameters.of_setting(setting), MAX_ROUNDS, values)
        if steps is not None and not steps.startswith(UNDECIDED):
            return Verdict(claimed.best_id, Outcome.OUT_OF_SCOPE, Grade.EXACT, f"Out of scope: {steps}.")
    index = index_of(parts, values)
    return Resolved(claimed, setting, spec, index, rounds_of(claimed, index, values), start_constants(claimed, setting))


def nothing_allowed(claim: Claim, claimed: Statement, error: NothingAllowed) -> Verdict:
    """The verdict where the statement's conditions allow no step size."""
    untested = claim.constants or claim.estimate is not None or claim.curve is not None  # not tested without a run
    grade = Grade.SUPPORTED if untested else Grade.EXACT
    return Verdict(claimed.best_id, Outcome.VACUOUS, grade, f"The hypotheses cannot be met: {error}")


def values_of(claim: Claim, claimed: Statement, setting: Setting) -> dict[str, Fraction]:
    """The values of the statement's symbols: those of the setting, and over them those that the claim gives."""
    own = claimed.known(setting.constants())
    given = given_constants(claimed, own, claim.constants, claimed.known(setting.parameters))
    return {k: c.value for k, c in own.items()} | {name: c.value for name, c in given.items()}


def index_of(parts: Prepared, values: Mapping[str, Fraction]) -> list[Fraction]:
    """Where a claim is compared; empty for a statement about a single round."""
    if parts.claimed.metric.index is None:
        return []
    return default_index(parts.claimed, values) if parts.index is None else parts.index


def _estimated(claim: Claim, parts: Prepared) -> Setting:
    """The first setting on the problem with its unknown constants measured along a run."""
    assert parts.first is not None
    assert parts.problem is not None
    method = parts.first.method

    def planned(problem: Problem) -> tuple[Method, int] | None:
        """The method with its step sizes and the number of rounds, or None where no step size is allowed."""
        try:
            setting = with_steps(claim.method, parts.claimed, Setting(method, problem), claim.constants, claim.at)[1]
        except NothingAllowed:
            return None
        values = values_of(claim, parts.claimed, setting)
        return setting.method, max(rounds_of(parts.claimed, index_of(parts, values), values))

    engine = training_engine("neural")
    problem = engine.along_a_run(parts.problem, claim.neural, planned, method, effort=claim.estimate)
    return _following(parts.claimed, Setting(method, problem))
