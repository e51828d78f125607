"""Kinds of problem, kinds of method and parts of methods that installed packages provide, by entry point.

    [project.entry-points."boundcheck.problems"]
    my_kind = "my_package.my_kind"            # a module with `build(**parameters)`
    [project.entry-points."boundcheck.methods"]
    my_method = "my_package.methods:MY_KIND"  # a `boundcheck.methods.kind.Kind`
    [project.entry-points."boundcheck.parts"]
    my_part = "my_package.parts:MyPart"       # the class of a part

The name of the entry point is the name in specifications. A plug-in is imported when its name is used. What is wrong
with it is said then, as a fault of that plug-in; names that another plug-in or boundcheck itself has are refused.
"""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from boundcheck.errors import BadInput, shown

PROBLEMS = "boundcheck.problems"
METHODS = "boundcheck.methods"
PARTS = "boundcheck.parts"
GROUPS = (PROBLEMS, METHODS, PARTS)


@cache
def _points(group: str) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        known = found.setdefault(point.name, point)
        if known.value != point.value:
            raise BadInput(
                f"two plug-ins provide '{point.name}' in the group {group}: {known.value} and {point.value}; "
                "one of them needs another name, or must be uninstalled."
            )
    return found


def names(group: str, shipped: Iterable[str]) -> tuple[str, ...]:
    """The names that plug-ins provide in a group; shipped: those of boundcheck itself.

    Raises BadInput for a plug-in with a name of `shipped`, or with one of another plug-in.
    """
    points = _points(group)
    for name in sorted(points.keys() & set(shipped)):
        raise BadInput(
            f"the plug-in {points[name].value} provides '{name}' in the group {group}, which is a name of boundcheck's "
            "own; choose another name."
        )
    return tuple(sorted(points))


def of_package(package: str) -> dict[str, tuple[str, ...]]:
    """Group -> the names that an installed distribution, or a top-level module, provides; empty groups left out."""
    found: dict[str, tuple[str, ...]] = {}
    wanted = _plain(package)
    for group in GROUPS:
        own = [p.name for p in _points(group).values() if wanted in (_distribution(p), _plain(p.module.split(".")[0]))]
        if own:
            found[group] = tuple(sorted(own))
    return found


def packages() -> tuple[str, ...]:
    """The distributions that provide anything."""
    return tuple(sorted({_distribution(p) for group in GROUPS for p in _points(group).values()} - {""}))


def _distribution(point: EntryPoint) -> str:
    own = point.dist
    return "" if own is None else _plain(own.name)


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")


def module_name(group: str, name: str) -> str:
    """The module of a plug-in, which is not imported."""
    return _points(group)[name].module


def load(group: str, name: str) -> Any:
    """What the entry point of a plug-in names. Raises BadInput that names the plug-in where it cannot be imported."""
    point = _points(group)[name]
    try:
        found: Any = importlib.import_module(point.module)
        for part in point.attr.split(".") if point.attr else ():
            found = getattr(found, part)
    # A plug-in's code may raise anything while it is imported; that is reported as its fault, not as ours.
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        line = f", line {frames[-1].lineno} of {frames[-1].filename}" if frames else ""
        why = shown(str(error).rstrip("."), 160)
        raise BadInput(
            f"the plug-in '{name}' of the group {group} ({point.value}) cannot be loaded: "
            f"{type(error).__name__}: {why}{line}."
        ) from error
    return found


def refuse(group: str, name: str, why: str) -> BadInput:
    """The error for a plug-in that is not what its group asks for; why: a clause after its name."""
    return BadInput(f"the plug-in '{name}' of the group {group} ({_points(group)[name].value}) {why}.")
