"""What the two figures of the SCGD report share: its Section 4 experiment, percentiles, drawing, captions.

S. Ma, "Semi-Cyclic Gradient Descent Outperforms Federated Averaging with Sufficiently Small Learning Rate",
Section 4: 1000 observations of dimension 8 on 20 devices, 10000 rounds, E = 4 local steps, 3 random devices a round
for FedAvg, one device a round in turn for SCGD, 100 repeats from one start (here 0), percentiles 5 and 95 of
MSE_FedAvg - MSE_SCGD after each round.

MSE is the mean squared error over all 1000 observations. With f_i the sum over device i and F their mean it is
(n/1000)*F, so the difference of two MSE is n/1000 times the difference of the gaps F - F*, where nothing cancels.
"""

from __future__ import annotations

import argparse
import json
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import _files as files
import _findings as fd
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from boundcheck.core.palette import PALETTE
from boundcheck.engines.run import run
from boundcheck.engines.simulate import run_sampled
from boundcheck.evidence.claim import Claim, ClaimResult, run_claim
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem

Array = NDArray[np.float64]

OBSERVATIONS, DEVICES, LOCAL_STEPS, COHORT = 1000, 20, 4, 3
REPEATS, ROUNDS = 100, 10_000
PERCENTILES = (5, 95)
PANELS, AXIS, LINE, MARGIN = 4.4, 0.6, 0.157, 0.1  # inches: panels, what is below them, a caption line, the rest
METRIC, BOUND, GREY, BAND, RULE, INK = (
    PALETTE[name][0] for name in ("series-metric", "series-bound", "series-trivial", "series-reading", "rule", "ink")
)


def problem_spec(seed: int = 0, heterogeneity: str = "iid") -> dict[str, Any]:
    """The Section 4 problem; "iid": one true coefficient vector, "device": one for each device."""
    return {"kind": "scgd_section_4", "seed": seed, "heterogeneity": heterogeneity}


def fedavg(size: int | None = COHORT, **step: Any) -> dict[str, Any]:
    """FedAvg with `size` random devices a round (None: all)."""
    return {"kind": "fedavg", "E": LOCAL_STEPS, **({} if size is None else {"size": size}), **step}


def scgd(**step: Any) -> dict[str, Any]:
    """SCGD."""
    return {"kind": "scgd", "E": LOCAL_STEPS, **step}


def mse_excess(method: Mapping[str, Any], problem: Problem, rounds: int, seeds: range) -> Array:
    """MSE minus its least value after rounds 0..rounds, one row a seed."""
    curve = run_sampled(build_method(method), problem, rounds, seeds, metrics=("gap",), grid=range(rounds + 1))
    return curve.samples["gap"] * (DEVICES / OBSERVATIONS)


def differences(
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    *,
    repeats: int,
    rounds: int,
    fresh_data: bool,
    heterogeneity: str = "iid",
) -> Array:
    """MSE of `first` minus MSE of `second` (repeats, rounds + 1); repeat k draws its cohorts from seed k.

    fresh_data: repeat k also draws its own data (seed k); otherwise all repeats share the data of seed 0.
    """
    blocks = [range(k, k + 1) for k in range(repeats)] if fresh_data else [range(repeats)]
    rows: list[Array] = []
    for seeds in blocks:
        problem = build_problem(problem_spec(seeds.start, heterogeneity))
        rows.append(mse_excess(first, problem, rounds, seeds) - mse_excess(second, problem, rounds, seeds))
    return np.concatenate(rows)


def stays_positive_from(values: Array) -> int | None:
    """First round from which all later values (and its own) are above 0; None if the last one is not."""
    below = np.nonzero(~(values > 0))[0]
    first = 0 if not len(below) else int(below[-1]) + 1
    return first if first < len(values) else None


@dataclass(frozen=True)
class Summary:
    """Percentiles of the difference over repeats.

    positive_from: first round from which the 5 % percentile stays above 0 (None: never). end: percentile 5, median
    and percentile 95 after the last round. share_positive_end: share of repeats with a positive difference there.
    """

    positive_from: int | None
    end: tuple[float, float, float]
    share_positive_end: float


def summarise(difference: Array) -> Summary:
    """The summary of (repeats, rounds + 1) differences."""
    low, middle, high = np.percentile(difference, [PERCENTILES[0], 50, PERCENTILES[1]], axis=0)
    end = (float(low[-1]), float(middle[-1]), float(high[-1]))
    return Summary(stays_positive_from(low), end, float((difference[:, -1] > 0).mean()))


def claim_on_seed_0(statement: str, method: Mapping[str, Any], at: Mapping[str, Any] | None = None) -> ClaimResult:
    """A claim on the data of seed 0, carried out by the exact engine."""
    return run_claim(Claim(statement, problem_spec(), method, at=at or {}))


def final_gap(method: Mapping[str, Any], rounds: int) -> float:
    """MSE above its least value after `rounds`, on the data of seed 0: exact engine, expectation where random."""
    curve = run(build_method(method), build_problem(problem_spec()), rounds=[rounds], metrics=("gap",))
    return float(curve.values["gap"][0]) * DEVICES / OBSERVATIONS


