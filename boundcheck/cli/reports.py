"""Commands about reports and recorded results: report, diff, record."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundcheck.cli.options import (
    Cluster,
    Json,
    NoStore,
    TimeLimit,
    Workers,
    argument,
    chosen_store,
    option,
    spec_file,
    where,
)
from boundcheck.cli.output import line, print_json, progress, say, short, table
from boundcheck.cli.statements import print_contradictions
from boundcheck.core.targets import probe_folder
from boundcheck.errors import BadInput, BoundcheckError, UnknownName, hidden_character

if TYPE_CHECKING:
    from boundcheck.core.store import Store
    from boundcheck.evidence.carry_out import Reported
    from boundcheck.evidence.claim import ClaimResult
    from boundcheck.evidence.studies import Study


def default_spec() -> Path:
    """The claims that a report without specification shows, shipped with the package."""
    return Path(__file__).resolve().parents[1] / "report" / "default.toml"


def record_file(text: str) -> Path:
    """The file that `text` names or, if there is no such file, the shipped record of that name or stem."""
    from boundcheck.evidence.shipped_files import shipped_records

    path = spec_file(text)
    shipped = {name: one for one in shipped_records() for name in (one.name, one.stem)}
    return path if path.exists() else shipped.get(text, path)


def report(
    specs: Annotated[
        list[Path] | None,
        argument(
            metavar="[SPEC]...",
            parser=spec_file,
            help="TOML files of claims, and JSON files of recorded training.",
            shown="the shipped claims and records",
        ),
    ] = None,
    out: Annotated[str, option("-o", "--out", metavar="DIR", help="Folder for the pages.", shown=True)] = "report",
    replace: Annotated[bool, option("--replace", help="Remove pages of an older report in DIR.")] = False,
    title: Annotated[
        str, option(help="Title of the index page.", shown="Bounds against experiments, or the only study")
    ] = "",
    pictures: Annotated[bool, option("--pictures", help="Write the picture of each page as SVG and PDF too.")] = False,
    workers: Workers = None,
    cluster: Cluster = None,
    time_limit: TimeLimit = None,
    no_store: NoStore = False,
    as_json: Json = False,
) -> int:
    """Pages of bounds against experiments.

    HTML that opens offline, a Markdown summary and JSON. Beside the claims stand their statements with all that is
    known of them; without SPEC, all statements. What needs a data set or package that is missing gets a page that says
    how to get it. Recorded training (boundcheck record) is shown and not run again. Exit code 1 where a reading with a
    proved derivation is violated.

    \b
    Example: boundcheck report examples/tour/claims.toml -o report
    """
    from boundcheck.evidence.carry_out import carry_out_report
    from boundcheck.evidence.contradictions import contradictions
    from boundcheck.evidence.limits import load_limits
    from boundcheck.evidence.not_run import NotRun
    from boundcheck.evidence.shipped_files import shipped_records
    from boundcheck.evidence.spec import load_claims
    from boundcheck.evidence.studies import load_studies
    from boundcheck.problems._own_data import load_specification
    from boundcheck.report import Report, other_pages
    from boundcheck.report.words import page_names
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
    alone = [study.name for study in (*wanted, *asked, *recorded)] if not claims and not not_run else []
    title = title or (alone[0] if len(alone) == 1 else "Bounds against experiments")
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
    forms = ("svg", "pdf") if pictures else ()
    if pictures:
        from boundcheck.report.figures import new_figure

        with new_figure((1, 1)):  # raises MissingExtra before anything is run
            pass
    begun: list[Report] = []

    def written(found: Reported) -> list[Path]:
        if not begun:
            begun.append(Report(found.results, title, _claimed(found.results) if specs else None, forms))
        return begun[0].write(folder, found.limits, [*found.studies, *recorded], [*not_run, *found.not_run])

    def early(found: Reported) -> None:
        typer.echo(f"written without the training that still runs: {written(found)[-1]}", err=True)

    store, place = chosen_store(no_store), where(workers, cluster, time_limit)
    found = carry_out_report(claims, wanted, asked, store=store, where=place, progress=progress, on_short=early)
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
            }
        )
        return 1 if against else 0
    print_contradictions(against)
    for what, of in counts.items() if found.results else ():
        say(f"{what}: " + ", ".join(f"{count} {name}" for name, count in of.items()))
    for missing in not_run:
        say(f"NOT RUN {missing.name}: {missing.why}")
    if others:
        say(f"removed: {_pages(len(others))} of the report that was there")
    say(f"written: {folder / 'index.html'} and {len(paths) - 1} more files")
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
    old: Annotated[Path, argument(help="A report's folder or its report.json.")],
    new: Annotated[Path, argument(help="The same, later.")],
    as_json: Json = False,
) -> int:
    """What changed between two reports.

    Exit code 1 if something is worse: a claim no longer HOLDS, became VIOLATED or FAILED, lost its grade or is
    gone. A change of tightness is shown and accepted.

    \b
    Example: boundcheck report examples/tour/claims.toml -o before
             boundcheck diff before before/report.json
    """
    from boundcheck.report.changes import changes_between, read_report

    changes = changes_between(read_report(old), read_report(new))
    if as_json:
        print_json({"changes": [c.to_dict() for c in changes], "worse": sum(c.worse for c in changes)})
    elif changes:
        rows = [[c.claim, c.what, c.before, c.after, "no" if c.worse else ""] for c in changes]
        table(["claim", "what", "before", "after", "acceptable"], rows, coloured=[4])
        line(f"{len(changes)} change{'' if len(changes) == 1 else 's'}, {sum(c.worse for c in changes)} for the worse.")
    else:
        line("nothing changed.")
    return 1 if any(c.worse for c in changes) else 0


def record(
    specs: Annotated[
        list[Path],
        argument(
            metavar="SPEC...",
            parser=record_file,
            help="TOML files with [[training]] tables; with --compare, records, or the names of those shipped.",
        ),
    ],
    out: Annotated[str, option("-o", "--out", metavar="DIR", help="Folder of the records.", shown=True)] = "recorded",
    name: Annotated[list[str] | None, option("--table", help="Only the tables whose name has this in it.")] = None,
    row: Annotated[list[str] | None, option(help="Only these rows (cases).")] = None,
    seeds: Annotated[int | None, option(min=1, help="Seeds of every method, in place of the table's.")] = None,
    compare: Annotated[bool, option("--compare", help="Run a row of each record again instead, and compare.")] = False,
    no_store: NoStore = False,
    as_json: Json = False,
) -> int:
    """Carries out tables of training and keeps their results.

    Each table becomes a file, which `boundcheck report` shows. A file is written after each row; what is there is not
    run again, and a row that was cut off continues. Tables that need a data set or package that is missing are skipped.
    With --compare: with the same code, versions and kind of processor every seed must give the recorded number to a
    relative 1e-6; otherwise the mean must lie in the recorded confidence interval. Exit code 1 where a row does not
    agree.

    \b
    Example: boundcheck record examples/tour/training.toml -o recorded
             boundcheck record recorded/two-step-sizes.json --compare
    """
    if compare:
        return _compare_records(specs, row or [], as_json)
    from boundcheck.evidence.not_run import is_absence
    from boundcheck.evidence.studies import load_studies
    from boundcheck.networks.study.record import record as carry_out
    from boundcheck.problems._own_data import load_specification
    from boundcheck.report.words import slug

    tables: list[tuple[Path, dict[str, Any]]] = []
    for spec in specs:
        load_studies(spec)
        tables += [(spec, one) for one in load_specification(spec).data.get("training", [])]
    if not tables:
        raise BadInput(f"{', '.join(map(str, specs))} has no [[training]] table to record.")
    chosen = [(spec, one) for spec, one in tables if not name or any(part in one["name"] for part in name)]
    if not chosen:
        raise UnknownName("the table", name[0] if name else "", [one["name"] for _, one in tables])
    folder = probe_folder(out, "--out")
    folder.mkdir(parents=True, exist_ok=True)
    store = chosen_store(no_store)
    written: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = []
    for spec, one in chosen:
        given = {**one, **({} if seeds is None else {"seeds": seeds})}
        own = ["boundcheck", "record", spec.as_posix(), "--table", one["name"]]
        command = shlex.join([*own, *([] if seeds is None else ["--seeds", str(seeds)])])
        path = folder / f"{slug(one['name'])}.json"

        def tell(words: str, to: Path = path) -> None:
            if not as_json:
                say(f"{to}: {words}")

        try:
            with _rows_done(given, len(row or ()), store, tell) as (kept, told):
                found = carry_out(given, path, command, rows=row or (), store=kept, tell=told)
        except BoundcheckError as error:
            if not is_absence(error):
                raise
            skipped.append({"table": one["name"], "why": str(error)})
            tell(f"skipped: {error}")
            continue
        written.append({"file": str(path), "rows": len(found.rows), "processor_hours": found.processor_hours})
    if as_json:
        print_json({"records": written, "skipped": skipped})
        return 0
    for of in written:
        say(f"{of['file']}: {of['rows']} rows, {short(of['processor_hours'])} processor hours")
    hours = short(sum(of["processor_hours"] for of in written))
    line(f"{len(written)} of {len(chosen)} tables, {hours} processor hours; skipped: {len(skipped)}")
    return 0


@contextlib.contextmanager
def _rows_done(
    table: dict[str, Any], chosen: int, place: Path | str | None, tell: Callable[[str], None]
) -> Generator[tuple[Store | None, Callable[[str], None]]]:
    """Shows how much of a table of training is done: its rows, and within a row the runs that the store is asked for.

    chosen: number of rows that are carried out; 0 for all. Gives the store and what is called after each row.
    """
    from boundcheck.evidence.carry_out import NotedStore
    from boundcheck.networks.study.runs import Runs
    from boundcheck.networks.study.spec import Spec

    runs = Runs(Spec.model_validate(table))
    rows = len(runs.spec.all_cases)
    each, done = runs.total / rows, 0
    with progress(f"table {table['name']}", float(chosen or rows)) as show:
        store = None if place is None else NotedStore(place)

        def begun() -> None:
            if store is not None:
                show(done + max(len(store.used) - 1, 0) / each)

        def row_done(words: str) -> None:
            nonlocal done
            done = min(done + words.endswith(("recorded", "recorded already")), chosen or rows)
            if store is not None:
                store.used.clear()
            show(done)
            tell(words)

        if store is not None:
            store.on_use = begun
        yield store, row_done


def _compare_records(files: Sequence[Path], rows: Sequence[str], as_json: bool) -> int:
    """Runs rows of recorded tables again, by default the first of each; exit code 1 where one does not agree."""
    from boundcheck.networks.study.record import read, run_again

    found: list[tuple[str, dict[str, Any]]] = []
    for file in files:
        with progress(f"running a row of {file.name} again"):
            found += [(str(file), run_again(read(file), label)) for label in rows or [None]]
    if as_json:
        print_json({"compared": [{"file": file, **one} for file, one in found]})
    else:
        for file, one in found:
            _print_compared(file, one)
    return 0 if all(one["agrees"] for _, one in found) else 1


def _print_compared(file: str, found: Mapping[str, Any]) -> None:
    cells = [[one if isinstance(one, str) else short(one) for one in numbers.values()] for numbers in found["numbers"]]
    table(["method", "metric", "recorded", "half width", "now", "largest relative difference", "outcome"], cells)
    if found["differs"]:
        say(f"Not as recorded: {', '.join(found['differs'])}; means are compared with the recorded intervals.")
    else:
        say("Code, versions and kind of processor are as recorded; every seed must give the recorded number.")
    say(f"{file}: the row '{found['row']}' {'agrees' if found['agrees'] else 'does not agree'}.")
