"""Local work of many visits at once: steps of sampled batches, and whole gradients of clients.

Lanes are sorted so that those with work left are always the first ones: no step is computed for a lane that has
ended. Batches of different widths are padded, and a step whose padding would exceed `WASTE` of its samples is computed
in groups of lanes of similar widths.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from boundcheck.engines.curve import Floats, Ints
from boundcheck.networks.engine.device import library, placed
from boundcheck.networks.engine.local_step import LocalStep
from boundcheck.networks.engine.memory import AT_ONCE, Tally
from boundcheck.networks.engine.network import Tensor
from boundcheck.networks.engine.task import Task

WASTE = 0.25  # the largest share of padding among the samples of a step
AHEAD = 1 << 21  # numbers of samples that are laid out for the device at a time


@dataclass(frozen=True)
class Work:
    """What N lanes step through, lanes with more steps first.

    first: where the lane's samples begin, in `samples` or, if that is None, in the problem's data. size: samples an
    epoch; batch: samples a step, the last of an epoch taking what is left.
    """

    first: Ints
    size: Ints
    batch: int
    steps: Ints
    samples: NDArray[np.uint32] | None


@dataclass(frozen=True)
class Direction:
    """The direction of a local step: slope h(y) + constant - keep g(x) + prox (y - x), x the point that it began from.

    h(y) = g(y) min(1, clip/|g(y)|) + decay y. constant: (N, dim), or None. eta, prox: (N,); keep: 0 where no step looks
    back at x. buffer: (N, dim), or None; becomes rho times itself and the direction in every step, and is then what
    the step goes along.
    """

    eta: Floats
    prox: Floats
    slope: float = 1.0
    constant: Tensor | None = None
    keep: float = 0.0
    buffer: Tensor | None = None
    rho: float = 0.0
    decay: float = 0.0
    clip: float = inf

    @property
    def plain(self) -> bool:
        """Whether steps go along g(y) itself."""
        other = self.keep or self.prox.any() or self.decay or self.clip < inf
        return not other and self.constant is None and self.slope == 1.0 and self.buffer is None


@dataclass(frozen=True)
class _Step:
    """One step of a group of lanes.

    lanes: which, a slice or numbers on the device; numbers: the same (n,), here; widths: (n,) samples of each.
    """

    lanes: slice | Tensor
    numbers: Ints
    rows: Tensor
    mask: Tensor | None
    widths: Ints


def column(task: Task, values: Floats) -> Tensor:
    """Numbers (N,) as a column (N, 1) beside the lanes."""
    return placed(values, task.device, task.dtype).unsqueeze(1)


def _groups(widths: Ints) -> list[Ints]:
    """The lanes of a step in groups of similar widths, each with at most `WASTE` padding."""
    order = np.argsort(-widths, kind="stable")
    found, begin, held = list[Ints](), 0, 0
    for k, lane in enumerate(order.tolist()):
        most = int(widths[order[begin]]) * (k - begin + 1)
        if most - held - int(widths[lane]) > WASTE * most:
            found.append(np.sort(order[begin:k]))
            begin, held = k, 0
        held += int(widths[lane])
    return [*found, np.sort(order[begin:])]


def _cut(rows: Tensor, mask: Tensor | None, widths: Ints, tally: Tally) -> Iterator[_Step]:
    """One step in groups of lanes of similar widths. rows, mask: (lanes, at least the largest width)."""
    for lanes in _groups(widths):
        own = widths[lanes]
        at = placed(lanes, rows.device)
        masked = None if mask is None else mask[at]
        yield _group(at, lanes, rows[at], masked, own, int(own.max()), int(own.sum()), tally)


def _group(
    lanes: slice | Tensor, numbers: Ints, rows: Tensor, mask: Tensor | None, widths: Ints, widest: int, samples: int,
    tally: Tally,
) -> _Step:  # fmt: skip
    computed = widest * len(widths)
    tally.add(Tally(computed, computed - samples))
    own = None if mask is None or samples == computed else mask[:, :widest]
    return _Step(lanes, numbers, rows[:, :widest], own, widths)


def _steps(task: Task, work: Work, tally: Tally) -> Iterator[list[_Step]]:
    """The steps of the lanes, one after the other, each in groups of lanes."""
    last = int(work.steps[0]) if len(work.steps) else 0
    per_epoch = -(-work.size // work.batch)
    widest = int(np.minimum(work.size, work.batch).max(initial=1))
    ahead = max(1, AHEAD // max(1, widest * len(work.steps)))
    for begin in range(0, last, ahead):
        t = np.arange(begin, min(begin + ahead, last))[:, None]
        active = t < work.steps
        lanes = int(active[0].sum())  # the first ones
        active, size, each = active[:, :lanes], work.size[:lanes], per_epoch[:lanes]
        within = t % each * work.batch
        widths = np.where(active, np.minimum(work.batch, size - within), 0)
        places = np.arange(int(widths.max()))
        counted = places < widths[..., None]
        rows = np.where(counted, (work.first[:lanes] + t // each * size + within)[..., None] + places, 0)
        if work.samples is not None:
            rows = work.samples[rows]
        rows_there = placed(rows.astype(np.int64), task.device)
        uneven = bool((widths[active] < len(places)).any())
        mask = placed(counted, task.device) if uneven else None
        sums = zip(active.sum(axis=1).tolist(), widths.max(axis=1).tolist(), widths.sum(axis=1).tolist(), strict=True)
        for k, (count, most, samples) in enumerate(sums):
            own, place = widths[k, :count], rows_there[k, :count]
            masked = None if mask is None else mask[k, :count]
            if most * count - samples <= WASTE * most * count:
                yield [_group(slice(0, count), np.arange(count), place, masked, own, most, samples, tally)]
            else:
                yield list(_cut(place, masked, own, tally))


def train(local: LocalStep, work: Work, direction: Direction, y: Tensor, tally: Tally) -> None:
    """Carry out the steps of N lanes from y (N, dim), which becomes what they return, as does a buffer."""
    task = local.task
    eta = column(task, -direction.eta)
    prox = column(task, direction.prox) if direction.prox.any() else None
    begun = y.clone() if prox is not None or direction.keep else None
    plain = direction.plain
    for step in _steps(task, work, tally):
        for group in step:
            own = group.lanes
            at = y[own]
            if plain:
                local.descend(at, group.rows, group.mask, -eta[own])
                if not isinstance(own, slice):
                    y.index_copy_(0, own, at)
                continue
            _, slope = local.gradients(task, at, group.rows, group.mask)
            if begun is not None and direction.keep:
                _, before = local.gradients(task, begun[own], group.rows, group.mask)
                slope.sub_(before, alpha=direction.keep)
                tally.add(Tally(group.rows.numel(), group.rows.numel() - int(group.widths.sum())))
            _move(direction, own, at, slope, eta, prox, begun)
            if not isinstance(own, slice):
                y.index_copy_(0, own, at)


def _move(
    direction: Direction, own: slice | Tensor, at: Tensor, slope: Tensor, eta: Tensor, prox: Tensor | None,
    begun: Tensor | None,
) -> None:  # fmt: skip
    """One step of some lanes: `at` moves against the direction, in place."""
    if direction.clip < inf:
        norm = library().linalg.vector_norm(slope, dim=1, keepdim=True)
        slope.mul_((direction.clip / norm).clamp_(max=1.0))
    if direction.decay:
        slope.add_(at, alpha=direction.decay)
    if direction.slope != 1.0:
        slope.mul_(direction.slope)
    if direction.constant is not None:
        slope.add_(direction.constant[own])
    if prox is not None and begun is not None:
        slope.addcmul_(prox[own], at - begun[own])
    if direction.buffer is not None:
        buffer = direction.buffer[own]
        slope = buffer.mul_(direction.rho).add_(slope)
        if not isinstance(own, slice):
            direction.buffer.index_copy_(0, own, buffer)
    at.addcmul_(eta[own], slope)


def train_whole(local: LocalStep, clients: Ints, steps: Ints, direction: Direction, y: Tensor, tally: Tally) -> None:
    """`train` for steps with the clients' whole gradients; lanes with more steps come first."""
    task = local.task
    eta = column(task, -direction.eta)
    prox = column(task, direction.prox) if direction.prox.any() else None
    begun = y.clone() if prox is not None or direction.keep else None
    before = whole_gradients(local, clients, begun, tally) if begun is not None and direction.keep else None
    for t in range(int(steps[0]) if len(steps) else 0):
        own = slice(0, int((steps > t).sum()))
        slope = whole_gradients(local, clients[own], y[own], tally)
        if before is not None:
            slope.sub_(before[own], alpha=direction.keep)
        _move(direction, own, y[own], slope, eta, prox, begun)


def whole_gradients(local: LocalStep, clients: Ints, points: Tensor, tally: Tally) -> Tensor:
    """The gradient of f_client[k] at points[k]; (N, dim). Clients of all sizes, their samples piece by piece."""
    torch, task = library(), local.task
    size = task.offsets[clients + 1] - task.offsets[clients]
    order = np.argsort(-size, kind="stable")
    plain = bool((order == np.arange(len(order))).all())
    where = None if plain else placed(order, task.device)
    at = points if where is None else points.index_select(0, where)
    size = size[order]
    total = torch.zeros_like(at)
    work = Work(task.offsets[clients[order]], size, AT_ONCE, -(-size // AT_ONCE), None)
    for step in _steps(task, work, tally):
        for group in step:
            own = group.lanes
            _, slope = local.gradients(task, at[own], group.rows, group.mask)
            share = column(task, group.widths / size[group.numbers])
            if isinstance(own, slice):
                total[own].addcmul_(share, slope)
            else:
                total.index_add_(0, own, slope.mul_(share))
    if where is None:
        return total
    found = torch.empty_like(total)
    found.index_copy_(0, where, total)
    return found
