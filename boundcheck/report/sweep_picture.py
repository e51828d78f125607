"""The picture of a bound over one of its symbols, for `boundcheck evaluate --plot`."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from boundcheck.core.numbers import as_double
from boundcheck.core.palette import line_style
from boundcheck.core.places import write_whole
from boundcheck.report.figures import file_of, new_figure

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement


def draw_sweep(
    statement: Statement, name: str, grid: list[Fraction], values: list[float], scope: list[bool], target: Path
) -> None:
    """Writes the picture of a bound over the grid of one symbol; the ending of the target names its format.

    name, grid: the symbol and its values. values, scope: the bound at each, and whether it is in scope there.
    """
    x = [as_double(g, name) for g in grid]
    inside = [v if s else float("nan") for v, s in zip(values, scope, strict=True)]
    outside = [float("nan") if s else v for v, s in zip(values, scope, strict=True)]
    with new_figure((6.4, 4.2)) as figure:
        axes = figure.add_subplot()
        axes.plot(x, inside, marker=".", label="in scope", **line_style("bound"))
        if not all(scope):
            axes.plot(x, outside, marker="x", label="out of scope", **line_style("trivial") | {"linestyle": "none"})
        if min(x) > 0 and max(x) > 30 * min(x):
            axes.set_xscale("log")
        finite = [v for v in values if 0 < v < float("inf")]
        if len(finite) == len(values) and max(finite) > 30 * min(finite):
            axes.set_yscale("log")
        what = f"bound on {statement.metric.quantity}" if statement.metric.quantity != "none" else "value"
        axes.set_xlabel(name)
        axes.set_ylabel(what)
        axes.set_title(statement.id)
        axes.legend()
        write_whole(target, file_of(figure, target.suffix[1:].lower(), statement.id, f"{what} over {name}"))
