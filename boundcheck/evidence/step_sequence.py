"""Whether a run takes the step sizes that its statement is about: the sequence of an `Algorithm` against the method's.

Values are compared exactly. A step size that users wrote is the statement's where the difference of the two formulas is
0 by algebra. The rational functions of the round that theorems prescribe agree with a schedule in all
rounds when they agree in more rounds than their degree, so that long runs need no look at every round.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput
from boundcheck.theory.decide import sign
from boundcheck.theory.statement import ITERATION, ROUND

if TYPE_CHECKING:
    from boundcheck.setting.step_sizes import StepSizes
    from boundcheck.theory.statement import Statement

LOCAL = ("eta", "eta_l")  # names of the local step size
MOST_ROUNDS = 5000  # in which the two sequences are compared
FEW = 10  # of them where the two are the same function
ROUNDED = sp.Rational(10**12 - 1, 10**12)  # a schedule that rounds down keeps at least this share of a step size
OPEN = "it could not be decided whether the run has the step sizes of the statement"


def sequence_of(statement: Statement) -> Any | None:
    """The local step size that the statement is about, in `ROUND`; None where it is constant."""
    listed = {} if statement.algorithm is None else dict(statement.algorithm.steps)
    return next((listed[name] for name in LOCAL if name in listed), None)


def speaks_of_steps(statement: Statement) -> bool:
    """Whether the statement is about runs of certain step sizes: it names a method, or has a symbol for a step size."""
    keys = {f"method/{name}" for name in LOCAL}
    return statement.algorithm is not None or any(s.key in keys for s in statement.symbols)


def objection_to_steps(
    statement: Statement, steps: StepSizes | None, rounds: int, values: Mapping[str, Any]
) -> str | None:
    """Say why the step sizes of a run differ from those of its statement; `OPEN` if undecided, None if they agree.

    rounds: of the run. values: of the statement's symbols as far as they are known. A sequence that rests on a
    parameter which the method does not have is another one.
    """
    if steps is None or rounds == 0 or not speaks_of_steps(statement):
        return None
    expr = sequence_of(statement)
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
