"""Claims without a run: about a constant of a method on a problem, or about numbers.

A statement is about a constant where its metric's quantity is "constant:<key>", such as "constant:participation/M". It
is compared at one point, as a curve that was measured at round 0 only, so that scope, hypotheses and grades are those
of every claim. A constant that is known from one side only decides what that side decides.

A statement is about numbers where its metric has a value (`theory.statement.Metric`). Both sides are then expressions
in its symbols, and are compared exactly: at the constants of a method on a problem, or at numbers that are given alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from boundcheck.certified.constant import Constant, Known
from boundcheck.core.linalg import float_down, float_up, nearest_float
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.run import describe
from boundcheck.errors import BadInput
from boundcheck.evidence.hypotheses import DECIDED_HERE
from boundcheck.evidence.open_step_sizes import START
from boundcheck.setting.constants import key_of_name, named_hypotheses
from boundcheck.setting.user_constants import is_library, key_of
from boundcheck.theory.free_data import about_numbers
from boundcheck.theory.quantities import round_symbols

if TYPE_CHECKING:
    from boundcheck.setting import Setting
    from boundcheck.theory.statement import Statement

PREFIX = "constant:"


def constant_of(claimed: Statement) -> str | None:
    """The key of the constant that the statement is about; None where it is about a run, or a formula alone."""
    quantity = claimed.metric.quantity
    return key_of_name(quantity.removeprefix(PREFIX)) if quantity.startswith(PREFIX) else None


def needs_no_run(claimed: Statement) -> bool:
    """Whether a claim is about a constant or about numbers, which no engine measures."""
    return constant_of(claimed) is not None or about_numbers(claimed)


def curve_without_run(claimed: Statement, setting: Setting, hypotheses: Iterable[str] = ()) -> Curve:
    """What `compare` needs of method and problem for a claim about a constant or about numbers: a curve of one round.

    hypotheses: those that the problem is to answer. Raises BadInput where method and problem have no such constant.
    """
    key = constant_of(claimed)
    curve = curve_of_numbers(claimed) if key is None else _curve_of_constant(claimed, key, setting)
    curve = replace(describe(curve, setting, hypotheses), rounded_steps=False, step_sizes=None)
    return with_hypotheses(curve, claimed, setting)


def curve_of_numbers(claimed: Statement) -> Curve:
    """A curve of one round without a value, for a claim about numbers: its metric is computed from the expression."""
    unknown = {claimed.metric.quantity: np.array([0.0])}
    low, high = ({name: np.array([end]) for name in unknown} for end in (-math.inf, math.inf))
    rounds = np.array([0], dtype=np.int64)
    return Curve(rounds, unknown, Arithmetic.BALL, low=low, high=high, info={"engine": "none"})


def _curve_of_constant(claimed: Statement, key: str, setting: Setting) -> Curve:
    """The constant at round 0."""
    if not setting.has(key):
        raise BadInput(
            f"{claimed.best_id} is about the constant {key}, which this method has not on this problem "
            f"(there are {', '.join(sorted(setting.constants()))})."
        )
    constant = setting.constant(key)
    low, high, arithmetic = _sides(constant)
    metric = claimed.metric.quantity
    return Curve(
        rounds=np.array([0], dtype=np.int64),
        values={metric: np.array([nearest_float(constant.value)])},
        arithmetic=arithmetic,
        low={metric: np.array([low])},
        high={metric: np.array([high])},
        exact={metric: (constant.value,)} if arithmetic is Arithmetic.RATIONAL else {},
        info={"engine": "none", "constant": f"{key}: {constant.how}"},
    )


def broken_assumption(claimed: Statement, setting: Setting) -> str | None:
    """Which assumption of a statement method and problem break, and why, as the rest of a sentence; None: none is known
    to be broken, without a look at given constants."""
    for assumption in claimed.assumptions:
        if not is_library(assumption) and assumption.name not in named_hypotheses():
            continue
        answer = setting.hypothesis(assumption.name)
        if answer.holds is False:
            return f"assumption {assumption.name} fails: {answer.why.rstrip('.')}"
    return None


def missing_quantity(claimed: Statement, setting: Setting, given: Iterable[str]) -> str | None:
    """Which broken assumption explains that the metric or a constant does not exist; None where nothing is missing or
    no assumption is known to be broken. given: names of the symbols that a claim gives a value."""
    known = {*claimed.known(dict.fromkeys(setting.constants())), *given, *claimed.parameters, str(claimed.metric.index)}
    known |= set(round_symbols(claimed))
    lacking = [s.name for s in claimed.symbols if s.name not in known and s.key not in START]
    quantity = claimed.metric.quantity
    if not needs_no_run(claimed) and not setting.metric(quantity).source:
        lacking.append(f"the metric {quantity}")
    broken = broken_assumption(claimed, setting) if lacking else None
    return None if broken is None else f"Out of scope: {broken}. There is no {', '.join(lacking)}."


def _sides(constant: Constant) -> tuple[float, float, Arithmetic]:
    """Doubles that enclose the constant, as far as it is known, and the arithmetic that this amounts to.

    A certified bound is a bound and no more: how far it lies from the constant differs from one constant to another.
    """
    low, high = float_down(constant.value), float_up(constant.value)
    if constant.known is Known.EXACT and constant.side == "exact":
        return low, high, Arithmetic.RATIONAL
    low = -math.inf if constant.side == "upper" else low
    high = math.inf if constant.side == "lower" else high
    return low, high, Arithmetic.FLOAT64 if constant.known is Known.ESTIMATED else Arithmetic.BALL


def with_hypotheses(curve: Curve, claimed: Statement, setting: Setting) -> Curve:
    """The curve with the answers to those hypotheses about who takes part that the statement names."""
    decided, broken = dict(curve.assumptions), dict(curve.violations)
    for assumption in claimed.assumptions:
        if assumption.name not in named_hypotheses():
            continue
        answer = setting.hypothesis(assumption.name)
        if answer.holds:
            decided[key_of(assumption)] = DECIDED_HERE
        elif answer.holds is False:
            broken[key_of(assumption)] = answer.why
    return replace(curve, assumptions=decided, violations=broken)
