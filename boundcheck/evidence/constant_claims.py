"""Claims about a constant of a method on a problem: a formula against its exact value, without a run.

A statement is one where its metric's quantity is "constant:<key>", such as "constant:participation/M". It is compared
at one point, as a curve that was measured at round 0 only, so that scope, hypotheses and grades are those of every
claim. A constant that is known from one side only decides what that side decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from boundcheck.certified.constant import Constant, Known
from boundcheck.core.linalg import float_down, float_up
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.run import describe
from boundcheck.errors import BadInput
from boundcheck.evidence.compare import DECIDED_HERE
from boundcheck.setting.constants import key_of_name
from boundcheck.setting.participation import HYPOTHESES
from boundcheck.setting.user_constants import is_library, key_of

if TYPE_CHECKING:
    from boundcheck.setting import Setting
    from boundcheck.theory.statement import Statement

PREFIX = "constant:"


def constant_of(claimed: Statement) -> str | None:
    """The key of the constant that the statement is about; None where it is about a run, or a formula alone."""
    quantity = claimed.metric.quantity
    return key_of_name(quantity.removeprefix(PREFIX)) if quantity.startswith(PREFIX) else None


def curve_of_constant(claimed: Statement, setting: Setting, asked: Iterable[str] = ()) -> Curve:
    """The constant as a curve of one round, 0, with all that `compare` needs of method and problem.

    asked: hypotheses that the problem is to answer. Raises BadInput where method and problem have no such constant.
    """
    key = constant_of(claimed)
    assert key is not None
    if not setting.has(key):
        raise BadInput(
            f"{claimed.best_id} is about the constant {key}, which this method has not on this problem "
            f"(there are {', '.join(sorted(setting.constants()))})."
        )
    constant = setting.constant(key)
    low, high, arithmetic = _sides(constant)
    metric = claimed.metric.quantity
    curve = Curve(
        rounds=np.array([0], dtype=np.int64),
        values={metric: np.array([float(constant.value)])},
        arithmetic=arithmetic,
        low={metric: np.array([low])},
        high={metric: np.array([high])},
        exact={metric: (constant.value,)} if arithmetic is Arithmetic.RATIONAL else {},
        info={"engine": "none", "constant": f"{key}: {constant.how}"},
    )
    curve = replace(describe(curve, setting, asked), rounded_steps=False, step_sizes=None)
    return _with_hypotheses(curve, claimed, setting)


def broken_assumption(claimed: Statement, setting: Setting) -> str | None:
    """Which assumption of a statement method and problem break, and why, as the rest of a sentence; None: none is known
    to be broken, without a look at given constants."""
    for assumption in claimed.assumptions:
        if not is_library(assumption) and assumption.name not in HYPOTHESES:
            continue
        answer = setting.hypothesis(assumption.name)
        if answer.holds is False:
            return f"assumption {assumption.name} fails: {answer.why.rstrip('.')}"
    return None


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


def _with_hypotheses(curve: Curve, claimed: Statement, setting: Setting) -> Curve:
    """The curve with the answers to those hypotheses about who takes part that the statement names."""
    decided, broken = dict(curve.assumptions), dict(curve.violations)
    for assumption in claimed.assumptions:
        if assumption.name not in HYPOTHESES:
            continue
        answer = setting.hypothesis(assumption.name)
        if answer.holds:
            decided[key_of(assumption)] = DECIDED_HERE
        else:
            broken[key_of(assumption)] = answer.why
    return replace(curve, assumptions=decided, violations=broken)
