"""Figure 1 of partial averaging: what is averaged when, by periodic and by partial averaging with two workers.

Run: python figures/partial_averaging_figure_1.py [-o DIR]

The picture is not drawn from a description: both methods run on pure noise, where a block of the two models agrees
after an iteration exactly if it was averaged in it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import _common as c
import _files as files
import _findings as fd
import numpy as np
from matplotlib.axes import Axes

from boundcheck.engines.run import run
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem

NAME = "partial_averaging_figure_1"
TAU, WORKERS, ITERATIONS = 3, 2, 9
KINDS = ("periodic", "partial")


def compute(kind: str) -> c.Array:
    """(iterations, blocks): the expected squared distance of the workers' blocks from their average, exactly."""
    problem = build_problem({"kind": "pure_noise", "clients": WORKERS, "d": TAU})
    method = build_method({"kind": f"{kind}_averaging", "tau": TAU, "eta": 1})
    # the model of periodic averaging is one block, whose coordinates are alike
    names = ["discrepancy"] * TAU if kind == "periodic" else [f"discrepancy:{block}" for block in range(TAU)]
    curve = run(method, problem, rounds=list(range(1, ITERATIONS + 1)), metrics=sorted(set(names)))
    values = np.stack([np.asarray(curve.values[name], dtype=float) for name in names], axis=1)
    return values / TAU if kind == "periodic" else values


def draw(ax: Axes, values: c.Array, kind: str, top: float) -> None:
    """One panel: blocks as rows, iterations as columns, shaded by the distance; framed where a block was averaged."""
    ax.imshow(values.T, cmap="Blues", vmin=0, vmax=1.25 * top, aspect="auto")
    for k, block in np.ndindex(*values.shape):
        averaged = values[k, block] == 0
        ax.text(k, block, "averaged" if averaged else f"{values[k, block]:g}", ha="center", va="center", fontsize=7.5)
    ax.set_xticks(range(ITERATIONS), [str(k + 1) for k in range(ITERATIONS)])
    ax.set_yticks(range(TAU), [f"block {b + 1}" for b in range(TAU)])
    ax.set_xlabel("iteration")
    ax.set_title(f"{kind.capitalize()} averaging, {WORKERS} workers, tau = {TAU}", loc="left", fontsize=9.5)


def findings(found: Mapping[str, c.Array]) -> dict[str, fd.Decision]:
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


def main(argv: Sequence[str] | None = None) -> None:
    """Computes, draws and writes the figure."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    files.add_folder(parser)
    out = files.folder_of(parser.parse_args(argv).out, NAME)
    found = {kind: compute(kind) for kind in KINDS}
    figure, ((left, right),) = c.canvas()
    for ax, kind in ((left, "periodic"), (right, "partial")):
        draw(ax, found[kind], kind, max(float(v.max()) for v in found.values()))
    facts: dict[str, Any] = {
        "schema": 1,
        "title": "Periodic and partial averaging with two workers (Figure 1 of the partial averaging paper)",
        "caption": (
            "The expected squared distance of the two workers' blocks from their average after each iteration, "
            "exact, where "
            "there is no gradient and the noise of each block has variance 1 (step size 1): it is 0 exactly where a "
            "block has "
            "just been averaged. Both panels have one scale of shades."
        ),
        "findings": fd.judged("partial_averaging", "Figure 1", findings(found)),
        "notes": [],
        "discrepancy": {kind: v.tolist() for kind, v in found.items()},
    }
    for path in c.save(figure, facts, out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
