"""The clients of update times 2, 3 and 5 under the four policies of the asynchronous paper, as Gantt pictures.

Run: python figures/async_fl_gantt.py [-o DIR]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import _async_fl as a
import _common as c
import _files as files

from boundcheck.methods.schedules import Buffer, FirstToArrive, Fixed, Policy, WaitForAll, Window
from boundcheck.methods.schedules.merge import fixed_timetable
from boundcheck.report.gantt import draw

NAME = "async_fl_gantt"
TIMES = (2, 3, 5)
HORIZON = 15
POLICIES: tuple[tuple[str, Policy], ...] = (
    ("synchronous: all", WaitForAll()),
    ("asynchronous: the first to arrive", FirstToArrive("one_by_one")),
    ("FedFix, dt = 2", Window(Fraction(2))),
    ("FedBuff, m = 2", Buffer(2, "one_by_one")),
)


def tables() -> list[tuple[str, Any]]:
    """The timetables up to the horizon, by name."""
    found: list[tuple[str, Any]] = []
    for name, policy in POLICIES:
        rounds = 1
        while True:
            table = fixed_timetable(Fixed(tuple(Fraction(t) for t in TIMES)), policy, rounds + 1)
            unit = 1.0 if table.unit is None else float(table.unit)
            if float(table.ends[-1]) * unit > HORIZON:
                break
            rounds += 1
        found.append((name, fixed_timetable(Fixed(tuple(Fraction(t) for t in TIMES)), policy, rounds)))
    return found


def facts(drawn: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Title and caption."""
    told = "; ".join(
        f"{name}: {table.rounds} aggregations, {len(table.members)} contributions, largest delay {table.max_delay}"
        for name, table in drawn
    )
    caption = (
        f"Clients with update times {', '.join(map(str, TIMES))}, up to time {HORIZON}. Bars: work on the model that "
        "was received at their start, with the delay of the contribution in aggregations; dots: contributions; "
        f"vertical lines: aggregations. {told}."
    )
    delays = {name: table.max_delay for name, table in drawn}
    agrees: list[str] = []
    differs: list[str] = []
    first, *others = delays.values()
    a.put(first == 0 < min(others), "Without waiting there are delays, and with it none.", agrees, differs)
    return {
        "title": "Who contributes when, under four policies",
        "caption": caption,
        "agrees": agrees,
        "differs": differs,
        "rounds": {name: table.rounds for name, table in drawn},
        "delays": delays,
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Draws and writes the figure."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    files.add_folder(parser)
    chosen = parser.parse_args(argv)
    out = files.folder_of(chosen.out, NAME)
    drawn = tables()
    figure, axes = a.canvas(2, 2)
    for ax, (name, table) in zip(axes.flat, drawn, strict=True):
        draw(ax, table)
        ax.set_title(name, loc="left", fontsize=9.5)
        ax.set_xlim(0, HORIZON * 1.02)
        ax.set_xlabel("time" if ax in axes[1] else "")
    figure.subplots_adjust(hspace=0.4)
    for path in c.save(figure, facts(drawn), out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
