"""What the figures of the FedShuffle paper share: panels of exact expected curves over sampled bands, with bounds.

S. Horvath et al., "FedShuffle: Recipes for Better Use of Local Work in Federated Learning", Sections 6.1 and F.1. The
paper gives neither its step sizes ("theoretical") nor its numbers of rounds. Here each method takes the largest step
that Theorem E.1 (corrected) allows, eta_l <= 1/(4 beta L) with local steps eta_l/c_i; methods of which the theorem does
not speak (samples drawn with replacement, equal numbers of steps, momentum) take the step of the reshuffled method that
they go with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import _common as c
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from boundcheck.core.palette import hue
from boundcheck.engines.exact import stationary
from boundcheck.engines.run import run
from boundcheck.engines.simulate import run_sampled
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem

SEEDS = 200
DASHES = ("-", "-", "-", (0, (3, 3)), "-", "-", (0, (2, 2)))  # those that others may lie under are dashed
LOW, HIGH = 5, 95  # percentiles of the sampled band


@dataclass(frozen=True)
class Line:
    """One method of a panel. statement: whose bound on the averaged gap is drawn, "" for none."""

    label: str
    method: Mapping[str, Any]
    statement: str = ""


@dataclass(frozen=True)
class Panel:
    """A title, a problem and its lines."""

    title: str
    problem: Mapping[str, Any]
    lines: Sequence[Line]
    rounds: int


@dataclass(frozen=True)
class Drawn:
    """One computed line: expected gap after rounds 0..R (exact), percentiles and mean of the sampled gap.

    floor: limit of the expected gap, solved. z: largest distance of the sampled mean from the exact expectation, in
    standard errors. bound: (rounds, bound on the averaged gap, averaged gap, outcome), or None.
    """

    line: Line
    exact: c.Array
    band: c.Array
    floor: float
    floor_exact: Fraction | None
    z: float
    bound: tuple[c.Array, c.Array, c.Array, str] | None = field(default=None)


def compute(panel: Panel, seeds: int) -> list[Drawn]:
    """All lines of a panel."""
    problem = build_problem(panel.problem)
    found: list[Drawn] = []
    for line in panel.lines:
        method = build_method(line.method)
        exact = run(method, problem, rounds=panel.rounds, metrics=("gap",), arithmetic="float64").values["gap"]
        grid = list(range(panel.rounds + 1))
        sampled = run_sampled(method, problem, panel.rounds, seeds, ("gap",), grid).samples["gap"]
        error = sampled.std(axis=0, ddof=1) / np.sqrt(seeds)
        # where all seeds agree to rounding there is no standard error to compare with
        apart = np.abs(sampled.mean(axis=0) - exact)[error > 1e-12 * exact] / error[error > 1e-12 * exact]
        limit = stationary(method, problem, ("gap",)).values["gap"]
        band = np.percentile(sampled, [LOW, HIGH], axis=0)
        bound = _bound(panel, line)
        z = float(apart.max()) if len(apart) else 0.0
        found.append(Drawn(line, exact, band, float(limit), Fraction(limit), z, bound))
    return found


def _bound(panel: Panel, line: Line) -> tuple[c.Array, c.Array, c.Array, str] | None:
    if not line.statement:
        return None
    at = sorted({round(float(r)) for r in np.geomspace(1, panel.rounds, 40)})
    result = run_claim(Claim(line.statement, panel.problem, line.method, at={"R": at}))
    middle = (np.array(result.metric_low) + np.array(result.metric_high)) / 2
    rounds = np.array([float(k) for k in result.index])
    return rounds, np.array(result.bound), middle, result.verdict.outcome.value


def draw(ax: Axes, panel: Panel, lines: Sequence[Drawn]) -> None:
    """One panel: exact expectation (solid), sampled band, bound (dashed) where a theorem speaks."""
    shown = np.arange(panel.rounds + 1)
    for k, drawn in enumerate(lines):
        colour = hue(k)
        ax.fill_between(shown, drawn.band[0], drawn.band[1], color=colour, alpha=0.12, lw=0)
        ax.plot(shown, drawn.exact, color=colour, lw=1.6, ls=DASHES[k % len(DASHES)], label=drawn.line.label)
        if drawn.bound is not None:
            rounds, bound, _, _ = drawn.bound
            ax.plot(rounds, bound, color=colour, lw=1.1, ls=(0, (6, 2, 1, 2)))
    ax.set_yscale("log")
    ax.set_xlabel("communication round")
    ax.set_title(panel.title, loc="left", fontsize=9.5)
    # room for the names above the curves
    ax.set_ylim(None, ax.get_ylim()[1] * 10 ** (0.28 * len(lines)))
    ax.legend(frameon=False, fontsize=7.5, loc="upper right")
    c.style(ax)


def figure(panels: Sequence[tuple[Panel, Sequence[Drawn]]], width: float, alike: int) -> Figure:
    """The panels side by side; this many of the first share their axis of values."""
    made, (axes,) = c.canvas(1, len(panels), width)
    for ax, (panel, lines) in zip(axes, panels, strict=True):
        draw(ax, panel, lines)
    low, high = zip(*(ax.get_ylim() for ax in axes[:alike]), strict=True)
    for ax in axes[:alike]:
        ax.set_ylim(min(low), max(high))
    axes[0].set_ylabel("E f(x) − f*")
    return made
