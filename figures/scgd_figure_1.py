"""Figure 1 of the SCGD report: constant step 1e-5, MSE_FedAvg - MSE_SCGD by round; beside it Theorem 3.3.

Run: python figures/scgd_figure_1.py [-o DIR] [--repeats N] [--rounds N]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import _common as c
import _files as files
import _findings as fd
import numpy as np
from matplotlib.figure import Figure

from boundcheck.core.numbers import parse_number
from boundcheck.evidence.claim import ClaimResult
from boundcheck.report.words import pretty
from boundcheck.verdict import Outcome

NAME = "scgd_figure_1"
STEP = "1e-5"
STATEMENT = "scgd/theorem_3_3/corrected"
PAPER_ROUND = 6000  # "SCGD always has smaller errors after 6000 rounds"


@dataclass(frozen=True)
class Results:
    """Everything the picture shows. fresh, shared, device: differences by repeat and round (see `_common`)."""

    fresh: c.Array
    shared: c.Array
    device: c.Array
    in_scope_step: c.Array
    paper: ClaimResult
    largest: ClaimResult
    all_devices_end: float


def compute(repeats: int, rounds: int) -> Results:
    """The runs: sampled engine on the left, exact engine on the right."""
    pair = c.fedavg(eta=STEP), c.scgd(eta=STEP)
    how: dict[str, Any] = {"repeats": repeats, "rounds": rounds}
    largest = c.claim_on_seed_0(STATEMENT, c.scgd(eta="largest"))
    small = str(largest.method["eta"])
    return Results(
        fresh=c.differences(*pair, **how, fresh_data=True),
        shared=c.differences(*pair, **how, fresh_data=False),
        device=c.differences(*pair, **how, fresh_data=False, heterogeneity="device"),
        in_scope_step=c.differences(c.fedavg(eta=small), c.scgd(eta=small), **how, fresh_data=False),
        paper=c.claim_on_seed_0(STATEMENT, c.scgd(eta=STEP)),
        largest=largest,
        all_devices_end=c.final_gap(c.fedavg(None, eta=STEP), rounds) - c.final_gap(c.scgd(eta=STEP), rounds),
    )


def facts(r: Results) -> dict[str, Any]:
    """Numbers and sentences, all computed from the results."""
    fresh, shared, device, small = (c.summarise(d) for d in (r.fresh, r.shared, r.device, r.in_scope_step))
    repeats, rounds = r.fresh.shape[0], r.fresh.shape[1] - 1
    eta = parse_number(str(r.largest.method["eta"]))
    excess = float(Fraction(STEP) / eta)
    found: dict[str, Any] = {
        "schema": 1,
        "title": "SCGD and FedAvg with the constant step size 1e-5 (Figure 1 of the SCGD report)",
        "repeats": repeats,
        "rounds": rounds,
        "fresh_data": c.plain(fresh),
        "one_data_set": c.plain(shared),
        "one_data_set_device_coefficients": c.plain(device),
        "one_data_set_largest_step_in_scope": c.plain(small),
        "paper_round": PAPER_ROUND,
        "paper_step": {"eta": STEP, "outcome": r.paper.verdict.outcome.value},
        "largest_step": {"eta": float(eta), "outcome": r.largest.verdict.outcome.value},
        "paper_over_largest": excess,
        "all_devices_minus_scgd_end": r.all_devices_end,
    }
    found["caption"] = (
        f"Left: percentiles of MSE_FedAvg − MSE_SCGD over {repeats} repeats of {rounds} rounds from θ = 0, MSE over "
        "all 1000 observations, loss = sum of squares a device. The paper does not say whether a repeat draws new "
        "data: the band draws data and cohorts anew, the dashed lines keep one data set and draw cohorts alone. "
        "Right: squared distance to the solution on one data set (exact engine) against the bound of Theorem 3.3, "
        "corrected reading."
    )
    found["findings"] = fd.judged("scgd", "Figure 1", {"always": always(r)})
    found["notes"] = notes(r, found)
    return found


def always(r: Results) -> fd.Decision:
    """By the paper's own curve, the 5 % percentile of each round, and the share of repeats after the last round."""
    rounds = r.fresh.shape[1] - 1
    if rounds < PAPER_ROUND:
        return fd.Decision(fd.UNDECIDED, f"{rounds} rounds were run, the paper is about those after {PAPER_ROUND}")
    words: list[str] = []
    parts: list[str] = []
    for name, values in (("fresh data each repeat", r.fresh), ("one data set", r.shared)):
        since = c.summarise(values).positive_from
        early = since is not None and since <= PAPER_ROUND
        word, told = fd.share(int((values[:, -1] > 0).sum()), len(values), 1 - c.PERCENTILES[0] / 100)
        words.append(word if early or word == fd.REVERSED else fd.UNDECIDED)
        curve = "in no round" if since is None else f"from round {since} on"
        parts.append(f"{name}: 5 % percentile above 0 {curve}, after the last round above 0 in {told}")
    return fd.Decision(fd.together(words), "; ".join(parts))


