"""Figure 3 of FedDANE: one local epoch and all devices, which favour it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import _feddane as f
import _findings as fd
import _recorded as rec
import _study as s

NAME = "feddane_figure_3"
PAPER, QUICK = f.Size(samples=None, E=1, rounds=200, seeds=10), f.Size(samples=300, E=1, rounds=60, seeds=1)


def findings(sets: Sequence[f.Devices]) -> dict[str, fd.Decision]:
    """The paper's findings on the loss in the end, seed by seed."""
    ends = (sets[0], sets[-1])
    over = [d.lines["FedDANE"].ends / d.lines["FedAvg"].ends - 1 for d in ends]
    return {
        "worse_fedavg": f.worse(sets, "FedAvg"),
        "worse_fedprox": f.worse(sets, "FedProx"),
        "especially": fd.ordered([fd.Comparison("excess over FedAvg", *over)], (ends[0].title, ends[1].title)),
    }


def make(full: bool = False, rounds: int | None = None, seeds: int | None = None, samples: int | None = None) -> s.Made:
    """The figure."""
    given = {"rounds": rounds, "seeds": seeds, "samples": samples}
    sets, size, kept = rec.computed(NAME, partial(f.compared, K=None), PAPER, QUICK, full, **given)
    caption = (
        "Training loss by updating round with all 30 devices in both sets and one local epoch, sampled engine. "
        f"{f.made_at(size, PAPER, kept)}Every method takes plain means over the devices, which minimise an equally "
        f"weighted objective; the loss is that of all samples. {f.END} The panels share their axes, and the bands are "
        "thinner than the lines: only the order of the samples is random."
    )
    title = "One epoch and all devices (Figure 3 of the FedDANE paper)"
    return s.Made(f.study(title, caption, f.beyond(sets), sets, size, f.METHODS), findings(sets))


main = s.script(make, rounds=2, seeds=1, samples=2)

if __name__ == "__main__":
    s.start(main)
