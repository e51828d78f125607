"""Figure 4 of FedShuffle (F.1): clients that miss their last local step, and weights that make up for it.

Run: python figures/fedshuffle_figure_4.py [-o DIR] [--seeds N] [--rounds N]

On equation (36) client 1 holds one sample: missing its last step leaves it no step at all, and no weight makes up for
that. So the figure lets the clients with more than one step miss theirs (K = 1, 1, 2 of 1, 2, 3 steps); the literal
version is computed beside it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import _common as c
import _fedshuffle as f
import _files as files
import _findings as fd

from boundcheck.engines.exact import stationary
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Epochs
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem, clients_of
from boundcheck.setting.followed_objective import small_step_weights, weighted_minimiser

NAME = "fedshuffle_figure_4"
ROUNDS = 120
THREE = {"kind": "fedshuffle_36"}
STEP = "1/8"  # 1/(4 beta L), beta = 2
LATER = [0, 1, 1]  # steps missed, where a client with a single step does it
LITERAL = [1, 1, 1]


def unfinished(missed: Sequence[int], reweighted: bool) -> dict[str, Any]:
    """FedShuffle with missed steps; with or without the weights that make up for them."""
    return {"kind": "fedshuffle_unfinished", "eta_l": STEP, "missed": list(missed), "reweighted": reweighted}


def nova_unfinished() -> Method:
    """FedNova with reshuffling whose clients miss their last steps, its weights those of the planned steps."""
    whole = build_method({"kind": "fedshuffle_nova_rr", "eta_l": STEP})
    assert isinstance(whole.local, Epochs)
    return replace(whole, local=replace(whole.local, missed=tuple(LATER)))


def panels(rounds: int) -> list[f.Panel]:
    """Without and with missed steps."""
    finished = [
        f.Line("FedNovaRR", {"kind": "fedshuffle_nova_rr", "eta_l": STEP}),
        f.Line("FedShuffle", {"kind": "fedshuffle", "eta_l": STEP}),
    ]
    missed = [
        f.Line("FedShuffle, steps missed", unfinished(LATER, False)),
        f.Line("FedShuffleGen, reweighted", unfinished(LATER, True)),
    ]
    return [
        f.Panel("Every step done", THREE, finished, rounds),
        f.Panel("Clients 2 and 3 miss their last step", THREE, missed, rounds),
    ]


def predicted_gap(problem: Problem, spec: dict[str, Any]) -> Fraction:
    """Gap of the point that small steps lead to."""
    weights = small_step_weights(build_method(spec), clients_of(problem))
    point = weighted_minimiser(problem, weights)
    return sum(((v - Fraction(1, problem.dim)) ** 2 for v in point), Fraction(0)) / 2


def best_rest(problem: Problem) -> Fraction:
    """The least gap that clients 2 and 3 alone can reach, whatever their weights: minimised over their share exactly.

    With weights (0, v, 1-v) the point is v/2 on two coordinates and (1-v)/3 on three; the gap is a parabola in v.
    """

    def gap(v: Fraction) -> Fraction:
        d = Fraction(1, problem.dim)
        return (d**2 + 2 * (v / 2 - d) ** 2 + 3 * ((1 - v) / 3 - d) ** 2) / 2

    at0, at1, at2 = gap(Fraction(0)), gap(Fraction(1, 2)), gap(Fraction(1))
    curve, slope = 2 * (at0 - 2 * at1 + at2), 4 * at1 - 3 * at0 - at2
    return gap(-slope / (2 * curve))


def facts(drawn: Sequence[Sequence[f.Drawn]], seeds: int, rounds: int) -> dict[str, Any]:
    """Numbers and sentences, all computed from the results."""
    problem = build_problem(THREE)
    floors = {d.line.label: d.floor for lines in drawn for d in lines}
    plain = predicted_gap(problem, unfinished(LATER, False))
    literal = predicted_gap(problem, unfinished(LITERAL, False))
    rest = best_rest(problem)
    weights = build_method(unfinished(LATER, True)).factors((0, 1, 2), clients_of(problem))
    finished, missed, repaired = (
        floors[n] for n in ("FedShuffle", "FedShuffle, steps missed", "FedShuffleGen, reweighted")
    )
    nova = float(stationary(nova_unfinished(), problem, ("gap",)).values["gap"])
    decisions = {
        "suffers": fd.ordered([fd.Comparison("limits", finished, missed)], ("all steps", "steps missed")),
        "fixed": fd.ordered([fd.Comparison("limits", repaired, missed)], ("reweighted", "steps missed")),
        "ahead": fd.ordered(
            [fd.Comparison("limits with steps missed", repaired, nova)],
            ("FedShuffleGen", "FedNovaRR, which divides by the planned steps,"),
        ),
    }
    notes = [
        f"The weights of the repair are c_i/K_i, here ({', '.join(map(str, weights))}).",
        "Taken literally (every client misses its last step) client 1 does nothing, since it holds one sample: the gap "
        f"tends to {literal} for small steps, and no weights of the other two get below {rest}. Client 1 is therefore "
        f"left alone here; the uncorrected gap is then {plain} for small steps.",
    ]
    return {
        "schema": 1,
        "title": "Unfinished rounds (Figure 4 of the FedShuffle paper)",
        "seeds": seeds,
        "rounds": rounds,
        "floors": {d.line.label: str(d.floor_exact) for lines in drawn for d in lines},
        "small_step_gap": {"later": str(plain), "literal": str(literal), "best_rest": str(rest)},
        "weights": [str(w) for w in weights],
        "largest_z": max(d.z for lines in drawn for d in lines),
        "caption": (
            f"Expected gap by round on equation (36), all clients, step size {STEP}: exact expectation (lines) over 5 "
            f"to "
            f"95 % of {seeds} sampled runs (bands). The panels share their axis of values."
        ),
        "findings": fd.judged("fedshuffle", "Figure 4", decisions),
        "notes": notes,
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    files.add_folder(parser)
    parser.add_argument("--seeds", type=int, default=f.SEEDS, help=f"sampled runs (default {f.SEEDS})")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds (default {ROUNDS})")
    chosen = parser.parse_args(argv)
    if chosen.seeds < 2 or chosen.rounds < 1:
        parser.error("at least 2 seeds and 1 round are needed.")
    out = files.folder_of(chosen.out, NAME)
    wanted = panels(chosen.rounds)
    drawn = [f.compute(panel, chosen.seeds) for panel in wanted]
    found = facts(drawn, chosen.seeds, chosen.rounds)
    for path in c.save(f.figure(list(zip(wanted, drawn, strict=True)), 12, alike=2), found, out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
