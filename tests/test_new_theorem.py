"""A new theorem inside the repository needs two places: its file, and its row in the tables of values."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.house import House

ROOT = Path(__file__).parent.parent
THEOREM = '''"""Gradient descent on a smooth convex function, its last point at the largest step size."""

from boundcheck.papers.classics.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(NESTEROV, "gradient descent, the largest step", "for a test"),
    title="Gradient descent at the largest step",
    symbols=NOTATION,
    algorithm=Algorithm("gradient_descent", ("eta",)),
    metric=Metric.last("gap", VALUE, index=k),
    assumptions=(*SMOOTH, convexity),
    conditions=(Condition("step size", eta <= 1 / L, SMALL_STEP),),
    trivial=L * dist2_0 / 2,
    readings={"as_printed": Reading(bound=3 * dist2_0 / (4 * eta * k), belief=Belief.TRUE)},
)
'''
VALUES = """
VALUES["gradient_descent_largest/as_printed"] = {
    **STEPS,
    **SMALL_STEP,
    "trivial": "L*dist2_0/2",
    "bound": "3*dist2_0/(4*eta*k)",
}
"""
ID = "classics/gradient_descent_largest/as_printed"
VALUE = f"tests/papers/test_values.py::test_every_formula_has_the_value_of_the_table[{ID}]"
CHECKS = (
    *("tests/papers/test_numbering.py", "tests/papers/test_read_alone.py", "tests/papers/test_statements.py"),
    *("tests/test_layers.py", VALUE),
    f"tests/papers/test_values.py::test_every_symbol_counts[{ID}]",
    "tests/papers/test_values.py::test_no_entry_of_a_table_is_without_a_statement[classics]",
    "tests/oracle/test_oracle.py::test_statements_are_as_frozen",
    "tests/test_documentation.py::test_the_readme_lists_the_papers",
    "tests/test_wheel.py::test_derivations_and_statements_stand_at_the_same_paths",
)


def test_two_places_are_enough(tmp_path: Path) -> None:
    """The static checks of the suite on a copy with one more theorem; without its values they fail."""
    copy = tmp_path / "copy"
    for name in ("boundcheck", "tests", "derivations", "docs", "examples", "figures", "benchmarks"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.json.gz", "results"))
    for name in ("pyproject.toml", "README.md", "Makefile", "house.toml"):
        shutil.copy(ROOT / name, copy)
    (copy / "boundcheck" / "papers" / "classics" / "gradient_descent_largest.py").write_text(THEOREM)

    def failed(*arguments: str) -> str:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", *arguments]
        own = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=copy, env=own, capture_output=True, text=True, check=False)
        assert "gradient_descent_largest" in done.stdout or done.returncode == 0, done.stdout + done.stderr
        return done.stdout if done.returncode else ""

    assert f"tests/papers/values has no values of {ID}" in failed(VALUE)
    with (copy / "tests" / "papers" / "values" / "classics.py").open("a") as table:
        table.write(VALUES)
    assert failed(*CHECKS) == ""
    before, after = House.counted(ROOT), House.counted(copy)
    assert (after.circles, after.long) == (before.circles, before.long)
