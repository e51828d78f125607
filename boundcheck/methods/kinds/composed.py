"""Compositions of parts by their names, those of plug-ins included."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods import parts
from boundcheck.methods.kind import Form, Kind, anything, kind
from boundcheck.methods.own_parts import made, named
from boundcheck.methods.parameters import ETA, ETA_G, PARTICIPATION, Parameter, step_from

# Role -> the shipped parts by name. Participation has names of its own, and step sizes are written as numbers.
SHIPPED: Mapping[str, Mapping[str, type]] = {
    "local": {"gradient_steps": parts.GradientSteps, "stochastic_steps": parts.StochasticSteps, "epochs": parts.Epochs},
    "aggregation": {
        "average": parts.Average, "same": parts.Same, "per_client": parts.PerClient, "unbiased": parts.Unbiased,
        "sum_one": parts.SumOne,
    },
    "schedule": {},
}  # fmt: skip


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


def _local(given: Any, name: str) -> Any:
    return part_from({"part": given, "E": 1} if given == "gradient_steps" else given, "local")


def _schedule(given: Any, name: str) -> Any:
    return part_from(given, "schedule") if isinstance(given, Mapping) and "part" in given else step_from(given, name)


def _server(given: Any, name: str) -> parts.ServerStep:
    factor = as_fraction(given, name)
    if factor <= 0:
        raise BadInput(f"{name} = {factor} is not a step size; it must be above 0.")
    return parts.ServerStep(factor)


_PART = "the name of a part, or a table with its fields"
KINDS: Mapping[str, Kind] = {
    "composed": kind(
        "A composition of parts by their names, those of plug-ins included.",
        ("a composition; no paper", ""),
        # no statement is about compositions as such: what is said of a kind is said of methods with its parts
        Form(aggregation=anything, server=anything, relation=lambda method: False),
        (
            ETA.but(read=_schedule, allowed=f"{ETA.allowed}, or the table of a schedule with its part"),
            Parameter("local", "local work of a client", _PART, _local, "local", "gradient_steps"),
            PARTICIPATION,
            Parameter("aggregation", "weights of the cohort", _PART, part_from, "aggregation", "average"),
            ETA_G.but(read=_server, into="server"),
        ),
    )
}
