"""What a client does between receiving the model and returning it.

A local part lowers to a `Visit` for each client (or to a few with their probabilities, where the amount of work is
random), the small vocabulary that every engine carries out. A local step sees a gradient and a step size, nothing
else: `y <- y - eta * scale * g(y)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods.clients import Clients

Sampling = Literal["full", "reshuffled", "replacement", "exact"]
SAMPLINGS = ("reshuffled", "replacement")
DIVISORS = ("none", "size", "work", "largest")


@dataclass(frozen=True)
class Visit:
    """The steps of one client in one round.

    sampling: "full" (each step uses the client's whole gradient), "reshuffled" (each epoch visits every sample once, in
        a fresh uniformly random order; a last epoch may be cut short) or "replacement" (each sample of each step is
        drawn anew, uniformly). "exact" returns the exact minimiser of the client's objective with its proximal term.
    steps: how many local steps; 0 returns the model unchanged.
    scale: the local step size is the schedule's times this.
    batch: samples a step, with their mean gradient (the last step of an epoch takes what is left).
    prox: mu of a term mu/2 |y - x|^2 that is added to the client's objective, x the point at which the visit begins.
    weight: what the client's aggregation coefficient is multiplied by (see `Method.work`).
    """

    sampling: Sampling
    steps: int
    scale: Fraction = Fraction(1)
    batch: int = 1
    prox: Fraction = Fraction(0)
    weight: Fraction = Fraction(1)

    def __hash__(self) -> int:
        return hash((self.sampling, self.steps, self.batch))  # visits of one method differ in these, and it is quick


def batch_sizes(size: int, batch: int, steps: int) -> list[int]:
    """Samples of each step: `batch`, and what is left in the last step of an epoch over `size` samples."""
    each = -(-size // batch)
    return [min(batch, size - step % each * batch) for step in range(steps)]


class LocalWork(Protocol):
    """What every local part answers."""

    def visits(self, client: int, cohort: Sequence[int], clients: Clients) -> tuple[tuple[Fraction, Visit], ...]:
        """What client i of the cohort does: each possible visit with its probability.

        Draws of different clients and rounds are independent.
        """
        ...

    @property
    def by_cohort(self) -> bool:
        """Whether a client's visit depends on who else takes part."""
        ...

    @property
    def is_random(self) -> bool:
        """Whether a visit itself draws random numbers."""
        ...


class Fixed:
    """Local work that draws nothing and does not depend on who else takes part."""

    by_cohort = False
    is_random = False


@dataclass(frozen=True)
class GradientSteps(Fixed):
    """E steps with the client's full gradient (SCGD Algorithm 1, line 7; FedAvg of the same paper)."""

    E: int

    def __post_init__(self) -> None:
        if self.E < 1:
            raise BadInput(f"E = {self.E} local steps are impossible; at least 1 is allowed.")

    def visits(self, client: int, cohort: Sequence[int], clients: Clients) -> tuple[tuple[Fraction, Visit], ...]:
        return ((Fraction(1), Visit("full", self.E)),)


@dataclass(frozen=True)
class OwnSteps(Fixed):
    """As `GradientSteps`, with one number of steps for each client."""

    steps: tuple[int, ...]

    def __post_init__(self) -> None:
        if min(self.steps, default=0) < 1:
            raise BadInput(f"{list(self.steps)} local steps are impossible; each client takes at least 1.")

    def visits(self, client: int, cohort: Sequence[int], clients: Clients) -> tuple[tuple[Fraction, Visit], ...]:
        return ((Fraction(1), Visit("full", _of(self.steps, client, "numbers of local steps"))),)


