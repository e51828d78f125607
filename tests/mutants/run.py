"""Mutation testing of each room: change the code in one place, run the tests that run that place.

`make mutants` runs this with cosmic-ray in an environment of its own, `make mutants MUTANTS="--room sweeps"` for one
room. A room is a folder of `boundcheck`, or `top` for the files directly in it. Its sample has 60 places, one change at
each; the seed fixes both. The named changes of `changes.toml`, faults that once passed all tests, are added;
`unnoticed.toml` lists changes that no test notices. Changes are made in copies of the files that git knows.

`build/mutants/lists/ROOM.json` has each change with its outcome: killed, timeout, survived, or flawed where the tests
fail without the change as well. A run ends after 45 minutes, with exit code 3 while something is left; the same command
goes on. After tests were cut, `--again build/mutants/lists/ROOM.json` runs the same changes.

Exit code 1 where a named change, or with --again a change that was killed before, is not noticed.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import queue
import random
import re
import shutil
import sys
import threading
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.mutants.chosen import BUILD, QUIETLY, ROOT, Chosen, decides, digest, keys, measure, tracked, within

HERE = Path(__file__).parent
UNFINISHED = 3
NOTICED = ("killed", "timeout")
# Changes that a careless edit could make. Others of cosmic-ray's (such as + to <<) end in a TypeError at once, and
# would only raise the share.
OPERATORS = (
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
)

Change = dict[str, Any]


def rooms(root: Path = ROOT) -> dict[str, list[str]]:
    """The files of each room: the folders of `boundcheck`, and `top`."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((root / "boundcheck").rglob("*.py")):
        name = str(path.relative_to(root))
        found[name.split("/")[1] if name.count("/") > 1 else "top"].append(name)
    return dict(found)


def same_at_start(a: list[str], b: list[str]) -> int:
    return next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def change_between(name: str, text: str, changed: str) -> Change:
    """The first and last line that differ between two texts of a file, and what lies between them in both."""
    a, b = text.splitlines(keepends=True), changed.splitlines(keepends=True)
    first = same_at_start(a, b)
    tail = same_at_start(a[first:][::-1], b[first:][::-1])
    old, new = a[first : len(a) - tail], b[first : len(b) - tail]
    return {"file": name, "line": first + 1, "old": "".join(old), "new": "".join(new)}


def made(change: Change, text: str) -> str:
    """The text of the file with the change."""
    lines = text.splitlines(keepends=True)
    start, old = change["line"] - 1, change["old"].splitlines(keepends=True)
    if lines[start : start + len(old)] != old:
        raise SystemExit(
            f"{change['file']}, line {change['line']}: the text of the change is not there; the code has changed since "
            "the list was written."
        )
    return "".join(lines[:start]) + change["new"] + "".join(lines[start + len(old) :])


def shown(change: Change) -> str:
    """The change on one line."""
    return f"{change['old'].strip()} -> {change['new'].strip()}"


def listed(name: str) -> list[dict[str, Any]]:
    return tomllib.loads((HERE / name).read_text()).get("change", [])


def named(room: list[str]) -> list[Change]:
    """The named changes in the files of a room."""
    found: list[Change] = []
    for entry in listed("changes.toml"):
        if entry["file"] in room:
            text = (ROOT / entry["file"]).read_text()
            if text.count(entry["old"]) != 1:
                raise SystemExit(
                    f"{entry['file']} has {text.count(entry['old'])} times {entry['old']!r}; once is needed."
                )
            found.append(
                change_between(entry["file"], text, text.replace(entry["old"], entry["new"])) | {"named": True}
            )
    return found


def idle(line: str, column: int, operator: str) -> bool:
    """Whether the place decides nothing: an import for types, a keyword that only checks, a star that is no product."""
    star = "Mul" in operator and line[:column].rstrip()[-1:] in ("", "(", ",", "[", "{")
    return star or line == "if TYPE_CHECKING:" or line[:column].endswith(("(frozen=", " eq=", "strict="))


