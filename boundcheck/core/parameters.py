"""Checking the parameters of a specification against the function that builds from them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from boundcheck.errors import BadInput, UnknownName, shown


def check_parameters(make: Callable[..., Any], parameters: Mapping[str, Any], what: str) -> None:
    """Checks names and plain types of the keyword arguments of `make`; `what` names it in messages.

    An annotation `str`, `bool`, `Mapping[...]` or `Sequence[...]` is held to, "| None" allows None; what else an
    annotation says is for `make`. Raises UnknownName for a name that `make` does not have, BadInput for a missing one
    and for a value of the wrong type.
    """
    known = inspect.signature(make).parameters
    for name in parameters:
        if name not in known:
            raise UnknownName(f"{what}: parameter", name, known)
    for name, parameter in known.items():
        if parameter.default is inspect.Parameter.empty and name not in parameters:
            raise BadInput(f"{what} needs the parameter '{name}'.")
    for name, value in parameters.items():
        asked, _, optional = str(known[name].annotation).partition(" | ")
        if value is None and optional == "None":
            continue
        needed = _needed(asked.partition("[")[0], value)
        if needed is not None:
            raise BadInput(f"{what}: {name} = {shown(repr(value))} is not allowed; it must be {needed}.")


def _needed(asked: str, value: Any) -> str | None:
    """What a parameter must be instead of `value`; None where `value` is of the type that was asked for."""
    if asked == "str":
        return None if isinstance(value, str) else "text in quotes"
    if asked == "bool":
        return None if isinstance(value, bool) else "true or false"
    if asked == "Mapping":
        return None if isinstance(value, Mapping) else "a table"
    if asked == "Sequence":
        return None if isinstance(value, Iterable) and not isinstance(value, str | Mapping) else "a list"
    return None
