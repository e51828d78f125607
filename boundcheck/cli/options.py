"""Options and arguments that commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from boundcheck.core.executor import Where


def option(*names: str, shown: bool | str = False, **settings: Any) -> Any:
    """An option of a command. shown: whether the help says its default, or what it says instead."""
    return typer.Option(*names, show_default=shown, **settings)


def argument(*, shown: bool | str = False, **settings: Any) -> Any:
    """An argument of a command. shown: see `option`."""
    return typer.Argument(show_default=shown, **settings)


def spec_file(text: str) -> Path:
    """The file that SPEC names: one of examples/ that is not there is the one that comes with boundcheck."""
    from boundcheck.evidence.shipped_files import example

    return example(text)


def matching_ids(incomplete: str) -> list[str]:
    """The ids that begin with what is typed, for the completion of a shell; full ids once a statement is chosen."""
    from boundcheck.evidence.statement_table import statement_table

    ids = [r["id"] for r in statement_table()["statements"] if r["id"].startswith(incomplete)]
    bare = dict.fromkeys(id.rpartition("/")[0] for id in ids)
    return ids if incomplete.count("/") == 2 or len(bare) == 1 else [id for id in bare if id.startswith(incomplete)]


ID = "<paper>/<statement>[/<reading>]."
Json = Annotated[bool, option("--json", help="Print JSON.")]
Id = Annotated[str, argument(help=ID, autocompletion=matching_ids)]
SpecFile = argument(metavar="SPEC", parser=spec_file, help="A TOML file with [[claim]] tables.")
Spec = Annotated[Path, SpecFile]
Sets = Annotated[
    list[str] | None, option("--set", metavar="NAME=VALUE", help="A symbol's value: 3, 1e-3, 1/3. Repeatable.")
]
Workers = Annotated[
    int | None, option("--workers", min=1, help="Number of processes.", shown="one a processor, for many claims")
]
Cluster = Annotated[
    str | None, option("--cluster", metavar="ADDRESS", help="A Dask scheduler: address, file, or local:N.")
]
TimeLimit = Annotated[
    str | None, option("--time-limit", metavar="TIME", help="Longest time of a claim or study, such as 10m.")
]
NoStore = Annotated[bool, option("--no-store", help="Neither read nor write the result store.")]


def where(workers: int | None, cluster: str | None, time_limit: str | None = None) -> Where:
    """What --workers, --cluster and --time-limit ask for."""
    from boundcheck.core.numbers import parse_seconds

    return Where(workers, cluster, None if time_limit is None else parse_seconds(time_limit, "--time-limit"))


def chosen_store(no_store: bool) -> Path | str | None:
    """The folder or URL of the result store, or None."""
    from boundcheck.core.places import store_place

    return None if no_store else store_place()


def pair(text: str, option: str, form: str) -> tuple[str, str]:
    """Name and value of a NAME=VALUE option. Raises BadInput for another form."""
    from boundcheck.errors import BadInput

    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise BadInput(f"{option} '{text}' is not of the form {form}.")
    return name, value


def pairs(texts: Sequence[str], option: str, form: str) -> dict[str, str]:
    """NAME=VALUE options. Raises BadInput for another form and for a name that is given twice."""
    from boundcheck.errors import BadInput

    found: dict[str, str] = {}
    for name, value in (pair(text, option, form) for text in texts):
        if name in found:
            raise BadInput(f"{option} gives {name} twice; give each once.")
        found[name] = value
    return found
