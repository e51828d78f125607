"""When the server aggregates, and whose work it then has.

Y. Fraboni et al., Algorithm 1 and Section 4: a round lasts Delta t^n, and the clients that finish within it are its
cohort; they receive the new model at the round's end and start again, while the others keep working. Every
policy says how long its rounds are (dt) and after how many arrivals the server aggregates (arrivals), None where its
rule is another, and what the server does (words).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from boundcheck.core.numbers import format_short
from boundcheck.errors import BadInput, UnknownName

# What happens when several clients finish at the same time: each is a round of its own (in the order of the clients'
# numbers, always the same one), or they are one cohort, as Algorithm 1 literally says.
Ties = Literal["one_by_one", "joint"]
TIES: tuple[Ties, ...] = ("one_by_one", "joint")


def _check_ties(ties: str) -> None:
    if ties not in TIES:
        raise UnknownName("the treatment of ties", ties, TIES)


@dataclass(frozen=True)
class WaitForAll:
    """Synchronous: a round lasts until the slowest client has finished."""

    dt: ClassVar[None] = None
    arrivals: ClassVar[None] = None
    words: ClassVar[str] = "waits for all clients"


@dataclass(frozen=True)
class FirstToArrive:
    """Asynchronous: the server aggregates whenever a client finishes."""

    ties: Ties = "one_by_one"
    dt: ClassVar[None] = None
    arrivals: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check_ties(self.ties)

    @property
    def words(self) -> str:
        return f"aggregates whenever a client finishes, ties {self.ties.replace('_', ' ')}"


@dataclass(frozen=True)
class Window:
    """FedFix: a round lasts dt, whoever has finished; a round in which nobody does is empty."""

    dt: Fraction
    arrivals: ClassVar[None] = None

    def __post_init__(self) -> None:
        if self.dt <= 0:
            raise BadInput(f"the window dt = {format_short(self.dt)} is not allowed; it is above 0.")

    @property
    def words(self) -> str:
        return f"aggregates after every {format_short(self.dt)} of time"


@dataclass(frozen=True)
class Buffer:
    """FedBuff: the server aggregates as soon as it has the work of m different clients.

    A client that has delivered waits for the aggregation. "joint" ties: those that finish together with the m-th take
    part too.
    """

    m: int
    ties: Ties = "one_by_one"
    dt: ClassVar[None] = None

    @property
    def arrivals(self) -> int:
        """How many."""
        return self.m

    def __post_init__(self) -> None:
        if self.m < 1:
            raise BadInput(f"a buffer of {self.m} updates is impossible; at least 1 is allowed.")
        _check_ties(self.ties)

    def check(self, clients: int) -> None:
        """Raises BadInput where there are fewer clients than the buffer holds."""
        if self.m > clients:
            raise BadInput(f"a buffer of {self.m} updates of different clients never fills with {clients} clients.")

    @property
    def words(self) -> str:
        return f"aggregates when {self.m} clients have finished, ties {self.ties.replace('_', ' ')}"


Policy = WaitForAll | FirstToArrive | Window | Buffer
