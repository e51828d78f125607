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
        ("FedNova", {"kind": "fednova", "eta_l": full}),
        ("FedNovaRR", {"kind": "fednova_rr", "eta_l": full}),
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


def reached(line: f.Drawn) -> int:
    """The first round with an expected gap of at most twice its limit; the number after the last where none has."""
    return next((r for r, v in enumerate(line.exact) if v <= 2 * line.floor), len(line.exact))


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
    agrees, differs = _sentences(drawn, equal)
    found |= {"agrees": agrees, "differs": differs}
    found["caption"] = (
        "Expected gap by round: exact expectation (solid lines), 5 to 95 % of "
        f"{seeds} sampled runs (bands), bound of Theorem 5.1, strongly convex, sharp reading, on the weighted average "
        "of the gap (dashed, where the theorem speaks). Each method takes the largest step that Theorem E.1 allows "
        "(the paper gives none), those that draw with replacement or take equal steps the one of their reshuffled "
        "relative; momentum weighs clients by w_i/p_i. "
        f"Verdicts, by panel: {', '.join(f'{k} {v}' for k, v in found['bounds'].items())}. "
        f"The sampled means lie within {found['largest_z']:.1f} standard errors of the exact curves, over all rounds."
    )
    return found


def _sentences(
    drawn: Sequence[Sequence[f.Drawn]], equal: Mapping[str, Mapping[str, float]]
) -> tuple[list[str], list[str]]:
    agrees: list[str] = []
    differs: list[str] = []
    left, moved, sums, right = ({d.line.label: d for d in lines} for lines in drawn)

    def put(holds: bool, text: str) -> None:
        (agrees if holds else differs).append(text)

    floors = {name: d.floor for name, d in left.items()}
    order = sorted(floors, key=lambda name: floors[name])
    put(
        order[0] == "FedShuffle" and max(floors, key=lambda n: floors[n]) in ("FedAvgRR", "FedAvg"),
        "All clients, no momentum: limits of the expected gap, from the best: "
        + ", ".join(f"{n} {pretty(floors[n])}" for n in order)
        + ". The paper: FedShuffle best, FedAvgRR saturates highest.",
    )
    fast = {name: reached(left[name]) for name in ("FedShuffle", "FedNovaRR")}
    put(
        fast["FedShuffle"] < fast["FedNovaRR"],
        f"FedShuffle comes within twice its limit after {fast['FedShuffle']} rounds, FedNovaRR after "
        f"{fast['FedNovaRR']}.",
    )
    ends = {name: float(d.exact[-1]) for name, d in moved.items()}
    order = sorted(ends, key=lambda name: ends[name])
    put(
        order[0] == "FedShuffle",
        "With momentum, after the last round: "
        + ", ".join(f"{n} {pretty(ends[n])}" for n in order)
        + ". The paper: FedShuffle still best.",
    )
    worse = sums["FedShuffle, Sum-One"].floor > sums["FedShuffle"].floor
    put(
        worse,
        f"Two of three clients: Sum-One ends at {pretty(sums['FedShuffle, Sum-One'].floor)}, the unbiased aggregation "
        f"at "
        f"{pretty(sums['FedShuffle'].floor)}.",
    )
    uniform, weighted = right["uniform"], right["by weight (IS)"]
    better = weighted.floor < uniform.floor
    put(
        better,
        "Importance sampling, each at its largest step: after round "
        f"{EARLY} {pretty(float(weighted.exact[EARLY]))} against {pretty(float(uniform.exact[EARLY]))} of uniform "
        f"sampling, in "
        f"the limit {pretty(weighted.floor)} against {pretty(uniform.floor)}. "
        + ("" if better else "The paper reports a substantial improvement; it is one in the first rounds only."),
    )
    put(
        equal["weight"]["limit"] < equal["uniform"]["limit"],
        f"At one step size ({EQUAL_STEP}) the limits are {pretty(equal['weight']['limit'])} (by weight) and "
        f"{pretty(equal['uniform']['limit'])} (uniform): the gradient of the large client is small at the solution.",
    )
    return agrees, differs


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
    for path in c.save(f.figure(list(zip(wanted, drawn, strict=True)), 12), found, out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
