"""Parts with a mistake in them: what a mutant of a method has in the place of a part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from boundcheck.methods import parts
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts.local import Sampling
from boundcheck.methods.round import Rule

ONE = Fraction(1)


def edited(rule: Rule, **functions: Any) -> Rule:
    """A rule with some functions or tables of its own; a function takes the rule first, as a method of its class."""
    own: Any = object.__new__(type(f"Edited{type(rule).__name__}", (type(rule),), functions))
    own.__dict__.update(rule.__dict__)
    return own


@dataclass(frozen=True)
class AlteredWork:
    """Local work with other steps.

    scale: of the step size, one factor for all clients or one each. more: steps that are added (negative: left out),
    one number for all clients or one each. only: this many steps instead. sampling: another way to draw samples.
    prox: a factor of the proximal weight.
    """

    work: parts.LocalWork
    scale: Fraction | tuple[Fraction, ...] = ONE
    more: int | tuple[int, ...] = 0
    only: int | None = None
    sampling: Sampling | None = None
    prox: Fraction = ONE

    def visits(self, client: int, cohort: Sequence[int], clients: Clients) -> tuple[tuple[Fraction, parts.Visit], ...]:
        scale = self.scale[client] if isinstance(self.scale, tuple) else self.scale
        more = self.more[client] if isinstance(self.more, tuple) else self.more
        found: list[tuple[Fraction, parts.Visit]] = []
        for p, v in self.work.visits(client, cohort, clients):
            steps = max(0, (v.steps if self.only is None else self.only) + more)
            sampling = v.sampling if self.sampling is None else self.sampling
            found.append(
                (p, replace(v, scale=v.scale * scale, steps=steps, sampling=sampling, prox=v.prox * self.prox))
            )
        return tuple(found)

    def parameters(self) -> dict[str, Fraction]:
        """None: the numbers are not those of the method."""
        return {}

    @property
    def by_cohort(self) -> bool:
        return self.work.by_cohort

    @property
    def is_random(self) -> bool:
        return self.work.is_random or self.sampling is not None


@dataclass(frozen=True)
class _Seen(parts.AggregationContext):
    """What a rule is given: other weights of the clients, with the probabilities of the real ones."""

    real: parts.AggregationContext

    @cached_property
    def inclusion(self) -> Callable[[int], Fraction]:
        return self.real.inclusion


@dataclass(frozen=True)
class AlteredWeights:
    """Aggregation coefficients with a mistake.

    weights: w_i that the rule sees instead of the clients' own. local: local work that it sees. times: a factor, one
    for all clients or one each. kept: "all", or "mean" (each client of a cohort gets their mean), "last" or "first"
    (one client gets the sum). size: times |S|/n ("fewer") or n/|S| ("more"). unit: divided by their sum over S.
    likely: times p_i, so that nothing makes up for clients that take part rarely.
    """

    rule: parts.Aggregation
    weights: tuple[Fraction, ...] | None = None
    local: parts.LocalWork | None = None
    times: Fraction | tuple[Fraction, ...] = ONE
    kept: Literal["all", "mean", "last", "first"] = "all"
    size: Literal["", "fewer", "more"] = ""
    unit: bool = False
    likely: bool = False

    def _context(self, setting: parts.AggregationContext) -> parts.AggregationContext:
        clients, local = setting.clients, self.local or setting.local
        if self.weights is not None:
            clients = Clients(self.weights, clients.sizes)
        return _Seen(clients, setting.participation, local, setting)

    def _factor(self, i: int, setting: parts.AggregationContext) -> Fraction:
        own = self.times[i] if isinstance(self.times, tuple) else self.times
        return own * setting.inclusion(i) if self.likely else own

    def coefficients(self, cohort: Sequence[int], setting: parts.AggregationContext) -> list[Fraction]:
        if not cohort:
            return []
        found = self.rule.coefficients(cohort, self._context(setting))
        found = [a * self._factor(i, setting) for i, a in zip(cohort, found, strict=True)]
        total, count, n = sum(found, Fraction(0)), len(found), setting.clients.count
        if self.unit and total:
            found, total = [a / total for a in found], ONE
        if self.kept == "mean":
            found = [total / count] * count
        elif self.kept != "all":
            chosen = count - 1 if self.kept == "last" else 0
            found = [total if k == chosen else Fraction(0) for k in range(count)]
        share = {"": ONE, "fewer": Fraction(count, n), "more": Fraction(n, count)}[self.size]
        return [a * share for a in found]

    def by_client(self, setting: parts.AggregationContext) -> Callable[[int], Fraction] | None:
        if self.kept != "all" or self.unit or self.size:
            return None
        own = self.rule.by_client(self._context(setting))
        return None if own is None else lambda i: own(i) * self._factor(i, setting)


@dataclass(frozen=True)
class AlteredSteps:
    """Step sizes of a wrong cycle: those of `shift` cycles later, or of the first cycle for ever."""

    schedule: parts.Schedule
    shift: int = 0
    first: bool = False

    def step(self, cycle: int) -> Fraction:
        return self.schedule.step(1 if self.first else max(1, cycle + self.shift))

    def is_constant(self) -> bool:
        return self.first or self.schedule.is_constant()

    def is_exact(self) -> bool:
        return self.schedule.is_exact()

    def parameters(self) -> dict[str, Fraction]:
        """None: no single number is the step size."""
        return {}

    @property
    def rounds_per_cycle(self) -> int | None:
        """As that of the step sizes that should be."""
        return getattr(self.schedule, "rounds_per_cycle", None)


@dataclass(frozen=True)
class DrawnAgain:
    """`size` clients a round, each drawn anew and uniformly: a client can be drawn several times."""

    size: int

    def period(self, clients: Clients) -> int:
        return 1

    def fixed(self, round_index: int, clients: Clients) -> tuple[int, ...] | None:
        return None

    def drawing(self, clients: Clients) -> parts.Drawing:
        n = clients.count
        return parts.Drawing("replacement", n, self.size, probabilities=(Fraction(1, n),) * n)
