"""Commands about what lies on this disk: data list, data fetch, clean."""

from __future__ import annotations

import hashlib
import importlib
from pathlib import Path
from typing import Annotated, Any

import typer

from boundcheck.cli._output import line, print_json, table

__all__ = ["register"]

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

# What is known of the data sets that problems can read: licence and where it comes from.
LICENCES = {
    "diabetes": "BSD-3-Clause, in the package scikit-learn",
}


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    group = typer.Typer(no_args_is_help=True, help="Data sets: what is there, and where from.", rich_markup_mode=None)
    group.command("list")(list_sets)
    group.command()(fetch)
    app.add_typer(group, name="data")
    app.command()(clean)


def _module(name: str) -> Any:
    from boundcheck.errors import UnknownName
    from boundcheck.problems.least_squares import DATA

    if name not in DATA:
        raise UnknownName("the data set", name, DATA)
    return importlib.import_module(f"boundcheck.problems.{name}")


def _facts(name: str) -> dict[str, Any]:
    """Rows, columns, files with checksums, licence, and whether it can be read on this machine."""
    from boundcheck.errors import DataNotFetched

    module = _module(name)
    found: dict[str, Any] = {
        "name": name,
        "licence": LICENCES.get(name, "see the module"),
        "sha256": dict(module.FILES),
        "rows": None,
        "columns": None,
        "problem": "",
    }
    try:
        data = module.load()
    except DataNotFetched as error:
        return found | {"there": False, "problem": str(error)}
    return found | {"there": True, "rows": len(data.rows), "columns": len(data.names)}


def list_sets(as_json: Json = False) -> int:
    """The data sets, with checksum, licence and size.

    \b
    Example: boundcheck data list
    """
    from boundcheck.problems.least_squares import DATA

    facts = [_facts(name) for name in DATA]
    if as_json:
        print_json({"data": facts})
        return 0
    rows = [
        [
            f["name"],
            "yes" if f["there"] else "no",
            "-" if f["rows"] is None else f"{f['rows']} x {f['columns']}",
            f["licence"],
            ", ".join(f"{file} {digest[:12]}" for file, digest in f["sha256"].items()),
        ]
        for f in facts
    ]
    table(["data set", "there", "size", "licence", "sha256"], rows, styles=["", "outcome"])
    for f in facts:
        if f["problem"]:
            line(f["problem"])
    return 0


def fetch(
    name: Annotated[str, typer.Argument(help="The data set.", show_default=False)],
    source: Annotated[
        str, typer.Option("--from", metavar="DIR", help="A folder that holds its files.", show_default=False)
    ] = "",
    as_json: Json = False,
) -> int:
    """Makes sure that a data set is here.

    Its files must have the expected checksums. --from copies them from a folder into the data cache.

    \b
    Example: boundcheck data fetch diabetes
    """
    module = _module(name)
    copied: list[str] = []
    if source:
        copied = _copy(name, module.FILES, Path(source))
        cached = getattr(module.load, "cache_clear", None)
        if cached is not None:
            cached()
    data = module.load()  # checks the checksums and says what is wrong
    if as_json:
        print_json({**_facts(name), "copied": copied})
        return 0
    for path in copied:
        line(f"copied: {path}")
    line(f"{name} is there: {len(data.rows)} rows of {len(data.names)} columns, checksums as expected.")
    return 0


def _copy(name: str, files: dict[str, str], folder: Path) -> list[str]:
    """Checks all files before the first is copied; raises BadInput naming the file that is missing or another."""
    from boundcheck.cli._files import write_whole
    from boundcheck.core.places import data_dir, prepare, reason
    from boundcheck.errors import BadInput, StoreError

    contents: dict[str, bytes] = {}
    for file, digest in files.items():
        try:
            contents[file] = (folder / file).read_bytes()
        except OSError as error:
            raise BadInput(
                f"{folder / file}, which the data set '{name}' needs, cannot be read: {reason(error)}."
            ) from error
        found = hashlib.sha256(contents[file]).hexdigest()
        if found != digest:
            raise BadInput(f"{folder / file} has the sha256 {found[:16]}..., not the expected {digest[:16]}...")
    place = prepare(data_dir()) / name
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {place} cannot be made: {reason(error)}.") from error
    for file, content in contents.items():
        write_whole(place / file, content)
    return [str(place / file) for file in contents]


def clean(
    store: Annotated[bool, typer.Option("--store", help="Empty the result store.")] = False,
    data: Annotated[bool, typer.Option("--data", help="Empty the data cache.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Empty both.")] = False,
    as_json: Json = False,
) -> int:
    """Shows and empties the result store and the data cache.

    Without an option nothing is removed.

    \b
    Example: boundcheck clean --store
    """
    from boundcheck.core.places import data_dir, empty, store_dir, usage

    wanted = {"store": store or everything, "data": data or everything}
    found: dict[str, dict[str, Any]] = {}
    for what, place in (("store", store_dir()), ("data", data_dir())):
        files, size = empty(place) if wanted[what] else usage(place)
        found[what] = {"folder": str(place), "files": files, "bytes": size, "emptied": wanted[what]}
    if as_json:
        print_json(found)
        return 0
    rows = [
        [what, f["folder"], str(f["files"]), f"{f['bytes'] / 1e6:.1f} MB", "emptied" if f["emptied"] else "kept"]
        for what, f in found.items()
    ]
    table(["what", "folder", "files", "size", ""], rows)
    if not any(wanted.values()):
        line("`boundcheck clean --store`, `--data` or `--all` empties them.")
    return 0