def style(ax: Axes) -> None:
    """Plain axes."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, color=RULE, linewidth=0.6)
    ax.set_axisbelow(True)


def draw_differences(ax: Axes, fresh: Array, shared: Array) -> None:
    """The paper's panel: percentiles of the difference, fresh data as a band, one data set as dashed lines."""
    count = fresh.shape[1] - 1
    shown = np.unique(np.concatenate([np.arange(min(count, 100) + 1), np.linspace(0, count, 400).astype(int)]))
    low, middle, high = np.percentile(fresh[:, shown], [PERCENTILES[0], 50, PERCENTILES[1]], axis=0)
    ax.fill_between(shown, low, high, color=METRIC, alpha=0.2, lw=0, label="5 to 95 %, fresh data each repeat")
    ax.plot(shown, middle, color=METRIC, lw=1.8, label="median")
    for i, values in enumerate(np.percentile(shared[:, shown], PERCENTILES, axis=0)):
        label = "5 and 95 %, one data set" if i == 0 else None
        ax.plot(shown, values, color=BAND, lw=1, ls=(0, (5, 2)), label=label)
    ax.axhline(0, color=GREY, lw=0.8)
    threshold = 10.0 ** math.floor(math.log10(max(float(np.median(np.abs(fresh[:, -1]))) / 3, 1e-300)))
    ax.set_yscale("symlog", linthresh=threshold, linscale=0.7)
    ends = [round(math.log10(t)) for t in (threshold, max(10 * threshold, float(np.abs(fresh[:, shown]).max())))]
    decades = [10.0**k for k in range(ends[0] + 1, ends[1] + 1)]
    ax.set_yticks([-v for v in reversed(decades)] + [0] + decades)
    ax.minorticks_off()
    ax.set_xlabel("communication round")
    ax.set_ylabel(r"MSE$_\mathrm{FedAvg}$ − MSE$_\mathrm{SCGD}$  (symmetric log axis)")
    style(ax)


def mark_round(ax: Axes, at: int, text: str, colour: str, height: float, side: str = "left") -> None:
    """A vertical line at a round with its meaning beside it; side: which side of the text touches the line."""
    ax.axvline(at, color=colour, lw=1, ls=(0, (1, 2)))
    ax.annotate(
        text,
        (at, height),
        xycoords=("data", "axes fraction"),
        xytext=(5 if side == "left" else -5, 0),
        textcoords="offset points",
        color=colour,
        fontsize=8.5,
        va="center",
        ha=side,
    )


def canvas(rows: int = 1, columns: int = 2, width: float = 12) -> tuple[Figure, Any]:
    """A figure, width in inches, and its axes (rows, columns); `save` makes the room for the caption below."""
    figure = Figure(figsize=(width, PANELS))
    return figure, figure.subplots(rows, columns, squeeze=False)


def set_caption(figure: Figure, text: str) -> None:
    """Puts the text below the panels, which keep their height: the figure grows by as many lines as there are."""
    below = AXIS + (text.count("\n") + 1) * LINE + MARGIN
    height = PANELS + below
    figure.set_size_inches(12, height)
    figure.subplots_adjust(left=0.075, right=0.985, top=1 - 0.4 / height, bottom=below / height, wspace=0.2)
    figure.text(0.02, 1 - (PANELS + AXIS) / height, text, va="top", fontsize=8.3, linespacing=1.35, color=INK)


def save(figure: Figure, facts: Mapping[str, Any], folder: Path, name: str) -> list[Path]:
    """Writes the picture (SVG and PDF without the caption), its caption and its facts; all appear whole or none does.

    facts: "caption", "findings" (see `_findings.judged`) and "notes", sentences on what the figure shows beside them.
    """
    told = fd.lines(facts["findings"])
    blocks = [(word.capitalize(), told[word]) for word in told] + [("Beside the paper", list(facts["notes"]))]
    caption = [facts["caption"], *(f"{head}: {' '.join(those) or 'nothing.'}" for head, those in blocks[:-1])]
    if facts["notes"]:
        caption.append(f"{blocks[-1][0]}: {' '.join(facts['notes'])}")
    prose = "\n".join(textwrap.fill(part, 178) for part in caption)
    set_caption(figure, "")
    lists = "".join(f"\n## {head}\n\n" + "".join(f"- {s}\n" for s in those or ["Nothing."]) for head, those in blocks)
    texts = {
        ".json": json.dumps(facts, indent=1, ensure_ascii=False) + "\n",
        ".md": f"# {facts['title']}\n\n![{facts['title']}]({name}.png)\n\n{facts['caption']}\n{lists}",
    }
    return files.write_figure(figure, texts, folder, name, lambda: set_caption(figure, prose))


def arguments(description: str, argv: Sequence[str] | None, name: str) -> argparse.Namespace:
    """Folder, repeats and rounds, for the figure of that name."""
    parser = argparse.ArgumentParser(description=description)
    files.add_folder(parser)
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"repeats (default {REPEATS})")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds (default {ROUNDS})")
    chosen = parser.parse_args(argv)
    if chosen.repeats < 2 or chosen.rounds < 2 * DEVICES:
        parser.error(f"at least 2 repeats and {2 * DEVICES} rounds are needed.")
    chosen.out = files.folder_of(chosen.out, name)
    return chosen


def plain(summary: Summary) -> dict[str, Any]:
    """JSON-able form."""
    return asdict(summary)


def tuned(
    grid: Sequence[Fraction], end: Callable[[Fraction], float], most: int = 8
) -> tuple[Fraction, dict[str, float]]:
    """The value of least `end`, and what each gave: the grid goes on, by the ratio of its last two, until the best lies
    inside it. Raises ValueError where it does not after `most` more on a side.
    """
    values = sorted(grid)
    found = {v: end(v) for v in values}
    for _ in range(2 * most):
        best = min(values, key=lambda v: found[v])
        if best not in (values[0], values[-1]):
            return best, {str(v): found[v] for v in values}
        more = values[-1] ** 2 / values[-2] if best == values[-1] else values[0] ** 2 / values[1]
        found[more] = end(more)
        values = sorted(found)
    raise ValueError(f"the best of {', '.join(map(str, values))} lies at the end of the grid.")
