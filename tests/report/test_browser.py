"""The pages in a real browser: no overflow, no error, no request, links that resolve, and what the first screen has.

Needs the package playwright and a Chromium, such as Debian's; without them these tests are skipped with the reason.
The check of contrast and names needs axe-core: `make axe` puts it into build/axe (AXE_CORE names another `axe.min.js`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from report_tools import AXE, SCOPE_OUT, hand_made

from boundcheck.core.palette import PALETTE
from boundcheck.report import write_report
from boundcheck.verdict import Grade, Outcome

WIDTHS = (390, 768, 1280)
SCREEN = 900  # pixels, the first screen
# What may be wrong with a page: wider than the window, a formula cut at 1280, and links that lead nowhere.
FAULTS = """() => {
  const found = [], over = document.documentElement.scrollWidth - window.innerWidth;
  if (over > 0) found.push(over + " pixels too wide");
  if (window.innerWidth >= 1280) for (const e of document.querySelectorAll(".statement, .axis, dd.formula"))
    if (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1)
      found.push("formula cut: " + e.className + " " + e.textContent.slice(0, 40));
  for (const a of document.querySelectorAll('a[href^="#"]'))
    if (!document.getElementById(a.getAttribute("href").slice(1))) found.push("no place for " + a.getAttribute("href"));
  return found;
}"""
# Keeps the charts that uPlot draws on a page, the latest last.
KEEP = """let own; window.charts = [];
const construct = (of, given) => { const chart = new of(...given); window.charts.push(chart); return chart; };
Object.defineProperty(window, "uPlot", {get: () => own, set: made => { own = new Proxy(made, {construct}); }});"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small report: claims of several outcomes and the statements that they are about."""
    where = tmp_path_factory.mktemp("report")
    witness = {"constants": {"mu": "1/3"}, "index": {"K": "1"}, "round": 20, "metric": [9.0, 9.0], "bound": [8.0, 8.0]}
    results = [
        hand_made(Outcome.HOLDS, Grade.EXACT, name="holds", expect=Outcome.HOLDS),
        replace(
            hand_made(Outcome.VIOLATED, Grade.EXACT, name="violated", witness=witness, high=(8.0, 9.0, 1.0, 0.25)),
            metric_low=(8.0, 9.0, 0.5, 0.125),
        ),
        hand_made(Outcome.OUT_OF_SCOPE, Grade.EXACT, name="out " + "of scope with a long name " * 4, details=SCOPE_OUT),
        hand_made(Outcome.FAILED, None, name="failed", points=0),
    ]
    one = {"index": (Fraction(1),), "rounds": (20,), "metric_low": (9.0,), "metric_high": (9.0,), "bound": (6.0,)}
    results.append(replace(hand_made(Outcome.VIOLATED, Grade.EXACT, name="one point"), readings=(), **one))
    write_report(results, where, catalogue=["scgd/theorem_3_3"])
    return where


class Watched:
    """A page of the browser that notes every console error and every request beyond the report's folder."""

    def __init__(self, browser: Any, folder: Path, width: int, scheme: str) -> None:
        self.page = browser.new_page(viewport={"width": width, "height": SCREEN}, color_scheme=scheme)
        self.page.add_init_script(KEEP)
        self.faults: list[str] = []
        self.folder = folder
        self.page.on("console", lambda m: self.faults.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda r: None if r.url.startswith("file:") else self.faults.append(r.url))

    def show(self, name: str) -> Any:
        self.page.goto((self.folder / name).as_uri())
        return self.page

    def faults_of(self, name: str) -> list[str]:
        """Everything that is wrong with a page at this width."""
        found = [*self.show(name).evaluate(FAULTS), *self.faults]
        self.faults.clear()
        return [f"{name}: {fault}" for fault in found]


def sweep(browser: Any, folder: Path, names: list[str], widths: tuple[int, ...], schemes: tuple[str, ...]) -> list[str]:
    """Everything that is wrong with these pages."""
    found: list[str] = []
    for width in widths:
        for scheme in schemes:
            watched = Watched(browser, folder, width, scheme)
            found += [f"{width} {scheme} {fault}" for name in names for fault in watched.faults_of(name)]
            watched.page.close()
    return found


