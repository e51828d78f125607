"""The list of commands, in the order in which help shows them."""

from __future__ import annotations

import typer

from boundcheck._version import __version__
from boundcheck.cli import data, new, proofs, reports, runs, schedule, theory, tune

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


@app.callback()
def boundcheck(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Whether a published convergence bound holds, where, how tightly, and how we know."""


theory.register(app)
runs.register(app)
tune.register(app)
schedule.register(app)
reports.register(app)
proofs.register(app)
data.register(app)
new.register(app)
