"""The pictures as SVG: axes, lines, bands, bars, sparklines."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import pytest

from boundcheck.core.palette import DASHES, HUES, PALETTE, hue, line_style, look
from boundcheck.core.svg import Chart, Line, axes, bar, chart_svg, extent, fixed, sparkline, tick_label, ticks


@pytest.mark.parametrize(
    ("low", "high", "log", "labels"),
    [
        (0, 10, False, ["0", "2", "4", "6", "8", "10"]),
        (-1, 1, False, ["−1", "−0.5", "0", "0.5", "1"]),
        (0, 3e6, False, ["0", "10⁶", "2·10⁶", "3·10⁶"]),
        (0, 3e-6, False, ["0", "10⁻⁶", "2·10⁻⁶", "3·10⁻⁶"]),
        (1, 1e4, True, ["1", "10", "100", "1000", "10000"]),
        (1e-9, 1e9, True, ["10⁻⁸", "10⁻⁴", "1", "10⁴", "10⁸"]),
        (1, 10, True, ["1", "2", "5", "10"]),
        (4, 6, True, ["4", "4.5", "5", "5.5", "6"]),  # less than a decade: as on a linear axis
    ],
)
def test_ticks(low: float, high: float, log: bool, labels: list[str]) -> None:
    found = ticks(low, high, log, 5)
    assert [label for _, label in found] == labels
    assert all(low <= value <= high for value, _ in found)


def test_a_tick_is_a_number_in_print() -> None:
    assert [tick_label(v, plain=False) for v in (0.0, 5e-7, -1e-7, 100.0)] == ["0", "5·10⁻⁷", "−10⁻⁷", "10²"]


def test_the_ends_of_an_axis() -> None:
    assert extent([math.nan, 0.0, 10.0], log=False) == pytest.approx((-0.4, 10.4))
    low, high = extent([0.0, -1.0, 1.0, 100.0, math.inf], log=True)
    assert (math.log10(low), math.log10(high)) == pytest.approx((-0.08, 2.08))
    assert extent([1e-9, 1.0, 100.0], log=True, floor=1e-3)[0] == pytest.approx(low)
    assert extent([], log=True) == (1.0, 10.0)
    low, high = extent([3.0, 3.0], log=False)
    assert low < 3 < high


def drawn(chart: Chart) -> dict[str, list[str]]:
    """The paths of a chart by their class."""
    found: dict[str, list[str]] = {}
    for path in ET.fromstring(chart_svg(chart, "one")).iter("{http://www.w3.org/2000/svg}path"):
        found.setdefault(path.get("class", ""), []).append(path.get("d", ""))
    return found


def test_a_line_breaks_where_an_axis_has_no_place() -> None:
    line = Line("a < b", "metric", [1, 2, 3, 4, 5], [1, math.nan, 100, 0, 10])
    chart = Chart("t & u", "words", [line], (False, True))
    (path,) = drawn(chart)["line"]
    assert re.sub(r"[\d. ]+", "", path) == "MMM"
    x, y = axes(chart)
    places = [tuple(map(float, at.split())) for at in path.split("M")[1:]]
    assert places == [
        pytest.approx((x.place(a), y.place(b)), abs=0.06) for a, b in zip((1, 3, 5), (1, 100, 10), strict=True)
    ]


def test_a_band_goes_out_above_and_comes_back_below() -> None:
    line = Line("m", "metric", [1, 10], [2, 20], [0.0, 10], [4, 40])
    chart = Chart("t", "", [line], (True, True))
    (band,) = drawn(chart)["band"]
    heights = [float(v) for v in re.findall(r"[ML][\d.]+ ([\d.]+)", band)]
    _, y = axes(chart)
    # a low end of 0, which a logarithmic axis does not have, lies on its lower edge
    assert heights == pytest.approx([y.place(4), y.place(40), y.place(10), y.start], abs=0.06)
    assert band.endswith("Z")


def test_a_file_of_its_own_has_colours_and_no_variables() -> None:
    svg = fixed(chart_svg(Chart("t", "", [Line("m", "bound", [1, 2], [1, 2])], (False, False)), "one"))
    assert svg.startswith("<?xml")
    assert "var(" not in svg
    assert PALETTE["series-bound"][0] in svg


def test_small_pictures_are_hidden_from_screen_readers() -> None:
    svg = sparkline([("bound", [100.0, 10.0, 1.0]), ("metric", [50.0, 5.0, 0.5])])
    bound, metric = (
        [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", d)] for d in re.findall(r' d="([^"]*)"', svg)
    )
    assert bound[1] - bound[0] == pytest.approx(bound[2] - bound[1], abs=0.11)  # one decade each
    assert all(m > b for b, m in zip(bound, metric, strict=True))  # smaller values lie lower
    for small in (svg, bar("metric", 10, 50)):
        assert ET.fromstring(small).get("aria-hidden") == "true"


def test_lines_differ_by_more_than_their_colour() -> None:
    assert look("bound", 3) == ("bound", 0)
    assert len({look(name, k) for k, name in enumerate("abcdef")}) == len(DASHES)
    assert line_style("bound") == {"color": PALETTE["series-bound"][0], "linestyle": "solid"}
    assert line_style("gap", 1)["linestyle"] == (0, (3.5, 2.0))
    assert len({hue(k) for k in range(len(HUES))}) == len(HUES)
    assert hue(len(HUES)) == hue(0)
