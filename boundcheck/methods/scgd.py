"""SCGD: one device a round in a fixed order, E full local gradient steps each, no averaging.

S. Ma, "Semi-Cyclic Gradient Descent Outperforms Federated Averaging with Sufficiently Small Learning
Rate", Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boundcheck.methods._steps import count, schedule_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Average, Cyclic, GradientSteps, ServerStep

__all__ = ["build", "matches"]


def build(
    *,
    E: Any,
    order: Sequence[int] | None = None,
    eta: Any = None,
    eta0: Any = None,
    ell: Any = None,
    T: Any = None,
) -> Method:
    """SCGD with E local steps; see `methods._steps` for the ways to give the step size.

    order: the visiting order as a permutation of 0..n-1 (default: natural).
    """
    steps = {"eta": eta, "eta0": eta0, "ell": ell, "T": T}
    visiting = Cyclic(None if order is None else tuple(order))
    return Method("scgd", visiting, GradientSteps(count(E, "E")), schedule_from(steps))


def matches(method: Method) -> bool:
    """Whether a composition is SCGD, whatever its numbers."""
    return (
        isinstance(method.participation, Cyclic)
        and isinstance(method.local, GradientSteps)
        and isinstance(method.aggregation, Average)
        and method.server == ServerStep()
        and method.is_plain
    )
