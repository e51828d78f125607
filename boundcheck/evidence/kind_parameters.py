"""Whether a run has the parameters that its statement prescribes, and which of its kind the statement leaves open.

All are compared exactly: step sizes in `evidence.step_sequence`, numbers, and the momentum of the server by rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp

from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.errors import BadInput
from boundcheck.evidence.step_sequence import LOCAL, MOST_ROUNDS, objection_to_steps, symbolic
from boundcheck.methods.build import kind_of
from boundcheck.setting.constants import named_hypotheses
from boundcheck.setting.user_constants import is_library
from boundcheck.theory.decide import sign
from boundcheck.theory.statement import ROUND

if TYPE_CHECKING:
    from boundcheck.engines.curve import Curve
    from boundcheck.methods.parts import ServerMomentum
    from boundcheck.setting.setting import Setting
    from boundcheck.setting.step_sizes import StepSizes
    from boundcheck.theory.statement import Statement

UNDECIDED = "it could not be decided"  # how an answer begins that is no objection
_MOMENTUM = "momentum_g"
_OF_STEPS = {*LOCAL, "eta0", "ell", "T", "rounds_per_cycle"}  # compared as step sizes
# Keys of parameters that users write under other names than methods report them.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "mu": ("method/prox",),
    "m": ("method/size", "method/buffer"),
    "K": ("method/E", "method/steps", "schedule/local_steps"),
    "steps": ("method/E",),
    "momentum": ("method/a",),
}

# Hypotheses that say which values of parameters a statement admits, and that are decided at every run.
_SUM_ONE = ("participation", "aggregation", "normaliser", "weights")
_DECIDED_BY: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("uniform_participation", "importance_participation", "smallest_m_of_two"), ("participation",)),
    **dict.fromkeys(("sum_one_pairs", "sum_one_pairs_of_three"), _SUM_ONE),
    **dict.fromkeys(("averages_as_objective", "averages_uniformly", "time_based"), ("weights",)),
    "unbiased_solver_cohort": ("participation",),
    "unbiased_gradient_cohort": ("gradient_participation",),
    "independent_cohorts": ("same",),
    "inexact_solves": ("solver",),
    "block_variance": ("batch", "gradient"),
    "unbiased_gradients": ("batch", "sampling"),
    "one_by_one": ("ties",),
}


@dataclass(frozen=True)
class Parameters:
    """The parameters of a run: step sizes, momentum of the server, numbers by key, and by kind the names of those with
    another value than their default (None: not recorded)."""

    steps: StepSizes | None
    momentum: ServerMomentum | None
    numbers: Mapping[str, Fraction] | None
    chosen: Mapping[str, tuple[str, ...]] | None

    @staticmethod
    def of_curve(curve: Curve) -> Parameters:
        """Those of the method that made a curve."""
        own = curve.parameters
        numbers = None if own is None else {key: curve.constants[key].value for key in own if key in curve.constants}
        return Parameters(curve.step_sizes, curve.momentum, numbers, curve.chosen)

    @staticmethod
    def of_setting(setting: Setting) -> Parameters:
        """Those of the method of a setting."""
        return Parameters(setting.step_sizes, setting.described.server_momentum, setting.parameters, setting.chosen)

    def number(self, statement: Statement, name: str) -> Fraction | None:
        """The parameter of the statement's kind with this name, as users write it; None where it is no one number."""
        known = self.numbers or {}
        return next((known[key] for key in keys_of(statement, name) if key in known), None)


def keys_of(statement: Statement, name: str) -> list[str]:
    """The keys under which a parameter of the statement's kind is known, without those of its other parameters."""
    assert statement.algorithm is not None
    others = {f"method/{own}" for own in kind_of(statement.algorithm.kind).parameters() if own != name}
    more = ("method/size",) if (statement.algorithm.kind, name) == ("feddane", "K") else _KEYS.get(name, ())
    return [f"method/{name}", *(key for key in more if key not in others)]


