"""Maps and slices of a sweep, in the colours of the pages.

A map has a rectangle for each run of equal cells, or a point for each row of a Latin hypercube; numbers are drawn in
classes, from faint to full. Axes that are neither x nor y make panels.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.numbers import as_double
from boundcheck.core.palette import PALETTE
from boundcheck.core.svg import superscript
from boundcheck.errors import BadInput, UnknownName
from boundcheck.report.figures import file_of, new_figure
from boundcheck.report.words import power_of_ten, pretty
from boundcheck.sweeps.rows import IN_SCOPE, LABELS, LOOSE, NOT_RUN, OUT, TIGHT, UNDECIDED, VACUOUS, VIOLATED
from boundcheck.sweeps.sweep import RESULTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boundcheck.sweeps.dataset import SweepData

PANELS = 12
LINES = 8
MOST_CELLS = 400  # levels of an axis of a map; of more, every second, third, ... is drawn
MOST_POINTS = 5000
# Label -> variable of the page and opacity.
STYLES: Mapping[str, tuple[str, float]] = {
    TIGHT: ("series-metric", 1.0),
    LOOSE: ("series-metric", 0.4),
    IN_SCOPE: ("series-metric", 1.0),
    VACUOUS: ("series-trivial", 0.8),
    OUT: ("rule", 1.0),
    VIOLATED: ("violated", 1.0),
    UNDECIDED: ("series-reading", 0.8),
    NOT_RUN: ("ink", 0.85),
}
_SLICED = {"bound": "bound", "compare": "tightness", "tune": "ratio"}
_TEXTS = ("reason", "outcome", "grade")


@dataclass(frozen=True)
class Picture:
    """A file, the number of rows that it shows, and what it shows in words."""

    content: bytes
    rows: int
    words: str


@dataclass(frozen=True)
class _Class:
    name: str
    style: tuple[str, float]
    rows: NDArray[np.bool_]


def draw(
    data: SweepData,
    x: str | None,
    y: str | None,
    value: str,
    *,
    lines: bool = False,
    breaks: str | None = None,
    form: str = "svg",
) -> Picture:
    """The picture of a sweep; see the options of `boundcheck plot`. form: "svg", "pdf" or "png".

    Raises BadInput and UnknownName.
    """
    free = [name for name in data.axes if not isinstance(data.at.get(name), str)]
    if value in _TEXTS or (value not in RESULTS[data.kind] and value not in data.axes):
        raise UnknownName("the value to draw", value, [n for n in RESULTS[data.kind] if n not in _TEXTS])
    for name in (x, y):
        if name is not None and name not in data.axes:
            raise UnknownName("the axis", name, data.axes)
    columns = data.columns([*free, value])
    varied = {name: len(set(columns[name].tolist())) for name in free if name not in data.drawn_at_random}
    varied |= {name: len(columns[name]) for name in data.drawn_at_random if name in free}
    order = sorted((n for n in varied if varied[n] > 1), key=lambda n: (n not in data.drawn_at_random, -varied[n]))
    x = x or next((n for n in order if n != y), free[0] if free else None)
    if x is None:
        raise BadInput("every axis is fixed by --at; leave one free.")
    y = y or next((n for n in order if n != x), None)
    if y is None or lines:
        return _slices(data, columns, x, y, _SLICED[data.kind] if value == "label" else value, form)
    over = [n for n in order if n not in (x, y) and n not in data.drawn_at_random]
    return _map(data, columns, (x, y), value, over, breaks, form)


# --- maps ------------------------------------------------------------------------------------------------------------


def _map(
    data: SweepData,
    columns: Mapping[str, NDArray[Any]],
    axes: tuple[str, str],
    value: str,
    over: Sequence[str],
    breaks: str | None,
    form: str,
) -> Picture:
    panels = list(itertools.product(*(_levels(columns[n]) for n in over)))
    if len(panels) > PANELS:
        raise BadInput(
            f"{' and '.join(over)} make {len(panels)} panels, and a picture has {PANELS} at most; fix one with --at "
            f"{over[0]}=VALUE."
        )
    classes = _classes(columns[value], value, breaks)
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    rows = len(columns[value])
    with new_figure((1.5 + 3.4 * across + (2.4 if across == 1 else 0), 0.9 + 3.0 * down)) as figure:
        grid = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
        for ax, panel in itertools.zip_longest(grid, panels):
            if panel is None:
                ax.remove()
                continue
            here = np.ones(rows, dtype=bool)
            for name, level in zip(over, panel, strict=True):
                here &= columns[name] == level
            _panel(ax, data, columns, axes, [(c, c.rows & here) for c in classes])
            ax.set_title(", ".join(f"{n} = {_said(v)}" for n, v in zip(over, panel, strict=True)), fontsize=10)
        figure.suptitle(_headline(data, value), fontsize=10)
        figure.supxlabel(_axis_words(data, axes[0]), fontsize=10)
        figure.supylabel(textwrap.fill(_axis_words(data, axes[1]), 40 * down), fontsize=10)
        _legend(figure, classes)
        counts = ", ".join(f"{int(c.rows.sum())} {c.name}" for c in classes)
        words = f"{rows} rows: {counts}"
        about = f"{value} over {axes[0]} and {axes[1]}; {words}."
        return Picture(file_of(figure, form, _headline(data, value), about), rows, words)


def _panel(
    ax: Axes,
    data: SweepData,
    columns: Mapping[str, NDArray[Any]],
    axes: tuple[str, str],
    classes: Sequence[tuple[_Class, NDArray[np.bool_]]],
) -> None:
    places = [_places(columns[name], f"{name}") for name in axes]
    for which, (name, place) in enumerate(zip(axes, places, strict=True)):
        _scale(ax, which, columns[name], place)
    if any(name in data.drawn_at_random for name in axes):
        total = sum(int(rows.sum()) for _, rows in classes)
        step = max(1, -(-total // MOST_POINTS))
        for c, rows in classes:
            at = np.flatnonzero(rows)[::step]
            style: Any = {"s": 7, "color": PALETTE[c.style[0]][0], "alpha": c.style[1], "linewidths": 0}
            ax.scatter(places[0][at], places[1][at], **style)
        return
    _cells(ax, places[0], places[1], classes)


def _cells(
    ax: Axes,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    classes: Sequence[tuple[_Class, NDArray[np.bool_]]],
) -> None:
    """Rectangles of cells of one class, as long along x as they go; where rows share a cell, the last one is drawn."""
    from matplotlib.collections import PolyCollection

    levels = [np.unique(v) for v in (x, y)]
    levels = [v[:: max(1, -(-len(v) // MOST_CELLS))] for v in levels]
    edges = [
        _edges(v, log) for v, log in zip(levels, (ax.get_xscale() == "log", ax.get_yscale() == "log"), strict=True)
    ]
    cells = np.full((len(levels[1]), len(levels[0])), -1)
    for number, (_, rows) in enumerate(classes):
        at = np.flatnonzero(rows & np.isin(x, levels[0]) & np.isin(y, levels[1]))
        cells[np.searchsorted(levels[1], y[at]), np.searchsorted(levels[0], x[at])] = number
    for number, (c, _) in enumerate(classes):
        shapes: list[list[tuple[float, float]]] = []
        begun: dict[tuple[int, int], int] = {}  # first and last cell of a run -> its lowest row
        for row, line in enumerate([*(cells == number), np.zeros(len(levels[0]), dtype=bool)]):
            turns = np.flatnonzero(np.diff(np.concatenate([[0], line.astype(np.int8), [0]]))).tolist()
            runs = dict.fromkeys(zip(turns[::2], turns[1::2], strict=True), row)
            for run in [run for run in begun if run not in runs]:
                (left, right), (low, high) = edges[0][list(run)].tolist(), edges[1][[begun.pop(run), row]].tolist()
                shapes.append([(left, low), (right, low), (right, high), (left, high)])
            begun = runs | begun
        if shapes:
            own = PALETTE[c.style[0]][0]
            ax.add_collection(PolyCollection(shapes, facecolors=own, alpha=c.style[1], linewidths=0))
    ax.set_xlim(edges[0][0], edges[0][-1])
    ax.set_ylim(edges[1][0], edges[1][-1])


def _edges(levels: NDArray[np.float64], log: bool) -> NDArray[np.float64]:
    """Half way between neighbouring levels."""
    v = np.log(levels) if log else levels
    if len(v) == 1:
        inner, ends = np.zeros(0), (v[0] - 0.5, v[0] + 0.5)
    else:
        inner = (v[1:] + v[:-1]) / 2
        ends = (v[0] - (inner[0] - v[0]), v[-1] + (v[-1] - inner[-1]))
    found = np.concatenate([[ends[0]], inner, [ends[1]]])
    return np.exp(found) if log else found


def _classes(values: NDArray[Any], value: str, breaks: str | None) -> list[_Class]:
    """The classes of a column that some row has: labels, truth values, or ranges of numbers."""
    if value == "label":
        if breaks is not None:
            raise BadInput("--breaks is for numbers, and the column 'label' has none; choose one with --value.")
        return [_Class(name, STYLES[name], values == name) for name in LABELS if (values == name).any()]
    if values.dtype == object:
        names = sorted({str(v) for v in values})
        texts = np.array([str(v) for v in values])
        return [_Class(n, ("series-metric", _share(i, len(names))), texts == n) for i, n in enumerate(names)]
    finite = values[np.isfinite(values)]
    ends = _ends(finite, breaks)
    found: list[_Class] = []
    for i, (low, high) in enumerate(itertools.pairwise([-np.inf, *ends, np.inf])):
        rows = (values > low) & (values <= high) & np.isfinite(values)
        name = f"above {pretty(low, 4)}" if high == np.inf else f"at most {pretty(high, 4)}"
        name = f"{pretty(low, 4)} to {pretty(high, 4)}" if np.isfinite([low, high]).all() else name
        if rows.any():
            found.append(_Class(name, ("series-metric", _share(len(ends) - i, len(ends) + 1)), rows))
    rest = ~np.isfinite(values)
    return [*found, _Class("no value", ("rule", 1.0), rest)] if rest.any() else found


def _share(number: int, of: int) -> float:
    """Opacity of a class among several."""
    return round(0.15 + 0.85 * (number + 1) / max(of, 1), 3)


def _ends(values: NDArray[np.float64], breaks: str | None) -> list[float]:
    """Where the classes end: as asked for, else at quantiles, rounded."""
    if breaks is not None:
        ends = [as_double(text.strip(), "--breaks") for text in breaks.split(",")]
        if ends != sorted(set(ends)):
            raise BadInput(f"--breaks = {breaks} is not in increasing order.")
        return ends
    if not len(values):
        return []
    return sorted({float(f"{v:.2g}") for v in np.quantile(values, [0.2, 0.4, 0.6, 0.8])})


# --- slices ----------------------------------------------------------------------------------------------------------


def _slices(
    data: SweepData, columns: Mapping[str, NDArray[Any]], x: str, y: str | None, value: str, form: str
) -> Picture:
    """The value over x, a line for each level of y."""
    scope = ["in_scope"] if value == "bound" else []
    columns = {**columns, **data.columns([name for name in (value, *scope) if name not in columns])}
    if columns[value].dtype == object or columns[x].dtype == object:
        raise BadInput(f"slices are drawn over numbers; {value if columns[value].dtype == object else x} has none.")
    others = [n for n in columns if n in data.axes and n not in (x, y) and len(set(columns[n].tolist())) > 1]
    if others:
        raise BadInput(f"slices have one line for each level of {y}; fix {others[0]} with --at {others[0]}=VALUE.")
    levels = [None] if y is None else _levels(columns[y])
    step = max(1, -(-len(levels) // LINES))
    with new_figure((8.6, 4.6)) as figure:
        ax = figure.subplots()
        shown = columns[value][np.isfinite(columns[value]) & (columns[value] > 0)]
        for which, name in ((0, x), (1, value)):
            _scale(ax, which, columns[name] if which == 0 else shown, columns[name])
        chosen = levels[::step]
        for i, level in enumerate(chosen):
            here = np.ones(len(columns[x]), dtype=bool) if level is None else columns[str(y)] == level
            at = np.flatnonzero(here)
            at = at[np.argsort(columns[x][at], kind="stable")]
            marker = "o" if len(at) <= 12 else ""
            label = None if level is None else f"{y} = {_said(level)}"
            red = PALETTE["series-bound"][0]
            style: Any = {"color": red, "alpha": _share(i, len(chosen)), "marker": marker, "ms": 3}
            inside = columns["in_scope"][at].astype(bool) if scope else np.ones(len(at), dtype=bool)
            drawn = columns[value][at].astype(np.float64)
            ax.plot(columns[x][at], np.where(inside, drawn, np.nan), lw=1.8, label=label, **style)
            ax.plot(columns[x][at], np.where(inside, np.nan, drawn), lw=1.2, ls=":", **style)
        ax.grid(visible=True, which="major")
        ax.set_xlabel(_axis_words(data, x))
        ax.set_ylabel(textwrap.fill(_axis_words(data, value), 50))
        if y is not None:
            figure.legend(loc="outside right upper", frameon=False)
        words = f"{len(columns[x])} rows, {value} over {x}" + (f" for {len(chosen)} levels of {y}" if y else "")
        dotted = scope and not columns["in_scope"].all()
        figure.suptitle(_headline(data, "label") + ("\ndotted: out of scope" if dotted else ""), fontsize=10)
        return Picture(file_of(figure, form, _headline(data, "label"), words), len(columns[x]), words)


# --- what both share -------------------------------------------------------------------------------------------------


def _levels(values: NDArray[Any]) -> list[Any]:
    """The different values: numbers in order, others as they come first."""
    return sorted(set(values.tolist())) if values.dtype != object else list(dict.fromkeys(values.tolist()))


def _places(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Where values lie on an axis: numbers where they are, others one beside the other."""
    if values.dtype != object:
        return np.asarray(values, dtype=np.float64)
    place = {level: float(i) for i, level in enumerate(_levels(values))}
    return np.array([place[v] for v in values])


