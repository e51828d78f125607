"""Kinds of methods by name: every module in `boundcheck/methods/kinds/` has a table `KINDS` of them.

Further kinds come from plug-ins (`core.plugins`), each an entry point that names a `Kind`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import cache
from typing import Any

import boundcheck.methods.kinds
from boundcheck.core import offered, plugins
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods import recognition
from boundcheck.methods.chosen import chosen
from boundcheck.methods.clients import Clients
from boundcheck.methods.kind import Kind
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Average, Full, SumOne, Uniform

_NOVA = (
    "the method 'fednova' is FedNova of J. Wang et al. (2020), with the step size eta and the normaliser tau_eff; the "
    "variant of the FedShuffle paper, with eta_l, is the method 'fedshuffle_nova', and reshuffled 'fedshuffle_nova_rr'."
)
_FORMER = {"fednova": _NOVA, "fednova_rr": f"the method 'fednova_rr' is not there any more: {_NOVA}"}


@cache
def _found() -> dict[str, tuple[Kind, str]]:
    """Name -> kind and the module that has it, in alphabetical order."""
    found: dict[str, tuple[Kind, str]] = {}
    for module in pkgutil.iter_modules(boundcheck.methods.kinds.__path__, "boundcheck.methods.kinds."):
        table: Mapping[str, Kind] = importlib.import_module(module.name).KINDS
        twice = found.keys() & table.keys()
        assert not twice, f"{module.name} has kinds that another module has: {sorted(twice)}"
        found |= {name: (kind, module.name) for name, kind in table.items()}
    return dict(sorted(found.items()))


@cache
def _offered(name: str, changes: int) -> Kind | None:
    """The kind that a file of `--load` provides."""
    from boundcheck.methods.from_rule import kind_of_rule

    found = offered.find("methods", name)
    return None if found is None else kind_of_rule(name, found.value)


def _plugged(name: str) -> Kind:
    """The kind of a loaded file or of a plug-in. Raises BadInput where it cannot be loaded or is no kind."""
    return _offered(name, offered.changes()) or _installed(name)


@cache
def _installed(name: str) -> Kind:
    kind = plugins.load(plugins.METHODS, name)
    if not isinstance(kind, Kind):
        raise plugins.refuse(plugins.METHODS, name, f"is of type {type(kind).__name__}; it must be a Kind")
    return kind


def known_kinds() -> dict[str, Kind]:
    """Shipped kinds and those of plug-ins; a plug-in that cannot be loaded has no method, and says so by its name."""
    return _all_of(offered.changes())


@cache
def _all_of(changes: int) -> dict[str, Kind]:
    found = {name: kind for name, (kind, _) in _found().items()}
    for name in _further():
        with suppress(BadInput):
            found[name] = _plugged(name)
    return found


def _further() -> tuple[str, ...]:
    """Names of kinds that are not shipped."""
    installed = plugins.names(plugins.METHODS, _found())
    offered.refuse_taken("methods", (*_found(), *installed))
    return (*installed, *offered.names("methods"))


def kinds() -> tuple[str, ...]:
    """Names of all compositions: the shipped ones, and those of plug-ins and of loaded files."""
    return (*_found(), *_further())


def kind_of(name: str) -> Kind:
    """The kind of this name. Raises UnknownName, and BadInput for a name of before."""
    if name not in kinds():
        if name in _FORMER:
            raise BadInput(_FORMER[name])
        raise UnknownName("the method", name, kinds())
    return _found()[name][0] if name in _found() else _plugged(name)


def module_name(name: str) -> str:
    """The module that has the kind of this name, as a dotted name. Raises UnknownName."""
    kind_of(name)
    if name in _found():
        return _found()[name][1]
    own = offered.find("methods", name)
    return plugins.module_name(plugins.METHODS, name) if own is None else own.module


def build(spec: Mapping[str, Any]) -> Method:
    """The composition of a specification `{kind = ..., parameters}`.

    Raises UnknownName for a kind or parameter that does not exist, BadInput for a missing or forbidden one.
    """
    name = str(spec.get("kind", ""))
    if name == "fednova" and "eta_l" in spec:
        raise BadInput(_FORMER["fednova"])
    found = copy(kind_of(name).build(name, {k: v for k, v in spec.items() if k != "kind"}))
    object.__setattr__(found, "spec", dict(spec))
    return found


def algorithms(method: Method, clients: Clients | None = None, described: Method | None = None) -> tuple[str, ...]:
    """The kinds of which a composition is an instance.

    None with a `ClientOptimizer`: what is said of these kinds is said of plain local steps. clients: with them a kind
    is found whose definition depends on the clients' numbers of samples (FedShuffleGen with divisors given as numbers)
    or on their weights (gradient descent is also FedAvg with one step where all clients have one weight), and so are
    those of functions of a user's own that do the same as shipped parts, beside the kind that has these functions.
    described: the method in shipped parts, where that is known.
    """
    own = _named(method, clients)
    if clients is None or method.functions is None:
        return own
    return tuple(sorted({*own, *_named(described or in_shipped_parts(method, clients), clients)}))


def _named(method: Method, clients: Clients | None) -> tuple[str, ...]:
    same = _alike(method, clients)
    return tuple(name for name, kind in known_kinds().items() if any(kind.contains(m, clients) for m in same))


def in_shipped_parts(method: Method, clients: Clients) -> Method:
    """The method in shipped parts, if these do what functions of a user's own do (`recognition`); else the method.

    Of several ways to write it in such parts, one that is an instance of the most kinds.
    """
    found = recognition.in_shipped_parts(method, clients, [kind.form for kind in known_kinds().values()])
    return max(found, key=lambda m: len(_named(m, clients)), default=method)


def _alike(method: Method, clients: Clients | None) -> list[Method]:
    """The composition, and others that are the same method with these clients."""
    same = [method]
    if clients is not None and method.participation == Uniform(clients.count):
        same.append(replace(method, participation=Full()))
    if clients is not None and method.aggregation in (Average(), SumOne()) and clients.one_weight:
        same = [replace(m, aggregation=rule) for m in same for rule in (Average(), SumOne())]
    return same


def chosen_parameters(method: Method, clients: Clients) -> dict[str, tuple[str, ...]]:
    """Kind -> its parameters to which a composition gives another value than their default (`chosen.chosen`)."""
    found: dict[str, tuple[str, ...]] = {}
    same = _alike(in_shipped_parts(method, clients), clients)
    for name, kind in known_kinds().items():
        own = [chosen(kind, m, clients) for m in same if kind.contains(m, clients)]
        found |= {name: min(own, key=len)} if own else {}
    return found


def objections(method: Method, clients: Clients) -> dict[str, str]:
    """Kind -> why a composition of its form is no instance of it with these clients, as a clause."""
    found = {name: kind.objection(method, clients) for name, kind in known_kinds().items()}
    return {name: why for name, why in found.items() if why is not None}
