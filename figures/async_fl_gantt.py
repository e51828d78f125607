"""Figure 1 of the asynchronous paper, and clients of update times 2, 3 and 5 under four policies, as Gantt pictures.

Run: python figures/async_fl_gantt.py [-o DIR]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import _common as c
import _files as files
import _findings as fd

from boundcheck.methods.schedules import Buffer, FirstToArrive, Fixed, Policy, WaitForAll, Window
from boundcheck.methods.schedules.merge import fixed_timetable
from boundcheck.report.figures import draw_timetable

NAME = "async_fl_gantt"
TIMES = (2, 3, 5)
HORIZON = 15
PAPER = "Figure 1: times 1 and 2, dt = 1"
POLICIES: tuple[tuple[str, tuple[int, ...], Policy], ...] = (
    (PAPER, (1, 2), Window(Fraction(1))),
    ("synchronous: all", TIMES, WaitForAll()),
    ("asynchronous: the first to arrive", TIMES, FirstToArrive("one_by_one")),
    ("FedFix, dt = 2", TIMES, Window(Fraction(2))),
    ("FedBuff, m = 2", TIMES, Buffer(2, "one_by_one")),
)


def tables() -> list[tuple[str, Any]]:
    """The timetables up to the horizon, by name."""
    found: list[tuple[str, Any]] = []
    for name, times, policy in POLICIES:
        rounds = 1
        while True:
            table = fixed_timetable(Fixed(tuple(Fraction(t) for t in times)), policy, rounds + 1)
            unit = 1.0 if table.unit is None else float(table.unit)
            if float(table.ends[-1]) * unit > HORIZON:
                break
            rounds += 1
        found.append((name, fixed_timetable(Fixed(tuple(Fraction(t) for t in times)), policy, rounds)))
    return found


def facts(drawn: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Title and caption."""
    told = "; ".join(
        f"{name}: {table.rounds} aggregations, {len(table.members)} contributions, largest delay {table.max_delay}"
        for name, table in drawn
    )
    caption = (
        f"Top left: the two clients of the paper's Figure 1. The others: clients with update times "
        f"{', '.join(map(str, TIMES))}. Up to time {HORIZON}. Bars: work on the model that was received at their "
        f"start, with "
        "the delay of the contribution in aggregations; dots: contributions; vertical lines: aggregations. "
        f"{told}."
    )
    table = dict(drawn)[PAPER]
    share = [Fraction(sum(i in table.cohort(n) for n in range(table.rounds)), table.rounds) for i in range(2)]
    even = table.rounds // 2 * 2
    second = [n for n in range(even) if 1 in table.cohort(n)]
    decisions = {
        "every": fd.certain(
            share[0] == 1, f"client 1 contributes to {share[0] * table.rounds} of {table.rounds} rounds"
        ),
        "second": fd.certain(
            second == list(range(1, even, 2)),
            f"client 2 contributes to {len(second)} of the first {even} rounds, in turn",
        ),
    }
    return {
        "schema": 1,
        "title": "Who contributes when (Figure 1 of the asynchronous paper, and four policies)",
        "caption": caption,
        "findings": fd.judged("async_fl", "Figure 1", decisions),
        "notes": [],
        "rounds": {name: table.rounds for name, table in drawn},
        "delays": {name: table.max_delay for name, table in drawn},
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Draws and writes the figure."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    files.add_folder(parser)
    chosen = parser.parse_args(argv)
    out = files.folder_of(chosen.out, NAME)
    drawn = tables()
    figure, axes = c.canvas(2, 3)
    axes[1][2].set_axis_off()
    for ax, (name, table) in zip(axes.flat, drawn, strict=False):
        draw_timetable(ax, table)
        ax.set_title(name, loc="left", fontsize=9.5)
        ax.set_xlim(0, HORIZON * 1.02)
        ax.set_xlabel("time" if ax in axes[1] else "")
    figure.subplots_adjust(hspace=0.4)
    for path in c.save(figure, facts(drawn), out, NAME):
        print(path)


if __name__ == "__main__":
    files.start(main)
