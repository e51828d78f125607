"""The exact engine on FedShuffle: time and memory of expectations, and what sampling would need for the same.

Small: FedShuffle on equation (36) of Horvath et al. (3 clients with 1, 2 and 3 samples in R^6, full participation, step
1/8 divided by |D_i|). Large: 50 clients, d = 20, 10 samples each with one Hessian a client, 10 clients a round at
random. E of three metrics after every one of 1000 rounds, on one thread: in doubles, and as rigorous enclosures.

The factor over sampling: the sampled engine runs as many seeds as take about a second; their variance gives the
standard error of the mean gap after the last round, measured. The time for a relative standard error of 1e-4 is
extrapolated from it by (error/1e-4)^2, not measured.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from _table import Row, fresh, peak_mb, run, timed

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact, stationary
from boundcheck.engines.simulate import run_sampled
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Constant, Epochs, Full, Unbiased, Uniform
from boundcheck.problems import fedshuffle_36, quadratics

ROUNDS = 1000
METRICS = ("dist2", "gap", "grad2")
TARGETS = {"small": 0.05, "large": 5.0}  # seconds
MEMORY = 1000.0  # MB
WANTED = 1e-4  # relative standard error
SECONDS = 1.0  # of sampling, at least
TURNS = 3


def small() -> tuple[Method, Any]:
    method = Method("fedshuffle", Full(), Epochs(divide="size"), Constant(Fraction(1, 8), "eta_l"), Unbiased())
    return method, fedshuffle_36.build()


def large() -> tuple[Method, Any]:
    d, n, samples = 20, 50, 10
    rng = np.random.default_rng(0)
    clients: list[dict[str, Any]] = []
    for _ in range(n):
        root = rng.integers(-2, 3, (d, d))
        a = [[Fraction(int(v), 40) for v in row] for row in (root @ root.T + 10 * np.eye(d, dtype=int))]
        rows = rng.integers(-4, 5, (samples, d))
        clients.append({"components": [{"A": a, "b": [int(v) for v in b]} for b in rows]})
    method = Method("fedshuffle", Uniform(10), Epochs(divide="size"), Constant(Fraction(1, 20), "eta_l"), Unbiased())
    return method, quadratics.build(clients=clients, start=[0] * d, name="50 clients in dimension 20")


CASES = {"small": small, "large": large}


def once(case: str, arithmetic: str) -> dict[str, float]:
    """The first run in this process (the problem's own constants apart), the fastest later one, the peak memory."""
    method, problem = CASES[case]()
    problem.forms()
    how = Arithmetic(arithmetic)
    curves = [
        timed(lambda: run_exact(method, problem, range(ROUNDS + 1), METRICS, arithmetic=how)) for _ in range(TURNS)
    ]
    seconds = [spent for spent, _ in curves]
    gap = float(curves[0][1].values["gap"][-1])
    return {"first": seconds[0], "seconds": min(seconds[1:]), "peak": peak_mb(), "gap": gap}


def sampling(case: str, exact: float) -> float:
    """Seconds that one thread needs for the wanted error; the mean must be near the exact one."""
    method, problem = CASES[case]()
    run_sampled(method, problem, ROUNDS, range(2), ("gap",), [ROUNDS], threads=1)  # compiles
    seeds, spent, curve = 4, 0.0, None
    while curve is None or spent < SECONDS:
        seeds *= 4
        chosen = range(seeds)
        spent, curve = timed(
            lambda own=chosen: run_sampled(method, problem, ROUNDS, own, ("gap",), [ROUNDS], threads=1)
        )
    rows = np.asarray(curve.samples["gap"])[:, -1]
    error = float(rows.std(ddof=1) / np.sqrt(seeds) / rows.mean())
    if abs(rows.mean() / exact - 1) > 6 * error:
        raise SystemExit(f"{case}: the sampled mean {rows.mean()} is not the exact {exact}")
    return spent * (error / WANTED) ** 2


def results() -> Iterator[Row]:
    for case, target in TARGETS.items():
        found: dict[str, Any] = {}
        for name, arithmetic in (("in doubles", "float64"), ("enclosed", "ball")):
            found[name] = fresh(__file__, case, arithmetic)
            note = f"the first run {found[name]['first']:.3g} s"
            yield Row(f"{case} {name}: processor time", found[name]["seconds"], "s", target, note=note)
            yield Row(f"{case} {name}: peak memory", found[name]["peak"], "MB", MEMORY)
        needed = sampling(case, found["enclosed"]["gap"])
        for name, own in found.items():
            yield Row(
                f"{case} {name}: time of sampling over ours", needed / own["seconds"], "times", note="extrapolated"
            )
    method, problem = small()
    seconds, _ = timed(lambda: stationary(method, problem, arithmetic=Arithmetic.RATIONAL))
    yield Row("small: the limit of infinitely many rounds as fractions", seconds, "s", 1)


if __name__ == "__main__":
    sys.exit(run(__doc__, results, once))
