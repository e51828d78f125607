"""The command identify: which published method a function of a file carries out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boundcheck.cli._output import line, print_json


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(identify)


def identify(
    file: Annotated[Path, typer.Argument(help="A Python file, which is run.", show_default=False)],
    run: Annotated[str, typer.Option("--run", help="The function run(task, seed) in it.", show_default=False)],
    rounds: Annotated[int, typer.Option(help="Rounds that are compared.")] = 30,
    seeds: Annotated[int, typer.Option(help="Seeds of a run that is random.")] = 512,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Which published method the code in a file is: its kind here, its options, paper and equation.

    This runs the file, so take only code that you trust. The function gets a task with numbers by the usual names (K,
    E, eta, eta_l, mu, ...) and returns the iterates, as for boundcheck.compare_implementation. Where the runs are those
    of no kind, they are compared with those of kinds that have one known mistake. Exit code 1 where nothing agrees.

    \b
    Example: boundcheck identify fedavg.py --run fedavg
    """
    from boundcheck.judge.identify import function_of
    from boundcheck.judge.identify import identify as found_by

    found = found_by(function_of(file, run), rounds=rounds, seeds=seeds)
    if as_json:
        print_json({"file": str(file), "run": run, **found.to_dict()})
    else:
        line(f"{file} was run. {found.reason}")
    return 0 if found.matches else 1
