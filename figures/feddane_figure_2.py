"""Figure 2 of FedDANE: what few devices a round do to its training loss.

Run: python figures/feddane_figure_2.py [-o DIR] [--full] [--rounds N] [--seeds N] [--samples N]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import _common as c
import _feddane as f
import _files as files
import _findings as fd
from _recorded import NotRecorded, Recorded

NAME = "feddane_figure_2"
PAPER = f.Size(samples=None, E=20, rounds=200, seeds=10, tuning=1)
QUICK = f.Size(samples=200, E=20, rounds=10, seeds=1)
COHORTS = (1, 5, 10, 30)
TUNED, LEAST = 10, 2  # the number of devices without which there is no figure; the fewest seeds of a line


def compute(size: f.Size, kept: Recorded) -> list[f.Panel]:
    """FedDANE with each number of devices, mu tuned for each; 30 are all of them.

    A record may lack some numbers of devices, or some seeds of them; at least two seeds of ten devices are needed.
    """
    panels: list[f.Panel] = []
    for devices in f.four(size)[1:]:
        runs = f.Runs(devices, size, kept)
        lines: dict[str, f.Line] = {}
        tried: dict[str, Mapping[str, float]] = {}
        for K in COHORTS:
            cohort = None if K == f.DEVICES else K
            try:
                mu, further, tried[str(K)] = runs.tuned(cohort)
                lines[f"K = {K}"] = runs.line(f"K = {K}", "FedDANE", mu, cohort, LEAST)
                if further not in f.GRID:  # not drawn: the caption has its end
                    lines[f"K = {K}, beyond"] = runs.line(f"K = {K}, beyond", "FedDANE", further, cohort, LEAST)
            except NotRecorded:
                if K == TUNED:
                    raise
        panels.append(f.Panel(devices, size.grid, lines, tried))
    return panels


def compared(panels: Sequence[f.Panel], smaller: str, larger: str, factor: float = 1.0) -> fd.Decision:
    """The losses in the end of two numbers of devices, on the seeds that both have; undecided where one has none."""
    names = (f"{smaller.removeprefix('K = ')} devices", f"{larger.removeprefix('K = ')} devices")
    there = [p for p in panels if smaller in p.lines and larger in p.lines]
    comparisons: list[fd.Comparison] = []
    for p in there:
        first, second = p.lines[smaller].ends, p.lines[larger].ends
        both = min(len(first), len(second))
        comparisons.append(fd.Comparison(p.devices.title, first[:both], second[:both]))
    if len(there) < len(panels):
        lacking = ", ".join(p.devices.title for p in panels if p not in there)
        told = fd.ordered(comparisons, names).statistic if there else ""
        return fd.Decision(fd.UNDECIDED, f"{told}; not run: {lacking}".removeprefix("; "))
    told = fd.ordered(comparisons, names).statistic
    words = fd.decided([fd.Comparison("", c.smaller, c.larger, factor) for c in comparisons])
    return fd.Decision(fd.together(words), told)


def findings(panels: Sequence[f.Panel]) -> dict[str, fd.Decision]:
    """The paper's findings on the loss in the end, seed by seed."""
    helps = compared(panels[1:], "K = 10", "K = 30", 1 / f.LEVEL)
    return {
        "low_hurts": compared(panels, "K = 10", "K = 1"),
        "all_no_help": fd.Decision(helps.word, f"{helps.statistic}; lower by {f.LEVEL - 1:.0%} would be help"),
    }


def shown(panels: Sequence[f.Panel]) -> str:
    """How many seeds each number of devices has, where they differ, for the caption."""
    seeds = {f"{p.devices.title}, {name}": len(x.loss) for p in panels for name, x in p.lines.items()}
    absent = [f"{p.devices.title}, K = {K}" for p in panels for K in COHORTS if f"K = {K}" not in p.lines]
    most = max(seeds.values())
    fewer = [f"{name}: {n}" for name, n in seeds.items() if n < most]
    told = f"Fewer seeds than {most}: {', '.join(fewer)}. " if fewer else ""
    return told + (f"Not run yet (--full runs them): {', '.join(absent)}. " if absent else "")


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
        f"{f.at_size(size, PAPER, kept)}{shown(panels)}mu is tuned for each K. "
        "K devices are draws by weight; K = 30 is every device "
        f"once, with the plain means of Algorithm 2. {f.END} The panels share their axes."
    )
    drawn = [
        f.Panel(p.devices, p.rounds, {k: v for k, v in p.lines.items() if "beyond" not in k}, p.tried) for p in panels
    ]
    for path in c.save(f.figure(drawn), found, out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
