"""Digests of specifications and of code."""

import enum
import hashlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundcheck.core.digest import Undigestible, canonical, code_digest, decode, digest, encode, run_key

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.fractions()
    | st.just(10**700 + 1)
)
keys = st.text(max_size=4) | st.sampled_from(["$float", "$fraction", "$int", "$dict"])
trees = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=8
)


@settings(deadline=None)
@given(trees)
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
    ],
)
def test_what_cannot_be_digested_says_so(value: object, message: str) -> None:
    with pytest.raises(Undigestible, match=message + r".* cannot be digested, so it is not stored\.$"):
        digest(value)


def test_endless_nesting_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(Undigestible, match="nested more than 100 deep"):
        digest(loop)


Packages = Callable[..., Path]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Packages:
    """A function that writes a package of this test, and forgets what was read."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(**sources: str) -> Path:
        folder = tmp_path / "plugpkg"
        folder.mkdir(exist_ok=True)
        for name, source in ({"__init__": ""} | sources).items():
            path = folder / f"{name.replace('__in__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(source)
        forget()
        return folder

    return write


def forget() -> None:
    import importlib

    from boundcheck.core import digest as module

    importlib.invalidate_caches()
    for name in ("_code_digest", "_find", "_module"):
        getattr(module, name).cache_clear()


FIRST = {
    "alpha": "from .beta import f\nimport math, nowhere\nfrom boundcheck.core import numbers\n",
    "beta": "from plugpkg.gamma import g\ndef f():\n    import plugpkg.delta as d\n    return d\n",
    "gamma": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import plugpkg.typed\ng = 1\n",
    "delta": "import importlib\nimportlib.import_module('plugpkg.lazy')\nfrom . import epsilon\n",
    "epsilon": "e = 1\n",
    "lazy": "z = 1\n",
    "typed": "t = 1\n",
    "aside": "a = 1\n",
}


@pytest.mark.parametrize("changed", ["alpha", "beta", "gamma", "delta", "epsilon", "lazy", "__init__"])
def test_a_change_anywhere_in_the_closure_counts(package: Packages, changed: str) -> None:
    package(**FIRST)
    before = code_digest(["plugpkg.alpha"])
    assert code_digest(["plugpkg.alpha", "plugpkg.alpha"]) == before
    package(**(FIRST | {changed: FIRST.get(changed, "") + "another = 1\n"}))
    assert code_digest(["plugpkg.alpha"]) != before
    package(**(FIRST | {changed: '"""A docstring."""\n\n' + FIRST.get(changed, "") + "# a comment   \n"}))
    assert code_digest(["plugpkg.alpha"]) == before
    package(**FIRST)
    assert code_digest(["plugpkg.alpha"]) == before


def test_what_a_face_loads_on_request_counts_only_for_those_who_ask(package: Packages) -> None:
    face = "def __getattr__(name):\n    from plugpkg import shown\n    return shown.f\nfrom .eager import e\n"
    sources = {"__init__": face, "eager": "e = 1\n", "shown": "f = 1\n", "inner": "x = 1\n"}
    sources |= {"asks": "from plugpkg import f\n", "submodule": "from plugpkg import inner\n"}
    package(**sources)
    before = {name: code_digest([f"plugpkg.{name}"]) for name in ("inner", "asks", "submodule")}
    package(**(sources | {"shown": "f = 2\n"}))
    after = {name: code_digest([f"plugpkg.{name}"]) for name in before}
    assert {name: before[name] != after[name] for name in before} == {"inner": False, "asks": True, "submodule": False}
    package(**(sources | {"eager": "e = 2\n"}))
    assert all(code_digest([f"plugpkg.{name}"]) != before[name] for name in before)


@pytest.mark.parametrize("changed", ["typed", "aside"])
def test_a_change_outside_does_not(package: Packages, changed: str) -> None:
    package(**FIRST)
    before = code_digest(["plugpkg.alpha"])
    package(**(FIRST | {changed: "other = 2\n"}))
    assert code_digest(["plugpkg.alpha"]) == before


def test_boundcheck_itself_is_followed(package: Packages, monkeypatch: pytest.MonkeyPatch) -> None:
    from boundcheck.core import digest as module

    package(**FIRST)
    before = code_digest(["plugpkg.alpha"])
    read_bytes = Path.read_bytes

    def changed(path: Path) -> bytes:
        return read_bytes(path) + (b"\nchanged = 1" if path.name == "errors.py" else b"")

    forget()
    monkeypatch.setattr(Path, "read_bytes", changed)
    assert code_digest(["plugpkg.alpha"]) != before  # alpha imports numbers, numbers imports errors
    monkeypatch.undo()
    forget()
    assert module.code_digest(["boundcheck.core.digest"]) != module.code_digest(["boundcheck.core.numbers"])


def test_versions_count(package: Packages, monkeypatch: pytest.MonkeyPatch) -> None:
    from boundcheck.core import digest as module

    package(**FIRST)
    before = code_digest(["plugpkg.alpha"])
    real = module.package_version
    for name in ("numpy", "numba"):
        forget()
        monkeypatch.setattr(module, "package_version", lambda p, n=name: "0.0" if p == n else real(p))
        assert code_digest(["plugpkg.alpha"]) != before
    assert real("no-such-package-here") is None


def test_nothing_is_imported() -> None:
    code = (
        "import sys; from boundcheck.core.digest import code_digest; code_digest(['boundcheck.core.store']);"
        "print(sorted({'numpy', 'numba', 'boundcheck.core.store'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_the_digest_is_the_same_in_every_process() -> None:
    code = "from boundcheck.core.digest import run_key; print(run_key({'b': 1, 'a': 0.1}, ['boundcheck.core.store']))"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout.strip()
        for seed in ("1", "2")
    }
    forget()
    assert outputs == {run_key({"a": 0.1, "b": 1}, ["boundcheck.core.store"])}


@pytest.mark.parametrize("name", ["__main__", "plugpkg.missing", "no_such_module_here", "math"])
def test_modules_without_source(package: Packages, name: str) -> None:
    package(**FIRST)
    with pytest.raises(Undigestible, match=rf"the module '{name}' has no .* cannot be digested, so it is not stored\."):
        code_digest([name])


def test_broken_source_is_said(package: Packages) -> None:
    package(broken="def (:\n")
    with pytest.raises(Undigestible, match=r"'plugpkg\.broken' has no readable Python source"):
        code_digest(["plugpkg.broken"])


def test_folders_without_init_and_deep_expressions(package: Packages) -> None:
    sums = "x = " + " + ".join(["1"] * 500) + "\n"
    package(sub__in__leaf="from .. import top\n", top=sums)
    before = code_digest(["plugpkg.sub.leaf"])
    package(sub__in__leaf="from .. import top\n", top=sums + "y = 1\n")
    assert code_digest(["plugpkg.sub.leaf"]) != before
