"""The command schedule: numbers by hand, and pictures."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from cli_tools import Run
from matplotlib.figure import Figure

from boundcheck.methods.schedules import F80, FirstToArrive, Window, fixed_timetable
from boundcheck.report.figures import MAX_ROWS, draw_timetable, timetable


def test_timetables(boundcheck_cli: Run) -> None:
    """The text of the first one is in the documentation."""
    (own,) = boundcheck_cli("schedule", *["--times", "2,3,5", "--policy", "fedfix", "--dt", "2", "--json"]).json[
        "schedules"
    ]
    assert (own["period"], own["window"], own["largest_delay"], own["lead"]) == (6, 6, 2, 0)
    assert own["timetable"]["cohorts"] == [[0], [0, 1], [0, 2], [0, 1], [0], [0, 1, 2]]
    assert own["shares"][2]["exact"] == "1/3"
    buffered = boundcheck_cli(
        "schedule", *["--times", "2,3,5,7", "--policy", "fedbuff", "--buffer", "2", "--rounds", "3"]
    ).out
    assert "every 8 rounds, that is every 16 after 2 rounds" in buffered
    assert buffered.strip().splitlines()[-1].split() == ["2", "7", "0:0", "1:1"]
    assert "largest delay 130" in boundcheck_cli("schedule", "--times", "f80", "--clients", "50").out
    drawn = ("schedule", *["--times", "exponential:1,2", "--rounds", "4", "--json", "--seed"])
    first, again, other = (boundcheck_cli(*drawn, str(seed)).json["schedules"][0] for seed in (0, 0, 1))
    assert first == again
    assert first["timetable"]["ends"] != other["timetable"]["ends"]
    assert "delays have no bound" in boundcheck_cli("schedule", "--times", "exponential:1,2").out


def test_a_file(boundcheck_cli: Run, spec: Callable[..., Path]) -> None:
    path = spec(
        'clients = 3\n[method]\nkind = "fedavg_async"\nK = 5\neta_l = "0.9*largest"\ntimes = "f0"\nties = "joint"\n',
        "[[claim]]\nname = 'second'\nproblem = { kind = 'quadratics', clients = [{ A = [[1]] }, { A = [[2]] }] }",
        "method = { kind = 'fedfix', K = 1, eta_l = 0.1, times = 'f80', dt = '1/2' }",
    )
    found = boundcheck_cli("schedule", path, "--json").json["schedules"]
    facts = [(s["name"], s["period"], s["timetable"]["clients"]) for s in found]
    assert facts == [("fedavg_async", 1, 3), ("second", 2, 2)]


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_picture(boundcheck_cli: Run, tmp_path: Path, ending: str, start: bytes) -> None:
    target = tmp_path / f"gantt.{ending}"
    assert f"drawn: {target}" in boundcheck_cli("schedule", "--times", "1,2", "--plot", target).out
    assert target.read_bytes().startswith(start)


def test_what_the_picture_shows() -> None:
    table, many = (
        fixed_timetable(F80.of(3), Window(Fraction(1, 2)), 4),
        fixed_timetable(F80.of(100), FirstToArrive(), 200),
    )
    ax = Figure().add_subplot()
    draw_timetable(ax, table)
    bars = [path.get_extents() for bar in ax.collections for path in bar.get_paths()]
    assert len(bars) == len(table.members)
    widths = sorted(round(b.width, 6) for b in bars)
    assert widths == [0.2] * 4 + [0.6] * 2 + [1.0] * 2
    delays = sorted(str(d) for d in table.delays)
    assert sorted(t.get_text() for t in ax.texts) == delays
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0", "1", "2"]
    draw_timetable(ax, many)
    assert f"the first {MAX_ROWS} of 100" in ax.get_ylabel()
    # the picture that needs no package shows the same, in its own scale
    svg = timetable(table, "svg", "a < b").decode()
    drawn = sorted(float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)"', svg))
    assert [w / drawn[0] for w in drawn] == pytest.approx([w / widths[0] for w in widths], rel=0.01)
    assert sorted(re.findall(r'text-anchor="middle" fill="#1b1e22">(\d)<', svg)) == delays
    assert "a &lt; b" in svg
    assert "var(" not in svg
    assert f"the first {MAX_ROWS} of 100" in timetable(many, "svg").decode()
