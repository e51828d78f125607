"""Figure 3 of the asynchronous paper: what the number of local steps does to the loss in the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import _async_fl as a
import _findings as fd
import _recorded as rec
import _study as s
import numpy as np

NAME = "async_fl_figure_3"
LOCAL_STEPS = (1, 4, 7, 10, 13, 16, 19, 22, 25)
FULL = a.Size("digits", 25_000, a.SEEDS, a.TUNING_SEEDS, a.STEPS)
SMALL = a.Size("digits", 1000, range(3), range(100, 101), a.STEPS[-3:])
LAST = 20  # the last 1/20 of the rounds is looked at
SIMILAR = 1.1  # values within a tenth of each other count as very similar


@dataclass(frozen=True)
class Found:
    """mean, deviation: weights -> (seeds, number of local steps), of the federated loss over the last rounds."""

    step: rec.Tuned
    mean: Mapping[str, rec.Array]
    deviation: Mapping[str, rec.Array]


def compute(size: a.Size, kept: rec.Recorded) -> Found:
    """The runs, with the step size that is the best for K = 1 with identical weights."""
    on = a.problem(size.data, a.CLIENTS, a.SHARD)
    grid = rec.evenly(size.length, a.POINTS, size.length - max(2, size.length // LAST))

    def run(weights: str, K: int, step: Fraction, seeds: range) -> rec.Array:
        spec = {"kind": "fedavg_async", "times": "f80", "batch": 1, "K": K, "eta_l": str(step), "weights": weights}
        return a.losses(spec, on, grid, seeds, kept)["f"]

    step = rec.tuned(size.steps, lambda step: float(run("identical", 1, step, size.tuning).mean()))
    runs = {n: np.stack([run(w, K, step.best, size.seeds) for K in LOCAL_STEPS], axis=1) for n, w in a.WEIGHTS.items()}
    mean, deviation = ({name: pick(v, axis=2) for name, v in runs.items()} for pick in (np.mean, np.std))
    return Found(step, mean, deviation)


def findings(found: Found) -> dict[str, fd.Decision]:
    """The paper's findings, seed by seed."""
    at, ends = {K: k for k, K in enumerate(LOCAL_STEPS)}, (LOCAL_STEPS[0], LOCAL_STEPS[-1])
    mean, deviation = found.mean, found.deviation
    least = {name: LOCAL_STEPS[int(mean[name].mean(axis=0).argmin())] for name in ("identical", "time-based")}
    pairs = [(mean[name], at[K], at[end]) for name, K in least.items() for end in ends if end != K]
    turns = [fd.Comparison("", v[:, k], v[:, end]) for v, k, end in pairs]
    # a mean that is least at an end of the range does not first fall and then rise
    turned = fd.together(fd.decided(turns)) if not set(least.values()) & set(ends) else fd.REVERSED
    steps = [(v[:, at[K]], v[:, at[after]]) for v in deviation.values() for K, after in pairwise(LOCAL_STEPS)]
    words = fd.decided([fd.Comparison("", *step) for step in steps])
    grows, falls, neither = (words.count(word) for word in (fd.REPRODUCED, fd.REVERSED, fd.UNDECIDED))

    def higher(values: Mapping[str, rec.Array], above: int) -> fd.Decision:
        names = ("identical", "time-based")
        these = [
            fd.Comparison(f"K = {K}", *(values[name][:, at[K]] for name in names)) for K in LOCAL_STEPS if above < K
        ]
        return fd.ordered(these, names)

    own = [{K: v["identical"][:, at[K]] for K in (10, 16)} for v in (mean, deviation)]
    similar = fd.decided([fd.Comparison("", v[i], v[j], 1 / SIMILAR) for v in own for i, j in ((10, 16), (16, 10))])
    ratios = [float(v[16].mean() / v[10].mean()) for v in own]
    return {
        "first_falls": fd.Decision(
            turned, "; ".join(f"{n}: the mean loss is least at K = {K}" for n, K in least.items())
        ),
        "variance_grows": fd.Decision(
            fd.together(words),
            f"of {len(words)} steps from one K to the next the deviation grows in {grows}, falls in {falls} and "
            f"neither surely in {neither}",
        ),
        "higher_variance": higher(deviation, 8),
        "higher_mean": higher(mean, 15),
        "plateau": fd.Decision(
            fd.together(similar),
            f"identical, K = 16 over K = 10: mean {ratios[0]:.3g} times, deviation {ratios[1]:.3g} times; within a "
            f"factor of {SIMILAR:g} counts as very similar",
        ),
    }


def make(full: bool = False, data: str | None = None, seeds: int | None = None, rounds: int | None = None) -> s.Made:
    """The figure."""
    found, size, scaled = a.computed(NAME, compute, FULL, SMALL, full, data, seeds, rounds)
    caption = (
        f"Softmax regression on {size.data}, {a.CLIENTS} clients, F80, classes {a.SHARD}, asynchronous FedAvg on "
        "single samples (the clients' sizes are no multiples of 64, the paper's batch); mean and standard deviation "
        f"of the federated loss over the last 5 % of {size.length} aggregations, mean (lines) and range "
        f"(bands) over {len(size.seeds)} seeds. eta_l = {found.step.best}, the best for K = 1 with identical weights. "
        "The paper has CIFAR-10 with a convolutional network, 25000 units of time and eta_l = 0.005 (caption) or "
        f"0.0005 (text). {scaled}"
    )
    shown = {"mean": found.mean, "deviation": found.deviation}
    study = s.study(
        "Asynchronous FedAvg: the number of local steps (Figure 3 of the asynchronous paper)",
        caption,
        **s.panels(
            "local steps K",
            [
                (
                    "Last 5 % of the rounds",
                    f"{what} of the loss",
                    {f"{n} weights": (LOCAL_STEPS, of[n]) for n in a.WEIGHTS},
                )
                for what, of in shown.items()
            ],
        ),
        data={
            "step": found.step.data,
            **{what: {name: v.mean(axis=0).tolist() for name, v in of.items()} for what, of in shown.items()},
        },
    )
    return s.Made(study, findings(found))


main = s.script(make, seeds=1, rounds=20)

if __name__ == "__main__":
    s.start(main)
