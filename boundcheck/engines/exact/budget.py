"""What the dynamic programme over used samples will cost, said before it starts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact.rings import Ring
from boundcheck.engines.exact.state import Exact
from boundcheck.errors import Unsupported
from boundcheck.methods.parts import Visit

# Limits of the estimates for a whole run.
MAX_BYTES = 1_000_000_000
MAX_SECONDS = 60.0
_BYTES: Mapping[Arithmetic, int] = {Arithmetic.FLOAT64: 8, Arithmetic.BALL: 64, Arithmetic.RATIONAL: 200}
# One transition, and one multiplication in it.
_SECONDS: Mapping[Arithmetic, tuple[float, float]] = {
    Arithmetic.FLOAT64: (5e-5, 1e-9),
    Arithmetic.BALL: (5e-5, 3e-8),
    Arithmetic.RATIONAL: (6e-5, 8e-8),
}


def seconds_of(ring: Ring) -> tuple[float, float]:
    """About what one operation on matrices takes, and one multiplication in it."""
    return _SECONDS[ring.arithmetic]


def check_state(ring: Ring, exact: Exact, what: str) -> None:
    """Raise Unsupported where a matrix of the state for every client takes too much memory; what: makes the state."""
    size, clients = exact.layout.size, exact.clients.count
    needed = clients * size**2 * _BYTES[ring.arithmetic]
    if needed > MAX_BYTES:
        raise Unsupported(
            f"{what} make a state of {size} numbers with {clients} clients, and one matrix for each client would take "
            f"{needed / 1e9:.2g} GB in arithmetic '{ring.arithmetic}'; at most {MAX_BYTES / 1e9:g} GB are spent. Take "
            "engine = 'sampled' or fewer clients."
        )


def _estimate(ring: Ring, exact: Exact, counts: Sequence[int], visit: Visit, packed: bool) -> tuple[float, float]:
    """(seconds, bytes) of a visit to samples that occur so often each."""
    d = exact.layout.d
    # a visit to a kept model sees that model alone, unless operators on the whole state are made of it
    size = exact.layout.size if packed or not exact.rule.kept_by_clients else d + 1
    out, wide = d * (d + 1) // 2, size * (size + 1) // 2
    products = out * out * wide + 2 * d * d * size * size if packed else 4 * size**3
    kept = out * wide + d * size if packed else d * d + d * size
    each = -(-sum(counts) // visit.batch)
    if visit.sampling == "replacement":
        moves, widest = float(visit.steps * len(counts)), 1.0
    else:
        ways = [1]  # multisets of samples by their size
        for c in counts:
            ways = [sum(ways[max(0, k - c) : k + 1]) for k in range(len(ways) + c)]
        levels = ways[:: visit.batch]
        kinds = min(len(counts), 64)
        branch = len(counts) / 2 if visit.batch == 1 else math.comb(kinds, min(visit.batch, kinds))
        moves, widest = visit.steps / each * sum(levels) * branch, float(max(levels))
    one, multiplication = _SECONDS[ring.arithmetic]
    return moves * (one + products * multiplication), widest * kept * _BYTES[ring.arithmetic]


def _programmes(
    ring: Ring, exact: Exact, visits: Sequence[tuple[int, Visit]], packed: bool
) -> list[tuple[float, float, int, Visit]]:
    """(seconds, bytes, client, visit) of the visits that need the dynamic programme."""
    found: list[tuple[float, float, int, Visit]] = []
    if exact.samples is None:
        return found
    for i, visit in visits:
        own = exact.samples[i]
        if visit.sampling not in ("full", "exact") and not own.alike and visit.steps:
            found.append((*_estimate(ring, exact, own.counts, visit, packed), i, visit))
    return found


def composing_is_cheaper(ring: Ring, exact: Exact, visits: Sequence[tuple[int, Visit]], rounds: int) -> bool:
    """Whether one programme for operators on packed moments costs less than one at each of this many rounds."""
    packed, single = _programmes(ring, exact, visits, True), _programmes(ring, exact, visits, False)
    return sum(f[0] for f in packed) < rounds * sum(f[0] for f in single)


def check_visits(ring: Ring, exact: Exact, visits: Sequence[tuple[int, Visit]], packed: bool, times: int) -> None:
    """Raise Unsupported, with a limit in samples, where the visits of a run take too much memory or time.

    packed: whether operators on packed moments are computed, or values at one moment. times: how often.
    """
    found = _programmes(ring, exact, visits, packed)
    seconds, most = sum(f[0] for f in found) * times, max((f[1] for f in found), default=0.0)
    if exact.samples is None or (seconds <= MAX_SECONDS and most <= MAX_BYTES):
        return
    _, _, client, visit = max(found, key=lambda f: f[:2])
    each = -(-exact.samples[client].total // visit.batch)

    def fits(samples: int) -> bool:
        steps = -(-samples // visit.batch) * -(-visit.steps // each)
        whole = Visit(visit.sampling, steps, visit.scale, visit.batch)
        time, memory = _estimate(ring, exact, (1,) * samples, whole, packed)
        return time * times * len(found) <= MAX_SECONDS and memory <= MAX_BYTES

    limit = next(k for k in itertools.count(2) if k > 10_000 or not fits(k)) - 1
    raise Unsupported(
        f"client {client} holds {exact.samples[client].total} samples with different Hessians in dimension "
        f"{exact.layout.d}: going through the sets of used samples would take about {seconds:.2g} s and "
        f"{most / 1e9:.2g} GB in arithmetic '{ring.arithmetic}', and at most {MAX_SECONDS:g} s and "
        f"{MAX_BYTES / 1e9:g} GB are spent, enough for about {limit} samples a client here; use engine = 'sampled'."
    )
