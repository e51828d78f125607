"""The published claim as data: frozen, checked when it is made; `theory.statement` adds its methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

import sympy as sp

from boundcheck.errors import BadInput, UnknownName
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.declarations import (
    ALGORITHMS,
    OF_A_ROUND,
    Algorithm,
    Average,
    Belief,
    Kind,
    Metric,
    Source,
    check_algorithm,
    check_metric,
    counters,
)
from boundcheck.theory.keys import check_key, name_of, near_keys
from boundcheck.theory.relations import Condition
from boundcheck.theory.symbols import Symbol, declared

T = TypeVar("T")


@dataclass(frozen=True)
class StatementData:
    """The fields of a `theory.statement.Statement`, whose docstring says what they mean, and their checks."""

    source: Source
    reading: str
    title: str
    symbols: tuple[Symbol, ...]
    metric: Metric
    bound: Any
    kind: Kind = Kind.UPPER_BOUND
    algorithm: Algorithm | None = None
    any_method: bool = False
    domain: tuple[Any, ...] = ()
    conditions: tuple[Condition, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    trivial: Any = None
    belief: Belief = Belief.OPEN
    replaces: str = ""
    why: str = ""
    remark: str = ""
    printed_rate: Any = None
    choices: tuple[tuple[str, Any], ...] = ()
    name: str = ""
    id: str = field(default="")

    def __post_init__(self) -> None:
        label = self.id or f"{self.source.paper} {self.source.number} ({self.reading})"
        names = [s.name for s in self.symbols]
        if len(set(names)) != len(names):
            raise BadInput(f"{label}: a symbol is declared twice.")
        for s in self.symbols:
            if s.key:
                check_key(s.key, f"{label}: symbol {s.name} has")
        chosen: tuple[tuple[str, Any, Any], ...] = (("kind", self.kind, Kind), ("belief", self.belief, Belief))
        for what, word, words in chosen:
            if type(word) is not words:
                raise UnknownName(f"{label}: its {what}", str(word), [str(w) for w in words])
        check_metric(self.metric, label)
        if self.algorithm is not None:
            check_algorithm(self.algorithm, label)
        if self.metric.average is Average.LEAST and any(s.key.startswith(OF_A_ROUND) for s in self.symbols):
            raise BadInput(
                f"{label}: a least value so far goes with no quantity of a round; take the last or the mean."
            )
        if self.any_method and self.algorithm is not None:
            raise BadInput(f"{label}: it names the algorithm {self.algorithm.kind}, so any_method must be False.")
        used: set[str] = {self.metric.index} if self.metric.index else set()
        for name in (*used, *self.parameters):
            if name not in names:
                raise UnknownName(f"{label}: the metric's index or a parameter of the algorithm, symbol", name, names)
        for name in self.parameters:
            if not self.symbol(name).key.startswith("method/"):
                raise BadInput(
                    f"{label}: {name} is a parameter of the algorithm, so that its symbol needs a key such as "
                    f"'method/{name}'."
                )
        for name, _ in self.choices:
            if name not in names:
                raise UnknownName(f"{label}: a choice, symbol", name, names)
            used.add(name)
        for name, _ in self.metric.where:
            if name not in names:
                raise UnknownName(f"{label}: the data of the metric, symbol", name, names)
            used.add(name)
        self._check_value(label)
        for where, expr in self._expressions():
            if isinstance(expr, bool) or expr is sp.true or expr is sp.false:
                raise BadInput(f"{label}: {where} is already decided ({expr}); it must depend on the symbols.")
            if not hasattr(expr, "free_symbols"):
                raise BadInput(f"{label}: {where} is {expr!r}, no SymPy expression; write sympy.Rational or a formula.")
            for number in sorted(expr.atoms(sp.Float), key=float):
                near = Fraction(str(number)).limit_denominator(1000)
                raise BadInput(
                    f"{label}: {where} holds the rounded number {float(number):.12g}; a formula is exact, so write "
                    f"it as a fraction, such as sympy.Rational({near.numerator}, {near.denominator})."
                )
            for symbol in expr.free_symbols:
                if symbol.assumptions0 != sp.Symbol(symbol.name, real=True).assumptions0:
                    raise BadInput(f"{label}: {symbol} in {where} carries assumptions beyond being real.")
                if symbol in counters(where):
                    continue
                if symbol.name not in names:
                    raise UnknownName(f"{label}: in {where}, symbol", symbol.name, names)
                used.add(symbol.name)
        idle = [n for n in names if n not in used]
        if idle:
            raise BadInput(f"{label}: declared but unused: {', '.join(idle)}.")
        if not self.reading.startswith("as_printed") and not (self.replaces and self.why):
            raise BadInput(f"{label}: a reading other than as printed must say what it replaces and why.")

    def _check_value(self, label: str) -> None:
        metric = self.metric
        if (metric.where or metric.meets) and metric.value is None:
            raise BadInput(f"{label}: the metric has data under where, but no value that is computed from them.")
        for name in metric.meets:
            if name not in [a.name for a in self.assumptions]:
                raise UnknownName(f"{label}: the data meet the assumption", name, [a.name for a in self.assumptions])
        if metric.value is None:
            if self.kind is Kind.LOWER_BOUND:
                raise BadInput(f"{label}: a lower bound needs a metric with a value; runs are not compared with one.")
            return
        if self.kind not in (Kind.UPPER_BOUND, Kind.LOWER_BOUND, Kind.EQUALITY) or self.algorithm is not None:
            raise BadInput(f"{label}: a claim about a value names no algorithm and is a bound or an equality.")
        if metric.index is not None or metric.rounds != 0 or metric.scale != 1:
            raise BadInput(f"{label}: a metric with a value has no index, rounds or scale.")

    def _expressions(self) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = [("the bound", self.bound), ("the metric's scale", self.metric.scale)]
        found.append(("the metric's rounds", self.metric.rounds))
        if self.metric.weights is not None:
            found.append(("the metric's weights", self.metric.weights))
        if self.metric.value is not None:
            found.append(("the metric's value", self.metric.value))
        found += [(f"the data behind {name}", expr) for name, expr in self.metric.where]
        if self.algorithm is not None:
            found += [(f"{ALGORITHMS}{name}", expr) for name, expr in self.algorithm.steps]
        found += [(f"the choice of {name}", expr) for name, expr in self.choices]
        found += [(f"condition '{c.name}'", c.relation) for c in self.conditions]
        found += [("the domain", r) for r in self.domain]
        if self.trivial is not None:
            found.append(("the trivial value", self.trivial))
        if self.printed_rate is not None:
            found.append(("the printed rate", self.printed_rate))
        return found

    @property
    def best_id(self) -> str:
        """The id, or a readable label before discovery has set it."""
        return self.id or f"{self.name or self.source.number}/{self.reading}"

    @property
    def excess(self) -> Any:
        """The bound less its trivial value, whose sign says whether it is vacuous; None where none is declared."""
        return None if self.trivial is None else self.bound - self.trivial

    @property
    def parameters(self) -> tuple[str, ...]:
        """Symbols that belong to the method (step size, local steps)."""
        return () if self.algorithm is None else self.algorithm.parameters

    def known(self, constants: Mapping[str, T]) -> dict[str, T]:
        """The constants that symbols of the statement name by their keys: symbol -> value, as far as there is one.

        constants: by key, or by the names under which problems and methods report them (`theory.keys.name_of`). Only
        the values of the statement's symbols are read: others may be costly to compute.
        """
        named = {s.name: s.key if s.key in constants else name_of(s.key) for s in self.symbols if s.key}
        return {name: constants[own] for name, own in named.items() if own in constants}

    def keyless(self, names: Iterable[str]) -> str:
        """Which of these symbols have no key, with the keys that they may mean, as the end of a sentence; or ''."""
        own = [name for name in names if not self.symbol(name).key]
        lacking = ", ".join(f"{name} has no key{near_keys(name)}" for name in own)
        return f" ({lacking})" if lacking else ""

    def symbol(self, name: str) -> Symbol:
        """The declaration of one symbol; UnknownName with the nearest ones otherwise."""
        return declared(self.symbols, name, self.best_id)
