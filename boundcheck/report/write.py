"""A report on disk: pages, the specification of each claim, and the JSON and Markdown twins."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundcheck.errors import StoreError
from boundcheck.report.catalogue import catalogue as statements
from boundcheck.report.ci import markdown
from boundcheck.report.data import KIND, report_data
from boundcheck.report.pages import PAPERS, claim_page, index_page, papers_page, study_pages
from boundcheck.report.pictures import page_charts
from boundcheck.report.words import NOT_RUN, paper_page_name

if TYPE_CHECKING:
    from boundcheck.evidence.claim import ClaimResult
    from boundcheck.evidence.limits import LimitStudy
    from boundcheck.evidence.not_run import NotRun
    from boundcheck.evidence.studies import Study
    from boundcheck.report.catalogue import Catalogue


PICTURES = (".png", ".svg")  # the index shows the first of these that is there of a figure
FORMS = (".svg", ".pdf", ".md")  # and links these
PICTURES_FOLDER = "pictures"
_OLDER = "catalogue.html"  # the page of the statements in reports of version 0.1, now a part of the index
_OF_CATALOGUE = ("statement.", "paper.", _OLDER)
PAGE = re.compile(r"\w[\w.-]*\.(html|toml)", re.ASCII)


class Report:
    """The pages of claims and statements, made once; `write` adds what else is known by then.

    catalogue: the statements, `<paper>/<statement>`, that get a page with those on which they rest; None for all.
    pictures: forms ("svg", "pdf", "png") in which the picture of each claim and study is also written.
    """

    def __init__(
        self,
        results: Sequence[ClaimResult],
        title: str = "Bounds against experiments",
        catalogue: Sequence[str] | None = (),
        pictures: Sequence[str] = (),
    ) -> None:
        self.results, self.title = results, title
        self.data = report_data(results, title)
        self.data |= {"pictures": list(pictures)} if pictures else {}
        self.listed: Catalogue | None = None
        self.data["catalogue"] = []
        if catalogue is None or catalogue:
            self.listed = statements(catalogue, self.data["claims"])
            self.data["catalogue"] = self.listed.data()
        self.texts: dict[str, str] = {}
        for claim in self.data["claims"]:
            self.texts[claim["page"]] = claim_page(self.data, claim)
            self.texts[claim["spec"]] = claim["toml"]
        if self.listed is not None:
            self.texts |= self.listed.pages(self.data)

    def write(
        self,
        folder: Path,
        limits: Sequence[LimitStudy] = (),
        studies: Sequence[Study] = (),
        not_run: Sequence[NotRun] = (),
    ) -> list[Path]:
        """Writes the report into `folder` (made if absent) and returns the paths written.

        For each claim `<name>.html` and `<name>.toml`, for each limit study `limits-<name>.html`, for each other study
        `study-<name>.html`, for each table that is not carried out `not-run-<name>.html`; for each statement of the
        catalogue `statement.<paper>.<statement>.html`, for each paper `paper.<paper>.html`; `report.json` (schema 1:
        everything, curves included), `report.md` (a summary for CI) and, last, `index.html`. All files are there as a
        whole or none is; files of an older report in the folder are replaced, the pages that only its report.json
        lists are removed, others left alone. Pictures in a folder `figures` beside them are linked by the index, and
        what `record.json` there says of the papers' figures and tables is the page `papers.html`. Raises StoreError
        where the folder cannot be written.
        """
        rest = report_data((), self.title, limits, studies, not_run)
        report = self.data | {part: rest[part] for part in ("limits", "studies", "not_run")}
        texts = self.texts | study_pages(report)
        texts["report.json"] = json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        texts["report.md"] = markdown(report)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            figures, rows = _figures(folder), _papers(folder)
            if rows:
                texts[PAPERS] = papers_page(report, rows, figures)
            about = {} if self.listed is None else self.listed.papers()
            texts["index.html"] = index_page(report, about, figures, rows)  # last: it names the others
            stale = _listed(folder / "report.json") - set(texts)
            drawn = _pictures(report, folder / PICTURES_FOLDER)
            written = [*drawn, *_write_all({folder / name: text for name, text in texts.items()})]
            for name in stale:
                (folder / name).unlink(missing_ok=True)
            return written
        except OSError as error:
            raise StoreError(f"The report cannot be written to {folder}: {error.strerror or error}.") from error


def write_report(
    results: Sequence[ClaimResult],
    folder: Path,
    *,
    title: str = "Bounds against experiments",
    limits: Sequence[LimitStudy] = (),
    studies: Sequence[Study] = (),
    not_run: Sequence[NotRun] = (),
    catalogue: Sequence[str] | None = (),
) -> list[Path]:
    """Writes the report of these results into `folder`; see `Report` and `Report.write`."""
    return Report(results, title, catalogue).write(folder, limits, studies, not_run)


def _pictures(report: Mapping[str, Any], folder: Path) -> list[Path]:
    """Writes the pictures of the pages in the forms that are asked for; returns their paths."""
    if "pictures" not in report:
        return []
    from boundcheck.core.places import write_whole
    from boundcheck.report.figures import charts

    folder.mkdir(exist_ok=True)
    paths: list[Path] = []
    for name, shown in page_charts(report).items():
        for form in report["pictures"]:
            paths.append(folder / f"{Path(name).stem}.{form}")
            write_whole(paths[-1], charts(shown, form))
    return paths


def other_pages(folder: Path, pages: set[str]) -> list[str]:
    """The pages of a report that is in the folder already which are not among `pages`: `write_report` removes them.

    Pages that only say what could not be run are no loss and are left out, and so are those of the catalogue, which
    need no run.
    """
    older = {name for name in _listed(folder / "report.json") if name.endswith(".html") and (folder / name).is_file()}
    return sorted(name for name in older - pages if not name.startswith((NOT_RUN, *_OF_CATALOGUE)))


def _figures(folder: Path) -> dict[str, list[str]]:
    """Picture -> files of the same figure in other forms."""
    there = folder / "figures"
    names = {p.name for p in there.iterdir()} if there.is_dir() else set[str]()
    found: dict[str, list[str]] = {}
    for stem in sorted({Path(name).stem for name in names}):
        shown = next((stem + form for form in PICTURES if stem + form in names), None)
        if shown is not None:
            found[shown] = [stem + form for form in FORMS if stem + form in names - {shown}]
    return found


def _papers(folder: Path) -> list[dict[str, Any]]:
    """The rows of the record beside the pictures; none where it is not there, or is not such a record."""
    try:
        rows: Any = json.loads((folder / "figures" / "record.json").read_text(encoding="utf-8"))
        return [
            dict(row) for row in rows if set(row) >= {"name", "shows", "here", "how", "made_by", "picture", "findings"}
        ]
    except (OSError, ValueError, TypeError):
        return []


def _listed(path: Path) -> set[str]:
    """The pages and specifications that the older report in this folder says it wrote; empty where none is there."""
    try:
        old: Any = json.loads(path.read_text(encoding="utf-8"))
        if old["kind"] != KIND:
            return set()
        names = {str(claim[part]) for claim in old["claims"] for part in ("page", "spec")}
        names |= {str(study["page"]) for kind in ("limits", "studies", "not_run") for study in old.get(kind, [])}
        names |= catalogue_names(old.get("catalogue", []))
    except (FileNotFoundError, ValueError, KeyError, TypeError):  # somebody else's file claims no pages
        return set()
    return {name for name in names if PAGE.fullmatch(name)}  # plain names alone: nothing outside this folder


def catalogue_names(entries: Sequence[Any]) -> set[str]:
    """The pages of a catalogue with these entries."""
    papers = {paper_page_name(str(entry["paper"])) for entry in entries}
    return papers | {str(entry["page"]) for entry in entries} | ({_OLDER} if entries else set())


def _write_all(texts: Mapping[Path, str]) -> list[Path]:
    """Writes every file beside its place first, so that a disk that is full leaves the older report as it was."""
    partial = {path: path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial") for path in texts}
    try:
        for path, text in texts.items():
            with partial[path].open("w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        for path in texts:
            os.replace(partial[path], path)
    finally:
        for path in partial.values():
            path.unlink(missing_ok=True)
    return list(texts)
