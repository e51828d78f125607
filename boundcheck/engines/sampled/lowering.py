"""A method on given clients as flat numbers.

All execution paths read a `Lowered` (the specialised kernels the `Plain` part of it) and nothing else of the method,
so that they carry out the same thing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf

import numpy as np

from boundcheck.core import streams
from boundcheck.core.numbers import as_double
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.sampled.cohorts import Cohorts, counted
from boundcheck.engines.sampled.refusals import check_parts
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods import parts
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts.aggregation import client_weights
from boundcheck.methods.parts.proximal import plain_work
from boundcheck.setting.step_sizes import run_steps

MAX_ROUNDS = (1 << 32) - 1  # the round is a 32-bit field of the generator's counter
NEVER = 1 << 62
EVERY_CLIENT = 1 << 16  # the specialised kernels go through all clients beforehand; not where there are more


@dataclass(frozen=True)
class Member:
    """What a client does as a member of a cohort, by the visits that it may draw.

    steps: how many local steps; scale: what the schedule's step size is multiplied by; prox: mu of the proximal term;
    one entry a visit.
    factor: eta_g * a_i, with the server's sign, summed over the times that i was drawn; share: w_i/p_i, with which a
    momentum sees the client. weight: w_i. gain: what the factor is multiplied by, one entry a visit.
    """

    client: int
    steps: tuple[int, ...]
    scale: tuple[float, ...]
    prox: tuple[float, ...]
    factor: float
    share: float
    weight: float
    gain: tuple[float, ...] = (1.0,)


@dataclass(frozen=True)
class Lowered:
    """What the execution paths know of a method.

    known: the clients. cohorts: who takes part; gradients: whose gradients correct the local work, where these are
    cohorts of their own.
    sampling, batch: of every visit. visits: how many visits a client may draw; cuts: where a word is cut to choose
    among them. by_cohort: whether a client's work or coefficient depends on who else takes part.
    sizes_of_steps: float64 step sizes by cycle (one entry when constant) and local step (one where all of a round are
    the same), each the float nearest to the exact number. rounds_per_cycle: rounds that share a row of them.
    """

    method: Method
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

    @property
    def clients(self) -> int:
        """Number of clients n."""
        return self.known.count

    @property
    def momentum(self) -> parts.Momentum | None:
        """The method's momentum."""
        return self.method.momentum

    @property
    def server_momentum(self) -> parts.ServerMomentum | None:
        """The momentum of the server's step."""
        return self.method.server_momentum

    @property
    def rho(self) -> float:
        """The momentum of the clients' own steps; 0 where they have none."""
        return 0.0 if self.method.client_optimizer is None else float(self.method.client_optimizer.momentum)

    @property
    def decay(self) -> float:
        """The weight decay of the clients' steps; 0 where they have none."""
        own = self.method.client_optimizer
        return 0.0 if own is None else _double(own.weight_decay, "the weight decay", self.method)

    @property
    def clip(self) -> float:
        """The largest norm of a step's gradient; infinite where gradients are not clipped."""
        own = self.method.client_optimizer
        return inf if own is None or own.clip is None else _double(own.clip, "clip_l", self.method)

    @property
    def correction(self) -> parts.Correction | None:
        """The method's gradient correction."""
        return self.method.correction

    @property
    def control(self) -> parts.Control | None:
        """The method's control variates."""
        return self.method.control

    @property
    def controls(self) -> int:
        """How many vectors a state holds for them (`sampled.control`)."""
        own = self.control
        return 0 if own is None else 3 if isinstance(own, parts.ReferencePoint) else 1 + self.clients

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """The clients' shares in the mean of the control variates."""
        return () if self.control is None else tuple(float(s) for s in self.control.shares(self.known))

    @property
    def pipelined(self) -> bool:
        """Whether local work is corrected by the gradients of the round before."""
        return self.correction is not None and self.correction.pipelined

    @property
    def stale(self) -> bool:
        """Whether clients work on the server's point that they received last."""
        return isinstance(self.method.exchange, parts.Stale)

    @property
    def blocks(self) -> parts.Blocks | None:
        """How models that clients keep are averaged."""
        return self.method.exchange if isinstance(self.method.exchange, parts.Blocks) else None

    @property
    def models(self) -> int:
        """How many models a state holds besides the server's point."""
        return self.clients if self.stale else self.largest if self.blocks is not None else 0

    @property
    def buffers(self) -> int:
        """How many of these models keep a buffer of their local momentum, which a state holds behind the models."""
        return self.models if self.rho and self.blocks is not None else 0

    @cached_property
    def portions(self) -> Floats:
        """The weights of the models' average, for `blocks`."""
        if self.blocks is None or self.blocks.hand_over is not None:
            return np.full(self.models, 1 / max(1, self.models))
        return np.array([float(w) for w in self.blocks.of(self.known.weights)])

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

    def step(self, round_index: int) -> float:
        """Step size of a round (from 0), of its first local step where they differ."""
        return float(self.sizes_of_steps[round_index // self.rounds_per_cycle, 0])

    def step_at(self, round_index: int, local: int) -> float:
        """Step size of a local step (from 0) of a round."""
        own = self.sizes_of_steps[round_index // self.rounds_per_cycle]
        return float(own[local if len(own) > 1 else 0])

    def pushing(self, round_index: int) -> float:
        """The momentum of the server's step in a round; 0 where it has none."""
        return 0.0 if self.server_momentum is None else float(self.server_momentum.at(round_index))

    @cached_property
    def _setting(self) -> parts.AggregationContext:
        return self.method.context(self.known)

    @cached_property
    def _members(self) -> dict[int | tuple[int, ...], tuple[Member, ...]]:
        return {}

    def correcting(self, round_index: int) -> float:
        """c_t of the correction; 0 where there is none."""
        return 0.0 if self.correction is None else float(self.correction.at(round_index))

    @property
    def together(self) -> parts.Epochs | None:
        """The local work where the clients of a cohort draw their number of steps together."""
        local = self.method.local
        return local if isinstance(local, parts.Epochs) and local.together else None

    def members(self, cohort: Sequence[int], common: int | None = None) -> tuple[Member, ...]:
        """What each client of a cohort does, in the order in which they first appear.

        common: the number of steps that they drew together (`planning.draw_common`); None: the most possible.

        Raises BadInput and Unsupported as the parts do, and for clients that differ in how they draw their work.
        """
        if not self.by_cohort:
            alone = [(self._remembered(i, (i,))[0], times) for i, times in counted(cohort).items()]
            return tuple(m if times == 1 else replace(m, factor=m.factor * times) for m, times in alone)
        key = tuple(cohort)
        if self.together is not None and key:
            steps = self.together.law_of_common(key, self.known)[-1][1] if common is None else common
            return self._remembered((*key, -steps - 1), key, steps)
        return self._remembered(key, key)

    def _remembered(
        self, key: int | tuple[int, ...], cohort: tuple[int, ...], common: int | None = None
    ) -> tuple[Member, ...]:
        found = self._members.get(key)
        if found is None:
            if self.by_cohort and len(self._members) >= EVERY_CLIENT:
                self._members.clear()
            found = self._members[key] = self._fresh(cohort, common)
        return found

    @cached_property
    def _own(self) -> Callable[[int], Fraction] | None:
        return self.method.aggregation.by_client(self._setting)

    def _fresh(self, cohort: tuple[int, ...], common: int | None) -> tuple[Member, ...]:
        if not cohort:
            return ()
        if self._own is not None:
            shares = [self._own(i) for i in cohort]
        else:
            shares = self.method.aggregation.coefficients(cohort, self._setting)
        total = dict.fromkeys(cohort, Fraction(0))
        for i, a in zip(cohort, shares, strict=True):
            total[i] += a
        return tuple(self._member(i, cohort, a, common) for i, a in total.items())

    def _member(self, i: int, cohort: tuple[int, ...], share: Fraction, common: int | None = None) -> Member:
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
        steps = tuple(v.steps for v in works)
        scale = tuple(_double(v.scale, "a factor of a local step size", self.method) for v in works)
        prox = tuple(_double(v.prox, "the proximal weight", self.method) for v in works)
        factor = _double(self.method.server.factor * share, "the server's factor", self.method)
        seen = 0.0 if self.momentum is None else float(self.method.momentum_factors((i,), self.known)[0])
        gain = tuple(float(v.weight) for v in works)
        return Member(i, steps, scale, prox, factor, seen, float(self.known.weights[i]), gain)

    @cached_property
    def _up_to_common(self) -> Callable[[int], Fraction] | None:
        """i -> a_i^S up to a factor that the cohort shares, where there is one and the work does not depend on S."""
        rule = self.method.aggregation
        if not self.by_cohort or self.method.local.by_cohort:
            return None
        if isinstance(rule, parts.SumOne):
            return client_weights(rule.weights, self._setting)
        return (lambda i: Fraction(1)) if isinstance(rule, parts.Average) else None

    @property
    def separable(self) -> bool:
        """Whether coefficients are those of `alone`, times 1 or a factor that the cohort shares (see `common`)."""
        return not self.by_cohort or self._up_to_common is not None

    @property
    def common(self) -> tuple[bool, bool, bool]:
        """The factor c(S) that `alone` leaves out: whether there is one, and how it is computed.

        c(S) is 1 over the sum over S of w_i (second entry true) or of 1, times n/|S| if the third entry is true.
        """
        rule = self.method.aggregation
        summed = isinstance(rule, parts.SumOne)
        return self._up_to_common is not None, summed, summed and rule.per_share

    def alone(self, clients: Sequence[int]) -> tuple[Member, ...]:
        """What each client does, its coefficient up to the cohort's `common` factor. They need be no cohort."""
        of = self._up_to_common
        if of is None:
            return self.members(clients)
        for i in clients:
            if i not in self._members:
                self._members[i] = (self._member(i, (i,), of(i)),)
        return tuple(self._members[i][0] for i in clients)


def _double(value: Fraction, what: str, method: Method) -> float:
    return as_double(value, f"{what} of '{method.name}'")


def lower(method: Method, known: Clients, rounds: int) -> Lowered:
    """The method on these clients for rounds 0..rounds-1.

    Raises BadInput for a negative or too large number of rounds, and whatever the parts refuse.
    """
    if not 0 <= rounds <= MAX_ROUNDS:
        raise BadInput(f"rounds = {rounds} is not allowed; the sampled engine runs 0 to {MAX_ROUNDS} rounds.")
    clients = known.count
    if not 1 <= clients <= streams.MAX_BOUND:
        raise BadInput(f"{clients} clients are not allowed; the sampled engine takes 1 to {streams.MAX_BOUND}.")
    check_parts(method, known)
    method = replace(method, local=plain_work(method.local))
    cohorts = Cohorts.of(method.participation, known, rounds)
    moved = method.exchange.hand_over if isinstance(method.exchange, parts.Blocks) else None
    if moved is not None:
        cohorts = Cohorts((), 0, parts.Drawing("uniform", clients, moved.active), streams.HAND_OVER, moved.every)
    own = None if method.correction is None else method.correction.participation
    sizes = run_steps(method, known)
    per_cycle = NEVER if sizes.is_constant else sizes.rounds_per_cycle
    found = [sizes.of_round(k * per_cycle) for k in range(max(1, -(-rounds // per_cycle)))]
    steps = [[_double(v, "a step size", method) for v in (s if isinstance(s, tuple) else (s,))] for s in found]
    some = next((c for c in cohorts.fixed if c), (0,))
    drawn = method.local.visits(some[0], some, known)
    if isinstance(method.local, parts.Epochs) and method.local.together:  # the number of steps is the cohort's
        drawn = ((Fraction(1), drawn[-1][1]),)
    by_cohort = method.local.by_cohort or method.aggregation.by_client(method.context(known)) is None
    return Lowered(
        method=method,
        known=known,
        cohorts=cohorts,
        gradients=None if own is None else Cohorts.of(own, known, rounds, streams.GRADIENT_COHORT),
        sampling=drawn[0][1].sampling,
        batch=drawn[0][1].batch,
        visits=len(drawn),
        cuts=streams.cuts(p for p, _ in drawn),
        by_cohort=by_cohort,
        sizes_of_steps=np.array(steps, dtype=np.float64),
        rounds_per_cycle=per_cycle,
    )


@dataclass(frozen=True)
class Plain:
    """A method simple enough for the specialised kernels.

    clients, cohort_size: n and m.
    fixed: (P, m) cohorts of the P rounds of a period; P = 0 when cohorts are drawn uniformly.
    coefficients: (max(P, 1), m) float64, eta_g * a_i by cohort position; one row when cohorts are drawn.
    steps: float64 step size by cycle; rounds_per_cycle: rounds that share an entry of `steps`.
    reshuffled, repeats, batch: the local program; repeats counts steps, or epochs when reshuffled.
    """

    clients: int
    cohort_size: int
    fixed: Ints
    coefficients: Floats
    steps: Floats
    rounds_per_cycle: int
    reshuffled: bool
    repeats: int
    batch: int


def plain(lowered: Lowered) -> Plain | None:
    """The method as the specialised kernels take it: cohorts of one size, equal coefficients where they are drawn.

    The local work is full gradient steps or whole reshuffled epochs, the same for every client. None for others.
    """
    method, local, known = lowered.method, lowered.method.local, lowered.known
    if lowered.sizes_of_steps.shape[1] > 1:
        return None
    if not method.is_plain or not isinstance(local, parts.Epochs | parts.GradientSteps) or not isinstance(local.E, int):
        return None
    if isinstance(local, parts.Epochs) and local != parts.Epochs(local.E, local.batch):
        return None
    law, fixed = lowered.law, lowered.cohorts.fixed
    if law is None:
        size = len(fixed[0])
        if not size or lowered.cohorts.lead or any(len(c) != size for c in fixed):
            return None
        rows = [method.factors(c, known) for c in fixed]
    else:
        if law.kind != "uniform" or lowered.by_cohort or known.count > EVERY_CLIENT:
            return None
        size = law.size
        own = method.aggregation.by_client(method.context(known))
        if own is None or len({own(i) for i in range(known.count)}) > 1:
            return None
        rows = [method.factors(range(size), known)]
    return Plain(
        clients=known.count,
        cohort_size=size,
        fixed=np.array(fixed, dtype=np.int64).reshape(-1, size),
        coefficients=np.array(
            [[_double(a, "the server's factor", method) for a in row] for row in rows], dtype=np.float64
        ),
        steps=lowered.sizes_of_steps[:, 0],
        rounds_per_cycle=lowered.rounds_per_cycle,
        reshuffled=isinstance(local, parts.Epochs),
        repeats=local.E,
        batch=lowered.batch,
    )
