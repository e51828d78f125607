"""Commands about reports: report, diff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boundcheck.cli._output import line, print_json, table
from boundcheck.cli._where import Cluster, Explain, NoStore, TimeLimit, Workers, where
from boundcheck.errors import BadInput, hidden_character

if TYPE_CHECKING:
    from boundcheck.cli._execute import Reported
    from boundcheck.evidence.claim import ClaimResult
    from boundcheck.evidence.studies import Study


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(report)
    app.command()(diff)


def default_spec() -> Path:
    """The claims that a report without specification shows, shipped with the package."""
    return Path(__file__).resolve().parents[1] / "report" / "default.toml"


def report(
    specs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[SPEC]...",
            help="TOML files of claims, and JSON files of recorded training.",
            show_default="the shipped claims and records",
        ),
    ] = None,
    out: Annotated[str, typer.Option("-o", "--out", metavar="DIR", help="Folder for the pages.")] = "report",
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove the pages of an older report in DIR that this one does not have.")
    ] = False,
    title: Annotated[str, typer.Option(help="Title of the index page.")] = "Bounds against experiments",
    workers: Workers = None,
    cluster: Cluster = None,
    time_limit: TimeLimit = None,
    no_store: NoStore = False,
    explain: Explain = False,
    as_json: Json = False,
) -> int:
    """Pages of bounds against experiments.

    HTML that opens offline, a Markdown summary and a JSON twin. The exit code says nothing of the verdicts, except
    that it is 1 where a reading with a proved derivation is violated: then one of the two is wrong, and it is said
    first. Beside the claims stand their statements with all that is known of them; without SPEC, all statements. What
    needs a data set or an optional package that is not on this machine gets a page that says how to get it. Recorded
    training (boundcheck record) is shown and not run again, and neither are runs that are in the result store. While
    training runs, the report without it is written already. Where DIR holds a report with other pages, nothing is
    written without --replace.

    \b
    Example: boundcheck report examples/scgd.toml -o report
    """
    from boundcheck.cli._evidence import print_contradictions
    from boundcheck.cli._execute import carry_out_report
    from boundcheck.cli._files import probe_folder
    from boundcheck.cli.runs import asked_origins, chosen_store, origins_data, print_origins
    from boundcheck.evidence.contradictions import contradictions
    from boundcheck.evidence.limits import load_limits
    from boundcheck.evidence.not_run import NotRun
    from boundcheck.evidence.shipped_files import shipped_records
    from boundcheck.evidence.spec import load_claims
    from boundcheck.evidence.studies import load_studies
    from boundcheck.problems._own_data import load_specification
    from boundcheck.report import Report, other_pages
    from boundcheck.report.names import page_names
    from boundcheck.verdict import count_by

    if any("\ud800" <= character <= "\udfff" for character in title):
        raise BadInput("--title has bytes that are not text in UTF-8.")
    if hidden_character(title):
        raise BadInput(f"--title has the hidden character {hidden_character(title)}; remove it.")
    given = specs or [default_spec(), *shipped_records()]
    files = [load_specification(path) for path in given if path.suffix != ".json"]
    recorded = _recorded([path for path in given if path.suffix == ".json"])
    not_run: list[NotRun] = []
    claims = [claim for spec in files for claim in load_claims(spec, need_claims=False, not_run=not_run)]
    wanted = [limits for spec in files for limits in load_limits(spec, not_run)]
    asked = [study for spec in files for study in load_studies(spec, not_run)]
    folder = probe_folder(out, "--out")
    names = page_names(
        [c.label() for c in claims], [limits.name for limits in wanted], [s.name for s in (*asked, *recorded)]
    )
    others = other_pages(folder, names)
    if others and not replace:
        raise BadInput(
            f"--out '{out}' holds a report with {_pages(len(others))} that this one does not have, such as "
            f"{others[0]}; name another folder, or give --replace to remove them."
        )
    begun: list[Report] = []

    def written(found: Reported) -> list[Path]:
        if not begun:
            begun.append(Report(found.results, title, _claimed(found.results) if specs else None))
        return begun[0].write(folder, found.limits, [*found.studies, *recorded], [*not_run, *found.not_run])

    def early(found: Reported) -> None:
        typer.echo(f"written without the training that still runs: {written(found)[-1]}", err=True)

    store, origins = chosen_store(no_store), asked_origins(explain, no_store)
    found = carry_out_report(
        claims, wanted, asked, store=store, where=where(workers, cluster, time_limit), origins=origins, on_short=early
    )
    paths = written(found)
    not_run += found.not_run
    counts = count_by(r.verdict for r in found.results)
    against = contradictions((), found.results)
    if as_json:
        print_json(
            {
                "contradictions": [c.to_dict() for c in against],
                "files": [str(p) for p in paths],
                "counts": counts,
                "not_run": [asdict(n) for n in not_run],
                "removed": others,
                **origins_data(origins),
            }
        )
        return 1 if against else 0
    print_contradictions(against)
    for what, of in counts.items():
        line(f"{what}: " + ", ".join(f"{count} {name}" for name, count in of.items()))
    print_origins(origins)
    for missing in not_run:
        line(f"NOT RUN {missing.name}: {missing.why}")
    if others:
        line(f"removed: {_pages(len(others))} of the report that was there")
    line(f"written: {folder / 'index.html'} and {len(paths) - 1} more files")
    return 1 if against else 0


def _claimed(results: Sequence[ClaimResult]) -> list[str]:
    """The registered statements, `<paper>/<statement>`, that the claims are about."""
    from boundcheck.theory.discovery import is_registered, statement

    found = [statement(r.claim.statement) for r in results]
    return sorted({s.id.rpartition("/")[0] for s in found if is_registered(s)})


def _recorded(paths: Sequence[Path]) -> list[Study]:
    """The pages of recorded tables, after one of all of them."""
    if not paths:
        return []
    from boundcheck.networks.study.record import read, recorded_study, summary_study

    records = [read(path) for path in paths]
    pages = [recorded_study(record, path) for record, path in zip(records, paths, strict=True)]
    return [summary_study(records), *pages]


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


def diff(
    old: Annotated[Path, typer.Argument(help="A report's folder or its report.json.", show_default=False)],
    new: Annotated[Path, typer.Argument(help="The same, later.", show_default=False)],
    as_json: Json = False,
) -> int:
    """What changed between two reports.

    Exit code 1 if something is worse: a claim no longer HOLDS, became VIOLATED or FAILED, lost its grade or is
    gone. A change of tightness is shown and accepted.

    \b
    Example: boundcheck diff report-before report-after
    """
    from boundcheck.cli._changes import changes_between, read_report

    changes = changes_between(read_report(old), read_report(new))
    if as_json:
        print_json({"changes": [c.to_dict() for c in changes], "worse": sum(c.worse for c in changes)})
    elif changes:
        rows = [[c.claim, c.what, c.before, c.after, "no" if c.worse else ""] for c in changes]
        table(["claim", "what", "before", "after", "acceptable"], rows, styles=["", "", "", "", "outcome"])
        line(f"{len(changes)} change{'' if len(changes) == 1 else 's'}, {sum(c.worse for c in changes)} for the worse.")
    else:
        line("nothing changed.")
    return 1 if any(c.worse for c in changes) else 0
