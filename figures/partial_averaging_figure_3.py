"""Figure 3 of partial averaging: the least loss of a local model against the loss of the averaged model.

Run: python figures/partial_averaging_figure_3.py [-o DIR] [--rounds N]
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

NAME = "partial_averaging_figure_3"
ROUNDS = 60


def rises(values: c.Array) -> int:
    """After how many rounds a loss is above that of the round before."""
    return int((np.diff(values) > 0).sum())


def draw(ax: Axes, kind: str, runs: Sequence[f.Trace]) -> None:
    """One panel: mean and range over the seeds."""
    rounds = np.arange(1, len(runs[0].at) + 1)
    for curves, colour, dashes, label in (
        ([run.whole for run in runs], f.COLOURS[kind], "-", "averaged model (global loss)"),
        ([run.least for run in runs], c.GREY, (0, (4, 2)), "least over the local models"),
    ):
        ax.fill_between(rounds, np.min(curves, 0), np.max(curves, 0), color=colour, alpha=0.2, lw=0)
        ax.plot(rounds, np.mean(curves, 0), color=colour, lw=1.5, ls=dashes, label=label)
    ax.set_yscale("log")
    ax.set_xlabel(f"communication round ({f.TAU} iterations)")
    ax.set_title(f"{kind.capitalize()} averaging", loc="left", fontsize=9.5)
    ax.legend(frameon=False, fontsize=8, loc="upper right")
    c.style(ax)


def facts(traces: Mapping[str, Sequence[f.Trace]]) -> dict[str, Any]:
    """Numbers and findings, all computed from the results; those of random curves seed by seed."""
    up = {kind: np.array([rises(t.whole) for t in runs], dtype=float) for kind, runs in traces.items()}
    end = {kind: np.array([t.whole[-1] for t in runs]) for kind, runs in traces.items()}
    ratio = {
        kind: np.array([(t.least / t.whole)[len(t.whole) // 2 :].mean() for t in runs]) for kind, runs in traces.items()
    }

    def lower(label: str, values: Mapping[str, c.Array]) -> fd.Decision:
        return fd.ordered([fd.Comparison(label, values["partial"], values["periodic"])], ("partial", "periodic"))

    decisions = {
        "spikes": lower("rounds after which the global loss is higher", up),
        "faster": lower("global gap in the end", end),
        "together": lower("least local over global gap, last half", ratio),
    }
    notes = []
    if min(float(v.min()) for v in ratio.values()) > 1:
        notes.append(
            "With either method the averaged model is better than every local one in the mean: the loss is convex "
            "here, so "
            "that averaging models cannot raise it above their mean loss, as it can for a network."
        )
    caption = (
        "Training loss above its minimum, over all data, of the averaged model and of the best local model, one "
        f"iteration before the end of each round of {f.TAU}, when the models have been apart for longest. Mean "
        f"(lines) and range (bands) over {f.SEEDS} runs of softmax regression (ridge {f.DIGITS['ridge']}) on the "
        f"digits of scikit-learn, split at "
        f"random over {f.DIGITS['clients']} workers, batches of {f.BATCH}, step {f.DIGITS_STEP}; it stands for the "
        "paper's ResNet20 on CIFAR-10 with 128 workers, which is in configs/neural/full."
    )
    return {
        "schema": 1,
        "title": "Least local loss against global loss (Figure 3 of the partial averaging paper)",
        "rounds": len(traces["partial"][0].at),
        "ends": {kind: float(v.mean()) for kind, v in end.items()},
        "rises": {kind: float(v.mean()) for kind, v in up.items()},
        "least_over_global": {kind: float(v.mean()) for kind, v in ratio.items()},
        "findings": fd.judged("partial_averaging", "Figure 3", decisions),
        "notes": notes,
        "caption": caption,
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    files.add_folder(parser)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds of {f.TAU} iterations (default {ROUNDS})")
    chosen = parser.parse_args(argv)
    if chosen.rounds < 2:
        parser.error("at least 2 rounds are needed.")
    out = files.folder_of(chosen.out, NAME)
    problem, iterations = f.digits(), f.TAU * chosen.rounds - 1
    traces = {
        kind: [f.trace(problem, f.on_digits(kind), iterations, s, losses=True) for s in range(f.SEEDS)]
        for kind in f.KINDS
    }
    figure, ((left, right),) = c.canvas()
    for ax, kind in ((left, "periodic"), (right, "partial")):
        draw(ax, kind, traces[kind])
    low, high = zip(left.get_ylim(), right.get_ylim(), strict=True)
    for ax in (left, right):
        ax.set_ylim(min(low), max(high))
    left.set_ylabel("F − F*")
    for path in c.save(figure, facts(traces), out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
