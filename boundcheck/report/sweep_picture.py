"""The picture of a bound over one of its symbols, for `boundcheck evaluate --plot`."""

from __future__ import annotations

import io
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from boundcheck.core.extras import needed_for
from boundcheck.core.numbers import as_double
from boundcheck.core.places import write_whole

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement


def draw_sweep(
    statement: Statement, name: str, grid: list[Fraction], values: list[float], scope: list[bool], target: Path
) -> None:
    """Writes the picture of a bound over the grid of one symbol; the ending of the target names its format.

    name, grid: the symbol and its values. values, scope: the bound at each, and whether it is in scope there.
    """
    with needed_for("a picture of a sweep"):
        from matplotlib.figure import Figure  # draws to files alone; pyplot would look for a display

    x = [as_double(g, name) for g in grid]
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    inside = [v if s else float("nan") for v, s in zip(values, scope, strict=True)]
    outside = [float("nan") if s else v for v, s in zip(values, scope, strict=True)]
    axes.plot(x, inside, marker=".", label="in scope")
    if not all(scope):
        axes.plot(x, outside, linestyle="none", marker="x", color="0.6", label="out of scope")
    if min(x) > 0 and max(x) > 30 * min(x):
        axes.set_xscale("log")
    finite = [v for v in values if 0 < v < float("inf")]
    if len(finite) == len(values) and max(finite) > 30 * min(finite):
        axes.set_yscale("log")
    axes.set_xlabel(name)
    axes.set_ylabel(f"bound on {statement.metric.quantity}" if statement.metric.quantity != "none" else "value")
    axes.set_title(statement.id)
    axes.legend()
    drawn = io.BytesIO()
    figure.savefig(drawn, format=target.suffix[1:].lower())
    write_whole(target, drawn.getvalue())
