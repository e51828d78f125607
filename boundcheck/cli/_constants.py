"""What `boundcheck constants` shows of a claim: constants of problem and method, and the steps that they allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.cli._output import json_number, line, short, table

if TYPE_CHECKING:
    from boundcheck.constants.constant import Constant
    from boundcheck.evidence.claim import Claim
    from boundcheck.evidence.practice import Practice
    from boundcheck.problems.problem import Problem
    from boundcheck.theory.statement import Statement

__all__ = ["ClaimConstants", "Step", "claim_constants", "print_constants"]


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
    """One claim. constants: by the names of problems and methods; symbols: statement's name -> that name, where they
    differ; method: the resolved specification, or the sentence why it has none.
    """

    claim: str
    problem: str
    constants: Mapping[str, Constant]
    symbols: Mapping[str, str]
    method: Mapping[str, Any] | str
    violations: Mapping[str, str]
    steps: tuple[Step, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        rows = {k: c.to_dict() | {"float": float(c.value)} for k, c in self.constants.items()}
        resolved = {"note": self.method} if isinstance(self.method, str) else dict(self.method)
        return {
            "claim": self.claim,
            "problem": self.problem,
            "constants": rows,
            "symbols": dict(self.symbols),
            "method": resolved,
            "violations": dict(self.violations),
            "steps": [_step_data(s) for s in self.steps],
        }


def _step_data(step: Step) -> dict[str, Any]:
    def told(value: Fraction | str | None) -> Any:
        return {"note": value} if isinstance(value, str) else None if value is None else json_number(value)

    found = step.practice
    practice: Any = {"note": found} if isinstance(found, str) else None
    if found is not None and not isinstance(found, str):
        practice = {"works": told(found.works), "fails": told(found.fails), "how": found.how}
    chosen = {"allowed": told(step.allowed), "prescribed": told(step.prescribed)}
    return {"symbol": step.symbol, **chosen, "practice": practice}


def claim_constants(claim: Claim, *, practice: bool) -> ClaimConstants:
    """The constants of a claim's problem and method, its step sizes, and the hypotheses that the problem breaks."""
    from boundcheck.engines.run import describe_constants
    from boundcheck.errors import BadInput, UnknownName
    from boundcheck.evidence.steps import objective, placeholder, resolve_steps
    from boundcheck.methods.build import build as build_method
    from boundcheck.problems.build import build as build_problem
    from boundcheck.theory.discovery import statement

    claimed = statement(claim.statement)
    method = build_method(placeholder(claim.method))
    problem = objective(claimed, method, build_problem(claim.problem))
    broken: dict[str, str] = {}
    for assumption in claimed.assumptions:
        try:
            objection = problem.violations(assumption.name)
        except UnknownName:  # a hypothesis that the problem cannot answer for
            continue
        if objection is not None:
            broken[assumption.name] = objection
    try:
        resolved: Mapping[str, Any] | str = resolve_steps(claim.method, claimed, problem, claim.constants, claim.at)
    except BadInput as error:
        resolved = str(error)
    parameters = method.parameters()
    own = {k: c for k, c in describe_constants(method, problem).items() if k not in parameters}
    return ClaimConstants(
        claim.label(),
        problem.name,
        own,
        {s.name: s.key for s in claimed.symbols if s.key != s.name and s.key in own},
        resolved,
        broken,
        _steps(claim, claimed, problem, resolved, practice=practice),
    )


def _steps(
    claim: Claim, claimed: Statement, problem: Problem, resolved: Mapping[str, Any] | str, *, practice: bool
) -> tuple[Step, ...]:
    from boundcheck.core.numbers import parse_number
    from boundcheck.errors import BadInput
    from boundcheck.evidence.steps import resolve_steps
    from boundcheck.theory.dimension import STEP

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
        works = _practice(rest, name, problem, first) if practice else None
        steps.append(Step(name, allowed, chosen, works))
    return tuple(steps)


def _practice(method: Mapping[str, Any], name: str, problem: Problem, first: Fraction) -> Practice | str:
    from boundcheck.errors import BadInput, Unsupported
    from boundcheck.evidence.practice import largest_in_practice

    try:
        return largest_in_practice(method, name, problem, first)
    except (BadInput, Unsupported) as error:
        return str(error)


def print_constants(found: ClaimConstants) -> None:
    """The tables of one claim."""
    from boundcheck.report.words import shortened

    line(f"{found.claim}: {found.problem}")
    signs = {"upper": "<= ", "lower": ">= "}
    named = {key: name for name, key in found.symbols.items()}
    cells = [
        [name, named.get(name, ""), signs.get(c.side, "") + short(c.value), c.known.value, c.how]
        for name, c in found.constants.items()
    ]
    columns = ["constant", "in the statement", "value", "known", "how"]
    if not named:
        columns, cells = [columns[0], *columns[2:]], [[row[0], *row[2:]] for row in cells]
    table(columns, cells)
    if isinstance(found.method, str):
        line(f"method: {found.method}")
    else:
        line("method: " + ", ".join(f"{k} = {shortened(str(v))}" for k, v in found.method.items()))
    for step in found.steps:
        _print_step(step)
    for name, why in found.violations.items():
        line(f"breaks assumption {name}: {why}")
    line()


def _print_step(step: Step) -> None:
    allowed = step.allowed
    line(allowed if isinstance(allowed, str) else f"largest {step.symbol} that the statement allows: {short(allowed)}")
    if step.prescribed is not None:
        chosen = step.prescribed
        line(chosen if isinstance(chosen, str) else f"{step.symbol} that the statement prescribes: {short(chosen)}")
    found = step.practice
    if found is None:
        return
    if isinstance(found, str):
        line(f"largest {step.symbol} in practice: {found}")
        return
    works = "no step that was tried works" if found.works is None else f"{short(found.works)} works"
    fails = "no larger one that fails was found" if found.fails is None else f"{short(found.fails)} does not"
    ratio = ""
    if found.works is not None and isinstance(allowed, Fraction) and allowed > 0:
        ratio = f", {float(found.works / allowed):.4g} times what is allowed"
    line(f"largest {step.symbol} in practice: {works}, {fails}{ratio} (works: {found.how})")
