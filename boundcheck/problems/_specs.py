"""Small checks of what users write in a problem's specification."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.errors import BadInput, UnknownName, shown


def whole(value: Any, name: str, low: int, high: int) -> int:
    """An integer in [low, high], or BadInput."""
    number = as_fraction(value, name)
    if number.denominator != 1 or not low <= number <= high:
        raise BadInput(f"{name} = {format_short(number)} is not allowed; it must be an integer from {low} to {high}.")
    return int(number)


def is_list(values: Any) -> bool:
    """Whether a value is a list of some kind, and neither text nor a table."""
    return isinstance(values, Iterable) and not isinstance(values, str | Mapping)


def vector(values: Any, name: str) -> tuple[Fraction, ...]:
    """A list of exact numbers, or BadInput."""
    if not is_list(values):
        raise BadInput(f"{name} = {shown(repr(values))} is not allowed; it must be a list of numbers.")
    return tuple(as_fraction(v, name) for v in values)


def rows(values: Any, name: str) -> tuple[tuple[Fraction, ...], ...]:
    """A matrix as a list of rows, or a number for that of one entry."""
    return tuple(vector(row, name) for row in (values if is_list(values) else [[values]]))


def tables(clients: Any, example: str, needed: Sequence[str], more: Sequence[str]) -> list[list[Mapping[str, Any]]]:
    """The tables of each client's samples: a client is one table, or {components = [such tables]}.

    example: of a table. needed, more: the keys that it must and may have. Raises BadInput and UnknownName.
    """
    if not is_list(clients) or not len(clients):
        raise BadInput(f"clients must be a list with one table a client, such as [{example}].")
    found: list[list[Mapping[str, Any]]] = []
    for i, client in enumerate(clients):
        inner: Any = [client]
        if isinstance(client, Mapping) and "components" in client:
            inner = client["components"]
            if len(client) > 1 or not is_list(inner) or not len(inner):
                raise BadInput(
                    f"client {i} must be one table {example} or {{components = [a list of such tables]}}; "
                    f"got {shown(repr(client))}."
                )
        for table in inner:
            if not isinstance(table, Mapping) or not set(needed) <= set(table):
                raise BadInput(f"client {i} must be a table with {' and '.join(needed)}, such as {example}.")
            for key in table:
                if key not in (*needed, *more):
                    raise UnknownName(f"client {i}: key", str(key), (*needed, *more))
        found.append(list(inner))
    return found


def shares(weights: Any, count: int) -> tuple[Fraction, ...]:
    """The weights of this many clients: 1/n each, or those given, which are positive and sum to 1 (else BadInput)."""
    found = (Fraction(1, count),) * count if weights is None else vector(weights, "weights")
    if len(found) != count:
        raise BadInput(f"{len(found)} weights were given for {count} clients.")
    if any(w <= 0 for w in found) or sum(found, Fraction(0)) != 1:
        raise BadInput(f"the client weights {[str(w) for w in found]} must be positive and sum to exactly 1.")
    return found
