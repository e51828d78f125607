"""The conformance suite: all checks of what an installed package provides."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from boundcheck.core import plugins
from boundcheck.errors import BadInput, BoundcheckError, UnknownName
from boundcheck.judge.conformance.methods import check_kind, check_part
from boundcheck.judge.conformance.problems import check_problem
from boundcheck.judge.conformance.result import Check, Subject
from boundcheck.methods.build import kind_of
from boundcheck.methods.own_parts import made, named, role_of
from boundcheck.problems.build import check_names

EXAMPLES = "EXAMPLES"  # of a plug-in's module: name -> the parameters of its examples
_WHAT = {plugins.PROBLEMS: "problem", plugins.METHODS: "method", plugins.PARTS: "part"}


def conformance(package: str) -> list[Check]:
    """The checks of everything that an installed package provides.

    package: the name of a distribution, or of its top-level module. A module of plug-ins may have EXAMPLES, a mapping
    from their names to lists of parameters; a plug-in without examples is built without parameters.
    Raises UnknownName for a package that provides nothing, BadInput for plug-ins whose names are taken.
    """
    provided = plugins.of_package(package)
    if not provided:
        known = plugins.packages()
        if known:
            raise UnknownName("the package of plug-ins", package, known)
        groups = ", ".join(plugins.GROUPS)
        raise BadInput(f"the package '{package}' provides no plug-ins; they are entry points of the groups {groups}.")
    return [check for group, names in provided.items() for name in names for check in _checks(group, name)]


def _checks(group: str, name: str) -> Iterable[Check]:
    what = _WHAT[group]
    load = Subject(f"{what} '{name}'")
    sentence = "the plug-in is what its group asks for"
    try:
        _loaded(group, name)
        examples = _examples(group, name)
    except BoundcheckError as error:
        yield load.failed("loads", sentence, str(error))
        return
    yield load.passed("loads", sentence)
    for number, parameters in enumerate(examples, 1):
        subject = Subject(f"{what} '{name}'" + (f" (example {number})" if len(examples) > 1 else ""))
        try:
            yield from _of_example(subject, group, name, parameters)
        except Exception as error:  # a plug-in's own code may raise anything
            detail = f"it raises {type(error).__name__}: {error}"
            yield subject.failed("runs through", "no check meets an error of the plug-in", detail)


def _loaded(group: str, name: str) -> None:
    if group == plugins.PROBLEMS:
        check_names({"kind": name, **(next(iter(_examples(group, name)), {}))})
    elif group == plugins.METHODS:
        kind_of(name)
    else:
        role_of(plugins.load(group, name))


def _examples(group: str, name: str) -> Sequence[Mapping[str, Any]]:
    table = getattr(importlib.import_module(plugins.module_name(group, name)), EXAMPLES, {})
    found = table.get(name) if isinstance(table, Mapping) else None
    if found is None:
        return [{}]
    if not isinstance(found, Sequence) or not found or not all(isinstance(own, Mapping) for own in found):
        raise plugins.refuse(group, name, f"has {EXAMPLES}['{name}'], which is no list of tables of parameters")
    return found


def _of_example(subject: Subject, group: str, name: str, parameters: Mapping[str, Any]) -> Iterable[Check]:
    if group == plugins.PROBLEMS:
        yield from check_problem(subject, {"kind": name, **parameters})
    elif group == plugins.METHODS:
        yield from check_kind(subject, name, kind_of(name), parameters)
    else:
        role = role_of(plugins.load(group, name))
        part_class = named(role, name)
        assert part_class is not None
        yield from check_part(subject, role, made(part_class, parameters, f"the part '{name}'"))
