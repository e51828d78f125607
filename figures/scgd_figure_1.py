"""Figure 1 of the SCGD report: constant step 1e-5, MSE_FedAvg - MSE_SCGD by round; beside it Theorem 3.3."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import _findings as fd
import _scgd as c
import _study as s

from boundcheck.core.numbers import parse_number
from boundcheck.engines.run import run
from boundcheck.evidence.claim import ClaimResult
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.report.words import pretty
from boundcheck.verdict import Outcome

SECONDS = 71
STEP = "1e-5"
STATEMENT = "scgd/theorem_3_3/corrected"
IN_SCOPE_DEVICE_SHARED = ("_largest_step_in_scope", "_device_coefficients", "")
PAPER_ROUND = 6000  # "SCGD always has smaller errors after 6000 rounds"


def always(found: c.Differences) -> fd.Decision:
    """By the paper's own curve, the 5 % percentile of each round, and the share of repeats after the last round."""
    rounds = found.fresh.shape[1] - 1
    if rounds < PAPER_ROUND:
        return fd.Decision(fd.UNDECIDED, f"{rounds} rounds were run, the paper is about those after {PAPER_ROUND}")
    words: list[str] = []
    parts: list[str] = []
    for name, values in found.judged.items():
        since, (word, summary) = c.summary(values)["positive_from"], c.smaller_in_the_end(values)
        early = since is not None and since <= PAPER_ROUND
        words.append(word if early or word == fd.REVERSED else fd.UNDECIDED)
        curve = "in no round" if since is None else f"from round {since} on"
        parts.append(f"{name}: 5 % percentile above 0 {curve}, after the last round above 0 in {summary}")
    return fd.Decision(fd.together(words), "; ".join(parts))


def notes(found: c.Differences, data: Mapping[str, Any]) -> list[str]:
    """What theorem and problem say beside the paper's finding."""
    late = [int((v[:, PAPER_ROUND:] > 0).all(axis=1).sum()) for v in found.judged.values()]
    largest, end = pretty(data["largest_step"]["eta"]), data["all_devices_minus_scgd_end"]
    small, device, shared = (data[f"one_data_set{name}"] for name in IN_SCOPE_DEVICE_SHARED)
    outcome = data["paper_step"]["outcome"]
    scope = f"Theorem 3.3 covers the paper's step: {outcome}."
    if outcome == Outcome.OUT_OF_SCOPE.value:
        scope = (
            f"The paper's step is {pretty(data['paper_over_largest'])} times the largest that Theorem 3.3 allows here "
            f"({largest}): OUT_OF_SCOPE, so the figure is no check of the theorem."
        )
    at = "in no round" if small["positive_from"] is None else f"from round {small['positive_from']} on"
    why = ": what SCGD wins here is the absence of random cohorts, not of averaging." if end < 0 else "."
    return [
        f"Taken as a statement about each single run, from round {PAPER_ROUND} on: {late[0]} of {data['repeats']} runs "
        f"with fresh data and {late[1]} of {data['repeats']} with one data set have the smaller error in all rounds.",
        f"With device-specific coefficients the median difference after the last round is {pretty(device['end'][1])}, "
        f"with common ones {pretty(shared['end'][1])} (one data set).",
        scope,
        f"At the largest step in scope ({largest}), on one data set, the 5 % percentile stays above 0 {at}; the median "
        f"ends at {pretty(small['end'][1])}.",
        c.of_all_devices(end) + why,
    ]


def draw(found: c.Differences, paper: ClaimResult, largest: ClaimResult, figure: Any) -> None:
    """Both panels."""
    left, right = figure.subplots(1, 2)
    rounds = found.fresh.shape[1] - 1
    c.draw_differences(left, found, "Figure 1: constant step size 1e-5")
    if rounds >= PAPER_ROUND:
        c.mark_round(left, PAPER_ROUND, "paper: from\nround 6000", c.GREY, 0.3)
    for result, colour in ((paper, c.BOUND), (largest, c.METRIC)):
        eta = STEP if result is paper else pretty(parse_number(str(result.method["eta"])))
        x = [float(k) for k in result.index[1:]]
        right.plot(x, c.middle(result)[1:], color=colour, lw=1.8, label=f"dist2, η = {eta}")
        summary = f"bound there: {result.verdict.outcome.value}"
        right.plot(x, result.bound[1:], color=colour, lw=1.2, ls=(0, (4, 2)), label=summary)
    start = paper.verdict.details["constants"]["dist2_0"]["value"]
    right.axhline(float(parse_number(start)), color=c.GREY, lw=1, ls=":")
    right.axvspan(0.5, rounds / c.DEVICES, color="#000000", alpha=0.035, lw=0)
    right.set_xlim(0.8, None)
    c.finish(
        right, "Theorem 3.3, corrected", "squared distance to the solution", f"; shaded: the paper's {rounds} rounds"
    )


def make(repeats: int = c.REPEATS, rounds: int = c.ROUNDS) -> s.Made:
    """The figure: sampled engine on the left, exact engine on the right."""
    paper, largest = (c.claim_on_seed_0(STATEMENT, c.scgd(eta=eta)) for eta in (STEP, "largest"))
    small, problem = str(largest.method["eta"]), build_problem(c.problem_spec())
    found = c.Differences.of(c.fedavg(eta=STEP), c.scgd(eta=STEP), repeats, rounds)
    in_scope = c.differences(c.fedavg(eta=small), c.scgd(eta=small), [range(repeats)], rounds)
    every, scgd = (
        float(run(build_method(method), problem, rounds=[rounds], metrics=("gap",)).values["gap"][0])
        for method in (c.fedavg(None, eta=STEP), c.scgd(eta=STEP))
    )
    data = {
        **found.facts(),
        "one_data_set_largest_step_in_scope": c.summary(in_scope),
        "paper_round": PAPER_ROUND,
        "paper_step": {"eta": STEP, "outcome": paper.verdict.outcome.value},
        "largest_step": {"eta": float(parse_number(small)), "outcome": largest.verdict.outcome.value},
        "paper_over_largest": float(Fraction(STEP) / parse_number(small)),
        "all_devices_minus_scgd_end": (every - scgd) * c.DEVICES / c.OBSERVATIONS,
    }
    caption = (
        f"Left: percentiles of MSE_FedAvg − MSE_SCGD over {repeats} repeats of {rounds} rounds from θ = 0, MSE over "
        "all 1000 observations, loss = sum of squares a device. The paper does not say whether a repeat draws new "
        "data: the band draws data and cohorts anew, the dashed lines keep one data set and draw cohorts alone. Right: "
        "squared distance to the solution on one data set (exact engine) against the bound of Theorem 3.3, corrected "
        "reading."
    )
    title = "SCGD and FedAvg with the constant step size 1e-5 (Figure 1 of the SCGD report)"
    shown = s.study(title, caption, notes(found, data), data=data)
    return s.Made(shown, {"always": always(found)}, partial(draw, found, paper, largest), c.SIZE)


main = s.script(make, repeats=2, rounds=2 * c.DEVICES)

if __name__ == "__main__":
    s.start(main)