def _scale(ax: Axes, which: int, values: NDArray[Any], places: NDArray[Any]) -> None:
    """A log axis for positive numbers over a factor of 30 and more; names for what is no number."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    axis = (ax.xaxis, ax.yaxis)[which]
    if values.dtype == object:
        levels = _levels(values)
        axis.set_ticks(list(range(len(levels))), [str(v) for v in levels])
    elif len(values) and values.min() > 0 and values.max() >= 30 * values.min():
        (ax.set_xscale if which == 0 else ax.set_yscale)("log")
        long = values.min() < 1e-3 or values.max() >= 1e5
        axis.set_major_formatter(FuncFormatter(lambda v, _: power_of_ten(v) if long else pretty(v, 6)))
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_formatter(FuncFormatter(lambda v, _: pretty(v, 6)))


def _headline(data: SweepData, value: str) -> str:
    """The statements, and what the classes are of."""
    drawn = "" if value == "label" else "\n" + ": ".join(filter(None, (value, data.fields[value][1])))
    return ", ".join(data.about["statements"]) + drawn


def _axis_words(data: SweepData, name: str) -> str:
    unit, meaning = data.fields[name]
    meaning = meaning if 0 < len(meaning) <= 70 and meaning != name else ""
    # units have no other digits than those of powers
    unit = "" if unit in ("", "1", "dimensionless") else f"  in {superscript(unit).replace('^', '')}"
    return f"{meaning if meaning.startswith(name) else ': '.join(filter(None, (name, meaning)))}{unit}"


def _said(value: Any) -> str:
    return pretty(value, 4) if isinstance(value, float) else str(value)


def _legend(figure: Any, classes: Sequence[_Class]) -> None:
    from matplotlib.patches import Patch

    patches = [Patch(facecolor=PALETTE[c.style[0]][0], alpha=c.style[1], linewidth=0, label=c.name) for c in classes]
    figure.legend(handles=patches, loc="outside right upper", frameon=False)
