"""The wheel carries what the package needs at run time, derivations included."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


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
