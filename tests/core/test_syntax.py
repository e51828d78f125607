"""Digests of syntax trees: what a program does changes them, how it is written down does not."""

from __future__ import annotations

import ast

import pytest

from boundcheck.core.syntax import imported_modules, syntax_digest

PROGRAM = '''
"""A module."""
import math
LIMIT = 3  # rounds


def half(x: float, *, sign: int = 1) -> float:
    """Half of x."""
    return sign * (x + [0, None][0]) / 2
'''


def digest(text: str) -> str:
    return syntax_digest(ast.parse(text))


REWRITTEN = [
    PROGRAM.replace("  # rounds", ""),
    PROGRAM.replace('"""A module."""', ""),
    PROGRAM.replace('"""Half of x."""', '"""Another sentence."""'),
    PROGRAM.replace("[0, None][0]", "[\n        0,\n        None,\n    ][0]"),
    PROGRAM.replace("    ", "  ").replace("\n", "\n\n"),
    PROGRAM.replace("LIMIT = 3", "'''what LIMIT is'''\nLIMIT = (3)"),
]
CHANGED = [
    PROGRAM.replace("LIMIT = 3", "LIMIT = 3.0"),
    PROGRAM.replace("LIMIT", "BOUND"),
    PROGRAM.replace("/ 2", "// 2"),
    PROGRAM.replace("sign * (x + [0, None][0])", "sign * x + [0, None][0]"),
    PROGRAM.replace("[0, None]", "[0]"),
    PROGRAM.replace("*, sign", "sign"),
    PROGRAM.replace("= 1)", "= None)"),
    PROGRAM.replace("return", "yield"),
    PROGRAM.replace("import math", "from math import pi"),
    PROGRAM.replace("return sign", "return 0\n    return sign"),
]


@pytest.mark.parametrize("text", REWRITTEN)
def test_layout_comments_and_docstrings_change_nothing(text: str) -> None:
    assert text != PROGRAM
    assert digest(text) == digest(PROGRAM)


def test_every_change_of_the_program_is_seen() -> None:
    assert len({digest(text) for text in (PROGRAM, *CHANGED)}) == len(CHANGED) + 1


def test_a_return_without_value_and_keys_of_mappings() -> None:
    pairs = [("def f():\n return", "def f():\n return None"), ("a = {**b}", "a = {None: b}"), ("a = 1", "a = True")]
    for one, other in pairs:
        assert digest(one) != digest(other)


def test_imports_at_the_top_level() -> None:
    text = (
        "import a.b\nfrom c import d, e\nfrom . import g\nif TYPE_CHECKING:\n    import h\nelse:\n    import i\n"
        "try:\n    import j\nexcept ImportError:\n    import k\ndef f():\n    import l\nclass C:\n    import m\n"
    )
    assert set(imported_modules(ast.parse(text))) == {"a.b", "c", "c.d", "c.e", "i", "j", "k", "m"}
