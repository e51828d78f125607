"""The constants of a claim: those of its problem and method, and the step sizes that its statement allows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import parse_number
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.evidence.open_step_sizes import START, first_setting, resolve_steps, with_steps
from boundcheck.evidence.rounds_to_target import HALVINGS, largest_in_practice
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of, is_neural
from boundcheck.setting.participation import client_variances, step_factors
from boundcheck.theory.dimension import STEP

if TYPE_CHECKING:
    from boundcheck.certified.constant import Constant
    from boundcheck.evidence.claim import Claim
    from boundcheck.evidence.rounds_to_target import Practice
    from boundcheck.problems.problem import Problem
    from boundcheck.setting import Setting
    from boundcheck.theory.statement import Statement

# a title and a total -> a context that gives the function which sets how much is done
Progress = Callable[[str, float], AbstractContextManager[Callable[[float], None]]]


@dataclass(frozen=True)
class Spread:
    """How far the samples of one client are apart: mean |grad f_ij - grad f_i|^2 <= sigma2 + P2 |grad f_i|^2.

    client: its number, from 0; size: |D_i|.
    """

    client: int
    size: int
    sigma2: Constant
    P2: Constant

    def to_dict(self) -> dict[str, Any]:
        """The parts, JSON-able but for fractions."""
        return {"client": self.client, "size": self.size, "sigma2": _row(self.sigma2), "P2": _row(self.P2)}


@dataclass(frozen=True)
class Step:
    """One step size: the largest that the conditions allow and the prescribed one (numbers, or the sentence why there
    is none; None where nothing prescribes one), and what works in practice (None: not looked for).
    """

    symbol: str
    allowed: Fraction | str
    prescribed: Fraction | str | None
    practice: Practice | str | None


@dataclass(frozen=True)
class ClaimConstants:
    """One claim. constants: by the names of problems and methods, and the beta of the step condition; symbols:
    statement's name -> that name, where they differ; spreads: of every client, or nothing where the problem has none
    or the statement no P^2; method: the resolved specification, or the sentence why it has none; note: how values
    that are missing here can be obtained, or "".
    """

    claim: str
    problem: str
    constants: Mapping[str, Constant]
    symbols: Mapping[str, str]
    spreads: tuple[Spread, ...]
    method: Mapping[str, Any] | str
    violations: Mapping[str, str]
    steps: tuple[Step, ...]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The parts, JSON-able but for fractions."""
        rows = {k: _row(c) for k, c in self.constants.items()}
        resolved = {"note": self.method} if isinstance(self.method, str) else dict(self.method)
        return {
            "claim": self.claim,
            "problem": self.problem,
            "constants": rows,
            "symbols": dict(self.symbols),
            "clients": [s.to_dict() for s in self.spreads],
            "method": resolved,
            "violations": dict(self.violations),
            "steps": [_step_data(s) for s in self.steps],
            "note": self.note,
        }


def _row(constant: Constant) -> dict[str, Any]:
    return constant.to_dict() | {"float": nearest_float(constant.value)}


def _step_data(step: Step) -> dict[str, Any]:
    def data(value: Fraction | str | None) -> Any:
        return {"note": value} if isinstance(value, str) else value

    found = step.practice
    practice = data(found) if found is None or isinstance(found, str) else vars(found)
    return {
        "symbol": step.symbol,
        "allowed": data(step.allowed),
        "prescribed": data(step.prescribed),
        "practice": practice,
    }


def no_progress(title: str, total: float) -> AbstractContextManager[Callable[[float], None]]:
    """Progress that nobody sees."""
    return contextlib.nullcontext(lambda done: None)


