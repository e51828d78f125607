"""The page on specification files names what the code accepts: every kind, every parameter, every key."""

from __future__ import annotations

import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from boundcheck.engines.run import ENGINES
from boundcheck.errors import UnknownName
from boundcheck.evidence.limits import Limits, load_limits
from boundcheck.evidence.spec import ClaimSpec, RateSpec, TightnessSpec, claims_from_text
from boundcheck.methods import build as methods
from boundcheck.problems import build as problems
from boundcheck.verdict import Outcome

EXAMPLES = Path(__file__).parent.parent / "examples"
PAGE = (EXAMPLES / "README.md").read_text(encoding="utf-8")


def ticked(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", text))


@cache
def rows(first: str, heading: str) -> dict[str, tuple[str, ...]]:
    """The table below a heading whose first column is called so: first cell -> the other cells."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = section.split(f"| {first} |", 1)[1].split("\n\n", 1)[0]
    found: dict[str, tuple[str, ...]] = {}
    for line in table.splitlines()[2:]:
        name, *others = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])
        assert name not in found
        found[name] = tuple(others)
    return found


def parameters(package: str, kind: str) -> dict[str, inspect.Parameter]:
    build: Any = importlib.import_module(f"{package}.{kind}").build
    return dict(inspect.signature(build).parameters)


CASES = [(methods, "Methods"), (problems, "Problems")]


@pytest.mark.parametrize(("module", "heading"), CASES)
def test_every_kind_and_parameter_is_listed(module: ModuleType, heading: str) -> None:
    listed = rows("kind", heading)
    assert set(listed) == {f"`{kind}`" for kind in module.kinds()}
    package = module.__name__.rpartition(".")[0]
    for kind in module.kinds():
        names, meaning = listed[f"`{kind}`"]
        expected = parameters(package, kind)
        assert ticked(names) == set(expected), kind
        needed = {name for name, p in expected.items() if p.default is inspect.Parameter.empty}
        assert set(re.findall(r"\*\*`(\w+)`\*\*", names)) == needed, kind
        assert meaning


def test_every_participation_is_listed() -> None:
    private = importlib.import_module("boundcheck.methods._participation")
    with pytest.raises(UnknownName) as error:
        private.participation_from("no such kind")
    listed = rows("kind", "Participation")
    assert set(listed) == {f"`{kind}`" for kind in error.value.known}
    for kind in error.value.known:
        with pytest.raises(UnknownName) as error:
            private.participation_from({"kind": kind, "no such parameter": 1})
        names = ticked(listed[f"`{kind}`"][0])
        assert (names or {"none"}) == set(error.value.known), kind


def test_every_form_of_momentum_is_listed() -> None:
    family = importlib.import_module("boundcheck.methods._family")
    with pytest.raises(UnknownName) as error:
        family.momentum_from({"a": 1, "no such key": 1})
    listed = rows("key", "Methods")
    assert set(listed) == {f"`{key}`" for key in error.value.known}
    assert {f'"{form}"' for form in family.FORMS} <= ticked(*listed["`form`"])
    starts = importlib.import_module("boundcheck.methods.parts.momentum").STARTS
    assert {f'"{start}"' for start in starts} <= ticked(*listed["`start`"])


def test_every_split_is_listed() -> None:
    split = importlib.import_module("boundcheck.problems._split")
    listed = rows("split", "Problems")
    assert {name: ticked(cells[0]) for name, cells in listed.items()} == {
        f"`{name}`": set(reads) for name, reads in split.READS.items()
    }


def test_every_key_is_listed() -> None:
    listed = rows("key", "Keys of a claim")
    assert set(listed) == {f"`{key}`" for key in ClaimSpec.model_fields}
    assert {f'"{engine}"' for engine in ENGINES} <= ticked(*listed["`engine`"])
    assert {f'"{outcome}"' for outcome in Outcome} <= ticked(*listed["`expect`"])
    for key, model in (("`tightness`", TightnessSpec), ("`rate`", RateSpec)):
        assert set(re.findall(r"(\w+) = ", listed[key][0])) == set(model.model_fields)
    assert set(rows("key", "Where methods end")) == {f"`{key}`" for key in Limits.model_fields}


def test_the_files_shown_are_valid(tmp_path: Path) -> None:
    claims, limits = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert len(claims_from_text(claims + limits)) == 2
    file = tmp_path / "spec.toml"
    file.write_text(claims + limits, encoding="utf-8")
    assert [found.name for found in load_limits(file)] == ["Who is biased"]


def test_everything_in_the_folder_is_listed() -> None:
    there = {p.name for p in EXAMPLES.iterdir() if p.name != "README.md" and not p.name.startswith((".", "__"))}
    assert {f"`{name}`" for name in there} == set(rows("file", "What lies here"))
