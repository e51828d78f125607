"""Tables, CSV and plots of a bound over a grid of constants."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundcheck.cli._files import probe_file
from boundcheck.cli._output import json_float, line, note_reading, print_json, short, table
from boundcheck.core.numbers import format_exact
from boundcheck.core.places import write_whole
from boundcheck.errors import BadInput

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement


FORMATS = (".svg", ".png", ".pdf")
MAX_TABLE = 2000  # rows printed as a table; CSV and JSON have no such limit


def run_sweep(
    statement: Statement,
    fixed: dict[str, Fraction],
    grids: dict[str, list[Fraction]],
    *,
    asked: str,
    csv: bool,
    plot: str | None,
    as_json: bool,
) -> int:
    """Evaluates the bound on the product of the grids (the last varies fastest) and prints or draws it.

    asked: the id as the user wrote it.
    """
    target = None if plot is None else _plot_file(plot, grids)
    names = list(grids)
    points = list(itertools.product(*grids.values()))
    columns: dict[str, Any] = {name: [p[i] for p in points] for i, name in enumerate(names)}
    found = statement.evaluate(**fixed, **columns)
    values = [float(v) for v in found.value]
    scope = [bool(v) for v in found.in_scope]
    vacuous = [bool(v) for v in found.vacuous]
    if not (csv or as_json):
        note_reading(asked, statement.id)
    if target is not None:
        _draw(statement, names[0], grids[names[0]], values, scope, target)
    if csv:
        line(",".join([*names, "bound", "in_scope", "vacuous"]))
        for point, value, inside, empty in zip(points, values, scope, vacuous, strict=True):
            cells = [_decimal(p) for p in point] + [repr(value), str(inside).lower(), str(empty).lower()]
            line(",".join(cells))
    elif as_json:
        rows = [
            {"at": {n: format_exact(p) for n, p in zip(names, point, strict=True)}, "value": json_float(value)}
            | {"in_scope": inside, "vacuous": empty}
            for point, value, inside, empty in zip(points, values, scope, vacuous, strict=True)
        ]
        constants = {k: format_exact(v) for k, v in fixed.items()}
        print_json({"statement": statement.id, "values": constants, "points": rows, "note": found.note})
    elif target is None or len(points) <= MAX_TABLE:
        _print_table(names, points, values, scope, vacuous)
    if target is not None and not (csv or as_json):
        line(f"drawn: {target}")
    return 0


def _decimal(value: Fraction) -> str:
    return repr(value.numerator / value.denominator) if value.denominator != 1 else format_exact(value)


def _print_table(
    names: list[str],
    points: list[tuple[Fraction, ...]],
    values: list[float],
    scope: list[bool],
    vacuous: list[bool],
) -> None:
    rows = [
        [*(short(p) for p in point), short(value), "yes" if inside else "no", "yes" if empty else "no"]
        for point, value, inside, empty in zip(points, values, scope, vacuous, strict=True)
    ]
    table([*names, "bound", "in scope", "vacuous"], rows[:MAX_TABLE])
    if len(rows) > MAX_TABLE:
        line(f"... and {len(rows) - MAX_TABLE} more; --csv or --json gives them all.")


def _plot_file(text: str, grids: dict[str, list[Fraction]]) -> Path:
    target = Path(text)
    if target.suffix.lower() not in FORMATS:
        raise BadInput(f"--plot '{text}' has no known ending; {', '.join(FORMATS)} are allowed.")
    if len(grids) != 1:
        raise BadInput(f"--plot draws one sweep; {len(grids)} are given ({', '.join(grids)}).")
    if not target.parent.is_dir():
        raise BadInput(f"--plot '{text}': the folder '{target.parent}' does not exist.")
    probe_file(target, "--plot")
    return target


def _draw(
    statement: Statement, name: str, grid: list[Fraction], values: list[float], scope: list[bool], target: Path
) -> None:
    from boundcheck.core.numbers import as_double
    from boundcheck.core.palette import line_style
    from boundcheck.report.figures import file_of, new_figure

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
