"""Figure 2 of the asynchronous paper: identical against time-based weights, on two problems, and over the clients."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import _async_fl as a
import _findings as fd
import _recorded as rec
import _study as s

NAME = "async_fl_figure_2"
FULL = a.Size("digits", 20_000, a.SEEDS, a.TUNING_SEEDS, a.STEPS)
SMALL = a.Size("digits", 2000, range(3), range(100, 101), a.STEPS[-3:])
PANELS = {
    "f": ("(a) federated", "loss"),
    "spread": ("(b) federated", "deviation over clients"),
    "surrogate_f": ("(c) surrogate", "loss"),
    "surrogate_spread": ("(d) surrogate, weighted", "deviation over clients"),
}
LEFT_OUT = a.POINTS // 10  # points at the start that are not drawn: the losses are far above the rest there
TWICE = (math.sqrt(2), 2 * math.sqrt(2))  # what is called twice: nearer to 2 than to 1 or 4, by ratio


@dataclass(frozen=True)
class Row:
    """What was found on one split. step: tuned with identical weights by the federated loss in the end."""

    step: rec.Tuned
    grid: list[int]
    runs: Mapping[str, Mapping[str, rec.Array]]

    def ends(self, column: str, name: str) -> rec.Array:
        """By seed: the mean over the last tenth of the recorded rounds."""
        values = self.runs[name][column]
        return values[:, -max(1, values.shape[1] // 10) :].mean(axis=1)


def compute(size: a.Size, kept: rec.Recorded) -> dict[str, Row]:
    """The rows by split."""
    found, grid = dict[str, Row](), rec.evenly(size.length, a.POINTS)
    for split in a.SPLITS:
        on = a.problem(size.data, a.CLIENTS, split)
        # the client with the fewest samples bounds the batch
        spec = {"kind": "fedavg_async", "times": "f80", "K": 1, "batch": min(64, *on.sizes)}
        u = a.shares({**spec, "eta_l": "1", "weights": "identical"}, on)

        def run(weights: str, step: Fraction, seeds: range, on: Any = on, spec: Any = spec, u: Any = u) -> Any:
            return a.losses({**spec, "eta_l": str(step), "weights": weights}, on, grid, seeds, kept, u)

        step = rec.tuned(
            size.steps, lambda step, run=run: float(run("identical", step, size.tuning)["f"][:, -LEFT_OUT:].mean())
        )
        found[split] = Row(step, grid, {name: run(w, step.best, size.seeds) for name, w in a.WEIGHTS.items()})
    return found


def findings(found: Mapping[str, Row]) -> dict[str, fd.Decision]:
    """The paper's findings, decided seed by seed on the means over the last tenth of the aggregations."""

    def lower(column: str, better: str, worse: str) -> fd.Decision:
        rows = [fd.Comparison(s, row.ends(column, better), row.ends(column, worse)) for s, row in found.items()]
        return fd.ordered(rows, (better, worse))

    splits, alike, unlike = ("random split", "Dirichlet(0.1)"), found["random"], found[a.SHARD]
    gaps = {c: [r.ends(c, "identical") - r.ends(c, "time-based") for r in (alike, unlike)] for c in ("f", "spread")}
    other, own = gaps["f"]
    within = fd.decided([fd.Comparison("", other, own, TWICE[0]), fd.Comparison("", own, other, 1 / TWICE[1])])
    early = [
        fd.Comparison(s, *(row.runs[n]["f"][:, 1 : LEFT_OUT + 1].mean(axis=1) for n in ("identical", "time-based")))
        for s, row in found.items()
    ]
    ratio = f"the ratio of the mean differences is {own.mean() / other.mean():.3g}"
    return {
        "federated": lower("f", "time-based", "identical"),
        "spread": lower("spread", "time-based", "identical"),
        "shard_larger": fd.ordered([fd.Comparison("", *gaps["f"])], splits),
        "twice": fd.Decision(fd.together(within), f"{ratio}; from {TWICE[0]:.2f} to {TWICE[1]:.2f} counts as twice"),
        "shard_spread": fd.ordered([fd.Comparison("", *gaps["spread"])], splits),
        "surrogate": lower("surrogate_f", "identical", "time-based"),
        "surrogate_spread": lower("surrogate_spread", "time-based", "identical"),
        "first_faster": fd.ordered(early, ("identical", "time-based")),
    }


def make(full: bool = False, data: str | None = None, seeds: int | None = None, rounds: int | None = None) -> s.Made:
    """The figure."""
    found, size, scaled = a.computed(NAME, compute, FULL, SMALL, full, data, seeds, rounds)
    caption = (
        f"Softmax regression on {size.data}, {a.CLIENTS} clients, F80 (the fastest five times as fast as the slowest), "
        f"K = 1, asynchronous FedAvg; mean (lines) and range (bands) over {len(size.seeds)} seeds and {size.length} "
        "aggregations. First four panels: random split (the paper's MNIST); last four: classes by Dirichlet(0.1) (its "
        "MNIST-shard). eta_l, tuned with identical weights: "
        f"{', '.join(f'{row.step.best} ({split})' for split, row in found.items())}. The surrogate problem is the one "
        f"that identical weights follow, q_i in proportion to 1/tau_i. {scaled}Judged on the last tenth of the "
        "aggregations; 'first' is the first tenth, which is left out of the picture. Panels (a) and (c), (b) and (d) "
        "share their axes."
    )
    late = slice(LEFT_OUT, None)
    shown = [
        (f"{title}, {split}", y, {f"{n} weights": (row.grid[late], row.runs[n][c][:, late]) for n in a.WEIGHTS})
        for split, row in found.items()
        for c, (title, y) in PANELS.items()
    ]
    study = s.study(
        "Asynchronous FedAvg: identical and time-based weights (Figure 2 of the asynchronous paper)",
        caption,
        **s.panels("aggregation", shown),
        data={
            "steps": {split: row.step.data for split, row in found.items()},
            "ends": {
                split: {c: {n: float(row.ends(c, n).mean()) for n in a.WEIGHTS} for c in PANELS}
                for split, row in found.items()
            },
        },
    )
    return s.Made(study, findings(found))


main = s.script(make, seeds=1, rounds=20)

if __name__ == "__main__":
    s.start(main)
