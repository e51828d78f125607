"""The commands sweep and plot: statements over grids of constants, problems and methods, and pictures of the result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundcheck.cli._output import line, print_json, progress, table
from boundcheck.cli._where import Cluster, TimeLimit, Workers, where
from boundcheck.errors import BadInput

if TYPE_CHECKING:
    from boundcheck.sweeps.run import Summary

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(sweep)
    app.command()(plot)


def sweep(
    spec: Annotated[Path, typer.Argument(help="A TOML file of a sweep.", show_default=False)],
    out: Annotated[str, typer.Option("-o", "--out", metavar="DIR", help="Folder or URL of the data set.")],
    workers: Workers = None,
    cluster: Cluster = None,
    time_limit: TimeLimit = None,
    as_json: Json = False,
) -> int:
    """Evaluates, compares or tunes at every point of a grid or Latin hypercube, into a Parquet data set.

    The specification is checked as a whole first. Each chunk of rows is one file in DIR, put there at once; the same
    command continues an interrupted sweep, and the result is the same. pandas and polars read DIR as it is. With
    --cluster, DIR is a folder that all workers share, or a URL. Exit code 1 where chunks are missing because their
    workers died.

    \b
    Example: boundcheck sweep examples/sweeps/fedshuffle_steps.toml -o steps
    """
    from boundcheck.cli._execute import executor_for
    from boundcheck.cli._files import probe_folder
    from boundcheck.core.places import is_url
    from boundcheck.sweeps.dataset import need_pyarrow
    from boundcheck.sweeps.run import carry_out
    from boundcheck.sweeps.spec import load_sweep

    need_pyarrow()
    found = load_sweep(spec)
    place = out if is_url(out) else probe_folder(out, "--out").absolute()
    executor = executor_for(found.chunks == 1, where(workers, cluster, time_limit))
    with progress(f"{found.rows} rows", float(found.rows)) as show:
        summary = carry_out(found, place, executor, show)
    if as_json:
        print_json(_data(summary))
    else:
        table(["label", "rows"], [[label, str(count)] for label, count in summary.counts.items()])
        line()
        there = f", {summary.kept} were there" if summary.kept else ""
        line(f"{summary.place}: {summary.rows} rows; {_many(summary.computed)} computed{there}.")
        mine, theirs = (f"{bytes / 2**20:.0f} MiB" for bytes in summary.memory)
        line(f"peak memory: {mine} here, {theirs} the largest of those that computed.")
        for sentence in summary.lost:
            line(f"LOST {sentence}")
    return 1 if summary.lost else 0


def _many(chunks: int) -> str:
    return f"{chunks} chunk{'' if chunks == 1 else 's'}"


def _data(summary: Summary) -> dict[str, Any]:
    memory = dict(zip(("here", "workers"), summary.memory, strict=True))
    return {
        "place": summary.place,
        "rows": summary.rows,
        "counts": dict(summary.counts),
        "computed_chunks": summary.computed,
        "kept_chunks": summary.kept,
        "lost": list(summary.lost),
        "peak_memory_bytes": memory,
    }


def plot(
    place: Annotated[str, typer.Argument(metavar="DIR", help="A data set of boundcheck sweep.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="The SVG file.", show_default="DIR with the ending .svg"),
    ] = None,
    x: Annotated[str | None, typer.Option(help="Column of the horizontal axis.", show_default="chosen")] = None,
    y: Annotated[str | None, typer.Option(help="Column of the vertical axis of a map.", show_default="chosen")] = None,
    value: Annotated[
        str, typer.Option(help="Column to draw: label, or one of numbers such as bound, tightness, step_ratio.")
    ] = "label",
    lines: Annotated[
        bool, typer.Option("--lines", help="Draw slices: the value over x, a line for each level of y.")
    ] = False,
    breaks: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="With numbers on a map: where the classes end.", show_default="chosen"),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option("--at", metavar="NAME=VALUE", help="Only rows with this value. Repeatable.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> int:
    """A map or slices of a sweep as SVG, PDF or PNG: where a bound is tight, loose, vacuous, out of scope or violated.

    A map has a cell for each pair of levels (a point for each row of a Latin hypercube), and a panel for each
    combination of the axes that are neither x nor y nor fixed by --at. An SVG follows the light or dark setting of the
    page around it, and of the viewer where it stands alone.

    \b
    Example: boundcheck plot steps --value step_ratio --breaks 2,10,100
    """
    from boundcheck.cli._files import probe_file
    from boundcheck.core.places import write_whole
    from boundcheck.report.maps import draw
    from boundcheck.sweeps.dataset import need_pyarrow
    from boundcheck.sweeps.reading import read_sweep

    need_pyarrow()
    target = out if out is not None else Path(place.rstrip("/").rpartition("://")[2]).with_suffix(".svg")
    if target.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise BadInput(f"--out '{target}' has no known ending; .svg, .png, .pdf are allowed.")
    probe_file(target, "--out")
    form = target.suffix.lower()[1:]
    picture = draw(read_sweep(place, at or []), x, y, value, lines=lines, breaks=breaks, form=form)
    write_whole(target, picture.content)
    if as_json:
        print_json({"file": str(target), "rows": picture.rows, "words": picture.words})
    else:
        line(f"drawn: {target}, {picture.words}")
    return 0
