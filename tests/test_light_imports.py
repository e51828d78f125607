"""Importing the package, or asking for help, loads nothing heavy, no optional package, nor the room of networks."""

from __future__ import annotations

import subprocess
import sys

import pytest

from boundcheck.core.extras import PACKAGES

HEAVY = (*PACKAGES, "cvxpy", "scipy", "numba", "sympy", "boundcheck.networks")


@pytest.mark.parametrize(
    "code",
    ["import boundcheck", "import boundcheck.pytest_plugin", "from boundcheck.cli import main; main(['--help'])"],
)
def test_nothing_heavy_is_loaded(code: str) -> None:
    script = (
        "import sys\n"
        "try:\n"
        f"    exec({code!r})\n"
        "except SystemExit as stop:\n"
        "    assert not stop.code\n"
        f"print('HEAVY', [m for m in {HEAVY!r} if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "HEAVY []"


def test_the_check_would_see_a_heavy_module() -> None:
    script = f"import sys, sympy; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "sympy" in done.stdout
