"""The pages: complete, escaped, readable offline and by everybody, whole or not there, the same every time."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from report_tools import SCOPE_IN, SCOPE_OUT, hand_made

import boundcheck.report
from boundcheck.core.palette import PALETTE
from boundcheck.errors import StoreError
from boundcheck.evidence.claim import Claim, ClaimResult, run_claim
from boundcheck.evidence.spec import load_claims
from boundcheck.evidence.studies import carry_out_study, kinds, load_studies
from boundcheck.report import write_report
from boundcheck.report.data import report_data
from boundcheck.report.pages import claim_page, environment, index_page
from boundcheck.report.pictures import ASSETS, claim_picture, describe, drawn_floor, log_axes, result_of
from boundcheck.verdict import Grade, Outcome

PACKAGE = Path(boundcheck.report.__file__).parent
METHOD = {"kind": "fedshuffle", "eta_l": "largest"}
VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Elements, attributes and text of a page; fails on tags that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def all_kinds() -> list[ClaimResult]:
    evil = '<script>alert("x")</script> & </svg>'
    sampled = {**SCOPE_IN, "statistics": {"seeds": 200, "level": 0.999, "assumptions": "Seeds are independent."}}
    witness = {"constants": {"mu": "1/3"}, "index": {"K": "1"}, "round": 20, "metric": [9.0, 9.0], "bound": [8.0, 8.0]}
    return [
        hand_made(Outcome.HOLDS, Grade.EXACT, name=evil, reason=evil, expect=Outcome.HOLDS),
        hand_made(
            Outcome.VIOLATED,
            Grade.EXACT,
            name="violated",
            statement="scgd/theorem_3_3/as_printed_main",
            witness=witness,
        ),
        hand_made(Outcome.OUT_OF_SCOPE, Grade.EXACT, name="out", details=SCOPE_OUT),
        hand_made(Outcome.UNDECIDED, Grade.SUPPORTED, name="sampled", details=sampled, high=[float("inf"), 4, 1, 0.25]),
        hand_made(Outcome.VACUOUS, Grade.EXACT, name="vacuous", expect=Outcome.HOLDS, failures=("expected HOLDS",)),
        hand_made(Outcome.FAILED, None, name="failed", points=0),
    ]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    report = report_data(all_kinds(), "Title <i>")
    return {"index": index_page(report)} | {c["verdict"]["outcome"]: claim_page(report, c) for c in report["claims"]}


def test_pages_nest_name_their_language_and_load_nothing(pages: dict[str, str]) -> None:
    for text in pages.values():
        page = Page(text)
        assert ("html", "lang", "en") in page.attributes
        assert page.tags["title"] >= 1
        loading = [a for a in page.attributes if a[1] in ("src", "srcset", "data", "action", "poster")]
        assert loading == []
        assert page.tags["link"] == 0
        assert page.tags["img"] == 0
        links = [value for tag, name, value in page.attributes if tag == "a" and name == "href"]
        assert all(re.fullmatch(r"[a-z0-9.-]+", link) for link in links)
        assert "url(" not in text.split("<body>")[0]
        assert "@import" not in text


def test_names_and_reasons_are_text_not_markup(pages: dict[str, str]) -> None:
    for name in ("index", "HOLDS"):
        page = Page(pages[name])
        assert page.tags["script"] == (1 if name == "index" else 4)  # page, data, uPlot, charts.js
        assert '<script>alert("x")</script> & </svg>' in page.text
    assert "Title <i>" in Page(pages["index"]).text


def test_tables_have_headers_and_pictures_have_words(pages: dict[str, str]) -> None:
    for outcome, text in pages.items():
        page = Page(text)
        assert page.tags["th"] >= page.tags["table"]
        assert all(value in ("col", "row") for tag, name, value in page.attributes if tag == "th" and name == "scope")
        heads = sum(1 for tag, name, _ in page.attributes if tag == "th" and name == "scope")
        assert heads == page.tags["th"]
        assert not re.search(r'<div class="scroll">\s*<table[^>]*>\s*<caption', text)  # captions do not scroll
        ids = {value for _, name, value in page.attributes if name == "id"}
        assert {value for _, name, value in page.attributes if name == "aria-labelledby"} <= ids
        if outcome not in ("index", "FAILED"):
            assert ("svg", "role", "img") in page.attributes
            assert page.tags["desc"] == text.count('class="plot"') == 1
            assert page.tags["math"] >= 3
    assert Page(pages["FAILED"]).tags["svg"] == 0


def test_the_index_shows_every_outcome_grade_and_claim(pages: dict[str, str]) -> None:
    text = Page(pages["index"]).text
    for outcome in Outcome:
        assert outcome.value.replace("_", " ") in text
    for grade in Grade:
        assert grade.value in text
    for result in all_kinds():
        assert result.claim.name in text
    assert "1 missed what was expected" in text
    assert "met" in text


def test_the_index_flags_what_does_not_scale_and_nothing_else(pages: dict[str, str]) -> None:
    text = pages["index"]
    flagged = text.split("in which units disagree</h2>")[1].split("<h2>")[0]
    assert re.findall(r"<code>([^<]*)</code>", flagged) == ["scgd/theorem_3_3/as_printed_main"]
    assert text.count("</span> dimensions</span>") == 1
    assert "units disagree" in pages["VIOLATED"]
    assert "units disagree" not in pages["HOLDS"]


def test_a_claim_page_tells_provenance_scope_and_the_way_back(pages: dict[str, str]) -> None:
    text = Page(pages["HOLDS"]).text
    for part in (
        "certified , from below: exact LDL^T of",
        "estimated , from above: mean of 10 measurements",
        "0.00125 (12.5 %)",
        "✓ holds",
        "? taken for granted",
        "conservative",
        "boundcheck compare script-alert-x-script-svg.toml",
        "Tightness: the least ratio of bound to metric",
    ):
        assert part in text
    assert text.count("tightness") == 1  # one number
    assert "Bound over metric" not in text
    out = Page(pages["OUT_OF_SCOPE"]).text
    assert "✗ fails" in out
    assert "not claimed here" in out
    assert "These numbers break the claim" in Page(pages["VIOLATED"]).text
    assert "99.9% band" in Page(pages["UNDECIDED"]).text
    assert "200 seeds" in Page(pages["UNDECIDED"]).text


def test_readings_of_another_bound_are_drawn_and_named_once(pages: dict[str, str]) -> None:
    legend = pages["HOLDS"].split('<ul class="legend">')[1].split("</ul>")[0]
    assert legend.count("conservative (in scope)") == 1
    assert "as printed main" not in legend  # the same bound: it would hide the claimed one
    assert "as printed main has the same bound" in Page(pages["HOLDS"]).text


def test_pictures_take_their_colours_from_the_page(pages: dict[str, str]) -> None:
    css = environment().get_template("style.css").render()
    assert all(css.count(f"--{name}: {tone};") >= 1 for name, both in PALETTE.items() for tone in both)
    for name in ("HOLDS", "OUT_OF_SCOPE", "UNDECIDED"):
        svg = pages[name].split('class="plot"')[1].split("</svg>")[0]
        used = dict(re.findall(r"var\(--([a-z-]+),(#[0-9a-f]{6})\)", svg))
        assert set(used) >= {"series-metric", "series-bound", "ink-soft", "rule"}
        assert used == {name: PALETTE[name][0] for name in used}
        assert not re.findall(r"(?<!,)#[0-9a-f]{6}|style=", svg)


def test_what_others_wrote_is_as_they_published_it() -> None:
    told = (ASSETS / "uPlot.txt").read_text()
    files = dict(re.findall(r"^(uPlot\S+) sha256 ([0-9a-f]{64})$", told, re.MULTILINE))
    assert set(files) == {"uPlot.iife.min.js", "uPlot.min.css"}
    assert {name: hashlib.sha256((ASSETS / name).read_bytes()).hexdigest() for name in files} == files
    assert "MIT License" in (ASSETS / "uPlot.LICENSE").read_text()
    version = told.split(",")[0].removeprefix("uPlot ")
    assert f"(v{version})" in (ASSETS / "uPlot.iife.min.js").read_text().split("\n")[0]


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_and_lines_stand_out_from_the_page(scheme: int) -> None:
    palette = {name: both[scheme] for name, both in PALETTE.items()}
    for name, colour in palette.items():
        if name in ("paper", "tint", "rule"):
            continue
        for ground in ("paper", "tint"):
            pair = sorted((_luminance(colour), _luminance(palette[ground])))
            assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.0, (name, ground)


def test_axes_are_logarithmic_only_where_the_values_allow_it() -> None:
    def axes(**changes: Any) -> tuple[bool, bool]:
        result = replace(hand_made(Outcome.HOLDS, Grade.EXACT), **changes)
        (data,) = report_data([result], "t")["claims"]
        assert 'class="plot"' in claim_picture(data)
        return log_axes(data)

    assert axes() == (True, True)
    assert axes(metric_low=(-1.0, -1.0, -1.0, -1.0)) == (True, False)
    assert axes(metric_low=(0.0, 0.0, 0.0, 0.0), metric_high=(0.0, 0.0, 0.0, 0.0)) == (True, False)
    assert axes(metric_low=(9.0, 9.0, 0.0, 0.0), metric_high=(9.0, 9.0, 0.0, 0.001)) == (True, True)
    assert axes(index=tuple(range(4))) == (False, True)


def _contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def test_a_full_disk_is_a_sentence_and_leaves_the_old_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_report(all_kinds()[:1], tmp_path, title="old")
    before = _contents(tmp_path)

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("boundcheck.report.write.os.fsync", full)
    with pytest.raises(StoreError, match=r"cannot be written to .*No space left"):
        write_report(all_kinds()[:1], tmp_path, title="new")
    assert _contents(tmp_path) == before
    with pytest.raises(StoreError, match="The report cannot be written"):
        write_report(all_kinds()[:1], tmp_path / "index.html")


# tables of many runs; the tests of these studies carry them out at a smaller size
DEAR = frozenset({"methods_compared", "training"})


@pytest.mark.parametrize(
    "without",
    [pytest.param(DEAR, id="but for dear studies"), pytest.param(frozenset(), id="whole", marks=pytest.mark.slow)],
)
def test_the_shipped_report_shows_what_it_says(without: frozenset[str], tmp_path: Path) -> None:
    claims = load_claims(PACKAGE / "default.toml", need_expect=True)
    if without:  # the first of each paper and outcome that needs no data set; the same claims are in examples/
        plain = [c for c in claims if "data" not in c.problem and c.engine == "exact"]
        claims = list({(c.id.partition("/")[0], c.expect): c for c in reversed(plain)}.values())
    results = [run_claim(claim) for claim in claims]
    assert [f for r in results for f in r.failures] == []
    assert {"HOLDS", "OUT_OF_SCOPE", "VACUOUS", "VIOLATED"} == {r.verdict.outcome.value for r in results}
    papers = {claim.statement.partition("/")[0] for claim in claims}
    assert papers == {"async_fl", "classics", "feddane", "fedshuffle", "partial_averaging", "scgd"}
    wanted = load_studies(PACKAGE / "default.toml")
    assert {asked.kind for asked in wanted} == set(kinds()) >= DEAR
    studies = [carry_out_study(asked) for asked in wanted if asked.kind not in without]
    assert {study.kind for study in studies} == set(kinds()) - without
    write_report(results, tmp_path, studies=studies)
    for path in tmp_path.glob("*.html"):
        page = Page(path.read_text())
        assert "Undefined" not in page.text
        assert "None" not in page.text.replace("None beyond the domains", "")
        for link in [value for tag, name, value in page.attributes if tag == "a" and name == "href"]:
            assert (tmp_path / link).is_file() or link.startswith(("https://doi.org/10.", "https://arxiv.org/abs/"))
    for path in tmp_path.glob("*.toml"):
        assert load_claims(path)[0] in claims


def test_a_curve_that_falls_to_nothing_is_clipped_and_said() -> None:
    tiny = {"metric_low": (1.0, 1e-90, 0.0, 0.0), "metric_high": (1.0, 1e-90, 1e-310, 5e-324)}
    for bound, floor in (((4.0, 2.0, 1.0, 0.5), 1e-30), ((1.0, 1e-40, 1e-200, 1e-320), 1e-66)):
        report = report_data([replace(hand_made(Outcome.HOLDS, Grade.EXACT), **tiny, bound=bound)], "t")
        (data,) = report["claims"]
        start = float(data["curve"]["trivial"][0]) if data["curve"]["trivial"] else bound[0]
        assert drawn_floor(data) / start == pytest.approx(floor, abs=0)
        assert 'class="plot"' in claim_picture(data)
        assert "to below 10⁻³⁰⁷" in describe(data)
        assert "are not drawn" in Page(claim_page(report, data)).text
    (plain,) = report_data([hand_made(Outcome.HOLDS, Grade.EXACT)], "t")["claims"]
    assert drawn_floor(plain) == 0


def test_pages_of_claims_that_are_gone_are_removed_and_nothing_else(tmp_path: Path) -> None:
    (stays, *_, goes, _) = all_kinds()
    write_report([stays, goes], tmp_path)
    (tmp_path / "mine.html").write_text("mine")
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "one.png").write_bytes(b"")
    assert (tmp_path / "vacuous.html").is_file()
    written = write_report([stays], tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {p.name for p in written} | {"mine.html", "figures"}
    assert 'href="figures/one.png"' in (tmp_path / "index.html").read_text()


def test_averages_prescribed_values_and_surrogates_are_said() -> None:
    two = {"kind": "uniform", "size": 2}
    own: dict[str, Any] = {"problem": {"kind": "fedshuffle_36"}}
    gen = Claim("fedshuffle/theorem_e_1_convex/sharp", **own, method=METHOD | {"kind": "fedshuffle_gen"}, at={"R": [1]})
    tuned = Claim("fedshuffle/theorem_5_1_convex_tuned/sharp", **own, method=METHOD | {"eta_l": "tuned"})
    m = Claim("fedshuffle/section_5_full_participation", **own, method=METHOD | {"eta_l": 1, "participation": two})
    claims = [gen, replace(tuned, constants={"R": 10}), m]
    report = report_data([run_claim(c) for c in claims], "Title")
    texts = [Page(claim_page(report, c)).text for c in report["claims"]]
    assert "at one r drawn from r = 0, ..., R − 1" in texts[0].replace("-", "−")
    assert "of the objective that the method minimises, whose constants are meant too" in texts[0]
    assert "Prescribed" not in texts[0]
    assert "Prescribed eta_l = 1/(" in texts[1]
    assert "of the objective that the method minimises" not in texts[1]
    assert "constant:participation/M ; without a run; no expectation: a constant of the participation" in texts[2]


def test_a_start_that_a_log_axis_leaves_out_sets_no_floor() -> None:
    fallen = {"index": (0, 10, 100, 1000), "rounds": (0, 10, 100, 1000), "bound": (0.0, 0.0, 0.0, 0.0)}
    fallen |= dict.fromkeys(("metric_low", "metric_high"), (4.0, 1e-32, 1e-60, 1e-301))
    (data,) = report_data([replace(hand_made(Outcome.HOLDS, Grade.EXACT), **fallen)], "t")["claims"]
    data = {**data, "curve": {**data["curve"], "trivial": []}}
    assert drawn_floor(data) == 0
    assert 'class="plot"' in claim_picture(data)


def test_the_result_of_a_comparison_comes_first() -> None:
    rows = [
        {"method": "slow", "statement": "p/a/x", "promised": 1000, "needed": 10},
        {"method": "fast", "statement": "p/b/x", "promised": 40, "needed": 20},
        {"method": "open", "statement": "p/c/x", "promised": 500, "needed": None},
        {"method": "mute", "statement": "p/d/x", "why": "out of scope"},
    ]
    words, bars = result_of({"kind": "methods_compared", "data": {"rows": rows}})
    assert words.startswith("p/b/x promises the target soonest: after 40 rounds of fast, where 20 are needed.")
    assert "promise 2 to 100 times the rounds" in words
    assert bars.index("fast") < bars.index("open") < bars.index("slow")
    assert "mute" not in bars
    assert bars.count("not reached") == 1
    # 100 % is the longest bar: log 40 / log 1000 of 99, plus 1
    (width,) = re.findall(r'<rect x="0.0%" width="(53.9%)" [^>]*var\(--series-bound,', bars)
    assert width
    assert result_of({"kind": "methods_compared", "data": {"rows": rows[3:]}}) == ("", "")
    rows[1] |= {"promised": 1, "needed": 2, "needed_from": 1}
    words, bars = result_of({"kind": "methods_compared", "data": {"rows": rows}})
    assert "after 1 round of fast, where 1 to 2 are needed. The bounds promise 0.5 to 100 times" in words
    assert "1 to 2 needed" in bars
    orders = {"columns": ["order", "outcome"], "rows": [["a", "reversed"], ["b", "reproduced"], ["c", "reproduced"]]}
    words, bars = result_of({"kind": "training", "tables": [orders]})
    assert words == "Rankings reproduced: 2 of 3; 1 reversed."
    assert not bars
