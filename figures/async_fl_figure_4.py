"""Figure 4 of the asynchronous paper: FedFix against synchronous and asynchronous FedAvg over time.

Run: python figures/async_fl_figure_4.py [-o DIR] [--data digits|mnist] [--seeds N] [--rounds N] [--full]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import _async_fl as a
import _common as c
import _files as files
import numpy as np

from boundcheck.methods.build import build as build_method
from boundcheck.methods.parts import Timed
from boundcheck.methods.schedules import Fixed
from boundcheck.problems.problem import clients_of

NAME = "async_fl_figure_4"
TIME, FULL = 40, 2000
K, STEP = 10, "1/4"
SPLIT = "by Dirichlet(0.1)"
PANELS = (("f0", 20), ("f80", 20), ("f0", 50), ("f80", 50))
HARDWARE = {"f0": "F0, all clients alike", "f80": "F80, one to five times as slow"}
METHODS: Mapping[str, Mapping[str, Any]] = {
    "synchronous": {"kind": "fedavg_sync"},
    "time-based": {"kind": "fedavg_async"},
    "FedFix-0.5": {"kind": "fedfix", "dt": "1/2"},
}
LABELS = {"synchronous": "synchronous", "time-based": "asynchronous", "FedFix-0.5": "FedFix-0.5"}


def rounds_in_unit(spec: Mapping[str, Any], on: a.Watched) -> float:
    """Aggregations in a unit of time, in which the slowest client finishes once."""
    if spec["kind"] == "fedavg_sync":
        return 1.0
    if spec["kind"] == "fedfix":
        return 2.0
    participation = build_method(spec).participation
    assert isinstance(participation, Timed)
    times = participation.times.of(clients_of(on).count)
    assert isinstance(times, Fixed)
    return sum(1 / float(t) for t in times.values)


def compute(data: str, seeds: int, time: int) -> list[dict[str, tuple[c.Array, c.Array]]]:
    """By panel and method: times and mean federated loss."""
    found: list[dict[str, tuple[c.Array, c.Array]]] = []
    for hardware, clients in PANELS:
        on = a.problem(data, clients, SPLIT)
        panel: dict[str, tuple[c.Array, c.Array]] = {}
        for name, own in METHODS.items():
            spec = {**own, "K": K, "eta_l": STEP}
            if own["kind"] != "fedavg_sync":
                spec["times"] = hardware
            unit = rounds_in_unit(spec, on)
            run = a.losses(spec, on, a.grid_to(round(time * unit)), seeds)
            panel[name] = (run.rounds / unit, run.federated.mean(axis=0))
        found.append(panel)
    return found


def facts(found: Sequence[Mapping[str, Any]], data: str, seeds: int, time: int) -> dict[str, Any]:
    """Title, caption and what agrees with the paper, judged on the mean over time after the first quarter."""
    agrees: list[str] = []
    differs: list[str] = []
    means: list[dict[str, float]] = []
    for (hardware, clients), panel in zip(PANELS, found, strict=True):
        mean = {name: float(np.mean(values[at >= time / 4])) for name, (at, values) in panel.items()}
        means.append(mean)
        a.put(
            mean["FedFix-0.5"] < mean["synchronous"],
            f"{hardware.upper()}, {clients} clients: the loss over time is {mean['FedFix-0.5']:.4f} with FedFix-0.5, "
            f"{mean['synchronous']:.4f} synchronously; the paper: FedFix is better everywhere.",
            agrees,
            differs,
        )
    worse = sum(m["time-based"] > m["synchronous"] for m in means)
    a.put(
        worse > 0,
        f"Asynchronous FedAvg is worse than synchronous in {worse} of the {len(means)} panels; the paper: it is not "
        "always better.",
        agrees,
        differs,
    )
    caption = (
        f"Softmax regression on {data}, classes {SPLIT}, K = {K} full local gradient steps with eta_l = {STEP}, the "
        f"same for all methods, over {time} units of time, in each of which the slowest client finishes once. On F0 "
        "FedFix-0.5 is synchronous FedAvg with eta_g = 2, step for step. The paper has CIFAR-10 and Shakespeare with "
        "networks, batches of 64 and tuned steps."
    )
    return {
        "title": "FedFix, synchronous and asynchronous FedAvg over time",
        "caption": caption,
        "agrees": agrees,
        "differs": differs,
        "means": means,
        "seeds": seeds,
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    chosen = a.options(str(__doc__), argv, TIME, FULL, NAME)
    found = compute(chosen.data, 1, chosen.rounds)  # full gradients: nothing is random
    figure, axes = a.canvas(1, 4)
    for ax, (hardware, clients), panel in zip(axes[0], PANELS, found, strict=True):
        for name, (at, values) in panel.items():
            ax.plot(at, values, color=a.COLOURS[name], lw=1.6, label=LABELS[name])
        ax.set_title(f"{clients} clients, {HARDWARE[hardware]}", loc="left", fontsize=8.5)
        ax.set_yscale("log")
        ax.set_xlabel("time")
        a.plain_ticks(ax)
        c.style(ax)
    axes[0][0].set_ylabel("federated loss")
    axes[0][0].legend(frameon=False, fontsize=8.5)
    for path in c.save(figure, facts(found, chosen.data, 1, chosen.rounds), chosen.out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
