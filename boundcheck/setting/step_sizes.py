"""The step sizes that a run takes, round by round, as its method's schedule gives them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.core.numbers import format_short
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.parts import Decaying, Formula, InverseCycle, NoStep

if TYPE_CHECKING:
    from boundcheck.core.expressions import Expression
    from boundcheck.methods.clients import Clients
    from boundcheck.methods.method import Method
    from boundcheck.methods.parts import Schedule, StepSize


MOST_CLIENTS = 1000  # whose local steps are counted for a step size that does not need it


@dataclass(frozen=True)
class StepSizes:
    """The local step size of each round of a run; the server's step size is the same in all rounds.

    schedule: the method's; rounds_per_cycle: rounds that share one step size of it. local_steps: K, the number of
    local steps of every client in every round, where there is one and it is known.
    """

    schedule: Schedule
    rounds_per_cycle: int
    local_steps: int | None = None

    def of_round(self, finished: int) -> StepSize:
        """The step size of the round that follows after `finished` rounds, or of each local step if they differ."""
        if isinstance(self.schedule, Formula) and self.schedule.by_iteration:
            assert self.local_steps is not None, "made by run_steps"
            return self.schedule.steps(finished, self.local_steps)
        return self.schedule.step(finished // self.rounds_per_cycle + 1)

    def at(self, finished: int, local: int = 0) -> Fraction:
        """The step size of a local step (from 0) of the round that follows after `finished` rounds; 0: the first."""
        found = self.of_round(finished)
        return found[local] if isinstance(found, tuple) else found

    @property
    def formula(self) -> Expression | None:
        """The expression that users wrote, in r and t."""
        return self.schedule.expression if isinstance(self.schedule, Formula) else None

    @property
    def by_iteration(self) -> bool:
        """Whether the step size changes from local step to local step."""
        return isinstance(self.schedule, Formula) and self.schedule.by_iteration

    @property
    def degrees(self) -> int | None:
        """Degrees of numerator and denominator of the step size in the cycle, together, from above; None: unknown.

        As a rational function after `regular_from` finished rounds.
        """
        if not isinstance(self.schedule, Formula):
            return 2
        found = None if self.by_iteration else self.schedule.expression.degrees("r")
        return None if found is None else sum(found)

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
        if isinstance(own, Formula):
            each = self.local_steps or 1
            steps = (self.at(t, k) for t in range(rounds) for k in range(each if own.by_iteration else 1))
            return any(v != self.at(0) for v in steps)
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
        if isinstance(own, Formula):
            what = "the local step t of the run" if own.by_iteration else "its round r"
            return f"the step size {own.text} in {what}, counted from 0"
        last = format_short(self.at(self.regular_from))
        return f"a step size that changes from {first} in the first round to {last} after {self.regular_from} rounds"


def run_steps(method: Method, clients: Clients) -> StepSizes:
    """The step sizes of a method; 1 in every round for one whose local work solves its subproblems exactly.

    Raises BadInput for a step size by local steps where clients take different numbers of them.
    """
    steps = method.local_steps(clients) if method.by_iteration else None
    return StepSizes(method.schedule, method.rounds_per_cycle(clients), steps)


def step_sizes(method: Method, clients: Clients) -> StepSizes | None:
    """The step sizes of a method; None for a method without any, whose local work solves its subproblems exactly."""
    if isinstance(method.schedule, NoStep):
        return None
    found = run_steps(method, clients)
    if found.local_steps is not None or clients.count > MOST_CLIENTS:
        return found
    try:
        return replace(found, local_steps=method.local_steps(clients))
    except (BadInput, Unsupported):  # there is no one number
        return found
