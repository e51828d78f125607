"""Gradient descent: full participation and one local step, so that a round is x <- x - eta * grad F(x)."""

from __future__ import annotations

from typing import Any

from boundcheck.methods._steps import schedule_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Average, Full, GradientSteps, ServerStep

__all__ = ["build", "matches"]


def build(*, eta: Any = None, eta0: Any = None) -> Method:
    """Gradient descent on F; equal client weights are required for the average to be grad F."""
    return Method("gradient_descent", Full(), GradientSteps(1), schedule_from({"eta": eta, "eta0": eta0}))


def matches(method: Method) -> bool:
    """Whether a composition is gradient descent, whatever its step size."""
    return (
        isinstance(method.participation, Full)
        and method.local == GradientSteps(1)
        and isinstance(method.aggregation, Average)
        and method.server == ServerStep()
        and method.is_plain
    )