def test_no_page_overflows_fails_or_asks_the_network(browser: Any, folder: Path) -> None:
    names = sorted(p.name for p in folder.glob("*.html"))
    assert len(names) >= 8
    assert sweep(browser, folder, names, (390, 1280), ("light",)) == []


def test_both_schemes_have_their_own_ground(browser: Any, folder: Path) -> None:
    grounds: set[str] = set()
    for scheme in ("light", "dark"):
        watched = Watched(browser, folder, 1280, scheme)
        page = watched.show("index.html")
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.close()
    assert grounds == {"rgb(255, 255, 255)", "rgb(20, 22, 26)"}


def first_screen(page: Any, *selectors: str) -> dict[str, float]:
    """Lower edge of each element; infinity for one that is missing or empty."""
    ask = "s => { const e = document.querySelector(s); return e ? e.getBoundingClientRect().bottom : null }"
    return {s: page.evaluate(ask, s) or float("inf") for s in selectors}


PARTS = (".pair", ".verdict-line", "#assumptions", "#rests", "#rested", "#worked", "#command")
TALLEST = 6000  # pixels of a statement page on a phone


def test_the_first_screen_of_a_statement_has_what_a_referee_asks(browser: Any, folder: Path) -> None:
    watched = Watched(browser, folder, 1280, "light")
    for name in sorted(p.name for p in folder.glob("statement.*.html")):
        page = watched.show(name)
        assert max(first_screen(page, *PARTS).values()) <= SCREEN, name
        assert "boundcheck evaluate scgd/" in page.inner_text("#command")
        assert re.search(r"The bound is .*\d", page.inner_text("#worked"))
    watched.page.close()


def test_a_claim_page_has_paper_and_picture_first_and_tells_values(browser: Any, folder: Path) -> None:
    watched = Watched(browser, folder, 1280, "light")
    page = watched.show("violated.html")
    edges = first_screen(page, "cite", ".verdict", ".live")
    assert edges["cite"] < edges[".verdict"] < edges[".live"] <= SCREEN
    assert not page.is_visible("svg.plot")
    assert "violated" in page.text_content("svg.plot")  # the ring and its word
    page.focus(".live")
    page.keyboard.press("ArrowRight")
    told = page.inner_text(".controls output")
    assert told.startswith("K = 1: bound 8, metric, measured 9, ")
    assert told.endswith(", violated")
    page.hover(".live")
    assert "violated" not in page.inner_text(".controls output")
    assert page.inner_text(".controls output").startswith("K = 100: bound 4, metric, measured 0.75, ")
    page.close()


# Where the latest chart shows its lines: for each, the points as shares of the width and height of its axes.
PLACES = """() => { const u = charts.at(-1), wide = u.over.clientWidth, tall = u.over.clientHeight;
  return u.series.slice(1).map((s, k) => u.data[0].map((x, i) => [x, u.data[k + 1][i]]).filter(p => p[1] != null)
    .map(p => [u.valToPos(p[0], "x") / wide, u.valToPos(p[1], "y") / tall])); }"""
SCALES = "() => ['x', 'y'].map(k => [charts.at(-1).scales[k].min, charts.at(-1).scales[k].max])"


def test_the_script_draws_what_the_page_shows_without_it(browser: Any, folder: Path) -> None:
    svg = (folder / "violated.html").read_text().split('class="plot"')[1].split("</svg>")[0]
    left, top, wide, tall = (
        float(v)
        for v in re.findall(r'<clipPath id="chart"><rect x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)"', svg)[0]
    )
    drawn: list[list[tuple[float, float]]] = []
    for path in re.findall(r'<path class="line"[^>]* d="([^"]*)"', svg):
        points = [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)]
        drawn.append([((x - left) / wide, (y - top) / tall) for x, y in points])
    page = Watched(browser, folder, 1280, "light").show("violated.html")
    found = [[tuple(point) for point in line] for line in page.evaluate(PLACES)]
    assert len(drawn) >= 3
    for line in drawn:
        assert any(
            len(line) == len(own) and all(p == pytest.approx(q, abs=0.003) for p, q in zip(line, own, strict=True))
            for own in found
        ), line
    page.close()


