"""Digests of Python sources over their syntax trees: white space, comments and docstrings change none."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from typing import Any

# neither meaning nor, across versions of Python, steady: uses of a name, prefixes such as u"", comments on types
_LEFT_OUT = frozenset({"ctx", "kind", "type_comment"})


def syntax_digest(tree: ast.AST) -> str:
    """SHA-256 (64 hexadecimal digits) of a syntax tree without positions, docstrings and comments.

    A text that stands alone as a statement counts as a docstring wherever it stands: it is never carried out.
    """
    parts: list[str] = []
    _write(tree, parts)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _write(node: Any, parts: list[str]) -> None:
    """Appends the tree in one order: node types, names of the fields that are not empty, and values."""
    kind = type(node)
    parts.append(f"({kind.__name__}")
    for name in kind._fields:
        value = getattr(node, name, None)
        if (value is None and kind is not ast.Constant) or name in _LEFT_OUT:
            continue
        if isinstance(value, list):
            kept = [item for item in value if not _is_docstring(item)]
            if kept:
                parts.append(f"{name}[")
                for item in kept:
                    _write_value(item, parts)
                parts.append("]")
        else:
            parts.append(name)
            _write_value(value, parts)
    parts.append(")")


def _write_value(value: Any, parts: list[str]) -> None:
    if isinstance(value, ast.AST):
        _write(value, parts)
    else:
        parts.append(repr(value))


def _is_docstring(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def imported_modules(tree: ast.Module) -> Iterator[str]:
    """Absolute names that a module imports at its top level, as modules or from modules; each may be no module.

    What functions import when they are called is left out, and so is what only a type checker sees.
    """
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            waiting.extend(node.orelse)
        elif isinstance(node, ast.Module | ast.If | ast.Try | ast.ExceptHandler | ast.With | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))
