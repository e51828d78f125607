"""Figure 1 of FedShuffle: its methods on equation (36), expected curves without sampling error over sampled bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import _fedshuffle as f
import _findings as fd
import _study as s

from boundcheck.problems.build import build as build_problem
from boundcheck.report.words import pretty

NAME = "fedshuffle_figure_1"
SECONDS = 36
BOUND = "fedshuffle/theorem_5_1_strongly_convex/sharp"
EQUAL_STEP = "1/20"  # at which the two samplings of the right panel are also compared
EARLY = 20


def best(of: Mapping[str, f.Drawn], ends: Mapping[str, float]) -> fd.Decision:
    """Whether FedShuffle is the best by the rounds that it needs and by where it ends."""
    target = 2 * max(ends["FedShuffle"], ends["FedNovaRR"])
    first = {n: next((float(r) for r, v in enumerate(line.exact) if v <= target), inf) for n, line in of.items()}
    others = [n for n in of if n != "FedShuffle"]
    fast, low = (fd.ordered([fd.Comparison("", by["FedShuffle"], by[n]) for n in others]) for by in (first, ends))
    reached = ", ".join(f"{n} {r:g}" for n, r in first.items() if r != inf)
    summary = ", ".join(f"{n} {pretty(ends[n])}" for n in sorted(ends, key=lambda n: ends[n]))
    return fd.agreed(
        fd.Decision(fast.word, f"rounds until the gap is at most {pretty(target)}: {reached}, the others never"),
        fd.Decision(low.word, f"in the end: {summary}"),
    )


def findings(drawn: Sequence[Mapping[str, f.Drawn]]) -> dict[str, fd.Decision]:
    """The paper's findings on the exact expectations, in which nothing is random."""
    left, moved, sums, right = drawn
    floors = {name: float(line.floor) for name, line in left.items()}
    ends = {name: float(line.exact[-1]) for name, line in moved.items()}
    sound = [name for name in floors if name not in ("FedAvg", "FedAvgRR")]

    def limits(pairs: Sequence[tuple[str, str]]) -> fd.Decision:
        return fd.ordered([fd.Comparison(f"limits of {a} and {b}", floors[a], floors[b]) for a, b in pairs])

    below = {n: float((left["FedAvgMin"].exact > left[n].exact)[1:].mean()) for n in sound if n != "FedAvgMin"}
    words = fd.decided([fd.Comparison("", ends[n], floors[n], margin=0.01) for n in sound])
    weighted, uniform = right["by weight (IS)"], right["uniform"]
    sampling = ("by weight", "uniform")
    early = fd.Comparison(f"round {EARLY}", float(weighted.exact[EARLY]), float(uniform.exact[EARLY]))
    late = fd.Comparison("limit", float(weighted.floor), float(uniform.floor))
    one_sum = fd.Comparison("limits", float(sums["FedShuffle"].floor), float(sums["FedShuffle, Sum-One"].floor))
    helped = fd.Comparison("FedAvg", ends["FedAvg"], floors["FedAvg"])
    return {
        "inconsistent": limits([(n, "FedAvgRR") for n in sound]),
        "min_dominated": fd.certain(
            min(below.values()) > 0.5,
            "share of rounds in which its expected gap is above that of "
            + ", ".join(f"{n} {share:.0%}" for n, share in below.items()),
        ),
        "noise": limits([("FedNovaRR", "FedNova"), ("FedNovaRR", "FedAvgMean")]),
        "best": best(left, floors),
        "momentum_fedavg": fd.ordered([helped], ("with momentum", "limit without")),
        "momentum_others": fd.Decision(
            fd.together(words),
            "with momentum in the last round over the limit without: "
            + ", ".join(f"{n} {ends[n] / floors[n]:.2g}" for n in sound),
        ),
        "momentum_best": best(moved, ends),
        "sum_one": fd.ordered([one_sum], ("unbiased", "Sum-One")),
        "importance": fd.agreed(fd.ordered([early], sampling), fd.ordered([late], sampling)),
    }


def make(seeds: int = f.SEEDS, rounds: int = 200) -> s.Made:
    """The figure."""
    panels = f.stated(NAME)
    drawn = [f.compute(panel, seeds, rounds, BOUND) for panel in panels]
    single, z = build_problem(panels[-1]["problem"]), max(line.z for lines in drawn for line in lines.values())
    specs = [{**spec, "eta_l": EQUAL_STEP} for spec in panels[-1]["methods"].values()]
    uniform, weight = (float(f.limit(spec, single)) for spec in specs)
    bounds = {f"{k}: {n}": x.outcome for k, lines in enumerate(drawn, 1) for n, x in lines.items() if x.outcome}
    caption = (
        f"Expected gap by round: exact expectation (lines), 5 to 95 % of {seeds} sampled runs (bands), bound of "
        "Theorem 5.1, strongly convex, sharp reading, on the weighted average of the gap (where the theorem speaks). "
        "Each method takes the largest step that Theorem E.1 allows (the paper gives none, so that nothing is tuned), "
        "those that draw with replacement or take equal steps the one of their reshuffled relative; momentum weighs "
        f"clients by w_i/p_i. Verdicts, by panel: {', '.join(f'{k} {v}' for k, v in bounds.items())}. Curves that "
        "meet: FedAvgMin and FedAvgMean, FedNovaRR and FedShuffle in their limits. The panels share their axis of "
        f"values. The sampled means lie within {z:.1f} standard errors of the exact curves, over all rounds."
    )
    note = (
        f"At one step size ({EQUAL_STEP}) the limits of importance sampling and uniform sampling are "
        f"{pretty(weight)} and {pretty(uniform)}: the gradient of the large client is small at the solution."
    )
    data: dict[str, Any] = {
        "seeds": seeds,
        "rounds": rounds,
        "floors": [{name: str(line.floor) for name, line in lines.items()} for lines in drawn],
        "largest_z": z,
        "bounds": bounds,
        "equal_step": {"eta_l": EQUAL_STEP, "uniform": uniform, "weight": weight},
    }
    title = "FedShuffle and its rivals on equation (36) (Figure 1 of the FedShuffle paper)"
    return s.Made(
        s.study(title, caption, [note], data=data, **f.pictures([panel["title"] for panel in panels], drawn)),
        findings(drawn),
    )


main = s.script(make, seeds=2, rounds=EARLY)

if __name__ == "__main__":
    s.start(main)
