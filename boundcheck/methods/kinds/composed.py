"""Compositions of parts by their names, those of plug-ins included."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods.kind import Form, Kind
from boundcheck.methods.own_parts import made, named
from boundcheck.methods.parameters import participation_from, step_from
from boundcheck.methods.parts import (
    Average,
    Epochs,
    GradientSteps,
    PerClient,
    Same,
    ServerStep,
    StochasticSteps,
    SumOne,
)
from boundcheck.methods.parts import Unbiased as UnbiasedWeights

# Role -> the shipped parts by name. Participation has names of its own, and step sizes are written as numbers.
SHIPPED: Mapping[str, Mapping[str, type]] = {
    "local": {"gradient_steps": GradientSteps, "stochastic_steps": StochasticSteps, "epochs": Epochs},
    "aggregation": {
        "average": Average,
        "same": Same,
        "per_client": PerClient,
        "unbiased": UnbiasedWeights,
        "sum_one": SumOne,
    },
    "schedule": {},
}


def part_from(given: Any, role: str) -> Any:
    """A part of a role, by its name or a table {part = "epochs", E = 2}. Raises UnknownName and BadInput."""
    table: Mapping[str, Any] = given if isinstance(given, Mapping) else {"part": given}
    name = table.get("part")
    if not isinstance(name, str):
        raise BadInput(f'the {role} must be the name of a part, or a table such as {{part = "epochs", E = 2}}.')
    found = SHIPPED[role].get(name) or named(role, name)
    if found is None:
        raise UnknownName(f"the {role}", name, SHIPPED[role])
    return made(found, {k: v for k, v in table.items() if k != "part"}, f"the {role} '{name}'")


def _composed(
    *,
    eta: Any,
    local: Any = "gradient_steps",
    participation: Any = "full",
    aggregation: Any = "average",
    eta_g: Any = 1,
) -> Mapping[str, Any]:
    """eta: a number (see `step_from`), or the table of a schedule from a plug-in, with its `part`."""
    work = {"part": local, "E": 1} if local == "gradient_steps" else local
    own_steps = isinstance(eta, Mapping) and "part" in eta
    factor = as_fraction(eta_g, "eta_g")
    if factor <= 0:
        raise BadInput(f"eta_g = {factor} is not a step size; it must be above 0.")
    return {
        "participation": participation_from(participation),
        "local": part_from(work, "local"),
        "schedule": part_from(eta, "schedule") if own_steps else step_from(eta, "eta"),
        "aggregation": part_from(aggregation, "aggregation"),
        "server": ServerStep(Fraction(factor)),
    }


def _nothing(method: Any) -> bool:
    """No statement is about compositions as such: what is said of a kind is said of methods with its parts."""
    return False


KINDS: Mapping[str, Kind] = {
    "composed": Kind(_composed, Form(aggregation=lambda part: True, server=lambda part: True, relation=_nothing))
}
