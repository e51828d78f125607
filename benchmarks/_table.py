"""What the scripts here share: clocks, processes of their own, and the one table of results.

A script has a generator `results` of rows, and calls `run`, which prints each row when it is measured.

    python benchmarks/_table.py [NAME ...]    all scripts, or these: one table in build/benchmarks.md

Exit code 1 where a target was missed, 2 for a script that refuses (there is no GPU) if none was missed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
PLACE = HERE.parent / "build" / "benchmarks.md"
HEAD = ("what", "measured", "target", "met")


class Row(NamedTuple):
    """One line of the table.

    what, value, unit: what was measured. most, least: its targets; None: none. note: the rest, in words.
    """

    what: str
    value: float
    unit: str = ""
    most: float | None = None
    least: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the targets are met; None without one."""
        if self.most is None and self.least is None:
            return None
        return (self.most is None or self.value <= self.most) and (self.least is None or self.value >= self.least)

    def cells(self) -> tuple[str, str, str, str]:
        """The texts of the row, under `HEAD`."""
        limits = {"at most": self.most, "at least": self.least}
        target = ", ".join(f"{word} {limit:g}" for word, limit in limits.items() if limit is not None)
        met = {None: "", True: "yes", False: "MISSED"}[self.met]
        value = f"{self.value:.3g}" if abs(self.value) < 1000 else f"{self.value:,.0f}"
        return f"{self.what} ({self.note})" if self.note else self.what, f"{value} {self.unit}".strip(), target, met


def run(doc: str | None, results: Callable[[], Iterable[Row]], once: Callable[..., Any] | None = None) -> int:
    """The command of a script: prints its rows; with --one ARGUMENT ... what `once` of them returns, as JSON."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args().one
    if given is not None and once is not None:
        print(json.dumps(once(*given)))
        return 0
    missed = False
    for row in results():
        missed |= row.met is False
        print("| " + " | ".join(row.cells()) + " |", flush=True)
    return int(missed)


def fresh(script: str, *arguments: Any, **environment: str) -> Any:
    """What `once` of a script returns in a process of its own, on one thread unless the environment says otherwise."""
    own = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **environment}
    command = [sys.executable, script, "--one", *map(str, arguments)]
    return json.loads(subprocess.run(command, env=own, capture_output=True, text=True, check=True).stdout)


def peak_mb() -> float:
    """Peak memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def share_limits(count: int, trials: int, confidence: float) -> tuple[float, float]:
    """One-sided Clopper-Pearson limits of a probability, each at this confidence."""
    from scipy.stats import beta

    low = 0.0 if count == 0 else float(beta.ppf(1 - confidence, count, trials - count + 1))
    return low, 1.0 if count == trials else float(beta.ppf(confidence, count + 1, trials - count))


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def timed(call: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> tuple[float, Any]:
    """Seconds of a call, and what it returns."""
    began = clock()
    found = call()
    return clock() - began, found


class Turns(NamedTuple):
    """Seconds of contestants by turn, and what each returned last."""

    seconds: dict[str, list[float]]
    found: dict[str, Any]

    def median(self, name: str) -> float:
        """Seconds of one contestant."""
        return statistics.median(self.seconds[name])

    def ratio(self, one: str, other: str) -> float:
        """The median over turns of one's time over the other's: both sides of a turn see the same machine."""
        return statistics.median(a / b for a, b in zip(self.seconds[one], self.seconds[other], strict=True))


def take_turns(
    contestants: Mapping[str, Callable[[], Any]], turns: int, clock: Callable[[], float] = time.process_time
) -> Turns:
    """All contestants in every turn; a first turn, which compiles and imports, is not counted."""
    kept = Turns({name: [] for name in contestants}, {})
    for turn in range(turns + 1):
        for name, call in contestants.items():
            seconds, kept.found[name] = timed(call, clock)
            if turn:
                kept.seconds[name].append(seconds)
    return kept


def main() -> int:
    """Runs scripts and writes their rows as one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    scripts = {path.stem: path for path in sorted(HERE.glob("[a-z]*.py"))}
    names = parser.parse_args().names or list(scripts)
    if unknown := [name for name in names if name not in scripts]:
        parser.error(f"there is no script {', '.join(unknown)}; there are {', '.join(scripts)}")
    codes: set[int] = set()
    PLACE.parent.mkdir(exist_ok=True)
    with PLACE.open("w") as file:
        for line in ("| script | " + " | ".join(HEAD) + " |", "|---" * (len(HEAD) + 1) + "|"):
            print(line, file=file)
        for name in names:
            script = subprocess.Popen([sys.executable, scripts[name]], stdout=subprocess.PIPE, text=True)
            assert script.stdout is not None
            for line in script.stdout:
                print(f"| {name} {line.rstrip()}" if line.startswith("|") else line.rstrip(), flush=True)
                if line.startswith("|"):
                    print(f"| {name} {line.rstrip()}", file=file, flush=True)
            codes.add(script.wait())
    return 1 if codes - {0, 2} else max(codes)


if __name__ == "__main__":
    sys.exit(main())
