"""Mutation testing of the files that decide: change the code in one place, run the tests that should notice.

`make mutants` runs this with cosmic-ray in an environment of its own. `deciding.toml` lists the files with the tests
that are run for each, and the named changes: faults that once passed all tests. `unnoticed.toml` lists the changes
that no test notices, each with the reason. A random sample of places is taken, as many from each group of files, and
one change at each; the seed fixes the sample. Changes are made in copies of the tracked files, never in the working
tree.

Exit code 1 where a named change passes, or where less than 95 % of the sampled changes that are not listed as
equivalent are noticed.
"""

from __future__ import annotations

import argparse
import math
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.testing import run_tests
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec, TestOutcome

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
NEEDED = 0.95
# Changes that a careless edit could make. Others of cosmic-ray's (such as + to <<) end in a TypeError at once, and
# would only raise the share.
OPERATORS = {
    *("core/ReplaceBinaryOperator_Add_Sub", "core/ReplaceBinaryOperator_Sub_Add"),
    *("core/ReplaceBinaryOperator_Mul_Div", "core/ReplaceBinaryOperator_Div_Mul"),
    *("core/ReplaceBinaryOperator_Pow_Mul", "core/ReplaceBinaryOperator_FloorDiv_Div"),
    *("core/ReplaceComparisonOperator_Eq_NotEq", "core/ReplaceComparisonOperator_NotEq_Eq"),
    *("core/ReplaceComparisonOperator_Lt_LtE", "core/ReplaceComparisonOperator_LtE_Lt"),
    *("core/ReplaceComparisonOperator_Gt_GtE", "core/ReplaceComparisonOperator_GtE_Gt"),
    *("core/ReplaceComparisonOperator_Lt_Gt", "core/ReplaceComparisonOperator_Gt_Lt"),
    *("core/ReplaceComparisonOperator_LtE_GtE", "core/ReplaceComparisonOperator_GtE_LtE"),
    *("core/ReplaceComparisonOperator_Is_IsNot", "core/ReplaceComparisonOperator_IsNot_Is"),
    *("core/ReplaceUnaryOperator_Delete_USub", "core/ReplaceUnaryOperator_Delete_Not"),
    *("core/AddNot", "core/ReplaceTrueWithFalse", "core/ReplaceFalseWithTrue"),
    *("core/ReplaceAndWithOr", "core/ReplaceOrWithAnd"),
    *("core/ReplaceBreakWithContinue", "core/ReplaceContinueWithBreak"),
    *("core/NumberReplacer", "core/ZeroIterationForLoop"),
}


@dataclass(frozen=True)
class Result:
    """One change: where, the removed and added lines, whether a test failed, seconds."""

    place: str
    change: str
    noticed: bool
    seconds: float


def copies(count: int, folder: Path) -> queue.Queue[Path]:
    """Copies of the tracked files, one for each worker."""
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    tracked = listing.stdout.splitlines()
    free: queue.Queue[Path] = queue.Queue()
    for k in range(count):
        copy = folder / str(k)
        for name in tracked:
            if (ROOT / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, copy / name)
        free.put(copy)
    return free


def idle(spec: MutationSpec) -> bool:
    """Whether the place decides nothing: an import for types, a keyword that only checks, a star that is no product."""
    row, column = spec.start_pos
    line = spec.module_path.read_text().splitlines()[row - 1]
    star = "Mul" in spec.operator_name and line[:column].rstrip()[-1:] in ("", "(", ",", "[", "{")
    return star or line == "if TYPE_CHECKING:" or line[:column].endswith(("(frozen=", " eq=", "strict="))


def files_of(group: dict[str, list[str]], only: str) -> list[str]:
    """The files of a group whose names contain `only`, patterns written out."""
    found = [path for pattern in group["files"] for path in sorted(ROOT.glob(pattern))]
    return [name for name in (str(path.relative_to(ROOT)) for path in found) if only in name]


def places(files: Iterable[str], seed: int, folder: Path) -> list[MutationSpec]:
    """All places of the files in random order, one change at each."""
    database = WorkDB(folder / "session.sqlite", WorkDB.Mode.create)
    init([ROOT / name for name in files], database, {})
    found: dict[tuple[str, tuple[int, int]], list[MutationSpec]] = defaultdict(list)
    for item in database.work_items:
        (spec,) = item.mutations
        if spec.operator_name in OPERATORS and not idle(spec):
            found[str(spec.module_path), spec.start_pos].append(spec)
    database.close()
    source = random.Random(seed)
    chosen = [source.choice(sorted(found[key], key=lambda s: (s.operator_name, s.occurrence))) for key in sorted(found)]
    source.shuffle(chosen)
    return chosen


def command(copy: Path, python: str, tests: Iterable[str]) -> str:
    """The tests in one copy, stopped at the first failure."""
    return (
        f"env -C {copy} PYTHONPATH={copy} OMP_NUM_THREADS=1 {python} -m pytest -x -q -p no:cacheprovider "
        f"-W ignore::pytest.PytestCacheWarning -m 'not slow' {' '.join(tests)}"
    )


