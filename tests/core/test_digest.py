"""Digests of specifications and of code."""

import enum
import functools
import hashlib
import importlib
import json
import math
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from boundcheck.core import digest as module
from boundcheck.core.digest import Undigestible, canonical, code_digest, decode, digest, encode, run_key
from boundcheck.core.facts import differences, facts

ROOT = Path(module.__file__).parents[1]

leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8) | st.fractions()
keys = st.text(max_size=4) | st.sampled_from(["$float", "$fraction", "$int", "$dict"])
trees = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=8
)


@settings(deadline=None, max_examples=40)
@given(trees)
@example({"$float": 1})
@example([{"$dict": {"a": 1}}, 10**700 + 1, Fraction(1, 3), 0.1])
def test_every_value_comes_back(tree: Any) -> None:
    back = decode(json.loads(json.dumps(encode(tree))))
    assert back == tree
    assert canonical(back) == canonical(tree)


def test_canonical_text_by_hand() -> None:
    spec = {"b": [1, True, None], "a": {"eta": Fraction(1, 3), "x": 0.1}}
    text = '{"a":{"eta":{"$fraction":"1/3"},"x":{"$float":"0x1.999999999999ap-4"}},"b":[1,true,null]}'
    assert canonical(spec) == text
    assert digest(spec) == hashlib.sha256(text.encode()).hexdigest()
    assert canonical({"b": (1, True, None), "a": {"x": np.float64(0.1), "eta": Fraction(2, 6)}}) == text


def test_what_differs_has_another_digest() -> None:
    values: list[Any] = [1, 1.0, True, "1", Fraction(1), None, [1], [], {}, {"1": 1}, "", 0.0, -0.0, 0, False, [[]]]
    values += [{"$float": "0x1.0000000000000p+0"}, {"$dict": {"a": 1}}, math.inf, math.nan, 5e-324, "\ud800"]
    assert len({digest(v) for v in values}) == len(values)


