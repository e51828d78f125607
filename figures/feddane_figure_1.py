"""Figure 1 of FedDANE: training loss of FedAvg, FedProx and FedDANE, ten devices a round.

Run: python figures/feddane_figure_1.py [-o DIR] [--full] [--rounds N] [--seeds N] [--samples N]
"""

from __future__ import annotations

from collections.abc import Sequence

import _common as c
import _feddane as f
import _files as files
import _findings as fd
from _recorded import Recorded

NAME = "feddane_figure_1"
PAPER, QUICK = f.Size(samples=None, E=20, rounds=200, seeds=10), f.Size(samples=300, E=20, rounds=12, seeds=1)
K = 10


def compute(size: f.Size, kept: Recorded) -> list[f.Panel]:
    """The four panels."""
    return [f.compared(devices, size, K, kept) for devices in f.four(size)]


def findings(panels: Sequence[f.Panel]) -> dict[str, fd.Decision]:
    """The paper's findings on the loss in the end, seed by seed."""
    alike, *unlike = panels
    ends = {name: line.ends for name, line in alike.lines.items()}
    best = min(("FedAvg", "FedProx"), key=lambda name: float(ends[name].mean()))
    level = fd.Comparison("", ends["FedDANE"], ends[best], 1 / f.LEVEL)
    told = f"FedDANE {fd.mean_of(ends['FedDANE'])}, {best} {fd.mean_of(ends[best])}; within {f.LEVEL - 1:.0%} is level"
    return {
        "worse_fedavg": f.worse(unlike, "FedAvg"),
        "worse_fedprox": f.worse(unlike, "FedProx"),
        "iid": fd.Decision(fd.decided([level])[0], told),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    panels, size, kept, out = f.drawn(argv, str(__doc__), NAME, PAPER, QUICK, compute)
    found = f.facts("FedAvg, FedProx and FedDANE (Figure 1 of the FedDANE paper)", panels, size)
    found |= {"findings": fd.judged("feddane", "Figure 1", findings(panels)), "notes": f.beyond(panels)}
    found["caption"] = (
        f"Training loss by updating round (two communications of FedDANE as one), sampled engine, K = {K} draws by "
        f"weight. {f.at_size(size, PAPER, kept)}{f.END} The panels share their axes. On IID devices the curves of "
        f"FedDANE "
        "(mu = 0) and FedAvg nearly coincide. The paper's real data are not here; configs/neural/feddane.toml has "
        "stand-ins for them."
    )
    for path in c.save(f.figure(panels), found, out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
