"""Figure 4 of the asynchronous paper: FedFix against synchronous and asynchronous FedAvg over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import _async_fl as a
import _findings as fd
import _recorded as rec
import _study as s
import numpy as np

from boundcheck.methods.build import build as build_method

NAME = "async_fl_figure_4"
K = 10
# full gradients: nothing is random, and one run shows what all of them do
FULL = a.Size("digits", 200, range(1), range(1), a.STEPS[10:])
SMALL = a.Size("digits", 20, range(1), range(1), a.STEPS[12::2])
PANELS = {f"{times.upper()}, {clients} clients": (times, clients) for clients in (20, 50) for times in ("f0", "f80")}
METHODS: Mapping[str, Mapping[str, Any]] = {
    "synchronous": {"kind": "fedavg_sync"},
    "asynchronous": {"kind": "fedavg_async"},
    "FedFix-0.5": {"kind": "fedfix", "dt": "1/2"},
}
NONE = rec.Tuned(Fraction(0), {})
LEVEL = 0.01  # losses this close, relatively, are level


@dataclass(frozen=True)
class Line:
    """One method of a panel. times, loss: (T,); step: its best one."""

    times: rec.Array
    loss: rec.Array
    step: rec.Tuned = NONE

    @property
    def late(self) -> float:
        """Mean loss over the recorded times after the first quarter."""
        return float(self.loss[self.times >= self.times[-1] / 4].mean())


def rounds_in_unit(spec: Mapping[str, Any], clients: int) -> float:
    """Aggregations in a unit of time, in which the slowest client finishes once."""
    if spec["kind"] != "fedavg_async":
        return {"fedavg_sync": 1.0, "fedfix": 2.0}[spec["kind"]]
    participation: Any = build_method({**spec, "eta_l": 1}).participation
    return sum(1 / float(t) for t in participation.times.of(clients).values)


def compute(size: a.Size, kept: rec.Recorded) -> dict[str, dict[str, Line]]:
    """By panel and method, each with its best step size."""
    found: dict[str, dict[str, Line]] = {}
    for title, (hardware, clients) in PANELS.items():
        on = a.problem(size.data, clients, a.SHARD)
        found[title] = {}
        for name, own in METHODS.items():
            spec = {**own, "K": K} | ({} if own["kind"] == "fedavg_sync" else {"times": hardware})
            unit = rounds_in_unit(spec, clients)
            grid = rec.evenly(round(size.length * unit), a.POINTS)
            times = np.array(grid) / unit

            def line(step: Fraction, spec: Any = spec, on: Any = on, grid: Any = grid, times: Any = times) -> Line:
                return Line(times, a.losses({**spec, "eta_l": str(step)}, on, grid, size.seeds, kept)["f"][0])

            step = rec.tuned(size.steps, lambda step, line=line: line(step).late)
            found[title][name] = replace(line(step.best), step=step)
    return found


def findings(found: Mapping[str, Mapping[str, Line]]) -> dict[str, fd.Decision]:
    """The paper's findings on the mean loss over time after the first quarter, each method at its best step size."""

    def pairs(hardware: str, smaller: str, larger: str) -> list[fd.Comparison]:
        return [
            fd.Comparison(title, panel[smaller].late, panel[larger].late, margin=LEVEL)
            for title, panel in found.items()
            if title.startswith(hardware)
        ]

    names = ("synchronous", "asynchronous")
    can = pairs("F80", *names)
    seen = fd.REPRODUCED in fd.decided(can)
    beyond = "" if seen else "; the paper has it on Shakespeare, which is not run here"
    return {
        "fedfix": fd.ordered(pairs("F", "FedFix-0.5", "synchronous"), ("FedFix-0.5", "synchronous")),
        "sync_f0": fd.ordered(pairs("F0", *names), names),
        "sync_f80": fd.Decision(fd.REPRODUCED if seen else fd.UNDECIDED, fd.ordered(can, names).statistic + beyond),
    }


def make(full: bool = False, data: str | None = None, seeds: int | None = None, rounds: int | None = None) -> s.Made:
    """The figure."""
    found, size, scaled = a.computed(NAME, compute, FULL, SMALL, full, data, seeds, rounds)
    steps = "; ".join(
        f"{title}: " + ", ".join(f"{name} {line.step.best}" for name, line in panel.items())
        for title, panel in found.items()
    )
    caption = (
        f"Softmax regression on {size.data}, classes {a.SHARD}, K = {K} full local gradient steps, {size.length} units "
        "of time, in each of which the slowest client finishes once (F0: all clients alike, F80: one to five times as "
        "slow). Each method takes its best eta_l, on a grid that goes on until the best lies inside: "
        f"{steps}. On F0 FedFix-0.5 is synchronous FedAvg with eta_g = 2, step for step. The "
        f"paper has CIFAR-10 and Shakespeare with networks and batches of 64. {scaled}Judged on the mean loss over "
        f"time after the first quarter, with less than {LEVEL:.0%} of difference as level."
    )
    shown = [
        (title, "federated loss", {name: (line.times, line.loss[None]) for name, line in panel.items()})
        for title, panel in found.items()
    ]
    study = s.study(
        "FedFix, synchronous and asynchronous FedAvg over time (Figure 4 of the asynchronous paper)",
        caption,
        **s.panels("time", shown),
        data={
            "late": [{name: line.late for name, line in panel.items()} for panel in found.values()],
            "steps": [{name: line.step.data for name, line in panel.items()} for panel in found.values()],
        },
    )
    return s.Made(study, findings(found))


main = s.script(make, seeds=1, rounds=20)

if __name__ == "__main__":
    s.start(main)
