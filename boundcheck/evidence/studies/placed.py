"""Mistakes in the table of a study that know at which of its keys they are."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from boundcheck.core.toml_lines import KeyPath
from boundcheck.errors import BadInput, BoundcheckError, UnknownName


class Placed(BadInput):
    """A mistake at a key path inside the table, in the words of the error that it stands for."""

    def __init__(self, keys: KeyPath, error: BoundcheckError) -> None:
        self.keys, self.error = keys, error
        super().__init__(str(error))

    def __reduce__(self) -> tuple[object, ...]:
        return (Placed, (self.keys, self.error))


@contextmanager
def at(*keys: str | int, names: Mapping[str, Any] | None = None) -> Generator[None]:
    """Says where an error is that is raised inside; one that already knows stays as it is.

    names: the table at these keys, of whose keys the error may name one.
    """
    try:
        yield
    except Placed:
        raise
    except BoundcheckError as error:
        own = named_in(error, names or {})
        raise Placed(keys if own is None else (*keys, own), error) from error


def named_in(error: BoundcheckError, table: Mapping[str, Any]) -> str | None:
    """The key of a table that an error is about: an unknown one or one of an unknown value, or one that it quotes."""
    if isinstance(error, UnknownName):
        if error.name in table:
            return error.name
        for key, value in table.items():
            if isinstance(value, str) and value == error.name:
                return key
    for key in filter(None, table):
        if re.match(rf"{re.escape(key)}\b", str(error)) or re.search(rf"(?<![\w.]){re.escape(key)} = ", str(error)):
            return key
    return None
