"""Figure 1 of partial averaging: what is averaged when, by periodic and by partial averaging with two workers.

The picture is not drawn from a description: both methods run on pure noise, where a block of the two models agrees
after an iteration exactly if it was averaged in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import _findings as fd
import _partial_averaging as f
import _study as s
import numpy as np

from boundcheck.engines.run import run
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem

TAU, WORKERS, ITERATIONS = 3, 2, 9
CAPTION = (
    "The expected squared distance of the two workers' blocks from their average after each iteration, exact, where "
    "there is no gradient and the noise of each block has variance 1 (step size 1): it is 0 exactly where a block has "
    "just been averaged. Both panels have one scale of shades."
)


def compute(kind: str) -> s.Array:
    """(iterations, blocks): the expected squared distance of the workers' blocks from their average, exactly."""
    problem = build_problem({"kind": "pure_noise", "clients": WORKERS, "d": TAU})
    # the model of periodic averaging is one block, whose coordinates are alike
    names = ["discrepancy"] if kind == "periodic" else [f"discrepancy:{block}" for block in range(TAU)]
    curve = run(build_method(f.method(kind, TAU, 1)), problem, rounds=list(range(1, ITERATIONS + 1)), metrics=names)
    values = np.stack([np.asarray(curve.values[name], dtype=float) for name in names], axis=1)
    return np.repeat(values / TAU, TAU, axis=1) if kind == "periodic" else values


def draw(found: Mapping[str, s.Array], figure: Any) -> None:
    """Blocks as rows, iterations as columns, shaded by the distance; a word where a block was averaged."""
    top = max(float(v.max()) for v in found.values())
    for place, (kind, values) in enumerate(found.items(), 1):
        ax = figure.add_subplot(1, 2, place)
        ax.imshow(values.T, cmap="Blues", vmin=0, vmax=1.25 * top, aspect="auto")
        for (k, block), value in np.ndenumerate(values):
            ax.text(k, block, f"{value:g}" if value else "averaged", ha="center", va="center", fontsize=7.5)
        ax.set_xticks(range(ITERATIONS), [str(k + 1) for k in range(ITERATIONS)])
        ax.set_yticks(range(TAU), [f"block {b + 1}" for b in range(TAU)])
        ax.set_xlabel("iteration")
        ax.set_title(f"{kind.capitalize()} averaging, {WORKERS} workers, tau = {TAU}", loc="left", fontsize=9.5)


def findings(found: Mapping[str, s.Array]) -> dict[str, fd.Decision]:
    """What the caption of the paper's figure says."""
    free = {kind: float((v > 0).all(axis=1).mean()) for kind, v in found.items()}
    each = {kind: float((v == 0).mean(axis=1).max()) for kind, v in found.items()}
    top = {kind: float(v.sum(axis=1).max()) for kind, v in found.items()}
    return {
        "independent": fd.certain(
            free["periodic"] == (TAU - 1) / TAU and free["partial"] == 0,
            f"iterations without any averaging: periodic {free['periodic']:.0%}, partial {free['partial']:.0%}",
        ),
        "part": fd.certain(
            each == {"periodic": 1.0, "partial": 1 / TAU},
            f"largest part of the model averaged in one iteration: periodic {each['periodic']:.0%}, partial "
            f"{each['partial']:.0%}; largest discrepancy: {top['periodic']:g} and {top['partial']:g}",
        ),
    }


def make() -> s.Made:
    """The figure."""
    found = {kind: compute(kind) for kind in ("periodic", "partial")}
    title = "Periodic and partial averaging with two workers (Figure 1 of the partial averaging paper)"
    data = {"discrepancy": {kind: v.tolist() for kind, v in found.items()}}
    return s.Made(s.study(title, CAPTION, data=data), findings(found), partial(draw, found))


main = s.script(make)

if __name__ == "__main__":
    s.start(main)
