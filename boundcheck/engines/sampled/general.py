"""The general compiled path's steps: `execute` carries out a stretch of a plan for any visits and any flat arrays.

Data and points are padded as `gradients` says. The order of operations is fixed and no operation mixes seeds: a seed's
numbers do not depend on which others run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boundcheck.engines.sampled import variates
from boundcheck.engines.sampled.gradients import estimate_gradient, full_gradient, mean_gradient
from boundcheck.engines.sampled.jit import bare, bare_inlined, stamp
from boundcheck.engines.sampled.lanes import added, blended, clipped, copied, moved, read, shifted, write

NONE, REDUCED, PRACTICAL = 0, 1, 2  # kinds of momentum
OWN, PIPELINED = 1, 2  # kinds of correction: by the gradients of this round, or of the one before
STALE, BLOCKS = 1, 2  # kinds of exchange
PLAIN, AHEAD = 1, 2  # kinds of the server's momentum: clients receive the server's point, or the one ahead of it
VECTORS = 14  # points that `execute` works with


@bare_inlined
def mean_model(models: Any, portions: Any, row: Any) -> None:
    """row = the weighted mean of models[1:]."""
    for k in range(len(row)):
        row[k] = portions[0] * models[1, k]
    for i in range(1, len(portions)):
        for k in range(len(row)):
            row[k] += portions[i] * models[1 + i, k]


def _make_full_gradients(version: int) -> Any:
    def full_gradients(
        oracle: Any, x: Any, row: Any, begin: Any, size: Any, every: Any, work: Any, residual: Any, out: Any
    ) -> None:
        """The gradient of such a client at each row of x (S, d), to out (S, d). work, residual: see `execute`."""
        _, classes = version, oracle[1]
        for s in range(len(x)):
            read(x[s], work[0], classes)
            full_gradient(oracle, work[0], row, begin, size, every, residual, work[1])
            write(work[1], out[s], classes)

    return full_gradients


def _make_execute(version: int, controlled: bool) -> Any:
    def execute(
        oracle: Any, state: Any, first: Any, rounds: Any, stop: Any, stops: Any, points: Any, starts: Any,
        returned: Any, plan: Any, tables: Any, common: Any, full: Any, batch: Any, eta: Any, momentum: Any,
        correction: Any, exchange: Any, server: Any, control: Any, room: Any,
    ) -> None:  # fmt: skip
        """Carry out rounds first..first+rounds-1 of every seed from state (S, parts, d), updated in place.

        points (S, G, d) receives the server's point after stops[g] rounds; `stop` is the first g with stops[g] > first.
        starts (S, epochs, d): the points before each epoch, and returned (S, m, d): what the members of the cohort
        return, or (0, 0, 0) where nobody asks.
        plan: counts (S, rounds), the members of the cohorts; entry, often, place (S, rounds, m): each member's row in
        the tables, how often it was drawn, and where its samples begin in `sequence`; every: all samples.
        tables: clients, rows (of the clients' matrices), begins, ..., prox, one entry a visit. eta: (rounds, K), that
        of each local step, or (rounds, 1).
        common: whether coefficients are multiplied by a factor of their cohort, 1 over the sum of its entries of
        `weight`, times count_all over its size if that is not 0.
        momentum: NONE, REDUCED or PRACTICAL, with a = fresh and 1 - a = keep, rho of the local one, or 0, the
            weight decay of local steps, or 0, and the largest norm of their gradients, or infinity.
        correction: NONE, OWN or PIPELINED, with c_t (rounds,) and the clients whose gradients it takes: how many
        (S, rounds), their numbers, rows, first components, sizes and weights (S, rounds, m').
        exchange: NONE, STALE or BLOCKS, with the models' weights, the coordinates that are averaged after round q:
        coordinates[cuts[q]] to coordinates[cuts[q + 1]], their numbers in a row.
        server: NONE, PLAIN or AHEAD, and the momentum of the server's step (rounds,).
        control: the kind of `variates` (read where `controlled`), the sign of the correction, the shares s_i of all
        clients and their first components (n + 1,), inner, what becomes of the point before each round (S, rounds), and
        of the reference point after it (rounds,).
        room: work (VECTORS, padded), slopes (m', padded) and residual (see `mean_gradient`), to work in.
        """
        kind, classes, ridge, b, target, curvature, columns = oracle[:7]
        counts, entry, often, place, sequence, every = plan
        clients, rows, begins, sizes, steps, scale, factor, share, weight, prox = tables
        shared, count_all = common
        moving, fresh, keep, rho, decay, clip = momentum
        correcting, by, asked, ask_client, ask_row, ask_begin, ask_size, ask_voice = correction
        exchanging, portions, cuts, coordinates = exchange
        pushing, push = server
        controlling, sign, shares, offsets, inner, noting, renewing = control
        work, slopes, residual = room
        _ = version
        x, y, g, anchor, after, m = work[0], work[1], work[2], work[3], work[4], work[5]
        before, direction, begun, estimate, shift, last = work[6], work[7], work[8], work[9], work[10], work[11]
        buffer, ahead = work[12], work[13]
        for s in range(len(state)):
            read(state[s, 0], x, classes)
            if moving != NONE:
                read(state[s, 1], m, classes)
                read(state[s, 2], before, classes)
            if correcting == PIPELINED:
                read(state[s, 1], last, classes)
            if pushing != NONE:
                read(state[s, 1], before, classes)
            if controlled:
                read(state[s, 1], estimate, classes)
            next_stop = stop
            for q in range(rounds):
                factor_of_all = 1.0
                if shared and counts[s, q] > 0:
                    total, size_of_all = 0.0, 0.0
                    for p in range(counts[s, q]):
                        total += weight[entry[s, q, p]] * often[s, q, p]
                        size_of_all += often[s, q, p]
                    factor_of_all = (count_all / size_of_all if count_all > 0 else 1.0) / total
                if moving == REDUCED and first + q > 0:
                    blended(m, keep, 0.0, x)
                    for p in range(counts[s, q]):
                        e = entry[s, q, p]
                        full_gradient(oracle, x, rows[e], begins[e], sizes[e], every, residual, g)
                        full_gradient(oracle, before, rows[e], begins[e], sizes[e], every, residual, anchor)
                        added(m, share[e], g, keep, anchor)
                shift[:] = 0.0
                if controlled:
                    last[:] = 0.0
                    if noting[s, q] != NONE:
                        variates.noted(noting[s, q], x, state[s], classes, anchor)
                known = 0
                if correcting == PIPELINED or (correcting == OWN and by[q] != 0.0):
                    known = asked[s, q]
                    estimate_gradient(
                        oracle, x, ask_row[s, q], ask_begin[s, q], ask_size[s, q], ask_voice[s, q], known, every,
                        residual, slopes, anchor,
                    )  # fmt: skip
                    copied(estimate, last if correcting == PIPELINED else anchor)
                    copied(last, anchor)
                copied(after, x)
                copied(ahead, x)
                if pushing != NONE:
                    added(after, push[q], x, 1.0, before)
                if pushing == AHEAD:
                    copied(ahead, after)
                direction[:] = 0.0
                for p in range(counts[s, q]):
                    e = entry[s, q, p]
                    rate = eta[q, 0] * scale[e]
                    at = place[s, q, p]
                    left = sizes[e]
                    epoch = 0
                    if exchanging == NONE:
                        copied(begun, ahead)
                    else:
                        read(state[s, 1 + (clients[e] if exchanging == STALE else p)], begun, classes)
                    if correcting != NONE and by[q] != 0.0:
                        found = 0
                        while found < known and ask_client[s, q, found] != clients[e]:
                            found += 1
                        if found == known:
                            full_gradient(oracle, begun, rows[e], begins[e], sizes[e], every, residual, g)
                        else:
                            copied(g, slopes[found])
                        copied(shift, estimate)
                        added(shift, -1.0, g, 0.0, x)
                        blended(shift, by[q], 0.0, x)
                    if controlled:
                        variates.variate(
                            oracle, controlling, state[s], clients[e], rows[e], begins[e], sizes[e], every, residual,
                            classes, direction, anchor,
                        )  # fmt: skip
                        shift[:] = 0.0
                        added(shift, sign, estimate, 1.0, anchor)
                    bent = prox[e] != 0.0 or (correcting != NONE and by[q] != 0.0) or controlled
                    copied(y, begun)
                    if rho != 0.0:
                        buffer[:] = 0.0
                        if exchanging == BLOCKS:
                            read(state[s, 1 + len(portions) + p], buffer, classes)
                    for local in range(steps[e]):
                        if eta.shape[1] > 1:
                            rate = eta[q, local] * scale[e]
                        if len(starts) and (full or left == sizes[e]):
                            write(y, starts[s, epoch], classes)
                            epoch += 1
                        count = min(batch, left)
                        if full:
                            full_gradient(oracle, y, rows[e], begins[e], sizes[e], every, residual, g)
                        else:
                            mean_gradient(
                                kind, classes, ridge, b, target, curvature, columns, y, sequence, at, count, residual, g
                            )  # fmt: skip
                        if clip < np.inf:
                            clipped(g, clip)
                        if decay != 0.0:
                            blended(g, 1.0, decay, y)
                        if moving == REDUCED:
                            if full:
                                full_gradient(oracle, x, rows[e], begins[e], sizes[e], every, residual, anchor)
                            else:
                                mean_gradient(
                                    kind, classes, ridge, b, target, curvature, columns, x, sequence, at, count,
                                    residual, anchor,
                                )  # fmt: skip
                            added(g, keep, m, 1.0, anchor)
                        elif moving == PRACTICAL:
                            blended(g, fresh, keep, m)
                        if rho != 0.0:
                            if bent:
                                added(g, 1.0, shift, 0.0, y)
                                added(g, prox[e], y, 1.0, begun)
                            blended(buffer, rho, 1.0, g)
                            moved(y, -rate, buffer)
                        elif bent:
                            shifted(y, rate, g, shift, prox[e], begun)
                        else:
                            moved(y, -rate, g)
                        at += count
                        left -= count
                        if left == 0:
                            left = sizes[e]
                    if len(returned):
                        write(y, returned[s, p], classes)
                    if exchanging == BLOCKS:
                        write(y, state[s, 1 + p], classes)
                        if rho != 0.0:
                            write(buffer, state[s, 1 + len(portions) + p], classes)
                    else:
                        added(after, factor[e] * factor_of_all * often[s, q, p], y, 1.0, begun)
                    if controlled:
                        variates.renewed(
                            oracle, controlling, x, y, estimate, steps[e] * rate, shares[clients[e]], rows[e],
                            begins[e], sizes[e], every, residual, classes, anchor, g, last, state[s], clients[e],
                        )  # fmt: skip
                    if moving == PRACTICAL and steps[e] > 0:
                        added(direction, share[e] / (steps[e] * rate), x, 1.0, y)
                if moving == PRACTICAL:
                    blended(m, keep, fresh, direction)
                copied(before, x)
                copied(x, after)
                if controlled:
                    added(estimate, 1.0, last, 0.0, x)
                    if renewing[q] != NONE:
                        variates.referred(
                            oracle, renewing[q], inner, shares, offsets, every, residual, classes, state[s], x, g,
                            estimate,
                        )  # fmt: skip
                if exchanging == STALE:
                    for p in range(counts[s, q]):
                        write(x, state[s, 1 + clients[entry[s, q, p]]], classes)
                for i in range(cuts[q], cuts[q + 1]):
                    k = coordinates[i]
                    mean = portions[0] * state[s, 1, k]
                    for own in range(1, len(portions)):
                        mean += portions[own] * state[s, 1 + own, k]
                    for own in range(len(portions)):
                        state[s, 1 + own, k] = mean
                if next_stop < len(stops) and stops[next_stop] == first + q + 1:
                    if exchanging == BLOCKS:
                        mean_model(state[s], portions, points[s, next_stop])
                    else:
                        write(x, points[s, next_stop], classes)
                    next_stop += 1
            if exchanging == BLOCKS:
                mean_model(state[s], portions, state[s, 0])
            else:
                write(x, state[s, 0], classes)
            if moving != NONE:
                write(m, state[s, 1], classes)
                write(before, state[s, 2], classes)
            if correcting == PIPELINED:
                write(last, state[s, 1], classes)
            if pushing != NONE:
                write(before, state[s, 1], classes)
            if controlled:
                write(estimate, state[s, 1], classes)

    return execute


VERSION = stamp("lanes.py", "gradients.py", "variates.py")
full_gradients = bare(_make_full_gradients(VERSION))
execute = bare(_make_execute(VERSION, False))
execute_controlled = bare(_make_execute(VERSION, True))  # for control variates; compiled where a method has some
