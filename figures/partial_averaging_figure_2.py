"""Figure 2 of partial averaging: how far the local models are from their average, iteration by iteration."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import _findings as fd
import _partial_averaging as f
import _study as s
import numpy as np

from boundcheck.engines.run import run
from boundcheck.engines.simulate import run_sampled
from boundcheck.evidence.studies.study import Series
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.report.words import pretty

SECONDS = 42
DIM, STEP = 8, Fraction(1, 40)


def quadratics(workers: int) -> dict[str, Any]:
    """The same for all workers: curvatures 1/4, 2/4, ..., 2 and noise of variance 1 in every coordinate; start 1."""
    A = [[f"{i + 1}/4" if i == j else "0" for j in range(DIM)] for i in range(DIM)]
    samples = [{"A": A, "b": [sign * (-1) ** i for i in range(DIM)]} for sign in (1, -1)]
    return {"kind": "quadratics", "clients": [{"components": samples}] * workers, "start": [1] * DIM}


def expected(kind: str, iterations: int, workers: int) -> s.Array:
    """The expected discrepancy on the quadratics after 0, 1, ... iterations, by the exact engine: one row."""
    method, rounds = build_method(f.method(kind, eta=str(STEP))), list(range(iterations + 1))
    return run(method, build_problem(quadratics(workers)), rounds=rounds, metrics=("discrepancy",)).values[
        "discrepancy"
    ][None]


def sampled(kind: str, iterations: int) -> s.Array:
    """The discrepancy on the digits, (seeds, iterations + 1)."""
    method = build_method(f.method(kind, batch=f.BATCH))
    names, rounds = ("discrepancy",), list(range(iterations + 1))
    return run_sampled(method, build_problem(f.DIGITS), iterations, f.SEEDS, names, rounds).samples["discrepancy"]


def shape(values: s.Array) -> dict[str, Any]:
    """Mean, peak and least value over whole periods, the first one left out, of curves (seeds, iterations + 1).

    By seed; of one curve, which is exact, the numbers themselves.
    """
    late = values[:, f.TAU : (values.shape[1] - 1) // f.TAU * f.TAU]
    found = {"mean": late.mean(axis=1), "peak": late.max(axis=1), "least": late.min(axis=1)}
    return {name: float(v[0]) for name, v in found.items()} if len(values) == 1 else found


def findings(shapes: Mapping[str, Mapping[str, Any]]) -> dict[str, fd.Decision]:
    """The paper's findings: exactly on the quadratics, seed by seed on the digits."""
    peaks = [fd.Comparison(f"{name}, peak", *(by[k]["peak"] for k in f.KINDS)) for name, by in shapes.items()]
    spans = [
        fd.Comparison(f"{name}, least over peak", *(by[k]["least"] / by[k]["peak"] for k in reversed(f.KINDS)))
        for name, by in shapes.items()
    ]
    return {"peak": fd.ordered(peaks, f.KINDS), "stable": fd.ordered(spans, f.KINDS[::-1])}


def make(iterations: int = 120, workers: int = 128) -> s.Made:
    """The figure."""
    curves = {
        "quadratics": {kind: expected(kind, iterations, workers) for kind in f.KINDS},
        "digits": {kind: sampled(kind, iterations) for kind in f.KINDS},
    }
    shapes = {name: {kind: shape(v) for kind, v in by.items()} for name, by in curves.items()}
    # in pure noise partial averaging has the constant eta^2 sigma^2 (m-1)/m (tau-1)/2
    flat = float(STEP**2 * DIM * Fraction(workers - 1, workers) * (f.TAU - 1) / 2)
    notes = [
        f"On the {name} periodic averaging has {np.mean(by['periodic']['mean'] / by['partial']['mean']):.2f} times the "
        "mean of partial averaging: it is the peak that is lower, not the distance on average."
        for name, by in shapes.items()
    ]
    caption = (
        "The mean over the workers of the squared distance of their models from the average, by iteration; interval "
        f"{f.TAU}. Left: expectation, without sampling error, by the exact engine for {workers} alike quadratic "
        f"workers in dimension {DIM} (curvatures 1/4 to 2, noise of variance 1 in each coordinate, step {STEP}); "
        "dotted: the constant of partial averaging and the peak of periodic averaging if there were no gradient at "
        f"all ({pretty(flat)} and twice that). Right: mean (lines) and range (bands) {f.RUNS}. The paper has one "
        "network; configs/neural/partial_averaging.toml has a small one."
    )
    titles = (f"Quadratics, {workers} workers, exact expectation", "Softmax regression on digits, 16 workers")
    drawn = [
        (
            title,
            f"mean squared distance, {name}",
            {f"{kind} averaging": (range(iterations + 1), v) for kind, v in by.items()},
        )
        for title, (name, by) in zip(titles, curves.items(), strict=True)
    ]
    fields = s.panels("iteration", drawn, log=False)
    marks = [Series("in pure noise", (0, iterations), (v, v), "trivial", 2) for v in (flat, 2 * flat)]
    shown = s.study(
        "The model discrepancy by iteration (Figure 2 of the partial averaging paper)",
        caption,
        notes,
        **fields | {"series": (*fields["series"], *marks)},
        data={
            "workers": workers,
            "shapes": {
                name: {kind: {w: float(np.mean(v)) for w, v in own.items()} for kind, own in by.items()}
                for name, by in shapes.items()
            },
            "pure_noise": flat,
        },
    )
    return s.Made(shown, findings(shapes))


main = s.script(make, iterations=3 * f.TAU, workers=2)

if __name__ == "__main__":
    s.start(main)