def test_the_chart_shows_the_band_of_the_metric(browser: Any, folder: Path) -> None:
    page = Watched(browser, folder, 1280, "light").show("violated.html")
    pixel = page.evaluate(
        "() => { const u = charts[0], at = [u.valToPos(100, 'x', true), u.valToPos(0.9, 'y', true)];"
        "return [...u.ctx.getImageData(Math.round(at[0]) + 3, Math.round(at[1]), 1, 1).data]; }"
    )
    blue = [int(PALETTE["series-metric"][0][i : i + 2], 16) for i in (1, 3, 5)]
    assert pixel == pytest.approx([*blue, 0x33], abs=6)  # between 0.5 and 1, where the metric lies at K = 100
    page.close()


def test_the_chart_follows_the_scheme(browser: Any, folder: Path) -> None:
    page = Watched(browser, folder, 1280, "light").show("violated.html")
    strokes = "() => charts[0].series.slice(1).map(s => s.stroke && s.stroke(charts[0], 1))"
    light = page.evaluate(strokes)
    page.click("button.theme")
    dark = page.evaluate(strokes)
    assert PALETTE["series-bound"] == (light[0], dark[0])
    page.close()


def test_a_picture_zooms_and_changes_its_scales(browser: Any, folder: Path) -> None:
    page = Watched(browser, folder, 1280, "light").show("violated.html")
    whole = page.evaluate(SCALES)
    assert not page.is_enabled("[data-do=all]")
    page.click("[data-do=y]")
    assert page.inner_text("[data-do=y]") == "Logarithmic y axis"
    assert page.evaluate(SCALES)[1][0] < 0  # below the least value, which a logarithmic axis cannot be
    page.click("[data-do=y]")
    assert page.evaluate(SCALES) == whole
    box = page.locator(".live").bounding_box()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 120)
    page.mouse.up()
    (low, high), _ = page.evaluate(SCALES)
    assert whole[0][0] < low < high < whole[0][1]
    assert page.is_enabled("[data-do=all]")
    page.focus(".live")
    page.keyboard.press("0")
    assert page.evaluate(SCALES) == whole
    page.keyboard.press("+")
    (low, high), _ = page.evaluate(SCALES)
    assert high / low < whole[0][1] / whole[0][0]
    page.close()


def test_a_claim_with_one_point_has_a_picture(browser: Any, folder: Path) -> None:
    page = Watched(browser, folder, 1280, "light").show("one-point.html")
    metric, bound = page.evaluate(
        "[...document.querySelectorAll('dl.bars svg.bar rect')].map(e => e.getBoundingClientRect().width)"
    )
    assert metric == pytest.approx(1.5 * bound, abs=2)  # 9 against 6
    assert "above the bound: violated" in page.inner_text("dl.bars")
    page.close()


def test_the_index_searches_and_filters_and_shows_what_is_violated_first(browser: Any, folder: Path) -> None:
    page = Watched(browser, folder, 1280, "light").show("index.html")
    rows = page.locator("table.claims tbody tr")
    assert "violated" in rows.first.inner_text().lower()
    page.fill("form.filter[data-rows*=claims] input", "holds")
    assert [r.is_visible() for r in rows.all()].count(True) == 1
    page.fill("form.filter[data-rows*=claims] input", "")
    page.select_option("form.filter[data-rows*=claims] select[name=outcome]", "VIOLATED")
    assert [r.is_visible() for r in rows.all()].count(True) == 2
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") in ("A", "SELECT", "SUMMARY")
    page.close()


