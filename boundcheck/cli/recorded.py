"""The commands record and rerun: tables of training as files, and one of their rows run again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from boundcheck.cli._output import line, print_json, short, table
from boundcheck.errors import BadInput, BoundcheckError, UnknownName

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(record)
    app.command()(rerun)


def record(
    specs: Annotated[
        list[Path], typer.Argument(metavar="SPEC...", help="TOML files with [[training]] tables.", show_default=False)
    ],
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
    hours. It is written after each row; what is there is not run again, and a row that was cut off continues. Tables
    that need a data set or an optional package that is not on this machine are skipped, with the command that gets it.

    \b
    Example: boundcheck record configs/neural/*.toml -o configs/neural/recorded
    """
    from boundcheck.cli._files import probe_folder
    from boundcheck.cli.runs import chosen_store
    from boundcheck.core.store import Store
    from boundcheck.evidence.not_run import is_absence
    from boundcheck.evidence.studies import load_studies
    from boundcheck.networks.study.record import record as carry_out
    from boundcheck.problems._own_data import load_specification
    from boundcheck.report.words import slug

    tables: list[tuple[Path, dict[str, Any]]] = []
    for spec in specs:
        load_studies(spec)
        tables += [(spec, one) for one in load_specification(spec).data.get("training", [])]
    if not tables:
        raise BadInput(f"{', '.join(map(str, specs))} has no [[training]] table to record.")
    chosen = [(spec, one) for spec, one in tables if not name or any(part in one["name"] for part in name)]
    if not chosen:
        raise UnknownName("the table", name[0] if name else "", [one["name"] for _, one in tables])
    folder = probe_folder(out, "--out")
    folder.mkdir(parents=True, exist_ok=True)
    store = chosen_store(no_store)
    written: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = []
    for spec, one in chosen:
        given = {**one, **({} if seeds is None else {"seeds": seeds})}
        own = ["boundcheck", "record", spec.as_posix(), "--table", one["name"]]
        command = shlex.join([*own, *([] if seeds is None else ["--seeds", str(seeds)])])
        path = folder / f"{slug(one['name'])}.json"

        def tell(words: str, to: Path = path) -> None:
            if not as_json:
                line(f"{to}: {words}")

        try:
            kept = None if store is None else Store(store)
            found = carry_out(given, path, command, rows=row or (), store=kept, tell=tell)
        except BoundcheckError as error:
            if not is_absence(error):
                raise
            skipped.append({"table": one["name"], "why": str(error)})
            tell(f"skipped: {error}")
            continue
        written.append({"file": str(path), "rows": len(found.rows), "processor_hours": found.processor_hours})
    if as_json:
        print_json({"records": written, "skipped": skipped})
        return 0
    for of in written:
        line(f"{of['file']}: {of['rows']} rows, {short(of['processor_hours'])} processor hours")
    hours = short(sum(of["processor_hours"] for of in written))
    line(f"{len(written)} of {len(chosen)} tables, {hours} processor hours; skipped: {len(skipped)}")
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
    from boundcheck.networks.study.record import read, run_again

    found = run_again(read(file), row)
    if as_json:
        print_json(found)
        return 0 if found["agrees"] else 1
    shown = [[one if isinstance(one, str) else short(one) for one in numbers.values()] for numbers in found["numbers"]]
    table(["method", "metric", "recorded", "half width", "now", "largest relative difference", "outcome"], shown)
    if found["differs"]:
        line(f"Not as recorded: {', '.join(found['differs'])}; means are compared with the recorded intervals.")
    else:
        line("Code, versions and kind of processor are as recorded; every seed must give the recorded number.")
    line(f"The row '{found['row']}' {'agrees' if found['agrees'] else 'does not agree'}.")
    return 0 if found["agrees"] else 1
