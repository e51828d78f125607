"""The house only becomes smaller: lines of each room, long files and circles of imports against `house.toml`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests import house
from tests.house import House, circles, faults, imported, lowered

BEFORE = House({"boundcheck": {"a + b": 300, "c": 100, "whole": 400}}, {"boundcheck/c/x.py": 500}, [["p", "q", "r"]])
NOW = House({"boundcheck": {"a": 201, "b": 99, "c": 1, "whole": 301}}, {"boundcheck/c/x.py": 500}, [["p", "q", "r"]])


def state(changed: dict[str, int]) -> House:
    """Today's state with other counts of some rooms."""
    return replace(NOW, rooms={"boundcheck": NOW.rooms["boundcheck"] | changed})


@pytest.fixture(scope="module")
def today() -> House:
    return House.counted()


def test_nothing_is_above_its_ceiling(today: House) -> None:
    assert faults(today, House.read()) == []


def test_the_file_is_as_the_script_writes_it() -> None:
    assert House.read().text() == house.CEILINGS.read_text()


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (NOW, ""),
        (state({"a": 202}), "boundcheck, room a + b: 301 lines are above the ceiling of 300 in house.toml."),
        (state({"whole": 401}), "boundcheck, room whole: 401 lines are above the ceiling of 400 in house.toml."),
        (state({"b": 0, "a": 100}), "boundcheck, room a + b: the ceiling of 300 is too high for 100 lines; "),
        (state({"d": 1}), "boundcheck, room d: house.toml names it 0 times; once is needed."),
        (replace(NOW, long={"boundcheck/c/x.py": 501}), "boundcheck/c/x.py: 501 lines are above the 500"),
        (replace(NOW, long={**NOW.long, "tests/y.py": 451}), "tests/y.py: 451 lines are above the 450"),
        (replace(NOW, long={}), "boundcheck/c/x.py: it has at most 450 lines or is gone"),
        (
            replace(NOW, circles=[*NOW.circles, ["s", "t"]]),
            "imports form a circle that house.toml does not list: s, t.",
        ),
        (replace(NOW, circles=[["p", "q"]]), "house.toml lists a circle that has changed:"),
    ],
)
def test_what_is_off_its_ceiling(now: House, said: str) -> None:
    found = faults(now, BEFORE)
    assert len(found) == bool(said)
    assert all(fault.startswith(said) for fault in found)


def test_circles_of_imports_become_fewer() -> None:
    grown = faults(replace(NOW, circles=[["p", "q", "r", "s"]]), BEFORE)
    assert grown[0] == "imports form a circle that house.toml does not list: p, q, r, s."
    smaller = replace(NOW, circles=[["p", "q"]])
    assert faults(smaller, lowered(smaller, BEFORE)) == []


def test_ceilings_go_down_alone() -> None:
    grown = House({"boundcheck": {"a": 350, "b": 99, "whole": 449}}, {"boundcheck/c/x.py": 470}, [["p", "s"]])
    after = lowered(grown, BEFORE)
    assert after == House({"boundcheck": {"a + b": 300, "whole": 400}}, {"boundcheck/c/x.py": 470}, [])
    assert lowered(grown, BEFORE, ["boundcheck.a + b"]).rooms == {"boundcheck": {"a + b": 500, "whole": 400}}
    new = House({"boundcheck": {"a": 201, "b": 99, "d": 7, "whole": 307}})
    assert lowered(new, BEFORE, ["boundcheck.d"]).rooms == {"boundcheck": {"a + b": 300, "d": 100, "whole": 400}}


def test_what_is_counted(tmp_path: Path) -> None:
    sizes = {
        "boundcheck/__init__.py": 2,
        "boundcheck/a/deep/x.py": 451,
        "boundcheck/verify/boundcheck_verify.py": 460,
        "examples/x.py": 3,
        "examples/literature/y.py": 5,
        "docs/hooks/z.py": 452,
        "tests/a/test_a.py": 7,
    }
    for name, count in sizes.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n" * count)
    found = House.counted(tmp_path)
    assert found.rooms == {
        "boundcheck": {"top": 2, "a": 451, "verify": 460, "whole": 913},
        "outside": {"examples": 3},
        "tests": {"a": 7, "whole": 7},
    }
    assert found.long == {"boundcheck/a/deep/x.py": 451, "docs/hooks/z.py": 452}


def test_the_script_lowers_the_ceilings(
    today: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = House.read()
    monkeypatch.setattr(house, "CEILINGS", tmp_path / "house.toml")
    monkeypatch.setattr(House, "counted", lambda: today)
    known.rooms["tests"]["falsify"] = 10**6
    known.rooms["outside"]["derivations"] = 100
    house.CEILINGS.write_text(known.text())
    assert house.main([]) == 1
    printed = capsys.readouterr().out
    assert (
        f"outside, room derivations: {today.count('outside', 'derivations')} lines are above the ceiling of 100"
        in printed
    )
    assert House.read().rooms["tests"]["falsify"] == house.rounded(today.count("tests", "falsify"))
    house.main(["--allow", "outside.derivations"])
    assert House.read().rooms["outside"]["derivations"] == house.rounded(today.count("outside", "derivations"))
    with pytest.raises(SystemExit, match=r"--allow boundcheck\.attic: there is no such room"):
        house.main(["--allow", "boundcheck.attic"])


def test_circles_are_found() -> None:
    known = {"a", "a.b", "a.c", "a.d"}
    imports = {
        "a": imported("if TYPE_CHECKING:\n    from a import c\n", known),
        "a.b": imported("def f():\n    from a import c\n", known),
        "a.c": imported("import a.d\n", known),
        "a.d": imported('import_module("a.b")\n', known),
    }
    assert imports == {"a": {"a.c"}, "a.b": {"a.c"}, "a.c": {"a.d"}, "a.d": {"a.b"}}
    assert circles(imports) == [["a.b", "a.c", "a.d"]]
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
