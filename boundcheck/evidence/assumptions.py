"""An instance against the defining inequality of an assumption.

A problem that can decide a shipped assumption exactly answers first, where the constants are its own or on the safe
side of them. Otherwise the inequality is evaluated at many points (`evidence.trials`). Points are short
fractions and the evaluation is exact, so that a violation is a proof; finding none is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.certified.blocks import decides
from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.errors import BadInput, UnknownName
from boundcheck.evidence.trials import Blocks, Oracle, Search, direction, lacking
from boundcheck.problems.problem import optional, quadratic_objectives
from boundcheck.setting.client_hypotheses import client_hypotheses
from boundcheck.setting.user_constants import is_library
from boundcheck.theory.assumptions import QUANTITIES, Assumption
from boundcheck.theory.scope import difference
from boundcheck.verdict import Grade, Outcome, Verdict

if TYPE_CHECKING:
    from boundcheck.certified.constant import Constant
    from boundcheck.problems.problem import Problem
    from boundcheck.theory.statement import Statement


# the readings of block smoothness (`certified.blocks`)
_READINGS = {f"smooth_{name}": name for name in ("blocks", "separable", "weighted")} | {"smooth_globally": "global"}
# What statements about every sample call a constant, and problems otherwise.
_OF_SAMPLES: Mapping[str, Mapping[str, str]] = {
    "smooth_samples": {"L": "L_ij"},
    "strongly_convex_samples": {"mu": "mu_ij"},
    "relaxed_dissimilarity": {"L": "L_ij"},
    "bounded_dissimilarity": {"B2": "B2_only"},
}


def covers(assumption: Assumption, own: Mapping[str, Constant], values: Mapping[str, Fraction]) -> bool:
    """Whether an assumption that holds with the constants `own` holds with `values` too.

    It does where they are equal, or where the inequality says that a value on that side is weaker (a smaller mu, a
    larger L).
    """
    if assumption.inequality is None:
        return is_library(assumption)  # what an unknown hypothesis says of other values is unknown
    slack = difference(assumption.inequality)
    for symbol in slack.free_symbols:
        name = symbol.name
        if name in QUANTITIES:
            continue
        if name not in own or name not in values:
            return False
        rise = direction(slack, symbol)
        moved = values[name] - own[name].value
        if moved and (rise is None or (moved > 0) != (rise > 0)):
            return False
    return True


def check_assumption(
    assumption: Assumption,
    problem: Problem,
    constants: Mapping[str, Any] | None = None,
    *,
    claimed: Statement | None = None,
    points: int = 40,
    seed: int = 0,
    blocks: Blocks | None = None,
) -> Verdict:
    """Whether an instance meets an assumption.

    constants: values of the symbols in the inequality (default: the problem's own). claimed: the statement under whose
    names the constants stand (None: those of the shipped assumption). points: how many points are
    evaluated exactly, at least; seed: of the random ones. blocks: the coordinates of each block and its L_j, for an
    assumption about blocks.
    HOLDS with grade EXACT where the problem decides it, SUPPORTED where no point breaks it; VIOLATED with the point as
    witness (grade EXACT for exact gradients); UNDECIDED where the inequality or a quantity in it is missing.
    Raises BadInput where a constant has no value.
    """
    keys = _OF_SAMPLES.get(assumption.name, {}) if claimed is None else {s.name: s.reported for s in claimed.symbols}
    slack = None if assumption.inequality is None else difference(assumption.inequality)
    used = set() if slack is None else {s.name for s in slack.free_symbols}
    quantities, symbols = used & set(QUANTITIES), used - set(QUANTITIES)
    known = problem.constants()
    named = symbols if claimed is None else symbols | set(keys)
    own = {name: known[keys.get(name, name)] for name in named if keys.get(name, name) in known}
    values = {name: c.value for name, c in own.items()}
    values |= {name: as_fraction(v, name) for name, v in (constants or {}).items()}
    given = {name: values[name] for name in sorted(symbols) if name in values}
    shown = ", ".join(f"{name} = {format_short(v)}" for name, v in given.items())
    shown = f" with {shown}" if shown else ""

    def answer(outcome: Outcome, grade: Grade | None, reason: str, **more: Any) -> Verdict:
        return Verdict(f"assumption {assumption.name}", outcome, grade, reason, **more)

    decision = None
    if is_library(assumption):  # an answer to the name is one to the assumption
        objection, decided, grade = _answer_of(problem, assumption.name)
        if objection is not None:
            return answer(Outcome.VIOLATED, grade, objection)
        if decided and covers(assumption, own, values):
            how = f"'{problem.name}' meets it with these constants, decided exactly."
            return answer(Outcome.HOLDS, Grade.EXACT, how)
        reported = {keys.get(name, name): v for name, v in values.items() if keys.get(name, name)}
        decision = optional(problem, "decides") and optional(problem, "decides")(assumption.name, reported)
        decision = _decides_blocks(assumption.name, problem, values, blocks) if decision is None else decision
    if decision:
        return answer(Outcome.HOLDS, Grade.EXACT, f"'{problem.name}' meets it{shown}, decided exactly.")
    refuted = answer(Outcome.VIOLATED, Grade.EXACT, f"'{problem.name}' does not meet it{shown}, decided exactly.")
    why = lacking(problem, quantities, blocks)
    if decision is False and (slack is None or why):
        return refuted
    if slack is None:
        return answer(Outcome.UNDECIDED, None, "The assumption has no inequality that could be evaluated.")
    missing = sorted(symbols - set(values))
    if missing:
        raise BadInput(f"the assumption {assumption.name} needs a value for {', '.join(missing)}.")
    if why:
        return answer(Outcome.UNDECIDED, None, f"'{problem.name}' {why}.")
    oracle, count = Oracle(problem, slack, quantities, given, blocks), 0
    for trial in Search(oracle, np.random.default_rng(seed)).trials(points):
        count += 1
        broken = oracle.broken(trial)
        if broken is not None:
            witness, exact = broken
            reason = f"It fails at x = ({', '.join(format_short(v) for v in trial.x)}){shown}."
            grade = Grade.EXACT if exact else Grade.SUPPORTED
            return answer(Outcome.VIOLATED, grade, reason, witness=witness, points=count)
    if decision is False:  # no short point shows it
        return refuted
    return answer(Outcome.HOLDS, Grade.SUPPORTED, f"It holds at all {count} points that were tried.", points=count)


def _answer_of(problem: Problem, name: str) -> tuple[str | None, bool, Grade]:
    """Why a problem breaks a hypothesis, whether it has an answer to it, and the grade of an objection."""
    try:
        return problem.violations(name), True, Grade.EXACT
    except UnknownName:
        answers, inexact = client_hypotheses(problem)
        return answers.get(name), name in answers, Grade.SUPPORTED if name in inexact else Grade.EXACT


def _decides_blocks(name: str, problem: Problem, values: Mapping[str, Fraction], blocks: Blocks | None) -> bool | None:
    """Whether a reading of block smoothness holds for a problem with constant Hessians; None where that is open.

    name: of the assumption. values: the constants in its inequality.
    """
    reading = _READINGS.get(name)
    if reading == "global":
        blocks = (((*range(problem.dim),),), (values["Lmax"],)) if "Lmax" in values else None
    quadratic = quadratic_objectives(problem)
    if reading is None or blocks is None or quadratic is None:
        return None
    return decides(reading, [a for a, _ in quadratic.forms().maps], *blocks)
