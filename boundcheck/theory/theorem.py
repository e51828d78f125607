"""A theorem as its file holds it: what all its readings share, and each reading with its own formula."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput, UnknownName
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.statement import ITERATION, ROUND, Algorithm, Belief, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

# A bare id takes the theorem's `best`; without one, the first of these readings that is there.
PREFERENCE = ("corrected", "sharp", "as_printed")


@dataclass(frozen=True)
class Reading:
    """One reading of a theorem: its belief and reasons, and every part in which it differs from the theorem.

    bound to printed_rate: as in `Statement`; None where the theorem's own part holds. symbols: declarations of this
    reading that replace those of the theorem, or come on top. choices: symbol -> formula, or such pairs. replaces,
    why: what the reading changes of the print, and the reason; needed for every reading but those called as_printed.
    """

    bound: Any = None
    belief: Belief | None = None
    replaces: str = ""
    why: str = ""
    remark: str = ""
    source: Source | None = None
    title: str | None = None
    metric: Metric | None = None
    kind: Kind | None = None
    algorithm: Algorithm | None = None
    domain: tuple[Any, ...] | None = None
    conditions: tuple[Condition, ...] | None = None
    assumptions: tuple[Assumption, ...] | None = None
    choices: Mapping[str, Any] | tuple[tuple[str, Any], ...] | None = None
    trivial: Any = None
    printed_rate: Any = None
    symbols: Iterable[Symbol] = ()


@dataclass(frozen=True)
class Theorem:
    """A numbered claim of a paper with all its readings.

    symbols: declarations to choose from, usually the paper's notation; a later one of the same name replaces an earlier
    one. A statement has those that occur in its expressions, as its index or as parameters of its algorithm.
    readings: name -> reading. best: the reading that a bare id means (default: the first of `PREFERENCE`, or of all).
    The other parts are those of `Statement`.
    """

    source: Source
    title: str
    symbols: Iterable[Symbol]
    metric: Metric
    readings: Mapping[str, Reading]
    bound: Any = None
    kind: Kind = Kind.UPPER_BOUND
    belief: Belief = Belief.OPEN
    algorithm: Algorithm | None = None
    any_method: bool = False
    domain: tuple[Any, ...] = ()
    conditions: tuple[Condition, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    choices: Mapping[str, Any] | tuple[tuple[str, Any], ...] = ()
    trivial: Any = None
    printed_rate: Any = None
    best: str = ""

    def __post_init__(self) -> None:
        if not self.readings:
            raise BadInput(f"{self.source.paper} {self.source.number}: a theorem needs at least one reading.")
        if self.best and self.best not in self.readings:
            raise UnknownName(f"{self.source.paper} {self.source.number}: best reading", self.best, self.readings)

    def statements(self) -> tuple[Statement, ...]:
        """A statement for each reading, the best first. Raises BadInput and UnknownName for what is not declared."""
        best = self.best or next((r for r in PREFERENCE if r in self.readings), next(iter(self.readings)))
        ordered = sorted(self.readings.items(), key=lambda item: item[0] != best)
        return tuple(self._statement(name, reading) for name, reading in ordered)

    def _statement(self, name: str, reading: Reading) -> Statement:
        parts = {f: getattr(self, f) for f in _SHARED}
        parts |= {f: getattr(reading, f) for f in _SHARED if getattr(reading, f) is not None}
        parts["choices"] = tuple(dict(parts["choices"]).items())
        label = f"{self.source.paper} {self.source.number} ({name})"
        if parts["bound"] is None:
            raise BadInput(f"{label}: neither the theorem nor the reading has a bound.")
        table = {s.name: s for s in (*self.symbols, *reading.symbols)}
        used = _names(parts)
        for missing in sorted(used - set(table)):
            raise UnknownName(f"{label}: symbol", missing, table)
        return Statement(
            reading=name,
            symbols=tuple(symbol for own, symbol in table.items() if own in used),
            replaces=reading.replaces,
            why=reading.why,
            remark=reading.remark,
            any_method=self.any_method,
            **parts,
        )


_OWN = {"symbols", "replaces", "why", "remark"}
_SHARED = tuple(f.name for f in fields(Reading) if f.name not in _OWN)


def _names(parts: Mapping[str, Any]) -> set[str]:
    """The names of all symbols that a statement of these parts has."""
    metric, algorithm = parts["metric"], parts["algorithm"]
    expressions = [parts["bound"], metric.scale, metric.rounds, metric.weights, parts["trivial"], parts["printed_rate"]]
    expressions += [metric.value, *(expr for _, expr in metric.where)]
    expressions += [*parts["domain"], *(c.relation for c in parts["conditions"])]
    expressions += [expr for _, expr in parts["choices"]]
    found = {name for name, _ in (*parts["choices"], *metric.where)} | ({metric.index} if metric.index else set())
    steps = () if algorithm is None else algorithm.steps
    if algorithm is not None:
        found |= set(algorithm.parameters)
    free = (sp.sympify(expr, strict=True).free_symbols for expr in expressions if expr is not None)
    found |= {symbol.name for own in free for symbol in own if symbol != ROUND}
    counters = (ROUND, ITERATION)
    return found | {symbol.name for _, expr in steps for symbol in expr.free_symbols if symbol not in counters}
