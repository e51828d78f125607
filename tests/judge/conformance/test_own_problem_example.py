"""examples/own_problem passes its own tests, as an installation puts it on the path."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

OWN = Path(__file__).parents[3] / "examples" / "own_problem"


def test_the_example_passes_its_own_tests(tmp_path: Path) -> None:
    package = tmp_path / "package"
    shutil.copytree(OWN, package, ignore=shutil.ignore_patterns("__pycache__"))
    info = tmp_path / "site" / "own_problem-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-problem\nVersion: 0.1.0\n")
    # the entry points of its pyproject.toml, as an installer writes them
    groups, taken = [], False
    for line in (OWN / "pyproject.toml").read_text().splitlines():
        if line.startswith("["):
            taken = line.startswith("[project.entry-points.")
            line = line.replace('project.entry-points."', "").replace('"', "")
        if taken:
            groups.append(line.replace(' = "', " = ").removesuffix('"'))
    (info / "entry_points.txt").write_text("\n".join(groups))
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(package), str(package)],
        cwd=package,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{tmp_path / 'site'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert "3 passed" in found.stdout
