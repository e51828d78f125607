"""The NumPy path: many seeds at once, one elementwise operation at a time. It is the definition of a run.

A state holds, for each seed, the server's point and, with momentum, m and the point of the round before; with a
momentum of the server's step, the point of the round before; with a pipelined correction, the mean gradient of the
round before; with control variates, what `control` puts there; with an exchange, the models that clients keep (where
clients average blocks, "the server's point" is the models' weighted mean) and, with a local momentum, the buffer of
each of these that are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from boundcheck.core.streams import Words
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.sampled import control, planning
from boundcheck.engines.sampled.cohorts import Cohorts, counted
from boundcheck.engines.sampled.lowering import Lowered, Member
from boundcheck.engines.sampled.oracles import Oracle, Whole
from boundcheck.methods.parts import Blocks


def begin(lowered: Lowered, oracle: Whole, weights: Sequence[Fraction], seeds: Words, start: Floats) -> Floats:
    """The state of each seed before round 0; shape (S, parts, d), parts = 1, 3 with momentum, or 1 and what is kept.

    Buffers of a local momentum come after their models. weights: of the objective F, start: x_0 (d,).
    """
    momentum = lowered.momentum
    if momentum is None:
        kept = lowered.pipelined + lowered.controls + lowered.models + lowered.buffers
        state = np.tile(start, (len(seeds), 1 + (lowered.server_momentum is not None) + kept, 1))
        state[:, state.shape[1] - lowered.buffers :] = 0.0
        control.begin(lowered, oracle, start, state)
        if lowered.pipelined:
            state[:, 1] = 0.0
        return state
    state = np.zeros((len(seeds), 3, len(start)))
    state[:, 0] = state[:, 2] = start
    one = start[None]
    if momentum.start == "gradient":
        for i, w in enumerate(weights):
            state[:, 1] += float(w) * oracle.full(i, one)
    elif momentum.start == "sampled":
        drawn = planning.draw_warm_up(lowered, seeds)
        gradients = {i: oracle.full(i, one)[0] for i in np.unique(drawn).tolist()}
        for s, row in enumerate(drawn.tolist()):
            for i in row:
                state[s, 1] += gradients[i]
        state[:, 1] /= momentum.warm_up
    return state


def slot(lowered: Lowered, client: int, position: int) -> int:
    """Which part of a state a visit starts from; position: that of the client among the members of its cohort."""
    return 1 + client if lowered.stale else 1 + position if lowered.blocks is not None else 0


def went_on(lowered: Lowered, state: Floats, round_index: int) -> tuple[Floats, Floats]:
    """The points to which the server adds a round's differences, and those that it sends to the cohort; (S, d) each."""
    x, own = state[:, 0].copy(), lowered.server_momentum
    if own is None:
        return x, x
    ahead = x + lowered.pushing(round_index) * (x - state[:, 1])
    return ahead, ahead.copy() if own.nesterov else x


def _estimates(lowered: Lowered, oracle: Whole, cohorts: Cohorts, seeds: Words, round_index: int, x: Floats) -> Floats:
    """The mean, over each seed's cohort, of the clients' gradients at x (S, d), weighed as the correction says."""
    drawn = [list(counted(c).items()) for c in cohorts.draw(seeds, round_index)]
    by_data = lowered.correction is not None and lowered.correction.weights == "data"
    total, weights = np.zeros_like(x), np.zeros((len(x), 1))
    for position in range(max(len(c) for c in drawn)):
        asked: dict[int, list[int]] = {}
        for s, cohort in enumerate(drawn):
            if position < len(cohort):
                asked.setdefault(cohort[position][0], []).append(s)
        for client, own in asked.items():
            rows = np.array(own)
            weight = np.array([[float(drawn[s][position][1])] for s in own])
            if by_data:
                weight = weight * float(lowered.known.weights[client])
            total[rows] += weight * oracle.full(client, x[rows])
            weights[rows] += weight
    return total / weights


def _visit(
    lowered: Lowered, oracle: Oracle, seeds: Words, round_index: int, member: Member, choice: int,
    x: Floats, m: Floats, shift: Floats | None, starts: list[Floats] | None, buffer: Floats,
) -> Floats:  # fmt: skip
    """What the client returns for each seed; shape (S, d).

    shift: the gradient, in v, of a linear term that is added to the client's objective. starts: receives the point
    before each epoch. buffer: of the local momentum, changed in place.
    """
    momentum, client, steps = lowered.momentum, member.client, member.steps[choice]
    scale, prox = member.scale[choice], member.prox[choice]
    keep = 0.0 if momentum is None else float(1 - momentum.a)
    if lowered.sampling == "exact":
        if starts is not None:
            starts.append(x)
        return oracle.solve(client, x, np.zeros_like(x) if shift is None else shift, prox)
    full = lowered.whole
    size = oracle.size(client)
    samples = None if full else planning.draw_samples(lowered, seeds, round_index, client, size, steps)
    at = 0
    y = x
    for k, width in enumerate([0] * steps if full else planning.batches(size, lowered.batch, steps)):
        if starts is not None and (full or at % size == 0):
            starts.append(y)
        own = None if samples is None else samples[:, at : at + width]
        at += width

        def gradient(point: Floats, own: Ints | None = own) -> Floats:
            return oracle.full(client, point) if own is None else oracle.mean(client, own, point)

        direction = gradient(y)
        if lowered.clip < np.inf:
            direction = direction * np.minimum(1.0, lowered.clip / np.linalg.norm(direction, axis=1, keepdims=True))
        if lowered.decay:
            direction = direction + lowered.decay * y
        if momentum is not None and momentum.variance_reduced:
            direction = direction + keep * (m - gradient(x))
        elif momentum is not None:
            direction = float(momentum.a) * direction + keep * m
        if shift is not None:
            direction = direction + shift
        if prox:
            direction = direction + prox * (y - x)
        if lowered.rho:
            buffer[:] = lowered.rho * buffer + direction
            direction = buffer
        y = y - lowered.step_at(round_index, k) * scale * direction
    return y


