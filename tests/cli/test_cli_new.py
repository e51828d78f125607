"""new paper, new statement."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

from cli_tools import Answer, Run
from loaded_papers import unloaded_afterwards

MARK, BOUND = "TYPE_THE_FORMULA_HERE", "dist2_0 / (eta * (4 * k + 2))"
COMMANDS = """
import contextlib, io, json, sys
from boundcheck.cli import main

for arguments in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


def run_installed(package: Path, site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python with the package and its entry point on the path as an installation puts them."""
    info = site / "skeleton-0.1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: skeleton\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(f"[boundcheck.papers]\n{package.name} = {package.name}\n")
    own = {"PYTHONPATH": f"{site}{os.pathsep}{package}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **own}, check=False)


def run_commands(package: Path, site: Path, *commands: list[str]) -> list[Answer]:
    """Commands that see the package, one after the other in one process, whose start takes longest."""
    found = run_installed(package, site, "-c", COMMANDS, json.dumps(commands))
    assert found.returncode == 0, found.stderr
    return [Answer(*json.loads(answer)) for answer in found.stdout.splitlines()]


def test_a_new_paper_passes_its_tests_once_the_formula_is_typed(boundcheck_cli: Run, tmp_path: Path) -> None:
    found = boundcheck_cli("new", "paper", "my_paper", "--in", tmp_path, "--json")
    assert found.code == 0
    formula = Path(found.json["formula"])
    package, site = tmp_path / "my_paper", tmp_path / "site"
    assert 'my_paper = "my_paper"' in (package / "pyproject.toml").read_text()
    assert formula.read_text().count(MARK) == 1
    assert all(Path(p).is_file() for p in found.json["files"])
    # a second statement, in a reading that corrects the paper
    second = boundcheck_cli("new", "statement", "my_paper/theorem_2_1/corrected", "--package", package / "my_paper")
    other = package / "my_paper" / "theorem_2_1.py"
    assert (second.code, f"written: {other}" in second.out, '"Theorem 2.1"' in other.read_text()) == (0, True, True)
    texts = {path: path.read_text() for path in (formula, other)}

    def typed(first: str, then: str) -> None:
        for path, bound in ((formula, first), (other, then)):
            path.write_text(texts[path].replace(MARK, bound))

    typed(MARK, "1 / 0")
    asking = ["list", "--paper", "my_paper"], ["show", "my_paper/theorem_2_1"]
    listed, asked, divided = run_commands(package, site, ["list"], *asking)
    assert (listed.code, listed.err) == (0, "")
    assert "scgd/theorem_3_3/corrected" in listed.out
    first, then = (
        next(n for n, text in enumerate(texts[path].splitlines(), 1) if f"Reading({MARK}" in text) for path in texts
    )
    said = f"the module 'my_paper.theorem_1' of statements, line {first}, cannot be imported: the formula is not typed"
    assert listed.out.splitlines()[-2].startswith(f"left out: {said}")
    assert (asked.code, asked.out, said in asked.err, divided.code) == (2, "", True, 2)
    assert f"line {then}, cannot be imported: ZeroDivisionError: division by zero." in divided.err
    assert listed.out.splitlines()[-1].endswith(divided.err.removeprefix("boundcheck: ").strip())

    typed(MARK, "dist2_0 / (4 * k + 2)")  # a factor 1/eta is missing
    tests = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(package), str(package))
    wrong = run_installed(package, site, *tests)
    assert wrong.returncode == 1
    assert f"the formula is not typed yet ({MARK})" in wrong.stdout
    failed = [
        line.split(" - ")[0].rpartition("/")[2] for line in wrong.stdout.splitlines() if line.startswith("FAILED")
    ]
    assert [line.partition("::")[2] for line in failed if "theorem_2_1" in line] == [
        *("test_is_found_and_scales", "test_holds_on_a_run")
    ]
    assert len(failed) == 6

    typed(BOUND, BOUND)
    right = run_installed(package, site, *tests)
    assert right.returncode == 0, right.stdout


def test_the_skeleton_says_what_a_symbol_is(boundcheck_cli: Run, tmp_path: Path) -> None:
    """The examples of its comments are carried out, and the declarations it lists are those that there are."""
    from boundcheck.theory import dimension, symbols

    formula = Path(boundcheck_cli("new", "paper", "my_paper", "--in", tmp_path, "--json").json["formula"])
    text = formula.read_text()
    examples = re.findall(r"^#     ((?:Symbol|common\.\w+\.but)\(.*\))", text, re.MULTILINE)
    known = {**vars(dimension), "Symbol": symbols.Symbol, "common": symbols.common, "Fraction": Fraction}
    assert [isinstance(eval(example, known), symbols.Symbol) for example in examples] == [True, True]
    listed = re.findall(r"^#     (\w+) +.*?  +(\S+)$", text, re.MULTILINE)
    assert {name: key for name, key in listed if "/" in key} == {s.name: s.key for s in symbols.SHARED if s.key}
    (words,) = re.findall(r"Dimensions are in .*?products", text, re.DOTALL)
    named = set(re.findall(r"\b[A-Z][A-Z0-9]+\b", words))
    assert len(named) == 7
    assert named <= vars(dimension).keys()
    assert max(map(len, text.splitlines())) <= 120
    # it is found before it is installed, and never overwritten
    formula.write_text(text.replace(MARK, BOUND))
    with unloaded_afterwards():
        shown = boundcheck_cli("show", "my_paper/theorem_1", "--load", formula.parent)
        assert "dimensions: the units of all sides agree" in shown.out
        assert boundcheck_cli("list", "--load", tmp_path / "my_paper").code == 2
    again = boundcheck_cli("new", "paper", "my_paper", "--in", tmp_path)
    assert (again.code, "is not overwritten" in again.err) == (2, True)
    assert BOUND in formula.read_text()
