"""The reference names what the code accepts, and the tables of the README and the examples are whole."""

from __future__ import annotations

import html
import importlib
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import boundcheck
from boundcheck.cli import main
from boundcheck.core.toml_lines import parse_toml
from boundcheck.errors import UnknownName
from boundcheck.evidence.claim_spec import ClaimSpec
from boundcheck.evidence.limits import Limits, load_limits
from boundcheck.evidence.studies import carry_out_study, kinds, load_studies
from boundcheck.methods import build as methods
from boundcheck.problems import build as problems
from boundcheck.setting.metrics import of_a_round
from boundcheck.theory.discovery import all_statements
from docs.hooks import generate

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
VALUES = "Step sizes, local work, momentum, times"
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "reference" / "values.md").read_text(encoding="utf-8")
HOW_TO = (ROOT / "docs" / "how-to" / "specification.md").read_text(encoding="utf-8")


def ticked(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", text))


@cache
def rows(first: str, heading: str, page: str = PAGE) -> dict[str, tuple[str, ...]]:
    """The table below a heading whose first column is called so: first cell -> the other cells."""
    section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = section.split(f"| {first} |", 1)[1].split("\n\n", 1)[0]
    found: dict[str, tuple[str, ...]] = {}
    for line in table.splitlines()[2:]:
        name, *others = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])
        assert name not in found
        found[name] = tuple(others)
    return found


@pytest.mark.parametrize("make", [generate.methods, generate.problems, generate.metrics, generate.specification])
def test_every_kind_metric_and_key_has_a_meaning(make: Callable[[], str]) -> None:
    """The generators end the build where one has none; here what they write is held against the code."""
    text = make()
    names = {
        generate.methods: methods.kinds(),
        generate.problems: problems.kinds(),
        generate.metrics: ("gap", "dist2", "grad2", "x", *of_a_round()),
        generate.specification: (*ClaimSpec.model_fields, *Limits.model_fields, *kinds()),
    }[make]
    assert all(any(f"`{name}{end}" in text for end in "`[:") or f"`[[{name}]]`" in text for name in names)


def test_the_page_of_methods_is_the_table_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--methods", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["methods"]
    page = dict(
        re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", html.unescape(generate.methods()), re.DOTALL | re.MULTILINE)
    )
    assert set(page) == {kind["method"] for kind in listed} == set(methods.kinds())
    for kind in listed:
        text = page[kind["method"]]
        assert kind["text"] in text
        assert ", ".join(filter(None, (kind["paper"], kind["equation"]))) in text
        cells = [[c.strip() for c in line[1:-1].split(" | ")] for line in text.splitlines() if line.startswith("| ")]
        told = [(c[0].strip("*`"), c[0].startswith("*"), c[1].strip("`"), *c[2:]) for c in cells[2:]]
        own = [
            tuple(p[k] for k in ("name", "needed", "default", "meaning", "allowed", "unit")) for p in kind["parameters"]
        ]
        assert told == own
        assert kind["paper"], kind["method"]
        assert all(p["meaning"] and p["allowed"] for p in kind["parameters"]), kind["method"]


def test_every_command_and_constant_is_in_the_reference() -> None:
    text = generate.cli()
    assert all(f"\n## {name}" in f"\n{text}" for name in ("check", "falsify", "report", "data fetch", "new paper"))
    assert all(f"`{key.key}`" in generate.constants() for key in boundcheck.constants())
    assert all(f"::: boundcheck.{name}\n" in generate.api() for name in ("statement", "run", "compare", "falsify"))


def test_every_participation_is_listed() -> None:
    private = importlib.import_module("boundcheck.methods.parameters")
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
    family = importlib.import_module("boundcheck.methods.kinds.fedshuffle")
    with pytest.raises(UnknownName) as error:
        family.momentum_from({"a": 1, "no such key": 1})
    listed = rows("key", VALUES)
    assert set(listed) == {f"`{key}`" for key in error.value.known}
    assert {f'"{form}"' for form in family.FORMS} <= ticked(*listed["`form`"])
    starts = importlib.import_module("boundcheck.methods.parts.momentum").STARTS
    assert {f'"{start}"' for start in starts} <= ticked(*listed["`start`"])


def test_every_form_of_update_times_is_listed() -> None:
    private = importlib.import_module("boundcheck.methods.kinds.asynchronous")
    listed = rows("times", VALUES)
    with pytest.raises(UnknownName) as error:
        private.times_from("no such times")
    named = {parse_toml(f"times = {cell.strip('`')}", "page").data["times"] for cell in listed if cell[1] == '"'}
    tables = [parse_toml(f"times = {cell.strip('`')}", "page").data["times"] for cell in listed if cell[1] != '"']
    assert named | {t["kind"] for t in tables if isinstance(t, dict)} == set(error.value.known)
    for given in (*named, *tables):
        private.times_from(given).of(2 if isinstance(given, dict) else 3)
    assert all(f'"{way}"' in PAGE for way in (*private.WEIGHTS, *private.schedules.TIES))


def test_every_solver_and_decay_is_listed() -> None:
    private = importlib.import_module("boundcheck.methods.kinds.proximal")
    for cell in rows("solver", VALUES):
        private.solver_from(1, parse_toml(f"solver = {cell.strip('`')}", "page").data["solver"])
    decays = importlib.import_module("boundcheck.methods.parts.correction").DECAYS
    assert all(f'"{decay}"' in PAGE for decay in (*decays, *private.SIZED))


def test_every_split_is_listed() -> None:
    split = importlib.import_module("boundcheck.problems._split")
    listed = rows("split", "Data sets")
    assert {name: ticked(cells[0]) for name, cells in listed.items()} == {
        f"`{name}`": set(reads) for name, reads in split.READS.items()
    }


def test_the_pages_shown_come_out(tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml title=\"pages.toml\"\n(.*?)```", HOW_TO, re.DOTALL)
    file = tmp_path / "spec.toml"
    file.write_text(text, encoding="utf-8")
    assert [found.name for found in load_limits(file)] == ["Who is biased"]
    asked = load_studies(file)
    assert [a.kind for a in asked] == [kind for kind in kinds() if kind != "training"]
    compared, weights, schemes, cycles = map(carry_out_study, asked)
    assert {name.rpartition("/")[0] for _, name, *_ in compared.tables[0].rows} == {
        "fedshuffle/theorem_5_1_strongly_convex",
        "classics/gradient_descent_strongly_convex",
    }
    assert weights.tables[0].rows
    assert [row[1] for row in schemes.tables[0].rows]
    assert cycles.data["equal"] is True  # FedFix-1/2 on equal hardware is synchronous FedAvg with eta_g = 2


def test_everything_in_the_folder_is_listed() -> None:
    there = {p.name for p in EXAMPLES.iterdir() if not p.name.startswith((".", "__"))}
    assert {f"`{name}`" for name in there} == set(rows("file", "Files in `examples/`", HOW_TO))


def test_the_readme_lists_the_papers() -> None:
    listed = re.findall(r"^\|.*\| `(\w+)` \|$", README, re.MULTILINE)
    assert set(listed) == {s.id.partition("/")[0] for s in all_statements()}
