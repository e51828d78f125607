"""A theorem reads alone: its formulas and conditions stand in its own file, and papers share one definitions.py."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import boundcheck.papers

HOME = Path(str(boundcheck.papers.__file__)).parent
PAPERS = sorted(p.name for p in HOME.iterdir() if (p / "__init__.py").exists())
OTHERS = ("__init__.py", "definitions.py", "quantities.py", "theories.py")
FILES = sorted(p for p in HOME.glob("*/*.py") if p.name not in OTHERS)


def imported(tree: ast.Module) -> set[str]:
    """Names that the file takes from its paper's definitions."""
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    found: set[str] = set()
    for node in nodes:
        module = node.module or ""
        if module.startswith("boundcheck.papers"):
            for a in node.names:
                found |= set(vars(import_module(module))) if a.name == "*" else {a.asname or a.name}
    return found


def made(tree: ast.Module, name: str) -> Iterator[ast.Call]:
    """The calls of a class or function of this name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node


def argument(call: ast.Call, name: str, place: int) -> ast.expr | None:
    named = next((k.value for k in call.keywords if k.arg == name), None)
    return named if named is not None or len(call.args) <= place else call.args[place]


def written(expr: ast.expr, tree: ast.Module) -> ast.expr:
    """The expression; a name that the file defines stands for what the file says of it."""
    if isinstance(expr, ast.Name):
        for node in tree.body:
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == expr.id for t in node.targets):
                return node.value
    return expr


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_has_one_file_of_definitions(paper: str) -> None:
    private = [p.name for p in (HOME / paper).glob("_*.py") if p.name != "__init__.py"]
    assert private == []
    assert (HOME / paper / "definitions.py").exists()


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_bounds_and_conditions_stand_in_the_file(path: Path) -> None:
    """No bound or condition is made as a whole by something that must be looked up elsewhere."""
    tree = ast.parse(path.read_text())
    theirs = imported(tree)
    theorems, readings = list(made(tree, "Theorem")), list(made(tree, "Reading"))
    assert theorems
    assert readings
    found = [(b, "bound") for call in theorems if (b := argument(call, "bound", 99)) is not None]
    found += [(b, "bound") for call in readings if (b := argument(call, "bound", 0)) is not None]
    assert found
    found += [(r, "condition") for call in made(tree, "Condition") if (r := argument(call, "relation", 1)) is not None]
    for expr, what in found:
        formula = written(expr, tree)
        call = isinstance(formula, ast.Call) and isinstance(formula.func, ast.Name) and formula.func.id in theirs
        assert not call, f"the {what} is made by {ast.unparse(formula)[:60]}"
    for call in theorems:
        conditions = argument(call, "conditions", 99)
        called = isinstance(conditions, ast.Call) and isinstance(conditions.func, ast.Name)
        assert not called, f"the conditions are made by {ast.unparse(conditions or call)[:60]}"
