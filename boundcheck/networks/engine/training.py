"""Local work of many visits at once: steps of sampled batches, and whole gradients of clients.

Lanes are sorted so that those with work left are always the first ones: no step is computed for a lane that has
ended. Batches of different widths are padded, and a step whose padding would exceed `WASTE` of its samples is computed
in groups of lanes of similar widths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundcheck.engines.curve import Floats, Ints
from boundcheck.networks.engine.device import Tensor, library, placed
from boundcheck.networks.engine.local_step import LocalStep
from boundcheck.networks.engine.memory import AT_ONCE
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
class Step:
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


def _cut(rows: Tensor, mask: Tensor | None, widths: Ints) -> Iterator[Step]:
    """One step in groups of lanes of similar widths. rows, mask: (lanes, at least the largest width)."""
    for lanes in _groups(widths):
        own = widths[lanes]
        at = placed(lanes, rows.device)
        masked = None if mask is None else mask[at]
        yield _group(at, lanes, rows[at], masked, own, int(own.max()), int(own.sum()))


def _group(
    lanes: slice | Tensor, numbers: Ints, rows: Tensor, mask: Tensor | None, widths: Ints, widest: int, samples: int,
) -> Step:  # fmt: skip
    computed = widest * len(widths)
    own = None if mask is None or samples == computed else mask[:, :widest]
    return Step(lanes, numbers, rows[:, :widest], own, widths)


def steps_of(task: Task, work: Work) -> Iterator[list[Step]]:
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
                yield [_group(slice(0, count), np.arange(count), place, masked, own, most, samples)]
            else:
                yield list(_cut(place, masked, own))


def step_gradients(local: LocalStep, step: Sequence[Step], points: Tensor) -> Tensor:
    """The gradients (lanes, dim) of one step at points (lanes, dim), group by group."""
    if len(step) == 1:
        return local.gradients(local.task, points, step[0].rows, step[0].mask)[1]
    found = library().empty_like(points)
    for group in step:
        _, slope = local.gradients(local.task, points[group.lanes], group.rows, group.mask)
        found.index_copy_(0, group.lanes, slope)
    return found


def whole_gradients(local: LocalStep, clients: Ints, points: Tensor) -> Tensor:
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
    for step in steps_of(task, work):
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
