"""The list of commands, in the order in which help shows them."""

from __future__ import annotations

import contextlib
import copy
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from boundcheck._version import __version__
from boundcheck.cli import data, judge, new, proofs, recorded, reports, runs, schedule, sweeps, theory, tune, worst

SHELLS = ("bash", "zsh", "fish")

app = typer.Typer(
    name="boundcheck",
    help="Whether a published convergence bound holds, where, how tightly, and how we know.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
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
        typer.Option(
            metavar="PATH",
            callback=_load,
            is_eager=True,
            show_default=False,
            help="Also the statements, methods and problems of this Python file, or of this folder of such files. "
            "boundcheck RUNS the file.",
        ),
    ] = [],  # noqa: B006 (typer reads it)
) -> None:
    """Whether a published convergence bound holds, where, how tightly, and how we know."""


def whole_command() -> Any:
    """The command `boundcheck` as typer carries it out, with --load as an option of every command below it."""
    if "_BOUNDCHECK_COMPLETE" in os.environ:  # a shell asks what may follow
        from typer._completion_classes import completion_init

        completion_init()
    command: Any = typer.main.get_command(app)
    option = copy.copy(next(o for o in command.params if o.name == "load"))
    option.expose_value = False  # its callback does the work
    waiting = list(command.commands.values())
    for below in waiting:
        below.params.append(option)
        waiting.extend(getattr(below, "commands", {}).values())
    return command


@app.command()
def completion(
    shell: Annotated[str, typer.Argument(help="bash, zsh or fish.", show_default=False)],
) -> None:
    """A script that completes commands, options and ids of statements in a shell.

    \b
    Example: boundcheck completion bash > ~/.local/share/bash-completion/completions/boundcheck
    """
    from typer._completion_shared import get_completion_script

    from boundcheck.errors import UnknownName

    if shell not in SHELLS:
        raise UnknownName("the shell", shell, SHELLS)
    typer.echo(get_completion_script(prog_name="boundcheck", complete_var="_BOUNDCHECK_COMPLETE", shell=shell))


theory.register(app)
runs.register(app)
tune.register(app)
sweeps.register(app)
judge.register(app)
schedule.register(app)
reports.register(app)
recorded.register(app)
proofs.register(app)
worst.register(app)
data.register(app)
new.register(app)