def _groups(
    lowered: Lowered,
    seeds: Words,
    round_index: int,
    cohorts: list[tuple[int, ...]],
    common: list[int | None],
    position: int,
) -> list[tuple[Member, int, Ints]]:
    """The visits at a position of the cohorts, each with the seeds that do the same there."""
    found: dict[Member, list[int]] = {}
    for s, cohort in enumerate(cohorts):
        members = lowered.members(cohort, common[s])
        if position < len(members):
            found.setdefault(members[position], []).append(s)
    groups: list[tuple[Member, int, Ints]] = []
    for member, own in found.items():
        rows = np.array(own)
        choices = planning.draw_choices(lowered, seeds[rows], round_index, member.client)
        groups += [(member, int(k), rows[choices == k]) for k in np.unique(choices)]
    return groups


def average(blocks: Blocks, portions: Floats, models: Floats, round_index: int) -> None:
    """The averaging that ends a round, of the models (S, models, d) in place."""
    own = list(blocks.pattern(models.shape[-1])[round_index % blocks.tau])
    moved = blocks.hand_over
    if moved is not None and moved.design == 1 and (round_index + 1) % moved.every == 0:
        own = list(range(models.shape[-1]))
    if own:
        models[:, :, own] = _mean(portions, models[:, :, own])[:, None]


def _mean(portions: Floats, models: Floats) -> Floats:
    total = portions[0] * models[:, 0]
    for k in range(1, len(portions)):
        total = total + portions[k] * models[:, k]
    return total


def _round(
    lowered: Lowered, oracle: Oracle, seeds: Words, state: Floats, r: int,
    starts: Floats | None = None, returned: Floats | None = None,
) -> None:  # fmt: skip
    momentum = lowered.momentum
    cohorts = planning.draw_cohorts(lowered, seeds, r)
    common = planning.draw_common(lowered, seeds, r, cohorts)
    visits = [_groups(lowered, seeds, r, cohorts, common, p) for p in range(max(len(c) for c in cohorts))]
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
    by = lowered.correcting(r)
    estimate = None if lowered.correction is None else estimate_of(lowered, oracle, seeds, state, r)
    control.choose(lowered, seeds, state, r)
    gained = np.zeros_like(x)  # by the mean of the control variates
    after, sent = went_on(lowered, state, r)
    fresh = np.zeros_like(x)
    for p, position in enumerate(visits):
        for member, choice, rows in position:
            met: list[Floats] | None = None if starts is None else []
            own = slot(lowered, member.client, p)
            begun = state[rows, own] if lowered.server_momentum is None else sent[rows]
            shift = None
            if estimate is not None and by:
                shift = by * (estimate[rows] - oracle.full(member.client, begun))
            if lowered.control is not None:
                shift = control.shift(lowered, oracle, member.client, state[rows])
            kept = own + lowered.models  # the place of its buffer
            buffer = state[rows, kept] if lowered.buffers else np.zeros_like(begun)
            y = _visit(lowered, oracle, seeds[rows], r, member, choice, begun, m[rows], shift, met, buffer)
            if starts is not None and met is not None:
                starts[rows] = np.stack(met, axis=1)
            if returned is not None:
                returned[rows, p] = y
            if lowered.blocks is not None:
                state[rows, own] = y
                if lowered.buffers:
                    state[rows, kept] = buffer
                continue
            after[rows] += member.factor * member.gain[choice] * (y - begun)
            variate = control.renewed(lowered, oracle, member, choice, r, state[rows], y)
            if variate is not None:
                gained[rows] += lowered.shares[member.client] * (variate - state[rows, 2 + member.client])
                state[rows, 2 + member.client] = variate
            if momentum is not None and not momentum.variance_reduced and member.steps[choice]:
                length = member.steps[choice] * (lowered.step(r) * member.scale[choice])
                fresh[rows] += member.share / length * (x[rows] - y)
    if momentum is not None:
        state[:, 2] = x
        if not momentum.variance_reduced:
            state[:, 1] = float(1 - momentum.a) * state[:, 1] + float(momentum.a) * fresh
    if lowered.server_momentum is not None:
        state[:, 1] = x
    if lowered.pipelined:
        state[:, 1] = _estimates(lowered, oracle, lowered.cohorts, seeds, r, x)
    if lowered.blocks is not None:
        models = state[:, 1 : 1 + lowered.models]
        average(lowered.blocks, lowered.portions, models, r)
        after = _mean(lowered.portions, models)
    state[:, 0] = after
    control.finish(lowered, oracle, state, r, gained)
    if lowered.stale:
        for position in visits:
            for member, _, rows in position:
                state[rows, 1 + member.client] = after[rows]


def estimate_of(lowered: Lowered, oracle: Whole, seeds: Words, state: Floats, round_index: int) -> Floats:
    """The mean gradient that corrects a round's local work; `state` is the one before the round."""
    if lowered.pipelined:
        return state[:, 1]
    cohorts = lowered.gradients or lowered.cohorts
    return _estimates(lowered, oracle, cohorts, seeds, round_index, state[:, 0])


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


def ends(lowered: Lowered, oracle: Oracle, seeds: Words, state: Floats, round_index: int, returned: Floats) -> None:
    """What each member of the cohort returns in the round that follows `state`, which stays as it is.

    returned: (S, m, d); members stand in the order in which they first appear in their cohort.
    """
    _round(lowered, oracle, seeds, state.copy(), round_index, None, returned)
