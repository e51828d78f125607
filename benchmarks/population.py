"""Peak memory and time by the number of clients: 100 of them take part in each of 50 rounds, whatever their number.

The clients' data are made when they take part (problem kind "population"), so that memory should not grow with their
number. Every number of clients is run in a fresh process, on one thread, with one seed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction

from _table import Row, fresh, peak_mb, run, timed

MODELS = ("isotropic", "logistic")
COUNTS = (10**4, 10**5, 10**6)
ROUNDS, COHORT, SAMPLES, DIM = 50, 100, 50, 50


def once(model: str, clients: str) -> dict[str, float]:
    from boundcheck.engines.simulate import run_sampled
    from boundcheck.methods.method import Method
    from boundcheck.methods.parts import Constant, Epochs, Unbiased, Uniform
    from boundcheck.problems.build import build

    made = {"kind": "population", "model": model, "samples": SAMPLES, "dim": DIM}
    problem, small = (build({**made, "clients": count}) for count in (int(clients), 2 * COHORT))
    local = Epochs(1, 10, divide="size")
    method = Method("fedshuffle", Uniform(COHORT), local, Constant(Fraction(1, 2)), Unbiased())
    run_sampled(method, small, 2, 1, threads=1)  # compiles, or loads what was compiled
    before = peak_mb()
    seconds, _ = timed(lambda: run_sampled(method, problem, ROUNDS, 1, ("dist2",), [0, ROUNDS], threads=1))
    return {"before": before, "peak": peak_mb(), "seconds": seconds}


def results() -> Iterator[Row]:
    for model in MODELS:
        least = 0.0
        for clients in COUNTS:
            found = fresh(__file__, model, clients)
            least = least or found["peak"]
            note = f"{found['before']:.0f} before the run, {found['seconds']:.2f} s"
            yield Row(f"{model}, {clients} clients: peak memory", found["peak"], "MB", 1.1 * least, note=note)


if __name__ == "__main__":
    sys.exit(run(__doc__, results, once))
