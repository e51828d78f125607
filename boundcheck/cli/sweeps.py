"""Commands about grids and timetables: sweep, plot, schedule."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from boundcheck.cli.options import Cluster, Json, TimeLimit, Workers, argument, option, spec_file, where
from boundcheck.cli.output import line, print_json, progress, say, short, table
from boundcheck.core.extras import needed_for
from boundcheck.core.places import is_url, write_whole
from boundcheck.core.targets import probe_file, probe_folder, probe_picture
from boundcheck.errors import BadInput

if TYPE_CHECKING:
    from boundcheck.methods.parts import Timed
    from boundcheck.sweeps.run import Summary

MAX_CLIENTS_SHOWN = 30


def sweep(
    spec: Annotated[Path, argument(metavar="SPEC", parser=spec_file, help="A TOML file of a sweep.")],
    out: Annotated[str, option("-o", "--out", metavar="DIR", help="Folder or URL of the data set.", shown=True)],
    workers: Workers = None,
    cluster: Cluster = None,
    time_limit: TimeLimit = None,
    as_json: Json = False,
) -> int:
    """Bounds, comparisons or tunings over a grid, as Parquet.

    The specification is checked as a whole first. Each chunk of rows is one file in DIR, put there at once; the same
    command continues an interrupted sweep, and the result is the same. pandas and polars read DIR as it is. With
    --cluster, DIR is a folder that all workers share, or a URL. Exit code 1 where chunks are missing because their
    workers died.

    \b
    Example: boundcheck sweep examples/tour/sweep.toml -o scope
    """
    from boundcheck.evidence.carry_out import executor_for
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
    place: Annotated[str, argument(metavar="DIR", help="A data set of boundcheck sweep.")],
    out: Annotated[
        Path | None, option("-o", "--out", metavar="FILE", help="The SVG file.", shown="DIR with the ending .svg")
    ] = None,
    x: Annotated[str | None, option(help="Column of the horizontal axis.", shown="chosen")] = None,
    y: Annotated[str | None, option(help="Column of the vertical axis of a map.", shown="chosen")] = None,
    value: Annotated[
        str, option(help="Column to draw: label, or one of numbers such as bound, tightness, step_ratio.", shown=True)
    ] = "label",
    lines: Annotated[
        bool, option("--lines", help="Draw slices: the value over x, a line for each level of y.")
    ] = False,
    breaks: Annotated[
        str | None, option(metavar="LIST", help="With numbers on a map: where the classes end.", shown="chosen")
    ] = None,
    at: Annotated[
        list[str] | None, option("--at", metavar="NAME=VALUE", help="Only rows with this value. Repeatable.")
    ] = None,
    as_json: Json = False,
) -> int:
    """A map or slices of a sweep as SVG, PDF or PNG.

    It shows where a bound is tight, loose, vacuous, out of scope or violated. A map has a cell for each pair of levels
    (a point for each row of a Latin hypercube), and a panel for each combination of the axes that are neither x nor y
    nor fixed by --at. An SVG follows the light or dark setting of the page around it, and of the viewer where it
    stands alone.

    \b
    Example: boundcheck sweep examples/tour/sweep.toml -o scope
             boundcheck plot scope
    """
    from boundcheck.report.maps import draw
    from boundcheck.sweeps.dataset import need_pyarrow, read_sweep

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


def schedule(
    spec: Annotated[
        Path | None, argument(metavar="SPEC", parser=spec_file, help="A TOML file with a [method] or [[claim]] tables.")
    ] = None,
    times: Annotated[
        str,
        option(
            "--times",
            metavar="TIMES",
            help="1,2,7/2 (one a client), f0, f80, f80_literal, spread:RATIO or exponential:RATE,RATE,...",
        ),
    ] = "",
    policy: Annotated[str, option("--policy", help="One of sync, async, fedfix, fedbuff.", shown=True)] = "async",
    dt: Annotated[str, option("--dt", help="The window of fedfix.")] = "",
    m: Annotated[str, option("--buffer", help="The buffer of fedbuff.")] = "",
    ties: Annotated[str, option("--ties", help="one_by_one or joint.")] = "",
    clients: Annotated[int | None, option("--clients", min=1, help="For times that fit any number.")] = None,
    rounds: Annotated[
        int | None, option("--rounds", min=1, max=1_000_000, help="Rounds to show.", shown="a period")
    ] = None,
    seed: Annotated[int, option("--seed", min=0, help="Of exponential times.", shown=True)] = 0,
    plot: Annotated[str | None, option("--plot", metavar="FILE", help="Draw it (.svg, .png or .pdf).")] = None,
    as_json: Json = False,
) -> int:
    """The timetable of an asynchronous method.

    It says who contributes to each aggregation, and how old its model is. Of the methods of a file whose clients have
    update times, or of --times and --policy. A contribution is written client:delay, the delay in rounds. --plot draws
    clients as rows and their work as bars.

    \b
    Example: boundcheck schedule --times 2,3,5 --policy fedfix --dt 2
             boundcheck schedule --times f80 --clients 5 --plot f80.svg
    """
    from boundcheck.evidence import timetables

    given = {"--dt": dt, "--buffer": m, "--ties": ties, "--times": times}
    if spec is not None:
        used = [name for name, text in given.items() if text]
        if used:
            raise BadInput(f"{used[0]} goes without a file: the method in it has its own.")
        named = timetables.from_file(spec, clients)
    else:
        if not times:
            raise BadInput("name a TOML file, or give --times, such as --times 1,2,3.")
        named = [timetables.from_options(times, policy, {"dt": dt, "m": m, "ties": ties}, clients)]
    target = None if plot is None else probe_picture(plot)
    if target is not None and len(named) > 1:
        raise BadInput(f"--plot draws one schedule; the file has {len(named)}.")
    found = [timetables.facts(name, timed, count, rounds, seed) for name, timed, count in named]
    if target is not None:
        from boundcheck.report.figures import timetable

        name, timed, count = named[0]
        with needed_for("a picture of a schedule"):
            shown = timed.timetable(count, found[0]["timetable"]["rounds"], seed)
            drawn = timetable(shown, target.suffix[1:].lower(), name)
        write_whole(target, drawn)
    if as_json:
        print_json({"schedules": found})
        return 0
    for (_, timed, count), facts in zip(named, found, strict=True):
        _show(timed, count, facts, seed)
    if target is not None:
        line(f"drawn: {target}")
    return 0


def _show(timed: Timed, count: int, facts: Mapping[str, Any], seed: int) -> None:
    from boundcheck.methods.schedules import Fixed

    say(f"{facts['name']}: {count} client{'' if count == 1 else 's'}; the server {timed.policy.words}")
    own = timed.of(count)
    if isinstance(own, Fixed):
        lead = f" after {facts['lead']} rounds" if facts.get("lead") else ""
        period, length = short(facts["period"]), short(facts["period_time"])
        every = "every round" if facts["period"] == 1 else f"every {period} rounds"
        line(f"the cohorts repeat {every}, that is every {length}{lead}")
        line(
            f"window W {short(facts['window'])}, largest delay {short(facts['largest_delay'])}, "
            f"share of empty rounds {short(facts['empty_share'])}"
        )
        shares = facts["shares"]
        if shares is not None:
            cells = [
                # the weight that makes a client of importance 1/M count as 1/M over a period
                [str(i), short(t), short(share), short(1 / (share * count))]
                for i, (t, share) in enumerate(zip(own.values, shares, strict=True))
            ]
            line()
            table(["client", "time", "share of rounds", "time-based weight"], cells[:MAX_CLIENTS_SHOWN])
            if count > MAX_CLIENTS_SHOWN:
                line(f"(and {count - MAX_CLIENTS_SHOWN} more clients)")
    else:
        line(f"exponential times, drawn with seed {seed}: delays have no bound, and nothing repeats")
    line()
    drawn = timed.timetable(count, facts["timetable"]["rounds"], seed)
    table(["round", "aggregation", "client:delay"], drawn.inspect())
    line()
