"""Counts the lines of each room, long files and circles of imports, and keeps `house.toml`, which bounds them.

`python tests/house.py` prints each room's count and ceiling and lowers the ceilings to the counts, rounded up to the
next hundred. A ceiling is raised only with `--allow ROOM`, such as `--allow boundcheck.core`.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
CEILINGS = ROOT / "house.toml"
LONGEST = 450
SLACK = 100  # lines by which a ceiling may exceed the count, rounded up
VERIFIER = "boundcheck/verify/boundcheck_verify.py"  # one file, so that it can be copied alone
FOLDERS = ("boundcheck", "derivations", "figures", "benchmarks", "examples", "tests", "docs")
HEAD = """\
# Ceilings in lines of .py files, which tests/test_house.py enforces. `python tests/house.py` lowers them.
# "a + b": rooms counted together; "top": files directly in the folder; "whole": the folder with all rooms;
# examples are counted without examples/literature.
"""


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def room_of(name: str) -> tuple[str, str]:
    """The table of `house.toml` and the room that a file belongs to, by its path; ("", "") for none."""
    top, *inner = name.split("/")
    if top in ("boundcheck", "tests"):
        return top, inner[0] if len(inner) > 1 else "top"
    return ("", "") if top == "docs" or name.startswith("examples/literature/") else ("outside", top)


def shown(component: Iterable[str]) -> str:
    return ", ".join(sorted(component))


def rounded(count: int) -> int:
    """The count, rounded up to the next hundred."""
    return -(-count // 100) * 100


# --- circles of imports -----------------------------------------------------------------------------------------


def modules(root: Path = ROOT) -> dict[str, Path]:
    """The file of each module of the package, by its dotted name."""
    found: dict[str, Path] = {}
    for path in sorted((root / "boundcheck").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(p for p in parts if p != "__init__")] = path
    return found


def imported(source: str, known: set[str]) -> set[str]:
    """The modules of `known` that a file imports; `from package import name` means the submodule if there is one.

    Imports in functions, those under `if TYPE_CHECKING:` and `import_module` of a literal name are included.
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                found.add(submodule if submodule in known else node.module)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            found |= {a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    return found & known


def circles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """The sets of two or more modules that all reach one another (Tarjan's strongly connected components)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in sorted(imports[module]):
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            component: list[str] = []
            while not component or component[-1] != module:
                component.append(stack.pop())
            if len(component) > 1:
                found.append(sorted(component))

    for module in sorted(imports):
        if module not in index:
            visit(module)
    return sorted(found)


# --- the house --------------------------------------------------------------------------------------------------


@dataclass
class House:
    """Counts of lines by table and room, lines of the files that are too long, circles of imports."""

    rooms: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    long: dict[str, int] = field(default_factory=dict[str, int])
    circles: list[list[str]] = field(default_factory=list[list[str]])

    @classmethod
    def counted(cls, root: Path = ROOT) -> House:
        """The state of the files below `root`."""
        house = cls()
        for path in sorted(p for folder in FOLDERS for p in (root / folder).rglob("*.py")):
            name, count = str(path.relative_to(root)), lines(path)
            if count > LONGEST and name != VERIFIER:
                house.long[name] = count
            table, room = room_of(name)
            for counted in (room, "whole") if table in ("boundcheck", "tests") else (room,) if table else ():
                rooms = house.rooms.setdefault(table, {})
                rooms[counted] = rooms.get(counted, 0) + count
        files = modules(root)
        house.circles = circles({name: imported(path.read_text(), set(files)) for name, path in files.items()})
        return house

    @classmethod
    def read(cls) -> House:
        """The ceilings in `house.toml`."""
        tables = tomllib.loads(CEILINGS.read_text())
        return cls(tables["ceilings"], tables["long_files"], tables["circles"]["modules"])

    def count(self, table: str, room: str) -> int:
        """The lines of a room, or of several joined by " + "."""
        return sum(self.rooms.get(table, {}).get(part, 0) for part in room.split(" + "))

    def text(self) -> str:
        """These ceilings as the text of `house.toml`."""
        parts = [HEAD]
        for table, rooms in self.rooms.items():
            rows = [f"{json.dumps(room)} = {limit}\n" for room, limit in rooms.items()]
            parts.append(f"\n[ceilings.{table}]\n{''.join(rows)}")
        rows = [f"{json.dumps(name)} = {count}\n" for name, count in sorted(self.long.items())]
        parts.append(f"\n[long_files] # above {LONGEST} lines; the list only becomes shorter\n{''.join(rows)}")
        rows = ["  [\n" + "".join(f'    "{m}",\n' for m in circle) + "  ],\n" for circle in self.circles]
        parts.append(
            f"\n[circles] # modules that import each other; they only become fewer\nmodules = [\n{''.join(rows)}]\n"
        )
        return "".join(parts)


def faults(found: House, allowed: House) -> list[str]:
    """What is wrong with the counts under these ceilings, one sentence each."""
    said: list[str] = []
    for table, rooms in allowed.rooms.items():
        for room, ceiling in rooms.items():
            count = found.count(table, room)
            if count > ceiling:
                said.append(f"{table}, room {room}: {count} lines are above the ceiling of {ceiling} in house.toml.")
            elif ceiling > rounded(count) + SLACK:
                said.append(
                    f"{table}, room {room}: the ceiling of {ceiling} is too high for {count} lines; "
                    "`python tests/house.py` lowers it."
                )
    for table, rooms in found.rooms.items():
        named = [part for room in allowed.rooms.get(table, {}) for part in room.split(" + ")]
        said += [
            f"{table}, room {room}: house.toml names it {named.count(room)} times; once is needed."
            for room in rooms
            if named.count(room) != 1
        ]
    for name in sorted(found.long.keys() | allowed.long.keys()):
        count, limit = found.long.get(name), allowed.long.get(name, LONGEST)
        if count is None:
            said.append(
                f"{name}: it has at most {LONGEST} lines or is gone; `python tests/house.py` removes its entry."
            )
        elif count > limit:
            said.append(
                f"{name}: {count} lines are above the {limit} that a file (or its entry in house.toml) may have."
            )
    known = [set(circle) for circle in allowed.circles]
    for circle in found.circles:
        if not any(set(circle) <= listed for listed in known):
            said.append(f"imports form a circle that house.toml does not list: {shown(circle)}.")
    for listed in allowed.circles:
        if listed not in found.circles:
            said.append(
                f"house.toml lists a circle that has changed: {shown(listed)}; `python tests/house.py` mends it."
            )
    return said


def lowered(found: House, allowed: House, grow: Iterable[str] = ()) -> House:
    """The ceilings after work: none is higher than before, except those of the rooms `grow`."""
    rooms: dict[str, dict[str, int]] = {}
    for table, old in allowed.rooms.items():
        rooms[table] = {}
        for room, ceiling in old.items():
            reached = rounded(found.count(table, room))
            may = f"{table}.{room}" in grow
            if reached or may:  # a room without files goes
                rooms[table][room] = reached if may else min(ceiling, reached)
    for name in grow:  # a new room
        table, _, room = name.partition(".")
        if found.count(table, room):
            rooms.setdefault(table, {}).setdefault(room, rounded(found.count(table, room)))
    long = {name: min(count, found.long[name]) for name, count in allowed.long.items() if name in found.long}
    known = [set(circle) for circle in allowed.circles]
    return House(rooms, long, [c for c in found.circles if any(set(c) <= listed for listed in known)])


def main(arguments: list[str] | None = None) -> int:
    """Print the counts and lower the ceilings; the exit code is 1 while something is above its ceiling."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--allow", action="append", default=[], metavar="TABLE.ROOM", help="raise this ceiling too")
    asked = parser.parse_args(arguments)
    found, before = House.counted(), House.read()
    unknown = [n for n in asked.allow if not found.count(*n.partition(".")[::2])]
    if unknown:
        sys.exit(f"--allow {unknown[0]}: there is no such room with lines; a room is named as boundcheck.core.")
    after = lowered(found, before, asked.allow)
    for table, rooms in after.rooms.items():
        for room, ceiling in rooms.items():
            old = before.rooms.get(table, {}).get(room)
            change = "" if old == ceiling else f"  (was {old or 'absent'})"
            print(f"{table + '.' + room:50} {found.count(table, room):7} of {ceiling}{change}")
    CEILINGS.write_text(after.text())
    said = faults(found, after)
    print("\n".join(said))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
