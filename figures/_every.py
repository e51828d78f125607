"""Draws several figures side by side, each as its own script does.

Run: python figures/_every.py [-o DIR] [--workers N] NAME ...

A process draws one figure after the other, so that what all of them import and compile is there from the second on.
What they decided is written beside them as record.json, which `boundcheck report` shows as a page.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
from collections.abc import Sequence
from pathlib import Path

import _files as files
import _record as record

from boundcheck.core.executor import Lost, Where, chosen_executor

HERE = Path(__file__).parent


def draw(task: tuple[str, Path]) -> str:
    """Draws the figure of that name into the folder; what the script prints, for the process may have no output."""
    name, out = task
    with contextlib.redirect_stdout(io.StringIO()) as said:
        importlib.import_module(name).main(["-o", str(out)])
    return said.getvalue()


def main(argv: Sequence[str] | None = None) -> None:
    """Begins the figures in the order given."""
    there = sorted(p.stem for p in HERE.glob("[!_]*.py"))
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    files.add_folder(parser)
    parser.add_argument("--workers", type=int, help="processes (default: one a processor)")
    parser.add_argument("names", nargs="+", metavar="NAME", help="a figure, such as scgd_figure_1")
    chosen = parser.parse_args(argv)
    for name in chosen.names:
        if name not in there:
            parser.error(f"there is no figure '{name}'; known: {', '.join(there)}.")
    if chosen.workers is not None and chosen.workers < 1:
        parser.error("at least 1 process is needed.")
    out = files.folder_of(chosen.out, *chosen.names)
    found = chosen_executor(Where(chosen.workers)).map(draw, [(name, out) for name in chosen.names])
    for said in found:
        print(end="" if isinstance(said, Lost) else said)
    lost = [f"{n}: {f.reason}" for n, f in zip(chosen.names, found, strict=True) if isinstance(f, Lost)]
    if lost:
        raise SystemExit("\n".join(lost))
    table = record.rows(record.merged(record.known(), record.decided(out)))
    (out / "record.json").write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(out / "record.json")


if __name__ == "__main__":
    files.start(main)
