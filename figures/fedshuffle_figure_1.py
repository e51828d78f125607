"""Figure 1 of FedShuffle: its methods on equation (36), expected curves without sampling error over sampled bands.

Run: python figures/fedshuffle_figure_1.py [-o DIR] [--seeds N] [--rounds N]
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import _common as c
import _fedshuffle as f
import _files as files
import _findings as fd

from boundcheck.engines.run import run
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.report.words import pretty

NAME = "fedshuffle_figure_1"
ROUNDS = 200
THREE = {"kind": "fedshuffle_36"}
UNEQUAL = {"kind": "fedshuffle_36", "sizes": [8, 1, 1]}
BOUND = "fedshuffle/theorem_5_1_strongly_convex/sharp"
MOMENTUM = {"a": "1/10"}
EQUAL_STEP = "1/20"  # at which the two samplings of the right panel are also compared
EARLY = 20


def one(share: str) -> Any:
    """One client a round: uniformly, or with probability w_i."""
    return {"kind": "uniform", "size": 1} if share == "uniform" else "one_by_weight"


def step(beta: Fraction) -> str:
    """1/(4 beta L) with L = 1."""
    return str(1 / (4 * beta))


def panels(rounds: int) -> list[f.Panel]:
    """The four panels. beta = 2 + M: M = 0 (all), 3/8 (2 of 3), 12/5 (one of (8,1,1), uniform), 1 (by weight)."""
    full, some, uniform, weighted = (step(2 + m) for m in (Fraction(0), Fraction(3, 8), Fraction(12, 5), Fraction(1)))
    third = str(Fraction(full) / 3)  # of one sample, where the largest client has three
    both = [
        ("FedAvg", {"kind": "fedavg_sgd", "eta_l": third}),
        ("FedAvgRR", {"kind": "fedavg_rr", "eta_l": third}),
        ("FedAvgMin", {"kind": "fedavg_min", "eta_l": third}),
        ("FedAvgMean", {"kind": "fedavg_mean", "eta_l": third}),
        ("FedNova", {"kind": "fedshuffle_nova", "eta_l": full}),
        ("FedNovaRR", {"kind": "fedshuffle_nova_rr", "eta_l": full}),
        ("FedShuffle", {"kind": "fedshuffle", "eta_l": full}),
    ]
    two = {"kind": "uniform", "size": 2}
    moved = [f.Line(name, {**_with_momentum(spec)}) for name, spec in both]
    return [
        f.Panel("All clients", THREE, [f.Line(n, s, BOUND if n == "FedShuffle" else "") for n, s in both], rounds),
        f.Panel("With momentum 0.9", THREE, moved, 2 * rounds),
        f.Panel(
            "Two of three clients",
            THREE,
            [
                f.Line("FedShuffle, Sum-One", {"kind": "fedshuffle_sum_one", "eta_l": some, "participation": two}),
                f.Line("FedShuffle", {"kind": "fedshuffle", "eta_l": some, "participation": two}, BOUND),
            ],
            rounds,
        ),
        f.Panel(
            "One client, |D| = (8, 1, 1)",
            UNEQUAL,
            [
                f.Line("uniform", {"kind": "fedshuffle", "eta_l": uniform, "participation": one("uniform")}, BOUND),
                f.Line(
                    "by weight (IS)", {"kind": "fedshuffle", "eta_l": weighted, "participation": one("weight")}, BOUND
                ),
            ],
            rounds,
        ),
    ]


def _with_momentum(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The same with (13) and (14); FedShuffle so becomes FedShuffleMVR."""
    if spec["kind"] == "fedshuffle":
        return {
            "kind": "fedshuffle_mvr",
            "eta_l": spec["eta_l"],
            "a": MOMENTUM["a"],
            "participation": "full",
            "start": "zero",
        }
    return {**spec, "momentum": MOMENTUM}


def equal_steps() -> dict[str, dict[str, float]]:
    """The two samplings of the right panel at one step size: the limit of the expected gap."""
    problem = build_problem(UNEQUAL)
    found: dict[str, dict[str, float]] = {}
    for share in ("uniform", "weight"):
        method = build_method({"kind": "fedshuffle", "eta_l": EQUAL_STEP, "participation": one(share)})
        limit = f.stationary(method, problem, ("gap",)).values["gap"]
        early = run(method, problem, rounds=[EARLY], metrics=("gap",)).values["gap"][0]
        found[share] = {"limit": float(limit), "early": float(early)}
    return found


def facts(drawn: Sequence[Sequence[f.Drawn]], seeds: int, rounds: int) -> dict[str, Any]:
    """Numbers and sentences, all computed from the results."""
    equal = equal_steps()
    found: dict[str, Any] = {
        "schema": 1,
        "title": "FedShuffle and its rivals on equation (36) (Figure 1 of the FedShuffle paper)",
        "seeds": seeds,
        "rounds": rounds,
        "floors": [{d.line.label: str(d.floor_exact) for d in lines} for lines in drawn],
        "largest_z": max(d.z for lines in drawn for d in lines),
        "bounds": {
            f"{k}: {d.line.label}": d.bound[3] for k, lines in enumerate(drawn, 1) for d in lines if d.bound is not None
        },
        "equal_step": {"eta_l": EQUAL_STEP, **equal},
    }
    found |= {"findings": fd.judged("fedshuffle", "Figure 1", findings(drawn)), "notes": notes(equal)}
    found["caption"] = (
        "Expected gap by round: exact expectation (solid lines), 5 to 95 % of "
        f"{seeds} sampled runs (bands), bound of Theorem 5.1, strongly convex, sharp reading, on the weighted average "
        "of the gap (dash-dotted, where the theorem speaks). Each method takes the largest step that Theorem E.1 "
        "allows "
        "(the paper gives none, so that nothing is tuned), those that draw with replacement or take equal steps the "
        "one of their reshuffled "
        "relative; momentum weighs clients by w_i/p_i. "
        f"Verdicts, by panel: {', '.join(f'{k} {v}' for k, v in found['bounds'].items())}. "
        "Curves that meet: FedAvgMin and FedAvgMean, FedNovaRR and FedShuffle in their limits (dashes show both). "
        "Panels 1 "
        "and 2 share their axis of values. "
        f"The sampled means lie within {found['largest_z']:.1f} standard errors of the exact curves, over all rounds."
    )
    return found


