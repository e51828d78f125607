"""What a generator of instances is: random instances in double precision, and the same instances as exact claims."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from boundcheck.engines.curve import Floats
from boundcheck.evidence.claim import Claim
from boundcheck.falsify.float_statement import EDGE
from boundcheck.theory.statement import Statement

# Named arrays of an instance. In the search they are floats with a leading axis for the instances of a batch; in an
# `Instance` they are arrays of Fractions without that axis. They are free: any values make an instance.
Numbers = Mapping[str, Any]
Genes = Mapping[str, Floats]


BATCH = 512  # instances of a shape that are looked at together
SETTLED = "settled"  # the step size of an instance that is the one of its shape


@dataclass(frozen=True)
class Instance:
    """One instance in exact numbers.

    shape: everything discrete (number of clients, local steps, cohorts, ...), as the generator defines it. step: text
    of the step size as a claim takes it, or `SETTLED`; None if the method has none. index: of the statement.
    """

    shape: Any
    numbers: Numbers
    step: str | None
    index: int


class Generator(ABC):
    """Random instances for a statement. The constructor raises Unsupported, with the reason, if no instance fits.

    statement: of which instances are searched. searched: what is varied, in words, by name; it grows with the search.
    """

    statement: Statement
    varies: ClassVar[bool] = True  # whether shapes have variants, and are kept by niches

    @property
    def searched(self) -> dict[str, str]:
        """What is varied, in words."""
        return {}

    @abstractmethod
    def draw(self, random: np.random.Generator) -> Any:
        """The shape of the next batch. Raises Unsupported if no shape is in the statement's scope."""

    def varied(self, shape: Any, random: np.random.Generator) -> Any:
        """A shape like another one in all but one part; None where none is found."""
        return None

    def niche(self, shape: Any) -> Any:
        """What tells shapes apart of which each kind shall be kept: a local search leaves none of them by itself."""
        return None

    @abstractmethod
    def genes(self, shape: Any) -> Mapping[str, tuple[int, ...]]:
        """Sizes of the arrays of standard normal numbers from which `decode` makes one instance."""

    def batch(self, shape: Any) -> int:
        """How many instances of a shape are looked at together."""
        return BATCH

    @abstractmethod
    def decode(self, shape: Any, genes: Genes) -> Numbers:
        """The instances of a batch; `share` (B,) is the step size as a share of the largest one in scope."""

    def settled(self, shape: Any, numbers: Numbers) -> Numbers:
        """The instances of a batch as `claim` takes them."""
        return numbers

    @abstractmethod
    def scores(self, shape: Any, numbers: Numbers) -> list[tuple[int, Floats]]:
        """(index, score of each instance (B,)) at some values of the index, in rising order."""

    @abstractmethod
    def claim(self, instance: Instance) -> Claim:
        """The claim that an exact instance makes about the statement."""

    def simpler(self, shape: Any, numbers: Numbers) -> Iterator[tuple[Any, Numbers]]:
        """Instances of a simpler shape, the simplest first; the shrinker itself simplifies the numbers."""
        yield from ()


def shares(gene: Floats) -> Floats:
    """Shares of the largest step size in scope; half of all instances take the largest itself."""
    return np.minimum(EDGE, np.exp(np.minimum(0.0, gene)))
