"""A method on given clients as flat numbers: who takes part, what a visit does, and how what is sent is weighed.

What a round does with vectors is said by the method's rule (`methods.round`) and is not here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from boundcheck.core import streams
from boundcheck.core.numbers import as_double
from boundcheck.engines.curve import Floats
from boundcheck.engines.simulate.cohorts import Cohorts, counted
from boundcheck.engines.simulate.refusals import check_parts
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods import parts
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts.aggregation import client_weights
from boundcheck.methods.parts.proximal import plain_work
from boundcheck.methods.round import PLAIN, Rule
from boundcheck.setting.step_sizes import run_steps

MAX_ROUNDS = (1 << 32) - 1  # the round is a 32-bit field of the generator's counter
NEVER = 1 << 62
REMEMBERED = 1 << 16  # members of cohorts whose work and weights are remembered


@dataclass(frozen=True)
class Member:
    """What a client does as a member of a cohort, by the visits that it may draw.

    steps: how many local steps; scale: what the schedule's step size is multiplied by; prox: mu of the proximal term;
    gain: what the method's own weight is multiplied by; one entry a visit.
    """

    client: int
    steps: tuple[int, ...]
    scale: tuple[float, ...]
    prox: tuple[float, ...]
    gain: tuple[float, ...] = (1.0,)


class Weighing:
    """The weights with which one rule sums over a cohort what is sent.

    Where the weight rests on the client alone, or on that and a factor that the cohort shares, cohorts are not gone
    through one by one.
    """

    def __init__(self, rule: Any, lowered: Lowered, *, collecting: bool) -> None:
        self.rule = lowered.method.aggregation if rule is None else rule
        self._lowered, self._context = lowered, lowered.method.context(lowered.known)
        if collecting and lowered.gradients is not None:
            self._context = replace(self._context, participation=lowered.rule.collecting)
        self._alone: Callable[[int], Fraction] | None = lambda _: Fraction(1)
        self.summed: Callable[[int], Fraction] | None = None  # its sum over the cohort divides all weights
        self.per_share = False
        if self.rule != PLAIN:
            self._alone = self.rule.by_client(self._context)
        if self._alone is None and isinstance(self.rule, parts.SumOne):
            self._alone = client_weights(self.rule.weights, self._context)
            self.summed, self.per_share = lowered.known.weights.__getitem__, self.rule.per_share
        elif self._alone is None and isinstance(self.rule, parts.Average):
            self._alone = self.summed = lambda _: Fraction(1)
        self._known: dict[Any, float] = {}
        self._sets: dict[tuple[int, ...], dict[int, float]] = {}

    @property
    def separable(self) -> bool:
        """Whether `alone` says it all, but for the shared factor."""
        return self._alone is not None

    def alone(self, client: int) -> float:
        """The weight of a client, up to the factor that its cohort shares."""
        assert self._alone is not None
        if client not in self._known:
            self._known[client] = self._lowered.double(self._alone(client), "a weight")
        return self._known[client]

    def of(self, cohort: Sequence[int]) -> dict[int, float]:
        """The weight of each client of a cohort, summed over the times that it was drawn."""
        key = tuple(cohort)
        if key not in self._sets:
            if len(self._sets) >= REMEMBERED // (1 + len(key)):
                self._sets.clear()
            self._sets[key] = self._found(key) if key else {}
        return self._sets[key]

    def _found(self, cohort: tuple[int, ...]) -> dict[int, float]:
        if self._alone is None:
            total = dict.fromkeys(cohort, Fraction(0))
            for i, a in zip(cohort, self.rule.coefficients(cohort, self._context), strict=True):
                total[i] += a
            return {i: self._lowered.double(a, "a weight") for i, a in total.items()}
        found = {i: self.alone(i) * times for i, times in counted(cohort).items()}
        if self.summed is None:
            return found
        total = float(sum((self.summed(i) for i in cohort), Fraction(0)))
        factor = (self._lowered.clients / len(cohort) if self.per_share else 1.0) / total
        return {i: w * factor for i, w in found.items()}


@dataclass(frozen=True)
class Lowered:
    """What the readers of a round know of a method besides its rule.

    known: the clients. cohorts: who takes part; gradients: who collects, where these are cohorts of their own.
    sampling, batch: of every visit. visits: how many visits a client may draw; cuts: where a word is cut to choose
    among them. by_cohort: whether a client's work depends on who else takes part.
    sizes_of_steps: float64 step sizes by cycle (one entry when constant) and local step (one where all of a round are
    the same), each the float nearest to the exact number. rounds_per_cycle: rounds that share a row of them.
    handed: whether models are handed from client to client; the cohort then is who holds them, model by model.
    """

    method: Method
    rule: Rule
    known: Clients
    cohorts: Cohorts
    gradients: Cohorts | None
    sampling: str
    batch: int
    visits: int
    cuts: streams.Words
    by_cohort: bool
    sizes_of_steps: Floats
    rounds_per_cycle: int
    handed: bool

    @property
    def clients(self) -> int:
        """Number of clients n."""
        return self.known.count

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """The names of what clients keep."""
        return tuple(self.rule.kept_by_clients)

    @cached_property
    def server(self) -> tuple[str, ...]:
        """The names of what the server keeps, the point "x" first."""
        return ("x", *(name for name in self.rule.kept_by_server if name != "x"))

    @cached_property
    def models(self) -> int:
        """How many clients keep vectors in a state."""
        return self.rule.models(self.known) if self.kept else 0

    @property
    def parts(self) -> int:
        """How many vectors a state holds: those of the server, then those of each client."""
        return len(self.server) + self.models * len(self.kept)

    def slot(self, client: int, position: int) -> int:
        """Which of the `models` a client has; position: that among the members of its cohort."""
        return position if self.handed else client

    @property
    def whole(self) -> bool:
        """Whether local work asks for whole gradients of clients, not for samples."""
        return self.sampling in ("full", "exact")

    @property
    def law(self) -> parts.Drawing | None:
        """The law of the cohorts, where they are drawn."""
        return self.cohorts.law

    @property
    def largest(self) -> int:
        """The size of the largest cohort."""
        return self.cohorts.largest

    @property
    def sums(self) -> tuple[Cohorts, ...]:
        """The cohorts over which a round sums."""
        return (self.cohorts,) if self.gradients is None else (self.cohorts, self.gradients)

    def step_sizes(self, round_index: int) -> Floats:
        """Step sizes of the local steps of a round (from 0), one where all are the same."""
        return self.sizes_of_steps[round_index // self.rounds_per_cycle]

    @cached_property
    def _weighings(self) -> dict[Any, Weighing]:
        return {}

    def weighing(self, rule: Any, *, collecting: bool = False) -> Weighing:
        """The weights of a rule: None for the method's own, `PLAIN`, or an aggregation; of what is collected or not."""
        if (rule, collecting) not in self._weighings:
            self._weighings[rule, collecting] = Weighing(rule, self, collecting=collecting)
        return self._weighings[rule, collecting]

    @property
    def together(self) -> parts.Epochs | None:
        """The local work where the clients of a cohort draw their number of steps together."""
        local = self.method.local
        return local if isinstance(local, parts.Epochs) and local.together else None

    @cached_property
    def _members(self) -> dict[Any, Member]:
        return {}

    def member(self, client: int, cohort: Sequence[int] = (), common: int | None = None) -> Member:
        """What a client of a cohort does; the cohort is asked for only where the work depends on it.

        common: the number of steps that they drew together (`planning.draw_common`); None: the most possible.
        Raises BadInput and Unsupported as the parts do, and for clients that differ in how they draw their work.
        """
        if self.together is not None and common is None and cohort:
            common = self.together.law_of_common(tuple(cohort), self.known)[-1][1]
        key = (client, tuple(cohort) if self.by_cohort and common is None else (), common)
        found = self._members.get(key)
        if found is None:
            if len(self._members) >= REMEMBERED:
                self._members.clear()
            found = self._members[key] = self._fresh(client, tuple(cohort) or (client,), common)
        return found

    def members(self, cohort: Sequence[int], common: int | None = None) -> tuple[Member, ...]:
        """What each client of a cohort does, in the order in which they first appear."""
        return tuple(self.member(i, cohort if self.by_cohort else (), common) for i in counted(cohort))

    def _fresh(self, i: int, cohort: tuple[int, ...], common: int | None) -> Member:
        if self.together is not None and common is not None:
            drawn = ((Fraction(1), self.together.visit_of(i, common, self.known)),)
        else:
            drawn = self.method.work(i, cohort, self.known)
        works = [v for _, v in drawn]
        alike = all(v.sampling == self.sampling and v.batch == self.batch for v in works)
        if not alike or not np.array_equal(streams.cuts(p for p, _ in drawn), self.cuts):
            raise Unsupported(f"the clients of '{self.method.name}' differ in how they draw their local work.")
        if self.known.sizes[i] > streams.MAX_BOUND:
            raise BadInput(f"client {i} holds {self.known.sizes[i]} samples; at most 2^24 are allowed.")
        return Member(
            i,
            tuple(v.steps for v in works),
            tuple(self.double(v.scale, "a factor of a local step size") for v in works),
            tuple(self.double(v.prox, "the proximal weight") for v in works),
            tuple(float(v.weight) for v in works),
        )

    def double(self, value: Fraction, what: str) -> float:
        """The nearest float. Raises BadInput where it is too large."""
        return as_double(value, f"{what} of '{self.method.name}'")


