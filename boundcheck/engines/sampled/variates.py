"""Control variates on the general compiled path; what a state holds for them stands in `sampled.control`."""

from __future__ import annotations

from typing import Any

from boundcheck.engines.sampled.gradients import full_gradient
from boundcheck.engines.sampled.jit import bare_inlined
from boundcheck.engines.sampled.lanes import added, copied, read, write

KEPT_WHOLE, KEPT_DIFFERENCE, REFERENCE = 0, 1, 2  # kinds of control variates: by how a client's is renewed
NOTED, SUMMED = 1, 2  # what becomes of the point before a round: the next reference point, a part of its mean
LAST, CHOSEN, MEAN = 1, 2, 3  # what the reference point becomes at the end of a round


@bare_inlined
def variate(
    oracle: Any, kind: Any, held: Any, client: Any, row: Any, begin: Any, size: Any, every: Any, residual: Any,
    classes: Any, point: Any, own: Any,
) -> None:  # fmt: skip
    """own = c_i of a client, from what the state `held` (parts, d) holds. point: room to work in."""
    if kind == REFERENCE:
        read(held[2], point, classes)
        full_gradient(oracle, point, row, begin, size, every, residual, own)
    else:
        read(held[2 + client], own, classes)


@bare_inlined
def renewed(
    oracle: Any, kind: Any, x: Any, y: Any, c: Any, length: Any, share: Any, row: Any, begin: Any, size: Any,
    every: Any, residual: Any, classes: Any, own: Any, fresh: Any, gained: Any, held: Any, client: Any,
) -> None:  # fmt: skip
    """c_i = own becomes c_i+ in the state `held`, and gained grows by share (c_i+ - c_i)."""
    if kind == REFERENCE:
        return
    if kind == KEPT_WHOLE:
        full_gradient(oracle, x, row, begin, size, every, residual, fresh)
    else:
        for k in range(len(fresh)):
            fresh[k] = own[k] - c[k] + (x[k] - y[k]) / length
    added(gained, share, fresh, 1.0, own)
    write(fresh, held[2 + client], classes)


@bare_inlined
def noted(how: Any, x: Any, held: Any, classes: Any, point: Any) -> None:
    """Note the point x before a round in the place of the next reference point."""
    copied(point, x)
    if how == SUMMED:
        read(held[3], point, classes)
        added(point, 1.0, x, 0.0, x)
    write(point, held[3], classes)


@bare_inlined
def referred(
    oracle: Any, how: Any, inner: Any, shares: Any, offsets: Any, every: Any, residual: Any, classes: Any, held: Any,
    x: Any, slope: Any, c: Any,
) -> None:  # fmt: skip
    """x and the reference point become the next one, and c the mean gradient there."""
    if how != LAST:
        read(held[3], x, classes)
    if how == MEAN:
        for k in range(len(x)):
            x[k] /= inner
    write(x, held[2], classes)
    c[:] = 0.0
    for i in range(len(shares)):
        full_gradient(oracle, x, i, offsets[i], offsets[i + 1] - offsets[i], every, residual, slope)
        added(c, shares[i], slope, 0.0, x)