def objection_to_run(statement: Statement, run: Parameters, rounds: int, values: Mapping[str, Any]) -> str | None:
    """Say why step sizes or parameters of a run are not those of its statement; None where they are.

    rounds: of the run. values: of the statement's symbols as far as they are known. What could not be decided is a
    clause that begins with `UNDECIDED`.
    """
    steps = objection_to_steps(statement, run.steps, rounds, values)
    if statement.algorithm is None or run.numbers is None or (steps is not None and not steps.startswith(UNDECIDED)):
        return steps
    push = run.momentum
    if push is not None and not push.is_constant and any(s.key == f"method/{_MOMENTUM}" for s in statement.symbols):
        return f"the statement is about a constant {_MOMENTUM}, the run has {push.momentum} in its round r"
    undecided = steps
    for name, expr in statement.algorithm.steps:
        if name in _OF_STEPS:
            continue
        found, has = _agrees(name, expr, statement, run, rounds, values)
        if found is False:
            when = " after r rounds" if ROUND in expr.free_symbols else ""
            return f"the statement is about {name} = {expr}{when}, the run has {has}"
        if found is None:
            undecided = undecided or f"{UNDECIDED} whether the run has the {name} of the statement"
    return undecided


def _agrees(
    name: str, expr: Any, statement: Statement, run: Parameters, rounds: int, values: Mapping[str, Any]
) -> tuple[bool | None, str]:
    """Whether a parameter is the prescribed one in all rounds (None: undecided), and what it is, in words."""
    known = {s: sp.Rational(as_fraction(values[s.name], s.name)) for s in expr.free_symbols if s.name in values}
    expr = expr.xreplace(known)
    push = run.momentum if name == _MOMENTUM else None
    number = run.number(statement, name)
    if push is None and number is None:
        default = kind_of(statement.algorithm.kind).parameters().get(name)  # pyright: ignore[reportOptionalMemberAccess]
        if default != 0:
            return False, f"no one number {name}"
        number = Fraction(0)
    own = push.momentum if push is not None else number
    has = f"{own} in its round r" if isinstance(own, str) else format_short(own or Fraction(0))
    if expr.free_symbols - {ROUND}:
        return None, has
    if push is not None and push.expression is not None and sp.simplify(expr - symbolic(push.expression.tree)) == 0:
        return True, has
    changes = ROUND in expr.free_symbols or isinstance(own, str)
    first = 0 if push is None else 1  # nothing depends on the momentum of the first round
    last = min(rounds, MOST_ROUNDS) if changes else min(rounds, first + 1)
    for r in range(first, last):
        value = number if push is None else push.at(r)
        try:
            found = sign(expr - sp.Rational(value), {ROUND.name: Fraction(r)})
        except BadInput:  # no real value in this round
            found = None
        if found != 0:
            return (None if found is None else False), has
    return (None if changes and rounds > MOST_ROUNDS else True), has


def left_open(statement: Statement, run: Parameters) -> Iterator[str]:
    """The parameters of the statement's kind, beside step sizes, on which it says nothing and the run rests.

    These are the parameters that need a value, and those to which the run gives another than their default, be it a
    number, a text or a table; all of them where those of the run are not recorded. A default is part of what the kind
    is (its docstring says "by default all clients take part"), so that a statement about the kind that says nothing
    more is read as one about the defaults, and a run with these is what it covers. It says something of a parameter
    by prescribing it, by `any_value`, by a symbol with its key, or by a hypothesis that decides it (`_DECIDED_BY`).
    """
    if statement.algorithm is None:
        return
    kind = statement.algorithm.kind
    for name, default in kind_of(kind).parameters().items():
        if speaks_of(statement, name):
            continue
        number = run.number(statement, name)
        other = number is not None and isinstance(default, int | Fraction) and number != default
        if run.chosen is None or other or name in run.chosen.get(kind, ()):
            yield name


def speaks_of(statement: Statement, name: str) -> bool:
    """Whether a statement about one kind of method says something of a parameter (`left_open`)."""
    assert statement.algorithm is not None
    known = [a.name for a in statement.assumptions if is_library(a) or a.name in named_hypotheses()]
    said = {*(step for step, _ in statement.algorithm.steps), *statement.algorithm.any_value, *_OF_STEPS}
    said.update(*(_DECIDED_BY.get(own, ()) for own in known))
    return name in said or bool({s.key for s in statement.symbols} & set(keys_of(statement, name)))
