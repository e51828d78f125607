"""A round as far as it does not depend on the state: the terms of its map of second moments."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from boundcheck.engines.exact.rings import Matrix, Ring
from boundcheck.engines.exact.space import Space
from boundcheck.engines.exact.visits import Local
from boundcheck.engines.exact.work import Work
from boundcheck.methods.parts import Visit

Pair = tuple[Matrix, Matrix]
Inner = tuple[Pair, ...] | None


@dataclass(frozen=True)
class Job:
    """A covariance that depends on M: weight * send Cov(visit) send' at the second moments `inner` (None: M)."""

    local: Local
    client: int
    visit: Visit
    weight: Fraction
    send: Matrix
    inner: Inner


@dataclass
class Plan:
    """A round as far as it does not depend on the state: E[z] -> mean E[z], and the terms of M -> M+.

    pairs: (P, Q) of the terms P M Q'. constant: (D, D), times M[-1, -1]. jobs: what remains. before: the map that comes
    first, where there is one; pairs, constant and jobs are then of the vector that it gives, and mean is of both.
    """

    mean: Matrix
    pairs: list[Pair] = field(default_factory=list[Pair])
    constant: Matrix | None = None
    jobs: list[Job] = field(default_factory=list[Job])
    before: Plan | None = None


@dataclass(frozen=True)
class Begun:
    """A visit as metrics watch it. local: its steps, in its own inputs. of: (weight, S) with S z the inputs, None: z;
    several where what it takes rests on the cohort."""

    local: Local
    of: tuple[tuple[Fraction, Matrix | None], ...]
    ring: Ring

    def at(self, space: Space) -> Space:
        """The space of the second moments of the inputs."""
        if len(self.of) == 1 and self.of[0][0] == 1 and self.of[0][1] is None:
            return space
        ring, wide = self.ring, self.local.wide
        pairs = [(ring.one(wide) if s is None else s, ring.scalar(w)) for w, s in self.of]
        return space.at(space.total([(s * w, s) for s, w in pairs]))

    def lift(self, m: Matrix) -> Matrix:
        """A map of the inputs as one of the state."""
        (_, s), *more = self.of
        assert not more, "the inputs rest on the cohort"
        return m if s is None else self.ring.mul(m, s)


class Noise:
    """The covariances of a plan, gathered by what sends them and what the visits see."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.gammas: dict[int, tuple[Matrix, Matrix]] = {}  # by id of the send: it and a covariance
        self.jobs: dict[Any, tuple[Local, int, Visit, Matrix, dict[int, tuple[Matrix | None, Fraction]]]] = {}

    def add(self, key: Any, send: Matrix, work: Work, weight: Fraction, likely: Fraction = Fraction(1)) -> None:
        """Covariance of a visit, weight times, sent by `send`; key: tells sends of one visit apart."""
        if not weight:
            return
        gamma = work.outcome.gamma
        if gamma is not None:
            own = gamma * self.ring.scalar(weight * likely)
            known = self.gammas.get(id(send))
            self.gammas[id(send)] = (send, own if known is None else known[1] + own)
        if not work.closed:
            entry = self.jobs.setdefault(key, (work.local, work.client, work.visit, send, {}))
            before = entry[4].get(id(work.inputs), (None, Fraction(0)))[1]
            entry[4][id(work.inputs)] = (work.inputs, before + weight)

    def finish(self, plan: Plan) -> Plan:
        ring = self.ring
        if self.gammas:
            own = [ring.mul(ring.mul(send, g), send.transpose()) for send, g in self.gammas.values()]
            plan.constant = ring.sum(own)
        for local, client, visit, send, seen in self.jobs.values():
            if len(seen) == 1:
                ((inputs, weight),) = seen.values()
                inner = None if inputs is None else ((inputs, inputs),)
                plan.jobs.append(Job(local, client, visit, weight, send, inner))
            else:
                several = [(ring.one(local.wide) if s is None else s, w) for s, w in seen.values()]
                inner = tuple((s * ring.scalar(w), s) for s, w in several)
                plan.jobs.append(Job(local, client, visit, Fraction(1), send, inner))
        return plan
