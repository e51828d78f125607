"""Table I of FedDANE: the paper's data sets as printed, recomputed, and the devices that stand for them here."""

from __future__ import annotations

from collections.abc import Mapping

import _feddane as f
import _findings as fd
import _study as s
import numpy as np

from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import clients_of

# devices, samples, mean and standard deviation of the samples of a device, as printed
PRINTED: Mapping[str, tuple[int, int, int, int]] = {
    "FEMNIST": (200, 18_345, 92, 159),
    "Sent140": (772, 40_783, 53, 32),
    "Shakespeare": (143, 517_106, 3_616, 6_808),
}
CAPTION = (
    "The paper's data sets as printed, with the mean that their printed counts give, and the training sets of the "
    "synthetic devices of Figures 1 to 3, counted. FEMNIST and Sent140 are in no package that a fresh machine could "
    "get, LEAF's split of Shakespeare needs its own download: no count of the printed rows could be repeated here. "
    "configs/neural/feddane.toml takes MNIST, IMDB and the speaking roles of Shakespeare in their place. The synthetic "
    "sizes are int(exp(Normal(4, 2))) + 50, nine tenths of them for training; their seed is the same in all four sets."
)


def row(devices: int, samples: int, printed: str, deviation: float) -> dict[str, str]:
    """The numbers of a data set as text."""
    return {
        "devices": f"{devices:,}",
        "samples": f"{samples:,}",
        "samples a device: mean": f"{samples / devices:,.1f}",
        "printed": printed,
        "standard deviation": f"{deviation:,.0f}",
    }


def make() -> s.Made:
    """The table."""
    rows = {f"{name} (printed)": row(n, total, f"{mean:,}", sd) for name, (n, total, mean, sd) in PRINTED.items()}
    for title, devices in f.four().items():
        sizes = clients_of(build_problem(devices)).sizes
        rows[f"{title} (here)"] = row(len(sizes), sum(sizes), "", float(np.std(sizes)))
    right = sum(round(total / n) == mean for n, total, mean, _ in PRINTED.values())
    summary = f"{right} of {len(PRINTED)} printed means are samples over devices"
    study = s.study("Statistics of the data sets (Table I of FedDANE)", CAPTION, tables=s.table("data set", rows))
    return s.Made(study, {"means": fd.certain(right == len(PRINTED), summary)})


main = s.script(make)

if __name__ == "__main__":
    s.start(main)
