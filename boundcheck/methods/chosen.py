"""Which parameters of a kind a method gives another value than their default, read from what they decide in its parts.

A composition does not hold the parameters that users write, and is an instance of more kinds than the one it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.kind import NEEDED, Kind
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Full, Uniform, WithReplacement

# What parameters decide where that has another name: parts of a method, or fields of one.
_DECIDES = {
    "K": "sampling", "gradient": "sampling", "solver": "sampling", "steps": "sampling steps", "size": "participation",
    "times": "participation", "gradient_participation": "correction.participation", "same": "correction.participation",
    "weights": "aggregation weights", "normaliser": "aggregation", "reweighted": "aggregation", "sign": "ascend",
    "c": "divide", "clip_l": "client_optimizer", "decay": "decay factor",
}  # fmt: skip
# Values of needed parameters for which 1 will not do, and what a kind takes besides where it needs one of several.
_NEEDED: Mapping[str, Any] = {
    "momentum_g": 0, "times": {"kind": "spread", "ratio": 1}, "cohorts": ((0,),), "missed": (0,),
}  # fmt: skip
_ONE_OF: tuple[Mapping[str, Any], ...] = ({}, {"eta": 1}, {"K": 1}, {"warm_up": 1}, {"solver": "exact"})


def chosen(kind: Kind, method: Method, clients: Clients) -> tuple[str, ...]:
    """The parameters of a kind to which a method that is an instance of it gives another value than their default.

    One without a default is among them whatever its value, and so is one whose value cannot be read from a composition,
    unless its default is a number.
    """
    usual, needed = usual_method(kind)
    found: list[str] = []
    for name, default in kind.parameters().items():
        number = isinstance(default, int | Fraction) and not isinstance(default, bool)
        decided = [name] if number else _DECIDES.get(name, name).split()
        own, other = (None if m is None else _read(decided, m, clients) for m in (usual, method))
        if name in needed or default is NEEDED or (own != other if own else not number):
            found.append(name)
    return tuple(found)


def usual_method(kind: Kind) -> tuple[Method | None, Mapping[str, Any]]:
    """An instance of a kind with all defaults, None where it cannot be built, and what it needs besides."""
    parameters = kind.parameters()
    values = {name: _NEEDED.get(name, 1) for name, default in parameters.items() if default is NEEDED}
    for besides in _ONE_OF:
        if besides.keys() <= parameters.keys():
            with suppress(Exception):  # a plug-in's kind may refuse these values in any way
                method = kind.build("", {**values, **besides})
                if kind.form.fits(method):
                    return method, besides
    return None, {}


def _read(names: list[str], method: Method, clients: Clients) -> list[Any]:
    """What a composition has under these names: of a path that part, otherwise every field of a part that has it."""
    visit = method.local.visits(0, (0,), clients)[0][1]
    found: list[Any] = []
    for name in names:
        first, _, rest = name.partition(".")
        if name in ("sampling", "batch"):
            found.append(getattr(visit, name))
        elif first in method.parts:
            part = method.parts[first]
            found.append(_plain(getattr(part, rest, None) if rest else part, clients))
        else:
            found += [_plain(value, clients) for value in _fields(method, name)]
    return found


def _fields(part: Any, name: str) -> list[Any]:
    """The values of the fields of this name in a part, and in the parts inside it; a step size is none of them."""
    inside = [(f.name, getattr(part, f.name)) for f in fields(part) if f.name != "schedule"]
    found = [value for field, value in inside if field == name]
    return found + [v for _, value in inside if is_dataclass(value) for v in _fields(value, name)]


def _plain(value: Any, clients: Clients) -> Any:
    """Different values that decide the same have one form: cohorts of all clients are `Full`, a natural order is None.

    The size of a drawn cohort is left out; it is a number, and compared as one.
    """
    if isinstance(value, Full | Uniform | WithReplacement):
        return Full() if isinstance(value, Full) or value == Uniform(clients.count) else type(value)
    if hasattr(value, "drawing"):
        with suppress(Unsupported, BadInput):  # a pattern that is too long to be found, or of other clients
            if value.drawing(clients) is None and value.period(clients) == 1:
                return Full() if len(value.fixed(0, clients) or ()) == clients.count else value
    return None if isinstance(value, tuple) and value == tuple(range(len(value))) else value
