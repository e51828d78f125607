# pyright: reportPrivateUsage=false
"""The catalogue: status computed and carried over, differences marked in the formula, pages whole and linked."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pytest
from report_tools import hand_made

from boundcheck.core import providers
from boundcheck.evidence.shipped_files import shipped_witnesses
from boundcheck.evidence.standing import Evidence, Kind, Known, Sources, Word
from boundcheck.proof.records import NOT_CHECKED, Record, content, record
from boundcheck.report import write_report
from boundcheck.report.catalogue import Catalogue, catalogue
from boundcheck.report.data import report_data
from boundcheck.report.evidence_kinds import KINDS, kinds
from boundcheck.report.formulas import _latex, arranged, claim_lines, marked
from boundcheck.report.pages import index_page
from boundcheck.report.worked import worked_number
from boundcheck.theory.discovery import readings, statement
from boundcheck.verdict import Grade, Outcome

LEMMA, THEOREM, LAST = "scgd/lemma_3_1/corrected", "scgd/theorem_3_3/corrected", "scgd/theorem_3_4/corrected"
NAMES = tuple(id.rpartition("/")[0] for id in (LEMMA, THEOREM, LAST))


def proved(*cites: str) -> Record:
    return Record("PROVED", counts={"PROVED": 3}, cites=cites)


def chain(lemma: Record | None, **more: Mapping[str, str]) -> Known:
    """A theorem that cites a lemma, and a last statement that cites the theorem; both proofs are without a fault."""
    records = {THEOREM: proved(LEMMA), LAST: proved(THEOREM)} | ({} if lemma is None else {LEMMA: lemma})
    return Known(records, more.get("violations", {}), {})


def page_of(
    name: str, known: Known, witnesses: Mapping[str, Path] | None = None, read: Callable[[str], str] = unescape
) -> str:
    """The page of a statement where this is known."""
    listed = Catalogue((name,), Sources(known, (), witnesses))
    pages = listed.pages({"title": "T", "versions": {}, "claims": [], "catalogue": listed.data()})
    return read(pages[f"statement.{name.replace('/', '.')}.html"])


@pytest.mark.parametrize(
    ("lemma", "state"),
    [
        (None, "not derived"),
        (Record("REFUTED", counts={"REFUTED": 1}, failing={"a": "REFUTED"}), "refuted"),
        (Record(NOT_CHECKED, "no record"), "not checked"),
        (Record("UNDECIDED", counts={"UNDECIDED": 1}, failing={"a": "UNDECIDED"}), "not proved"),
    ],
)
def test_what_is_wrong_with_a_lemma_carries_over(lemma: Record | None, state: str) -> None:
    known = chain(lemma)
    assert known.standing(THEOREM).word is Word.GAP
    assert f"rests on {LEMMA}, which is {state}" in known.standing(THEOREM).sentence
    assert known.standing(LAST).word is Word.GAP
    assert f"rests on {LEMMA} (through {THEOREM}), which is {state}" in known.standing(LAST).sentence
    assert chain(proved()).standing(LAST).word is Word.PROVED


def test_a_counterexample_counts_more_than_a_proof_and_carries_over() -> None:
    known = chain(proved(), violations={LEMMA: "At K = 4 it breaks."})
    assert known.standing(LEMMA).word is Word.CONTRADICTORY
    assert "which is refuted" in known.standing(LAST).sentence
    assert Known({}, {}, {LAST: {"HOLDS": 2}}).standing(LAST).word is Word.HOLDS
    assert Known({}, {}, {}).standing(LAST).word is Word.UNTESTED


def test_a_circle_of_citations_ends() -> None:
    known = Known({LEMMA: proved(LAST), THEOREM: proved(LEMMA), LAST: proved(THEOREM)}, {}, {})
    assert known.standing(LAST).word is Word.PROVED


def test_every_page_that_depends_on_a_planted_unproved_lemma_says_so() -> None:
    listed = Catalogue(NAMES, Sources(chain(None)))
    report = {"title": "T", "versions": {}, "claims": [], "catalogue": listed.data()}
    pages = listed.pages(report)
    pages["index.html"] = index_page(report_data([], "T") | report, listed.papers())
    for name in ("index.html", "paper.scgd.html"):
        assert pages[name].count(f"rests on {LEMMA}, which is not derived") >= 1
        assert f"rests on {LEMMA} (through {THEOREM}), which is not derived" in pages[name]
    for name in ("theorem_3_3", "theorem_3_4"):
        text = pages[f"statement.scgd.{name}.html"]
        first = text[text.index('id="first"') : text.index('id="playground"')]
        assert "RESTS ON A GAP" in first
        assert re.search(r"rests on <a href=\"statement\.scgd\.lemma_3_1\.html#corrected\">", first)
        assert "which is not derived" in first
    whole = Catalogue(NAMES, Sources(chain(proved())))
    fine = whole.pages({**report, "catalogue": whole.data()})
    assert not any("not derived" in text for name, text in fine.items() if "theorem" in name)


def test_a_refuted_step_is_shown_with_the_values_of_its_record() -> None:
    id = "scgd/lemma_3_1/as_printed_appendix"
    found = record(id)
    assert found is not None
    text = page_of("scgd/lemma_3_1", Known({id: found}, {}, {}))
    (values,) = found.witnesses.values()
    assert values["eta"] in text


def test_a_step_that_cites_a_refuted_reading_is_refuted_and_links_it() -> None:
    id, cited = "scgd/theorem_3_3/as_printed_main", "scgd/lemma_3_1/as_printed_main"
    records = {one: found for one in (id, cited) if (found := record(one))}
    text = page_of("scgd/theorem_3_3", Known(records, {}, {}))
    outline = text.partition("Derivation of as printed main:")[2].partition("</ol>")[0]
    (step,) = [item for item in outline.split("<li>") if "</span> lemma " in item]
    assert ">REFUTED</span>" in step
    assert cited in step.partition("Cites ")[2]


def test_each_group_of_what_a_proof_rests_on_opens_on_the_page() -> None:
    known = Known({THEOREM: record(THEOREM), LEMMA: record(LEMMA)}, {}, {})  # type: ignore[dict-item]
    text = page_of(NAMES[1], known)
    groups = re.findall(r'<details class="rests"><summary>(.*?)</summary><ul>(.*?)</ul></details>', text)
    assert [words for words, _ in groups] == [
        "2 facts transcribed from the algorithm",
        "5 facts transcribed from the metric",
        "10 generated facts",
        "1 other result (proved)",
        "2 readings of names",
    ]
    assert [int(words.split()[0]) for words, _ in groups] == [items.count("<li>") for _, items in groups]
    assert dict(groups)["1 other result (proved)"] == f"<li>{LEMMA}</li>"
    assert re.search(r"takes on trust here</strong>[^<]*</p><details", text)
    assert re.search(
        r'<summary class="word t-good s-proved">Proved, rests on 2 facts transcribed from the algorithm, 5 facts', text
    )
    digest = (content(THEOREM) or {})["digest"]
    assert f'title="SHA-256 {digest}">{digest[:12]}<' in text
    assert f'<code class="exact">{digest}</code>' in text
    assert f"{statement(THEOREM).source.where}. Encoded as <code>{THEOREM}</code>" in text


def test_a_reading_says_in_a_line_where_it_is_broken() -> None:
    id = "async_fl/corollary_1/as_printed"
    text = page_of("async_fl/corollary_1", Known({}, {id: "At s = 512."}, {}), {id: shipped_witnesses()[id]})
    line = re.findall(r'<summary class="word t-bad s-violated">(Broken at .*?)</summary>', text)
    assert line == [line[0]]
    assert line[0].startswith("Broken at s = 512, L = 1, K = 100, eta_l = 1/44000, ")
    assert line[0].endswith(" (replay)")
    assert f"boundcheck replay {id}" in text
    assert re.search(r's-violated">VIOLATED<.*s-not-tested">NOT TESTED<', text, re.S)


def text_of(lines: list[list[str]]) -> list[str]:
    return ["".join("".join(ET.fromstring(piece).itertext()) for piece in line) for line in lines]


@pytest.mark.parametrize("name", ["fedshuffle/theorem_5_2", "scgd/theorem_3_3", "classics/gradient_descent_convex"])
def test_marks_leave_the_terms_of_the_printed_formula_in_their_order(name: str) -> None:
    own = readings(*name.split("/"))
    printed = next(s for s in own if s.reading.startswith("as_printed"))
    assert text_of(claim_lines(printed, own[0], "printed")) == text_of(claim_lines(printed))


def test_the_terms_of_a_corrected_formula_stand_where_those_that_they_replace_do() -> None:
    own = statement("fedshuffle/theorem_5_2/corrected")
    a, gap, big = (own.symbol(name).expr for name in ("a", "gap_0", "L"))
    before, after = a + 2 * gap, a + 2 * big * gap
    assert _latex(arranged(before), own) == "a + 2 F"
    assert _latex(arranged(after), own) == "2 L F + a"
    shown = _latex(marked(after, before, own, follow=True), own)
    assert re.sub(r"[^\w+ ]", "", shown).split() == ["a", "+", "2", "L", "F"]
    assert re.findall("\ue000(.*?)\ue001", shown) == [" L "]
    halves = _latex(marked(a / (2 * gap), a / gap, own), own)  # what is in a denominator stays there
    assert re.sub("[\ue000\ue001 ]", "", halves) == r"\frac{a}{{2}F}"


def test_another_kind_of_evidence_is_a_row_and_no_edit_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = Kind("worst case", "m", lambda s, _: Evidence("tight", "good", "Reached.") if s.id == THEOREM else None)
    monkeypatch.setitem(sys.modules, "of_another_room", SimpleNamespace(KIND=kind))
    monkeypatch.setitem(providers._REGISTERED, providers.EVIDENCE, {"worst_case": "of_another_room"})
    assert [k.name for k in kinds()] == [*(k.name for k in KINDS), "worst case"]
    listed = Catalogue(NAMES, Sources(chain(None)))
    report = report_data([], "T") | {"catalogue": listed.data()}
    pages = listed.pages(report) | {"index.html": index_page(report, listed.papers())}
    for name in ("index.html", "paper.scgd.html", "statement.scgd.theorem_3_3.html"):
        assert '<th scope="col">Worst case' in pages[name]
        assert ">tight<" in pages[name]


def marked_texts(id: str, other: str, kind: str) -> list[str]:
    """The texts of the marked parts of a formula."""
    found: list[str] = []
    for piece in (p for line in claim_lines(statement(id), statement(other), kind) for p in line):
        for node in ET.fromstring(piece).iter():
            if node.get("class") == kind:
                found.append("".join(node.itertext()))
    return found


def test_the_difference_of_two_readings_is_marked_in_the_formula_and_no_more() -> None:
    a, b = "scgd/theorem_3_3/corrected", "scgd/theorem_3_3/as_printed_appendix"
    assert marked_texts(a, a, "corrected") == []
    assert statement(a).bound == statement(b).bound or marked_texts(a, b, "corrected")
    one, two = "fedshuffle/lemma_d_4/corrected", "fedshuffle/lemma_d_4/as_printed"
    texts = marked_texts(one, two, "corrected") + marked_texts(two, one, "printed")
    assert texts
    whole = "".join("".join(ET.fromstring(p).itertext()) for line in claim_lines(statement(one)) for p in line)
    assert max(map(len, texts)) < len(whole)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("fedshuffle/theorem_5_1_strongly_convex_tuned", "pair"),  # cut further, with a letter for what occurs thrice
        ("fedshuffle/section_4_1_limit", "pair wide"),  # in two columns it would leave the first screen
    ],
)
def test_two_formulas_stand_side_by_side_where_they_fit(name: str, kind: str) -> None:
    page = page_of(name, Known({}, {}, {}), read=str)
    first = page[page.index(f'<div class="{kind}">') : page.index('class="small soft key"')]
    assert ("<msub><mi>u</mi><mrow><mn>1</mn></mrow></msub>" in first) == (kind == "pair")


def test_a_worked_number_is_what_its_command_prints() -> None:
    found = worked_number(statement(THEOREM))
    assert found is not None
    values = dict(found.constants)
    assert found.command == f"boundcheck evaluate {THEOREM} " + " ".join(f"--set {k}={v}" for k, v in values.items())
    result = statement(THEOREM).evaluate(**values)
    assert result.in_scope is True
    assert result.value == found.value


def test_the_catalogue_of_a_report_has_its_claims_and_working_links(tmp_path: Path) -> None:
    results = [hand_made(Outcome.VIOLATED, Grade.EXACT, name="one"), hand_made(Outcome.HOLDS, Grade.EXACT, name="two")]
    write_report(results, tmp_path, catalogue=["scgd/theorem_3_3"])
    page = (tmp_path / "statement.scgd.theorem_3_3.html").read_text()
    assert 'href="one.html"' in page
    assert (tmp_path / "statement.scgd.lemma_3_1.html").is_file()  # it rests on it
    for path in tmp_path.glob("*.html"):
        text = path.read_text()
        ids = set(re.findall(r'id="([^"]+)"', text))
        for link in re.findall(r'href="([^"]+)"', text):
            target, _, anchor = link.partition("#")
            if link.startswith("https:"):
                continue
            there = ids if not target else set(re.findall(r'id="([^"]+)"', (tmp_path / target).read_text()))
            assert not anchor or anchor in there, (path.name, link)
    again = write_report(results[:1], tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {p.name for p in again}  # without a catalogue its pages are gone


def test_violations_of_a_report_reach_the_status() -> None:
    claim = {"statement": {"id": LAST}, "verdict": {"outcome": "VIOLATED", "reason": "At K = 2."}, "label": "c"}
    found = catalogue(["scgd/theorem_3_4"], [claim])
    assert found.known.standing(LAST).word in (Word.VIOLATED, Word.CONTRADICTORY)
    assert "the claim 'c'" in found.known.standing(LAST).sentence