def test_named_values_count_as_their_values() -> None:
    class Kind(enum.StrEnum):
        A = "a"

    class Number(enum.IntEnum):
        ONE = 1

    assert digest([Kind.A, Number.ONE, np.int64(2)]) == digest(["a", 1, 2])
    assert math.isnan(decode(encode(math.nan)))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda: None, "the specification is of type function, which"),
        ({"method": {"local": [1, print]}}, r"the specification\.method\.local\[1\] is of type builtin_function"),
        ({1: 2}, "the specification has the key 1, which is no text and"),
        (object(), "of type object, which"),
        ({"x": {1}}, r"the specification\.x is of type set, which"),
        (b"x", "of type bytes"),
        (1j, "of type complex"),
        (np.zeros(2), r"of type numpy\.ndarray"),
        (functools.reduce(lambda inner, _: [inner], range(101), []), "is nested more than 100 deep, which"),
    ],
)
def test_what_cannot_be_digested_says_so(value: object, message: str) -> None:
    with pytest.raises(Undigestible, match=message + r".* cannot be digested, so it is not stored\.$"):
        digest(value)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a package `plugpkg`, beside a module `plugmod`."""
    folder = tmp_path / "plugpkg"
    (folder / "inside").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "inside" / "part.py").write_text("x = 1\n")
    (folder / "notes.txt").write_text("no code")
    (tmp_path / "plugmod.py").write_text("y = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    forget()
    return folder


def forget() -> None:
    importlib.invalidate_caches()
    for cached in (module.plugins, module.sources_digest):
        cached.cache_clear()


@pytest.mark.parametrize(
    ("modules", "file", "counts"),
    [
        (["plugpkg.alpha"], "plugpkg/inside/part.py", True),
        (["plugpkg.alpha"], "plugpkg/new.py", True),
        (["plugpkg.alpha"], "plugpkg/notes.txt", False),
        (["plugpkg.alpha"], "plugmod.py", False),
        (["plugmod"], "plugmod.py", True),
        ([], "plugpkg/inside/part.py", False),
    ],
)
def test_the_sources_of_the_packages_of_modules_count(
    package: Path, modules: list[str], file: str, counts: bool
) -> None:
    before = code_digest(modules)
    assert code_digest([*modules, *modules]) == before
    (package.parent / file).write_text("x = 2\n")
    forget()
    assert (code_digest(modules) != before) is counts


def test_the_sources_of_plugins_count(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def points(group: str) -> list[Any]:
        dist = SimpleNamespace(name="my-plugin")
        own = SimpleNamespace(dist=dist, module="plugpkg.inside.part")
        return [own] if group == "boundcheck.problems" else []

    alone = code_digest(), facts.__wrapped__()
    monkeypatch.setattr(module, "entry_points", points)
    forget()
    seen = [alone, (code_digest(), facts.__wrapped__())]
    (package / "inside" / "part.py").write_text("x = 2\n")
    forget()
    seen.append((code_digest(), facts.__wrapped__()))
    monkeypatch.undo()
    forget()
    assert len({code for code, _ in seen}) == 3
    assert "my-plugin" not in seen[0][1]
    assert seen[1][1]["my-plugin"] != seen[2][1]["my-plugin"]
    assert "none" not in facts().values()  # of packages that every installation has


@pytest.mark.parametrize(
    ("rooms", "file", "counts"),
    [
        ((), "errors.py", True),
        ((), "cli/__init__.py", False),
        (("core",), "errors.py", False),
        (("core",), "core/store.py", True),
    ],
)
def test_all_of_boundcheck_but_its_faces_counts_or_some_rooms(
    monkeypatch: pytest.MonkeyPatch, rooms: tuple[str, ...], file: str, counts: bool
) -> None:
    """Whichever module is asked for."""
    assert (ROOT / file).is_file()
    before = code_digest(["boundcheck.core.numbers"], rooms)
    read_bytes = Path.read_bytes

    def changed(path: Path) -> bytes:
        return read_bytes(path) + (b"\nchanged = 1" if path == ROOT / file else b"")

    monkeypatch.setattr(Path, "read_bytes", changed)
    forget()
    assert (code_digest(["boundcheck.core.numbers"], rooms) != before) is counts
    monkeypatch.undo()
    forget()


def test_versions_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before, real = code_digest(), module.package_version
    for name in ("numpy", "numba"):
        monkeypatch.setattr(module, "package_version", lambda p, n=name: "0.0" if p == n else real(p))
        assert code_digest() != before
    assert real("no-such-package-here") is None


def test_the_digest_is_the_same_in_every_process_and_nothing_is_imported() -> None:
    code = (
        "import sys; from boundcheck.core.digest import run_key; print(run_key({'b': 1, 'a': 0.1}, ['tomllib']));"
        "print(sorted({'numpy', 'numba', 'tomllib'} & set(sys.modules)))"
    )
    seeded = os.environ | {"PYTHONHASHSEED": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=seeded)
    assert done.stdout == f"{run_key({'a': 0.1, 'b': 1}, ['tomllib'])}\n[]\n"


@pytest.mark.parametrize("name", ["__main__", "no_such_module_here", "sys"])
def test_modules_without_source(name: str) -> None:
    with pytest.raises(Undigestible, match=rf"the module '{name}' has no .* cannot be digested, so it is not stored\."):
        code_digest([name])


def test_differences_in_words() -> None:
    own = facts()
    assert differences(own) == ""
    there = {**own, "numpy": "0.1", "other": "2"}
    said = f"has numpy {own['numpy']} where the client has numpy 0.1, and has other none where the client has other 2"
    assert differences(there) == said
    assert differences({**there, "boundcheck": "0.0"}).count("where the client has") == 1
    code = "boundcheck code with digest"
    assert differences({**own, "code": "x"}) == f"has {code} {own['code']} where the client has {code} x"
