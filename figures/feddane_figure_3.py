"""Figure 3 of FedDANE: one local epoch and all devices, which favour it.

Run: python figures/feddane_figure_3.py [-o DIR] [--full] [--rounds N] [--seeds N] [--samples N]
"""

from __future__ import annotations

from collections.abc import Sequence

import _common as c
import _feddane as f
import _files as files

NAME = "feddane_figure_3"
QUICK, PAPER = f.Size(samples=300, E=1, rounds=60, seeds=1), f.Size(samples=None, E=1, rounds=200, seeds=5)


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    size, out = f.size_from(str(__doc__), QUICK, PAPER, argv, NAME)
    panels = f.each(f.four(size), lambda devices: f.compared(devices, size, None))
    agrees: list[str] = []
    differs: list[str] = []
    for panel in panels:
        f.judge_worst(panel, agrees, differs)
    found = f.facts("One epoch and all devices (Figure 3 of the FedDANE paper)", panels, size)
    found |= {"agrees": agrees, "differs": differs}
    found["caption"] = (
        "Training loss by updating round with all 30 devices in both sets and one local epoch, sampled engine, local "
        f"steps of 0.01. {f.at_size(size, PAPER)}{f.TUNED}Every method takes plain means over the devices, which "
        f"minimise an equally weighted objective; the loss is that of all samples. {f.END}"
    )
    for path in c.save(f.figure(panels), found, out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
