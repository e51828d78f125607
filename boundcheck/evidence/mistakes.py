"""All mistakes in the specification of a method or a problem, not only the first one that its construction meets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from boundcheck.errors import BadInput, BoundcheckError, DataNotFetched, UnknownName
from boundcheck.evidence.studies.placed import named_in

Build = Callable[[Mapping[str, Any]], object]
INSTEAD: tuple[Any, ...] = (1, [1], [[0]])  # values that are tried in the place of a method's wrong one
_MOST = 20  # mistakes of one specification that are looked for


def mistakes_in(spec: Mapping[str, Any], build: Build, instead: Sequence[Any] = INSTEAD) -> list[BoundcheckError]:
    """The errors that `build` raises for a specification, one for each wrong parameter; [] where it raises none.

    A parameter that an error is about is left out or gets one of the values `instead`, and the rest is tried again. An
    error that no single parameter explains ends the search; it is listed where it is the first.
    """
    found: list[BoundcheckError] = []
    current, tried = dict(spec), {"kind"}
    error = _error_of(build, current)
    while error is not None and len(found) < _MOST:
        replaced = None if isinstance(error, DataNotFetched) else _without(error, current, tried, build, instead)
        if replaced is None:
            return found or [error]
        found.append(error)
        name, current, error = replaced
        tried.add(name)
    return found


def _error_of(build: Build, spec: Mapping[str, Any]) -> BoundcheckError | None:
    try:
        build(spec)
    except BoundcheckError as error:
        return error
    return None


def _without(
    error: BoundcheckError, spec: Mapping[str, Any], tried: set[str], build: Build, instead: Sequence[Any]
) -> tuple[str, dict[str, Any], BoundcheckError | None] | None:
    """The parameter that an error is about, the specification without this mistake, and the error that it then has."""
    open_ = {name: value for name, value in spec.items() if name not in tried}
    if isinstance(error, UnknownName) and error.name in open_ and error.name not in error.known:
        rest = {name: value for name, value in spec.items() if name != error.name}
        left = _error_of(build, rest)
        if left is None or str(left) != str(error):
            return error.name, rest, left
    named = named_in(error, open_)
    best: tuple[str, dict[str, Any], BoundcheckError | None] | None = None
    for name in [named] if named is not None else [*open_, *_missing(error, spec)]:
        for changed in _changes(spec, name, instead):
            left = _error_of(build, changed)
            if left is None:
                return name, changed, None
            others = {k: v for k, v in open_.items() if k != name}
            if str(left) != str(error) and named_in(left, {name: None}) is None and _missing(left, changed) != [name]:
                # the next error counts where it is about another parameter, not about the value put in here
                about = isinstance(left, UnknownName) or named_in(left, others) is not None or _missing(left, changed)
                if about:
                    return name, changed, left
                best = best or (name, changed, left)
    return best


def _missing(error: BoundcheckError, spec: Mapping[str, Any]) -> list[str]:
    """The required parameter that is not there, where the error says so."""
    text = str(error)
    if not isinstance(error, BadInput) or " needs the parameter '" not in text:
        return []
    name = text.rsplit("'", 2)[1]
    return [] if name in spec else [name]


def _changes(spec: Mapping[str, Any], name: str, instead: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """The specification with a parameter left out, and with other values for it."""
    if name in spec:
        yield {k: v for k, v in spec.items() if k != name}
    for value in instead:
        yield {**spec, name: value}
