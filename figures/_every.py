"""Makes figures and tables side by side, each as its own script does: those named, or all of them.

Run: python figures/_every.py [-o DIR] [--workers N] [NAME ...]

A process makes one after the other, so that what all of them import and compile is there from the second on; those that
say so in `SECONDS` are begun first, the longest at the front. What they decided is written beside them as record.json,
which `boundcheck report` shows as a page.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path

import _record as record
import _study as s

from boundcheck.core.executor import Lost, Where, chosen_executor


def scripts() -> list[str]:
    """The scripts of this folder, the longest first."""
    seconds: dict[str, int] = {}
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
        stated = re.search(r"^SECONDS = (\d+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        seconds[path.stem] = int(stated[1]) if stated else 0
    return sorted(seconds, key=lambda name: -seconds[name])


def draw(task: tuple[str, Path]) -> str:
    """Makes the figure of that name in the folder; what the script prints, for the process may have no output."""
    name, out = task
    with contextlib.redirect_stdout(io.StringIO()) as said:
        importlib.import_module(name).main(["-o", str(out)])
    return said.getvalue()


def main(argv: Sequence[str] | None = None) -> None:
    """Begins the figures in the order given."""
    there = scripts()
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    s.add_folder(parser)
    parser.add_argument("--workers", type=int, help="processes (default: one a processor)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a figure, such as scgd_figure_1 (default: all)")
    chosen = parser.parse_args(argv)
    for name in chosen.names:
        if name not in there:
            parser.error(f"there is no figure '{name}'; known: {', '.join(sorted(there))}.")
    names = chosen.names or there
    out = s.folder_of(chosen.out, *names)
    found = chosen_executor(Where(chosen.workers)).map(draw, [(name, out) for name in names])
    for said in found:
        print(end="" if isinstance(said, Lost) else said)
    lost = [f"{n}: {f.reason}" for n, f in zip(names, found, strict=True) if isinstance(f, Lost)]
    if lost:
        raise SystemExit("\n".join(lost))
    table = record.rows(record.merged(record.known(), record.decided(out)))
    (out / "record.json").write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(out / "record.json")


if __name__ == "__main__":
    s.start(main)
