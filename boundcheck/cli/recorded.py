"""The commands record and rerun: tables of training as files, and one of their rows run again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from boundcheck.cli._output import line, print_json, short, table
from boundcheck.errors import BadInput, UnknownName

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(record)
    app.command()(rerun)


def record(
    spec: Annotated[Path, typer.Argument(help="A TOML file with [[training]] tables.", show_default=False)],
    out: Annotated[str, typer.Option("-o", "--out", metavar="DIR", help="Folder of the records.")] = "recorded",
    name: Annotated[
        list[str] | None, typer.Option("--table", help="Only the tables whose name has this in it.")
    ] = None,
    row: Annotated[list[str] | None, typer.Option(help="Only these rows (cases).")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Seeds of every method, in place of the table's.")] = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Neither read nor write the result store.")] = False,
    as_json: Json = False,
) -> int:
    """Carries out tables of training and keeps what came out as files, one a table.

    A file holds the numbers of every seed, the table, the digest of the code, versions, the command and processor
    hours. It is written after each row; what is there is not run again, and a row that was cut off continues.

    \b
    Example: boundcheck record configs/neural/feddane.toml -o configs/neural/recorded
    """
    from boundcheck.cli._files import probe_folder
    from boundcheck.cli.runs import chosen_store
    from boundcheck.core.store import Store
    from boundcheck.evidence.studies import load_studies
    from boundcheck.networks.study.recording import record as carry_out
    from boundcheck.problems._own_data import load_specification
    from boundcheck.report.words import slug

    asked = [study for study in load_studies(spec) if study.kind == "training"]
    if not asked:
        raise BadInput(f"{spec} has no [[training]] table to record.")
    tables: list[dict[str, Any]] = load_specification(spec).data["training"]
    chosen = [t for t in tables if not name or any(part in t["name"] for part in name)]
    if not chosen:
        raise UnknownName("the table", name[0] if name else "", [t["name"] for t in tables])
    folder = probe_folder(out, "--out")
    folder.mkdir(parents=True, exist_ok=True)
    store = chosen_store(no_store)
    written: list[dict[str, Any]] = []
    for one in chosen:
        given = {**one, **({} if seeds is None else {"seeds": seeds})}
        own = ["boundcheck", "record", spec.as_posix(), "--table", one["name"]]
        command = shlex.join([*own, *([] if seeds is None else ["--seeds", str(seeds)])])
        path = folder / f"{slug(one['name'])}.json"
        found = carry_out(
            given,
            path,
            command,
            rows=row or (),
            store=None if store is None else Store(store),
            on_row=lambda done, to=path: None if as_json else line(f"{to}: {done.case or 'the table'} recorded"),
        )
        written.append({"file": str(path), "rows": len(found.rows), "processor_hours": found.processor_hours})
    if as_json:
        print_json({"records": written})
    else:
        for of in written:
            line(f"{of['file']}: {of['rows']} rows, {short(of['processor_hours'])} processor hours")
    return 0


def rerun(
    file: Annotated[Path, typer.Argument(metavar="RECORD", help="A file of boundcheck record.", show_default=False)],
    row: Annotated[str | None, typer.Option(help="Which row (case).", show_default="the first")] = None,
    as_json: Json = False,
) -> int:
    """Runs one row of a recorded table again and compares.

    The settings are those that were chosen then. With the same code, versions and kind of processor every seed must
    give the recorded number to a relative 1e-6; otherwise the mean must lie in the recorded confidence interval. Exit
    code 0 where the row agrees, 1 where it does not.

    \b
    Example: boundcheck rerun configs/neural/recorded/feddane-figure-2-how-many-devices-take-part.json
    """
    from boundcheck.networks.study.page import WORDS
    from boundcheck.networks.study.recorded import read
    from boundcheck.networks.study.recording import run_again

    found = run_again(read(file), row)
    if as_json:
        numbers = [
            {"method": a.method, "metric": a.comparison.metric, "then": a.then, "now": a.now, "half_width": a.half}
            | {"largest_relative_difference": a.apart, "outcome": a.outcome}
            for a in found.found
        ]
        print_json({"row": found.row, "agrees": found.agrees, "differs": list(found.differs), "numbers": numbers})
        return 0 if found.agrees else 1
    rows = [
        [a.method, WORDS.get(a.comparison.metric, a.comparison.metric)]
        + [short(v) for v in (a.then, a.half, a.now, a.apart)]
        + [a.outcome]
        for a in found.found
    ]
    table(["method", "metric", "recorded", "half width", "now", "largest relative difference", "outcome"], rows)
    if found.differs:
        line(f"Not as recorded: {', '.join(found.differs)}; means are compared with the recorded intervals.")
    else:
        line("Code, versions and kind of processor are as recorded; every seed must give the recorded number.")
    line(f"The row '{found.row}' {'agrees' if found.agrees else 'does not agree'}.")
    return 0 if found.agrees else 1
