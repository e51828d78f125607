"""Which tests run a line: one run of all quick tests under coverage, each test file in a process of its own.

What a file of tests ran is kept under `build/mutants/coverage` as long as the code and that file stay as they are, so
that an interrupted run goes on, and tests that were cut are measured again alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "mutants"
BUDGET = 30.0  # seconds of processor time that the tests of one change took under coverage, together
DECIDING = ("boundcheck/", "derivations/", "examples/", "configs/", "figures/", "benchmarks/", "tests/")
QUIETLY = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0", "-m", "not slow"]


def tracked() -> list[str]:
    """The files of the working tree that git knows or does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted({name for name in listed if (ROOT / name).is_file()})


def digest(root: Path, names: Iterable[str]) -> str:
    """A digest of files' names and contents."""
    made = hashlib.sha256()
    for name in sorted(names):
        made.update(f"{name}\0".encode() + hashlib.sha256((root / name).read_bytes()).digest())
    return made.hexdigest()[:24]


def is_test(name: str) -> bool:
    return name.startswith("tests/") and name.rsplit("/", 1)[-1].startswith("test_") and name.endswith(".py")


def decides(name: str) -> bool:
    """Whether what tests run may depend on the file; pages for readers are left out."""
    return name.startswith(DECIDING) and not name.endswith(".md")


def keys(root: Path, names: list[str], prefixes: Iterable[str]) -> dict[str, str]:
    """A digest for each file of tests: of it, of the helpers next to it and in `tests`, and of all that is no test."""
    code = digest(root, [n for n in names if decides(n) and not n.startswith("tests/")])
    helpers: dict[str, list[str]] = defaultdict(list)
    for name in names:
        if name.startswith("tests/") and not name.startswith("tests/mutants/") and not is_test(name):
            helpers[name.rsplit("/", 1)[0]].append(name)
    found: dict[str, str] = {}
    for name in names:
        if is_test(name) and name.startswith(tuple(prefixes)):
            near = {*helpers["tests"], *helpers[name.rsplit("/", 1)[0]]}
            found[name] = hashlib.sha256(f"{code} {digest(root, {*near, name})}".encode()).hexdigest()[:24]
    return found


def environment(copy: Path) -> dict[str, str]:
    """Variables for tests in a copy: its code is imported, and no store or cache outside of it is used."""
    stores = {"XDG_CACHE_HOME": str(copy / ".cache"), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(copy)}
    return {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE_")} | stores


def within(command: list[str], copy: Path, limit: float, **variables: str) -> tuple[int | None, str]:
    """Exit code (None after `limit` seconds, when all its processes are ended) and output of a command in a copy."""
    with subprocess.Popen(
        command,
        cwd=copy,
        env=environment(copy) | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=limit)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def measure(test_file: str, key: str, copy: Path, python: str, end: float) -> None:
    """Run one file of tests under coverage and keep what it ran; nothing is kept when `end` comes first."""
    folder = BUILD / "coverage" / f"{key}.part"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    settings = folder / "coveragerc"
    settings.write_text(
        f"[run]\ndata_file = {folder}/data\ninclude = {copy}/boundcheck/*\npatch = subprocess\ncore = ctrace\n"
        "disable_warnings = no-data-collected,module-not-measured,couldnt-parse\n"
    )
    coverage = [python, "-m", "coverage"]
    tests = ["-m", "pytest", *QUIETLY, "-p", "tests.mutants.contexts", test_file]
    code, _ = within(
        [*coverage, "run", f"--rcfile={settings}", *tests],
        copy,
        end - time.monotonic(),
        BOUNDCHECK_TESTS_RUN=str(folder / "tests.json"),
    )
    if code is None:
        shutil.rmtree(folder)
        return
    within([*coverage, "combine", "--quiet", f"--rcfile={settings}"], copy, 600)
    if not (folder / "tests.json").exists():  # the file cannot be collected
        (folder / "tests.json").write_text(json.dumps({"collection": 0.0, "passed": {}, "failed": [test_file]}))
    folder.rename(folder.with_suffix(""))


@dataclass
class Chosen:
    """The tests that each file of tests passed, with seconds, and the lines that they ran."""

    folders: dict[str, Path]
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    failed: list[str] = field(default_factory=list[str])
    collection: dict[str, float] = field(default_factory=dict[str, float])
    runs: dict[str, dict[str, list[tuple[str, bytes]]]] = field(
        default_factory=dict[str, dict[str, list[tuple[str, bytes]]]]
    )

    def __post_init__(self) -> None:
        for test_file, folder in self.folders.items():
            found = json.loads((folder / "tests.json").read_text())
            self.seconds |= found["passed"]
            self.failed += found["failed"]
            self.collection[test_file] = found["collection"]
        least = min(self.collection.values(), default=0.0)  # starting pytest, which one process does once
        self.collection = {name: spent - least for name, spent in self.collection.items()}

    def _contexts(self, source: str) -> dict[str, list[tuple[str, bytes]]]:
        """For each file of tests: tests ("" for imports and subprocesses) with the lines of a source as bits."""
        if source not in self.runs:
            query = (
                "SELECT context.context, line_bits.numbits FROM line_bits JOIN file ON file.id = file_id "
                "JOIN context ON context.id = context_id WHERE substr(file.path, ?) = ?"
            )
            runs: dict[str, list[tuple[str, bytes]]] = {}
            for test_file, folder in self.folders.items():
                if (folder / "data").exists():
                    with contextlib.closing(sqlite3.connect(folder / "data")) as data:
                        rows = data.execute(query, (-len(source) - 1, f"/{source}")).fetchall()
                    if rows:
                        runs[test_file] = rows
            self.runs[source] = runs
        return self.runs[source]

    def tests(self, source: str, rows: range) -> list[list[str]]:
        """Tests that may notice a change of these lines, in three groups that become less likely.

        First those that run one of the lines; then those that run other lines of the source, since compiled code is not
        measured; then all in the files of tests that run the lines at some time, since modules and results are kept
        between tests. In a group, tests that are named like the source are first, then quick ones.
        """
        found: list[set[str]] = [set(), set(), set()]
        for test_file, contexts in self._contexts(source).items():
            hits = {
                context: any(row // 8 < len(bits) and bits[row // 8] >> row % 8 & 1 for row in rows)
                for context, bits in contexts
            }
            found[0] |= {name for name, hit in hits.items() if hit}
            found[1] |= hits.keys()
            if any(hits.values()):
                found[2] |= {name for name in self.seconds if name.startswith(f"{test_file}::")}
        words = source.removesuffix(".py").split("/")[1:]
        groups: list[list[str]] = []
        taken: set[str] = set()
        for group in found:
            new = (group & self.seconds.keys()) - taken
            groups.append(sorted(new, key=lambda n: (-sum(w in n for w in words), self.seconds[n], n)))
            taken |= new
        return groups

    def affordable(self, tests: Iterable[str], budget: float = BUDGET) -> list[str]:
        """As many tests in this order as fit into the time (with the collection of their files), at least one."""
        kept: list[str] = []
        opened: set[str] = set()
        spent = 0.0
        for name in tests:
            test_file = name.split("::")[0]
            cost = self.seconds[name] + (0 if test_file in opened else self.collection[test_file])
            if not kept or spent + cost <= budget:
                kept.append(name)
                opened.add(test_file)
                spent += cost
        return kept
