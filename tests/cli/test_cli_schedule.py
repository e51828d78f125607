"""The command schedule."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from cli_tools import Run
from matplotlib.figure import Figure

from boundcheck.methods.schedules import F80, FirstToArrive, Window, fixed_timetable
from boundcheck.report.figures import MAX_ROWS, draw_timetable, timetable


def test_a_timetable_from_options(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("schedule", "--times", "2,3,5", "--policy", "fedfix", "--dt", "2")
    assert found.code == 0
    assert "the cohorts repeat every 6 rounds, that is every 12" in found.out
    assert "window W 6, largest delay 2, share of empty rounds 0" in found.out
    assert "5      12           0:0 1:1 2:2" in found.out
    data = boundcheck_cli("schedule", "--times", "2,3,5", "--policy", "fedfix", "--dt", "2", "--json").json
    (own,) = data["schedules"]
    assert (own["period"], own["window"], own["largest_delay"], own["lead"]) == (6, 6, 2, 0)
    assert own["timetable"]["cohorts"] == [[0], [0, 1], [0, 2], [0, 1], [0], [0, 1, 2]]
    assert own["shares"][2]["exact"] == "1/3"


def test_buffers_and_rounds(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("schedule", "--times", "2,3,5,7", "--policy", "fedbuff", "--buffer", "2", "--rounds", "3")
    assert "every 8 rounds, that is every 16 after 2 rounds" in found.out
    assert found.out.strip().splitlines()[-1].split() == ["2", "7", "0:0", "1:1"]


def test_exponential_times_are_drawn(boundcheck_cli: Run) -> None:
    arguments = ("schedule", "--times", "exponential:1,2", "--rounds", "4", "--json", "--seed")
    first, again, other = (boundcheck_cli(*arguments, str(seed)).json["schedules"][0] for seed in (0, 0, 1))
    assert first == again
    assert first["timetable"]["ends"] != other["timetable"]["ends"]
    assert "delays have no bound" in boundcheck_cli("schedule", "--times", "exponential:1,2").out


def test_a_very_long_period(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("schedule", "--times", "f80", "--clients", "50")
    assert found.code == 0
    assert "largest delay 130" in found.out


def test_a_file(boundcheck_cli: Run, tmp_path: Path) -> None:
    spec = tmp_path / "one.toml"
    spec.write_text(
        'clients = 3\n[method]\nkind = "fedavg_async"\nK = 5\neta_l = "0.9*largest"\ntimes = "f0"\nties = "joint"\n'
        "[[claim]]\nname = 'second'\nproblem = { kind = 'quadratics', clients = [{ A = [[1]] }, { A = [[2]] }] }\n"
        "method = { kind = 'fedfix', K = 1, eta_l = 0.1, times = 'f80', dt = '1/2' }\n"
    )
    found = boundcheck_cli("schedule", str(spec), "--json").json["schedules"]
    assert [(s["name"], s["period"], s["timetable"]["clients"]) for s in found] == [
        ("fedavg_async", 1, 3),
        ("second", 2, 2),
    ]


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_the_picture(boundcheck_cli: Run, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"gantt.{ending}"
    found = boundcheck_cli("schedule", "--times", "1,2", "--plot", str(target))
    assert f"drawn: {target}" in found.out
    start = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[ending]
    assert target.read_bytes().startswith(start)


def test_what_the_picture_shows() -> None:
    table = fixed_timetable(F80.of(3), Window(Fraction(1, 2)), 4)
    ax = Figure().add_subplot()
    draw_timetable(ax, table)
    bars = [path.get_extents() for bar in ax.collections for path in bar.get_paths()]
    assert len(bars) == len(table.members)
    widths = sorted(round(b.width, 6) for b in bars)
    assert widths == [0.2] * 4 + [0.6] * 2 + [1.0] * 2
    delays = sorted(str(d) for d in table.delays)
    assert sorted(t.get_text() for t in ax.texts) == delays
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0", "1", "2"]
    many = fixed_timetable(F80.of(100), FirstToArrive(), 200)
    draw_timetable(ax, many)
    assert f"the first {MAX_ROWS} of 100" in ax.get_ylabel()
    # the picture that needs no package shows the same, in its own scale
    svg = timetable(table, "svg", "a < b").decode()
    drawn = sorted(float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)"', svg))
    assert [w / drawn[0] for w in drawn] == pytest.approx([w / widths[0] for w in widths], rel=0.01)
    bar_words = re.findall(r'text-anchor="middle" fill="#1b1e22">(\d)<', svg)
    assert sorted(bar_words) == delays
    assert "a &lt; b" in svg
    assert "var(" not in svg
    assert f"the first {MAX_ROWS} of 100" in timetable(many, "svg").decode()


BAD = [
    (["schedule"], "give --times"),
    (["schedule", "--times", "f80"], "give --clients"),
    (["schedule", "--times", "1,x"], "is not a number"),
    (["schedule", "--times", "1,2", "--policy", "fedfx", "--dt", "1"], "fedfix"),
    (["schedule", "--times", "1,2", "--policy", "fedfix"], "--policy fedfix needs --dt"),
    (["schedule", "--times", "1,2", "--dt", "1"], "parameter 'dt' is unknown"),
    (["schedule", "--times", "1,2", "--clients", "3"], "2 update times were given for 3 clients"),
    (["schedule", "--times", "1,2", "--policy", "fedbuff", "--buffer", "3"], "never fills"),
    (["schedule", "--times", "1,2", "--plot", "picture.gif"], "no known ending"),
    (["schedule", "missing.toml"], "missing.toml"),
    (["schedule", "missing.toml", "--dt", "1"], "--dt goes without a file"),
]


@pytest.mark.parametrize(("arguments", "said"), BAD, ids=str)
def test_bad_input(boundcheck_cli: Run, arguments: list[str], said: str) -> None:
    found = boundcheck_cli(*arguments)
    assert found.code == 2
    assert said in found.err
    assert found.err.count("\n") == 1


def test_a_file_without_times(boundcheck_cli: Run, tmp_path: Path) -> None:
    spec = tmp_path / "none.toml"
    spec.write_text("[method]\nkind = 'scgd'\nE = 2\neta = 1\n")
    found = boundcheck_cli("schedule", str(spec))
    assert found.code == 2
    assert "no method with update times" in found.err
