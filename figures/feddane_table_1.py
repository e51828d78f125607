"""Table I of FedDANE: the paper's data sets as printed, recomputed, and the devices that stand for them here.

Run: python figures/feddane_table_1.py [-o DIR]
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import _feddane as f
import _files as files
import _findings as fd
import _tables as tables
import numpy as np

NAME = "feddane_table_1"
# devices, samples, mean and standard deviation of the samples of a device, as printed
PRINTED: Mapping[str, tuple[int, int, int, int]] = {
    "FEMNIST": (200, 18_345, 92, 159),
    "Sent140": (772, 40_783, 53, 32),
    "Shakespeare": (143, 517_106, 3_616, 6_808),
}
SIZE = f.Size(samples=None, E=1, rounds=2, seeds=1)


def compute() -> dict[str, dict[str, Any]]:
    """By data set: numbers as printed, or counted (training samples) on the synthetic devices."""
    found = {
        f"{name} (printed)": {"devices": n, "samples": s, "mean": s / n, "deviation": float(sd), "printed mean": m}
        for name, (n, s, m, sd) in PRINTED.items()
    }
    for devices in f.four(SIZE):
        sizes = np.array(f.measured(devices).sizes, dtype=float)
        own = {"devices": len(sizes), "samples": int(sizes.sum()), "mean": sizes.mean(), "deviation": sizes.std()}
        found[f"{devices.title} (here)"] = {**own, "printed mean": None}
    return found


CAPTION = (
    "The paper's data sets as printed, with the mean that their printed counts give, and the training sets of the "
    "synthetic "
    "devices of Figures 1 to 3, counted. FEMNIST and Sent140 are in no package that a fresh machine could get, "
    "LEAF's split "
    "of Shakespeare needs its own download: no count of the printed rows could be repeated here. "
    "configs/neural/feddane.toml "
    "takes MNIST, IMDB and the speaking roles of Shakespeare in their place. The synthetic sizes are "
    "int(exp(Normal(4, 2))) "
    "+ 50, nine tenths of them for training; their seed is the same in all four sets."
)


def main(argv: Sequence[str] | None = None) -> None:
    """Counts and writes picture, Markdown and JSON."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    files.add_folder(parser)
    folder = files.folder_of(parser.parse_args(argv).out, NAME)
    found = compute()
    printed = [own for own in found.values() if own["printed mean"] is not None]
    right = sum(round(own["mean"]) == own["printed mean"] for own in printed)
    rows = {
        name: {
            "devices": f"{own['devices']:,}",
            "samples": f"{own['samples']:,}",
            "samples a device: mean": f"{own['mean']:,.1f}",
            "printed": "" if own["printed mean"] is None else f"{own['printed mean']:,}",
            "standard deviation": f"{own['deviation']:,.0f}",
        }
        for name, own in found.items()
    }
    decisions = {
        "means": fd.certain(right == len(printed), f"{right} of {len(printed)} printed means are samples over devices")
    }
    judged = fd.judged("feddane", "Table I", decisions)
    title = "Statistics of the data sets (Table I of FedDANE)"
    for path in tables.write(rows, "data set", title, CAPTION, judged, folder, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
