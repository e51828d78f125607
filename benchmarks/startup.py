"""Start-up of commands: processor seconds (user and system) over an empty `python -c pass`, medians of 11 processes.

Warm: bytecode is at hand, and `list` and `show` have kept what they print (`boundcheck.evidence.statement_table`).
Seconds are of a processor (user and system), which other programs on the machine lengthen less than those of the clock,
which are shown as well.
Targets, over the empty process: `--help`, `list` and `show` at most 0.3 s; `evaluate` and `scope` at most 0.5 s.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from _table import Row, run

REPEATS = 11
BOUNDCHECK = str(Path(sys.executable).parent / "boundcheck")
SETS = "mu=1 L=10 n=20 E=4 eta=1/200000 sigma2=1 dist2_0=1 K=1000"
EVALUATE = ["scgd/theorem_3_3", *(part for set in SETS.split() for part in ("--set", set))]
CASES: dict[str, tuple[list[str], float]] = {
    "boundcheck --help": (["--help"], 0.3),
    "boundcheck list": (["list"], 0.3),
    "boundcheck show": (["show", "scgd/theorem_3_3"], 0.3),
    "boundcheck evaluate": (["evaluate", *EVALUATE], 0.5),
    "boundcheck scope": (["scope", *EVALUATE[:-6]], 0.5),
}


def median_seconds(command: list[str]) -> float:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    spent: list[float] = []
    for _ in range(REPEATS + 1):
        before = os.times()
        subprocess.run(command, capture_output=True, check=True, env=environment)
        after = os.times()
        used = after.children_user - before.children_user + after.children_system - before.children_system
        spent.append(used)
    return statistics.median(spent[1:])  # the first one writes bytecode and keeps what it prints


def results() -> Iterator[Row]:
    empty = median_seconds([sys.executable, "-c", "pass"])
    yield Row("an empty Python process", empty, "s")
    for name, (command, target) in CASES.items():
        yield Row(f"{name}, over it", median_seconds([BOUNDCHECK, *command]) - empty, "s", most=target)


if __name__ == "__main__":
    sys.exit(run(__doc__, results))
