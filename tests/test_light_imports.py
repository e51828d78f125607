"""Importing the package, or asking for help, loads nothing heavy, no optional package, nor the room of networks."""

from __future__ import annotations

import json
import subprocess
import sys

from boundcheck.core.extras import PACKAGES

HEAVY = (*PACKAGES, "cvxpy", "scipy", "numba", "sympy", "numpy", "pydantic", "flint", "boundcheck.networks")
SCRIPT = """
import contextlib, io, json, sys

def loaded():
    return [m for m in json.loads(sys.argv[1]) if m in sys.modules]

import boundcheck as bc
dir(bc)
found = [loaded()]
import boundcheck.pytest_plugin
found.append(loaded())
from boundcheck.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    main(["--help"])
found.append([m for m in loaded() if m != "numpy"])
import sympy
found.append([m for m in loaded() if m == "sympy"])  # that the check sees a heavy module
print(json.dumps(found))
"""


def test_nothing_heavy_is_loaded() -> None:
    """In one process: the import, that of the pytest plugin, the help; the check sees SymPy."""
    command = [sys.executable, "-c", SCRIPT, json.dumps(HEAVY)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[], [], [], ["sympy"]]
