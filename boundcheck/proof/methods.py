"""The methods of steps as data: what an author says of how a claim follows, which the finder writes out as lines.

Nothing is decided here, and nothing of it is trusted. The general rules are in `proof.rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

HYPOTHESIS = "hypothesis"  # the name of the supposition of an implication, for the method inside `Supposing`


class Method:
    """A way in which a claim follows from what a step uses."""

    label: ClassVar[str]  # what reports call it
    general: ClassVar[str] = ""

    @property
    def generalised(self) -> Any:
        """The index for all of whose values the method uses its source, or None."""
        return getattr(self, self.general) if self.general else None


class Citation(Method):
    """The conclusion of another statement, see `proof.citations`; statement: full id of a reading."""

    statement: str

    def roles(self) -> tuple[tuple[Any, str], ...]:
        """(term, quantity) for the single terms that the citation takes for a quantity."""
        return ()

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """What the cited statement says of the terms here."""
        raise NotImplementedError


def cited_in(by: Any) -> Citation | None:
    """The citation that a method is, or that is inside it."""
    while by is not None and not isinstance(by, Citation):
        by = getattr(by, "by", None)
    return by


@dataclass(frozen=True)
class Decide(Method):
    """An inequality between polynomials, rational functions, powers, roots and Min."""

    label = "scalar inequality"


@dataclass(frozen=True)
class Identity(Method):
    """An equation of expressions, or of vectors, after the facts that are equations have been put in."""

    label = "identity"


@dataclass(frozen=True)
class Combine(Method):
    """The claim is a nonnegative combination of the facts and of a form that is at least 0.

    multipliers: fact name -> factor, where the author of the step gives them (facts not named get 0).
    coefficients: numbers f(i) that multiply vectors or other terms; each is any real number here.
    """

    label = "combination of facts"
    multipliers: Mapping[str, Any] = field(default_factory=dict[str, Any])
    coefficients: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Imported(Method):
    """A cited result that is not checked here; source names author, title and number."""

    label = "cited result"
    source: str


@dataclass(frozen=True)
class Supposing(Method):
    """A claim `Implies(p, q)`: `by` shows q from the facts and p, which it finds under the name "hypothesis"."""

    by: Any

    @property
    def label(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What reports call it."""
        return f"{self.by.label}, supposing the hypothesis"


# expectations, see `proof.laws`


@dataclass(frozen=True)
class Expected(Method):
    """The claim follows once expectations are put in for the inner products of draws, by the laws in this order.

    laws: names of laws of the derivation, those that draw last first (the tower rule); by: what then shows the claim:
    `Identity`, `Combine` or `Decide`.
    """

    laws: tuple[str, ...]
    by: Any = field(default_factory=Identity)

    @property
    def label(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What reports call it."""
        return f"expectations, then {self.by.label}"


@dataclass(frozen=True)
class EverySample(Method):
    """An equation of vectors that holds for every outcome, since an epoch draws every item once; law: its order."""

    label = "every item once"
    law: str


@dataclass(frozen=True)
class Averaged(Method):
    """An equation of families holds of their means; law: name of the averages; source: name of the equation."""

    label = "means of an equation"
    law: str
    source: str
