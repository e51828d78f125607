"""Asynchronous federated learning in one dimension, gone through history by history, in fractions.

Independent of the engines: every client |theta - t_i|^2 c_i/2 with additive noise +-s_i on its gradients; every
possible course of participation and noise is followed with its probability, and the quantities of the paper's
Appendix A.2 are computed from their definitions, at the virtual models (7) and at the real ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

F = Fraction
Law = Sequence[tuple[Fraction, tuple[int, ...]]]


@dataclass(frozen=True)
class Setting:
    """c, t, noise, d: one number a client. law: who takes part in round n. stale: clients keep the model they got."""

    c: tuple[Fraction, ...]
    t: tuple[Fraction, ...]
    noise: tuple[Fraction, ...]
    d: tuple[Fraction, ...]
    law: Callable[[int], Law]
    K: int
    eta_l: Fraction
    eta_g: Fraction
    start: Fraction
    stale: bool = True

    @property
    def clients(self) -> range:
        return range(len(self.c))

    def q(self, n: int) -> list[Fraction]:
        return [self.d[i] * sum((p for p, cohort in self.law(n) if i in cohort), F(0)) for i in self.clients]

    def minimiser(self, q: Sequence[Fraction]) -> Fraction:
        weights = [v * c for v, c in zip(q, self.c, strict=True)]
        return sum((w * t for w, t in zip(weights, self.t, strict=True)), F(0)) / sum(weights)

    def loss(self, q: Sequence[Fraction], x: Fraction) -> Fraction:
        return sum((v * c * (x - t) ** 2 / 2 for v, c, t in zip(q, self.c, self.t, strict=True)), F(0))


@dataclass(frozen=True)
class Work:
    """Local points y^0, ..., y^K and the gradients of the K steps."""

    points: tuple[Fraction, ...]
    gradients: tuple[Fraction, ...]


@dataclass(frozen=True)
class World:
    """One history: its probability, the models so far, and what every client works on."""

    p: Fraction
    models: tuple[Fraction, ...]
    work: tuple[Work, ...]


def works(s: Setting, i: int, x: Fraction) -> list[tuple[Fraction, Work]]:
    """All local work of client i from x, with the chance of each."""
    signs = list(itertools.product((1, -1), repeat=s.K)) if s.noise[i] else [(1,) * s.K]
    found: list[tuple[Fraction, Work]] = []
    for own in signs:
        points, gradients = [x], list[Fraction]()
        for sign in own:
            gradients.append(s.c[i] * (points[-1] - s.t[i]) + sign * s.noise[i])
            points.append(points[-1] - s.eta_l * gradients[-1])
        found.append((F(1, len(signs)), Work(tuple(points), tuple(gradients))))
    return found


def restarted(
    s: Setting, p: Fraction, models: tuple[Fraction, ...], work: dict[int, Work], who: Sequence[int]
) -> list[World]:
    """The histories that follow when these clients start anew from the last model."""
    found: list[World] = []
    for chosen in itertools.product(*(works(s, i, models[-1]) for i in who)):
        chance, own = p, dict(work)
        for i, (part, new) in zip(who, chosen, strict=True):
            chance, own[i] = chance * part, new
        found.append(World(chance, models, tuple(own[i] for i in s.clients)))
    return found


def histories(s: Setting, rounds: int) -> list[list[World]]:
    """Before each round, all histories."""
    worlds = restarted(s, F(1), (s.start,), {}, s.clients)
    found = [worlds]
    for n in range(rounds):
        after: list[World] = []
        for world in worlds:
            for chance, cohort in s.law(n):
                step = sum((s.d[i] * (world.work[i].points[-1] - world.work[i].points[0]) for i in cohort), F(0))
                models = (*world.models, world.models[-1] + s.eta_g * step)
                who = cohort if s.stale else s.clients
                after += restarted(s, world.p * chance, models, dict(enumerate(world.work)), who)
        worlds = after
        found.append(worlds)
    return found


@dataclass(frozen=True)
class Quantities:
    """Of one round; names as in `boundcheck.papers.async_fl.definitions`. change: Delta, sq: Q of the round itself."""

    q: Fraction
    phi: Fraction
    Sn: Fraction
    Rn: Fraction
    Z: Fraction
    Xi: Fraction
    inner: Fraction
    change: Fraction
    sq: Fraction
    sg1: Fraction
    sg2: Fraction


def real(s: Setting, worlds: list[World], after: list[World], n: int, x: Fraction) -> Quantities:
    """The quantities at the real model, for whole rounds."""
    q, total = s.q(n), sum(s.q(n), F(0))
    best, qt = s.minimiser(q), [v / total for v in s.q(n)]
    phi = Sn = Rn = gap = Xi = inner = F(0)
    for w in worlds:
        here = w.models[-1]
        mean = [sum(w.work[i].gradients, F(0)) / s.K for i in s.clients]
        for i in s.clients:
            phi += w.p * qt[i] * sum(((y - here) ** 2 for y in w.work[i].points[:-1]), F(0)) / s.K
            Sn += w.p * qt[i] * sum((g**2 for g in w.work[i].gradients), F(0)) / s.K
        Rn += w.p * sum((v * g for v, g in zip(qt, mean, strict=True)), F(0)) ** 2
        inner += w.p * sum((v * g for v, g in zip(q, mean, strict=True)), F(0)) * (here - x)
        gap += w.p * (s.loss(q, here) - s.loss(q, best))
        Xi += w.p * (s.loss(q, here) - s.loss(q, x))
    change = sum((w.p * ((w.models[-1] - x) ** 2 - (w.models[-2] - x) ** 2) for w in after), F(0))
    return Quantities(total, phi, Sn, Rn, gap, Xi, inner, change, moved(after), *at_best(s, qt, best))


def virtual(s: Setting, worlds: list[World], n: int, x: Fraction) -> Quantities:
    """The printed quantities: means over k at the virtual models (7), the cohort of round n among what is random."""
    q, total = s.q(n), sum(s.q(n), F(0))
    best, qt = s.minimiser(q), [v / total for v in s.q(n)]
    phi = Sn = Rn = gap = Xi = inner = change = sq = F(0)
    for w, (chance, cohort) in itertools.product(worlds, s.law(n)):
        p = w.p * chance / s.K
        steps = [
            sum((s.d[i] * (w.work[i].points[k] - w.work[i].points[0]) for i in cohort), F(0)) for k in range(s.K + 1)
        ]
        models = [w.models[-1] + s.eta_g * step for step in steps]
        for k in range(s.K):
            here = models[k]
            g = [w.work[i].gradients[k] for i in s.clients]
            phi += p * sum((qt[i] * (w.work[i].points[k] - here) ** 2 for i in s.clients), F(0))
            Sn += p * sum((qt[i] * g[i] ** 2 for i in s.clients), F(0))
            Rn += p * sum((qt[i] * g[i] for i in s.clients), F(0)) ** 2
            inner += p * sum((q[i] * g[i] for i in s.clients), F(0)) * (here - x)
            gap += p * (s.loss(q, here) - s.loss(q, best))
            Xi += p * (s.loss(q, here) - s.loss(q, x))
            change += p * ((models[k + 1] - x) ** 2 - (here - x) ** 2)
        sq += w.p * chance * (models[-1] - models[0]) ** 2
    return Quantities(total, phi, Sn, Rn, gap, Xi, inner, change, sq, *at_best(s, qt, best))


def at_best(s: Setting, qt: Sequence[Fraction], best: Fraction) -> tuple[Fraction, Fraction]:
    """sigma_1 and sigma_2."""
    own = [(c * (best - t)) ** 2 + v**2 for c, t, v in zip(s.c, s.t, s.noise, strict=True)]
    return (
        sum((v * g for v, g in zip(qt, own, strict=True)), F(0)),
        sum((v**2 * g for v, g in zip(qt, own, strict=True)), F(0)),
    )


def moved(after: list[World]) -> Fraction:
    """E|theta^{n+1} - theta^n|^2."""
    return sum((w.p * (w.models[-1] - w.models[-2]) ** 2 for w in after), F(0))
