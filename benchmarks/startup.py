"""Start-up: median of 11 warm whole processes, over an empty `python -c pass`.

Targets: `boundcheck --help` at most 0.3 s more, `boundcheck evaluate` at most 1 s more.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

REPEATS = 11
BOUNDCHECK = str(Path(sys.executable).parent / "boundcheck")
EVALUATE = ["evaluate", "scgd/theorem_3_3", "--set", "mu=1", "--set", "L=10", "--set", "n=20", "--set", "E=4"]
EVALUATE += ["--set", "eta=1/200000", "--set", "sigma2=1", "--set", "dist2_0=1", "--set", "K=1000"]
CASES: dict[str, tuple[list[str], float]] = {
    "boundcheck --help": ([BOUNDCHECK, "--help"], 0.3),
    "boundcheck evaluate": ([BOUNDCHECK, *EVALUATE], 1.0),
    "boundcheck scope": ([BOUNDCHECK, "scope", *EVALUATE[1:-6]], 1.0),
    "boundcheck list": ([BOUNDCHECK, "list"], 1.0),
}


def median_seconds(command: list[str]) -> float:
    subprocess.run(command, capture_output=True, check=True)  # warm: byte code and disk cache
    spent: list[float] = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        spent.append(time.perf_counter() - began)
    return statistics.median(spent)


def main() -> int:
    empty = median_seconds([sys.executable, "-c", "pass"])
    print(f"empty process: {empty:.3f} s (median of {REPEATS} warm runs)")
    missed = 0
    for name, (command, target) in CASES.items():
        more = median_seconds(command) - empty
        missed += more > target
        print(f"{name:22s} {more:.3f} s more; target {target} s: {'met' if more <= target else 'MISSED'}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
