"""Finding statements: ids, best readings, plug-ins by entry point, and the messages about broken plug-ins."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from boundcheck.errors import BadInput, UnknownName
from boundcheck.theory import discovery

HEADER = """
import sympy as sp
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Metric, Source
from boundcheck.theory.symbols import common
from boundcheck.theory.theorem import Reading, Theorem

def make(*readings, every=True, **more):
    named = {r: Reading() if r.startswith("as_printed") else Reading(replaces="a", why="b") for r in readings}
    return Theorem(source=Source("Mine", "Theorem 1", "page 1"), title="Mine", symbols=(common.gap_0, common.mu),
                   any_method=every, metric=Metric("gap", VALUE), bound=common.gap_0.expr / 2, readings=named, **more)
"""

Install = Callable[..., None]


def clear() -> None:
    discovery.papers.cache_clear()
    discovery._modules.cache_clear()
    discovery._exported.cache_clear()
    discovery.readings.cache_clear()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Write modules of a user's package and announce entry points; undone afterwards."""
    before = set(sys.modules)

    def put(files: dict[str, str], points: dict[str, str]) -> None:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found = [EntryPoint(name, value, discovery.GROUP) for name, value in points.items()]
        monkeypatch.setattr(discovery, "entry_points", lambda group: found if group == discovery.GROUP else [])
        monkeypatch.syspath_prepend(str(tmp_path))
        clear()

    clear()
    yield put
    for name in set(sys.modules) - before:
        if name.startswith("plugin_"):
            del sys.modules[name]
    clear()


def test_full_ids_and_best_readings() -> None:
    assert discovery.statement("scgd/theorem_3_3").id == "scgd/theorem_3_3/corrected"
    assert discovery.statement("scgd/theorem_3_3/as_printed_main").reading == "as_printed_main"
    assert "scgd/lemma_3_1/conservative" in discovery.all_ids()
    ids = discovery.all_ids()
    assert len(set(ids)) == len(ids)
    assert all(i.startswith("scgd/") for i in (s.id for s in discovery.all_statements("scgd")))


@pytest.mark.parametrize(
    ("id", "suggestion"),
    [
        ("scgd/theorem_3_2", "scgd/theorem_3_3"),
        ("scdg/theorem_3_3", "scgd/theorem_3_3"),
        ("scgd/theorem_3_3/corected", "scgd/theorem_3_3/corrected"),
        ("scgd", "scgd/"),
    ],
)
def test_unknown_ids_get_the_nearest(id: str, suggestion: str) -> None:
    with pytest.raises(BadInput) as caught:  # UnknownName, but for a paper's own name
        discovery.statement(id)
    known = caught.value.known if isinstance(caught.value, UnknownName) else ()
    assert suggestion in str(caught.value) or any(suggestion in k for k in known)
    with pytest.raises(UnknownName, match="scgd"):
        list(discovery.all_statements("scgdd"))


def test_a_package_of_statements_by_entry_point(install: Install) -> None:
    install(
        {
            "plugin_a/__init__.py": "",
            "plugin_a/theorem_1.py": HEADER + "theorem = make('as_printed', 'corrected', best='as_printed')\n",
            "plugin_a/theorem_2.py": HEADER + "theorem = make('as_printed', 'corrected')\n",
            "plugin_a/table_3.py": HEADER + "theorems = {f'table_3_{k}': make('as_printed') for k in 'ab'}\n",
            "plugin_a/table.py": HEADER + "theorems = {'table_4': make('as_printed')}\n",
            "plugin_a/definitions.py": "raise RuntimeError('not to be imported')\n",
            "plugin_a/_private.py": "raise RuntimeError('not to be imported')\n",
        },
        {"mine": "plugin_a"},
    )
    assert discovery.statement("mine/theorem_1").reading == "as_printed"
    assert discovery.statement("mine/theorem_2").reading == "corrected"
    assert discovery.module_of("mine", "table_3_b") == "plugin_a.table_3"
    assert [s.id for s in discovery.all_statements("mine")] == [
        "mine/table_3_a/as_printed",
        "mine/table_3_b/as_printed",
        "mine/table_4/as_printed",
        "mine/theorem_1/as_printed",
        "mine/theorem_1/corrected",
        "mine/theorem_2/corrected",
        "mine/theorem_2/as_printed",
    ]


def test_a_single_module_of_statements(install: Install) -> None:
    install(
        {"plugin_b.py": HEADER + "theorems = {name: make('as_printed') for name in ('theorem_1', 'theorem_2')}\n"},
        {"mine": "plugin_b"},
    )
    assert [s.id for s in discovery.all_statements("mine")] == [
        "mine/theorem_1/as_printed",
        "mine/theorem_2/as_printed",
    ]
    assert float(discovery.statement("mine/theorem_1").evaluate(gap_0=3).value) == 1.5


@pytest.mark.parametrize(
    ("files", "points", "message"),
    [
        ({"plugin_c.py": "X = 1\n"}, {"mine": "plugin_c"}, "must export `theorem`"),
        ({"plugin_d.py": HEADER + "theorems = [make('as_printed')]\n"}, {"mine": "plugin_d"}, "must export `theorem`"),
        ({"plugin_e.py": "theorem = 1\n"}, {"mine": "plugin_e"}, "must export `theorem`"),
        ({"plugin_f.py": "theorems = {}\n"}, {"mine": "plugin_f"}, "must export `theorem`"),
        ({"plugin_g.py": HEADER + "theorem = make()\n"}, {"mine": "plugin_g"}, "at least one reading"),
        (
            {"plugin_i.py": HEADER + "theorem = make('as_printed', best='sharp')\n"},
            {"mine": "plugin_i"},
            "best reading 'sharp' is unknown",
        ),
        (
            {"plugin_h.py": HEADER + "theorem = make('as_printed', every=False)\n"},
            {"mine": "plugin_h"},
            "any_method=True",
        ),
        ({}, {"mine": "plugin_absent"}, "cannot be imported"),
        ({}, {"mine": "plugin_absent.inner"}, "cannot be imported"),
        ({"plugin_j.py": "import plugin_missing_dependency\n"}, {"mine": "plugin_j"}, "plugin_missing_dependency"),
        ({"plugin_k.py": "def broken(:\n"}, {"mine": "plugin_k"}, "cannot be imported"),
        ({"plugin_l.py": "X = 1\n"}, {"scgd": "plugin_l"}, "repeats the paper"),
    ],
)
def test_broken_plugins_are_told_what_is_wrong(install: Install, files: dict, points: dict, message: str) -> None:
    install(files, points)
    with pytest.raises(BadInput, match=message):
        discovery.all_ids()
