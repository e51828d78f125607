"""Rounds of a method, all seeds at once; the formulas are those of `engines.simulate.reference`.

A state (S, parts, dim) holds, for each seed, the server's point and, with momentum, m and the point of the round
before; with a momentum of the server's step, the point of the round before; with a pipelined correction, the mean
gradient of the round before; with an exchange, the models that clients keep. Where clients average blocks, the server's
point is the models' weighted mean, which `settle` computes; buffers of their local momentum are apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from boundcheck.core.streams import Words
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.simulate.cohorts import Cohorts
from boundcheck.engines.simulate.planning import draw_clients
from boundcheck.methods.parts import Blocks
from boundcheck.networks.engine.device import library, placed
from boundcheck.networks.engine.features import Lowered
from boundcheck.networks.engine.local_step import LocalStep
from boundcheck.networks.engine.memory import Lanes, Tally, check_state
from boundcheck.networks.engine.network import Tensor
from boundcheck.networks.engine.training import Direction, Work, column, train, train_whole, whole_gradients
from boundcheck.networks.engine.visits import Visits, gradient_visits, visits_of

# Rounds between two looks at which seeds have diverged. On a GPU each look waits for all work that is queued there;
# until then the rounds of a seed that has diverged are computed to no purpose, and change nothing that is recorded.
LOOK_EVERY = {"cpu": 1, "cuda": 16}


class Rounds:
    """The rounds of a method on a task, for some seeds.

    state: see above. buffers: (S, models, dim), or None if none is kept between rounds. alive: the seeds that
    continue, as far as `look` has seen; one whose point is no longer finite has diverged and costs no work.
    returned: the models (S, n, dim) of the clients at the end of the last round, before they were averaged, if
    `advance` kept them.
    """

    def __init__(self, lowered: Lowered, local: LocalStep, seeds: Words, lanes: Lanes) -> None:
        self.lowered, self.local, self.seeds, self.lanes = lowered, local, seeds, lanes
        self.task = task = local.task
        blocks = lowered.blocks
        self.averaging = None
        if blocks is not None:
            self.averaging = Averaging(blocks, lowered.portions, task.network.dim, task.dtype, task.device)
        self.alive = np.ones(len(seeds), dtype=bool)
        self.returned: Tensor | None = None
        self._upto: int | None = None  # epochs of a round that is only looked into, and what its visits end with
        self._ends: Tensor | None = None
        self._finite: Tensor | None = None  # the seeds (S,) whose points were finite since the last look
        self.state = self._begin()
        self.buffers = library().zeros_like(self.state[:, 1:]) if lowered.buffers else None

    @property
    def parts(self) -> int:
        """How many vectors a state holds for each seed."""
        lowered = self.lowered
        extra = lowered.pipelined + (lowered.server_momentum is not None)
        return 3 if lowered.momentum is not None else 1 + extra + lowered.models

    def _begin(self) -> Tensor:
        torch, lowered, task = library(), self.lowered, self.task
        check_state(task, len(self.seeds), self.parts + lowered.buffers)
        start = torch.as_tensor(task.start, dtype=task.dtype).to(task.device)
        state = start.expand(len(self.seeds), self.parts, -1).clone()
        if lowered.momentum is None:
            if lowered.pipelined:
                state[:, 1] = 0.0
            return state
        state[:, 1] = 0.0
        if lowered.momentum.start == "gradient":
            every = np.arange(lowered.clients)
            mean = torch.zeros_like(state[:1, 1])
            self._add_gradients(mean, np.zeros_like(every), every, start.unsqueeze(0), task.weights)
            state[:, 1] = mean
        elif lowered.momentum.start == "sampled":
            drawn = draw_clients(lowered, self.seeds, lowered.momentum.warm_up)
            seed, client = np.repeat(np.arange(len(drawn)), drawn.shape[1]), drawn.ravel()
            weight = np.full(len(seed), 1 / lowered.momentum.warm_up)
            self._add_gradients(state[:, 1], seed, client, state[:, 0], weight)
        return state

    def _add_gradients(self, total: Tensor, seed: Ints, client: Ints, points: Tensor, weight: Floats) -> None:
        """total[seed] += weight * gradient of the client at points[seed], of many seeds and clients."""
        task = self.task
        order = np.argsort(-np.asarray(task.offsets[client + 1] - task.offsets[client]), kind="stable")

        def work(part: slice, tally: Tally) -> None:
            own = order[part]
            at = self._numbers(seed[own])
            found = whole_gradients(self.local, client[own], points.index_select(0, at), tally)
            total.index_add_(0, at, found.mul_(column(task, weight[own])))

        self.lanes.run(len(order), work)

    def _numbers(self, values: Ints) -> Tensor:
        return placed(np.ascontiguousarray(values, dtype=np.int64), self.task.device)

    def _mean_gradients(self, cohorts: Cohorts, round_index: int, live: Ints) -> Tensor:
        """The mean gradient (S, dim) at the server's points over each seed's cohort, weighed as the correction says."""
        seed, client, weight = gradient_visits(self.lowered, cohorts, self.seeds[live], round_index)
        total = library().zeros_like(self.state[:, 0])
        self._add_gradients(total, live[seed], client, self.state[:, 0], weight)
        return total

    def epoch_starts(self, round_index: int, epochs: int) -> Tensor:
        """The points (S, epochs - 1, dim) before each but the first epoch of a round, for one client a round.

        The state stays as it is. Every epoch is gone to from the round's start, so that E epochs cost E (E - 1)/2; a
        step with a whole gradient counts as an epoch. What has diverged is nan.
        """
        self.look()
        kept = self.state, self.alive, self.buffers, self.returned
        found = self.state.new_full((len(self.seeds), epochs - 1, self.state.shape[-1]), float("nan"))
        try:
            for e in range(1, epochs):
                self.state, self.alive = kept[0].clone(), kept[1].copy()
                self.buffers = None if kept[2] is None else kept[2].clone()
                self._upto, self._ends = e, found[:, e - 1]
                self.advance(round_index)
        finally:
            self.state, self.alive, self.buffers, self.returned = kept
            self._upto = self._ends = self._finite = None
        return found

    def _cut(self, visits: Visits, epochs: int) -> Visits:
        """The visits up to the end of a number of epochs."""
        size = self.task.offsets[visits.client + 1] - self.task.offsets[visits.client]
        each = np.ones_like(size) if self.lowered.whole else -(-size // self.lowered.batch)
        return replace(visits, steps=np.minimum(visits.steps, epochs * each))

    def advance(self, round_index: int, *, keep_returned: bool = False) -> None:
        """Carry out one round."""
        self.returned = None
        live = np.flatnonzero(self.alive)
        if not len(live):
            return
        lowered, state = self.lowered, self.state
        visits = visits_of(lowered, self.task.offsets, self.seeds[live], round_index)
        if self._upto is not None:
            visits = self._cut(visits, self._upto)
        seed = live[visits.seed]
        momentum = lowered.momentum
        if momentum is not None and momentum.variance_reduced and round_index > 0:
            keep = float(1 - momentum.a)
            after = keep * state[:, 1]
            for part, sign in ((0, 1.0), (2, -keep)):
                self._add_gradients(after, seed, visits.client, state[:, part], sign * visits.share)
            state[:, 1] = after
        x = state[:, 0].clone()
        shift = self._shift(round_index, live)
        moved = x.clone() if lowered.blocks is None else None
        if moved is not None and lowered.server_momentum is not None:
            moved.add_(x - state[:, 1], alpha=lowered.pushing(round_index))
            state[:, 1] = x
            if lowered.server_momentum.nesterov:
                state[:, 0] = moved  # where the visits begin
        fresh = library().zeros_like(x) if momentum is not None and not momentum.variance_reduced else None
        order = self._order(visits)

        def work(part: slice, tally: Tally) -> None:
            self._visit(visits, order[part], seed[order[part]], x, shift, moved, fresh, tally)

        self.lanes.run(len(order), work)
        if momentum is not None:
            state[:, 2] = x
            if fresh is not None:
                state[:, 1].mul_(float(1 - momentum.a)).add_(fresh, alpha=float(momentum.a))
        if lowered.pipelined:
            state[:, 1] = self._mean_gradients(lowered.cohorts, round_index, live)
        if self.averaging is not None:
            self.returned = state[:, 1:].clone() if keep_returned else None
            self.averaging.end(state[:, 1:], round_index)
            return
        assert moved is not None
        state[:, 0] = moved
        if lowered.stale:
            self._receive(visits, seed)
        self._note_finite()
        if (round_index + 1) % LOOK_EVERY.get(self.task.device.type, 1) == 0:
            self.look()

    def _shift(self, round_index: int, live: Ints) -> tuple[float, Tensor] | None:
        """c_t and the mean gradient that corrects the round's local work; None without a correction."""
        by = self.lowered.correcting(round_index)
        if not by:
            return None
        if self.lowered.pipelined:
            return by, self.state[:, 1].clone()
        return by, self._mean_gradients(self.lowered.gradients or self.lowered.cohorts, round_index, live)

    def _order(self, visits: Visits) -> Ints:
        """Visits with more steps first, among them larger clients first."""
        size = self.task.offsets[visits.client + 1] - self.task.offsets[visits.client]
        return np.lexsort((np.arange(len(visits)), -size, -visits.steps))

    def _slots(self, visits: Visits, own: Ints) -> Ints:
        """Which part of a state each visit starts from."""
        if self.lowered.stale:
            return 1 + visits.client[own]
        return np.zeros(len(own), dtype=np.int64) if self.averaging is None else 1 + visits.position[own]

    def _visit(
        self, visits: Visits, own: Ints, seed: Ints, x: Tensor, shift: tuple[float, Tensor] | None,
        moved: Tensor | None, fresh: Tensor | None, tally: Tally,
    ) -> None:  # fmt: skip
        """The local work of some visits, and what it changes: `moved`, `fresh`, or the models of the state."""
        torch, lowered, task, momentum = library(), self.lowered, self.task, self.lowered.momentum
        rows, slots, client = self._numbers(seed), self._numbers(self._slots(visits, own)), visits.client[own]
        begun = self.state[rows, slots]
        keep = 0.0 if momentum is None else float(1 - momentum.a)
        constant: Tensor | None = None
        if momentum is not None:
            constant = self.state[rows, 1].mul_(keep)
        if shift is not None:
            by, estimate = shift
            shifted: Tensor = estimate.index_select(0, rows)
            constant = shifted.sub_(whole_gradients(self.local, client, begun, tally)).mul_(by)
        reduced = momentum is not None and momentum.variance_reduced
        slope = 1.0 if momentum is None or reduced else float(momentum.a)
        buffer = None
        if lowered.rho:
            buffer = torch.zeros_like(begun) if self.buffers is None else self.buffers[rows, slots - 1]
        keep = keep if reduced else 0.0
        steps = visits.eta[own], visits.prox[own]
        decay = min(lowered.decay, torch.finfo(task.dtype).max)
        direction = Direction(*steps, slope, constant, keep, buffer, lowered.rho, decay, lowered.clip)
        y = begun.clone()
        if lowered.whole:
            train_whole(self.local, client, visits.steps[own], direction, y, tally)
        else:
            size = task.offsets[client + 1] - task.offsets[client]
            work = Work(visits.first[own], size, lowered.batch, visits.steps[own], visits.samples)
            train(self.local, work, direction, y, tally)
        if self._ends is not None:
            self._ends[rows] = y
        if self.averaging is not None:
            kept = slots - 1
            self.state[rows, slots] = y
            if self.buffers is not None:
                self.buffers[rows, kept] = buffer
            return
        assert moved is not None
        step = torch.zeros_like(moved).index_add_(0, rows, (y - begun).mul_(column(task, visits.factor[own])))
        if fresh is not None:
            length = visits.steps[own] * visits.eta[own]
            with np.errstate(divide="ignore", invalid="ignore"):
                weight = np.where(visits.steps[own] > 0, visits.share[own] / length, 0.0)
            back = (x.index_select(0, rows) - y).mul_(column(task, weight))
            fresh.add_(torch.zeros_like(fresh).index_add_(0, rows, back))
        moved.add_(step)  # nothing that needs memory comes after the first change

    def _receive(self, visits: Visits, seed: Ints) -> None:
        """Every client of the cohort gets the server's new point."""

        def work(part: slice, tally: Tally) -> None:
            rows = self._numbers(seed[part])
            self.state[rows, self._numbers(1 + visits.client[part])] = self.state[rows, 0]

        self.lanes.run(len(visits), work)

    def _note_finite(self) -> None:
        finite = library().isfinite(self.state[:, 0]).all(dim=1)
        self._finite = finite if self._finite is None else self._finite & finite

    def look(self) -> None:
        """Bring `alive` up to date."""
        if self._finite is not None:
            self.alive &= self._finite.cpu().numpy()
            self._finite = None

    def settle(self) -> None:
        """Bring `alive` up to date, and the server's points where clients average their models among themselves."""
        if self.averaging is not None:
            self.state[:, 0] = self.averaging.mean(self.state[:, 1:])
            self._note_finite()
        self.look()