def test_a_statement_page_is_short_on_a_phone_and_opens_what_a_link_leads_to(browser: Any, folder: Path) -> None:
    watched = Watched(browser, folder, 390, "light")
    for name in sorted(p.name for p in folder.glob("statement.*.html")):
        page = watched.show(name)
        assert 900 < page.evaluate("document.documentElement.scrollHeight") <= TALLEST, name
    page = watched.show("statement.scgd.theorem_3_3.html")
    assert not page.is_visible("#sharp .statement")
    page = watched.show("statement.scgd.lemma_3_1.html")
    page.goto(f"{(folder / 'statement.scgd.theorem_3_3.html').as_uri()}#sharp")
    assert page.is_visible("#sharp .statement")
    assert not page.is_visible("#corrected .how")
    page.click("#corrected .verdict-line > summary")
    assert "takes on trust" in page.inner_text("#corrected .how")
    assert watched.faults == []
    page.close()


def test_two_greens_and_two_reds_differ_in_words_and_colour(browser: Any, folder: Path) -> None:
    for scheme in ("light", "dark"):
        page = Watched(browser, folder, 1280, scheme).show("statement.scgd.theorem_3_3.html")
        found = page.evaluate(
            """() => ["proved", "holds-where-tried", "violated", "proof-refuted"].map(word => {
              const e = document.createElement("span"); e.className = "badge s-" + word; document.body.append(e);
              const own = getComputedStyle(e), mark = getComputedStyle(e, "::before").content;
              return [own.color, own.backgroundColor, mark]; })"""
        )
        assert len({mark for _, _, mark in found}) == 4
        assert len({tuple(look[:2]) for look in found}) == 4
        page.close()


@pytest.mark.skipif(not AXE.is_file(), reason=f"axe-core is not at {AXE} (make axe)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_of_level_aa(browser: Any, folder: Path, scheme: str) -> None:
    names = ["index.html", "violated.html", "one-point.html", "paper.scgd.html", "statement.scgd.theorem_3_3.html"]
    assert axe(browser, folder, names, scheme) == []


def axe(browser: Any, folder: Path, names: list[str], scheme: str) -> list[str]:
    """What axe-core finds against WCAG 2 A and AA, contrast included."""
    watched = Watched(browser, folder, 1280, scheme)
    found: list[str] = []
    for name in names:
        page = watched.show(name)
        page.add_script_tag(path=str(AXE))
        result = page.evaluate("axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa']})")
        found += [f"{name} {scheme}: {v['id']}: {v['nodes'][0]['html'][:120]}" for v in result["violations"]]
    watched.page.close()
    return found


def test_the_front_page_goes_by_keyboard(browser: Any, folder: Path) -> None:
    """Every link and field is reached by Tab, in the order of the page, with a visible outline."""
    page = Watched(browser, folder, 1280, "light").show("index.html")
    seen: list[str] = []
    for _ in range(12):
        page.keyboard.press("Tab")
        tag, top, outline = page.evaluate(
            "(e => [e.tagName, e.getBoundingClientRect().top + scrollY, getComputedStyle(e).outlineStyle])"
            "(document.activeElement)"
        )
        assert outline != "none", tag
        seen.append(tag)
        del top
    assert {"BUTTON", "A", "INPUT", "SELECT"} <= set(seen)
    page.close()


@pytest.mark.slow  # all statements, three widths, two schemes: about a thousand pages, four minutes
def test_the_whole_catalogue_in_the_browser(browser: Any, tmp_path: Path) -> None:
    write_report([], tmp_path, catalogue=None)
    names = sorted(p.name for p in tmp_path.glob("*.html"))
    assert len(names) > 170
    assert sweep(browser, tmp_path, names, WIDTHS, ("light", "dark")) == []
    watched = Watched(browser, tmp_path, 1280, "light")
    phone = Watched(browser, tmp_path, 390, "light")
    late: list[str] = []
    for name in (n for n in names if n.startswith("statement.")):
        late += [name] if first_screen(watched.show(name), ".pair")[".pair"] > SCREEN else []
        assert phone.show(name).evaluate("document.documentElement.scrollHeight") <= TALLEST, name
    assert late == []
