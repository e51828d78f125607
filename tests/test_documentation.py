"""The page on specification files names what the code accepts: every kind, every parameter, every key."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from boundcheck.core.toml_lines import parse_toml
from boundcheck.engines.run import ENGINES
from boundcheck.errors import UnknownName
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.claim_spec import ClaimSpec, RateSpec, TightnessSpec
from boundcheck.evidence.limits import Limits, load_limits
from boundcheck.evidence.spec import claims_from_text
from boundcheck.evidence.studies import carry_out_study, kinds, load_studies, module_of
from boundcheck.methods import build as methods
from boundcheck.problems import build as problems
from boundcheck.setting.metrics import ROUND_METRICS
from boundcheck.theory.discovery import all_statements
from boundcheck.verdict import Outcome

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
README = (ROOT / "README.md").read_text(encoding="utf-8")
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


def parameters(module: ModuleType, kind: str) -> dict[str, inspect.Parameter]:
    if module is methods:
        return dict(inspect.signature(methods.kind_of(kind).parts).parameters)
    build: Any = importlib.import_module(problems.module_name(kind)).build
    return dict(inspect.signature(build).parameters)


CASES = [(methods, "Methods"), (problems, "Problems")]


@pytest.mark.parametrize(("module", "heading"), CASES)
def test_every_kind_and_parameter_is_listed(module: ModuleType, heading: str) -> None:
    listed = rows("kind", heading)
    assert set(listed) == {f"`{kind}`" for kind in module.kinds()}
    for kind in module.kinds():
        names, meaning = listed[f"`{kind}`"]
        expected = parameters(module, kind)
        assert ticked(names) == set(expected), kind
        needed = {name for name, p in expected.items() if p.default is inspect.Parameter.empty}
        assert set(re.findall(r"\*\*`(\w+)`\*\*", names)) == needed, kind
        assert meaning


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
    listed = rows("key", "Methods")
    assert set(listed) == {f"`{key}`" for key in error.value.known}
    assert {f'"{form}"' for form in family.FORMS} <= ticked(*listed["`form`"])
    starts = importlib.import_module("boundcheck.methods.parts.momentum").STARTS
    assert {f'"{start}"' for start in starts} <= ticked(*listed["`start`"])


def test_every_form_of_update_times_is_listed() -> None:
    private = importlib.import_module("boundcheck.methods.kinds.asynchronous")
    listed = rows("times", "Methods")
    with pytest.raises(UnknownName) as error:
        private.times_from("no such times")
    named = {parse_toml(f"times = {cell.strip('`')}", "page").data["times"] for cell in listed if cell[1] == '"'}
    tables = [parse_toml(f"times = {cell.strip('`')}", "page").data["times"] for cell in listed if cell[1] != '"']
    assert named | {t["kind"] for t in tables if isinstance(t, dict)} == set(error.value.known)
    for given in (*named, *tables):
        private.times_from(given).of(2 if isinstance(given, dict) else 3)
    assert all(f'"{way}"' in PAGE for way in (*private.WEIGHTS, *private.TIES))


def test_every_solver_and_decay_is_listed() -> None:
    private = importlib.import_module("boundcheck.methods.kinds.proximal")
    for cell in rows("solver", "Methods"):
        private.solver_from(1, parse_toml(f"solver = {cell.strip('`')}", "page").data["solver"])
    decays = importlib.import_module("boundcheck.methods.parts.correction").DECAYS
    assert all(f'"{decay}"' in PAGE for decay in (*decays, *private.SIZED))


def test_every_metric_is_listed() -> None:
    of_a_point = {"gap", "dist2", "grad2", "x"}
    for spec in ({"kind": "fedshuffle_36"}, {"kind": "feddane_1d"}, {"kind": "huber"}):
        assert set(problems.build(spec).metrics) <= of_a_point
    assert set(rows("metric", "Metrics")) == {f"`{name}`" for name in of_a_point | set(ROUND_METRICS)}


def test_every_page_that_compares_is_listed() -> None:
    listed = rows("table", "Pages that compare")
    assert set(listed) == {f"`{kind}`" for kind in kinds()}
    for kind in kinds():
        fields = module_of(kind).Spec.model_fields
        keys = listed[f"`{kind}`"][0]
        assert ticked(keys) == set(fields), kind
        needed = {name for name, field in fields.items() if field.is_required()}
        assert set(re.findall(r"\*\*`(\w+)`\*\*", keys)) == needed, kind


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


def shown(heading: str) -> str:
    """The specification below a heading."""
    section = PAGE.split(f"\n## {heading}\n")[1] if heading else PAGE
    return re.findall(r"```toml\n(.*?)```", section, re.DOTALL)[0]


def test_the_files_shown_are_valid(tmp_path: Path) -> None:
    claims, limits = shown(""), shown("Where methods end")
    assert len(claims_from_text(claims + limits)) == 2
    file = tmp_path / "spec.toml"
    file.write_text(claims + limits, encoding="utf-8")
    assert [found.name for found in load_limits(file)] == ["Who is biased"]


def test_the_bound_shown_guarantees_nothing_and_says_where_it_would() -> None:
    (claim,) = claims_from_text(shown("Bounds that guarantee nothing"))
    result = run_claim(claim)
    assert not result.failures
    assert result.verdict.outcome is Outcome.VACUOUS
    answer = re.sub(r"fails: .* is missed", "fails: (...) > 0 is missed", result.verdict.reason)
    assert f'"{answer}"' in " ".join(PAGE.split())


def test_the_pages_shown_come_out(tmp_path: Path) -> None:
    file = tmp_path / "spec.toml"
    file.write_text(shown("Pages that compare"), encoding="utf-8")
    asked = load_studies(file)
    assert [a.kind for a in asked] == list(kinds())
    compared, weights, schemes, cycles, training = map(carry_out_study, asked)
    assert {name.rpartition("/")[0] for _, name, *_ in compared.tables[0].rows} == {
        "fedshuffle/theorem_5_1_strongly_convex",
        "classics/gradient_descent_strongly_convex",
    }
    assert weights.tables[0].rows
    assert [row[1] for row in schemes.tables[0].rows]
    assert cycles.data["equal"] is True  # FedFix-1/2 on equal hardware is synchronous FedAvg with eta_g = 2
    assert {"FedAvg", "FedShuffle"} <= {cell for row in training.tables[0].rows for cell in row}


def test_everything_in_the_folder_is_listed() -> None:
    there = {p.name for p in EXAMPLES.iterdir() if p.name != "README.md" and not p.name.startswith((".", "__"))}
    assert {f"`{name}`" for name in there} == set(rows("file", "What lies here"))


def test_the_readme_counts_the_statements() -> None:
    readings = Counter(s.id.partition("/")[0] for s in all_statements())
    statements = Counter(id.partition("/")[0] for id in {s.id.rpartition("/")[0] for s in all_statements()})
    told = re.findall(r"^\|.*\| `(\w+)` \| (\d+) \| (\d+) \|$", README, re.MULTILINE)
    assert {(name, int(a), int(b)) for name, a, b in told} == {(n, statements[n], readings[n]) for n in readings}


def test_the_readme_runs_schedules_and_cycles() -> None:
    section = README.split("\n## Schedules, cycles")[1].split("\n## ")[0]
    (block,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=True)
    points, discrepancy = done.stdout.splitlines()
    assert (points, discrepancy) == ("((Fraction(13, 11),), (Fraction(10, 11),))", "[6.9453125 6.9453125]")


def test_make_report_draws_every_figure() -> None:
    named = re.search(r"FIGURES := ((?:.*\\\n)*.*)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert named is not None
    drawn = set(named[1].replace("\\\n", " ").split())
    assert drawn == {p.stem for p in (ROOT / "figures").glob("[!_]*.py")}
