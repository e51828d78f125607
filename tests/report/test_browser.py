"""The pages in a real browser: no overflow, no error, no request, links that resolve, and what the first screen has.

Needs the package playwright and a Chromium, such as Debian's; without them these tests are skipped with the reason.
AXE_CORE, the path of axe-core's `axe.min.js`, adds its check of contrast and names.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_tools import SCOPE_OUT, hand_made

from boundcheck.report import write_report
from boundcheck.verdict import Grade, Outcome

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDTHS = (390, 768, 1280)
SCREEN = 900  # pixels, the first screen
playwright: Any = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (apt-get install chromium)")


@pytest.fixture(scope="module")
def browser() -> Generator[Any]:
    with playwright.sync_playwright() as running:
        launched = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


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
    write_report(results, where, catalogue=["scgd/theorem_3_3"])
    return where


class Watched:
    """A page of the browser that notes every console error and every request beyond the report's folder."""

    def __init__(self, browser: Any, folder: Path, width: int, scheme: str) -> None:
        self.page = browser.new_page(viewport={"width": width, "height": SCREEN}, color_scheme=scheme)
        self.faults: list[str] = []
        self.folder = folder
        self.page.on("console", lambda m: self.faults.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda r: None if r.url.startswith("file:") else self.faults.append(r.url))

    def show(self, name: str) -> Any:
        self.page.goto((self.folder / name).as_uri())
        return self.page

    def wide(self) -> int:
        """Pixels by which the page is wider than the window."""
        return self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


def sweep(browser: Any, folder: Path, names: list[str], widths: tuple[int, ...], schemes: tuple[str, ...]) -> list[str]:
    """Everything that is wrong with these pages."""
    found: list[str] = []
    for width in widths:
        for scheme in schemes:
            watched = Watched(browser, folder, width, scheme)
            for name in names:
                watched.show(name)
                if watched.wide() > 0:
                    found.append(f"{name} at {width}: {watched.wide()} pixels too wide")
                found += [f"{name} at {width}: {fault}" for fault in watched.faults]
                watched.faults.clear()
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


PARTS = ("#status", "#claim", "#how", "#assumptions", "#rests", "#rested", "#worked", "#command")


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
    edges = first_screen(page, "cite", ".verdict", "figure.interactive .log svg")
    assert edges["cite"] < edges[".verdict"] < edges["figure.interactive .log svg"] <= SCREEN
    assert "violated" in page.inner_text("figure .log")  # the ring and its word
    page.focus("figure .log svg")
    page.keyboard.press("ArrowRight")
    assert re.search(r"K \d.*metric .*bound", page.inner_text("figure output"))
    page.hover("figure .log svg")
    assert page.locator("figure .log .cursor circle").count() == 2
    page.click("button.scale")
    assert page.is_visible("figure .linear svg")
    assert not page.is_visible("figure .log svg")
    page.close()


def test_the_index_searches_and_filters_and_shows_what_is_violated_first(browser: Any, folder: Path) -> None:
    page = Watched(browser, folder, 1280, "light").show("index.html")
    rows = page.locator("table.claims tbody tr")
    assert "violated" in rows.first.inner_text().lower()
    page.fill("form.filter input", "holds")
    assert [r.is_visible() for r in rows.all()].count(True) == 1
    page.fill("form.filter input", "")
    page.select_option("form.filter select[name=outcome]", "VIOLATED")
    assert [r.is_visible() for r in rows.all()].count(True) == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") in ("A", "SELECT", "SUMMARY")
    page.close()


@pytest.mark.skipif("AXE_CORE" not in os.environ, reason="AXE_CORE does not name axe-core's axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(browser: Any, folder: Path, scheme: str) -> None:
    watched = Watched(browser, folder, 1280, scheme)
    found: list[str] = []
    for name in ("index.html", "violated.html", "catalogue.html", "paper.scgd.html", "statement.scgd.theorem_3_3.html"):
        page = watched.show(name)
        page.add_script_tag(path=os.environ["AXE_CORE"])
        result = page.evaluate("axe.run({runOnly: ['wcag2a', 'wcag2aa']})")
        found += [f"{name}: {v['id']}: {v['nodes'][0]['html'][:120]}" for v in result["violations"]]
    assert found == []


@pytest.mark.slow  # all statements, three widths, two schemes: about a thousand pages
def test_the_whole_catalogue_in_the_browser(browser: Any, tmp_path: Path) -> None:
    write_report([], tmp_path, catalogue=None)
    names = sorted(p.name for p in tmp_path.glob("*.html"))
    assert len(names) > 170
    assert sweep(browser, tmp_path, names, WIDTHS, ("light", "dark")) == []
    watched = Watched(browser, tmp_path, 1280, "light")
    late = []
    for name in (n for n in names if n.startswith("statement.")):
        edges = first_screen(watched.show(name), *PARTS)
        late += [(name, part, edge) for part, edge in edges.items() if edge > SCREEN]
    assert late == []
