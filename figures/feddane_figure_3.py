"""Figure 3 of FedDANE: one local epoch and all devices, which favour it.

Run: python figures/feddane_figure_3.py [-o DIR] [--full] [--rounds N] [--seeds N] [--samples N]
"""

from __future__ import annotations

from collections.abc import Sequence

import _common as c
import _feddane as f

NAME = "feddane_figure_3"
QUICK, PAPER = f.Size(samples=150, E=1, rounds=40, seeds=1), f.Size(samples=None, E=1, rounds=200, seeds=5)


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    size, out = f.size_from(str(__doc__), QUICK, PAPER, argv)
    panels = f.each(f.four(size), lambda devices: f.compared(devices, size, None))
    agrees: list[str] = []
    differs: list[str] = []
    for panel in panels:
        f.judge_worst(panel, agrees, differs)
    found = f.facts("One epoch and all devices (Figure 3 of the FedDANE paper)", panels, size)
    found |= {"agrees": agrees, "differs": differs}
    found["caption"] = (
        "Training loss by updating round with all 30 devices in both sets and one local epoch (the paper's E), sampled "
        f"engine: mean and range over seeds. SGD with step 0.01 on batches of 10; {size.words()} (the paper: all samples). "
        "mu of FedDANE is the best of the paper's grid by the loss of one seed in the end; FedProx has mu = 1. Every method "
        "takes plain means over the devices, which minimise an equally weighted objective; the loss is that of all "
        "samples. 'In the end' is the mean over the last quarter of the rounds; 'worse' means by 2 % at least."
    )
    for path in c.save(f.figure(panels), found, out, NAME):
        print(path)


if __name__ == "__main__":
    main()
