"""Whether a run has the parameters that its statement prescribes, and which of its kind the statement leaves open.

All are compared exactly, round by round. A step size that users wrote is the statement's where the difference of the
two formulas is 0 by algebra. The rational functions of the round that theorems prescribe agree with a schedule in all
rounds when they agree in more rounds than their degree, so that long runs need no look at every round.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp

from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.errors import BadInput
from boundcheck.methods.build import kind_of
from boundcheck.setting.constants import named_hypotheses
from boundcheck.setting.user_constants import is_library
from boundcheck.theory.decide import sign
from boundcheck.theory.statement import ITERATION, ROUND

if TYPE_CHECKING:
    from boundcheck.engines.curve import Curve
    from boundcheck.methods.parts import ServerMomentum
    from boundcheck.setting.setting import Setting
    from boundcheck.setting.step_sizes import StepSizes
    from boundcheck.theory.statement import Statement


UNDECIDED = "it could not be decided"  # how an answer begins that is no objection
OPEN = f"{UNDECIDED} whether the run has the step sizes of the statement"
LOCAL = ("eta", "eta_l")  # names of the local step size
MOST_ROUNDS = 5000  # in which two sequences are compared
FEW = 10  # of them where the two are the same function
ROUNDED = sp.Rational(10**12 - 1, 10**12)  # a schedule that rounds down keeps at least this share of a step size
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


def objection_to_steps(
    statement: Statement, steps: StepSizes | None, rounds: int, values: Mapping[str, Any]
) -> str | None:
    """Say why the step sizes of a run differ from those of its statement; `OPEN` if undecided, None if they agree.

    rounds: of the run. values: of the statement's symbols as far as they are known. A sequence that rests on a
    parameter which the method does not have is another one.
    """
    own = {f"method/{name}" for name in LOCAL} & {s.key for s in statement.symbols}
    if steps is None or rounds == 0 or not (statement.algorithm or own):  # it speaks of no step sizes
        return None
    listed = {} if statement.algorithm is None else dict(statement.algorithm.steps)
    expr = next((listed[name] for name in LOCAL if name in listed), None)
    if expr is None:
        changed = steps.changes_within(rounds)
        return f"the statement is about a constant step size, the run has {steps.words()}" if changed else None
    at = "in local step t of the run" if ITERATION in expr.free_symbols else "after r rounds"
    other = f"the statement is about the step size {expr} {at}, the run has {steps.words()}"
    counters = {ROUND, ITERATION}
    lacking = sorted(s.name for s in expr.free_symbols - counters if s.name not in values)
    if lacking:
        return other if any(statement.symbol(name).key.startswith("method/") for name in lacking) else None
    known = {s: sp.Rational(as_fraction(values[s.name], s.name)) for s in expr.free_symbols - counters}
    expr = expr.xreplace(known)
    if steps.local_steps == 1:
        expr = expr.xreplace({ITERATION: ROUND})
    elif ITERATION in expr.free_symbols and steps.local_steps is None:
        return OPEN
    settled = _settled(expr, steps)
    last = min(rounds, MOST_ROUNDS if settled is None else min(settled, MOST_ROUNDS))
    both = ITERATION in expr.free_symbols or steps.by_iteration
    each = steps.local_steps if both and steps.local_steps is not None else 1
    for finished, local in itertools.product(range(last), range(each)):
        found = _equal(expr, steps, finished, local)
        if found is None:
            return OPEN
        if not found:
            return other
    return None if last == rounds or (settled is not None and last == settled) else OPEN


def _equal(expr: Any, steps: StepSizes, finished: int, local: int) -> bool | None:
    """Whether the step size of a local step is the expression's; None where that cannot be decided."""
    step = sp.Rational(steps.at(finished, local))
    at = {ROUND.name: Fraction(finished), ITERATION.name: Fraction(finished * (steps.local_steps or 1) + local)}
    try:
        found = sign(expr - step, at)
        if found == 1 and not steps.is_exact:  # rounded down
            return sign(expr * ROUNDED - step, at) in (-1, 0)
    except BadInput:  # no real value in this round
        return None
    return None if found is None else found == 0


def _settled(expr: Any, steps: StepSizes) -> int | None:
    """The number of first rounds that decides for all rounds whether an expression is the step size; None: unknown.

    Two rational functions of the round are one if they agree in more rounds than the product of one's numerator and
    the other's denominator has degrees.
    """
    if steps.formula is not None and _same(expr, steps):
        return FEW
    if ITERATION in expr.free_symbols or steps.degrees is None:
        return None
    period = steps.rounds_per_cycle
    for whole in expr.atoms(sp.floor, sp.ceiling):
        argument = sp.Poly(whole.args[0], ROUND) if whole.args[0].is_polynomial(ROUND) else None
        if argument is None or argument.degree() > 1 or not argument.LC().is_Rational:
            return None
        period = math.lcm(period, int(argument.LC().q))
        expr = expr.xreplace({whole: ROUND})
    degrees = _degrees(expr)
    return None if degrees is None else steps.regular_from + period * (sum(degrees) + steps.degrees + 1)


def _same(expr: Any, steps: StepSizes) -> bool:
    """Whether the expression is, as a function, the formula from which a run takes its step sizes."""
    formula = steps.formula
    assert formula is not None
    own = symbolic(formula.tree)
    if steps.local_steps == 1:
        own = own.xreplace({ITERATION: ROUND})
    return sp.simplify(expr - own) == 0


def symbolic(tree: Any) -> Any:
    """A parsed expression (`core.expressions`) in SymPy, made node by node."""
    kind, *own = tree
    if kind == "number":
        return sp.Rational(own[0].numerator, own[0].denominator)
    if kind == "name":
        return {ROUND.name: ROUND, ITERATION.name: ITERATION}[own[0]]
    return _OPERATIONS[kind](*(symbolic(v) for v in own))


_OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": lambda a, b: a**b,
    "sqrt": sp.sqrt,
    "floor": sp.floor,
    "min": sp.Min,
    "max": sp.Max,
}


def _degrees(expr: Any) -> tuple[int, int] | None:
    """Degrees of numerator and denominator in `ROUND`; None where the expression is no rational function."""
    top, bottom = sp.fraction(sp.together(expr))
    if not (top.is_polynomial(ROUND) and bottom.is_polynomial(ROUND)):
        return None
    degrees: list[Any] = [sp.Poly(part, ROUND).degree() for part in (top, bottom)]
    return 0 if top == 0 else degrees[0], degrees[1]
