"""A million values of SCGD's Theorem 3.3 with scope mask: boundcheck beside hand-written NumPy.

Both give the bound and the mask at the same 10^6 constants; the hand-written mask is in plain floats, boundcheck's is
exact. Medians of eleven turns; the first, compiling call apart.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
from _table import Row, run, take_turns, timed

from boundcheck.theory import discovery

COUNT, TURNS = 10**6, 11


def by_hand(mu: Any, L: Any, n: Any, E: Any, eta: Any, sigma2: Any, dist2_0: Any, K: Any) -> tuple[Any, Any]:
    s = n * E * eta
    a = (4 * L**2 - mu**2) / (16 * L**4)
    C = np.minimum(1 / (2 * L), np.sqrt(mu**2 / (24 * L**4) + (a * mu) ** 2) - a * mu)
    return (1 - mu * s / 3) ** K * dist2_0 + 12 * L**2 * s**2 / mu**2 * sigma2, s <= C


def workloads() -> dict[str, dict[str, Any]]:
    rng = np.random.default_rng(2020)
    mu, eta, K = rng.uniform(0.1, 1, COUNT), 10 ** rng.uniform(-5, -2, COUNT), rng.integers(0, 1000, COUNT)
    every = {
        "mu": mu, "L": mu * rng.uniform(1, 10, COUNT), "n": rng.integers(1, 20, COUNT), "E": rng.integers(1, 8, COUNT),
        "eta": eta, "sigma2": rng.uniform(0, 1, COUNT), "dist2_0": rng.uniform(0, 9, COUNT), "K": K,
    }  # fmt: skip
    some = {"mu": 0.1, "L": 1.0, "n": 2, "E": 3, "sigma2": 1.0, "dist2_0": 4.0}
    return {
        "all eight symbols vary": every,
        "step size and cycle vary": {**some, "eta": eta, "K": K},
        "step size varies": {**some, "eta": eta, "K": 1000},
    }


def results() -> Iterator[Row]:
    statement = discovery.statement("scgd/theorem_3_3")
    for name, values in workloads().items():
        first, _ = timed(lambda v=values: statement.evaluate(**v))
        sides = {"ours": lambda v=values: statement.evaluate(**v), "hand": lambda v=values: by_hand(**v)}
        seen = take_turns(sides, TURNS)
        (bound, mask), found = seen.found["hand"], seen.found["ours"]
        if np.max(np.abs(found.value - bound) / bound) > 1e-9 or np.mean(mask != found.in_scope) > 1e-6:
            raise SystemExit(f"{name}: the two sides disagree")
        tracemalloc.start()
        statement.evaluate(**values)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        note = f"{1e3 * seen.median('ours'):.0f} ms, the first call {1e3 * first:.0f} ms, {peak:.0f} MiB"
        yield Row(f"{name}: time over NumPy by hand", seen.ratio("ours", "hand"), most=2, note=note)


if __name__ == "__main__":
    sys.exit(run(__doc__, results))
