"""Participation from what users write in a specification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods._steps import count
from boundcheck.methods.parts import (
    Full,
    Importance,
    Independent,
    OneByWeight,
    Participation,
    Pattern,
    Subsets,
    Uniform,
    WithReplacement,
)

__all__ = ["participation_from"]

# kind -> the keys that it needs
_KEYS: Mapping[str, tuple[str, ...]] = {
    "full": (),
    "uniform": ("size",),
    "independent": ("probabilities",),
    "importance": ("b",),
    "one_by_weight": (),
    "subsets": ("subsets", "probabilities"),
    "with_replacement": ("size",),
    "pattern": ("cohorts",),
}
# and those that it may have
_MORE: Mapping[str, tuple[str, ...]] = {"pattern": ("lead",)}


def participation_from(given: Any) -> Participation:
    """`"full"`, `"one_by_weight"`, or a table such as {kind = "uniform", size = 2}, {kind = "importance", b = 1},
    {kind = "independent", probabilities = [...]}, {kind = "subsets", subsets = [[0, 1], ...], probabilities = [...]},
    {kind = "with_replacement", size = 2}, {kind = "pattern", cohorts = [[0], [1, 2]], lead = [[0, 1, 2]]}.

    Raises UnknownName and BadInput.
    """
    table: Mapping[str, Any] = given if isinstance(given, Mapping) else {"kind": given}
    kind = str(table.get("kind", ""))
    if kind not in _KEYS:
        raise UnknownName("the participation", kind, _KEYS)
    known = _KEYS[kind] + _MORE.get(kind, ())
    for key in table:
        if key != "kind" and key not in known:
            raise UnknownName(f"the participation '{kind}': parameter", str(key), known or ["none"])
    for key in _KEYS[kind]:
        if key not in table:
            raise BadInput(f"the participation '{kind}' needs '{key}'.")
    if kind == "full":
        return Full()
    if kind == "uniform":
        return Uniform(count(table["size"], "size"))
    if kind == "with_replacement":
        return WithReplacement(count(table["size"], "size"))
    if kind == "pattern":
        return Pattern(_sets(table["cohorts"], "cohorts"), _sets(table.get("lead", ()), "lead"))
    if kind == "importance":
        return Importance(as_fraction(table["b"], "b"))
    if kind == "one_by_weight":
        return OneByWeight()
    probabilities = _numbers(table["probabilities"], "probabilities")
    if kind == "independent":
        return Independent(probabilities)
    return Subsets(_sets(table["subsets"], "subsets"), probabilities)


def _sets(values: Any, name: str) -> tuple[tuple[int, ...], ...]:
    if not _is_list(values) or not all(_is_list(s) for s in values):
        raise BadInput(f"{name} must be a list of lists of client numbers, such as [[0, 1], [2]].")
    return tuple(tuple(_client(i) for i in s) for s in values)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _numbers(values: Any, name: str) -> tuple[Fraction, ...]:
    if not _is_list(values):
        raise BadInput(f"{name} must be a list of numbers.")
    return tuple(as_fraction(v, name) for v in values)


def _client(value: Any) -> int:
    number = as_fraction(value, "a client number")
    if number.denominator != 1 or number < 0:
        raise BadInput(f"{value} is no client number; they are 0, 1, 2, ...")
    return int(number)