def sampled(room: list[str], number: int, seed: int) -> tuple[list[Change], int]:
    """Changes at `number` random places of the files (0: at all), and how many places there are."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    operators = {name: get_operator(name)() for name in OPERATORS}
    places: dict[tuple[str, tuple[int, int]], list[tuple[str, int]]] = defaultdict(list)
    texts = {name: (ROOT / name).read_text() for name in room}
    for name, text in texts.items():
        nodes, lines = list(ast_nodes(get_ast(text))), text.splitlines()
        for operator, made_by in operators.items():
            for k, (start, _) in enumerate(place for node in nodes for place in made_by.mutation_positions(node)):
                if not idle(lines[start[0] - 1], start[1], operator):
                    places[name, start].append((operator, k))
    source = random.Random(seed)
    one_each = [(place[0], source.choice(sorted(places[place]))) for place in sorted(places)]
    source.shuffle(one_each)
    same = {(entry["file"], entry["change"]) for entry in listed("unnoticed.toml") if entry["equivalent"]}
    changes: list[Change] = []
    for name, (operator, k) in one_each:
        changed = mutate_code(texts[name], operators[operator], k)
        if changed is None or changed == texts[name]:
            continue
        change = change_between(name, texts[name], changed)
        if (name, shown(change)) not in same:
            changes.append(change)
        if len(changes) == number:
            break
    return changes, len(places)


class Runner:
    """Runs tests in copies of the tree until the time is over."""

    def __init__(self, asked: argparse.Namespace, names: list[str]) -> None:
        self.python, self.limit, self.prefixes = asked.python, asked.limit, asked.tests
        self.end = time.monotonic() + 60 * asked.minutes
        self.free: queue.Queue[Path] = queue.Queue()
        shutil.rmtree(BUILD / "copies", ignore_errors=True)
        for k in range(asked.workers):
            copy = BUILD / "copies" / str(k)
            for name in names:
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, copy / name)
            self.free.put(copy)
        self.names = names

    def carried_out(self, jobs: Iterable[Callable[[Path], object]], reserve: float = 0) -> None:
        """Do jobs, each in a copy that is free; none begins in the last `reserve` seconds or later."""

        def work(job: Callable[[Path], object]) -> None:
            copy = self.free.get()
            try:
                if time.monotonic() + reserve < self.end:
                    job(copy)
            finally:
                self.free.put(copy)

        with ThreadPoolExecutor(self.free.qsize()) as pool:
            try:
                list(pool.map(work, jobs))
            except BaseException:
                self.end = 0.0  # an interrupted run begins nothing more
                raise

    def measured(self) -> Chosen | None:
        """What all files of tests run, measured where it is not known yet; None where time is over before."""
        wanted = keys(ROOT, self.names, self.prefixes)
        folders = {name: BUILD / "coverage" / key for name, key in wanted.items()}
        missing = [name for name, folder in folders.items() if not folder.exists()]

        def job(name: str) -> Callable[[Path], object]:
            def measure_one(copy: Path) -> None:
                begin = time.monotonic()
                measure(name, wanted[name], copy, self.python, self.end)
                if folders[name].exists():
                    print(f"measured {name} in {time.monotonic() - begin:.0f} s", flush=True)

            return measure_one

        self.carried_out(map(job, missing))
        left = [name for name, folder in folders.items() if not folder.exists()]
        if left:
            print(f"{len(left)} of {len(folders)} files of tests are not measured yet.")
            return None
        chosen = Chosen(folders)
        if chosen.failed:
            print(f"not used, since they fail without a change: {', '.join(chosen.failed)}")
        return chosen

    def tests(self, copy: Path, tests: list[str]) -> tuple[int | None, str]:
        """Exit code and output of these tests, up to the first failure."""
        names = copy / "chosen-tests.txt"
        names.write_text("\n".join(tests))
        return within([self.python, "-m", "pytest", "-x", *QUIETLY, f"@{names}"], copy, self.limit)

    def outcome(self, change: Change, tests: list[str], copy: Path) -> tuple[str, str]:
        """What the tests say of a change, and the test that failed."""
        path = copy / change["file"]
        text, stamp = path.read_text(), path.stat()
        path.write_text(made(change, text))
        try:
            code, output = self.tests(copy, tests)
        finally:
            path.write_text(text)
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # no code compiled from the change fits
        if code == 0:
            return "survived", ""
        failed = re.search(r"^(?:FAILED|ERROR) (\S+::.*?)(?: - .*)?$", output, re.MULTILINE)
        by = failed[1] if failed and failed[1] in tests else ""
        used = tests[: tests.index(by) + 1] if by else tests
        unchanged, _ = self.tests(copy, used)
        if unchanged is None and len(used) > 1:  # too many for the time, whatever the change
            return self.outcome(change, used[: len(used) // 2], copy)
        return "flawed" if unchanged != 0 else "timeout" if code is None else "killed", by


def written(path: Path, found: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".part").write_text(json.dumps(found, indent=1))
    path.with_suffix(".part").replace(path)


def carry_out(path: Path, found: dict[str, Any], runner: Runner, chosen: Chosen) -> int:
    """Run the changes of a list that have no outcome, write each outcome, and print what was found."""
    mutants: list[Change] = found["mutants"]
    writing = threading.Lock()

    def job(mutant: Change) -> Callable[[Path], object]:
        def run_one(copy: Path) -> None:
            begin = time.monotonic()
            rows = range(mutant["line"], mutant["line"] + max(1, mutant["old"].count("\n")))
            groups = chosen.tests(mutant["file"], rows)
            every = [name for group in groups for name in group]
            tests = chosen.affordable(every)
            outcome, by = runner.outcome(mutant, tests, copy) if tests else ("survived", "")
            spent = round(time.monotonic() - begin, 1)
            print(f"{outcome} {spent} s  {mutant['file']}:{mutant['line']}  {shown(mutant)}", flush=True)
            used = {"tests": len(tests), "at_the_line": len(groups[0]), "of": len(every), "seconds": spent}
            with writing:
                mutant.update(outcome=outcome, by=by, **used)
                written(path, found)

        return run_one

    runner.carried_out((job(m) for m in mutants if m["outcome"] is None), 2 * runner.limit)
    reasons = {(entry["file"], entry["change"]): entry["reason"] for entry in listed("unnoticed.toml")}
    counts = {word: sum(m["outcome"] == word for m in mutants) for word in (*NOTICED, "survived", "flawed", None)}
    print(f"\n{found['room']}: " + ", ".join(f"{n} {word or 'not run yet'}" for word, n in counts.items() if n))
    wrong = 0
    for m in mutants:
        if m["outcome"] in ("survived", "flawed"):
            lost = m.get("before") in NOTICED or m.get("named", False)
            wrong += lost
            why = "WAS NOTICED BEFORE" if m.get("before") in NOTICED else "a named change" if lost else ""
            why = why or reasons.get(
                (m["file"], shown(m)), f"{m['tests']} of {m['of']} tests, {m['at_the_line']} at the line"
            )
            print(f"  {m['outcome']} {m['file']}:{m['line']}  {shown(m)}\n    {why}")
    return UNFINISHED if counts[None] else int(wrong > 0)


def main() -> int:
    """Run the changes of the rooms asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="interpreter with the project's requirements")
    parser.add_argument("--room", action="append", choices=sorted(rooms()), help="sample this room (default: each)")
    parser.add_argument(
        "--again", type=Path, metavar="LIST", help="run the changes of a list that an earlier run wrote"
    )
    parser.add_argument("--number", type=int, default=60, help="of changes in a room (0: at every place)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit", type=float, default=60, help="seconds for the tests of one change")
    parser.add_argument("--minutes", type=float, default=45, help="for this run; the next one goes on")
    parser.add_argument("--tests", nargs="+", default=["tests"], help="folders or files of tests that may be run")
    asked = parser.parse_args()
    asked.python = str(Path(asked.python).absolute())  # a link to it would lose its environment if it were resolved
    names = tracked()
    state = {
        "tree": digest(ROOT, filter(decides, names)),
        "tests": asked.tests,
        "number": asked.number,
        "seed": asked.seed,
    }
    wanted: dict[Path, dict[str, Any]] = {}
    if asked.again:
        old = json.loads(asked.again.read_text())
        if any(m["outcome"] is None for m in old["mutants"]):
            sys.exit(f"{asked.again} has changes that were not run yet; finish that run first.")
        kept = ("file", "line", "old", "new", "named")
        mutants = [
            {k: m[k] for k in kept if k in m} | {"before": m["outcome"], "outcome": None} for m in old["mutants"]
        ]
        wanted[asked.again.with_name(f"{asked.again.stem}-again.json")] = old | state | {"mutants": mutants}
    else:
        for room in asked.room or sorted(rooms()):
            wanted[BUILD / "lists" / f"{room}.json"] = {"room": room, "mutants": None} | state
    BUILD.mkdir(parents=True, exist_ok=True)
    lock = (BUILD / "lock").open("w")  # held until the process ends
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit("another run of `make mutants` is using build/mutants; wait until it ends.")
    runner = Runner(asked, names)
    chosen = runner.measured()
    if chosen is None:
        return UNFINISHED
    codes: list[int] = []
    for path, found in wanted.items():
        before = json.loads(path.read_text()) if path.exists() else {}
        if all(before.get(k) == v for k, v in state.items()):
            found = before
        elif found["mutants"] is None:
            files = rooms()[found["room"]]
            changes, found["places"] = sampled(files, asked.number, asked.seed)
            found["mutants"] = [m | {"outcome": None} for m in named(files) + changes]
        codes.append(carry_out(path, found, runner, chosen))
    if UNFINISHED in codes:
        print("The time is over; the same command goes on.")
        return UNFINISHED
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
