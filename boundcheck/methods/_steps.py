"""Step-size schedules from the parameters that users write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput
from boundcheck.methods.parts import Constant, InverseCycle, LogHorizon, Schedule

__all__ = ["STEP_PARAMETERS", "count", "schedule_from"]

# Each way of giving the step size: the parameters that belong together.
_WAYS = ({"eta"}, {"eta0"}, {"eta0", "rounds_per_cycle"}, {"ell", "T"})
STEP_PARAMETERS = tuple(sorted(set().union(*_WAYS)))


def count(value: Any, name: str) -> int:
    """A whole number of at least 1, or BadInput."""
    number = as_fraction(value, name)
    if number.denominator != 1 or number < 1:
        raise BadInput(f"{name} = {value} is not allowed; it must be an integer of at least 1.")
    return int(number)


def schedule_from(steps: Mapping[str, Any]) -> Schedule:
    """`eta` (constant), `eta0` (eta0/K, optionally with `rounds_per_cycle`) or `ell` and `T` (ell*log(T)/T)."""
    given = {k for k, v in steps.items() if v is not None}
    if given not in _WAYS:
        shown = ", ".join(sorted(given)) or "none"
        raise BadInput(
            f"the step size needs exactly one of: eta; eta0 (and rounds_per_cycle); ell and T. Given: {shown}."
        )
    if "eta" in given:
        return Constant(as_fraction(steps["eta"], "eta"))
    if "eta0" in given:
        per = steps.get("rounds_per_cycle")
        return InverseCycle(as_fraction(steps["eta0"], "eta0"), None if per is None else count(per, "rounds_per_cycle"))
    return LogHorizon(as_fraction(steps["ell"], "ell"), count(steps["T"], "T"))
