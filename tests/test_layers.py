"""The layer table: an import may only point down it, and each layer has its third-party packages."""

from __future__ import annotations

import ast
import importlib.util
import sys
from functools import partial
from pathlib import Path

import pytest

from boundcheck.core import providers
from tests.layer_table import LAYERS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "boundcheck"
GROUPS = (providers.PROBLEMS, providers.DATA, providers.ENGINES, providers.STUDIES)

ORDER = list(LAYERS)
WORDS = {"verdict", "errors", "_version"}
FACES = {"__init__", "__main__", "cli", "pytest_plugin", "old_names", "report"}
SEARCH = {"adapters", "falsify", "judge", "sweeps", "worst_case"}


def layer_of(module: str) -> str:
    """The layer of a dotted module name below `boundcheck` (or of a derivation)."""
    head = module.split(".")[1] if "." in module else "__init__"
    if head in WORDS:
        return "words"
    if head in FACES:
        return "faces"
    if head in SEARCH:
        return "search"
    return "derivations" if head == "_derivations" else head


def sources() -> list[tuple[Path, str]]:
    found: list[tuple[Path, str]] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(p for p in parts if p != "__init__")
        found.append((path, layer_of(name)))
    found += [(p, "derivations") for p in sorted((ROOT / "derivations").rglob("*.py"))]
    return found


def imports_of(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            base = node.module or ""
            if base == "boundcheck" or base.startswith("derivations"):
                names |= {f"{base}.{a.name}" for a in node.names}
            else:
                names.add(base)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            named = node.args[0]
            if isinstance(named, ast.Constant) and isinstance(named.value, str):
                names.add(named.value)
    return names


def refused(path: Path, layer: str) -> list[str]:
    """What is wrong with the imports of a file of that layer."""
    found: list[str] = []
    for name in sorted(imports_of(path)):
        top = name.split(".")[0]
        if top == "boundcheck":
            allowed = ORDER.index(layer_of(name)) >= ORDER.index(layer)
        elif top == "derivations":  # they may not import one another
            allowed = False
        else:
            allowed = top in sys.stdlib_module_names or top in LAYERS[layer]
        if not allowed:
            found.append(f"{path.relative_to(ROOT)}: {layer} may not import {name}")
    return found


@pytest.mark.parametrize("layer", ORDER)
def test_imports_point_down(layer: str) -> None:
    files = [path for path, own in sources() if own == layer]
    assert files
    assert [fault for path in files for fault in refused(path, layer)] == []


def test_the_room_of_networks_is_reached_through_providers_alone() -> None:
    """Its name stands in the registrations of the package's `__init__`, and in no room below it, not even as text."""
    below = ORDER[ORDER.index("networks") + 1 :]
    assert [str(p) for p, layer in sources() if layer in below and "boundcheck.networks" in p.read_text()] == []
    registered = {
        name for group in GROUPS for name in map(partial(providers.module_name, group), providers.names(group))
    }
    assert {"boundcheck.networks.provider", "boundcheck.networks.problem", "boundcheck.networks.study"} <= registered
    assert all(importlib.util.find_spec(name) for name in registered if name is not None)


def test_numpy_in_theory_stays_in_evaluation() -> None:
    users = {
        p.name for p in (PACKAGE / "theory").glob("*.py") if any(i.split(".")[0] == "numpy" for i in imports_of(p))
    }
    assert users <= {"arrays.py", "evaluation.py", "largest.py", "walk.py"}


def test_every_layer_folder_is_known() -> None:
    folders = {p.name for p in PACKAGE.iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    assert folders - FACES - SEARCH <= set(LAYERS)
    assert {layer for _, layer in sources()} == set(LAYERS)  # no file is in none of them


def test_the_check_sees_an_upward_import() -> None:
    assert imports_of(PACKAGE / "networks" / "engine" / "device.py") >= {"torch"}
    assert ORDER.index(layer_of("boundcheck.evidence.compare")) < ORDER.index(layer_of("boundcheck.theory.statement"))
