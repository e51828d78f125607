"""Control variates in a sampled run: what a state holds for them, and how a round of the NumPy path renews it.

Behind the server's point a state holds c and the c_i (`ControlVariates`), or c, the reference point r and the point w
that becomes the next one (`ReferencePoint`; w has no use there where the last point does).
"""

from __future__ import annotations

import numpy as np

from boundcheck.core import streams
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.sampled.lowering import Lowered, Member
from boundcheck.engines.sampled.oracles import Whole
from boundcheck.methods.parts import ControlVariates, ReferencePoint
from boundcheck.methods.parts.control import steps_divide


def begin(lowered: Lowered, oracle: Whole, start: Floats, state: Floats) -> None:
    """Fill in what `state` (S, parts, d) holds before round 0; its points are x_0 = `start` (d,) already."""
    control = lowered.control
    if isinstance(control, ReferencePoint):
        state[:, 1] = _mean_gradient(lowered, oracle, start[None])
    elif isinstance(control, ControlVariates):
        state[:, 1:] = 0.0
        if control.start == "gradient":
            for i, s in enumerate(lowered.shares):
                own = oracle.full(i, start[None])[0]
                state[:, 2 + i] = own
                state[:, 1] += s * own


def shift(lowered: Lowered, oracle: Whole, client: int, rows: Floats) -> Floats:
    """c - c_i of the states `rows` (S, parts, d), times the sign of the correction; shape (S, d)."""
    control = lowered.control
    own = oracle.full(client, rows[:, 2]) if isinstance(control, ReferencePoint) else rows[:, 2 + client]
    return (1 if control is None else control.sign) * (rows[:, 1] - own)


def renewed(
    lowered: Lowered, oracle: Whole, member: Member, choice: int, round_index: int, rows: Floats, y: Floats
) -> Floats | None:
    """c_i+ of a client that returned y (S, d) in a round that began with the states `rows`; None: it keeps none."""
    control, client = lowered.control, member.client
    if not isinstance(control, ControlVariates):
        return None
    if not steps_divide(control, client, member.steps[choice]):
        return oracle.full(client, rows[:, 0])
    length = member.steps[choice] * (lowered.step(round_index) * member.scale[choice])
    return rows[:, 2 + client] - rows[:, 1] + (rows[:, 0] - y) / length


def choose(lowered: Lowered, seeds: streams.Words, state: Floats, round_index: int) -> None:
    """Note the point at which a round begins, where it can become the reference point."""
    control = lowered.control
    if not isinstance(control, ReferencePoint) or control.point == "last":
        return
    epoch, phase = divmod(round_index, control.inner)
    if control.point == "average":
        state[:, 3] = state[:, 0] if phase == 0 else state[:, 3] + state[:, 0]
    else:
        chosen = reference_rounds(lowered, seeds, epoch) == phase
        state[chosen, 3] = state[chosen, 0]


def reference_rounds(lowered: Lowered, seeds: streams.Words, epoch: int) -> Ints:
    """Which of the rounds 0, ..., inner - 1 begins with the next reference point, where it is drawn; shape (S,)."""
    control = lowered.control
    assert isinstance(control, ReferencePoint)
    return streams.below(streams.words(seeds, streams.REFERENCE, epoch, 0, 0, 1)[:, 0], control.inner)


def finish(lowered: Lowered, oracle: Whole, state: Floats, round_index: int, gained: Floats) -> None:
    """End a round: c gains what its clients' shares of it gained, or the reference point is renewed in the last one."""
    control = lowered.control
    if isinstance(control, ControlVariates):
        state[:, 1] += gained
    if not isinstance(control, ReferencePoint) or (round_index + 1) % control.inner:
        return
    if control.point == "average":
        state[:, 0] = state[:, 3] / control.inner
    elif control.point == "random":
        state[:, 0] = state[:, 3]
    state[:, 2] = state[:, 0]
    state[:, 1] = _mean_gradient(lowered, oracle, state[:, 0])


def _mean_gradient(lowered: Lowered, oracle: Whole, x: Floats) -> Floats:
    """The sum of s_i grad f_i at each row of x."""
    total = np.zeros_like(x)
    for i, s in enumerate(lowered.shares):
        total += s * oracle.full(i, x)
    return total
