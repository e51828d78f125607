"""Figure 1 of the asynchronous paper, and clients of update times 2, 3 and 5 under four policies, as Gantt pictures."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from itertools import count, takewhile
from typing import Any

import _findings as fd
import _study as s

from boundcheck.methods.schedules import (
    Buffer,
    FirstToArrive,
    Fixed,
    Policy,
    Timetable,
    WaitForAll,
    Window,
    fixed_timetable,
)
from boundcheck.report.figures import draw_timetable, works

TIMES = (2, 3, 5)
HORIZON = 15
PAPER = "Figure 1: times 1 and 2, dt = 1"
POLICIES: Mapping[str, tuple[tuple[int, ...], Policy]] = {
    PAPER: ((1, 2), Window(Fraction(1))),
    "synchronous: all": (TIMES, WaitForAll()),
    "asynchronous: the first to arrive": (TIMES, FirstToArrive("one_by_one")),
    "FedFix, dt = 2": (TIMES, Window(Fraction(2))),
    "FedBuff, m = 2": (TIMES, Buffer(2, "one_by_one")),
}


def timetable(times: tuple[int, ...], policy: Policy) -> Timetable:
    """All aggregations up to the horizon."""
    tables = (fixed_timetable(Fixed(tuple(map(Fraction, times))), policy, rounds) for rounds in count(1))
    return list(takewhile(lambda table: works(table)[1][-1] <= HORIZON, tables))[-1]


def draw(tables: Mapping[str, Timetable], figure: Any) -> None:
    """A panel for each of them."""
    for place, (name, table) in enumerate(tables.items(), 1):
        ax = figure.add_subplot(2, 3, place)
        draw_timetable(ax, table)
        ax.set_title(name, loc="left", fontsize=9.5)
        ax.set_xlim(0, HORIZON * 1.02)
        ax.set_xlabel("time")


def findings(table: Timetable) -> dict[str, fd.Decision]:
    """What the paper says of its two clients."""
    cohorts = [set(table.cohort(n)) for n in range(table.rounds)]
    every, even = sum(0 in cohort for cohort in cohorts), table.rounds // 2 * 2
    second = [n for n in range(even) if 1 in cohorts[n]]
    return {
        "every": fd.certain(every == table.rounds, f"client 1 contributes to {every} of {table.rounds} rounds"),
        "second": fd.certain(
            second == list(range(1, even, 2)),
            f"client 2 contributes to {len(second)} of the first {even} rounds, in turn",
        ),
    }


def make() -> s.Made:
    """The figure."""
    tables = {name: timetable(*how) for name, how in POLICIES.items()}
    summary = "; ".join(
        f"{name}: {table.rounds} aggregations, {len(table.members)} contributions, largest delay {table.max_delay}"
        for name, table in tables.items()
    )
    caption = (
        f"Top left: the two clients of the paper's Figure 1. The others: clients with update times "
        f"{', '.join(map(str, TIMES))}. Up to time {HORIZON}. Bars: work on the model that was received at their "
        "start, with the delay of the contribution in aggregations; dots: contributions; vertical lines: aggregations. "
        f"{summary}."
    )
    data = {
        "rounds": {name: table.rounds for name, table in tables.items()},
        "delays": {name: table.max_delay for name, table in tables.items()},
    }
    shown = s.study("Who contributes when (Figure 1 of the asynchronous paper, and four policies)", caption, data=data)
    return s.Made(shown, findings(tables[PAPER]), partial(draw, tables))


main = s.script(make)

if __name__ == "__main__":
    s.start(main)
