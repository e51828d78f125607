"""Statements from a file or folder that is given by its path, without an installation."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from boundcheck.core import offered
from boundcheck.core.loaded import LOADED, Loaded, digest_of, sources_of
from boundcheck.errors import BadInput
from boundcheck.theory import discovery
from boundcheck.theory.statement import Statement


def load_paper(path: Path | str) -> list[Statement]:
    """Runs a Python file, or the modules of a folder, and gives the statements that they hold, all readings.

    path: a file that exports `theorem` or `theorems`, or a folder of such files (`boundcheck.theory.discovery`). Ids of
    a file that stands alone are `<file>/<statement>/<reading>`, also where its folder is given; the one theorem of a
    file has the name of the file. A folder with `__init__.py` or `definitions.py`, or whose modules import each other,
    is one paper: ids are `<folder>/<file>/<reading>`, also where one of its files is given. What has been loaded and
    has changed since is loaded anew. Witnesses and names of stored runs hold a digest of its bytes.

    Raises BadInput where the path does not exist or is neither, its name is taken or not allowed, an import raises an
    exception, or there is no statement.
    """
    place = Path(path).expanduser().resolve()
    if place.is_dir() and not _is_paper(place) and (files := sorted(f for f in place.glob("*.py") if f.is_file())):
        return [s for file in files if not file.name.startswith("_") for s in load_paper(file)]
    if place.suffix == ".py" and place.is_file() and _is_marked(place.parent):
        name = _name(place.parent)
        _load(Loaded(name, str(place.parent), _digest(place.parent), _load_again))
        return [
            s for s in discovery.all_statements(name) if discovery.module_of(name, s.name) == f"{name}.{place.stem}"
        ]
    name = _name(place)
    _load(Loaded(name, str(place), _digest(place), _load_again))
    return list(discovery.all_statements(name))


def _is_marked(folder: Path) -> bool:
    return (folder / "__init__.py").is_file() or (folder / f"{discovery.SHARED}.py").is_file()


def _is_paper(folder: Path) -> bool:
    """Whether the modules of a folder belong together, so that its name begins their ids."""
    own = re.compile(rb"^\s*from\s+(\.|%s\.)" % re.escape(folder.name.encode()), re.MULTILINE)
    return _is_marked(folder) or any(own.search(content) for content in sources_of(folder).values())


def unload(name: str) -> None:
    """Forgets a loaded paper; nothing happens where none has this name."""
    if LOADED.pop(name, None) is not None:
        offered.withdraw(name)
        _forget(name)


def _load_again(path: str, digest: str) -> None:
    """The same in a worker process. Raises BadInput where the file has changed in the meantime."""
    place = Path(path)
    now = _digest(place)
    if now != digest:
        raise BadInput(f"{path} changed while its statements were used; start again.")
    _load(Loaded(_name(place), path, digest, _load_again))


def _load(wanted: Loaded) -> None:
    name, place = wanted.name, Path(wanted.path)
    known = LOADED.get(name)
    if known == wanted:
        return
    if known is None and name in discovery.papers():
        raise BadInput(f"{place} cannot be loaded: the paper '{name}' exists already; choose another name for it.")
    if known is not None and known.path != wanted.path:
        raise BadInput(f"{place} cannot be loaded: {known.path} has the same name, and is loaded; rename one of them.")
    if known is None:
        _check_free(name, place)
    LOADED[name] = wanted
    _forget(name)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    try:
        provides = offered.take(discovery.imported(name))
        if not provides and not any(True for _ in discovery.all_statements(name)):
            raise BadInput("it holds no module with `theorem` or `theorems`, and no `methods` or `problems`.")
    except BadInput as error:
        unload(name)
        inner = place / place.name  # the package, where the folder of its project was given
        hint = f" Do you mean {inner}?" if inner.is_dir() else ""
        raise BadInput(f"{place} cannot be loaded: {error}{hint}") from error


def _name(place: Path) -> str:
    """The name of the paper that a path holds. Raises BadInput for a path that holds none."""
    if not place.exists():
        raise BadInput(f"{place} cannot be loaded: there is no such file or folder.")
    if place.is_file() and place.suffix != ".py":
        raise BadInput(f"{place} cannot be loaded: it is no Python file (.py), and no folder of such files.")
    name = place.stem if place.is_file() else place.name
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise BadInput(
            f"{place} cannot be loaded: ids begin with its name, and '{name}' is not allowed in them; rename it, with "
            "letters, digits and _, such as my_paper."
        )
    return name


def _digest(place: Path) -> str:
    try:
        return digest_of(place)
    except OSError as error:
        raise BadInput(f"{place} cannot be loaded: {error.strerror}.") from error


def _check_free(name: str, place: Path) -> None:
    """Raises BadInput where another Python module has the name: it would be hidden by the loaded one."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a module without a spec, such as __main__
        spec = None
    if spec is None:
        return
    there = [spec.origin, *(spec.submodule_search_locations or ())]
    if not any(own is not None and Path(own).resolve() in (place, place / "__init__.py") for own in there):
        raise BadInput(f"{place} cannot be loaded: '{name}' is the name of another Python module; rename it.")


def _forget(name: str) -> None:
    for module in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
        del sys.modules[module]
    discovery.forget()


class _Finder:
    """Finds the modules of loaded files, and of loaded folders, for Python's import."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module whose first name is that of a loaded paper; None for any other."""
        first, *rest = fullname.split(".")
        found = LOADED.get(first)
        if found is None:
            return None
        place = Path(found.path).joinpath(*rest)
        if place.is_dir():
            inner = place / "__init__.py"
            if inner.is_file():
                return self._spec(fullname, inner, [str(place)])
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [str(place)]
            return spec
        file = place if not rest else place.with_suffix(".py")
        return self._spec(fullname, file, None) if file.is_file() else None

    @staticmethod
    def _spec(fullname: str, file: Path, folder: list[str] | None) -> ModuleSpec | None:
        loader = _Loader(fullname, str(file))
        return importlib.util.spec_from_file_location(fullname, file, loader=loader, submodule_search_locations=folder)


class _Loader(SourceFileLoader):
    """Compiles the source as it is now: compiled files beside it are neither read nor written."""

    def get_code(self, fullname: str) -> CodeType:
        file = self.get_filename(fullname)
        return self.source_to_code(self.get_data(file), file)
