"""Figure 1 of FedDANE: training loss of FedAvg, FedProx and FedDANE, ten devices a round.

Run: python figures/feddane_figure_1.py [-o DIR] [--full] [--rounds N] [--seeds N] [--samples N]
"""

from __future__ import annotations

from collections.abc import Sequence

import _common as c
import _feddane as f
import _files as files

from boundcheck.errors import DataNotFetched

NAME = "feddane_figure_1"
QUICK, PAPER = f.Size(samples=500, E=20, rounds=12, seeds=1), f.Size(samples=None, E=20, rounds=200, seeds=5)
K = 10
OF_MNIST = f.Size(samples=None, E=2, rounds=6, seeds=1, points=3)
SHARDS = {"kind": "softmax_regression", "split": "shards", "shards_per_client": 2, "seed": 0}
DIGITS = f.Devices("Digits, shards", {**SHARDS, "data": "digits", "clients": 30}, "1/10")
MNIST = f.Devices("MNIST, shards", {**SHARDS, "data": "mnist", "clients": 1000}, "1/10")


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    size, out = f.size_from(str(__doc__), QUICK, PAPER, argv, NAME)
    panels = f.each([*f.four(size), DIGITS], lambda devices: f.compared(devices, size, K))
    try:
        panels.append(f.compared(MNIST, OF_MNIST, K))
        left_out = ""
    except DataNotFetched:
        left_out = (
            "MNIST is not on this machine ('boundcheck data fetch mnist' gets it), so that its panel is left out. "
        )
    agrees: list[str] = []
    differs: list[str] = []
    for panel in panels[1:]:
        f.judge_worst(panel, agrees, differs)
    iid = panels[0].ends()
    level = not f.larger(iid["FedDANE"], min(iid["FedAvg"], iid["FedProx"]))
    (agrees if level else differs).append(f"Synthetic IID: FedDANE is{'' if level else ' not'} level: {f.listed(iid)}.")
    found = f.facts("FedAvg, FedProx and FedDANE (Figure 1 of the FedDANE paper)", panels, size, left_out=left_out)
    found |= {"agrees": agrees, "differs": differs}
    found["caption"] = (
        f"Training loss by updating round (two communications of FedDANE as one), sampled engine, K = {K} draws by "
        f"weight, local steps of 0.01 (0.1 on digits). {f.at_size(size, PAPER)}{f.TUNED}Digits (30 devices of two "
        f"shards) and MNIST (1000, with E = {OF_MNIST.E}, {OF_MNIST.rounds} rounds, one seed) stand for the paper's "
        f"real data. {left_out}{f.END}"
    )
    for path in c.save(f.figure(panels), found, out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
