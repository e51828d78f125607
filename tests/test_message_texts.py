"""Texts of messages: no placeholder of an f-string stands in a plain string, where it would be printed as it is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "boundcheck"
PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)(?:[.\[(][^{}=]*)?(?:![rsa])?(?::[^{}\s]*)?\}")
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def bound_in(node: ast.AST) -> set[str]:
    """The names that a function or a module binds itself: parameters, variables, imports, definitions."""
    names: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.arg):
            names.add(inner.arg)
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            names.add(inner.id)
    return names


def unfilled(source: str) -> list[tuple[int, str]]:
    """Lines and texts of plain strings with a placeholder {name} whose name is bound around them.

    A name that nothing binds there is no placeholder (LaTeX); a text that `format` fills is one on purpose.
    """
    found: list[tuple[int, str]] = []

    def visit(node: ast.AST, names: set[str]) -> None:
        if isinstance(node, ast.Attribute) and node.attr == "format":
            return
        body = getattr(node, "body", None)
        if isinstance(node, Function):
            names = names | bound_in(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            held = names if "\\" not in node.value else set[str]()  # in LaTeX braces are arguments
            found.extend((node.lineno, node.value) for m in PLACEHOLDER.finditer(node.value) if m[1] in held)
        for child in ast.iter_child_nodes(node):
            first = isinstance(body, list) and child is body[0]
            if first and isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue  # a docstring
            visit(child, names)

    tree = ast.parse(source)
    assigned = [s for s in tree.body if isinstance(s, ast.Assign | ast.AnnAssign)]
    visit(tree, {name for statement in assigned for name in bound_in(statement)})
    return found


def test_no_placeholder_is_left_unfilled() -> None:
    found: dict[str, list[tuple[int, str]]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if PLACEHOLDER.search(source):
            found[str(path.relative_to(PACKAGE))] = unfilled(source)
    assert len(found) > 100
    assert {path: texts for path, texts in found.items() if texts} == {}


def test_what_counts_as_unfilled() -> None:
    # of two pieces of one text each needs its own f
    wrong = "def f(count):\n    limit = 3\n    raise ValueError(f'{count} is not allowed; ' '1 to {limit} are.')\n"
    assert [line for line, _ in unfilled(wrong)] == [3]
    wrong = "def f(count):\n    limit = 3\n    raise ValueError('1 to {limit} are.')\n"
    assert unfilled(wrong) == [(3, "1 to {limit} are.")]
    assert unfilled("LIMIT = 3\ndef f():\n    return 'at most {LIMIT:.3g}'\n") == [(3, "at most {LIMIT:.3g}")]
    assert unfilled("def f(n):\n    return '{n}'.format(n=n) + r'\\mathrm{op}' + f'{n}'\n") == []
