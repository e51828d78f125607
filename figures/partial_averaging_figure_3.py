"""Figure 3 of partial averaging: the least loss of a local model against the loss of the averaged model."""

from __future__ import annotations

from collections.abc import Mapping

import _findings as fd
import _partial_averaging as f
import _study as s
import numpy as np

from boundcheck.engines.simulate.lowering import lower
from boundcheck.engines.simulate.paths import choose_path, known_clients
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem, flat_arrays

SECONDS = 26


def gaps(problem: Problem, kind: str, rounds: int, seed: int) -> s.Array:
    """(2, rounds): the gap of the averaged model and the least gap of a local one, of a sampled run.

    They are measured at the end of each period before its last step, where the models are as far apart as they get
    under periodic averaging, and of the models as the clients keep them: the metric "f_above_least_local" of a run is
    about models before a block of them is averaged.
    """
    method, arrays = build_method(f.method(kind, batch=f.BATCH)), flat_arrays(problem)
    lowered = lower(method, known_clients(problem, arrays), f.TAU * rounds)
    runner = choose_path("auto", problem, lowered, arrays)
    seeds, room = np.array([seed], dtype=np.uint64), np.empty((1, 1, problem.dim))
    state, found, at = runner.begin(seeds, np.array([float(v) for v in problem.start])), np.empty((2, rounds)), 0
    for number in range(rounds):
        after = f.TAU * (number + 1) - 1
        runner.advance(seeds, state, at, np.array([after]), room)
        mean, at = state[0, :1], after
        own = problem.metric_many("gap", np.concatenate([mean, mean + state[0, 1:]]))  # kept: how far from the mean
        found[:, number] = own[0], own[1:].min()
    return found


def make(rounds: int = 60) -> s.Made:
    """The figure."""
    problem = build_problem(f.DIGITS)
    found = {kind: np.array([gaps(problem, kind, rounds, k) for k in range(f.SEEDS)]) for kind in f.KINDS}
    whole, least = ({kind: v[:, k] for kind, v in found.items()} for k in (0, 1))
    rises = {kind: (np.diff(v) > 0).sum(axis=1).astype(float) for kind, v in whole.items()}
    ends = {kind: v[:, -1] for kind, v in whole.items()}
    ratio = {kind: (least[kind] / whole[kind])[:, rounds // 2 :].mean(axis=1) for kind in f.KINDS}

    def lower_of(label: str, values: Mapping[str, s.Array]) -> fd.Decision:
        return fd.ordered([fd.Comparison(label, *(values[kind] for kind in f.KINDS))], f.KINDS)

    decisions = {
        "spikes": lower_of("rounds after which the global loss is higher", rises),
        "faster": lower_of("global gap in the end", ends),
        "together": lower_of("least local over global gap, last half", ratio),
    }
    notes = [
        "With either method the averaged model is better than every local one in the mean: the loss is convex here, so "
        "that averaging models cannot raise it above their mean loss, as it can for a network."
    ]
    caption = (
        "Training loss above its minimum, over all data, of the averaged model and of the best local model, one "
        f"iteration before the end of each round of {f.TAU}, when the models have been apart for longest. Mean (lines) "
        f"and range (bands) {f.RUNS}; it stands for the paper's ResNet20 on CIFAR-10 with 128 workers, which is in "
        "configs/neural/full."
    )
    of_all = (("averaged model (global loss)", whole), ("least over the local models", least))
    shown = s.study(
        "Least local loss against global loss (Figure 3 of the partial averaging paper)",
        caption,
        notes if min(float(v.min()) for v in ratio.values()) > 1 else [],
        **s.panels(
            f"communication round ({f.TAU} iterations)",
            [
                (
                    f"{kind.capitalize()} averaging",
                    "F − F*",
                    {label: (range(1, rounds + 1), of[kind]) for label, of in of_all},
                )
                for kind in reversed(f.KINDS)
            ],
        ),
        data={
            "rounds": rounds,
            **{
                name: {kind: float(v.mean()) for kind, v in values.items()}
                for name, values in (("ends", ends), ("rises", rises), ("least_over_global", ratio))
            },
        },
    )
    return s.Made(shown, decisions)


main = s.script(make, rounds=2)

if __name__ == "__main__":
    s.start(main)
