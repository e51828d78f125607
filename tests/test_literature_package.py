"""The package `examples/literature` as a stranger has it: built, and tested with an installed wheel of boundcheck.

Both wheels are built here and laid out outside the repository. The Python that runs the package's own tests sees these
wheels and the other packages of this environment, but not the repository.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "examples" / "literature"


def test_boundcheck_does_not_know_of_it() -> None:
    names = {p.stem for p in (PACKAGE / "literature").glob("*.py")} - {"__init__", "definitions"}
    assert len(names) >= 13
    sources = [p for p in (ROOT / "boundcheck").rglob("*") if p.suffix in (".py", ".toml", ".json", ".j2", ".md")]
    assert len(sources) > 300
    knowing = [str(p) for p in sources if re.search(r"\bliterature\b[/.\"']|examples/literature", p.read_text())]
    assert knowing == []


def built(project: Path, out: Path) -> Path:
    """The wheel of a project."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
        cwd=project,
        check=True,
        capture_output=True,
    )
    (wheel,) = out.glob("*.whl")
    return wheel


@pytest.mark.slow  # two wheels, and an exact run for each theorem in a process of its own: about half a minute
def test_its_tests_pass_against_an_installed_wheel(tmp_path: Path) -> None:
    away, site = tmp_path / "away", tmp_path / "site"
    shutil.copytree(PACKAGE, away, ignore=shutil.ignore_patterns("__pycache__"))
    for name, project in (("boundcheck", ROOT), ("literature", away)):
        with zipfile.ZipFile(built(project, tmp_path / name)) as wheel:
            wheel.extractall(site)
    # paths of PYTHONPATH are searched as they are: an editable installation in this environment is not followed
    path = os.pathsep.join([str(site), sysconfig.get_path("purelib")])
    own = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "BOUNDCHECK_STORE": str(tmp_path / "store")}
    python = str(getattr(sys, "_base_executable", sys.executable))

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [python, *arguments], cwd=away, env={**os.environ, **own}, capture_output=True, text=True, check=False
        )

    shutil.rmtree(away / "literature")  # installed by now
    where = run("-c", "import boundcheck, literature; print(boundcheck.__file__, literature.__file__)")
    assert where.stdout.split() == [str(site / p / "__init__.py") for p in ("boundcheck", "literature")], where.stderr
    tested = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(away), str(away / "tests"))
    assert tested.returncode == 0, tested.stdout
