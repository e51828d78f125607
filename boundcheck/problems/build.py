"""Finding problems by name: `boundcheck/problems/<kind>.py`, each with `build(**parameters) -> Problem`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, cast

import boundcheck.problems
from boundcheck.core import offered, plugins, providers
from boundcheck.core.parameters import check_parameters
from boundcheck.errors import BadInput, BoundcheckError, UnknownName
from boundcheck.problems._own_problem import check_own
from boundcheck.problems.problem import Problem

# Modules of the folder that are no kind of problem: this one, the contract, and the data sets.
_NOT_KINDS = {
    "build",
    "problem",
    *("diabetes", "breast_cancer", "digits", "mnist", "mnist_5k"),
}


def kinds() -> tuple[str, ...]:
    """Names of the kinds of problem: of this folder, of other rooms (`core.providers`), plug-ins and loaded files."""
    known = (*_shipped(), *plugins.names(plugins.PROBLEMS, _shipped()))
    offered.refuse_taken("problems", known)
    return tuple(sorted((*known, *offered.names("problems"))))


def _shipped() -> tuple[str, ...]:
    return (*_own_kinds(), *providers.names(providers.PROBLEMS))


def module_name(kind: str) -> str:
    """The dotted name of the module of a kind, which need not exist."""
    own = offered.find("problems", kind)
    if own is not None:
        return own.module
    if kind in plugins.names(plugins.PROBLEMS, _shipped()):
        return plugins.module_name(plugins.PROBLEMS, kind)
    return providers.module_name(providers.PROBLEMS, kind) or f"boundcheck.problems.{kind}"


@cache
def _own_kinds() -> tuple[str, ...]:
    found = pkgutil.iter_modules(boundcheck.problems.__path__)
    return tuple(m.name for m in found if not m.ispkg and not m.name.startswith("_") and m.name not in _NOT_KINDS)


def build(spec: Mapping[str, Any], *, tried: bool = True) -> Problem:
    """The problem of a specification `{kind = ..., parameters}`; `build(p.spec)` behaves as p.

    Raises UnknownName for a kind or parameter that does not exist, BadInput for a missing or forbidden one, and for a
    problem of a user's own with a wrong answer at its start, if that is to be tried.
    """
    make = check_names(spec)
    parameters = {k: v for k, v in spec.items() if k != "kind"}
    if str(spec["kind"]) in _shipped():
        return make(**parameters)
    where = f"the problem '{spec['kind']}' of {module_name(str(spec['kind']))}"
    try:
        found = make(**parameters)
    except BoundcheckError:
        raise
    except Exception as error:  # a user's function may raise anything
        raise BadInput(f"{where} cannot be built: {type(error).__name__}: {error}.") from error
    if tried:
        check_own(found, where)
    return found


def maker(kind: str) -> Callable[..., Problem]:
    """What builds problems of a kind. Raises BadInput for a plug-in that cannot be loaded."""
    if kind in _shipped():
        return importlib.import_module(module_name(kind)).build
    own = offered.find("problems", kind)
    if own is not None:
        if not callable(own.value):
            raise BadInput(f"the problem '{kind}' of {own.module} must be a function that gives a problem.")
        return cast("Callable[..., Problem]", own.value)
    make = getattr(plugins.load(plugins.PROBLEMS, kind), "build", None)
    if not callable(make):
        raise plugins.refuse(plugins.PROBLEMS, kind, "has no function build(**parameters)")
    return cast("Callable[..., Problem]", make)


def check_names(spec: Mapping[str, Any]) -> Callable[..., Problem]:
    """What builds the problem of a specification whose kind and names of parameters are right.

    Nothing is built, so that no data are needed. Raises as `build` does for names and types of parameters.
    """
    parameters = {k: v for k, v in spec.items() if k != "kind"}
    if "kind" not in spec:
        raise BadInput(f"the problem names no kind; known: {', '.join(kinds())}.")
    kind = str(spec["kind"])
    if kind not in kinds():
        raise UnknownName("the problem", kind, kinds())
    make = maker(kind)
    check_parameters(make, parameters, f"the problem '{kind}'")
    return make
