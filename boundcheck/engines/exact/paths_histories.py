"""What was random so far on a run, and what the server and the clients keep then; equal histories become one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact.paths_visits import MAX_HISTORIES, Data, Point


@dataclass(frozen=True)
class History:
    """holder: the number of the way in which clients hold the models, where these are handed over."""

    p: Fraction
    server: Mapping[str, Point]
    clients: Mapping[tuple[str, int], Point]
    holder: int = 0


class Histories:
    """Histories, those with the same vectors as one."""

    def __init__(self, data: Data) -> None:
        self._data, self._ball = data, data.arithmetic is Arithmetic.BALL
        self._first: History | None = None  # until there is another
        self._known: dict[Any, History] = {}

    def found(self) -> list[History]:
        """All of them."""
        return list(self._known.values()) if self._first is None else [self._first]

    def add(self, *new: History) -> None:
        """Add a history."""
        if not self._known and self._first is None:
            (self._first,) = new
            return
        if self._first is not None:
            new, self._first = (self._first, *new), None
        for own in new:
            points = (*own.server.values(), *own.clients.values())
            key = (own.holder, *(tuple(map(_cell, x)) if self._ball else tuple(x.tolist()) for x in points))
            old = self._known.get(key)
            if old is None and len(self._known) >= MAX_HISTORIES:
                raise self._data.too_many(f"more than {MAX_HISTORIES} different histories")
            self._known[key] = own if old is None else self._merged(old, own)

    def _merged(self, old: History, new: History) -> History:
        server, clients = new.server, new.clients
        if self._ball:
            server = {k: self._union(v, old.server[k]) for k, v in server.items()}
            clients = {k: self._union(v, old.clients[k]) for k, v in clients.items()}
        return History(old.p + new.p, server, clients, new.holder)

    def _union(self, a: Point, b: Point) -> Point:
        return self._data.array([p.union(q) for p, q in zip(a, b, strict=True)])


def _cell(value: arb) -> Any:
    """Which of the cells of half the working precision the middle of a ball lies in."""
    return (value.mid() * arb(2) ** (ctx.prec // 2)).floor().mid().unique_fmpz()
