"""Reports of studies alone, pictures as SVG and PDF, and printed commands that need no repository."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from report_tools import hand_made

from boundcheck.evidence.not_run import NotRun
from boundcheck.evidence.shipped_files import example, shipped_records, witness_file
from boundcheck.evidence.studies import Panel, Series, Study
from boundcheck.report import Report, write_report
from boundcheck.verdict import Grade, Outcome

PROSE = "The caption is a whole sentence that explains the picture."
LINES = tuple(
    Series(label, (1.0, 10.0, 100.0), (3.0, 2.0, 1.0 + n), role, panel=n)
    for n, (label, role) in enumerate((("measured", "metric"), ("promised", "bound")))
)
STUDY = Study(
    "schemes",
    "What was studied",
    ("Found was this. ", "More follows."),
    (),
    LINES,
    axes=("round", "gap"),
    log=(True, False),
    panels=(Panel("First", "gap"), Panel("Second", "distance")),
    caption=PROSE,
)


def text(path: Path) -> str:
    page = path.read_text(encoding="utf-8")
    return " ".join(re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", page, flags=re.S).split())


def test_a_report_of_a_study_alone_leads_with_it(tmp_path: Path) -> None:
    write_report((), tmp_path, title="What was studied", studies=[STUDY])
    shown = text(tmp_path / "index.html")
    assert "What was studied Found was this." in shown
    assert "The whole study: What was studied" in shown
    assert "laim" not in shown
    assert shown.count("Found was this.") == 1
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert page.count('class="chart"') == 2
    assert 'href="study-what-was-studied.html"' in page
    told = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert told.startswith("# What was studied\n\n- What was studied: Found was this.\n")


def test_beside_claims_and_with_many_others_a_study_is_in_a_list(tmp_path: Path) -> None:
    many = [STUDY, *(Study("schemes", f"Number {n}", (), ()) for n in range(3))]
    absent = NotRun("claim", "absent", "It is not here.")
    for results, studies, parts in (
        ([hand_made(Outcome.HOLDS, Grade.EXACT)], [STUDY], ("Claims about runs", "Studies What was studied")),
        ([], many, ("Studies What was studied", "Not run")),
    ):
        write_report(results, tmp_path, studies=studies, not_run=[absent])
        shown = text(tmp_path / "index.html")
        assert shown.index(parts[0]) < shown.index(parts[1])
        assert "Found was this." not in shown


def test_pictures_of_pages_as_files_have_labels_and_no_prose(tmp_path: Path) -> None:
    few = hand_made(Outcome.HOLDS, Grade.EXACT, name="few")
    parts = ("index", "rounds", "metric_low", "metric_high", "bound")
    results = [hand_made(Outcome.HOLDS, Grade.EXACT), replace(few, **{p: getattr(few, p)[:2] for p in parts})]
    folders = [tmp_path / name for name in ("one", "two")]
    drawn: set[str] = set()
    for folder in folders:
        written = Report(results, pictures=("svg", "pdf")).write(folder, studies=[STUDY])
        drawn = {p.name for p in (folder / "pictures").iterdir()}
        names = ("hand-made", "study-what-was-studied")
        assert drawn == {f"{name}.{form}" for name in names for form in ("svg", "pdf")}
        assert drawn <= {p.name for p in written}
    for name in drawn:
        content = [(folder / "pictures" / name).read_bytes() for folder in folders]
        assert content[0] == content[1]
        assert content[0].startswith(b"%PDF" if name.endswith("pdf") else b"<svg")
    root = ElementTree.parse(folders[0] / "pictures" / "study-what-was-studied.svg").getroot()
    words = {"".join(t.itertext()).strip() for t in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"round", "gap", "distance", "First", "Second", "measured", "promised"} <= words
    assert not any(word in " ".join(words) for word in ("caption", "Found", "sentence"))
    for page in ("hand-made.html", "study-what-was-studied.html"):
        links = re.findall(r'href="(pictures/[^"]*)"', (folders[0] / page).read_text(encoding="utf-8"))
        assert len(links) == 2
        assert all((folders[0] / link).is_file() for link in links)
    assert "pictures/" not in (folders[0] / "few.html").read_text(encoding="utf-8")


def test_the_index_shows_a_figure_once_and_links_its_other_forms(tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    for name in ("one.png", "one.svg", "one.pdf", "one.md", "two.svg", "three.pdf"):
        (tmp_path / "figures" / name).write_bytes(b"")
    write_report((), tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'<img [^>]*src="figures/([^"]*)"', page) == ["one.png", "two.svg"]
    assert re.findall(r'href="figures/([^"]*)"', page) == ["one.png", "one.svg", "one.pdf", "one.md", "two.svg"]


def test_printed_commands_name_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command of the statements' evidence, in a folder without a repository."""
    from boundcheck.theory.discovery import statement

    monkeypatch.chdir(tmp_path)
    pages = " ".join(Report((), catalogue=["scgd/theorem_3_3", "feddane/theorem_7"]).texts.values())
    shown = re.findall(r'<code class="[^"]*command[^"]*">(.*?)</code>', pages, flags=re.S)
    commands = {re.sub(r"<[^>]*>", "", one) for one in shown}
    seen: set[str] = set()
    for command in commands:
        _, name, *arguments = command.split()
        seen.add(name)
        for argument in arguments if name in ("replay", "check", "derive") else ():
            assert "." not in argument
            if name == "check":
                assert example(argument).is_file()
            else:
                assert statement(argument).id == argument
                assert name == "derive" or witness_file(argument).is_file()
    assert {"check", "derive", "replay"} <= seen


def test_a_shipped_record_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from boundcheck.cli.reports import record_file

    monkeypatch.chdir(tmp_path)
    first = shipped_records()[0]
    assert record_file(first.name) == first
    assert record_file("mine.json") == Path("mine.json")
    Path(first.name).write_text("mine")
    assert record_file(first.name) == Path(first.name)
