"""Optional packages: declared once, imported late, and named with their extra where one is missing."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.core.extras import PACKAGES, missing, needed_for
from boundcheck.errors import DataNotFetched, MissingExtra
from boundcheck.problems import diabetes
from boundcheck.problems._data import package_folder
from tests.hidden_packages import hide
from tests.layer_table import LAYERS

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
IMPORTED = {"python-flint": "flint"}  # packages of the core that are imported by another name
COME_ALONG = {"click", "dask", "markupsafe", "psutil"}  # of typer, jinja2 and distributed
# their users have them: the plugin runs in pytest
OTHERS = {"pytest"}


def packages(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!\[; ]", text, maxsplit=1)[0].lower() for text in requirements}


def test_every_package_is_of_the_core_or_has_its_extra() -> None:
    """Of those that the layers may import (tests/test_layers.py)."""
    core = {IMPORTED.get(name, name) for name in packages(PROJECT["dependencies"])}
    allowed = set().union(*LAYERS.values())
    assert allowed <= core | COME_ALONG | OTHERS | set(PACKAGES)
    assert core <= allowed
    assert core.isdisjoint(PACKAGES)


def test_the_table_and_the_extras_name_the_same_packages() -> None:
    extras = {name: packages(found) for name, found in PROJECT["optional-dependencies"].items()}
    assert extras.pop("all") == {"boundcheck"}
    (every,) = PROJECT["optional-dependencies"]["all"]
    assert set(re.findall(r"\w+", every)) - {"boundcheck"} == set(extras)
    for extra, found in extras.items():
        assert found - {"boundcheck"} == {package.lower() for package, own in PACKAGES.values() if own == extra}, extra
    assert {extra for _, extra in PACKAGES.values()} - {""} == set(extras)


def test_optional_packages_are_imported_inside_functions() -> None:
    outside = re.compile(rf"^(?:import|from) (?:{'|'.join(PACKAGES)})\b", re.MULTILINE)
    assert outside.search("import sys\nfrom torch import nn\n")
    compiled = ROOT / "boundcheck" / "engines" / "simulate" / "kernel.py"  # which is imported inside functions alone
    for path in sorted({*(ROOT / "boundcheck").rglob("*.py")} - {compiled}):
        assert not outside.search(path.read_text(encoding="utf-8")), path


def test_the_sentence_names_the_extra_or_the_package() -> None:
    assert missing("z3", "a proof") == (
        'a proof needs z3-solver, which is not installed; install it with: pip install "boundcheck[proof]"'
    )
    assert missing("jax", "a task").endswith("install it with: pip install jax")
    with pytest.raises(ModuleNotFoundError, match="no_such_module") as raised, needed_for("this"):
        import no_such_module  # pyright: ignore[reportMissingImports] # noqa: F401
    assert not isinstance(raised.value, MissingExtra)


SWEEP = "evaluate fedshuffle/section_5_full_participation --set b=1 --set w_max=1 --sweep n=1:3:3 --plot out.svg"
COMMANDS = {"schedule --times 1,2 --plot out.png": ("matplotlib", "figures"), SWEEP: ("matplotlib", "figures")}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_which_extra_it_needs(
    command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package, extra = COMMANDS[command]
    monkeypatch.chdir(tmp_path)
    hide(monkeypatch, package)
    assert main(command.split()) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f'pip install "boundcheck[{extra}]"' in said
    assert not list(tmp_path.iterdir())


def test_a_proof_is_found_without_a_solver(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    hide(monkeypatch, "z3")
    assert main(["derive", "classics/sgd_convex/sharp"]) == 0
    assert "classics/sgd_convex/sharp: PROVED, verified" in capsys.readouterr().out


def test_python_says_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    method, problem = {"kind": "fedshuffle", "eta_l": "1/10"}, {"kind": "fedshuffle_36"}
    task, curve = bc.task(method, problem, 1), bc.run(method, problem, rounds=2)
    hide(monkeypatch, "torch", "matplotlib")
    with pytest.raises(MissingExtra, match=r"boundcheck\[neural\]"):
        task.torch()
    with pytest.raises(MissingExtra, match=r"boundcheck\[figures\]"):
        curve.plot()


def test_data_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "sklearn")
    with pytest.raises(DataNotFetched, match=r'^the data set .diabetes. needs .*pip install "boundcheck\[data\]"$'):
        package_folder("diabetes", diabetes.FILES)


def test_recorded_training_is_read_without_the_extra() -> None:
    """A report in a plain installation shows the records that ship; a new process has imported nothing yet."""
    code = "import sys; sys.modules |= dict.fromkeys(('numba', 'torch')); import boundcheck.networks.study.record"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
