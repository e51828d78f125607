"""Limits by comparison: a bound with an explicit rate for every index, and the limit of its closed form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.rules.base import Obligation, Rule
from boundcheck.theory.statement import Kind


@dataclass(frozen=True)
class PositivePower(Rule):
    """base**exponent > 0 for base > 0 and any real exponent."""

    base: Any
    exponent: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "power of a positive number"

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality."""
        return sp.Gt(self.base**self.exponent, 0, evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The base is positive."""
        yield sp.Gt(self.base, 0), {}


@dataclass(frozen=True)
class BernoulliPower(Rule):
    """(base + 1)**(-p) >= (1 - p/base) * base**(-p) for base > 0 and a real p >= 0.

    The power -p of a positive number is convex; this is its tangent at the base.
    """

    base: Any
    power: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "Bernoulli's inequality"

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality."""
        below = (1 - self.power / self.base) * self.base**-self.power
        return sp.Ge((self.base + 1) ** -self.power, below, evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The base is positive and the exponent -p is not."""
        yield sp.Gt(self.base, 0), {}
        yield sp.Ge(self.power, 0), {}


@dataclass(frozen=True)
class LimitSuperior(Rule):
    """From value(m) <= bound + factor * (m + shift)**(-rate) for every integer m >= 0: limit <= bound.

    limit: a symbol for the limit superior of value(m) as m grows; that it is this is named in the trusted base. source:
    name of the fact or step that holds for every m >= 0. bound, factor, shift and rate must not depend on m, and the
    shift and the rate must be positive, so that the last term tends to 0.
    """

    source: str
    limit: Any
    value: Any
    bound: Any
    factor: Any
    shift: Any
    rate: Any
    index: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "limit superior by comparison"

    def generalised(self) -> Any:
        """The index that grows."""
        return self.index

    def covered(self, value: Any) -> tuple[Any, tuple[Any, ...]]:
        """Every number that is at least 0."""
        return self.index, (sp.Ge(value, 0),)

    def named(self) -> tuple[str, ...]:
        """What the limit is."""
        return (f"{self.limit} is the limit superior of {self.value} as {self.index} grows",)

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The bound on the limit; raises BadInput where the source is not of the form that tends to it."""
        wanted = self.bound + self.factor * (self.index + self.shift) ** -self.rate
        source = facts.get(self.source)
        if not isinstance(source, sp.Le) or source.lhs != self.value or source.rhs != wanted:
            raise BadInput(f"the limit needs '{self.source}' to be {self.value} <= {wanted}.")
        if any(e.has(self.index) for e in map(sp.sympify, (self.bound, self.factor, self.shift, self.rate))):
            raise BadInput(f"the bound, the factor, the shift and the rate must not depend on {self.index}.")
        if any(e.has(AppliedUndef, sp.Sum) for e in (self.factor, self.shift, self.rate)):
            raise BadInput("the factor, the shift and the rate must be numbers.")
        if not self.limit.is_Symbol or any(f.free_symbols & {self.limit} for f in facts.values() if f.free_symbols):
            raise BadInput(f"{self.limit} must be a symbol that none of the facts mentions.")
        return sp.Le(self.limit, self.bound, evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The last term of the source tends to 0."""
        yield sp.Gt(self.shift, 0), {}
        yield sp.Gt(self.rate, 0), {}


def other_limit(statement: Any, steps: Iterable[Any], target: Any, clock: Any) -> str:
    """Why the target is not the limit superior that the statement bounds; empty where a step shows that it is."""
    if statement.kind is not Kind.LIMSUP:
        return "no step could show it"
    found = [s.by for s in steps if isinstance(s.by, LimitSuperior) and s.by.limit == target]
    if len(found) != 1:
        return f"{len(found)} steps take {target} as a limit superior"
    (by,), metric = found, statement.metric
    at = {statement.symbol(metric.index).expr: by.index + by.shift}
    term = sp.cancel(by.value / metric.scale.xreplace(at))
    single = term.is_Symbol or isinstance(term, AppliedUndef)
    apart = clock.apart(term, (), metric.rounds.xreplace(at), later=False) if single else "it is another"
    return apart and f"{by.value} is not {metric.scale} times the metric: {apart}"
