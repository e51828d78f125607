"""Draws the picture of the README from the result of its example: `python docs/hooks/picture.py`."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

from boundcheck.report.data import claim_data

sys.path.insert(0, str(Path(__file__).parent))

from blocks import blocks, run_cell

FOLDER = Path(__file__).parents[1]
PICTURE = FOLDER / "images" / "violated.svg"
SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "boundcheck", "font.size": 11, "axes.spines.top": False,
                 "axes.spines.right": False}  # fmt: skip


def picture() -> str:
    """Bound and expected gap of the claim by round as an SVG; a ring marks the first violated point."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    page = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    run_cell(next(block.body for block in blocks(page) if block.language == "python"), names)
    curve = claim_data(names["result"])["curve"]  # of the last reading, the printed one
    rounds, gap, bound = ([float(v) for v in curve[name]] for name in ("index", "metric_low", "bound"))
    first = next(i for i, (low, limit) in enumerate(zip(gap, bound, strict=True)) if low > limit)
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(8.6, 4.4), layout="constrained")
        FigureCanvasSVG(figure)
        ax = figure.subplots()
        ax.loglog(rounds, bound, color="#c4560a", lw=2.2)
        ax.loglog(rounds, gap, color="#0969da", lw=2.2)
        ax.loglog([rounds[first]], [gap[first]], "o", ms=14, mfc="none", mew=2.2, color="#cf222e")
        ax.annotate(
            "violated", (rounds[first], gap[first]), xytext=(8, 12), textcoords="offset points", color="#cf222e"
        )
        for values, words, colour in ((bound, "bound as printed", "#c4560a"), (gap, "expected gap", "#0969da")):
            place = (rounds[-1], values[-1])
            ax.annotate(words, place, xytext=(8, -4), textcoords="offset points", color=colour, annotation_clip=False)
        ax.grid(visible=True, which="major", color="#d1d9e0", lw=0.6)
        ax.set_xlabel("R: communication rounds")
        ax.set_ylabel("gap F(x) - min F")
        buffer = io.StringIO()
        blank = {"Date": None, "Creator": None, "Format": None, "Type": None}
        figure.savefig(buffer, format="svg", facecolor="white", metadata=blank)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture(), encoding="utf-8")
