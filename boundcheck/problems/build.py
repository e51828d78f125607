"""Finding problems by name: `boundcheck/problems/<kind>.py`, each with `build(**parameters) -> Problem`."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import boundcheck.problems
from boundcheck.errors import BadInput, UnknownName, shown
from boundcheck.problems.problem import Problem

__all__ = ["build", "check_names", "kinds"]

# Modules of the folder that are no kind of problem: this one, the contract, and the data sets.
_NOT_KINDS = {
    "build",
    "problem",
    *("diabetes", "breast_cancer", "digits", "mnist", "mnist_5k", "fashion_mnist", "cifar10", "shakespeare", "imdb"),
}


@cache
def kinds() -> tuple[str, ...]:
    """Names of the shipped kinds of problem."""
    found = pkgutil.iter_modules(boundcheck.problems.__path__)
    return tuple(m.name for m in found if not m.ispkg and not m.name.startswith("_") and m.name not in _NOT_KINDS)


def build(spec: Mapping[str, Any]) -> Problem:
    """The problem of a specification `{kind = ..., parameters}`; `build(p.spec)` behaves as p.

    Raises UnknownName for a kind or parameter that does not exist, BadInput for a missing or forbidden one.
    """
    make = check_names(spec)
    return make(**{k: v for k, v in spec.items() if k != "kind"})


def check_names(spec: Mapping[str, Any]) -> Callable[..., Problem]:
    """What builds the problem of a specification whose kind and names of parameters are right.

    Nothing is built, so that no data are needed. Raises as `build` does for names, and for parameters that are no list.
    """
    parameters = {k: v for k, v in spec.items() if k != "kind"}
    if "kind" not in spec:
        raise BadInput(f"the problem names no kind; known: {', '.join(kinds())}.")
    kind = str(spec["kind"])
    if kind not in kinds():
        raise UnknownName("the problem", kind, kinds())
    make: Callable[..., Problem] = importlib.import_module(f"boundcheck.problems.{kind}").build
    signature = inspect.signature(make)
    for name in parameters:
        if name not in signature.parameters:
            raise UnknownName(f"the problem '{kind}': parameter", name, signature.parameters)
    for name, parameter in signature.parameters.items():
        if parameter.default is inspect.Parameter.empty and name not in parameters:
            raise BadInput(f"the problem '{kind}' needs the parameter '{name}'.")
    for name, value in parameters.items():
        asked = str(signature.parameters[name].annotation)
        if asked.startswith("Sequence") and value is not None and not hasattr(value, "__iter__"):
            raise BadInput(f"the problem '{kind}': {name} = {shown(repr(value))} is not allowed; it must be a list.")
    return make