def findings(drawn: Sequence[Sequence[f.Drawn]]) -> dict[str, fd.Decision]:
    """The paper's findings on the exact expectations, in which nothing is random."""
    left, moved, sums, right = ({d.line.label: d for d in lines} for lines in drawn)
    floors = {name: d.floor for name, d in left.items()}
    ends = {name: float(d.exact[-1]) for name, d in moved.items()}
    sound = [name for name in floors if name not in ("FedAvg", "FedAvgRR")]

    def best(of: Mapping[str, f.Drawn], limit: Mapping[str, float]) -> fd.Decision:
        """By the rounds that the picture's lower half takes, and by where the curve ends: see `level`."""
        others = [n for n in of if n != "FedShuffle"]
        target = 2 * max(limit["FedShuffle"], limit["FedNovaRR"])
        rounds = {n: level(d, target) for n, d in of.items()}
        fast = fd.ordered([fd.Comparison("", rounds["FedShuffle"], rounds[n]) for n in others])
        low = fd.ordered([fd.Comparison("", limit["FedShuffle"], limit[n]) for n in others])
        told = ", ".join(f"{n} {pretty(limit[n])}" for n in sorted(limit, key=lambda n: limit[n]))
        reached = ", ".join(f"{n} {r:g}" for n, r in rounds.items() if r != float("inf"))
        return fd.agreed(
            fd.Decision(fast.word, f"rounds until the gap is at most {pretty(target)}: {reached}, the others never"),
            fd.Decision(low.word, f"in the end: {told}"),
        )

    def limits(smaller: str, larger: Sequence[str]) -> fd.Decision:
        return fd.ordered([fd.Comparison(f"limits of {smaller} and {n}", floors[smaller], floors[n]) for n in larger])

    below = {n: float((left["FedAvgMin"].exact > left[n].exact)[1:].mean()) for n in sound if n != "FedAvgMin"}
    helped = [fd.Comparison(n, ends[n], floors[n], margin=0.01) for n in sound]
    better = fd.decided(helped)
    uniform, weighted = right["uniform"], right["by weight (IS)"]
    sampling = ("by weight", "uniform")
    early = fd.Comparison(f"round {EARLY}", float(weighted.exact[EARLY]), float(uniform.exact[EARLY]))
    late = fd.Comparison("limit", weighted.floor, uniform.floor)
    return {
        "inconsistent": fd.ordered(
            [fd.Comparison(f"limits of {n} and FedAvgRR", floors[n], floors["FedAvgRR"]) for n in sound]
        ),
        "min_dominated": fd.certain(
            min(below.values()) > 0.5,
            "share of rounds in which its expected gap is above that of "
            + ", ".join(f"{n} {share:.0%}" for n, share in below.items()),
        ),
        "noise": limits("FedNovaRR", ("FedNova", "FedAvgMean")),
        "best": best(left, floors),
        "momentum_fedavg": fd.ordered(
            [fd.Comparison("FedAvg", ends["FedAvg"], floors["FedAvg"])], ("with momentum", "limit without")
        ),
        "momentum_others": fd.Decision(
            fd.together(better),
            "with momentum in the last round over the limit without: "
            + ", ".join(f"{c.label} {ends[c.label] / floors[c.label]:.2g}" for c in helped),
        ),
        "momentum_best": best(moved, ends),
        "sum_one": fd.ordered(
            [fd.Comparison("limits", sums["FedShuffle"].floor, sums["FedShuffle, Sum-One"].floor)],
            ("unbiased", "Sum-One"),
        ),
        "importance": fd.agreed(fd.ordered([early], sampling), fd.ordered([late], sampling)),
    }


def level(line: f.Drawn, target: float) -> float:
    """The first round with an expected gap of at most the target; inf where none has."""
    return next((float(r) for r, v in enumerate(line.exact) if v <= target), float("inf"))


def notes(equal: Mapping[str, Mapping[str, float]]) -> list[str]:
    """What the figure's problem shows beside the paper's findings."""
    return [
        f"At one step size ({EQUAL_STEP}) the limits of importance sampling and uniform sampling are "
        f"{pretty(equal['weight']['limit'])} and {pretty(equal['uniform']['limit'])}: the gradient of the large "
        f"client is "
        "small at the solution."
    ]


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    files.add_folder(parser)
    parser.add_argument("--seeds", type=int, default=f.SEEDS, help=f"sampled runs (default {f.SEEDS})")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds (default {ROUNDS})")
    chosen = parser.parse_args(argv)
    if chosen.seeds < 2 or chosen.rounds < EARLY:
        parser.error(f"at least 2 seeds and {EARLY} rounds are needed.")
    out = files.folder_of(chosen.out, NAME)
    wanted = panels(chosen.rounds)
    drawn = [f.compute(panel, chosen.seeds) for panel in wanted]
    found = facts(drawn, chosen.seeds, chosen.rounds)
    for path in c.save(f.figure(list(zip(wanted, drawn, strict=True)), 12, alike=2), found, out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
