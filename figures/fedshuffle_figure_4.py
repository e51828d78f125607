"""Figure 4 of FedShuffle (F.1): clients that miss their last local step, and weights that make up for it.

On equation (36) client 1 holds one sample: missing its last step leaves it no step at all, and no weight makes up for
that. So the figure lets the clients with more than one step miss theirs (K = 1, 1, 2 of 1, 2, 3 steps); the literal
version is computed beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import _fedshuffle as f
import _findings as fd
import _study as s

from boundcheck.engines.exact import stationary
from boundcheck.methods.build import build as build_method
from boundcheck.methods.parts import Epochs
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem, clients_of
from boundcheck.setting.followed_objective import small_step_weights, weighted_minimiser

NAME = "fedshuffle_figure_4"
SECONDS = 5
STEP = "1/8"  # 1/(4 beta L), beta = 2
LATER = [0, 1, 1]  # steps missed, where a client with a single step does it
LITERAL = [1, 1, 1]


def nova_limit(problem: Problem) -> float:
    """Limit of FedNova with reshuffling whose clients miss their last steps, its weights those of the planned steps."""
    whole = build_method({"kind": "fedshuffle_nova_rr", "eta_l": STEP})
    assert isinstance(whole.local, Epochs)
    short = replace(whole, local=replace(whole.local, missed=tuple(LATER)))
    return float(stationary(short, problem, ("gap",)).values["gap"])


def predicted_gap(problem: Problem, missed: Sequence[int]) -> Fraction:
    """Gap of the point that small steps lead to where nothing makes up for missed steps."""
    spec = {"kind": "fedshuffle_unfinished", "eta_l": STEP, "missed": missed, "reweighted": False}
    point = weighted_minimiser(problem, small_step_weights(build_method(spec), clients_of(problem)))
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


def make(seeds: int = f.SEEDS, rounds: int = 120) -> s.Made:
    """The figure."""
    panels = f.stated(NAME)
    problem, missed = build_problem(panels[0]["problem"]), panels[1]["methods"]
    drawn = [f.compute(panel, seeds, rounds) for panel in panels]
    floors = {name: line.floor for lines in drawn for name, line in lines.items()}
    whole, short, mended = (float(floors[name]) for name in ("FedShuffle", *missed))
    plain, literal, rest = predicted_gap(problem, LATER), predicted_gap(problem, LITERAL), best_rest(problem)
    weights = build_method(missed["FedShuffleGen, reweighted"]).factors((0, 1, 2), clients_of(problem))
    decisions = {
        "suffers": fd.ordered([fd.Comparison("limits", whole, short)], ("all steps", "steps missed")),
        "fixed": fd.ordered([fd.Comparison("limits", mended, short)], ("reweighted", "steps missed")),
        "ahead": fd.ordered(
            [fd.Comparison("limits with steps missed", mended, nova_limit(problem))],
            ("FedShuffleGen", "FedNovaRR, which divides by the planned steps,"),
        ),
    }
    notes = [
        f"The weights of the repair are c_i/K_i, here ({', '.join(map(str, weights))}).",
        "Taken literally (every client misses its last step) client 1 does nothing, since it holds one sample: the gap "
        f"tends to {literal} for small steps, and no weights of the other two get below {rest}. Client 1 is therefore "
        f"left alone here; the uncorrected gap is then {plain} for small steps.",
    ]
    caption = (
        f"Expected gap by round on equation (36), all clients, step size {STEP}: exact expectation (lines) over 5 to "
        f"95 % of {seeds} sampled runs (bands). The panels share their axis of values."
    )
    data = {
        "seeds": seeds,
        "rounds": rounds,
        "floors": {name: str(floor) for name, floor in floors.items()},
        "small_step_gap": {"later": str(plain), "literal": str(literal), "best_rest": str(rest)},
        "weights": [str(w) for w in weights],
        "largest_z": max(line.z for lines in drawn for line in lines.values()),
    }
    title = "Unfinished rounds (Figure 4 of the FedShuffle paper)"
    return s.Made(
        s.study(title, caption, notes, data=data, **f.pictures([panel["title"] for panel in panels], drawn)), decisions
    )


main = s.script(make, seeds=2, rounds=1)

if __name__ == "__main__":
    s.start(main)
