"""Start-up: median of 11 warm whole processes, over an empty `python -c pass`, and as a multiple of it.

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
import time
from pathlib import Path

REPEATS = 11
BOUNDCHECK = str(Path(sys.executable).parent / "boundcheck")
SETS = "mu=1 L=10 n=20 E=4 eta=1/200000 sigma2=1 dist2_0=1 K=1000"
EVALUATE = ["evaluate", "scgd/theorem_3_3", *(part for set in SETS.split() for part in ("--set", set))]
CASES: dict[str, tuple[list[str], float]] = {
    "boundcheck --help": ([BOUNDCHECK, "--help"], 0.3),
    "boundcheck list": ([BOUNDCHECK, "list"], 0.3),
    "boundcheck show": ([BOUNDCHECK, "show", "scgd/theorem_3_3"], 0.3),
    "boundcheck evaluate": ([BOUNDCHECK, *EVALUATE], 0.5),
    "boundcheck scope": ([BOUNDCHECK, "scope", *EVALUATE[1:-6]], 0.5),
}


def median_seconds(command: list[str]) -> tuple[float, float]:
    """Seconds of a processor and of the clock."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, capture_output=True, check=True, env=environment)  # warm: byte code, disk cache, kept
    spent: list[float] = []
    clock: list[float] = []
    for _ in range(REPEATS):
        began, before = time.perf_counter(), os.times()
        subprocess.run(command, capture_output=True, check=True, env=environment)
        after = os.times()
        clock.append(time.perf_counter() - began)
        used = after.children_user - before.children_user + after.children_system - before.children_system
        spent.append(used)
    return statistics.median(spent), statistics.median(clock)


def main() -> int:
    empty, clock = median_seconds([sys.executable, "-c", "pass"])
    print(f"empty process: {empty:.3f} s, {clock:.3f} s by the clock (median of {REPEATS} warm runs)")
    missed = 0
    for name, (command, target) in CASES.items():
        found, clock = median_seconds(command)
        more = found - empty
        missed += more > target
        print(
            f"{name:22s} {more:.3f} s more, {found / empty:.1f} times the empty process ({clock:.3f} s by the clock); "
            f"target {target} s: {'met' if more <= target else 'MISSED'}"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
