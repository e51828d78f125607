"""Figure 3 of the asynchronous paper: what the number of local steps does to the loss in the end.

Run: python figures/async_fl_figure_3.py [-o DIR] [--data digits|mnist] [--seeds N] [--rounds N] [--full]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import _async_fl as a
import _common as c
import _files as files
import _findings as fd
import numpy as np
from _recorded import Recorded

NAME = "async_fl_figure_3"
CLIENTS = 10
LOCAL_STEPS = (1, 4, 7, 10, 13, 16, 19, 22, 25)
FULL = a.Size("digits", 25_000, a.SEEDS, a.TUNING_SEEDS, a.STEPS)
SMALL = a.Size("digits", 1000, range(3), range(100, 101), a.STEPS[-3:])
LAST = 20  # the last 1/20 of the rounds is looked at
WEIGHTS = {"identical": "identical", "time-based": "time_based"}
SPLIT = "by Dirichlet(0.1)"
SIMILAR = 1.1  # values within a tenth of each other count as very similar


@dataclass(frozen=True)
class Found:
    """mean, deviation: weights -> (seeds, number of local steps), of the federated loss over the last rounds."""

    step: Fraction
    tried: Mapping[str, float]
    mean: Mapping[str, c.Array]
    deviation: Mapping[str, c.Array]


def compute(size: a.Size, kept: Recorded) -> Found:
    """The runs, with the step size that is the best for K = 1 with identical weights."""
    on = a.problem(size.data, CLIENTS, SPLIT)
    begin = size.length - max(2, size.length // LAST)
    grid = sorted({round(v) for v in np.linspace(begin, size.length, min(a.POINTS, size.length - begin + 1))})
    spec = {"kind": "fedavg_async", "times": "f80", "batch": 1}

    def run(weights: str, K: int, step: Fraction, seeds: range) -> c.Array:
        given = {**spec, "K": K, "eta_l": str(step), "weights": weights}
        return a.federated(given, on, grid, seeds, kept)

    step, tried = c.tuned(size.steps, lambda step: float(run("identical", 1, step, size.tuning).mean()))
    runs = {name: [run(w, K, step, size.seeds) for K in LOCAL_STEPS] for name, w in WEIGHTS.items()}
    return Found(
        step,
        tried,
        {name: np.stack([r.mean(axis=1) for r in rows], axis=1) for name, rows in runs.items()},
        {name: np.stack([r.std(axis=1) for r in rows], axis=1) for name, rows in runs.items()},
    )


def findings(found: Found) -> dict[str, fd.Decision]:
    """The paper's findings, seed by seed."""
    at = {K: k for k, K in enumerate(LOCAL_STEPS)}
    mean, deviation = found.mean, found.deviation
    least = {name: LOCAL_STEPS[int(v.mean(axis=0).argmin())] for name, v in mean.items()}
    turns = fd.decided(
        [
            fd.Comparison("", v[:, at[least[name]]], v[:, at[end]])
            for name, v in mean.items()
            for end in (LOCAL_STEPS[0], LOCAL_STEPS[-1])
            if end != least[name]
        ]
    )
    # a mean that is least at an end of the range does not first fall and then rise
    inside = all(K not in (LOCAL_STEPS[0], LOCAL_STEPS[-1]) for K in least.values())
    grows = [
        fd.Comparison(f"{name}, K = {K} and {after}", v[:, at[K]], v[:, at[after]])
        for name, v in deviation.items()
        for K, after in pairwise(LOCAL_STEPS)
    ]

    def higher(values: Mapping[str, c.Array], above: int) -> fd.Decision:
        these = [
            fd.Comparison(f"K = {K}", values["identical"][:, at[K]], values["time-based"][:, at[K]])
            for K in LOCAL_STEPS
            if above < K
        ]
        return fd.ordered(these, ("identical", "time-based"))

    similar = [
        fd.Comparison("", v["identical"][:, at[first]], v["identical"][:, at[second]], 1 / SIMILAR)
        for v in (mean, deviation)
        for first, second in ((10, 16), (16, 10))
    ]
    ratios = [float(v["identical"][:, at[16]].mean() / v["identical"][:, at[10]].mean()) for v in (mean, deviation)]
    words = fd.decided(grows)
    return {
        "first_falls": fd.Decision(
            fd.together(turns) if inside else fd.REVERSED,
            "; ".join(f"{name}: the mean loss is least at K = {K}" for name, K in least.items()),
        ),
        "variance_grows": fd.Decision(
            fd.together(words),
            f"of {len(words)} steps from one K to the next the deviation grows in {words.count(fd.REPRODUCED)}, "
            f"falls in "
            f"{words.count(fd.REVERSED)} and neither surely in {words.count(fd.UNDECIDED)}",
        ),
        "higher_variance": higher(deviation, 8),
        "higher_mean": higher(mean, 15),
        "plateau": fd.Decision(
            fd.together(fd.decided(similar)),
            f"identical, K = 16 over K = 10: mean {ratios[0]:.3g} times, deviation {ratios[1]:.3g} times; within a "
            f"factor "
            f"of {SIMILAR:g} counts as very similar",
        ),
    }


def facts(found: Found, size: a.Size, kept: Recorded) -> dict[str, Any]:
    """Title, caption, findings."""
    caption = (
        f"Softmax regression on {size.data}, {CLIENTS} clients, F80, classes {SPLIT}, asynchronous FedAvg on "
        f"single samples (the clients' sizes are no multiples of 64, the paper's batch); mean and standard deviation "
        f"of the federated loss over the last 5 % of {size.length} aggregations, mean (lines) and range "
        f"(bands) over {len(size.seeds)} seeds. eta_l = {found.step}, the best for K = 1 with identical weights. The "
        f"paper "
        "has CIFAR-10 with a convolutional network, 25000 units of time and eta_l = 0.005 (caption) or 0.0005 (text). "
        f"{a.scaled(size, FULL)}{kept.words()}"
    )
    return {
        "schema": 1,
        "title": "Asynchronous FedAvg: the number of local steps (Figure 3 of the asynchronous paper)",
        "caption": caption,
        "findings": fd.judged("async_fl", "Figure 3", findings(found)),
        "notes": [],
        "step": {"best": str(found.step), "tried": found.tried},
        "mean": {name: v.mean(axis=0).tolist() for name, v in found.mean.items()},
        "deviation": {name: v.mean(axis=0).tolist() for name, v in found.deviation.items()},
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    found, size, kept, out = a.drawn(argv, str(__doc__), NAME, FULL, SMALL, compute)
    figure, axes = c.canvas(1, 2)
    shown = (("mean federated loss", found.mean), ("its standard deviation over the rounds", found.deviation))
    for ax, (title, of) in zip(axes[0], shown, strict=True):
        for name, values in of.items():
            ax.fill_between(LOCAL_STEPS, values.min(0), values.max(0), color=a.COLOURS[name], alpha=0.15, lw=0)
            ax.plot(LOCAL_STEPS, values.mean(0), "o-", ms=4, color=a.COLOURS[name], label=f"{name} weights")
        ax.set_title(f"{title}, last 5 % of the rounds", loc="left", fontsize=9.5)
        ax.set_xlabel("local steps K")
        ax.set_yscale("log")
        ax.set_xticks(LOCAL_STEPS)
        a.plain_ticks(ax)
        c.style(ax)
    axes[0][0].legend(frameon=False, fontsize=8.5)
    for path in c.save(figure, facts(found, size, kept), out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
