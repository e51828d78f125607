"""Figure 2 of the asynchronous paper: identical against time-based weights, on two problems, and over the clients.

Run: python figures/async_fl_figure_2.py [-o DIR] [--data digits|mnist] [--seeds N] [--rounds N] [--full]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import _async_fl as a
import _common as c
import _files as files
import numpy as np

NAME = "async_fl_figure_2"
CLIENTS, ROUNDS, FULL = 10, 3000, 20_000
STEP = "1/2"
WEIGHTS = {"identical": "identical", "time-based": "time_based"}
COLUMNS = ("loss on the federated problem", "loss on the surrogate problem", "standard deviation over clients")


def compute(data: str, seeds: int, rounds: int) -> dict[str, dict[str, a.Losses]]:
    """The runs by split and weights."""
    found: dict[str, dict[str, a.Losses]] = {}
    for split in a.SPLITS:
        on = a.problem(data, CLIENTS, split)
        spec = {"kind": "fedavg_async", "times": "f80", "K": 1, "batch": a.batch(on), "eta_l": STEP}
        found[split] = {
            name: a.losses({**spec, "weights": weights}, on, a.grid_to(rounds), seeds)
            for name, weights in WEIGHTS.items()
        }
    return found


def curves(runs: Mapping[str, a.Losses]) -> list[dict[str, c.Array]]:
    """By column: the mean over seeds for each weighting. The surrogate problem is that of identical weights."""
    shares = runs["identical"].shares
    return [
        {name: run.federated.mean(axis=0) for name, run in runs.items()},
        {name: run.under(shares).mean(axis=0) for name, run in runs.items()},
        {name: run.spread.mean(axis=0) for name, run in runs.items()},
    ]


def facts(found: Mapping[str, Mapping[str, a.Losses]], data: str, seeds: int, rounds: int) -> dict[str, Any]:
    """Title, caption and what agrees with the paper, judged on the mean over the last tenth of the rounds."""
    agrees: list[str] = []
    differs: list[str] = []
    ends: dict[str, Any] = {}
    for split, runs in found.items():
        tail = slice(-max(1, len(runs["identical"].rounds) // 10), None)
        last = [{name: float(np.mean(v[tail])) for name, v in column.items()} for column in curves(runs)]
        ends[split] = dict(zip(("federated", "surrogate", "spread"), last, strict=True))
        for k, (better, other) in enumerate((("time-based", "identical"), ("identical", "time-based"))):
            a.put(
                last[k][better] < last[k][other],
                f"Split {split}, {COLUMNS[k]}: {better} weights end at {last[k][better]:.4f}, {other} ones at "
                f"{last[k][other]:.4f}; the paper has {better} ones lower.",
                agrees,
                differs,
            )
    gaps = [ends[split]["federated"]["identical"] - ends[split]["federated"]["time-based"] for split in a.SPLITS]
    a.put(
        gaps[1] > gaps[0],
        f"Their distance on the federated problem is {gaps[1]:.2g} on the unlike clients and {gaps[0]:.2g} on the "
        "random split; the paper: twice as large on MNIST-shard as on MNIST.",
        agrees,
        differs,
    )
    caption = (
        f"Softmax regression on {data}, {CLIENTS} clients, F80 (the fastest five times as fast as the slowest), K = 1, "
        f"asynchronous FedAvg with eta_l = {STEP}, mean of {seeds} seeds over {rounds} aggregations. Upper row: random "
        "split; lower row: classes by Dirichlet(0.1). The surrogate problem is that which identical weights follow, "
        "q_i in proportion to 1/tau_i. The paper has a tuned step, 5 seeds, MNIST and also networks."
    )
    return {
        "title": "Asynchronous FedAvg: identical and time-based weights",
        "caption": caption,
        "agrees": agrees,
        "differs": differs,
        "ends": ends,
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    chosen = a.options(str(__doc__), argv, ROUNDS, FULL, NAME)
    found = compute(chosen.data, chosen.seeds, chosen.rounds)
    figure, axes = a.canvas(2, 3)
    for row, (split, runs) in zip(axes, found.items(), strict=True):
        for k, (ax, column) in enumerate(zip(row, curves(runs), strict=True)):
            for name, values in column.items():
                ax.plot(runs[name].rounds, values, color=a.COLOURS[name], lw=1.6, label=f"{name} weights")
            ax.set_yscale("log" if k < 2 else "linear")
            if split == next(iter(found)):
                ax.set_title(COLUMNS[k], loc="left", fontsize=9.5)
            else:
                ax.set_xlabel("aggregation")
            a.plain_ticks(ax)
            c.style(ax)
        row[0].set_ylabel(f"split {split}", fontsize=9)
    axes[0][0].legend(frameon=False, fontsize=8)
    for path in c.save(figure, facts(found, chosen.data, chosen.seeds, chosen.rounds), chosen.out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
