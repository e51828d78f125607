"""What the two figures of the SCGD report share: its Section 4 experiment, percentiles, and the paper's panel.

S. Ma, "Semi-Cyclic Gradient Descent Outperforms Federated Averaging with Sufficiently Small Learning Rate",
Section 4: 1000 observations of dimension 8 on 20 devices, 10000 rounds, E = 4 local steps, 3 random devices a round
for FedAvg, one device a round in turn for SCGD, 100 repeats from one start (here 0), percentiles 5 and 95 of
MSE_FedAvg - MSE_SCGD after each round.

MSE is the mean squared error over all 1000 observations. With f_i the sum over device i and F their mean it is
(n/1000)*F, so the difference of two MSE is n/1000 times the difference of the gaps F - F*, where nothing cancels.
The panel has a symmetric logarithmic axis, which the pictures of a report have not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import _findings as fd
import _study as s
import numpy as np

from boundcheck.core.palette import PALETTE
from boundcheck.engines.simulate import run_sampled
from boundcheck.evidence.claim import Claim, ClaimResult, run_claim
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem
from boundcheck.report.words import pretty

OBSERVATIONS, DEVICES, LOCAL_STEPS, COHORT = 1000, 20, 4, 3
REPEATS, ROUNDS = 100, 10_000
PERCENTILES = (5, 95)
METRIC, BOUND, GREY, BAND = (PALETTE[f"series-{name}"][0] for name in ("metric", "bound", "trivial", "reading"))
SIZE = (12, 4.8)  # inches
Spec = Mapping[str, Any]


def problem_spec(seed: int = 0, heterogeneity: str = "iid") -> dict[str, Any]:
    """The Section 4 problem; "iid": one true coefficient vector, "device": one for each device."""
    return {"kind": "scgd_section_4", "seed": seed, "heterogeneity": heterogeneity}


def fedavg(size: int | None = COHORT, **step: Any) -> dict[str, Any]:
    """FedAvg with `size` random devices a round (None: all)."""
    return {"kind": "fedavg", "E": LOCAL_STEPS, **({} if size is None else {"size": size}), **step}


def scgd(**step: Any) -> dict[str, Any]:
    """SCGD."""
    return {"kind": "scgd", "E": LOCAL_STEPS, **step}


def mse_excess(method: Spec, problem: Problem, rounds: int, seeds: range) -> s.Array:
    """MSE minus its least value after rounds 0..rounds, one row a seed."""
    curve = run_sampled(build_method(method), problem, rounds, seeds, metrics=("gap",), grid=range(rounds + 1))
    return curve.samples["gap"] * (DEVICES / OBSERVATIONS)


def differences(first: Spec, second: Spec, blocks: list[range], rounds: int, kind: str = "iid") -> s.Array:
    """MSE of `first` minus MSE of `second` (repeats, rounds + 1); repeat k draws its cohorts from seed k.

    blocks: of seeds that share their data, those of the first seed.
    """
    rows: list[s.Array] = []
    for seeds in blocks:
        problem = build_problem(problem_spec(seeds.start, kind))
        rows.append(mse_excess(first, problem, rounds, seeds) - mse_excess(second, problem, rounds, seeds))
    return np.concatenate(rows)


@dataclass(frozen=True)
class Differences:
    """MSE_FedAvg - MSE_SCGD by repeat and round: each repeat with data of its own, all with the data of seed 0, and so
    with device-specific coefficients.
    """

    fresh: s.Array
    shared: s.Array
    device: s.Array

    @classmethod
    def of(cls, first: Spec, second: Spec, repeats: int, rounds: int) -> Differences:
        """Those of two methods."""
        fresh, shared = [range(k, k + 1) for k in range(repeats)], [range(repeats)]
        how = ((fresh, "iid"), (shared, "iid"), (shared, "device"))
        return cls(*(differences(first, second, blocks, rounds, kind) for blocks, kind in how))

    @property
    def judged(self) -> dict[str, s.Array]:
        """Those that a finding is about: the paper does not say whether a repeat draws new data."""
        return {"fresh data each repeat": self.fresh, "one data set": self.shared}

    def facts(self) -> dict[str, Any]:
        """Their summaries."""
        repeats, rounds = self.fresh.shape
        found = {"fresh_data": self.fresh, "one_data_set": self.shared, "one_data_set_device_coefficients": self.device}
        return {"repeats": repeats, "rounds": rounds - 1, **{name: summary(v) for name, v in found.items()}}


def stays_positive_from(values: s.Array) -> int | None:
    """First round from which all later values (and its own) are above 0; None if the last one is not."""
    below = np.nonzero(~(values > 0))[0]
    first = 0 if not len(below) else int(below[-1]) + 1
    return first if first < len(values) else None


def summary(difference: s.Array) -> dict[str, Any]:
    """Percentiles of (repeats, rounds + 1) differences over repeats.

    positive_from: first round from which the 5 % percentile stays above 0 (None: never). end: percentile 5, median
    and percentile 95 after the last round. share_positive_end: share of repeats with a positive difference there.
    """
    low, middle, high = np.percentile(difference, [PERCENTILES[0], 50, PERCENTILES[1]], axis=0)
    end = (float(low[-1]), float(middle[-1]), float(high[-1]))
    share = float((difference[:, -1] > 0).mean())
    return {"positive_from": stays_positive_from(low), "end": end, "share_positive_end": share}


def smaller_in_the_end(values: s.Array) -> tuple[str, str]:
    """Whether SCGD ends with the smaller error with probability above 95 %, and the numbers in words."""
    return fd.share(int((values[:, -1] > 0).sum()), len(values), 1 - PERCENTILES[0] / 100)


def claim_on_seed_0(statement: str, method: Spec, at: Spec | None = None) -> ClaimResult:
    """A claim on the data of seed 0, carried out by the exact engine."""
    return run_claim(Claim(statement, problem_spec(), method, at=at or {}))


def of_all_devices(difference: float) -> str:
    """What FedAvg with all devices does; difference: its MSE minus that of SCGD after the last round."""
    word = "smaller" if difference < 0 else "larger"
    return (
        f"FedAvg with all {DEVICES} devices a round ends with a {word} MSE than SCGD (difference {pretty(difference)})"
    )


def middle(result: ClaimResult) -> s.Array:
    """The metric of a claim."""
    return (np.array(result.metric_low) + np.array(result.metric_high)) / 2


def draw_differences(ax: Any, found: Differences, title: str) -> None:
    """The paper's panel: percentiles of the difference, fresh data as a band, one data set as dashed lines."""
    count = found.fresh.shape[1] - 1
    shown = np.unique(np.concatenate([np.arange(min(count, 100) + 1), np.linspace(0, count, 400).astype(int)]))
    fresh, (first, last) = found.fresh[:, shown], np.percentile(found.shared[:, shown], PERCENTILES, axis=0)
    ax.fill_between(
        shown, *np.percentile(fresh, PERCENTILES, axis=0), color=METRIC, alpha=0.2, lw=0, label="5 to 95 %, fresh data"
    )
    ax.plot(shown, np.median(fresh, axis=0), color=METRIC, lw=1.8, label="median")
    ax.plot(shown, first, color=BAND, lw=1, ls=(0, (5, 2)), label="5 and 95 %, one data set")
    ax.plot(shown, last, color=BAND, lw=1, ls=(0, (5, 2)))
    ax.axhline(0, color=GREY, lw=0.8)
    threshold = 10.0 ** math.floor(math.log10(max(float(np.median(np.abs(fresh[:, -1]))) / 3, 1e-300)))
    ax.set_yscale("symlog", linthresh=threshold, linscale=0.7)
    ends = [round(math.log10(t)) for t in (threshold, max(10 * threshold, float(np.abs(fresh).max())))]
    decades = [10.0**k for k in range(ends[0] + 1, ends[1] + 1)]
    ax.set_yticks([-v for v in reversed(decades)] + [0] + decades)
    ax.minorticks_off()
    label = r"MSE$_\mathrm{FedAvg}$ − MSE$_\mathrm{SCGD}$  (symmetric log axis)"
    ax.set(xlabel="communication round", ylabel=label)
    ax.set_title(title, loc="left", fontsize=11)
    ax.legend(loc="lower right", frameon=False, fontsize=8.5)
    ax.grid(visible=True)
    since = summary(found.fresh)["positive_from"]
    if since is not None:
        mark_round(ax, since, f"5 % above 0\nfrom round {since}", METRIC, 0.3)


def mark_round(ax: Any, at: int, text: str, colour: str, height: float, side: str = "left") -> None:
    """A vertical line at a round with its meaning beside it; side: which side of the text touches the line."""
    ax.axvline(at, color=colour, lw=1, ls=(0, (1, 2)))
    beside = {"xytext": (5 if side == "left" else -5, 0), "textcoords": "offset points", "ha": side, "va": "center"}
    ax.annotate(text, (at, height), xycoords=("data", "axes fraction"), color=colour, fontsize=8.5, **beside)


def finish(ax: Any, title: str, unit: str, cycles: str) -> None:
    """The words and scales of the panel of a theorem."""
    ax.set(xscale="log", yscale="log", xlabel=f"cycle K ({DEVICES} rounds){cycles}", ylabel=f"{unit}, in [x]²")
    ax.set_title(title, loc="left", fontsize=11)
    ax.legend(loc="lower left", frameon=False, fontsize=8.5)
    ax.grid(visible=True)
