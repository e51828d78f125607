"""The list of commands, in the order in which help shows them."""

from __future__ import annotations

import contextlib
import copy
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from boundcheck._version import __version__
from boundcheck.cli import bounds, claims, code, constants, files, proofs, reports, statements, sweeps, worst
from boundcheck.cli.options import argument, option
from boundcheck.cli.output import with_exact

SHELLS = ("bash", "zsh", "fish")

app = typer.Typer(
    name="boundcheck",
    help="Whether a published convergence bound holds, where, how tightly, and how we know.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


def _load(paths: list[Path]) -> None:
    if paths:
        from boundcheck.theory.loading import load_paper

        with contextlib.redirect_stdout(sys.stderr):  # what a file prints is not the command's output
            for path in paths:
                load_paper(path)


@app.callback()
def boundcheck(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
    load: Annotated[
        list[Path],
        option(
            metavar="PATH",
            callback=_load,
            is_eager=True,
            help="Also the statements, methods and problems of this file or folder of Python. boundcheck RUNS it.",
        ),
    ] = [],  # noqa: B006 (typer reads it)
    exact: bool = typer.Option(
        False, "--exact", callback=with_exact, help="JSON with exact numbers of any length, too."
    ),
) -> None:
    """Whether a published convergence bound holds, where, how tightly, and how we know."""


def whole_command() -> Any:
    """The command `boundcheck` as typer carries it out, with --load as an option of every command below it.

    Those with --json have --exact, too.
    """
    if "_BOUNDCHECK_COMPLETE" in os.environ:  # a shell asks what may follow
        from typer._completion_classes import completion_init

        completion_init()
    command: Any = typer.main.get_command(app)
    load, exact = (copy.copy(next(o for o in command.params if o.name == name)) for name in ("load", "exact"))
    load.expose_value = exact.expose_value = False  # their callbacks do the work
    waiting = list(command.commands.values())
    for below in waiting:
        below.params += [exact, load] if any(o.name == "as_json" for o in below.params) else [load]
        waiting.extend(getattr(below, "commands", {}).values())
    return command


def completion(shell: Annotated[str, argument(help="bash, zsh or fish.")]) -> int:
    """A script that completes commands, options and ids in a shell.

    \b
    Example: boundcheck completion bash
    """
    from typer._completion_shared import get_completion_script

    from boundcheck.errors import UnknownName

    if shell not in SHELLS:
        raise UnknownName("the shell", shell, SHELLS)
    typer.echo(get_completion_script(prog_name="boundcheck", complete_var="_BOUNDCHECK_COMPLETE", shell=shell))
    return 0


COMMANDS: dict[str, Callable[..., int]] = {
    "completion": completion,
    "list": statements.list_statements,
    "show": statements.show,
    "cite": statements.cite,
    "evaluate": bounds.evaluate,
    "scope": bounds.scope,
    "constants": constants.constants,
    "tune": constants.tune,
    "run": claims.run,
    "compare": claims.compare,
    "check": claims.check,
    "sweep": sweeps.sweep,
    "plot": sweeps.plot,
    "schedule": sweeps.schedule,
    "power": code.power,
    "identify": code.identify,
    "conformance": code.conformance,
    "report": reports.report,
    "diff": reports.diff,
    "record": reports.record,
    "derive": proofs.derive,
    "verify": proofs.verify,
    "worst-case": worst.worst_case,
    "audit": worst.audit,
    "try": worst.try_,
    "repair": worst.repair,
    "falsify": proofs.falsify,
    "replay": proofs.replay,
    "clean": files.clean,
    "data list": files.list_sets,
    "data fetch": files.fetch,
    "new paper": code.paper,
    "new statement": code.statement,
    "new method": code.method,
}
GROUPS = {
    name: typer.Typer(no_args_is_help=True, help=text, rich_markup_mode=None)
    for name, text in (
        ("data", "Data sets: what is there, and where from."),
        ("new", "Skeletons: a paper, a statement or a method."),
    )
}
for path, command in COMMANDS.items():
    group, _, name = path.rpartition(" ")
    (GROUPS[group] if group else app).command(name)(command)
for name, group in GROUPS.items():
    app.add_typer(group, name=name)
