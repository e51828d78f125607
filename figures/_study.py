"""Figures and tables of papers as studies of boundcheck: the command of a script, and the files that it writes.

A script has one function, which computes a `Study` of boundcheck and decides the findings of its entry in record.toml
on the same numbers. `python figures/NAME.py [-o DIR]` runs it; --help lists its options. The curves of a study are
drawn as those of a report (`boundcheck.report.figures`).
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import _findings as fd
import numpy as np
from numpy.typing import NDArray

from boundcheck.core.palette import PALETTE
from boundcheck.core.places import write_whole
from boundcheck.core.targets import probe_file, probe_folder
from boundcheck.errors import BoundcheckError
from boundcheck.evidence.studies.study import Panel, Series, Study, StudyTable
from boundcheck.report.data import report_data
from boundcheck.report.figures import charts, file_of, new_figure
from boundcheck.report.pictures import study_charts

Array = NDArray[np.float64]
Curve = tuple[Sequence[float] | Array, Array]
FOLDER = "report/figures"  # where `make report` has them
FORMS = ("png", "svg", "pdf")
SUFFIXES = (*(f".{form}" for form in FORMS), ".json", ".md")
LOOKS = ("metric", "bound", "reading", "trivial")  # of lines that are alike in rank; then the next dash pattern
INTERRUPTED = 130
HELP = {
    "data": "data set (default digits)",
    "full": "compute what figures/results lacks, and write it there",
    "samples": "the most samples of a device (default: as drawn)",
    "seeds": "sampled runs",
    "workers": "quadratic workers",
}


@dataclass(frozen=True)
class Made:
    """A study, the words of the findings, and what draws more than its curves or its table can show."""

    study: Study
    decisions: Mapping[str, fd.Decision] = field(default_factory=dict[str, fd.Decision])
    draw: Callable[[Any], None] | None = None
    size: tuple[float, float] = (12, 4.6)


def study(title: str, caption: str, notes: Sequence[str] = (), **more: Any) -> Study:
    """A study of a paper. notes: what it shows beside the paper; more: other fields of `Study`."""
    return Study("figure", title, tuple(notes), caption=caption, **more)


def table(first: str, rows: Mapping[str, Mapping[str, str]]) -> tuple[StudyTable]:
    """The tables of a study that has one: row name -> column -> text. first: the heading of the names."""
    return (StudyTable.of("", [{first: name, **cells} for name, cells in rows.items()]),)


def curve(label: str, x: Sequence[float] | Array, values: Array, number: int = 0, panel: int = 0) -> Series:
    """The mean over seeds of (S, T) values in a band of their range. number: of the line, which gives its look."""
    low, middle, high = (tuple(map(float, pick(values, axis=0))) for pick in (np.min, np.mean, np.max))
    band = {"low": low, "high": high} if len(values) > 1 else {}
    role, dash = LOOKS[number % len(LOOKS)], number // len(LOOKS)
    return Series(label, tuple(map(float, x)), middle, role, dash, panel=panel, **band)


def panels(x: str, shown: Sequence[tuple[str, str, Mapping[str, Curve]]], log: bool = True) -> dict[str, Any]:
    """The fields of a study of panels: title, label of y, and label -> x and (S, T) values. log: whether y is."""
    labels = list(dict.fromkeys(label for *_, curves in shown for label in curves))
    series = [
        curve(label, *own, labels.index(label), panel)
        for panel, (*_, curves) in enumerate(shown)
        for label, own in curves.items()
    ]
    heads = tuple(Panel(title, y, log) for title, y, _ in shown)
    return {"series": tuple(series), "panels": heads, "axes": (x, ""), "log": (False, log)}


def script(make: Callable[..., Made], **least: int) -> Callable[[Sequence[str] | None], None]:
    """The command of a script, which writes what `make` gives; the parameters of `make` are its options.

    least: the least value of an option. The folder is refused before anything is computed.
    """
    module = inspect.getmodule(make)
    path, words = Path(str(module.__file__)), str(module.__doc__)

    def main(argv: Sequence[str] | None = None) -> None:
        """Computes and writes the figure or table."""
        parser = argparse.ArgumentParser(description=words.split("\n", 1)[0])
        add_folder(parser)
        for name, option in inspect.signature(make).parameters.items():
            kind: dict[str, Any] = {"type": int, "default": option.default}
            if name == "data":
                kind = {"choices": ("digits", "mnist")}
            elif option.default is False:
                kind = {"action": "store_true"}
            default = "" if option.default in (None, False) else f" (default {option.default})"
            parser.add_argument(f"--{name}", help=HELP.get(name, name) + default, **kind)
        chosen = vars(parser.parse_args(argv))
        folder = folder_of(chosen.pop("out"), path.stem)
        if any(chosen[name] is not None and chosen[name] < value for name, value in least.items()):
            parser.error(f"at least {' and '.join(f'{value} {name}' for name, value in least.items())} are needed.")
        for written in write(make(**chosen), folder, path.stem):
            print(written)

    return main


def add_folder(parser: argparse.ArgumentParser) -> None:
    """The option -o; its value is a text until `folder_of` has looked at it."""
    parser.add_argument("-o", "--out", default=FOLDER, help=f"folder for the files (default {FOLDER})")


def folder_of(text: str, *names: str) -> Path:
    """The folder that -o names, for figures of these names; raises BadInput or StoreError where none can be written."""
    folder = probe_folder(text, "-o/--out")
    for path in (folder / f"{name}{suffix}" for name in names for suffix in SUFFIXES if folder.is_dir()):
        probe_file(path, "-o/--out")
    return folder


def start(main: Callable[[Sequence[str] | None], None]) -> None:
    """Runs a script's `main` on the command line; what boundcheck refuses is one sentence and its exit code."""
    try:
        main(None)
    except BoundcheckError as error:
        sys.stderr.write(f"{Path(sys.argv[0]).name}: {error}\n")
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        sys.stderr.write(f"{Path(sys.argv[0]).name}: interrupted.\n")
        raise SystemExit(INTERRUPTED) from None


