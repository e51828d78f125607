"""Step-size schedules from the parameters that users write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods.parts import ClientSGD, Constant, Decaying, InverseCycle, LogHorizon, Schedule

__all__ = ["NONE", "STEP_PARAMETERS", "count", "schedule_from", "sgd_from", "step_from"]

# Each way of giving the step size: the parameters that belong together.
_WAYS = ({"eta"}, {"eta0"}, {"eta0", "rounds_per_cycle"}, {"ell", "T"})
STEP_PARAMETERS = tuple(sorted(set().union(*_WAYS)))
MAX_COUNT = 10**15
NONE = "none"  # gradients are not clipped
_DECAY = ("value", "at", "factor", "warm_up")


def count(value: Any, name: str) -> int:
    """A whole number from 1 to 10^15 (as many rounds as a run may have), or BadInput."""
    number = as_fraction(value, name)
    if number.denominator != 1 or number < 1:
        raise BadInput(f"{name} = {format_short(number)} is not allowed; it must be an integer of at least 1.")
    if number > MAX_COUNT:
        raise BadInput(f"{name} = {format_short(number)} is not allowed; it must be at most 10^15.")
    return int(number)


def sgd_from(momentum_l: Any = 0, weight_decay_l: Any = 0, clip_l: Any = NONE) -> ClientSGD | None:
    """What differs from plain local steps, None where nothing does (`ClientSGD`).

    momentum_l: at least 0 and below 1. weight_decay_l: at least 0. clip_l: the largest norm of a gradient, above 0, or
    "none". Raises BadInput.
    """
    momentum, decay = as_fraction(momentum_l, "momentum_l"), as_fraction(weight_decay_l, "weight_decay_l")
    clip = None if clip_l == NONE else as_fraction(clip_l, "clip_l")
    return ClientSGD(momentum, decay, clip) if momentum or decay or clip is not None else None


def step_from(value: Any, name: str) -> Schedule:
    """The local step size of a method, its parameter `name`, from what users write.

    A number, or {value = "1/10", at = [500, 750], factor = "1/10", warm_up = 5}: value in the first rounds, multiplied
    by factor (default 1/10) from round 500 and again from round 750 on, rounds counted from 0; rising evenly to value
    over the first warm_up rounds. Raises BadInput and UnknownName.
    """
    if not isinstance(value, Mapping):
        return Constant(as_fraction(value, name), name)
    for key in value:
        if key not in _DECAY:
            raise UnknownName(f"the step size {name}: parameter", str(key), _DECAY)
    if "value" not in value:
        raise BadInput(f'a step size that changes needs its value, such as {name} = {{value = "1/10", at = [500]}}.')
    at = value.get("at", ())
    if isinstance(at, str) or not isinstance(at, Sequence):
        raise BadInput(f"{name}: at must be the rounds from which the step size is smaller, such as [500, 750].")
    return Decaying(
        as_fraction(value["value"], f"{name}: value"),
        tuple(count(t, f"{name}: at") for t in at),
        as_fraction(value.get("factor", Fraction(1, 10)), f"{name}: factor"),
        count(value["warm_up"], f"{name}: warm_up") if "warm_up" in value else 0,
    )


def schedule_from(steps: Mapping[str, Any]) -> Schedule:
    """`eta` (see `step_from`), `eta0` (eta0/K, optionally with `rounds_per_cycle`) or `ell` and `T` (ell*log(T)/T)."""
    given = {k for k, v in steps.items() if v is not None}
    if given not in _WAYS:
        shown = ", ".join(sorted(given)) or "none"
        raise BadInput(
            f"the step size needs exactly one of: eta; eta0 (and rounds_per_cycle); ell and T. Given: {shown}."
        )
    if "eta" in given:
        return step_from(steps["eta"], "eta")
    if "eta0" in given:
        per = steps.get("rounds_per_cycle")
        return InverseCycle(as_fraction(steps["eta0"], "eta0"), None if per is None else count(per, "rounds_per_cycle"))
    return LogHorizon(as_fraction(steps["ell"], "ell"), count(steps["T"], "T"))
