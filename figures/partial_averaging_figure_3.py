"""Figure 3 of partial averaging: the least loss of a local model against the loss of the averaged model.

Run: python figures/partial_averaging_figure_3.py [-o DIR] [--rounds N]
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import _common as c
import _files as files
import _partial_averaging as f
import numpy as np
from matplotlib.axes import Axes

from boundcheck.report.words import pretty

NAME = "partial_averaging_figure_3"
ROUNDS = 60


def rises(values: c.Array) -> int:
    """After how many rounds a loss is above that of the round before."""
    return int((np.diff(values) > 0).sum())


def draw(ax: Axes, kind: str, found: f.Trace) -> None:
    """One panel."""
    rounds = np.arange(1, len(found.at) + 1)
    ax.plot(rounds, found.whole, color=f.COLOURS[kind], lw=1.7, label="averaged model (global loss)")
    ax.plot(rounds, found.least, color=c.GREY, lw=1.2, ls=(0, (4, 2)), label="least over the local models")
    ax.set_yscale("log")
    ax.set_xlabel(f"communication round ({f.TAU} iterations)")
    ax.set_title(f"{kind.capitalize()} averaging", loc="left", fontsize=9.5)
    ax.legend(frameon=False, fontsize=8, loc="upper right")
    c.style(ax)


def facts(traces: Mapping[str, f.Trace]) -> dict[str, Any]:
    """Numbers and sentences, all computed from the results."""
    ends = {kind: {"global": float(t.whole[-1]), "least_local": float(t.least[-1])} for kind, t in traces.items()}
    up = {kind: rises(t.whole) for kind, t in traces.items()}
    ratio = {kind: float((t.least / t.whole)[len(t.whole) // 2 :].mean()) for kind, t in traces.items()}
    agrees: list[str] = []
    differs: list[str] = []

    def put(holds: bool, text: str) -> None:
        (agrees if holds else differs).append(text)

    put(
        up["periodic"] > up["partial"],
        f"The global loss rises after {up['periodic']} rounds of periodic and {up['partial']} of partial averaging; "
        "the paper has spikes for periodic averaging only.",
    )
    put(
        ends["partial"]["global"] < ends["periodic"]["global"],
        f"After the last round the global gap is {pretty(ends['partial']['global'])} with partial and "
        f"{pretty(ends['periodic']['global'])} with periodic averaging; the paper: partial averaging is ahead.",
    )
    put(
        ratio["partial"] < ratio["periodic"],
        f"Over the last half of the rounds the least local gap is {ratio['partial']:.3g} times the global one with "
        f"partial averaging and {ratio['periodic']:.3g} times with periodic; the paper: local and global loss go down "
        "together with partial averaging.",
    )
    if min(ratio.values()) > 1:
        differs.append(
            "With either method the averaged model is better than every local one in the mean: the loss is convex "
            "here, so that averaging models cannot raise it above their mean loss, as it can for a network."
        )
    caption = (
        "Training loss above its minimum, over all data, of the averaged model and of the best local model, one "
        f"iteration before the end of each round of {f.TAU}, when the models have been apart for longest. One run "
        f"(seed {f.SEED}) of softmax regression (ridge {f.DIGITS['ridge']}) on the digits of scikit-learn, split at "
        f"random over {f.DIGITS['clients']} workers, batches of {f.BATCH}, step {f.DIGITS_STEP}; it stands for the "
        "paper's ResNet20 on CIFAR-10 with 128 workers, which is in configs/neural/full."
    )
    return {
        "schema": 1,
        "title": "Least local loss against global loss (Figure 3 of the partial averaging paper)",
        "rounds": len(traces["partial"].at),
        "ends": ends,
        "rises": up,
        "least_over_global": ratio,
        "agrees": agrees,
        "differs": differs,
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
    traces = {kind: f.trace(problem, f.on_digits(kind), iterations, losses=True) for kind in f.KINDS}
    figure, left, right = c.new_figure()
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
