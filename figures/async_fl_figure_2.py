"""Figure 2 of the asynchronous paper: identical against time-based weights, on two problems, and over the clients.

Run: python figures/async_fl_figure_2.py [-o DIR] [--data digits|mnist] [--seeds N] [--rounds N] [--full]
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import _async_fl as a
import _common as c
import _files as files
import _findings as fd
from _recorded import Recorded

NAME = "async_fl_figure_2"
CLIENTS = 10
FULL = a.Size("digits", 20_000, a.SEEDS, a.TUNING_SEEDS, a.STEPS)
SMALL = a.Size("digits", 2000, range(3), range(100, 101), a.STEPS[-3:])
WEIGHTS = {"identical": "identical", "time-based": "time_based"}
COLUMNS = {
    "federated": "(a) federated problem: loss",
    "spread": "(b) its deviation over clients",
    "surrogate": "(c) surrogate problem: loss",
    "surrogate_spread": "(d) its weighted deviation over clients",
}
LEFT_OUT = a.POINTS // 10  # points at the start that are not drawn: the losses are far above the rest there
TWICE = (math.sqrt(2), 2 * math.sqrt(2))  # what is called twice: nearer to 2 than to 1 or 4, by ratio


@dataclass(frozen=True)
class Row:
    """What was found on one split. step: tuned with identical weights; tried: step -> federated loss in the end."""

    step: Fraction
    tried: Mapping[str, float]
    runs: Mapping[str, a.Losses]

    def ends(self, column: str, name: str) -> c.Array:
        """By seed: the mean over the last tenth of the recorded rounds."""
        values = getattr(self.runs[name], column)
        return values[:, -max(1, values.shape[1] // 10) :].mean(axis=1)

    def gap(self, column: str) -> c.Array:
        """By seed: by how much identical weights end above time-based ones."""
        return self.ends(column, "identical") - self.ends(column, "time-based")


def compute(size: a.Size, kept: Recorded) -> dict[str, Row]:
    """The rows by split."""
    found: dict[str, Row] = {}
    for split in a.SPLITS:
        on = a.problem(size.data, CLIENTS, split)
        spec = {"kind": "fedavg_async", "times": "f80", "K": 1, "batch": a.batch(on)}
        shares = a.shares({**spec, "eta_l": "1", "weights": "identical"}, on)

        def run(
            weights: str, step: Fraction, seeds: range, on: Any = on, spec: Any = spec, shares: Any = shares
        ) -> Any:
            given = {**spec, "eta_l": str(step), "weights": weights}
            return a.losses(given, on, a.grid_to(size.length), seeds, kept, shares)

        def end(step: Fraction, run: Any = run) -> float:
            return float(run("identical", step, size.tuning).federated[:, -a.POINTS // 10 :].mean())

        step, tried = c.tuned(size.steps, end)
        found[split] = Row(step, tried, {name: run(w, step, size.seeds) for name, w in WEIGHTS.items()})
    return found


def findings(found: Mapping[str, Row]) -> dict[str, fd.Decision]:
    """The paper's findings, decided seed by seed on the means over the last tenth of the aggregations."""

    def lower(column: str, better: str, worse: str) -> fd.Decision:
        rows = [fd.Comparison(s, row.ends(column, better), row.ends(column, worse)) for s, row in found.items()]
        return fd.ordered(rows, (better, worse))

    alike, unlike = found["random"], found["by Dirichlet(0.1)"]
    own, other = unlike.gap("federated"), alike.gap("federated")
    within = fd.decided([fd.Comparison("", other, own, TWICE[0]), fd.Comparison("", own, other, 1 / TWICE[1])])
    early = [
        fd.Comparison(s, *(row.runs[n].federated[:, 1 : a.POINTS // 10 + 1].mean(axis=1) for n in WEIGHTS))
        for s, row in found.items()
    ]
    apart = fd.Comparison("", alike.gap("spread"), unlike.gap("spread"))
    return {
        "federated": lower("federated", "time-based", "identical"),
        "spread": lower("spread", "time-based", "identical"),
        "shard_larger": fd.ordered([fd.Comparison("", other, own)], ("random split", "Dirichlet(0.1)")),
        "twice": fd.Decision(
            fd.together(within),
            f"the ratio of the mean differences is {own.mean() / other.mean():.3g}; from {TWICE[0]:.2f} to "
            f"{TWICE[1]:.2f} "
            "counts as twice",
        ),
        "shard_spread": fd.ordered([apart], ("random split", "Dirichlet(0.1)")),
        "surrogate": lower("surrogate", "identical", "time-based"),
        "surrogate_spread": lower("surrogate_spread", "time-based", "identical"),
        "first_faster": fd.ordered(early, ("identical", "time-based")),
    }


def facts(found: Mapping[str, Row], size: a.Size, kept: Recorded) -> dict[str, Any]:
    """Title, caption, findings."""
    steps = ", ".join(f"{row.step} ({split})" for split, row in found.items())
    caption = (
        f"Softmax regression on {size.data}, {CLIENTS} clients, F80 (the fastest five times as fast as the slowest), "
        f"K = 1, "
        f"asynchronous FedAvg; mean (lines) and range (bands) over {len(size.seeds)} seeds and {size.length} "
        f"aggregations. "
        "Upper row: random split (the paper's MNIST); lower row: classes by Dirichlet(0.1) (its MNIST-shard). eta_l, "
        "tuned "
        f"with identical weights: {steps}. The surrogate problem is the one that identical weights follow, q_i in "
        f"proportion to 1/tau_i. {a.scaled(size, FULL)}{kept.words()}Judged on the last tenth of the aggregations; "
        "'first' is the first tenth, which is left out of the picture. Columns (a) and (c), (b) and (d) share their "
        "axes."
    )
    return {
        "schema": 1,
        "title": "Asynchronous FedAvg: identical and time-based weights (Figure 2 of the asynchronous paper)",
        "caption": caption,
        "findings": fd.judged("async_fl", "Figure 2", findings(found)),
        "notes": [],
        "steps": {split: {"best": str(row.step), "tried": row.tried} for split, row in found.items()},
        "ends": {
            split: {k: {n: float(row.ends(k, n).mean()) for n in WEIGHTS} for k in COLUMNS}
            for split, row in found.items()
        },
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    found, size, kept, out = a.drawn(argv, str(__doc__), NAME, FULL, SMALL, compute)
    figure, axes = c.canvas(2, len(COLUMNS))
    for row, (split, own) in zip(axes, found.items(), strict=True):
        for ax, (column, title) in zip(row, COLUMNS.items(), strict=True):
            for name, run in own.runs.items():
                at, values = run.rounds[LEFT_OUT:], getattr(run, column)[:, LEFT_OUT:]
                ax.fill_between(at, values.min(0), values.max(0), color=a.COLOURS[name], alpha=0.2, lw=0)
                ax.plot(at, values.mean(0), color=a.COLOURS[name], lw=1.4, label=f"{name} weights")
            ax.set_xlim(0, None)
            ax.set_yscale("log")
            if split == next(iter(found)):
                ax.set_title(title, loc="left", fontsize=8.5)
            else:
                ax.set_xlabel("aggregation")
            ax.tick_params(labelsize=7.5)
            c.style(ax)
        row[0].set_ylabel(f"split {split}", fontsize=9)
    a.common_heights([axes[:, (0, 2)].ravel(), axes[:, (1, 3)].ravel()])
    axes[0][0].legend(frameon=False, fontsize=8)
    for path in c.save(figure, facts(found, size, kept), out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