def notes(r: Results, found: dict[str, Any]) -> list[str]:
    """What theorem and problem say beside the paper's finding."""
    shared, device, small = (c.summarise(d) for d in (r.shared, r.device, r.in_scope_step))
    if r.paper.verdict.outcome is Outcome.OUT_OF_SCOPE:
        scope = (
            f"The paper's step is {pretty(found['paper_over_largest'])} times the largest that Theorem 3.3 allows here "
            f"({pretty(found['largest_step']['eta'])}): OUT_OF_SCOPE, so the figure is no check of the theorem."
        )
    else:
        scope = f"Theorem 3.3 covers the paper's step: {r.paper.verdict.outcome.value}."
    late = [int((v[:, PAPER_ROUND:] > 0).all(axis=1).sum()) for v in (r.fresh, r.shared)]
    at, ahead = small.positive_from, r.all_devices_end < 0
    return [
        f"Taken as a statement about each single run, from round {PAPER_ROUND} on: {late[0]} of {len(r.fresh)} runs "
        f"with fresh data and {late[1]} of {len(r.shared)} with one data set have the smaller error in all rounds.",
        f"With device-specific coefficients the median difference after the last round is {pretty(device.end[1])}, "
        f"with "
        f"common ones {pretty(shared.end[1])} (one data set).",
        scope,
        f"At the largest step in scope ({pretty(found['largest_step']['eta'])}), on one data set, the 5 % percentile "
        f"stays above 0 {'in no round' if at is None else f'from round {at} on'}; the median ends at "
        f"{pretty(small.end[1])}.",
        f"FedAvg with all {c.DEVICES} devices a round ends with a {'smaller' if ahead else 'larger'} MSE than SCGD "
        f"(difference {pretty(r.all_devices_end)})"
        + (": what SCGD wins here is the absence of random cohorts, not of averaging." if ahead else "."),
    ]


def draw(r: Results, found: dict[str, Any]) -> Figure:
    """Both panels."""
    figure, ((left, right),) = c.canvas()
    c.draw_differences(left, r.fresh, r.shared)
    left.legend(loc="lower right", frameon=False, fontsize=8.5)
    left.set_title("Figure 1: constant step size 1e-5", loc="left", fontsize=11)
    at = found["fresh_data"]["positive_from"]
    if at is not None:
        c.mark_round(left, at, f"5 % above 0\nfrom round {at}", c.METRIC, 0.3)
    if found["rounds"] >= PAPER_ROUND:
        c.mark_round(left, PAPER_ROUND, "paper: from\nround 6000", c.GREY, 0.3)
    for result, colour, name in ((r.paper, c.BOUND, STEP), (r.largest, c.METRIC, pretty(found["largest_step"]["eta"]))):
        keep = [i for i, k in enumerate(result.index) if k > 0]
        x = [float(result.index[i]) for i in keep]
        middle = [(result.metric_low[i] + result.metric_high[i]) / 2 for i in keep]
        outcome = result.verdict.outcome.value
        right.plot(x, middle, color=colour, lw=1.8, label=f"dist2, η = {name}")
        right.plot(
            x, [result.bound[i] for i in keep], color=colour, lw=1.2, ls=(0, (4, 2)), label=f"bound there: {outcome}"
        )
    right.axhline(
        float(parse_number(r.paper.verdict.details["constants"]["dist2_0"]["value"])), color=c.GREY, lw=1, ls=":"
    )
    right.axvspan(0.5, found["rounds"] / c.DEVICES, color="#000000", alpha=0.035, lw=0)
    right.set_xlim(0.8, None)
    right.set_xscale("log")
    right.set_yscale("log")
    right.set_xlabel(f"cycle K ({c.DEVICES} rounds); shaded: the paper's {found['rounds']} rounds")
    right.set_ylabel("squared distance to the solution, in [x]²")
    right.set_title("Theorem 3.3, corrected", loc="left", fontsize=11)
    right.legend(loc="lower left", frameon=False, fontsize=8.5)
    c.style(right)
    return figure


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    chosen = c.arguments(str(__doc__).split("\n", 1)[0], argv, NAME)
    results = compute(chosen.repeats, chosen.rounds)
    assert np.isfinite(results.fresh).all()
    found = facts(results)
    for path in c.save(draw(results, found), found, chosen.out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
