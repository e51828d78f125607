"""Figure 3 of the asynchronous paper: what the number of local steps does to the loss in the end.

Run: python figures/async_fl_figure_3.py [-o DIR] [--data digits|mnist] [--seeds N] [--rounds N] [--full]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import _async_fl as a
import _common as c
import _files as files
import numpy as np

NAME = "async_fl_figure_3"
CLIENTS, ROUNDS, FULL = 10, 4000, 25_000
STEP = "1/5"
LOCAL_STEPS = (1, 4, 7, 10, 13, 16, 19, 22, 25)
LAST = 20  # the last 1/20 of the rounds is looked at
WEIGHTS = {"identical": "identical", "time-based": "time_based"}
SPLIT = "by Dirichlet(0.1)"


def compute(data: str, seeds: int, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """By weights: mean and standard deviation of the federated loss over the last rounds, for each K."""
    on = a.problem(data, CLIENTS, SPLIT)
    begin = rounds - max(2, rounds // LAST)
    grid = sorted({round(v) for v in np.linspace(begin, rounds, min(40, rounds - begin + 1))})
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in WEIGHTS}
    for name, weights in WEIGHTS.items():
        for K in LOCAL_STEPS:
            spec = {"kind": "fedavg_async", "times": "f80", "K": K, "batch": 1, "eta_l": STEP}
            values = a.losses({**spec, "weights": weights}, on, grid, seeds).federated
            found[name].append((float(values.mean()), float(values.std(axis=1).mean())))
    return found


def facts(found: dict[str, list[tuple[float, float]]], data: str, seeds: int, rounds: int) -> dict[str, Any]:
    """Title, caption and what agrees with the paper."""
    agrees: list[str] = []
    differs: list[str] = []
    for name, values in found.items():
        grows = min(v[1] for v in values[-3:]) > max(v[1] for v in values[:3])
        a.put(
            grows,
            f"With {name} weights the standard deviation is {values[0][1]:.2g} at K = {LOCAL_STEPS[0]} and "
            f"{values[-1][1]:.2g} at K = {LOCAL_STEPS[-1]}; the paper: it grows with K.",
            agrees,
            differs,
        )
    later = [k for k, K in enumerate(LOCAL_STEPS) if K > 8]
    wider = all(found["time-based"][k][1] > found["identical"][k][1] for k in later)
    a.put(
        wider,
        "After K = 8 the standard deviation with time-based weights is "
        + ("always" if wider else "not always")
        + " above that with identical ones; the paper: always.",
        agrees,
        differs,
    )
    many = [k for k, K in enumerate(LOCAL_STEPS) if K > 15]
    above = all(found["time-based"][k][0] > found["identical"][k][0] for k in many)
    a.put(
        above,
        "After K = 15 the mean loss with time-based weights is "
        + ("always" if above else "not always")
        + " above that with identical ones; the paper: always.",
        agrees,
        differs,
    )
    caption = (
        f"Softmax regression on {data}, {CLIENTS} clients, F80, classes {SPLIT}, asynchronous FedAvg with eta_l = "
        f"{STEP} and single samples; mean and standard deviation of the federated loss over the last 5 % of {rounds} "
        f"aggregations, {seeds} seeds. The paper has CIFAR-10 with a convolutional network, batches of 64, 25000 "
        "aggregations and eta_l = 0.005 (caption) or 0.0005 (text)."
    )
    return {
        "title": "Asynchronous FedAvg: the number of local steps",
        "caption": caption,
        "agrees": agrees,
        "differs": differs,
        "values": found,
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    chosen = a.options(str(__doc__), argv, ROUNDS, FULL, NAME)
    found = compute(chosen.data, chosen.seeds, chosen.rounds)
    figure, axes = a.canvas(1, 2)
    for k, (ax, title) in enumerate(zip(axes[0], ("mean federated loss", "its standard deviation"), strict=True)):
        for name, values in found.items():
            ax.plot(LOCAL_STEPS, [v[k] for v in values], "o-", ms=4, color=a.COLOURS[name], label=f"{name} weights")
        ax.set_title(f"{title}, last 5 % of the rounds", loc="left", fontsize=9.5)
        ax.set_xlabel("local steps K")
        ax.set_yscale("log")
        ax.set_xticks(LOCAL_STEPS)
        a.plain_ticks(ax)
        c.style(ax)
    axes[0][0].legend(frameon=False, fontsize=8.5)
    for path in c.save(figure, facts(found, chosen.data, chosen.seeds, chosen.rounds), chosen.out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
