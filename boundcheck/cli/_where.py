"""The options of commands that carry out items: where they do, and how they use the result store."""

from __future__ import annotations

from typing import Annotated

import typer

from boundcheck.core.executor import Where

Workers = Annotated[
    int | None,
    typer.Option("--workers", min=1, help="Number of processes.", show_default="one a processor, for many claims"),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Use the workers of a Dask cluster: address of its scheduler, scheduler file, or local:N.",
        show_default=False,
    ),
]
TimeLimit = Annotated[
    str | None,
    typer.Option(
        "--time-limit",
        metavar="TIME",
        help="Stop a claim or study that takes longer, such as 10m, twice: it is FAILED.",
        show_default=False,
    ),
]
NoStore = Annotated[bool, typer.Option("--no-store", help="Neither read nor write the result store.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Say of each result whether the store had it.")
]


def where(workers: int | None, cluster: str | None, time_limit: str | None) -> Where:
    """What the options ask for."""
    from boundcheck.core.numbers import parse_seconds

    return Where(workers, cluster, None if time_limit is None else parse_seconds(time_limit, "--time-limit"))
