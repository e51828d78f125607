"""A million values of SCGD's Theorem 3.3 with scope mask: boundcheck against hand-written NumPy.

Both give the bound and the mask at the same 10^6 constants; the hand-written mask is in plain floats, boundcheck's is
exact. Printed: median seconds of eleven alternating runs, their ratio, and the first (compiling) call apart.
"""

from __future__ import annotations

import statistics
import time
import tracemalloc

import numpy as np

import boundcheck.theory.discovery as discovery

COUNT = 10**6
RUNS = 11


def by_hand(mu, L, n, E, eta, sigma2, dist2_0, K):
    s = n * E * eta
    a = (4 * L**2 - mu**2) / (16 * L**4)
    C = np.minimum(1 / (2 * L), np.sqrt(mu**2 / (24 * L**4) + (a * mu) ** 2) - a * mu)
    return (1 - mu * s / 3) ** K * dist2_0 + 12 * L**2 * s**2 / mu**2 * sigma2, s <= C


def workloads() -> dict[str, dict]:
    rng = np.random.default_rng(2020)
    mu = rng.uniform(0.1, 1, COUNT)
    eta = 10 ** rng.uniform(-5, -2, COUNT)
    K = rng.integers(0, 1000, COUNT)
    every = {
        "mu": mu,
        "L": mu * rng.uniform(1, 10, COUNT),
        "n": rng.integers(1, 20, COUNT),
        "E": rng.integers(1, 8, COUNT),
        "eta": eta,
        "sigma2": rng.uniform(0, 1, COUNT),
        "dist2_0": rng.uniform(0, 9, COUNT),
        "K": K,
    }
    some = {"mu": 0.1, "L": 1.0, "n": 2, "E": 3, "sigma2": 1.0, "dist2_0": 4.0}
    return {
        "all eight symbols vary": every,
        "step size and cycle vary": {**some, "eta": eta, "K": K},
        "step size varies": {**some, "eta": eta, "K": 1000},
    }


def seconds(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    statement = discovery.statement("scgd/theorem_3_3")
    for name, values in workloads().items():
        first = seconds(lambda v=values: statement.evaluate(**v))
        hand, own = [], []
        for _ in range(RUNS):
            hand.append(seconds(lambda v=values: by_hand(**v)))
            own.append(seconds(lambda v=values: statement.evaluate(**v)))
        bound, mask = by_hand(**values)
        found = statement.evaluate(**values)
        worst = np.max(np.abs(found.value - bound) / bound)
        tracemalloc.start()
        statement.evaluate(**values)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        ours, theirs = statistics.median(own), statistics.median(hand)
        print(
            f"{name}: NumPy by hand {theirs * 1e3:.1f} ms, boundcheck {ours * 1e3:.1f} ms, ratio {ours / theirs:.2f} "
            f"(first call {first * 1e3:.1f} ms); largest relative difference {worst:.1e}, masks differ at "
            f"{np.count_nonzero(mask != found.in_scope)} points; peak {peak / 2**20:.0f} MiB besides the inputs"
        )


if __name__ == "__main__":
    main()
