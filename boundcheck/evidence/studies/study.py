"""What a study gives: words, tables and curves, for one page of a report; and what the tables that ask for it share."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict

from boundcheck.core.numbers import format_short, parse_grid
from boundcheck.errors import BadInput


def _some(methods: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not methods:
        raise ValueError("methods = [] is not allowed; at least one method is needed")
    return methods


Methods = Annotated[list[dict[str, Any]], AfterValidator(_some)]  # specifications of methods, at least one


class TableSpec(BaseModel):
    """One table of a specification that asks for a study."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def cases(
    methods: Sequence[Mapping[str, Any]], parameter: str, grid: Any, most: int, what: str = "values"
) -> dict[Fraction, list[dict[str, Any]]]:
    """The values of a parameter, in the order of its grid, and the specifications of all methods at each.

    most: how many values are allowed; what: these in words. Raises BadInput where there are more, and for a method
    that has a value for the parameter already.
    """
    values = list(dict.fromkeys(parse_grid(grid, parameter)))
    if not 1 <= len(values) <= most:
        raise BadInput(f"{parameter}: {len(values)} {what} were given; 1 to {most} are allowed.")
    for method in methods:
        if parameter in method:
            raise BadInput(
                f"the method '{method.get('kind')}' already has {parameter} = {method[parameter]}, which takes the "
                "values; leave it out."
            )
    return {value: [{**method, parameter: value} for method in methods] for value in values}


def label(name: str, spec: Mapping[str, Any], brackets: str = "()") -> str:
    """A method's name with what its specification says beside the kind, which tells it apart from others."""

    def shown(value: Any) -> str:
        if isinstance(value, Mapping):
            return " ".join(str(v) if k == "kind" else f"{k} {shown(v)}" for k, v in value.items())
        if isinstance(value, Sequence) and not isinstance(value, str):
            return brackets[0] + ", ".join(map(shown, value)) + brackets[1]
        return format_short(value) if isinstance(value, Fraction) else str(value)

    return ", ".join([name, *(f"{k} {shown(v)}" for k, v in spec.items() if k != "kind")])


@dataclass(frozen=True)
class StudyTable:
    """A table: one row a tuple of cells, numbers as text as they are to be shown. numeric: the columns of numbers."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[int, ...] = ()

    @staticmethod
    def of(caption: str, rows: Sequence[Mapping[str, str]]) -> StudyTable:
        """A table whose columns are the keys of the rows; a column without any text is left out."""
        columns = [name for name in dict.fromkeys(itertools.chain(*rows)) if any(row.get(name) for row in rows)]
        cells = tuple(tuple(row.get(name) or "-" for name in columns) for row in rows)
        numeric = [all(re.fullmatch(r"[-+0-9./e]+", cell) for cell in column) for column in zip(*cells, strict=True)]
        return StudyTable(caption, tuple(columns), cells, tuple(k for k, number in enumerate(numeric) if number))


@dataclass(frozen=True)
class Series:
    """A curve of the picture.

    role: "metric", "bound", "reading" or "trivial" (colour); dash: which dash pattern, from 0. low, high: edges of a
    band around it, of the same length where there is one. panel: in which of the study's panels it is drawn.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    role: str = "metric"
    dash: int = 0
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    panel: int = 0


@dataclass(frozen=True)
class Panel:
    """One of several pictures of a study: its title, the label of y, and whether y is logarithmic."""

    title: str
    y: str
    log: bool = False


def _nothing() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True)
class Study:
    """A page. kind: the table of the specification that asked for it; words: paragraphs in front of everything.

    axes: labels of x and y; log: which of them are logarithmic; panels: several pictures instead of one, which share x.
    data: the numbers behind it, JSON-able.
    """

    kind: str
    name: str
    words: tuple[str, ...]
    tables: tuple[StudyTable, ...] = ()
    series: tuple[Series, ...] = ()
    axes: tuple[str, str] = ("", "")
    log: tuple[bool, bool] = (True, True)
    caption: str = ""
    data: Mapping[str, Any] = field(default_factory=_nothing)
    panels: tuple[Panel, ...] = ()
