"""Statements from a file by its path: found, judged, loaded anew, and refused in one sentence."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from loaded_papers import METHOD, PROBLEM, TEXT, THEOREM, unloaded_afterwards

import boundcheck as bc
from boundcheck.core.executor import ProcessExecutor
from boundcheck.core.loaded import digests
from boundcheck.errors import BadInput, SpecError, UnknownName
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.spec import claims_from_text
from boundcheck.theory.discovery import is_registered
from boundcheck.theory.loading import unload


@pytest.fixture(autouse=True)
def own_papers() -> Iterator[None]:
    with unloaded_afterwards():
        yield


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_statements_of_a_file_have_ids_and_are_judged(tmp_path: Path) -> None:
    found = bc.load(written(tmp_path / "tight.py", THEOREM))
    assert [s.id for s in found] == ["tight/tight/as_printed", "tight/tight/half"]
    assert all(is_registered(s) for s in found)
    at = {"k": [10]}
    attained = run_claim(bc.Claim("tight/tight", PROBLEM, METHOD, at=at, arithmetic="rational"))
    assert attained.verdict.outcome is bc.Outcome.HOLDS
    assert attained.verdict.tightness is not None
    assert attained.verdict.tightness.ratio_min == pytest.approx(1, rel=1e-12)
    broken = run_claim(bc.Claim("tight/tight/half", PROBLEM, METHOD, at=at))
    assert broken.verdict.outcome is bc.Outcome.VIOLATED


def test_an_object_needs_no_registry(tmp_path: Path) -> None:
    (tight, half) = bc.load(written(tmp_path / "tight.py", THEOREM))
    own = replace(tight, bound=half.bound, id="", name="mine")
    assert not is_registered(own)
    claim = bc.Claim(statement=own, problem=PROBLEM, method=METHOD, at={"k": [10]})
    assert (claim.id, claim.label()) == ("mine/as_printed", "mine/as_printed on huber gradient_descent")
    assert run_claim(claim).verdict.outcome is bc.Outcome.VIOLATED
    assert not is_registered(replace(tight, bound=half.bound))  # another statement under a known id


def test_the_modules_of_a_folder_share_their_notation(tmp_path: Path) -> None:
    shared, own = THEOREM.split("theorem = ")
    folder = tmp_path / "my_paper"
    written(folder / "definitions.py", shared)
    written(folder / "one.py", "from .definitions import *\ntheorem = " + own)
    written(folder / "two.py", "from my_paper.definitions import *\ntheorem = " + own)
    assert [s.id for s in bc.load(folder)][::2] == ["my_paper/one/as_printed", "my_paper/two/as_printed"]
    assert not list(tmp_path.rglob("__pycache__"))


def test_ids_are_the_same_however_a_file_is_loaded(tmp_path: Path) -> None:
    loose = written(tmp_path / "loose" / "tight.py", THEOREM)
    (alone, _), name = bc.load(loose), "tight/tight/as_printed"
    unload("tight")
    written(tmp_path / "loose" / "looser.py", THEOREM)
    found = {s.id: s for s in bc.load(tmp_path / "loose")}
    assert [*found][::2] == ["looser/looser/as_printed", "tight/tight/as_printed"]
    assert (alone.id, found[name]) == (name, alone)
    shared, own = THEOREM.split("theorem = ")
    written(tmp_path / "my_paper" / "definitions.py", shared)
    one = written(tmp_path / "my_paper" / "one.py", "from .definitions import *\ntheorem = " + own)
    written(tmp_path / "my_paper" / "two.py", "from .definitions import *\ntheorem = " + own)
    ids = [s.id for s in bc.load(one)]
    assert ids[0] == "my_paper/one/as_printed"
    assert [s.id for s in bc.load(tmp_path / "my_paper")][: len(ids)] == ids


def test_a_changed_file_is_loaded_anew(tmp_path: Path) -> None:
    path = written(tmp_path / "tight.py", THEOREM)
    before = bc.load(path)[0], digests()["tight"]
    assert bc.load(path)[0] is before[0]
    written(path, THEOREM.replace("4 * k", "3 * k"))  # of the same length, within the same second
    after = bc.load(path)[0], digests()["tight"]
    assert after[0].bound != before[0].bound
    assert after[1] != before[1]
    assert bc.statement("tight/tight") == after[0]


def test_no_part_of_a_refused_file_stays(tmp_path: Path) -> None:
    path = written(tmp_path / "tight.py", "import no_such_module")
    with pytest.raises(BadInput, match="tight"):
        bc.load(path)
    assert "tight" not in sys.modules
    with pytest.raises(UnknownName):
        bc.statement("tight/tight")
    written(path, THEOREM)
    assert bc.load(path)


def test_worker_processes_load_the_same_bytes(tmp_path: Path) -> None:
    path = written(tmp_path / "tight.py", THEOREM)
    own = bc.load(path)[1]
    assert ProcessExecutor(1).map(bc.statement, ["tight/tight/half"]) == [own]
    path.write_text("1/0")
    with pytest.raises(BadInput, match=r"tight\.py changed while its statements were used; start again\.$"):
        ProcessExecutor(1).map(bc.statement, ["tight/tight/half"])


NAMELESS = "from boundcheck.theory.theorem import Theorem\ntheorems = {}\n"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("bad.py", "theorem = (", r"line 1, cannot be imported: SyntaxError: '\(' was never closed\.$"),
        ("bad.py", "\n\n1 / 0", r"line 3, cannot be imported: ZeroDivisionError: division by zero\.$"),
        ("bad.py", "raise SystemExit(0)", r"line 1, cannot be imported: SystemExit: 0\.$"),
        ("bad.py", "x = 1", r"bad must export `theorem`, a Theorem, or `theorems`"),
        ("bad.py", NAMELESS, r"bad must export `theorem`, a Theorem, or `theorems`"),
        ("bad.py", TEXT.replace("FORMULA", "L * sigma"), r"line \d+, cannot be imported: NameError: name 'sigma'"),
        ("bad.py", THEOREM.replace("eta * L <= 1", "True"), r"is already decided \(True\)"),
        ("bad.py", "from . import definitions", r"cannot be imported: ImportError: attempted relative import"),
        ("scgd.py", THEOREM, r"the paper 'scgd' exists already; choose another name"),
        ("numpy.py", THEOREM, r"'numpy' is the name of another Python module; rename it\.$"),
        ("my-bound.py", THEOREM, r"'my-bound' is not allowed in them; rename it"),
        ("class.py", THEOREM, r"'class' is not allowed in them; rename it"),
        ("bound.txt", THEOREM, r"it is no Python file \(\.py\), and no folder of such files\.$"),
        ("folder/readme.md", "", r"it holds no module with `theorem` or `theorems`, and no `methods` or .*"),
        ("folder/folder/one.py", THEOREM, r"Do you mean \S*/folder/folder\?$"),
        ("folder/one.py", THEOREM.replace("SYMBOLS =", "1/0 #"), r"the module 'one' of statements, line 7, can"),
    ],
)
def test_a_bad_file_is_one_sentence(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = written(tmp_path / name, text)
    given = tmp_path / name.split("/")[0]
    with pytest.raises(BadInput, match=said) as error:
        bc.load(given)
    assert str(error.value).startswith((f"{given} cannot be loaded: ", f"{path} cannot be loaded: "))
    assert "\n" not in str(error.value)
    assert path.exists()


def test_a_path_without_a_file_and_two_files_of_one_name(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"there is no such file or folder\.$"):
        bc.load(tmp_path / "absent.py")
    bc.load(written(tmp_path / "a" / "tight.py", THEOREM))
    with pytest.raises(BadInput, match="has the same name, and is loaded; rename one of them"):
        bc.load(written(tmp_path / "b" / "tight.py", THEOREM))


def test_a_symbol_is_the_parameter_of_its_key_whatever_it_is_called(tmp_path: Path) -> None:
    """The largest step goes to the symbol with the key method/eta."""
    renamed = THEOREM.replace("common.eta,", 'common.eta.but(name="alpha"),').replace('("eta",)', '("alpha",)')
    bc.load(written(tmp_path / "tight.py", renamed))
    asked = {"kind": "gradient_descent", "eta": "1/2*largest"}
    found = run_claim(bc.Claim("tight/tight", PROBLEM, asked, at={"k": [10]}))
    assert found.verdict.outcome is bc.Outcome.HOLDS
    assert float(Fraction(found.method["eta"])) == pytest.approx(1 / 6, rel=1e-12)
    text = """
[[claim]]
statement = "tight/tight"
problem = { kind = "huber", L = 3, R = 2, k = 10 }
method = { kind = "gradient_descent", eta = "1/2*largest" }
at = { k = [10] }
"""
    (claim,) = claims_from_text(text)
    assert claim.method == asked
    with pytest.raises(SpecError, match=r"alpha is a parameter of the method, which asks for 1/2\*largest"):
        claims_from_text(text + 'constants = { alpha = "1/3" }\n')
