"""How the files of a report are called; the names follow from the specification, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from boundcheck.report.words import slug

NOT_RUN = "not-run-"  # how the pages of what cannot be run on this machine begin


def claim_names(labels: Iterable[str]) -> list[str]:
    """For each claim, by its label, the name of its page and specification without the ending; all different."""
    used = {"index", "report", "papers"}  # the report's own pages and its twins
    return [_unused(slug(label), used) for label in labels]


def statement_page_name(name: str) -> str:
    """The page of a statement, `<paper>/<statement>`: the permanent address; "#" and a reading may follow."""
    return f"statement.{name.replace('/', '.')}.html"


def paper_page_name(paper: str) -> str:
    """The page of a paper."""
    return f"paper.{paper}.html"


def limits_page_name(name: str) -> str:
    """The page of a limit study."""
    return f"limits-{slug(name)}.html"


def study_page_names(names: Iterable[str]) -> list[str]:
    """The pages of the other studies, all different."""
    used: set[str] = set()
    return [f"{_unused(f'study-{slug(name)}', used)}.html" for name in names]


def not_run_page_names(names: Iterable[str]) -> list[str]:
    """The pages of what cannot be run on this machine, all different."""
    used: set[str] = set()
    return [f"{NOT_RUN}{_unused(slug(name), used)}.html" for name in names]


def page_names(labels: Sequence[str], limits: Sequence[str], studies: Sequence[str]) -> set[str]:
    """The pages of a report of claims with these labels, limit studies and other studies with these names."""
    claims = {f"{name}.html" for name in claim_names(labels)}
    return claims | {limits_page_name(name) for name in limits} | set(study_page_names(studies))


def _unused(name: str, used: set[str]) -> str:
    chosen, count = name, 1
    while chosen in used:
        count += 1
        chosen = f"{name}-{count}"
    used.add(chosen)
    return chosen