@dataclass(frozen=True)
class StochasticSteps(Fixed):
    """This many steps, each with the mean gradient of `batch` samples that are drawn anew, uniformly with replacement.

    A client that holds fewer samples than that draws as many as it holds.
    """

    steps: int = 1
    batch: int = 1
    is_random = True

    def __post_init__(self) -> None:
        if self.steps < 1 or self.batch < 1:
            raise BadInput(f"{self.steps} steps with batches of {self.batch} are impossible; both are at least 1.")

    def visits(self, client: int, cohort: Sequence[int], clients: Clients) -> tuple[tuple[Fraction, Visit], ...]:
        size = clients.sizes[client]
        # engines count steps in epochs, whose last step takes what is left of the client's samples
        if size > self.batch and size % self.batch and self.steps > size // self.batch:
            raise BadInput(
                f"batch = {self.batch}: client {client} holds {size} samples and takes {self.steps} steps; the batch "
                "divides the number of samples, or is at least as large, or the steps together need no more of them."
            )
        return ((Fraction(1), Visit("replacement", self.steps, batch=self.batch)),)


@dataclass(frozen=True)
class EpochRange:
    """A number of epochs drawn uniformly from low, ..., high, anew for each client and round."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high:
            raise BadInput(f"epochs from {self.low} to {self.high} are impossible; 1 <= low <= high is needed.")


@dataclass(frozen=True)
class Epochs:
    """Local epochs over the client's samples, `batch` samples a step.

    E: epochs, common to all clients, one number a client, or drawn anew each time (`EpochRange`).
    sampling: "reshuffled" or "replacement" (an epoch is then as many steps with samples drawn with replacement).
    divide: c_i, by which the client's step size is divided: "none" (1), "size" (steps of an epoch, |D_i| for single
        samples: FedShuffle, Algorithm 1), "work" (steps of all its epochs: FedShuffle, Appendix E), "largest" (steps of
        the busiest client: FedAvg and FedNova in Appendix E), or one number a client.
    common: None, or "min" / "mean": every client of the cohort takes the least, or the rounded mean, of the cohort's
        numbers of steps (FedAvgMin, FedAvgMean), those that it drew where these are drawn (`law_of_common`).
    missed: None, or how many of its last steps each client leaves out (unfinished rounds, FedShuffle, F.1).
    """

    E: int | tuple[int, ...] | EpochRange = 1
    batch: int = 1
    sampling: Sampling = "reshuffled"
    divide: str | tuple[Fraction, ...] = "none"
    common: Literal["min", "mean"] | None = None
    missed: tuple[int, ...] | None = None
    is_random = True

    def __post_init__(self) -> None:
        least = self.E if isinstance(self.E, int) else 1 if isinstance(self.E, EpochRange) else min(self.E, default=0)
        if least < 1 or self.batch < 1:
            raise BadInput(f"E = {self.E} epochs with batch {self.batch} are impossible; both are at least 1.")
        if self.sampling not in SAMPLINGS:
            raise UnknownName("the sampling of local steps", self.sampling, SAMPLINGS)
        if isinstance(self.divide, str) and self.divide not in DIVISORS:
            raise UnknownName("the divisor of the local step size", self.divide, DIVISORS)
        if not isinstance(self.divide, str) and any(c <= 0 for c in self.divide):
            raise BadInput("every c_i that divides a local step size must be above 0.")
        if self.common not in (None, "min", "mean"):
            raise UnknownName("the common number of steps", str(self.common), ("min", "mean"))
        if self.common is not None and self.missed is not None:
            raise BadInput("a common number of local steps goes with no missed steps.")
        if self.together and self.divide == "work":
            raise BadInput(
                "a common number of local steps that is drawn goes with no step size divided by a client's own."
            )
        if self.missed is not None and any(k < 0 for k in self.missed):
            raise BadInput("the missed steps of each client must be at least 0.")

    def epochs(self, client: int) -> tuple[int, ...]:
        """The equally likely numbers of epochs of a client."""
        if isinstance(self.E, EpochRange):
            return tuple(range(self.E.low, self.E.high + 1))
        return (self.E if isinstance(self.E, int) else _of(self.E, client, "epochs"),)

    def steps_per_epoch(self, client: int, clients: Clients) -> int:
        """Local steps of one epoch."""
        return -(-clients.sizes[client] // self.batch)

    def planned(self, client: int, clients: Clients) -> int:
        """Local steps of all epochs, the most possible where they are random; E_i |D_i| for single samples."""
        return max(self.epochs(client)) * self.steps_per_epoch(client, clients)

    def divisor(self, client: int, planned: int, clients: Clients) -> Fraction:
        """c_i of a client that plans this many steps."""
        if not isinstance(self.divide, str):
            return _of(self.divide, client, "divisors c_i")
        if self.divide == "none":
            return Fraction(1)
        if self.divide == "size":
            return Fraction(self.steps_per_epoch(client, clients))
        if self.divide == "work":
            return Fraction(planned)
        if isinstance(self.E, tuple):
            return Fraction(max(self.planned(j, clients) for j in range(clients.count)))
        return Fraction(max(self.epochs(0)) * -(-clients.largest // self.batch))

    @property
    def together(self) -> bool:
        """Whether the clients of a cohort take one number of steps that rests on what all of them draw."""
        return self.common is not None and isinstance(self.E, EpochRange)

    def law_of_common(self, cohort: Sequence[int], clients: Clients) -> list[tuple[Fraction, int]]:
        """The numbers of steps that a cohort may have in common, increasing, each with its probability."""
        if len(set(cohort)) < len(cohort):
            raise BadInput("a client that is drawn twice has no common number of local steps with itself.")
        law: dict[int, Fraction] = {}
        for k, i in enumerate(cohort):
            own = [e * self.steps_per_epoch(i, clients) for e in self.epochs(i)]
            before = law if k else {None: Fraction(1)}
            law = {}
            for known, p in before.items():
                for steps in own:
                    value = steps if known is None else min(known, steps) if self.common == "min" else known + steps
                    law[value] = law.get(value, Fraction(0)) + p / len(own)
        found: dict[int, Fraction] = {}
        for value, p in law.items():
            steps = value if self.common == "min" else _rounded(value, len(cohort))
            found[steps] = found.get(steps, Fraction(0)) + p
        return [(found[steps], steps) for steps in sorted(found)]

    def visit_of(self, client: int, steps: int, clients: Clients) -> Visit:
        """The visit of a client whose cohort takes this number of steps together."""
        return Visit(self.sampling, steps, 1 / self.divisor(client, steps, clients), self.batch)

    def visits(self, client: int, cohort: Sequence[int], clients: Clients) -> tuple[tuple[Fraction, Visit], ...]:
        if self.together:
            law = self.law_of_common(cohort, clients)
            return tuple((p, self.visit_of(client, steps, clients)) for p, steps in law)
        each = self.steps_per_epoch(client, clients)
        choices = self.epochs(client)
        found: list[tuple[Fraction, Visit]] = []
        for epochs in choices:
            planned = epochs * each
            scale = 1 / self.divisor(client, planned, clients)
            steps = planned if self.common is None else self.common_of([self.planned(j, clients) for j in cohort])
            if self.missed is not None:
                missed = _of(self.missed, client, "numbers of missed steps")
                if missed > steps:
                    raise BadInput(f"client {client} plans {steps} local steps and cannot miss {missed} of them.")
                steps -= missed
            found.append((Fraction(1, len(choices)), Visit(self.sampling, steps, scale, self.batch)))
        return tuple(found)

    def common_of(self, counts: Sequence[int]) -> int:
        """The number of steps that a cohort whose clients plan these takes."""
        return min(counts) if self.common == "min" else _rounded(sum(counts), len(counts))

    @property
    def by_cohort(self) -> bool:
        return self.common is not None


def _rounded(total: int, count: int) -> int:
    """The mean, rounded; halves up."""
    return int(Fraction(total, count) + Fraction(1, 2))


def _of(values: Sequence, client: int, what: str):  # pyright: ignore
    if client >= len(values):
        raise BadInput(f"{len(values)} {what} were given, and there is a client {client}.")
    return values[client]
