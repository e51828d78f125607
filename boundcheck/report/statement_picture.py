"""The picture of a statement page: the bounds of its readings over the index, at the constants of the worked number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.core.svg import Chart, Line, chart_svg, drawable
from boundcheck.errors import BoundcheckError
from boundcheck.report.pictures import PANEL, POINTS, READINGS, legend_html

if TYPE_CHECKING:
    from markupsafe import Markup

    from boundcheck.theory.statement import Statement

GRID = tuple(m * 10**k for k in range(6) for m in (1, 2, 5))  # values of the index


def bounds_picture(own: Sequence[Statement], constants: Mapping[str, str]) -> Markup | str:
    """Bounds over the index on logarithmic axes, in and out of scope; "" without an index or with too few points.

    own: the readings, the one that the page leads with first; constants: text of each constant by symbol.
    """
    import numpy as np
    from markupsafe import Markup

    name = own[0].metric.index or next((s.name for r in own for s in r.symbols if s.name == r.metric.index), "")
    if not name:
        return ""
    grid = [v for v in GRID if own[0].symbol(name).admits(Fraction(v))]
    lines: list[Line] = []
    for number, reading in enumerate(own):
        names = {s.name for s in reading.symbols}
        try:
            found = reading.evaluate(**{n: v for n, v in constants.items() if n in names} | {name: np.array(grid)})
        except BoundcheckError:  # a constant of this reading alone
            continue
        values = np.broadcast_to(np.asarray(found.value, dtype=float), (len(grid),)).tolist()
        scope = np.broadcast_to(np.asarray(found.in_scope, dtype=bool), (len(grid),))
        note = "" if scope.all() else ", out of scope here" if not scope.any() else ", in scope for some values only"
        points = [(float(k), v) for k, v in zip(grid, values, strict=True) if drawable(v, log=True)]
        if len(points) >= POINTS:
            x, y = zip(*points, strict=True)
            printed = reading.reading.startswith("as_printed")
            dash = READINGS[number % 4] if number else 0
            label = reading.reading.replace("_", " ") + note
            lines.append(Line(label, "bound" if printed else "reading" if number else "metric", x, y, dash=dash))
    if not lines:
        return ""
    text = "; ".join(f"{line.label}: from {line.y[0]:.4g} to {line.y[-1]:.4g}" for line in lines)
    chart = Chart(f"Bounds over {name}", text, lines, (True, True), size=PANEL)
    return Markup('<div class="bounds">{}{}</div>').format(Markup(chart_svg(chart, "bounds")), legend_html(lines))