def simulated(method: Method) -> Rule:
    """The rule of a method, its local steps as its client optimizer shapes them."""
    own = method.client_optimizer
    rule = replace(method, client_optimizer=None).rule
    return rule if own is None else own.shaped(rule)


def lower(method: Method, known: Clients, rounds: int) -> Lowered:
    """The method on these clients for rounds 0..rounds-1.

    Raises BadInput for a negative or too large number of rounds, and whatever the parts refuse.
    """
    if not 0 <= rounds <= MAX_ROUNDS:
        raise BadInput(f"rounds = {rounds} is not allowed; the sampled engine runs 0 to {MAX_ROUNDS} rounds.")
    if not 1 <= known.count <= streams.MAX_BOUND:
        raise BadInput(f"{known.count} clients are not allowed; the sampled engine takes 1 to {streams.MAX_BOUND}.")
    check_parts(method, known)
    method = replace(method, local=plain_work(method.local))
    own = method.client_optimizer
    given = {"the server's factor": method.server.factor}
    if own is not None:
        given |= {"the weight decay": own.weight_decay, "clip_l": own.clip or Fraction(0)}
    for what, value in given.items():
        as_double(value, f"{what} of '{method.name}'")
    rule = simulated(method)
    cohorts = Cohorts.of(method.participation, known, rounds)
    every = rule.handed_every
    if every:
        cohorts = Cohorts((), 0, parts.Drawing("uniform", known.count, rule.models(known)), streams.HAND_OVER, every)
    own = rule.collecting
    sizes = run_steps(method, known)
    per_cycle = NEVER if sizes.is_constant else sizes.rounds_per_cycle
    found = [sizes.of_round(k * per_cycle) for k in range(max(1, -(-rounds // per_cycle)))]
    steps = [
        [as_double(v, f"a step size of '{method.name}'") for v in (s if isinstance(s, tuple) else (s,))] for s in found
    ]
    some = next((c for c in cohorts.fixed if c), (0,))
    drawn = method.local.visits(some[0], some, known)
    if isinstance(method.local, parts.Epochs) and method.local.together:  # the number of steps is the cohort's
        drawn = ((Fraction(1), drawn[-1][1]),)
    return Lowered(
        method=method,
        rule=rule,
        known=known,
        cohorts=cohorts,
        gradients=None if own in (None, "same") else Cohorts.of(own, known, rounds, streams.GRADIENT_COHORT),
        sampling=drawn[0][1].sampling,
        batch=drawn[0][1].batch,
        visits=len(drawn),
        cuts=streams.cuts(p for p, _ in drawn),
        by_cohort=method.local.by_cohort,
        sizes_of_steps=np.array(steps, dtype=np.float64),
        rounds_per_cycle=per_cycle,
        handed=bool(every),
    )
