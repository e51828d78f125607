"""Figure 3 of FedDANE: one local epoch and all devices, which favour it.

Run: python figures/feddane_figure_3.py [-o DIR] [--full] [--rounds N] [--seeds N] [--samples N]
"""

from __future__ import annotations

from collections.abc import Sequence

import _common as c
import _feddane as f
import _files as files
import _findings as fd
from _recorded import Recorded

NAME = "feddane_figure_3"
PAPER, QUICK = f.Size(samples=None, E=1, rounds=200, seeds=10), f.Size(samples=300, E=1, rounds=60, seeds=1)


def compute(size: f.Size, kept: Recorded) -> list[f.Panel]:
    """The four panels."""
    return [f.compared(devices, size, None, kept) for devices in f.four(size)]


def findings(panels: Sequence[f.Panel]) -> dict[str, fd.Decision]:
    """The paper's findings on the loss in the end, seed by seed."""
    over = [p.lines["FedDANE"].ends / p.lines["FedAvg"].ends - 1 for p in (panels[0], panels[-1])]
    names = (panels[0].devices.title, panels[-1].devices.title)
    return {
        "worse_fedavg": f.worse(panels, "FedAvg"),
        "worse_fedprox": f.worse(panels, "FedProx"),
        "especially": fd.ordered([fd.Comparison("excess over FedAvg", *over)], names),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    panels, size, kept, out = f.drawn(argv, str(__doc__), NAME, PAPER, QUICK, compute)
    found = f.facts("One epoch and all devices (Figure 3 of the FedDANE paper)", panels, size)
    found |= {"findings": fd.judged("feddane", "Figure 3", findings(panels)), "notes": f.beyond(panels)}
    found["caption"] = (
        "Training loss by updating round with all 30 devices in both sets and one local epoch, sampled engine. "
        f"{f.at_size(size, PAPER, kept)}Every method takes plain means over the devices, which minimise an equally "
        f"weighted "
        f"objective; the loss is that of all samples. {f.END} The panels share their axes, and the bands are thinner "
        f"than "
        "the lines: only the order of the samples is random."
    )
    for path in c.save(f.figure(panels), found, out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
