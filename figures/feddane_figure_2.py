"""Figure 2 of FedDANE: what few devices a round do to its training loss.

Run: python figures/feddane_figure_2.py [-o DIR] [--full] [--rounds N] [--seeds N] [--samples N]
"""

from __future__ import annotations

from collections.abc import Sequence

import _common as c
import _feddane as f
import _files as files
import _findings as fd
from _recorded import Recorded

NAME = "feddane_figure_2"
PAPER = f.Size(samples=None, E=20, rounds=200, seeds=10, tuning=1)
QUICK = f.Size(samples=200, E=20, rounds=10, seeds=1)
COHORTS = (1, 5, 10, 30)


def compute(size: f.Size, kept: Recorded) -> list[f.Panel]:
    """FedDANE with each number of devices, mu tuned for each; 30 are all of them."""
    panels: list[f.Panel] = []
    for devices in f.four(size)[1:]:
        runs, lines, tried = f.Runs(devices, size, kept), {}, {}
        for K in COHORTS:
            cohort = None if K == f.DEVICES else K
            mu, further, tried[str(K)] = runs.tuned(cohort)
            lines[f"K = {K}"] = runs.line(f"K = {K}", "FedDANE", mu, cohort)
            if further not in f.GRID:  # not drawn: the caption has its end
                lines[f"K = {K}, beyond"] = runs.line(f"K = {K}, beyond", "FedDANE", further, cohort)
        panels.append(f.Panel(devices, size.grid, lines, tried))
    return panels


def findings(panels: Sequence[f.Panel]) -> dict[str, fd.Decision]:
    """The paper's findings on the loss in the end, seed by seed."""
    low = [fd.Comparison(p.devices.title, p.lines["K = 10"].ends, p.lines["K = 1"].ends) for p in panels]
    high = [
        fd.Comparison(p.devices.title, p.lines["K = 10"].ends, p.lines["K = 30"].ends, 1 / f.LEVEL) for p in panels[1:]
    ]
    told = fd.ordered(high, ("K = 10", "K = 30"))
    parts = [
        f"{p.devices.title}: K = 10 {fd.mean_of(p.lines['K = 10'].ends)}, K = 30 {fd.mean_of(p.lines['K = 30'].ends)}"
        for p in panels[1:]
    ]
    return {
        "low_hurts": fd.ordered(low, ("K = 10", "K = 1")),
        "all_no_help": fd.Decision(told.word, "; ".join(parts) + f"; lower by {f.LEVEL - 1:.0%} would be help"),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    panels, size, kept, out = f.drawn(argv, str(__doc__), NAME, PAPER, QUICK, compute)
    found = f.facts("FedDANE with few devices a round (Figure 2 of the FedDANE paper)", panels, size)
    notes = [
        f"{p.devices.title}, with mu beyond the paper's grid: "
        + ", ".join(f"K = {K} and mu = {line.mu} {fd.mean_of(line.ends)}" for K, line in further)
        + "."
        for p in panels
        if (further := [(K, p.lines[f"K = {K}, beyond"]) for K in COHORTS if f"K = {K}, beyond" in p.lines])
    ]
    found |= {"findings": fd.judged("feddane", "Figure 2", findings(panels)), "notes": notes}
    found["caption"] = (
        "Training loss of FedDANE by updating round, K of 30 devices in each of its two sets, sampled engine. "
        f"{f.at_size(size, PAPER, kept)}mu is tuned for each K. K devices are draws by weight; K = 30 is every device "
        f"once, with the plain means of Algorithm 2. {f.END} The panels share their axes."
    )
    shown = [
        f.Panel(p.devices, p.rounds, {k: v for k, v in p.lines.items() if "beyond" not in k}, p.tried) for p in panels
    ]
    for path in c.save(f.figure(shown), found, out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
