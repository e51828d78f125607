"""What a result depends on besides its specification."""

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from boundcheck.core import facts as module
from boundcheck.core.facts import facts, in_words


def test_the_code_of_plugins_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "part.py").write_text("x = 1\n")
    (tmp_path / "notes.txt").write_text("not code")

    def points(group: str) -> list[Any]:
        dist = SimpleNamespace(name="my-plugin")
        return [SimpleNamespace(dist=dist, module="my_plugin.problems")] if group == "boundcheck.problems" else []

    def spec_of(name: str) -> ModuleSpec:
        found = ModuleSpec(name, None, is_package=True)
        found.submodule_search_locations = [str(tmp_path)]
        return found

    monkeypatch.setattr(module, "entry_points", points)
    monkeypatch.setattr(module, "package_version", lambda _: "1.0")  # pyright: ignore[reportUnknownLambdaType]
    monkeypatch.setattr(importlib.util, "find_spec", spec_of)
    found: list[str] = []
    for file, text in (("inside/part.py", "x = 1\n"), ("notes.txt", "changed"), ("inside/part.py", "x = 2\n")):
        (tmp_path / file).write_text(text)
        found.append(facts.__wrapped__()["my-plugin"])
    assert found[0] == found[1] != found[2]
    assert found[0].startswith("1.0 with code ")


def test_facts_in_words() -> None:
    assert in_words("numpy", None) == "numpy none"
    assert in_words("precision", "64 bits") == "arithmetic with 64 bits"
    assert "none" not in facts().values()  # of packages that every installation has
