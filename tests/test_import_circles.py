"""No circles of imports: no two modules of the package import each other, directly or through others.

An import inside a function counts like one at the head of a file, and so does `import_module` of a name that is
written out; one under `if TYPE_CHECKING:` does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "boundcheck"


def modules() -> dict[str, Path]:
    """The file of each module of the package, by its dotted name."""
    found: dict[str, Path] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(p for p in parts if p != "__init__")] = path
    return found


def is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return name == "TYPE_CHECKING"


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes below `tree` but those that only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and is_type_checking(node.test):
            for other in node.orelse:
                yield other
                yield from statements(other)
            continue
        yield node
        yield from statements(node)


def imported(source: str, known: set[str]) -> set[str]:
    """The modules of `known` that a file imports; `from package import name` means the submodule if there is one."""
    found: set[str] = set()
    for node in statements(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                found.add(submodule if submodule in known else node.module)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            found |= {a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    return found & known


def circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """The sets of two or more modules that all reach one another (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in sorted(imports[module]):
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            component: list[str] = []
            while not component or component[-1] != module:
                component.append(stack.pop())
            if len(component) > 1:
                found.append(sorted(component))

    for module in sorted(imports):
        if module not in index:
            visit(module)
    return sorted(found)


def test_no_circles_of_imports() -> None:
    files = modules()
    assert circles({name: imported(path.read_text(), set(files)) for name, path in files.items()}) == []


def test_circles_are_found() -> None:
    known = {"a", "a.b", "a.c", "a.d"}
    imports = {
        "a": imported("if TYPE_CHECKING:\n    from a import c\n", known),
        "a.b": imported("def f():\n    from a import c\n", known),
        "a.c": imported("import a.d\n", known),
        "a.d": imported('import_module("a.b")\n', known),
    }
    assert imports == {"a": set(), "a.b": {"a.c"}, "a.c": {"a.d"}, "a.d": {"a.b"}}
    assert circles(imports) == [["a.b", "a.c", "a.d"]]
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
