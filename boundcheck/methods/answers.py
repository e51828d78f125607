"""Questions beyond the protocols of parts, each with the answer of a part that does not know it.

They take the place of a look at the class of a part: a plug-in's part answers them by an attribute of the same name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boundcheck.core.expressions import Expression
    from boundcheck.methods.parts import Blocks, Timed


def timing(participation: Any) -> Timed | None:
    """The update times and the server's policy from which the cohorts follow; None where they follow from none."""
    return getattr(participation, "timing", None)


def averaging(exchange: Any) -> Blocks | None:
    """How the clients' own models are averaged block by block; None where there is a server's model."""
    return getattr(exchange, "averaging", None)


def starts_stale(exchange: Any) -> bool:
    """Whether a client works on the server's point that it received last, however old."""
    return bool(getattr(exchange, "starts_stale", False))


def expression(schedule: Any) -> Expression | None:
    """The text in r and t that gives the step sizes, read; None for step sizes given otherwise."""
    return getattr(schedule, "expression", None)


def by_iteration(schedule: Any) -> bool:
    """Whether the step size changes from local step to local step."""
    return bool(getattr(schedule, "by_iteration", False))


def breaks(schedule: Any) -> tuple[int, ...]:
    """The only rounds, from 0, at which the rule of the step size changes, the end of a warm-up (or 0) first.

    Empty where one rule gives all step sizes.
    """
    return getattr(schedule, "breaks", ())


def rule(schedule: Any) -> str | None:
    """The step size as text: in r and t where it is an `expression`, else a multiple of 1/K in the cycle K."""
    return getattr(schedule, "rule", None)
