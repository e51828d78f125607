"""Rules on functions of a real variable: mean value theorem, limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.identity import same
from boundcheck.proof.polynomial import direction, factorised, rational_parts
from boundcheck.proof.rules.base import Obligation, Rule


@dataclass(frozen=True)
class Limit(Rule):
    """From a(e) <= b(e) for every 0 < e < 1, both polynomial in e: a(0) <= b(0).

    source: the fact or step that holds for every such e.
    """

    source: str
    variable: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "limit of an inequality"

    @property
    def theorem(self) -> str:
        """A polynomial is continuous."""
        return "limits keep inequalities that are not strict"

    @property
    def over_integers(self) -> bool:
        """A real variable."""
        return False

    def generalised(self) -> Any:
        """The variable."""
        return self.variable

    def covered(self, value: Any) -> tuple[Any, tuple[Any, ...]]:
        """The open interval."""
        return self.variable, (sp.Gt(value, 0), sp.Lt(value, 1))

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality at 0; raises BadInput where the source is not polynomial in the variable."""
        source = facts.get(self.source)
        if not isinstance(source, sp.Le | sp.Ge):
            raise BadInput(f"the limit needs the inequality '{self.source}'.")
        gap = direction(source)[0]
        if any(f.has(self.variable) for f in gap.atoms(sp.Function, sp.Sum, sp.Derivative)) or not gap.is_polynomial(
            self.variable
        ):
            raise BadInput(f"'{self.source}' is not a polynomial in {self.variable}.")
        return sp.Ge(gap.subs(self.variable, 0), 0, evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """None besides the form of the source."""
        yield from ()


@dataclass(frozen=True)
class MeanValue(Rule):
    """From q'(t) >= slope for every start <= t <= 1: q(1) - q(start) >= slope * (1 - start), for start < 1.

    path: q, a rational expression in `variable` and in functions without a definition (which are taken to be
    continuously differentiable and are named in the trusted base) at polynomials in it; source: the fact or step that
    bounds its derivative for every such t.
    """

    path: Any
    variable: Any
    slope: Any
    start: Any
    source: str

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "mean value theorem"

    @property
    def over_integers(self) -> bool:
        """A real variable."""
        return False

    def generalised(self) -> Any:
        """The variable."""
        return self.variable

    def trusted(self) -> tuple[tuple[str, str], ...]:
        """That the functions of the variable in the path are smooth."""
        functions = sorted({type(f).__name__ for f in self.path.atoms(AppliedUndef) if f.has(self.variable)})
        return tuple((f"{name} is continuously differentiable", "mean value theorem") for name in functions)

    def covered(self, value: Any) -> tuple[Any, tuple[Any, ...]]:
        """The interval."""
        return self.variable, (sp.Ge(value, self.start), sp.Le(value, 1))

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The increase is at least slope times length; raises BadInput where the source bounds something else."""
        source = facts.get(self.source)
        if not isinstance(source, sp.Le | sp.Ge):
            raise BadInput(f"the mean value theorem needs the inequality '{self.source}'.")
        if self.slope.has(self.variable) or not same(
            direction(source)[0], sp.diff(self.path, self.variable) - self.slope
        ):
            raise BadInput(f"'{self.source}' does not bound the derivative of {self.path} by {self.slope}.")
        if not _smooth(self.path, self.variable):
            raise BadInput(f"the path {self.path} is not rational in {self.variable} and in functions of it.")
        rise = self.path.subs(self.variable, 1) - self.path.subs(self.variable, self.start)
        return sp.Ge(rise, self.slope * (1 - self.start), evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The interval is not empty, and the path has no pole on it."""
        yield sp.Lt(self.start, 1), {}
        inside = {"from the start": sp.Ge(self.variable, self.start), "to the end": sp.Le(self.variable, 1)}
        for factor, _ in factorised(rational_parts(self.path)[1])[1]:
            yield sp.Ne(factor, 0), inside


def _smooth(path: Any, variable: Any) -> bool:
    """Whether the path is rational in the variable and in undefined functions of polynomials in it."""
    if not path.has(variable) or path == variable:
        return True
    arguments: tuple[Any, ...] = path.args
    if isinstance(path, AppliedUndef):
        return path.is_real is True and all(arg.is_polynomial(variable) for arg in arguments)
    if path.is_Pow:
        return path.exp.is_Integer and _smooth(path.base, variable)
    return (path.is_Add or path.is_Mul) and all(_smooth(arg, variable) for arg in arguments)
