"""The site of the documentation: links, search from a folder, and what axe-core finds (a minute to build)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docs.hooks.links import faults

ROOT = Path(__file__).parent.parent
AXE = Path(os.environ.get("AXE_CORE") or ROOT / "build/axe/node_modules/axe-core/axe.min.js")
# a page of each kind: with code, a wide table, cells of a notebook, formulas, signatures
KINDS = ("index.html", "how-to/theorem.html", "reference/values.html", "notebooks/referee.html", "gallery/scgd.html",
         "reference/api.html")  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`make docs` without a warning and without a network."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-d", str(folder)]
    own = {"PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1", "http_proxy": "http://127.0.0.1:9"}
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **own})
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_every_link_is_relative_and_leads_somewhere(site: Path) -> None:
    assert len(list(site.rglob("*.html"))) > 40
    assert list(faults(site)) == []
    notebooks = [page.stem for page in (ROOT / "docs" / "notebooks").glob("*.md")]
    assert sorted(page.stem for page in (site / "notebooks").glob("*.ipynb")) == sorted(notebooks)
    assert not (site / "hooks").exists()


def test_faults_of_links_are_found(tmp_path: Path) -> None:
    page = '<p id="here"></p><a href="#here">a</a><a href="https://a.example/b">b</a><img src="data:image/png;base64,">'
    (tmp_path / "a.html").write_text(page, encoding="utf-8")
    assert list(faults(tmp_path)) == []
    for wrong in (
        '<a href="b.html">',
        '<a href="#there">',
        '<script src="https://a.example/b.js">',
        '<img src="/a.png">',
        '<a href="../a.html">',
        '<a href=".">',
    ):
        (tmp_path / "a.html").write_text(page + wrong, encoding="utf-8")
        assert len(list(faults(tmp_path))) == 1, wrong


@pytest.mark.slow
def test_search_works_without_a_server(site: Path, browser: Any) -> None:
    page, asked = browser.new_page(), list[str]()
    page.on("request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else asked.append(r.url))
    page.goto((site / "gallery" / "scgd.html").as_uri())
    page.keyboard.press("s")
    page.locator("input.md-search__input").press_sequentially("vacuous", delay=50)
    page.wait_for_selector(".md-search-result__link", timeout=60_000)
    found = [link.get_attribute("href") for link in page.query_selector_all(".md-search-result__link")]
    assert any(re.search(r"read-a-verdict|glossary|faq", address) for address in found)
    assert asked == []
    page.close()


@pytest.mark.slow
@pytest.mark.skipif(not AXE.is_file(), reason=f"axe-core is not at {AXE} (make axe)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_no_fault_of_level_aa(site: Path, browser: Any, width: int, scheme: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    found: list[str] = []
    for name in KINDS:
        page.goto((site / name).as_uri())
        page.wait_for_timeout(300)  # the theme wraps tables
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0, name
        page.add_script_tag(path=str(AXE))
        result = page.evaluate("axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa']})")
        found += [f"{name}: {v['id']}: {v['nodes'][0]['html'][:120]}" for v in result["violations"]]
    page.close()
    assert found == []
