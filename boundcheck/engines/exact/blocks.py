"""Every worker works on its own model, and after each round some coordinates of the models are averaged.

With u = sum of w_i y_i, the point of which metrics speak, and e_i = y_i - u, the state is [u - c; e_1; ...; e_m; 1];
what was just averaged is then exactly 0. A round of local work maps y_i to H_i y_i + l_i + xi_i, with noise xi_i that
is independent over the workers given the state, and averaging leaves u alone; P sets what is averaged to 0:

    u <- sum of w_j (H_j y_j + l_j + xi_j),  e_i <- P (H_i y_i + l_i + xi_i - u).

discrepancy: sum of w_i E|y_i - u|^2 before the round; "discrepancy:<j>" over the coordinates of block j (from 0) alone.
Where all workers are alike, `exchangeable` carries the same out without a model for each. Where models are handed over
among other clients, the state has a copy for every assignment of models to clients, times its indicator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import fmpq_mat

from boundcheck.core.linalg import rational
from boundcheck.engines.exact.assignments import assignments
from boundcheck.engines.exact.rings import Matrix, Ring
from boundcheck.engines.exact.rounds import Job, Plan, Rounds
from boundcheck.engines.exact.state import Exact, Layout
from boundcheck.engines.exact.visits import Local
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks, ServerStep, StepSize

MAX_PERIOD = 10_000  # rounds after which averaging and handing over repeat, at most

Sends = Sequence[tuple[Fraction, Matrix]]


class KeptRounds(Rounds):
    """What all rounds in which workers keep models have in common, however the state holds them.

    actions: for each round of a period the coordinates that are averaged after it, and whether models are handed over.
    deviations: per deviation y_i - u in the state its weight.
    """

    deviations: Sequence[Fraction] = ()

    def __init__(self, ring: Ring, method: Method, exact: Exact) -> None:
        super().__init__(ring, method, exact)
        exchange, everyone = method.exchange, tuple(range(exact.clients.count))
        assert isinstance(exchange, Blocks)
        self.exchange = exchange
        if method.participation.fixed(0, exact.clients) != everyone or self.period != 1:
            raise Unsupported(
                f"{method.name} averages models that the clients keep while only some of them take part in a round; "
                "the exact engine carries this out with full participation, or with a hand-over of the models."
            )
        if method.momentum is not None or method.correction is not None or method.server != ServerStep():
            raise Unsupported(
                f"{method.name} averages models that the clients keep; the exact engine carries this out without a "
                "momentum, a correction, or a server step other than 1."
            )
        self.actions = _actions(exchange, exact.layout.d)
        self.period = len(self.actions)
        self._made: dict[tuple[tuple[int, ...], bool], Plan] = {}
        self.local = self._worker = Local(ring, method, replace(exact, layout=Layout(exact.layout.d)))

    def plan(self, eta: StepSize, round_index: int, first: bool) -> Plan:
        """What a round does with step size eta."""
        if eta != self._step:
            self._step, self._made = eta, {}
        action = self.actions[round_index % self.period]
        if action not in self._made:
            self._made[action] = self.of_round(*action, eta)
        return self._made[action]

    def of_round(self, averaged: Sequence[int], handed: bool, eta: StepSize) -> Plan:
        """What a round does after which these coordinates are averaged, and the models handed over or not."""
        raise NotImplementedError

    def point_form(self, name: str) -> Matrix:
        """q (D, D) with "discrepancy" or "discrepancy:<j>" = trace(q M). Raises BadInput for a block that is none."""
        layout, blocks = self.exact.layout, self.exchange.blocks(self.exact.layout.d)
        chosen: Sequence[int] = range(layout.d)
        if ":" in name:
            number = int(name.partition(":")[2])
            if number >= len(blocks):
                raise BadInput(f"'{name}': there is no such block; the model has the blocks 0 to {len(blocks) - 1}.")
            chosen = blocks[number]
        form = fmpq_mat(layout.size, layout.size)
        for copy in range(layout.copies):
            for slot, weight in enumerate(self.deviations):
                for k in chosen:
                    at = copy * layout.each + layout.slot(slot) + k
                    form[at, at] = rational(weight)
        return self.ring.lift(form)

    def start(self, slot: int, copy: int = 0) -> Matrix:
        """S (d+1, D) with S z = [y - c; 1], y a kept model in one copy of the state."""
        layout, first = self.exact.layout, copy * self.exact.layout.each
        found = fmpq_mat(layout.d + 1, layout.size)
        for k in range(layout.d):
            found[k, first + k] = found[k, first + layout.slot(slot) + k] = 1
        found[layout.d, first + layout.each - 1] = 1
        return self.ring.lift(found)

    def visit(self, plan: Plan, client: int, begin: Matrix, sends: Sends, likely: Fraction, eta: StepSize) -> Matrix:
        """Add the noise of a client's visit to the plan, and give its mean map [H, l] (d, d+1).

        begin: S of `start`; sends: (weight, C (D, d)): the plan gets the sum of weight * C Cov C'. likely: how likely
        the copy of the state is in which the visit takes place.
        """
        ring, inner = self.ring, ((begin, begin),)
        works = [
            (p, visit, self.local.run(None, client, visit, eta))
            for p, visit in self.method.local.visits(client, range(self.exact.clients.count), self.exact.clients)
        ]
        mean = ring.sum([r.mean * ring.scalar(p) for p, _, r in works])
        for p, visit, run in works:
            apart = None if len(works) == 1 else ring.mul(run.mean - mean, begin)
            for weight, send in sends:
                share = ring.scalar(p * weight)
                if run.gamma is not None:
                    own = ring.mul(ring.mul(send, run.gamma * ring.scalar(p * weight * likely)), send.transpose())
                    plan.constant = own if plan.constant is None else plan.constant + own
                if not self.local.closed(client, visit):
                    plan.jobs.append(Job(client, visit, p * weight, send, inner))
                if apart is not None:
                    moved = ring.mul(send, apart)
                    plan.pairs.append((moved * share, moved))
        return mean


class BlockRounds(KeptRounds):
    """The rounds with a model for every worker in the state."""

    def __init__(self, ring: Ring, method: Method, exact: Exact) -> None:
        super().__init__(ring, method, exact)
        layout, handed = exact.layout, self.exchange.hand_over is not None
        self._assigned = assignments(method, self.exchange, exact.clients, layout.d)
        weights = [Fraction(1, layout.slots)] * layout.slots if handed else self.exchange.of(exact.clients.weights)
        self.deviations = tuple(weights)
        self._starts = [[self.start(s, copy) for s in range(layout.slots)] for copy in range(layout.copies)]

    def of_round(self, averaged: Sequence[int], handed: bool, eta: StepSize) -> Plan:
        """What a round does after which these coordinates are averaged, and the models handed over."""
        ring, layout = self.ring, self.exact.layout
        plan, rows, share = Plan(ring.one(layout.size)), list[Any](), Fraction(1, layout.copies)
        kept = [k not in set(averaged) for k in range(layout.d)]
        nothing = ring.rows(ring.zeros(1, layout.size))[0]
        for copy, clients in enumerate(self._assigned):
            moved: list[Matrix] = []
            for slot, client in enumerate(clients):
                begin, send = self._starts[copy][slot], self._send(copy, slot, kept)
                moved.append(ring.mul(self.visit(plan, client, begin, [(Fraction(1), send)], share, eta), begin))
            middle = ring.sum([v * ring.scalar(w) for v, w in zip(moved, self.deviations, strict=True)])
            rows.extend(ring.rows(middle))
            for v in moved:
                rows += [row if keep else nothing for row, keep in zip(ring.rows(v - middle), kept, strict=True)]
            rows.append(ring.rows(self._starts[copy][0])[-1])  # the copy's constant
        if layout.copies > 1:
            rows.append(ring.rows(ring.lift(layout.one))[0])
        plan.mean = ring.from_rows(rows)
        plan.pairs.append((plan.mean, plan.mean))
        return self._handed(plan) if handed and layout.copies > 1 else plan

    def _send(self, copy: int, slot: int, kept: Sequence[bool]) -> Matrix:
        """What a unit of the noise of one model adds to the state (D, d)."""
        layout, own, first = self.exact.layout, rational(self.deviations[slot]), copy * self.exact.layout.each
        send = fmpq_mat(layout.size, layout.d)
        for k in range(layout.d):
            send[first + k, k] = own
            for i in range(layout.slots if kept[k] else 0):
                send[first + layout.slot(i) + k, k] = int(i == slot) - own
        return self.ring.lift(send)

    def _handed(self, plan: Plan) -> Plan:
        """The plan and then a fresh assignment, all equally likely: the copy that is not 0 moves to another place."""
        ring, layout = self.ring, self.exact.layout
        share, fresh = Fraction(1, layout.copies), list[Matrix]()
        for copy in range(layout.copies):
            move = layout.one.transpose() * layout.one
            for other in range(layout.copies):
                for k in range(layout.each):
                    move[copy * layout.each + k, other * layout.each + k] = 1
            fresh.append(ring.lift(move))
        after = Plan(ring.mul(ring.sum(fresh) * ring.scalar(share), plan.mean))
        for move in fresh:
            part = move * ring.scalar(share)
            after.pairs += [(ring.mul(part, p), ring.mul(move, q)) for p, q in plan.pairs]
            after.jobs += [replace(j, weight=j.weight * share, send=ring.mul(move, j.send)) for j in plan.jobs]
            if plan.constant is not None:
                own = ring.mul(ring.mul(part, plan.constant), move.transpose())
                after.constant = own if after.constant is None else after.constant + own
        return after


def _actions(exchange: Blocks, dim: int) -> tuple[tuple[tuple[int, ...], bool], ...]:
    """What is averaged after each round, and whether models are handed over; a hand-over of design 1 averages all."""
    pattern, hand_over = exchange.pattern(dim), exchange.hand_over
    if hand_over is None:
        return tuple((averaged, False) for averaged in pattern)
    period = math.lcm(len(pattern), hand_over.every)
    if period > MAX_PERIOD:
        raise Unsupported(
            f"averaging every {len(pattern)} and handing over every {hand_over.every} rounds repeat after {period} "
            f"rounds; the exact engine composes at most {MAX_PERIOD}."
        )
    whole, found = tuple(range(dim)), list[tuple[tuple[int, ...], bool]]()
    for t in range(period):
        handed = (t + 1) % hand_over.every == 0
        found.append((whole if handed and hand_over.design == 1 else pattern[t % len(pattern)], handed))
    return tuple(found)
