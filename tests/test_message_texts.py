"""Texts: no placeholder of an f-string stands in a plain string, and no phrase that the house style bans comes back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "boundcheck"
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


# Phrases of the house style's list, each with what a reader understands at once.
BANNED = {
    r"\btold\b": "said, reported, given, distinguished",
    r"\basked of\b": "required of, computed by",
    r"\bc[oa]me(?:s|n)? about\b": "be executed, arise",
    r"(?<!every )\bso many\b(?! \w+ that)": "this many",
    r"\bwhere there is none\b": "if there is none",
    r"\bcan be had\b": "exists, can be computed",
    r"\bof one's own\b": "a user's",
    r"\bwhatever the surroundings\b": "in every environment",
    r"\bwhat (?:it|they) comes? to\b": "the result",
    r"\bwhat (?:comes|came|became) of\b": "the result of",
    r"\bhas a walk of its own\b": "is evaluated separately",
}
# Texts that frozen data or tests of other rooms hold as they are: file -> phrases.
KEPT = {
    "boundcheck/judge/checks/trial.py": {"told"},
    "boundcheck/judge/findings.py": {"told"},
    "boundcheck/papers/async_fl/example_2.py": {"asked of"},
    "boundcheck/verify/boundcheck_verify.py": {"what became of"},
    "boundcheck/theory/assumptions.py": {"told"},
}
PAGES = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "figures/*.md", "examples/**/*.md", "examples/**/*.toml")
SOURCES = ("boundcheck/**/*.py", "docs/**/*.py", "figures/*.py", "benchmarks/*.py", "examples/**/*.py", "tests/**/*.py")


def texts(path: Path) -> Iterator[str]:
    """The texts of a page or of a source: docstrings, messages and comments; of a test file its docstrings alone."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield source
        return
    test = path.is_relative_to(ROOT / "tests")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and not isinstance(node, ast.Lambda):
            yield ast.get_docstring(node) or ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not test:
            yield node.value
    yield from (line for line in source.splitlines() if line.lstrip().startswith("#") and not test)


def found_in(path: Path) -> set[str]:
    """The banned phrases of a file."""
    whole = " ".join(path.read_text(encoding="utf-8").split())
    if not any(re.search(pattern, whole, re.IGNORECASE) for pattern in BANNED):
        return set()
    plain = [" ".join(text.split()) for text in texts(path)]
    return {hit[0].lower() for text in plain for pattern in BANNED for hit in re.finditer(pattern, text, re.IGNORECASE)}


@pytest.mark.parametrize("pattern", [*PAGES, *SOURCES])
def test_no_banned_phrase_comes_back(pattern: str) -> None:
    """Write the words of `BANNED` on the right, or the field's own."""
    found = {
        str(path.relative_to(ROOT)): found_in(path) for path in sorted(ROOT.glob(pattern)) if path != Path(__file__)
    }
    assert found
    assert {name: phrases for name, phrases in found.items() if phrases != KEPT.get(name, set())} == {}


def test_what_counts_as_banned(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("None where there\nis none; so many clients that none is kept. It came about.")
    assert found_in(page) == {"where there is none", "came about"}
