"""The wheel carries what the package needs at run time, and works without the repository and without extras."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest
from help_examples import OWN, commands, examples, expected_code

from boundcheck.core.extras import PACKAGES
from docs.hooks.blocks import blocks

ROOT = Path(__file__).parent.parent
# every extra but those of which no command of these pages speaks or whose package is larger than all others together
EXTRAS = ("proof", "figures", "data")
LARGEST = 260_000_000  # bytes of a plain installation; docs/explanation/measured.md lists its parts
INSTALLERS = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils")
NEEDS = re.compile(r'pip install "boundcheck\[(\w+)\]"')


def test_wheel_holds_derivations_templates_and_types(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for derivation in (ROOT / "derivations").rglob("*.py"):
        assert f"boundcheck/_derivations/{derivation.relative_to(ROOT / 'derivations')}" in names
    shipped = [p for p in (ROOT / "boundcheck").rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    assert len(shipped) > 50
    missing = [str(p.relative_to(ROOT)) for p in shipped if str(p.relative_to(ROOT)) not in names]
    assert missing == []
    assert "boundcheck/py.typed" in names
    for folder, inside, ending in (("examples", "_claims", "toml"), ("examples/witnesses", "_witnesses", "json")):
        shipped = [p.name for p in (ROOT / folder).glob(f"*.{ending}")]
        assert shipped
        assert {f"boundcheck/{inside}/{name}" for name in shipped} <= names


def test_derivations_and_statements_stand_at_the_same_paths() -> None:
    from boundcheck.theory.discovery import all_ids

    stems = {i.rpartition("/")[0] for i in all_ids()}
    found = {str(p.relative_to(ROOT / "derivations").with_suffix("")) for p in (ROOT / "derivations").rglob("*.py")}
    found = {name for name in found if not Path(name).name.startswith("_")}
    assert found
    assert found <= stems


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel, made from the sdist as `python -m build` does, and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    return folder


def installed(folder: Path, wheel: str) -> Path:
    """The programs of a new environment with this wheel; skips where no package registry answers."""
    venv.create(folder, with_pip=True)
    pip = [folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
    done = subprocess.run(pip, capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"no package registry: {done.stderr.decode()[-200:]}")
    return folder / "bin"


def size_of_packages(folder: Path) -> int:
    """Bytes of all files that pip has installed but those of pip and setuptools and compiled ones."""
    (packages,) = folder.glob("[Ll]ib/**/site-packages")
    parts = [p.relative_to(packages).parts for p in packages.rglob("*") if p.is_file()]
    own = [p for p in parts if not p[0].startswith(INSTALLERS) and "__pycache__" not in p]
    return sum(packages.joinpath(*p).stat().st_size for p in own)


def run(binaries: Path, command: str, folder: Path) -> tuple[int, str]:
    shutil.rmtree(folder / "report", ignore_errors=True)  # of another command, which this one would not overwrite
    surroundings = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    surroundings |= {f"BOUNDCHECK_{name}": str(folder.parent / name.lower()) for name in ("STORE", "DATA", "INDEX")}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=surroundings | {"PATH": f"{binaries}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


EXAMPLES = {" ".join(path): examples(command) for path, command in commands()}
PAGES = (ROOT / "README.md", ROOT / "docs" / "tutorial.md")  # whose commands the wheel carries out


def stated(page: Path) -> dict[str, int]:
    """The commands of a page and the exit codes that it states, in their order."""
    shown = [block for block in blocks(page.read_text()) if block.language == "console"]
    return {c: code for block in shown for c, code, _ in block.commands() if c.startswith("boundcheck ")}


@pytest.mark.slow  # two environments, for each of which pip gets the packages; minutes
def test_the_wheel_without_and_with_extras(distributions: Path, tmp_path: Path) -> None:
    twine = [sys.executable, "-m", "twine", "check", "--strict", *map(str, distributions.iterdir())]
    assert subprocess.run(twine, capture_output=True, text=True, check=True).stdout.count("PASSED") == 2
    (wheel,) = map(str, distributions.glob("*.whl"))
    work = tmp_path / "work"
    for name in ("examples", "configs"):  # the files that commands name
        shutil.copytree(ROOT / name, work / name)
    for block in (block for page in PAGES for block in blocks(page.read_text())):  # and those that the pages show
        if block.title:
            (work / block.title).write_text(block.body)
    plain = installed(tmp_path / "plain", wheel)
    assert size_of_packages(plain.parent) < LARGEST
    find = f"from importlib.util import find_spec\nprint([n for n in {list(PACKAGES)} if find_spec(n)])"
    assert run(plain, f"python -c {shlex.quote(find)}", work) == (0, "[]\n")

    refused: dict[str, int] = {}
    commands = {command: code for page in PAGES for command, code in stated(page).items()}
    commands["boundcheck schedule --times 2,3,5 --policy fedfix --dt 2 --plot fedfix.png"] = 0  # matplotlib draws it
    for command, expected in commands.items():
        code, printed = run(plain, command, work)
        if NEEDS.search(printed):
            assert code in (0, 2, 3), f"{command}: {code}\n{printed}"  # a report is written without what is missing
            refused[command] = expected
        elif "boundcheck data fetch" not in printed:  # data that no package of an extra has
            assert code == expected, f"{command}: {code}\n{printed}"
    assert len(commands) - len(refused) > len(refused) > 0

    code, printed = run(plain, "boundcheck report -o report", work)
    assert code == 0, printed
    found: dict[str, Any] = json.loads((work / "report" / "report.json").read_text())
    assert len(found["claims"]) > 20
    assert (work / "report" / "index.html").is_file()
    for missing in found["not_run"]:
        assert f"NOT RUN {missing['name']}: {missing['why']}" in printed
        assert NEEDS.search(missing["why"]) or "boundcheck data fetch" in missing["why"]
        assert (work / "report" / missing["page"]).is_file()

    whole = installed(tmp_path / "whole", f"{wheel}[{','.join(EXTRAS)}]")
    for command, expected in refused.items():
        code, printed = run(whole, command, work)
        assert set(NEEDS.findall(printed)).isdisjoint(EXTRAS), f"{command}\n{printed}"
        assert code == expected or NEEDS.search(printed), f"{command}: {code}"


@pytest.fixture(scope="module")
def site(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as it is installed, and that of the package of plug-ins that the example of conformance names."""
    folder = tmp_path_factory.mktemp("installed")
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder / "own"), str(OWN)]
    subprocess.run(build, check=True, capture_output=True)
    for wheel in (*distributions.glob("*.whl"), *(folder / "own").glob("*.whl")):
        with zipfile.ZipFile(wheel) as content:
            content.extractall(folder / "site")
    return folder / "site"


@pytest.mark.slow  # a process for each example in the help of each command: minutes together
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_the_help_run_without_the_repository(name: str, site: Path, tmp_path: Path) -> None:
    # paths of PYTHONPATH are searched as they are: an editable installation in this environment is not followed
    own = {"PYTHONPATH": os.pathsep.join([str(site), sysconfig.get_path("purelib")])}
    own |= {"BOUNDCHECK_INDEX": str(site.parent / "index")}
    own |= {f"BOUNDCHECK_{place}": str(tmp_path / place.lower()) for place in ("STORE", "DATA")}
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    python = str(getattr(sys, "_base_executable", sys.executable))
    for example in EXAMPLES[name]:
        command = [python, "-m", "boundcheck", *shlex.split(example)[1:]]
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, **own}, capture_output=True, text=True, check=False
        )
        assert done.returncode == expected_code(name, example), done.stderr
        assert str(ROOT) not in done.stdout
