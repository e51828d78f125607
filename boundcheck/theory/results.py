"""What every answer about statements offers beside its card: a table, a picture, a file of it, citation and formula."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from boundcheck.core import providers
from boundcheck.core.cards import Card, Shown, axis, frame
from boundcheck.core.numbers import nearest_float
from boundcheck.core.palette import ROLES, hue, line_style
from boundcheck.core.places import write_whole
from boundcheck.errors import BadInput, shown
from boundcheck.theory.mathml import latex_to_mathml

LONGEST = 390  # characters of a repr
MARKERS = "os^vD"  # of dots
FAR = 5  # quotient of the largest and the least height from which an axis is logarithmic
FORMS = ("pdf", "svg", "png")
SIZE = (5.0, 3.4)  # of a saved picture, in inches


@dataclass(frozen=True)
class Picture:
    """lines: name -> its (x, y) points; one point is drawn as a dot. x, y: the labels of the axes."""

    lines: Mapping[str, Sequence[tuple[float, float]]]
    x: str
    y: str


class Result(Shown):
    """An answer about statements."""

    def _claimed(self) -> Sequence[Any]:
        """The statements that the answer is about."""
        raise NotImplementedError

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        raise NotImplementedError

    def _picture(self) -> Picture:
        raise NotImplementedError

    def _with_formula(self) -> Card:
        formulas = self._formulas()
        if len(formulas) != 1 or not formulas[0]:
            return self._card()
        return replace(self._card(), latex=formulas[0], mathml=latex_to_mathml(formulas[0], block=True))

    def _formulas(self) -> list[str]:
        return list(dict.fromkeys(s.latex() for s in self._claimed()))

    def _repr_html_(self) -> str:
        return self._with_formula().html()

    def _repr_markdown_(self) -> str:
        return self._with_formula().markdown()

    def to_frame(self, library: str = "") -> Any:
        """The answer as a data frame: symbols are columns with numbers, what is true or false is a boolean.

        library: "pandas", "polars" or "pyarrow"; by default the first that is installed. Raises MissingExtra.
        """
        return frame(self._columns(), library)

    def plot(self, ax: Any = None) -> Any:
        """Draws the answer on a matplotlib axis (default: a new one) and returns the axis.

        Raises BadInput where there is nothing to draw, MissingExtra without matplotlib.
        """
        picture = self._picture()
        if not any(picture.lines.values()):
            raise BadInput(f"{self!r}: there is nothing to draw.")
        drawn = axis(ax)
        roles = any(name in ROLES for name in picture.lines)
        for number, (name, points) in enumerate(picture.lines.items()):
            style = line_style(name, number) | ({} if roles else {"color": hue(number)})
            if len(points) == 1:
                style |= {"marker": MARKERS[number % len(MARKERS)], "linestyle": "none"}
            drawn.plot(*zip(*points, strict=True), label=name, **style)
        scale(drawn)
        drawn.set_xlabel(picture.x)
        drawn.set_ylabel(picture.y)
        drawn.legend()
        return drawn

    def save(self, path: Path | str) -> Path:
        """Writes the picture to a file, in the style of the pages, and returns its path.

        path: its name ends in .pdf, .svg or .png. Raises BadInput for another ending and where there is nothing to
        draw, MissingExtra without matplotlib, StoreError where the file cannot be written.
        """
        place = Path(path)
        form = place.suffix[1:].lower()
        if form not in FORMS:
            endings = ", ".join(f".{f}" for f in FORMS)
            raise BadInput(f"save: the name of the file, {shown(str(path))}, must end in one of {endings}.")
        figures = providers.load(providers.STATEMENTS, "figures")
        with figures.new_figure(SIZE) as figure:
            self.plot(figure.add_subplot())
            write_whole(place, figures.file_of(figure, form, repr(self), ""))
        return place

    def bibtex(self) -> str:
        """The BibTeX entries of the papers that print the statements, one each."""
        return "\n\n".join(dict.fromkeys(s.source.paper.bibtex() for s in self._claimed()))

    def latex(self) -> str:
        """The claims of the statements typeset, with a blank line between them."""
        return "\n\n".join(self._formulas())


def scale(drawn: Any) -> None:
    """Ticks at whole numbers where all x are whole; a logarithmic y axis where the values are above 0 and far apart."""
    lines, locator = drawn.get_lines(), drawn.xaxis.get_major_locator()
    places = {float(x) for line in lines for x in line.get_xdata()}
    if all(map(float.is_integer, places)) and type(locator).__name__ == "AutoLocator":  # not one that the caller chose
        locator.set_params(integer=True)
        if len(places) == 1:
            drawn.set_xlim(min(places) - 1, max(places) + 1)
    heights = [float(y) for line in lines for y in line.get_ydata() if math.isfinite(y)]
    drawn.set_yscale("log" if heights and max(heights) > FAR * min(heights) > 0 else "linear")


def shortened(text: str) -> str:
    """The text of a repr, with its end left out where it is long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2]}…>"


def as_number(value: Any) -> int | float:
    """A value of a symbol (a number, or text such as "1/3") as a number of Python's own."""
    exact = Fraction(str(value.item() if hasattr(value, "item") else value))
    return int(exact) if exact.denominator == 1 else nearest_float(exact)


def metric_label(statement: Any) -> str:
    """The statement's metric as the label of an axis; "value" for a formula."""
    metric = statement.metric
    if metric.quantity == "none":
        return "value"
    return metric.quantity if metric.average == "last" else f"{metric.average} {metric.quantity}"
