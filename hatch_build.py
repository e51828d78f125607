"""Builds the index of the shipped statements into the wheel (`boundcheck/core/index.py`): no first command makes it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Each in a process of its own: entries are kept only by a command that begins with no statement imported.
MAKES = (
    "from boundcheck.cli import main; import sys; sys.exit(main(['list', '--json']))",
    "from boundcheck.theory.index import keep_all; from boundcheck.core.index import begin; begin(); keep_all()",
)


class IndexHook(BuildHookInterface[Any]):
    """Runs the package as it will be installed, in a folder of its own, with the cache of its index there."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the entries to the wheel; an editable installation makes its own."""
        if self.target_name != "wheel" or version == "editable":
            return
        self._folder = Path(tempfile.mkdtemp(prefix="boundcheck-index-"))
        for file in self.build_config.builder.recurse_included_files():
            target = self._folder / "site" / file.distribution_path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.path, target)
        index = self._folder / "index"
        surroundings = {**os.environ, "PYTHONPATH": str(self._folder / "site"), "BOUNDCHECK_INDEX": str(index)}
        for code in MAKES:
            subprocess.run(
                [sys.executable, "-c", code], cwd=self._folder, env=surroundings, check=True, stdout=subprocess.DEVNULL
            )
        (state,) = (path for path in index.iterdir() if path.is_dir() and not path.name.startswith("."))
        build_data["force_include"][str(state)] = f"boundcheck/_index/{state.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Removes the folder."""
        folder = getattr(self, "_folder", None)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