def write(made: Made, folder: Path, name: str) -> list[Path]:
    """Writes the picture in all forms, its facts and its text, all made before the first is written."""
    shown, findings = made.study, fd.judged(name, made.decisions)
    facts = {"schema": 1, "title": shown.name, "caption": shown.caption, "findings": findings, "notes": shown.words}
    for one in shown.tables:
        facts["rows"] = {row[0]: dict(zip(one.columns[1:], row[1:], strict=True)) for row in one.rows}
    contents = {f".{form}": picture(made, form) for form in FORMS}
    contents[".json"] = (json.dumps(facts | dict(shown.data), indent=1, ensure_ascii=False) + "\n").encode()
    contents[".md"] = text_of(shown, name, findings).encode()
    folder.mkdir(parents=True, exist_ok=True)
    for suffix, content in contents.items():
        write_whole(folder / f"{name}{suffix}", content)
    return [folder / f"{name}{suffix}" for suffix in contents]


def picture(made: Made, form: str) -> bytes:
    """The picture of a study: what it draws itself, its curves, or its table."""
    shown = made.study
    if shown.series:
        return charts(study_charts(report_data((), "", studies=[shown])["studies"][0]), form, alike=True)
    draw, size = made.draw or (lambda figure: draw_table(figure, shown.tables[0])), made.size
    if made.draw is None:
        size = (11.5, 0.34 * (len(shown.tables[0].rows) + 1))
    with new_figure(size) as figure:
        draw(figure)
        return file_of(figure, form, shown.name, shown.caption)


def draw_table(figure: Any, shown: StudyTable) -> None:
    """A table as a picture, its head and first column bold."""
    ax = figure.add_subplot()
    ax.set_axis_off()
    widths = [max(map(len, column)) + 3 for column in zip(shown.columns, *shown.rows, strict=True)]
    drawn = ax.table(
        shown.rows, colLabels=shown.columns, colWidths=[w / sum(widths) for w in widths], cellLoc="center",
        bbox=(0, 0, 1, 1),
    )  # fmt: skip
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(8.5)
    for (line, column), cell in drawn.get_celld().items():
        cell.set(edgecolor=PALETTE["rule"][0], linewidth=0.6)
        if line == 0 or column == 0:
            cell.get_text().set_weight("bold")


def text_of(shown: Study, name: str, findings: Sequence[Mapping[str, str]]) -> str:
    """The Markdown of a study: picture, table, caption, and the findings by their words."""
    lines = [f"# {shown.name}", "", f"![{shown.name}]({name}.png)", ""]
    for one in shown.tables:
        lines += [f"| {' | '.join(row)} |" for row in (one.columns, ["---"] * len(one.columns), *one.rows)] + [""]
    lines.append(shown.caption)
    for head, sentences in {**fd.lines(findings), "beside the paper": list(shown.words)}.items():
        lines += ["", f"## {head.capitalize()}", "", *(f"- {s}" for s in sentences)] if sentences else []
    return "\n".join([*lines, ""])
