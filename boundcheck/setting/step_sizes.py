"""The step sizes that a run takes, round by round, as its method's schedule gives them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.core.numbers import format_short
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods import answers
from boundcheck.setting.local_work import takes_steps

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
        if self.by_iteration:
            assert self.local_steps is not None, "made by run_steps"
            own: Any = self.schedule
            return own.steps(finished, self.local_steps)
        return self.schedule.step(finished // self.rounds_per_cycle + 1)

    def at(self, finished: int, local: int = 0) -> Fraction:
        """The step size of a local step (from 0) of the round that follows after `finished` rounds; 0: the first."""
        found = self.of_round(finished)
        return found[local] if isinstance(found, tuple) else found

    @property
    def formula(self) -> Expression | None:
        """The expression that users wrote, in r and t."""
        return answers.expression(self.schedule)

    @property
    def by_iteration(self) -> bool:
        """Whether the step size changes from local step to local step."""
        return answers.by_iteration(self.schedule)

    @property
    def degrees(self) -> int | None:
        """Degrees of numerator and denominator of the step size in the cycle, together, from above; None: unknown.

        As a rational function after `regular_from` finished rounds.
        """
        if self.formula is not None:
            found = None if self.by_iteration else self.formula.degrees("r")
            return None if found is None else sum(found)
        known = self.is_constant or answers.breaks(self.schedule) or answers.rule(self.schedule)
        return 2 if known else None

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
        return max(answers.breaks(self.schedule), default=0)

    def changes_within(self, rounds: int) -> bool:
        """Whether two of the first `rounds` rounds have different step sizes."""
        breaks = answers.breaks(self.schedule)
        if self.formula is None and not breaks:
            return not self.is_constant and rounds > self.rounds_per_cycle
        last = min(rounds, breaks[0] + 1) if breaks else rounds
        tried = itertools.chain(range(last), (t for t in breaks if t < rounds))
        each = range((self.local_steps or 1) if self.by_iteration else 1)
        return any(self.at(t, k) != self.at(0) for t in tried for k in each)

    def words(self) -> str:
        """The sequence, as the rest of a sentence about the run."""
        first, rule = format_short(self.at(0)), answers.rule(self.schedule)
        if self.is_constant:
            return f"the step size {first} in every round"
        if self.formula is not None:
            what = "the local step t of the run" if self.by_iteration else "its round r"
            return f"the step size {rule or self.formula.text} in {what}, counted from 0"
        if rule is not None:
            each = "round" if self.rounds_per_cycle == 1 else f"cycle of {self.rounds_per_cycle} rounds"
            return f"the step size {rule} in its K-th {each}"
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
    if not takes_steps(method, clients):
        return None
    found = run_steps(method, clients)
    if found.local_steps is not None or clients.count > MOST_CLIENTS:
        return found
    try:
        return replace(found, local_steps=method.local_steps(clients))
    except (BadInput, Unsupported):  # there is no one number
        return found