Place = slice | Tensor


class Averaging:
    """The averaging that ends each round; models are (S, models, dim), weights of the average (models,)."""

    def __init__(self, blocks: Blocks, weights: Floats, dim: int, dtype: Tensor, device: Tensor) -> None:
        self.blocks = blocks
        self.dim = dim
        self.device = device
        self.weights: Tensor = library().as_tensor(weights, dtype=dtype).to(device)
        self.pattern = self._pattern()

    def _pattern(self) -> list[Place | None]:
        """What is averaged after each round of a period: a slice of consecutive coordinates, or their indices."""
        blocks, dim = self.blocks, self.dim
        if blocks.partition == "whole":
            return [None] * (blocks.tau - 1) + [slice(0, dim)]
        if blocks.partition == "even":
            cuts = [dim * k // blocks.tau for k in range(blocks.tau + 1)]
            places: list[Place | None] = [slice(a, b) for a, b in itertools.pairwise(cuts)]
        else:
            places = [self._place(own) for own in blocks.blocks(dim)]
        return places if blocks.order is None else [places[k] for k in blocks.order]

    def _place(self, coordinates: Sequence[int]) -> Place:
        own = np.sort(np.asarray(coordinates, dtype=np.int64))
        if not len(own) or own[-1] - own[0] + 1 == len(own):
            return slice(int(own[0]), int(own[-1]) + 1) if len(own) else slice(0, 0)
        return library().from_numpy(own).to(self.device)

    def mean(self, models: Tensor) -> Tensor:
        """Their weighted mean (S, k) at some coordinates (S, models, k)."""
        total = models[:, 0] * self.weights[0]
        for k in range(1, models.shape[1]):
            total.addcmul_(models[:, k], self.weights[k])
        return total

    def end(self, models: Tensor, round_index: int) -> None:
        """End a round, in place."""
        place, moved = self.pattern[round_index % self.blocks.tau], self.blocks.hand_over
        if moved is not None and moved.design == 1 and (round_index + 1) % moved.every == 0:
            place = slice(0, self.dim)
        if place is None:
            return
        if isinstance(place, slice):
            own = models[:, :, place]
            own.copy_(self.mean(own).unsqueeze(1).expand_as(own))
        else:
            own = models.index_select(2, place)
            models.index_copy_(2, place, self.mean(own).unsqueeze(1).expand_as(own))
