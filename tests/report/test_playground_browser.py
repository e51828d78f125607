"""The playground of a statement page in a real browser: fields, sliders, copies, accessibility, random points.

Needs the package playwright and a Chromium; without them these tests are skipped with the reason.
"""

from __future__ import annotations

import json
import random
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from playground_tools import difference, drawn
from report_tools import AXE

from boundcheck.report import write_report
from boundcheck.sweeps.spec import sweep_from_text
from boundcheck.theory.discovery import readings, statement

NAME = "fedshuffle/theorem_5_1_strongly_convex"
TUNED = "fedshuffle/theorem_5_1_strongly_convex_tuned"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("playground")
    write_report([], where, catalogue=[NAME, TUNED, "feddane/remark_sampling"])
    return where


@pytest.fixture
def faults() -> list[str]:
    """Console errors, exceptions and requests beyond the report's folder."""
    return []


def show(
    browser: Any, folder: Path, faults: list[str], name: str = NAME, width: int = 1280, scheme: str = "light"
) -> Any:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme or "light")
    page.on("console", lambda m: faults.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith("file:") else faults.append(r.url))
    page.goto((folder / f"statement.{name.replace('/', '.')}.html").as_uri())
    page.evaluate("document.querySelector('#playground details').open = true")
    return page


def status(page: Any) -> dict[str, str]:
    """What the page says, by the words before it, after the next frame."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    found = page.evaluate(
        "[...document.querySelectorAll('#play-status dt')].map(e => [e.textContent, e.nextElementSibling.textContent])"
    )
    return {re.sub(r"\s+", " ", term): text for term, text in found}


def fields(page: Any) -> dict[str, str]:
    """The values of the fields that are shown, by symbol."""
    rows = "[...document.querySelectorAll('.play-row:not([hidden])')]"
    return dict(page.evaluate(f"{rows}.map(r => [r.dataset.name, r.querySelector('input').value])"))


def test_a_field_and_a_slider_change_the_answers(browser: Any, folder: Path, faults: list[str]) -> None:
    page = show(browser, folder, faults)
    own, start = readings(*NAME.split("/"))[0], fields(page)
    assert float(status(page)["Bound"]) == pytest.approx(own.evaluate(**start).value, rel=1e-12)
    page.fill("#play-R", "77")
    assert float(status(page)["Bound"]) == pytest.approx(own.evaluate(**start | {"R": 77}).value, rel=1e-12)
    page.fill("#play-eta_l", "1")
    assert status(page)["Scope"] == "✗ out of scope"
    assert "✗ fails" in page.inner_text(".play-conditions")
    page.click("#play-status button")  # the largest step
    assert status(page)["Scope"] == "✓ in scope"
    assert page.evaluate("document.activeElement.id") == "play-eta_l"
    page.focus("[data-name=R] input[type=range]")
    page.keyboard.press("End")
    assert fields(page)["R"] == "10000000"
    assert float(status(page)["Bound"]) == pytest.approx(own.evaluate(**fields(page)).value, rel=1e-12)
    page.fill("#play-L", "-1")
    assert "L = -1 is outside its domain: real numbers L > 0." in status(page)["Bound"]
    assert page.get_attribute("#play-L", "aria-invalid") == "true"
    page.click("#play-reset")
    assert fields(page) == start
    page.fill("#play-mu", "1/3")
    page.fill("#play-L", "0.33333333333333333333")
    assert status(page)["Scope"] == "? edge: ask `scope`"
    assert faults == []
    page.close()


def test_every_position_of_every_slider_is_within_the_domain(browser: Any, folder: Path, faults: list[str]) -> None:
    for path in sorted(folder.glob("statement.*.html")):
        name = path.stem.removeprefix("statement.").replace(".", "/", 1)
        page = show(browser, folder, faults, name)
        for place in (0, 133, 400):
            sliders = "document.querySelectorAll('.play-row input[type=range]')"
            page.evaluate(f"v => {sliders}.forEach(s => {{ s.value = v; s.oninput() }})", place)
            assert "outside" not in status(page)["Bound"], (name, place, status(page))
        page.close()
    assert faults == []


def test_a_prescribed_step_follows_its_formula(browser: Any, folder: Path, faults: list[str]) -> None:
    page = show(browser, folder, faults, TUNED)
    own = readings(*TUNED.split("/"))[0]
    assert status(page)["Scope"] == "✓ in scope"
    page.fill("#play-L", "20")
    assert status(page)["Scope"] == "✓ in scope"
    found = {name: text for name, text in fields(page).items() if name != "eta_l"}
    assert float(fields(page)["eta_l"]) == pytest.approx(float(own.prescribed("eta_l", **found)), rel=1e-13)
    page.fill("#play-eta_l", "1e-9")
    assert status(page)["Scope"] == "✗ out of scope"
    page.click("#play-status button")
    assert status(page)["Scope"] == "✓ in scope"
    assert faults == []
    page.close()


def test_what_is_copied_can_be_run(browser: Any, folder: Path, faults: list[str], tmp_path: Path) -> None:
    page = show(browser, folder, faults)
    page.fill("#play-eta_l", "1e-6")
    texts: dict[str, str] = {}
    for form in ("Python", "TOML", "command", "BibTeX", "LaTeX"):
        page.click(f"[data-copy={form}]")
        texts[form] = page.inner_text("#play-copy")
        page.wait_for_function("document.querySelector('.play-copies output').textContent !== ''")
    bound, constants = float(status(page)["Bound"]), fields(page)
    found: dict[str, Any] = {}
    exec(texts["Python"].replace("print(", "found = ("), found)
    assert found["found"].value == pytest.approx(bound, rel=1e-12)
    spec = tomllib.loads(texts["TOML"])
    assert {**spec["constants"], **{k: v[0] for k, v in spec["grid"]["constants"].items()}} == constants
    assert sweep_from_text(texts["TOML"]).kind == "bound"
    own = statement(spec["statement"])
    assert texts["command"].split()[:3] == ["boundcheck", "evaluate", own.id]
    assert dict(w.split("=") for w in texts["command"].split()[4::2]) == constants
    assert texts["BibTeX"].startswith("@article{horvath2022fedshuffle,")
    assert texts["LaTeX"] == own.latex()
    assert faults == []
    page.close()


def test_random_points_in_the_browser(browser: Any, folder: Path, faults: list[str]) -> None:
    page = show(browser, folder, faults)
    own = readings(*NAME.split("/"))
    data = json.loads(page.text_content("#playground-data"))
    rng, points = random.Random(1), []
    for seed in range(150):
        i = rng.randrange(len(own))
        texts = {name: data["start"][name] for name in data["readings"][i]["symbols"]}
        points.append((i, drawn(own[i], texts, seed, 3)))
    answers = page.evaluate(
        """points => { const b = boundcheckPlayground, d = JSON.parse(document.getElementById("playground-data").text);
        return points.map(([i, texts]) => { const f = b.compute(d, d.readings[i], texts);
          if (f.ball) { f.shown = b.show(f.ball, 15); delete f.ball; } return f; }); }""",
        points,
    )
    worst = max(difference(own[i], data["readings"][i], t, a) for (i, t), a in zip(points, answers, strict=True))
    assert worst <= 1e-12
    assert sum("error" not in a for a in answers) > 40  # the others are outside mu <= L
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_playground_fits_and_axe_finds_nothing(
    browser: Any, folder: Path, faults: list[str], width: int, scheme: str
) -> None:
    page = show(browser, folder, faults, width=width, scheme=scheme)
    page.click("[data-copy=Python]")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.evaluate(
        "[...document.querySelectorAll('.play input, .play select')].every(e => e.labels.length || e.ariaLabel)"
    )
    if AXE.is_file():
        page.add_script_tag(path=str(AXE))
        result = page.evaluate("axe.run('#playground', {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa']})")
        assert [f"{v['id']}: {v['nodes'][0]['html'][:120]}" for v in result["violations"]] == []
    page.reload()
    folded = page.evaluate("!document.querySelector('#playground details').open")
    assert folded == (width == 390)
    assert faults == []
    page.close()
