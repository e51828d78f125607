"""Finding compositions by name: `boundcheck/methods/<kind>.py`, each with `build(**parameters)` and `matches`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any

import boundcheck.methods
from boundcheck.core.parameters import check_parameters
from boundcheck.errors import UnknownName
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method

__all__ = ["algorithms", "build", "kinds", "objections"]

_NOT_KINDS = {"build", "clients", "method"}


@cache
def kinds() -> tuple[str, ...]:
    """Names of the shipped compositions."""
    found = pkgutil.iter_modules(boundcheck.methods.__path__)
    return tuple(m.name for m in found if not m.ispkg and not m.name.startswith("_") and m.name not in _NOT_KINDS)


def _module(kind: str) -> Any:
    if kind not in kinds():
        raise UnknownName("the method", kind, kinds())
    return importlib.import_module(f"boundcheck.methods.{kind}")


def build(spec: Mapping[str, Any]) -> Method:
    """The composition of a specification `{kind = ..., parameters}`.

    Raises UnknownName for a kind or parameter that does not exist, BadInput for a missing or forbidden one.
    """
    parameters = {k: v for k, v in spec.items() if k != "kind"}
    kind = str(spec.get("kind", ""))
    module = _module(kind)
    check_parameters(module.build, parameters, f"the method '{kind}'")
    return module.build(**parameters)


def algorithms(method: Method, clients: Clients | None = None) -> tuple[str, ...]:
    """The kinds of which a composition is an instance (gradient descent is also FedAvg with one step).

    None with `ClientSGD`: what is said of these kinds is said of plain local steps. clients: with them a kind is found
    whose definition depends on the clients' numbers of samples (FedShuffleGen with divisors given as numbers).
    """
    if method.sgd is not None:
        return ()
    return tuple(kind for kind in kinds() if _matches(_module(kind), method, clients))


def _matches(module: Any, method: Method, clients: Clients | None) -> bool:
    return module.matches(method, clients) if hasattr(module, "objection") else module.matches(method)


def objections(method: Method, clients: Clients) -> dict[str, str]:
    """Kind -> why a composition of its form is no instance of it with these clients, as a clause."""
    with_objections = [kind for kind in kinds() if method.sgd is None and hasattr(_module(kind), "objection")]
    found = {kind: _module(kind).objection(method, clients) for kind in with_objections}
    return {kind: why for kind, why in found.items() if why is not None}
