"""Step-size schedules from the parameters that users write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods.parts import Constant, Decaying, InverseCycle, LocalMomentum, LogHorizon, Schedule

__all__ = ["STEP_PARAMETERS", "count", "local_momentum_from", "schedule_from", "step_from"]

# Each way of giving the step size: the parameters that belong together.
_WAYS = ({"eta"}, {"eta0"}, {"eta0", "rounds_per_cycle"}, {"ell", "T"})
STEP_PARAMETERS = tuple(sorted(set().union(*_WAYS)))
_DECAY = ("value", "at", "factor", "warm_up")


def count(value: Any, name: str) -> int:
    """A whole number of at least 1, or BadInput."""
    number = as_fraction(value, name)
    if number.denominator != 1 or number < 1:
        raise BadInput(f"{name} = {value} is not allowed; it must be an integer of at least 1.")
    return int(number)


def local_momentum_from(value: Any) -> LocalMomentum | None:
    """Momentum of the clients' local steps from `momentum_l`, a number from 0 (plain steps) to below 1, or BadInput."""
    rho = as_fraction(value, "momentum_l")
    if not 0 <= rho < 1:
        raise BadInput(f"momentum_l = {value} is not allowed; it is at least 0 and below 1.")
    return LocalMomentum(rho) if rho else None


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