def sampled(spec: MutationSpec, copy: Path, python: str, tests: Iterable[str], limit: float) -> Result:
    """Make one of cosmic-ray's changes in the copy, run the tests, and put the file back."""
    name = spec.module_path.relative_to(ROOT)
    moved = MutationSpec(
        copy / name, spec.operator_name, spec.occurrence, spec.start_pos, spec.end_pos, dict(spec.operator_args)
    )
    begin = time.monotonic()
    result = mutate_and_test([moved], command(copy, python, tests), limit)
    lines = [line for line in (result.diff or "").splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    change = " -> ".join(line[1:].strip() for line in lines)
    noticed = result.test_outcome is not TestOutcome.SURVIVED
    return Result(f"{name}:{spec.start_pos[0]}", change, noticed, time.monotonic() - begin)


def named(change: dict[str, str], copy: Path, python: str, tests: Iterable[str], limit: float) -> Result:
    """Make one of the named changes in the copy, run its tests, and put the file back."""
    path = copy / change["file"]
    text = path.read_text()
    if text.count(change["old"]) != 1:
        raise SystemExit(
            f"{change['file']} holds {text.count(change['old'])} times the text {change['old']!r}; once is needed."
        )
    begin = time.monotonic()
    path.write_text(text.replace(change["old"], change["new"]))
    try:
        outcome, _ = run_tests(command(copy, python, tests), limit)
    finally:
        path.write_text(text)
    shown = f"{change['old']} -> {change['new']}"
    return Result(change["file"], shown, outcome is TestOutcome.KILLED, time.monotonic() - begin)


def carried_out(jobs: list[Callable[[Path], Result]], free: queue.Queue[Path], title: str) -> Iterator[Result]:
    """The results of jobs, each in a copy that is free, with a line for each."""

    def work(job: Callable[[Path], Result]) -> Result:
        copy = free.get()
        try:
            return job(copy)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(free.qsize()) as pool:
        for k, result in enumerate(pool.map(work, jobs), start=1):
            said = "noticed" if result.noticed else "PASSED "
            print(
                f"{title} {k}/{len(jobs)} {said} {result.seconds:4.0f} s  {result.place}  {result.change}", flush=True
            )
            yield result


def unmutated(groups: list[dict[str, list[str]]], free: queue.Queue[Path], python: str, limit: float) -> None:
    """Exit where tests fail without any change."""
    copy = free.get()
    for group in groups:
        outcome, output = run_tests(command(copy, python, group["tests"]), limit)
        if outcome is not TestOutcome.SURVIVED:
            sys.exit(f"the tests of {', '.join(group['files'])} fail without a change:\n{output[-2000:]}")
    free.put(copy)


def main() -> int:
    """Run named and sampled changes, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="interpreter with the project's requirements")
    parser.add_argument("--number", type=int, default=200, help="of sampled changes in all (0: every place)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit", type=float, default=600, help="seconds for the tests of one change; more is noticed")
    parser.add_argument("--only", default="", help="part of a file's name: sample these files alone")
    asked = parser.parse_args()
    asked.python = str(Path(asked.python).absolute())  # a link to it would lose its environment if it were resolved
    deciding = tomllib.loads((HERE / "deciding.toml").read_text())
    known = tomllib.loads((HERE / "unnoticed.toml").read_text()).get("change", [])
    groups: list[dict[str, list[str]]] = deciding["group"]
    absent = [name for name in (t for g in groups for t in g["tests"]) if not (ROOT / name).exists()]
    absent += [pattern for group in groups for pattern in group["files"] if not list(ROOT.glob(pattern))]
    if absent:
        sys.exit(f"deciding.toml names {', '.join(absent)}, which are not there.")
    used = [group for group in groups if files_of(group, asked.only)]
    each = math.ceil(asked.number / max(len(used), 1)) or None
    with tempfile.TemporaryDirectory() as folder:
        free = copies(asked.workers, Path(folder))
        unmutated(used, free, asked.python, asked.limit)
        jobs: list[Callable[[Path], Result]] = [
            lambda copy, c=change: named(c, copy, asked.python, c["tests"], asked.limit)
            for change in deciding["change"]
            if asked.only in change["file"]
        ]
        fixed = list(carried_out(jobs, free, "named"))
        jobs, total = [], 0
        for group in used:
            chosen = places(files_of(group, asked.only), asked.seed, Path(folder))
            total += len(chosen)
            jobs += [
                lambda copy, s=spec, g=group: sampled(s, copy, asked.python, g["tests"], asked.limit)
                for spec in chosen[:each]
            ]
        found = list(carried_out(jobs, free, "sampled"))
    listed = {(entry["file"], entry["change"]): entry for entry in known}
    passed = [r for r in found if not r.noticed]
    equivalent = [r for r in passed if listed.get((r.place.split(":")[0], r.change), {}).get("equivalent")]
    real = len(found) - len(equivalent)
    noticed = sum(r.noticed for r in found)
    print(f"\nnamed changes: {sum(r.noticed for r in fixed)} of {len(fixed)} noticed")
    print(f"sampled changes (seed {asked.seed}, {len(found)} of {total} places): {noticed} noticed, {len(passed)} not")
    for r in passed:
        entry = listed.get((r.place.split(":")[0], r.change))
        print(f"  {r.place}: {r.change}\n    {'NOT LISTED' if entry is None else entry['reason']}")
    share = noticed / real if real else 1.0
    print(f"{noticed} of {real} changes that are not equivalent are noticed: {share:.1%} ({NEEDED:.0%} are needed)")
    return 0 if share >= NEEDED and all(r.noticed for r in fixed) else 1


if __name__ == "__main__":
    sys.exit(main())
