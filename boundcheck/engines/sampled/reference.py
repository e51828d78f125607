"""The NumPy path: many seeds at once, one elementwise operation at a time. It is the definition of a run.

A state holds, for each seed, the server's point and, with momentum, m and the point of the round before.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from boundcheck.core.streams import Words
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.sampled.lowering import Lowered, Member
from boundcheck.engines.sampled.oracles import Oracle, Whole
from boundcheck.engines.sampled.planning import batches, draw_choices, draw_cohorts, draw_samples, draw_warm_up

__all__ = ["advance", "begin", "epoch_starts"]


def begin(lowered: Lowered, oracle: Whole, weights: Sequence[Fraction], seeds: Words, start: Floats) -> Floats:
    """The state of each seed before round 0; shape (S, parts, d), parts = 1, or 3 with momentum.

    weights: of the objective F, start: x_0 (d,).
    """
    momentum = lowered.momentum
    if momentum is None:
        return np.tile(start, (len(seeds), 1, 1))
    state = np.zeros((len(seeds), 3, len(start)))
    state[:, 0] = state[:, 2] = start
    one = start[None]
    if momentum.start == "gradient":
        for i, w in enumerate(weights):
            state[:, 1] += float(w) * oracle.full(i, one)
    elif momentum.start == "sampled":
        drawn = draw_warm_up(lowered, seeds)
        gradients = {i: oracle.full(i, one)[0] for i in np.unique(drawn).tolist()}
        for s, row in enumerate(drawn.tolist()):
            for i in row:
                state[s, 1] += gradients[i]
        state[:, 1] /= momentum.warm_up
    return state


def _visit(
    lowered: Lowered, oracle: Oracle, seeds: Words, round_index: int, member: Member, choice: int,
    x: Floats, m: Floats, starts: list[Floats] | None,
) -> Floats:  # fmt: skip
    """What the client returns for each seed; shape (S, d). starts: receives the point before each epoch."""
    momentum, client, steps = lowered.momentum, member.client, member.steps[choice]
    eta = lowered.step(round_index) * member.scale[choice]
    keep = 0.0 if momentum is None else float(1 - momentum.a)
    full = lowered.sampling == "full"
    size = oracle.size(client)
    samples = None if full else draw_samples(lowered, seeds, round_index, client, size, steps)
    at = 0
    y = x
    for width in [0] * steps if full else batches(size, lowered.batch, steps):
        if starts is not None and (full or at % size == 0):
            starts.append(y)
        own = None if samples is None else samples[:, at : at + width]
        at += width

        def gradient(point: Floats, own: Ints | None = own) -> Floats:
            return oracle.full(client, point) if own is None else oracle.mean(client, own, point)

        direction = gradient(y)
        if momentum is not None and momentum.variance_reduced:
            direction = direction + keep * (m - gradient(x))
        elif momentum is not None:
            direction = float(momentum.a) * direction + keep * m
        y = y - eta * direction
    return y


def _groups(
    lowered: Lowered, seeds: Words, round_index: int, cohorts: list[tuple[int, ...]], position: int
) -> list[tuple[Member, int, Ints]]:
    """The visits at a position of the cohorts, each with the seeds that do the same there."""
    found: dict[Member, list[int]] = {}
    for s, cohort in enumerate(cohorts):
        if position < len(cohort):
            found.setdefault(lowered.members(cohort)[position], []).append(s)
    groups: list[tuple[Member, int, Ints]] = []
    for member, own in found.items():
        rows = np.array(own)
        choices = draw_choices(lowered, seeds[rows], round_index, member.client)
        groups += [(member, int(k), rows[choices == k]) for k in np.unique(choices)]
    return groups


def _round(lowered: Lowered, oracle: Oracle, seeds: Words, state: Floats, r: int, starts: Floats | None = None) -> None:
    momentum = lowered.momentum
    cohorts = draw_cohorts(lowered, seeds, r)
    visits = [_groups(lowered, seeds, r, cohorts, p) for p in range(max(len(c) for c in cohorts))]
    x = state[:, 0].copy()
    if momentum is not None and momentum.variance_reduced and r > 0:
        keep = float(1 - momentum.a)
        after = keep * state[:, 1]
        for position in visits:
            for member, _, rows in position:
                now, before = (oracle.full(member.client, state[rows, k]) for k in (0, 2))
                after[rows] += member.share * (now - keep * before)
        state[:, 1] = after
    m = state[:, 1] if momentum is not None else x
    after = x.copy()
    fresh = np.zeros_like(x)
    for position in visits:
        for member, choice, rows in position:
            met: list[Floats] | None = None if starts is None else []
            y = _visit(lowered, oracle, seeds[rows], r, member, choice, x[rows], m[rows], met)
            if starts is not None and met is not None:
                starts[rows] = np.stack(met, axis=1)
            after[rows] += member.factor * (y - x[rows])
            if momentum is not None and not momentum.variance_reduced and member.steps[choice]:
                length = member.steps[choice] * (lowered.step(r) * member.scale[choice])
                fresh[rows] += member.share / length * (x[rows] - y)
    if momentum is not None:
        state[:, 2] = x
        if not momentum.variance_reduced:
            state[:, 1] = float(1 - momentum.a) * state[:, 1] + float(momentum.a) * fresh
    state[:, 0] = after


def advance(
    lowered: Lowered, oracle: Oracle, seeds: Words, state: Floats, first: int, stops: Ints, points: Floats
) -> None:
    """Run rounds first, ..., stops[-1] - 1 from `state`, which is updated in place.

    stops: (G,) increasing, none below `first`; points: (S, G, d), receives the server's point after so many rounds.
    """
    reached = first
    for g, stop in enumerate(stops):
        for r in range(reached, int(stop)):
            _round(lowered, oracle, seeds, state, r)
        reached = int(stop)
        points[:, g] = state[:, 0]


def epoch_starts(
    lowered: Lowered, oracle: Oracle, seeds: Words, state: Floats, round_index: int, starts: Floats
) -> None:
    """The points before each epoch of the round that follows `state`, which stays as it is, to starts (S, epochs, d).

    For cohorts of one client; every step with a full gradient counts as an epoch.
    """
    _round(lowered, oracle, seeds, state.copy(), round_index, starts)
