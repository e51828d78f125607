"""Checking the parameters of a specification, and the arguments of public functions, against a function."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from numbers import Real
from typing import Any, ParamSpec, TypeVar

from boundcheck.errors import BadInput, UnknownName, shown

P = ParamSpec("P")
R = TypeVar("R")


def checks_types(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which first refuses each argument that its annotation excludes, in one sentence (BadInput).

    A class is recognised by its name, so that nothing is imported; what an unknown annotation says is for the function.
    """
    signature = inspect.signature(function)
    annotations = {name: str(p.annotation) for name, p in signature.parameters.items()}

    @wraps(function)
    def checked(*values: P.args, **named: P.kwargs) -> R:
        check_types(function.__name__, annotations, signature.bind(*values, **named).arguments)
        return function(*values, **named)

    return checked


def check_types(what: str, annotations: Mapping[str, str], values: Mapping[str, Any]) -> None:
    """Raises BadInput for the first value that its annotation excludes; `what` takes the values."""
    for name, value in values.items():
        allowed = _options(annotations[name])
        if not any(_fits(value, a) for a in allowed):
            words = [_ARGUMENTS[a][1] if a in _ARGUMENTS else f"a {a}" for a in (a.partition("[")[0] for a in allowed)]
            given = f"{what}: {name} = {shown(repr(value))}"
            raise BadInput(f"{given} is not allowed; it must be {' or '.join(dict.fromkeys(words))}.")


def _options(annotation: str) -> list[str]:
    """The members of a union, which may hold unions in brackets."""
    found, depth = [""], 0
    for character in annotation:
        depth += (character == "[") - (character == "]")
        if character == "|" and not depth:
            found.append("")
        else:
            found[-1] += character
    return [member.strip() for member in found]


def _fits(value: Any, annotation: str) -> bool:
    """Whether one member of a union allows the value; of lists and tuples the items are looked at, too."""
    name, _, inner = annotation.partition("[")
    if name not in _ARGUMENTS:
        return annotation == "Any" or any(kind.__name__ == name for kind in type(value).__mro__)
    items: Any = value if inner and isinstance(value, list | tuple) else ()
    return _ARGUMENTS[name][0](value) and all(any(_fits(v, a) for a in _options(inner[:-1])) for v in items)


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and value == value  # NaN is no number


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


# Annotation -> what it allows, and the words for it.
_ARGUMENTS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "None": (lambda value: value is None, "None"),
    "str": (lambda value: isinstance(value, str), "text"),
    "bool": (lambda value: isinstance(value, bool), "a bool"),
    "Path": (lambda value: isinstance(value, os.PathLike), "a path"),
    "int": (lambda value: _is_number(value) and value % 1 == 0, "an integer"),
    "float": (_is_number, "a number"),
    "Mapping": (lambda value: isinstance(value, Mapping), "a dict"),
    "Callable": (callable, "a function"),
    "Run": (callable, "a function"),
    "Problem": (lambda value: hasattr(value, "constants") and hasattr(value, "spec"), "a problem"),
    **dict.fromkeys(("Sequence", "Iterable", "Collection"), (_is_list, "a list")),
}
# Annotation of a parameter of a specification that is held to, and the words for it in a file.
_IN_FILES = {"str": "text in quotes", "bool": "true or false", "Mapping": "a table", "Sequence": "a list"}


def check_parameters(make: Callable[..., Any] | Mapping[str, Any], parameters: Mapping[str, Any], what: str) -> None:
    """Checks names and plain types of the keyword arguments of `make`; `what` names it in messages.

    make: a function, or name -> an object with the `default` and the `annotation` of an `inspect.Parameter`.

    An annotation `str`, `bool`, `Mapping[...]` or `Sequence[...]` is held to, "| None" allows None; what else an
    annotation says is for `make`. Raises UnknownName for a name that `make` does not have, BadInput for a missing one
    and for a value of the wrong type.
    """
    known: Mapping[str, Any] = make if isinstance(make, Mapping) else inspect.signature(make).parameters
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
        plain = asked.partition("[")[0]
        if plain in _IN_FILES and not _ARGUMENTS[plain][0](value):
            raise BadInput(f"{what}: {name} = {shown(repr(value))} is not allowed; it must be {_IN_FILES[plain]}.")
