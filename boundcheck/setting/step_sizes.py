"""The step sizes that a run takes, round by round, as its method's schedule gives them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.core.numbers import format_short
from boundcheck.methods.parts import Decaying, InverseCycle, NoStep

if TYPE_CHECKING:
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.methods.parts import Schedule


@dataclass(frozen=True)
class StepSizes:
    """The local step size of each round of a run; the server's step size is the same in all rounds.

    schedule: the method's; rounds_per_cycle: rounds that share one step size of it.
    """

    schedule: Schedule
    rounds_per_cycle: int

    def at(self, finished: int) -> Fraction:
        """The step size of the round that follows after `finished` rounds; 0 finished rounds: the first."""
        return self.schedule.step(finished // self.rounds_per_cycle + 1)

    @property
    def is_constant(self) -> bool:
        """Whether all rounds have the same step size."""
        return self.schedule.is_constant()

    @property
    def is_exact(self) -> bool:
        """Whether the step sizes are those of the schedule's formula, not rounded down."""
        return self.schedule.is_exact()

    @property
    def regular_from(self) -> int:
        """Finished rounds after which one rational function of the cycle gives all step sizes."""
        own = self.schedule
        return max(own.warm_up, *own.at, 0) if isinstance(own, Decaying) else 0

    def changes_within(self, rounds: int) -> bool:
        """Whether two of the first `rounds` rounds have different step sizes."""
        own = self.schedule
        if isinstance(own, Decaying):
            tried = [*range(min(own.warm_up, rounds - 1) + 1), *(t for t in own.at if t < rounds)]
            return any(self.at(t) != self.at(0) for t in tried)
        return not self.is_constant and rounds > self.rounds_per_cycle

    def words(self) -> str:
        """The sequence, as the rest of a sentence about the run."""
        own = self.schedule
        first = format_short(self.at(0))
        if self.is_constant:
            return f"the step size {first} in every round"
        if isinstance(own, InverseCycle):
            each = "round" if self.rounds_per_cycle == 1 else f"cycle of {self.rounds_per_cycle} rounds"
            return f"the step size ({format_short(own.eta0)})/K in its K-th {each}"
        last = format_short(self.at(self.regular_from))
        return f"a step size that changes from {first} in the first round to {last} after {self.regular_from} rounds"


def step_sizes(method: Method, clients: Clients) -> StepSizes | None:
    """The step sizes of a method; None for a method without any, whose local work solves its subproblems exactly."""
    if isinstance(method.schedule, NoStep):
        return None
    return StepSizes(method.schedule, method.rounds_per_cycle(clients))
