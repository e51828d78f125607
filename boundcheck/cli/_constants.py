"""What `boundcheck constants` shows of a claim: constants of problem and method, and the steps that they allow."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.cli._output import json_number, line, progress, short, table
from boundcheck.core.linalg import nearest_float

if TYPE_CHECKING:
    from boundcheck.certified.constant import Constant
    from boundcheck.evidence.claim import Claim
    from boundcheck.evidence.working_step_size import Practice
    from boundcheck.problems.problem import Problem
    from boundcheck.setting import Setting
    from boundcheck.theory.statement import Statement

ALL_CLIENTS = 12  # up to so many clients each has a line, of more the least, the median and the largest
WIDTH = 110  # characters of a line of notes
HOW = 64  # characters of how a constant is known that stand in the table; what is longer is said below it


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
        """JSON-able form."""
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
    or the statement no P^2; method: the resolved specification, or the sentence why it has none; note: where values
    are to be had that are not here, or "".
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
        """JSON-able form."""
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
    def told(value: Fraction | str | None) -> Any:
        return {"note": value} if isinstance(value, str) else None if value is None else json_number(value)

    found = step.practice
    practice: Any = {"note": found} if isinstance(found, str) else None
    if found is not None and not isinstance(found, str):
        practice = {"works": told(found.works), "fails": told(found.fails), "how": found.how}
    chosen = {"allowed": told(step.allowed), "prescribed": told(step.prescribed)}
    return {"symbol": step.symbol, **chosen, "practice": practice}


def claim_constants(claim: Claim, *, practice: bool, place: str = "") -> ClaimConstants:
    """The constants of a claim's problem and method, its step sizes, and the hypotheses that the problem breaks.

    place: of the claim among others, such as "claim 3 of 400, ", for the progress. What is done meanwhile is shown on
    standard error while that is a terminal.
    """
    from boundcheck.errors import BadInput, UnknownName
    from boundcheck.evidence.open_step_sizes import first_setting, with_steps
    from boundcheck.problems.build import build as build_problem
    from boundcheck.problems.problem import is_neural
    from boundcheck.theory.discovery import statement

    claimed = statement(claim.statement)
    label = claim.label()
    with progress(f"{place}{label}: the data"):
        setting = first_setting(claimed, claim.method, build_problem(claim.problem))
    problem = setting.problem
    own = _computed(f"{place}{label}", setting.reported(), set(setting.method.parameters()))
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
        _steps(claim, claimed, problem, resolved, place, practice=practice and not is_neural(problem)),
        _note(claim, claimed, setting, practice=practice) if is_neural(problem) else "",
    )


def _note(claim: Claim, claimed: Statement, setting: Setting, *, practice: bool) -> str:
    """What a network does not know of itself, and who finds it."""
    from boundcheck.evidence.open_step_sizes import START

    index = () if claimed.metric.index is None else (claimed.metric.index,)
    known = {*claimed.known(dict.fromkeys(setting.constants())), *claim.constants, *index}
    lacking = [s.name for s in claimed.symbols if s.name not in known and s.key not in START]
    told: list[str] = []
    if lacking and claim.estimate is not None:
        told.append(f"{', '.join(lacking)}: measured along the run by `boundcheck check`, since estimate is set.")
    elif lacking:
        told.append(
            f"{', '.join(lacking)}: not known of a network; write them under constants of the claim, or set "
            "estimate = true, with which `boundcheck check` measures them along the run."
        )
    if practice:
        told.append(
            "Which step sizes work in practice is not searched for with networks; the grid of a [[training]] table "
            "tries several out."
        )
    return " ".join(told)


def _computed(label: str, lazy: Mapping[str, Constant], parameters: set[str]) -> dict[str, Constant]:
    """All constants but the parameters."""
    names = [name for name in lazy if name not in parameters]
    found: dict[str, Constant] = {}
    with progress(f"{label}: constants", len(names)) as done:
        for name in names:
            found[name] = lazy[name]
            done(len(found))
    return found


def _factors(keys: set[str], constants: Mapping[str, Constant]) -> dict[str, Constant]:
    """The beta of the statement: of Section 5 where it speaks of M, of Appendix E where it speaks of M1."""
    from boundcheck.setting.participation import step_factors

    wanted = {"beta": {"M", "P2", "B2"}, "beta_c": {"M", "P2", "B2"}, "beta_gen": {"M1", "P2_gen", "B2"}}
    return {name: c for name, c in step_factors(constants).items() if wanted[name] <= keys}


def _spreads(problem: Problem) -> tuple[Spread, ...]:
    from boundcheck.problems.problem import clients_of
    from boundcheck.setting.participation import client_variances

    pairs = client_variances(problem) or ()
    sizes = clients_of(problem).sizes
    return tuple(Spread(i, sizes[i], sigma2, P2) for i, (P2, sigma2) in enumerate(pairs))


def _steps(
    claim: Claim, claimed: Statement, problem: Problem, resolved: Mapping[str, Any] | str, place: str, *, practice: bool
) -> tuple[Step, ...]:
    from boundcheck.core.numbers import parse_number
    from boundcheck.errors import BadInput
    from boundcheck.evidence.open_step_sizes import resolve_steps
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
        works = _practice(f"{place}{claim.label()}", rest, name, problem, first) if practice else None
        steps.append(Step(name, allowed, chosen, works))
    return tuple(steps)


def _practice(label: str, method: Mapping[str, Any], name: str, problem: Problem, first: Fraction) -> Practice | str:
    from boundcheck.errors import BadInput, Unsupported
    from boundcheck.evidence.working_step_size import HALVINGS, largest_in_practice

    try:
        with progress(f"{label}: {name} in practice", HALVINGS + 5) as done:
            return largest_in_practice(method, name, problem, first, done)
    except (BadInput, Unsupported) as error:
        return str(error)


def catalogue_rows() -> list[dict[str, str]]:
    """The catalogue of constants, JSON-able: one row a key."""
    from boundcheck.theory.keys import CATALOGUE

    return [
        {
            "key": k.key,
            "definition": k.definition,
            "formula": k.formula,
            "dimension": str(k.dimension),
            "source": k.source,
            "where": k.where,
        }
        for k in CATALOGUE.values()
    ]


def print_catalogue() -> None:
    """The catalogue of constants, a paragraph each."""
    for row in catalogue_rows():
        line(row["key"])
        told = f"{row['definition']}: {row['formula']}. Dimension {row['dimension']}; {row['source']}; {row['where']}."
        for part in textwrap.wrap(told, WIDTH, initial_indent="  ", subsequent_indent="  "):
            line(part)


def print_constants(found: ClaimConstants) -> None:
    """The tables of one claim."""
    from boundcheck.report.words import shortened

    line(f"{found.claim}: {found.problem}")
    named = {key: name for name, key in found.symbols.items()}
    first, notes = _hows(found.constants)
    cells = [
        [name, named.get(name, ""), _bound(c.side) + short(c.value), c.known.value, first[name]]
        for name, c in found.constants.items()
    ]
    columns = ["constant", "in the statement", "value", "known", "how"]
    if not named:
        columns, cells = [columns[0], *columns[2:]], [[row[0], *row[2:]] for row in cells]
    table(columns, cells)
    for note, names in notes.items():
        for part in textwrap.wrap(f"{', '.join(names)}: {note}", WIDTH, subsequent_indent="  "):
            line(part)
    if found.spreads:
        _print_spreads(found.spreads)
    if isinstance(found.method, str):
        line(f"method: {found.method}")
    else:
        line("method: " + ", ".join(f"{k} = {shortened(str(v))}" for k, v in found.method.items()))
    for step in found.steps:
        _print_step(step)
    for part in textwrap.wrap(found.note, WIDTH):
        line(part)
    for name, why in found.violations.items():
        line(f"breaks assumption {name}: {why}")
    line()


def _bound(side: str) -> str:
    return {"upper": "<= ", "lower": ">= "}.get(side, "")


def _hows(constants: Mapping[str, Constant]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """How each constant is known, as short as the table wants it; and what was left out -> the names it is about."""
    first: dict[str, str] = {}
    notes: dict[str, list[str]] = {}
    for name, c in constants.items():
        start, _, rest = c.how.partition("; ")
        first[name] = c.how if len(c.how) <= HOW or not rest else start
        if first[name] != c.how:
            notes.setdefault(rest, []).append(name)
    return first, notes


def _print_spreads(spreads: tuple[Spread, ...]) -> None:
    """sigma_i and P_i of each client, or of the clients with the least, the median and the largest sigma_i."""
    chosen = list(spreads)
    if len(chosen) > ALL_CLIENTS:
        ordered = sorted(chosen, key=lambda s: s.sigma2.value)
        chosen = [ordered[0], ordered[(len(ordered) - 1) // 2], ordered[-1]]
    rows = [[str(s.client), str(s.size), _root(s.sigma2), _root(s.P2), s.sigma2.known.value] for s in chosen]
    if len(chosen) < len(spreads):
        for row, which in zip(rows, ("least", "median", "largest"), strict=True):
            row[0] += f" ({which} sigma_i)"
    line(f"samples of each of the {len(spreads)} clients, sigma_i^2 as in noise2 and P_i^2 as in P2:")
    table(["client", "samples", "sigma_i", "P_i", "known"], rows)


def _root(square: Constant) -> str:
    """The square root for people; of a bound from above it is one, to the digits shown."""
    return _bound(square.side) + short(math.sqrt(nearest_float(square.value)))


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
        from boundcheck.core.numbers import format_short

        ratio = f", {format_short(found.works / allowed, 4)} times what is allowed"
    line(f"largest {step.symbol} in practice: {works}, {fails}{ratio}")
    line(f"  a step works where {found.how}")