def claim_constants(
    claim: Claim, *, practice: bool, place: str = "", progress: Progress = no_progress
) -> ClaimConstants:
    """The constants of a claim's problem and method, its step sizes, and the hypotheses that the problem breaks.

    practice: whether the largest steps that work are searched for. place: of the claim among others, such as "claim 3
    of 400, ", for the titles of the progress.
    """
    claimed = claim.claimed
    label = claim.label()
    with progress(f"{place}{label}: the data", 1.0):
        setting = first_setting(claimed, claim.method, build_problem(claim.problem))
    problem = setting.problem
    own = _computed(f"{place}{label}", setting.reported(), set(setting.method.parameters()), progress)
    broken: dict[str, str] = {}
    for assumption in claimed.assumptions:
        try:
            objection = problem.violations(assumption.name)
        except UnknownName:  # a hypothesis that the problem cannot answer for
            continue
        if objection is not None:
            broken[assumption.name] = objection
    try:
        resolved: Mapping[str, Any] | str = with_steps(claim.method, claimed, setting, claim.constants, claim.at)[0]
    except BadInput as error:
        resolved = str(error)
    symbols = {s.name: s.reported for s in claimed.symbols if s.reported != s.name and s.reported in own}
    keys = {s.reported for s in claimed.symbols}
    return ClaimConstants(
        label,
        problem.name,
        own | _factors(keys, own),
        symbols,
        _spreads(problem) if keys & {"P2", "P2_gen"} else (),
        resolved,
        broken,
        _steps(claim, claimed, problem, resolved, place, progress if practice and not is_neural(problem) else None),
        _note(claim, claimed, setting, practice=practice) if is_neural(problem) else "",
    )


def _note(claim: Claim, claimed: Statement, setting: Setting, *, practice: bool) -> str:
    """What a network does not know of itself, and who finds it."""
    index = () if claimed.metric.index is None else (claimed.metric.index,)
    known = {*claimed.known(dict.fromkeys(setting.constants())), *claim.constants, *index}
    lacking = [s.name for s in claimed.symbols if s.name not in known and s.key not in START]
    notes: list[str] = []
    if lacking and claim.estimate is not None:
        notes.append(f"{', '.join(lacking)}: measured along the run by `boundcheck check`, since estimate is set.")
    elif lacking:
        notes.append(
            f"{', '.join(lacking)}: not known of a network; write them under constants of the claim, or set "
            "estimate = true, with which `boundcheck check` measures them along the run."
        )
    if practice:
        notes.append(
            "Which step sizes work in practice is not searched for with networks; the grid of a [[training]] table "
            "tries several out."
        )
    return " ".join(notes)


def _computed(
    label: str, lazy: Mapping[str, Constant], parameters: set[str], progress: Progress
) -> dict[str, Constant]:
    """All constants but the parameters."""
    names = [name for name in lazy if name not in parameters]
    found: dict[str, Constant] = {}
    with progress(f"{label}: constants", len(names)) as done:
        for name in names:
            found[name] = lazy[name]
            done(len(found))
    return found


def _factors(keys: set[str], constants: Mapping[str, Constant]) -> dict[str, Constant]:
    """The beta of the statement: of Section 5 where it has M, of Appendix E where it has M1."""
    wanted = {"beta": {"M", "P2", "B2"}, "beta_c": {"M", "P2", "B2"}, "beta_gen": {"M1", "P2_gen", "B2"}}
    return {name: c for name, c in step_factors(constants).items() if wanted[name] <= keys}


def _spreads(problem: Problem) -> tuple[Spread, ...]:
    pairs = client_variances(problem) or ()
    sizes = clients_of(problem).sizes
    return tuple(Spread(i, sizes[i], sigma2, P2) for i, (P2, sigma2) in enumerate(pairs))


def _steps(
    claim: Claim,
    claimed: Statement,
    problem: Problem,
    resolved: Mapping[str, Any] | str,
    place: str,
    progress: Progress | None,
) -> tuple[Step, ...]:
    """The step sizes of the method; progress: None where steps that work in practice are not searched for."""
    names = [s.name for s in claimed.symbols if s.name in claim.method and s.dimension == STEP]
    rest = claim.method if isinstance(resolved, str) else resolved

    def solved(name: str, text: str) -> Fraction | str:
        try:
            found = resolve_steps({**rest, name: text}, claimed, problem, claim.constants, claim.at)
        except BadInput as error:
            return str(error)
        return parse_number(str(found[name]), name, max_text=100_000)

    steps: list[Step] = []
    for name in names:
        allowed = solved(name, "largest")
        chosen = solved(name, "tuned") if name in dict(claimed.choices) else None
        first = next((v for v in (allowed, chosen) if isinstance(v, Fraction)), Fraction(1))
        works = None if progress is None else _practice(f"{place}{claim.label()}", rest, name, problem, first, progress)
        steps.append(Step(name, allowed, chosen, works))
    return tuple(steps)


def _practice(
    label: str, method: Mapping[str, Any], name: str, problem: Problem, first: Fraction, progress: Progress
) -> Practice | str:
    try:
        with progress(f"{label}: {name} in practice", HALVINGS + 5) as done:
            return largest_in_practice(method, name, problem, first, done)
    except (BadInput, Unsupported) as error:
        return str(error)
