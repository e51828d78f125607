"""Figure 4 of the asynchronous paper: FedFix against synchronous and asynchronous FedAvg over time.

Run: python figures/async_fl_figure_4.py [-o DIR] [--data digits|mnist] [--rounds N] [--full]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import _async_fl as a
import _common as c
import _files as files
import _findings as fd
import numpy as np
from _recorded import Recorded

from boundcheck.methods.build import build as build_method
from boundcheck.methods.parts import Timed
from boundcheck.methods.schedules import Fixed
from boundcheck.problems.problem import clients_of

NAME = "async_fl_figure_4"
K = 10
# full gradients: nothing is random, and one run shows what all of them do
FULL = a.Size("digits", 200, range(1), range(1), a.STEPS[10:])
SMALL = a.Size("digits", 20, range(1), range(1), a.STEPS[12::2])
SPLIT = "by Dirichlet(0.1)"
PANELS = (("f0", 20), ("f80", 20), ("f0", 50), ("f80", 50))
HARDWARE = {"f0": "F0, all clients alike", "f80": "F80, one to five times as slow"}
METHODS: Mapping[str, Mapping[str, Any]] = {
    "synchronous": {"kind": "fedavg_sync"},
    "asynchronous": {"kind": "fedavg_async"},
    "FedFix-0.5": {"kind": "fedfix", "dt": "1/2"},
}
LEVEL = 0.01  # losses this close, relatively, are level


@dataclass(frozen=True)
class Line:
    """One method of a panel. step: its best; tried: step -> mean loss after the first quarter; times, loss: (T,)."""

    step: Fraction
    tried: Mapping[str, float]
    times: c.Array
    loss: c.Array

    def late(self) -> float:
        """Mean loss over the recorded times after the first quarter."""
        return late(self.times, self.loss)


def late(times: c.Array, loss: c.Array) -> float:
    """Mean over the times after the first quarter."""
    return float(loss[times >= times[-1] / 4].mean())


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


def compute(size: a.Size, kept: Recorded) -> list[dict[str, Line]]:
    """By panel and method, each with its best step size."""
    found: list[dict[str, Line]] = []
    for hardware, clients in PANELS:
        on = a.problem(size.data, clients, SPLIT)
        panel: dict[str, Line] = {}
        for name, own in METHODS.items():
            spec = {**own, "K": K} | ({} if own["kind"] == "fedavg_sync" else {"times": hardware})
            unit = rounds_in_unit({**spec, "eta_l": "1"}, on)
            grid = a.grid_to(round(size.length * unit))
            curves: dict[Fraction, c.Array] = {}

            run = partial(a.federated, on=on, grid=grid, seeds=size.seeds, kept=kept)
            step, tried = c.tuned(size.steps, partial(_tried, run, spec, grid, curves))
            panel[name] = Line(step, tried, np.array(grid) / unit, curves[step])
        found.append(panel)
    return found


def _tried(
    run: Callable[[Mapping[str, Any]], c.Array],
    spec: Mapping[str, Any],
    grid: Sequence[int],
    curves: dict[Fraction, c.Array],
    step: Fraction,
) -> float:
    curves[step] = run({**spec, "eta_l": str(step)})[0]
    return late(np.array(grid), curves[step])


def findings(found: Sequence[Mapping[str, Line]]) -> dict[str, fd.Decision]:
    """The paper's findings on the mean loss over time after the first quarter, each method at its best step size."""

    def pair(k: int, smaller: str, larger: str) -> fd.Comparison:
        hardware, clients = PANELS[k]
        panel = found[k]
        values = panel[smaller].late(), panel[larger].late()
        return fd.Comparison(f"{hardware.upper()}, {clients} clients", *values, margin=LEVEL)

    alike = [k for k, (hardware, _) in enumerate(PANELS) if hardware == "f0"]
    unlike = [k for k in range(len(PANELS)) if k not in alike]
    can = [pair(k, "synchronous", "asynchronous") for k in unlike]
    seen = fd.REPRODUCED in fd.decided(can)
    return {
        "fedfix": fd.ordered(
            [pair(k, "FedFix-0.5", "synchronous") for k in range(len(PANELS))], ("FedFix-0.5", "synchronous")
        ),
        "sync_f0": fd.ordered([pair(k, "synchronous", "asynchronous") for k in alike], ("synchronous", "asynchronous")),
        "sync_f80": fd.Decision(
            fd.REPRODUCED if seen else fd.UNDECIDED,
            fd.ordered(can, ("synchronous", "asynchronous")).statistic
            + ("" if seen else "; the paper has it on Shakespeare, which is not run here"),
        ),
    }


def facts(found: Sequence[Mapping[str, Line]], size: a.Size, kept: Recorded) -> dict[str, Any]:
    """Title, caption, findings."""
    steps = "; ".join(
        f"{hardware.upper()}, {clients} clients: " + ", ".join(f"{name} {line.step}" for name, line in panel.items())
        for (hardware, clients), panel in zip(PANELS, found, strict=True)
    )
    caption = (
        f"Softmax regression on {size.data}, classes {SPLIT}, K = {K} full local gradient steps, {size.length} units "
        f"of "
        "time, in each of which the slowest client finishes once. Each method takes its best eta_l, on a grid that "
        "goes on "
        f"until the best lies inside: {steps}. On F0 FedFix-0.5 is synchronous FedAvg with eta_g = 2, step for step. "
        f"The "
        "paper has CIFAR-10 and Shakespeare with networks and batches of 64. "
        f"{a.scaled(size, FULL)}{kept.words()}Judged on the mean loss over time after the first quarter, with less "
        f"than "
        f"{LEVEL:.0%} of difference as level."
    )
    return {
        "schema": 1,
        "title": "FedFix, synchronous and asynchronous FedAvg over time (Figure 4 of the asynchronous paper)",
        "caption": caption,
        "findings": fd.judged("async_fl", "Figure 4", findings(found)),
        "notes": [],
        "late": [{name: line.late() for name, line in panel.items()} for panel in found],
        "steps": [
            {name: {"best": str(line.step), "tried": line.tried} for name, line in panel.items()} for panel in found
        ],
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    found, size, kept, out = a.drawn(argv, str(__doc__), NAME, FULL, SMALL, compute)
    figure, axes = c.canvas(1, len(PANELS))
    dashes = {"synchronous": "-", "asynchronous": (0, (4, 2)), "FedFix-0.5": (0, (1, 1.2))}
    for ax, (hardware, clients), panel in zip(axes[0], PANELS, found, strict=True):
        for name, line in panel.items():
            label = f"{name}, eta_l = {line.step}"
            ax.plot(line.times, line.loss, color=a.COLOURS[name], lw=1.6, ls=dashes[name], label=label)
        ax.set_title(f"{clients} clients, {HARDWARE[hardware]}", loc="left", fontsize=8.5)
        ax.set_yscale("log")
        ax.set_xlabel("time")
        ax.legend(frameon=False, fontsize=7.5)
        c.style(ax)
    a.common_heights([axes[0]])
    axes[0][0].set_ylabel("federated loss")
    for path in c.save(figure, facts(found, size, kept), out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
