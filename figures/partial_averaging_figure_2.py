"""Figure 2 of partial averaging: how far the local models are from their average, iteration by iteration.

Run: python figures/partial_averaging_figure_2.py [-o DIR] [--iterations N]
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import _common as c
import _files as files
import _findings as fd
import _partial_averaging as f
import numpy as np
from matplotlib.axes import Axes

from boundcheck.engines.run import run
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.report.words import pretty

NAME = "partial_averaging_figure_2"
ITERATIONS = 120
WORKERS, DIM, STEP = 128, 8, "1/40"


def quadratics(workers: int) -> dict[str, Any]:
    """The same for all workers: curvatures 1/4, 2/4, ..., 2 and noise of variance 1 in every coordinate; start 1."""
    A = [[f"{i + 1}/4" if i == j else "0" for j in range(DIM)] for i in range(DIM)]
    samples = [{"A": A, "b": [sign * (-1) ** i for i in range(DIM)]} for sign in (1, -1)]
    return {"kind": "quadratics", "clients": [{"components": samples}] * workers, "start": [1] * DIM}


def expected(kind: str, iterations: int, workers: int) -> c.Array:
    """The expected discrepancy on the quadratics after 0, 1, ... iterations, by the exact engine: one row."""
    method = build_method(f.method(kind, STEP))
    rounds = list(range(iterations + 1))
    curve = run(method, build_problem(quadratics(workers)), rounds=rounds, metrics=("discrepancy",))
    return curve.values["discrepancy"][None]


def shape(values: c.Array) -> dict[str, Any]:
    """Mean, peak and least value over whole periods, the first one left out, of curves (seeds, iterations + 1).

    By seed; of one curve, which is exact, the numbers themselves.
    """
    whole = (values.shape[1] - 1) // f.TAU * f.TAU
    late = values[:, f.TAU : whole]
    found = {"mean": late.mean(axis=1), "peak": late.max(axis=1), "least": late.min(axis=1)}
    return {name: float(v[0]) for name, v in found.items()} if len(values) == 1 else found


def flat(workers: int) -> float:
    """The constant that partial averaging has in pure noise: eta^2 sigma^2 (m-1)/m (tau-1)/2."""
    top, bottom = map(int, STEP.split("/"))
    return (top / bottom) ** 2 * DIM * (workers - 1) / workers * (f.TAU - 1) / 2


def draw(ax: Axes, curves: Mapping[str, c.Array], title: str, levels: Sequence[float] = ()) -> None:
    """One panel. levels: heights to be marked."""
    for level in levels:
        ax.axhline(level, color=c.GREY, lw=0.9, ls=(0, (1, 2)))
    for kind, values in curves.items():
        shown = np.arange(values.shape[1])
        ax.fill_between(shown, values.min(0), values.max(0), color=f.COLOURS[kind], alpha=0.2, lw=0)
        ax.plot(shown, values.mean(0), color=f.COLOURS[kind], lw=1.5, label=f"{kind} averaging")
    ax.set_xlabel("iteration")
    ax.set_title(title, loc="left", fontsize=9.5)
    ax.set_ylim(0, ax.get_ylim()[1] * 1.16)
    ax.legend(frameon=False, fontsize=8, loc="upper right", ncols=2)
    c.style(ax)


def facts(exact: Mapping[str, c.Array], sampled: Mapping[str, c.Array], workers: int) -> dict[str, Any]:
    """Numbers and sentences, all computed from the results."""
    found = {name: {kind: shape(v) for kind, v in curves.items()}
             for name, curves in (("quadratics", exact), ("digits", sampled))}  # fmt: skip
    peaks = [
        fd.Comparison(f"{name}, peak", by_kind["partial"]["peak"], by_kind["periodic"]["peak"])
        for name, by_kind in found.items()
    ]
    spans = [
        fd.Comparison(
            f"{name}, least over peak", *(by_kind[k]["least"] / by_kind[k]["peak"] for k in ("periodic", "partial"))
        )
        for name, by_kind in found.items()
    ]
    decisions = {
        "peak": fd.ordered(peaks, ("partial", "periodic")),
        "stable": fd.ordered(spans, ("periodic", "partial")),
    }
    notes = [
        f"On the {name} periodic averaging has "
        f"{np.mean(by_kind['periodic']['mean'] / by_kind['partial']['mean']):.2f} times the mean "
        "of partial averaging: it is the peak that is lower, not the distance on average."
        for name, by_kind in found.items()
    ]
    caption = (
        "The mean over the workers of the squared distance of their models from the average, by iteration; interval "
        f"{f.TAU}. Left: expectation, without sampling error, by the exact engine for {workers} alike quadratic "
        f"workers in dimension {DIM} (curvatures 1/4 to 2, noise of variance 1 in each coordinate, step {STEP}); "
        "dotted: the constant of partial averaging and the peak of periodic averaging if there were no gradient at "
        f"all ({pretty(flat(workers))} and twice that). Right: mean (lines) and range (bands) over {f.SEEDS} runs of "
        f"softmax regression on the "
        f"digits of scikit-learn, split at random over {f.DIGITS['clients']} workers, batches of {f.BATCH}, step "
        f"{f.DIGITS_STEP}. The paper has one network; configs/neural/partial_averaging.toml has a small one."
    )
    return {
        "schema": 1,
        "title": "The model discrepancy by iteration (Figure 2 of the partial averaging paper)",
        "workers": workers,
        "shapes": {
            n: {k: {w: float(np.mean(v)) for w, v in s.items()} for k, s in by.items()} for n, by in found.items()
        },
        "pure_noise": flat(workers),
        "findings": fd.judged("partial_averaging", "Figure 2", decisions),
        "notes": notes,
        "caption": caption,
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    files.add_folder(parser)
    parser.add_argument("--iterations", type=int, default=ITERATIONS, help=f"iterations (default {ITERATIONS})")
    parser.add_argument("--workers", type=int, default=WORKERS, help=f"quadratic workers (default {WORKERS})")
    chosen = parser.parse_args(argv)
    if chosen.iterations < 3 * f.TAU or chosen.workers < 2:
        parser.error(f"at least {3 * f.TAU} iterations and 2 workers are needed.")
    out = files.folder_of(chosen.out, NAME)
    exact = {kind: expected(kind, chosen.iterations, chosen.workers) for kind in f.KINDS}
    problem = f.digits()
    sampled = {
        kind: np.stack(
            [
                f.trace(problem, f.on_digits(kind), chosen.iterations, s, losses=False).discrepancy
                for s in range(f.SEEDS)
            ]
        )
        for kind in f.KINDS
    }
    figure, ((left, right),) = c.canvas()
    levels = (flat(chosen.workers), 2 * flat(chosen.workers))
    draw(left, exact, f"Quadratics, {chosen.workers} workers, exact expectation", levels)
    left.set_ylabel("mean squared distance from the averaged model")
    draw(right, sampled, "Softmax regression on digits, 16 workers")
    for path in c.save(figure, facts(exact, sampled, chosen.workers), out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
