"""What problems answer: four protocols, and single answers by `optional` alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import boundcheck as bc
from boundcheck.problems import problem as asked
from boundcheck.problems.problem import OPTIONAL, Lazy, Quadratic, Stepped, optional

ROOT = Path(asked.__file__).parents[1]
LINE = {"kind": "quadratics", "clients": [{"A": [[1]], "b": [0]}]}
PIECES = {"kind": "piecewise_quadratics", "clients": [{"knots": [-1, 1], "slopes": [-1, 1]}]}
MANY = {"kind": "population", "clients": 10**6}


def _asks(tree: ast.Module) -> Iterator[int]:
    """Lines where a problem is asked by getattr or hasattr, or by a class of its own that says what it answers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr"):
            subject = ast.unparse(node.args[0])
            name = node.args[1]
            if subject.rpartition(".")[2] == "problem" and isinstance(name, ast.Constant):
                yield node.lineno
        if isinstance(node, ast.ClassDef) and {"Protocol"} & {ast.unparse(b) for b in node.bases}:
            members = {m.name for m in node.body if isinstance(m, ast.FunctionDef)}
            if members & ({*OPTIONAL, "forms", "gradient_of", "client_arrays", "constants"} - {"base", "sizes"}):
                yield node.lineno


def test_problems_are_asked_in_one_way() -> None:
    """Rooms may read what their own class has: the network of a task is no answer of a problem."""
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in ROOT.rglob("*.py")
        if path != Path(asked.__file__)
        for line in _asks(ast.parse(path.read_text()))
    }
    assert {entry.partition(":")[0] for entry in found} == {"networks/engine/task.py"}
    own = ast.parse(Path(asked.__file__).read_text())
    protocols = [n.name for n in own.body if isinstance(n, ast.ClassDef) and "Protocol" in map(ast.unparse, n.bases)]
    assert protocols == ["Problem", "Quadratic", "Stepped", "Lazy"]


def test_who_answers_what() -> None:
    kinds = [
        (isinstance(p, Quadratic), isinstance(p, Stepped), isinstance(p, Lazy))
        for p in map(bc.problem, (LINE, PIECES, MANY))
    ]
    assert kinds == [(True, False, False), (False, True, False), (False, False, True)]
    pieces = bc.problem(PIECES)
    assert optional(pieces, "slopes") is not None
    assert optional(pieces, "arrays") is None
    with pytest.raises(AssertionError, match="no_such"):
        optional(bc.problem(LINE), "no_such")
