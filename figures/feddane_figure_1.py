"""Figure 1 of FedDANE: training loss of FedAvg, FedProx and FedDANE, ten devices a round."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import _feddane as f
import _findings as fd
import _recorded as rec
import _study as s

NAME = "feddane_figure_1"
PAPER, QUICK = f.Size(samples=None, E=20, rounds=200, seeds=10), f.Size(samples=300, E=20, rounds=12, seeds=1)
K = 10


def findings(sets: Sequence[f.Devices]) -> dict[str, fd.Decision]:
    """The paper's findings on the loss in the end, seed by seed."""
    alike, *unlike = sets
    ends = {name: line.ends for name, line in alike.lines.items()}
    best = min(("FedAvg", "FedProx"), key=lambda name: float(ends[name].mean()))
    (level,) = fd.decided([fd.Comparison("", ends["FedDANE"], ends[best], 1 / f.LEVEL)])
    text = f"FedDANE {fd.mean_of(ends['FedDANE'])}, {best} {fd.mean_of(ends[best])}; within {f.LEVEL - 1:.0%} is level"
    return {
        "worse_fedavg": f.worse(unlike, "FedAvg"),
        "worse_fedprox": f.worse(unlike, "FedProx"),
        "iid": fd.Decision(level, text),
    }


def make(full: bool = False, rounds: int | None = None, seeds: int | None = None, samples: int | None = None) -> s.Made:
    """The figure."""
    given = {"rounds": rounds, "seeds": seeds, "samples": samples}
    sets, size, kept = rec.computed(NAME, partial(f.compared, K=K), PAPER, QUICK, full, **given)
    caption = (
        f"Training loss by updating round (two communications of FedDANE as one), sampled engine, K = {K} draws by "
        f"weight. {f.made_at(size, PAPER, kept)}{f.END} The panels share their axes. On IID devices the curves of "
        "FedDANE (mu = 0) and FedAvg nearly coincide. The paper's real data are not here; configs/neural/feddane.toml "
        "has stand-ins for them."
    )
    title = "FedAvg, FedProx and FedDANE (Figure 1 of the FedDANE paper)"
    return s.Made(f.study(title, caption, f.beyond(sets), sets, size, f.METHODS), findings(sets))


main = s.script(make, rounds=2, seeds=1, samples=2)

if __name__ == "__main__":
    s.start(main)
