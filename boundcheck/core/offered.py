"""Methods and problems that a file of `--load` provides, beside its theorems or instead of them.

    methods = {"signsgd": SignSGD}     # a class with the functions of a round (`methods.round.Rule`)
    problems = {"reddi": build}        # a function build(**parameters) that gives a problem

They are found by these names as shipped ones are, as long as the file is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

from boundcheck.errors import BadInput, shown

EXPORTS = ("methods", "problems")


class Offer(NamedTuple):
    """What a file provides under a name; module: as Python imports it."""

    value: Any
    module: str


_OFFERS: dict[tuple[str, str], Offer] = {}
_CHANGES = [0]


def changes() -> int:
    """Grows whenever what is offered changes, so that what was worked out from it can be worked out anew."""
    return _CHANGES[0]


def take(module: ModuleType) -> bool:
    """Offer what a module provides; whether it provides anything. Raises BadInput for what is no table of names, and
    for a name that another file has."""
    name = module.__name__
    withdraw(name)
    for export in EXPORTS:
        table: Any = getattr(module, export, {})
        if not isinstance(table, Mapping) or not all(isinstance(k, str) and k.isidentifier() for k in table):
            raise BadInput(
                f"its `{export}` must be a table of names, such as {{'my_name': ...}}; it is {shown(table)}."
            )
        for key, value in table.items():
            held = _OFFERS.get((export, key))
            if held is not None:
                raise BadInput(f"'{key}' of its `{export}` is a name that {held.module} has already; choose another.")
            _OFFERS[export, key] = Offer(value, name)
    _CHANGES[0] += 1
    return any(offer.module == name for offer in _OFFERS.values())


def withdraw(module: str) -> None:
    """Forget what a module provided."""
    for key in [k for k, offer in _OFFERS.items() if offer.module == module]:
        del _OFFERS[key]
    _CHANGES[0] += 1


def names(export: str) -> tuple[str, ...]:
    """The names of one table of all files."""
    return tuple(sorted(name for kind, name in _OFFERS if kind == export))


def find(export: str, name: str) -> Offer | None:
    """What is offered under a name."""
    return _OFFERS.get((export, name))


def refuse_taken(export: str, shipped: Any) -> None:
    """Raises BadInput where a file has a name that is known without it."""
    for name in names(export):
        if name in shipped:
            raise BadInput(
                f"'{name}' in the `{export}` of {_OFFERS[export, name].module} is taken; choose another name."
            )
