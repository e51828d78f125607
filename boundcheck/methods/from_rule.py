"""A class with the functions of a round as a kind of method: its fields are parameters, beside those of every round."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, dataclass, fields
from typing import Any, cast

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, shown
from boundcheck.methods import parameters as p
from boundcheck.methods.kind import Form, Kind, Part, anything
from boundcheck.methods.kinds.composed import KINDS
from boundcheck.methods.round import Rule

# The functions of a round that a class may write, with what each is given.
_NAMES = (
    *("initial", "initial_client", "collect", "begin", "step", "direction", "solve", "upload", "keep", "combine"),
    *("receive", "numbers", "drawn", "repeats_after"),
)
_FUNCTIONS = {name: tuple(inspect.signature(getattr(Rule, name)).parameters) for name in _NAMES}


def kind_of_rule(name: str, given: Any) -> Kind:
    """The kind of method that a file provides. Raises BadInput for what is no class of a round, or has other arguments.

    A `Kind` is taken as it is.
    """
    if isinstance(given, Kind):
        return given
    if not isinstance(given, type) or not issubclass(given, Rule):
        raise BadInput(f"the method '{name}' must be a class that inherits from Rule; it is {shown(repr(given), 80)}.")
    for function, wanted in _FUNCTIONS.items():
        written: Any = getattr(given, function)
        if not callable(written):
            raise BadInput(f"the method '{name}': {function} is {shown(repr(written), 80)}; it must be a function.")
        own = inspect.signature(written).parameters
        if len(own) != len(wanted):
            raise BadInput(
                f"the method '{name}': its function {function}({', '.join(own)}) must take ({', '.join(wanted)})."
            )
    try:
        for base in reversed(given.__mro__[: given.__mro__.index(Rule)]):
            if not {"__dataclass_fields__", "__init__"} <= vars(base).keys():
                dataclass(frozen=True)(base)
        rule, held = given, cast("Any", given)
        if not held.__dataclass_params__.frozen:
            raise TypeError("its dataclass is not frozen")
    except (TypeError, ValueError) as error:
        raise BadInput(f"the method '{name}': its fields cannot be parameters: {error}.") from error
    own = tuple(
        p.Parameter(f.name, "a number of the round", f"as {kind}", _reader(kind), f"functions.{f.name}",
                    p.NEEDED if f.default is MISSING else f.default)
        for f in fields(held) for kind in (f.type.__name__ if isinstance(f.type, type) else str(f.type),)
    )  # fmt: skip
    taken = {q.name for q in KINDS["composed"].declared} & {q.name for q in own}
    if taken:
        raise BadInput(f"the method '{name}': its field '{min(taken)}' is a parameter of every round; rename it.")
    open_ = {f.name: anything for f in fields(held)}
    return Kind(
        dict,
        Form(
            aggregation=anything,
            server=anything,
            functions=Part(rule, **open_),
            relation=lambda method: type(method.functions) is rule,  # a class that inherits from it is another method
        ),
        declared=(*KINDS["composed"].declared, *own),
        text=inspect.getdoc(rule) or name,
        paper="a file of its own",
    )


def _reader(kind: str) -> p.Reader:
    """From what users write to a field of this type."""
    if "str" in kind.split(" | "):
        return p.as_written
    if "int" in kind.split(" | "):
        return p.count
    return as_fraction
