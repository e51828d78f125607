"""Commands that carry out claims: constants, run, compare, check."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundcheck.cli._output import json_float, line, print_json, progress, short, table
from boundcheck.cli._where import Cluster, Explain, NoStore, TimeLimit, Workers, where

if TYPE_CHECKING:
    from boundcheck.cli._execute import Done, Refused
    from boundcheck.evidence.claim import Claim, ClaimResult
    from boundcheck.evidence.contradictions import Contradiction
    from boundcheck.evidence.kept_results import Origin
    from boundcheck.evidence.not_run import NotRun


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Spec = Annotated[Path, typer.Argument(help="A TOML file with [[claim]] tables.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(constants)
    app.command()(run)
    app.command()(compare)
    app.command()(check)


def chosen_store(no_store: bool) -> Path | str | None:
    """The folder or URL of the result store, or None."""
    from boundcheck.core.places import store_place

    return None if no_store else store_place()


def asked_origins(explain: bool, no_store: bool = False) -> list[Origin] | None:
    """Where the origins of results go, if --explain asks for them."""
    from boundcheck.errors import BadInput

    if explain and no_store:
        raise BadInput("--explain is about the result store; leave --no-store out.")
    return [] if explain else None


def origins_data(origins: Sequence[Origin] | None) -> dict[str, Any]:
    """Origins for JSON, if they were asked for."""
    return {} if origins is None else {"origins": [asdict(origin) for origin in origins]}


def print_origins(origins: Sequence[Origin] | None) -> None:
    """A line for each result, if they were asked for."""
    for origin in origins or ():
        line(str(origin))


def constants(
    spec: Annotated[Path | None, typer.Argument(help="A TOML file with [[claim]] tables.", show_default=False)] = None,
    listed: Annotated[bool, typer.Option("--list", help="Print the catalogue of all constants instead.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Leave out the steps that work in practice.")] = False,
    as_json: Json = False,
) -> int:
    """The constants of each claim's instance.

    Those of the problem and those that it shares with the method, each with how it is known; and the largest
    step that the statement allows beside the largest that works in practice.

    With --list: the catalogue of constants that symbols of statements name by their keys.

    \b
    Example: boundcheck constants examples/scgd.toml
    """
    from boundcheck.cli._constants import catalogue_rows, claim_constants, print_catalogue, print_constants
    from boundcheck.cli._curve import of_runs
    from boundcheck.errors import BadInput
    from boundcheck.evidence.spec import load_claims

    if listed and spec is None:
        if as_json:
            print_json({"constants": catalogue_rows()})
        else:
            print_catalogue()
        return 0
    if listed or spec is None:
        raise BadInput("boundcheck constants takes either a specification file or --list.")

    with progress(f"{spec}: reading") as read:
        claims = of_runs(load_claims(spec, on_progress=read), "boundcheck constants")
    rows: list[dict[str, Any]] = []
    for number, claim in enumerate(claims, 1):
        found = claim_constants(claim, practice=not quick, place=f"claim {number} of {len(claims)}, ")
        if as_json:
            rows.append(found.to_dict())
        else:
            print_constants(found)
            sys.stdout.flush()
    if as_json:
        print_json({"claims": rows})
    return 0


def run(
    spec: Spec,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="DIR", help="Folder for the runs.", show_default="the result store"),
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    time_limit: TimeLimit = None,
    explain: Explain = False,
    as_json: Json = False,
) -> int:
    """Carries out the runs of all claims.

    Says where their curves are (curve.npz, with spec.json beside it). What is there already is not run
    again; an interrupted command continues where it was.

    \b
    Example: boundcheck run examples/scgd.toml -o runs
    """
    from boundcheck.cli._execute import Done, carry_out, results_of
    from boundcheck.core.places import prepare, store_place
    from boundcheck.evidence.spec import load_claims

    claims = load_claims(spec)
    store = store_place() if out is None else prepare(out)
    origins = asked_origins(explain)
    done = carry_out(claims, store=store, where=where(workers, cluster, time_limit), curves=True, origins=origins)
    results_of(done)
    finished = [d for d in done if isinstance(d, Done)]
    if as_json:
        rows = [
            {
                "claim": d.result.claim.label(),
                "folders": list(d.folders),
                "rounds": list(d.result.rounds),
                "failed": d.result.verdict.reason if d.result.verdict.outcome.value == "FAILED" else None,
            }
            for d in finished
        ]
        print_json({"runs": rows, **origins_data(origins)})
        return 0
    cells = [[d.result.claim.label(), str(len(d.result.rounds)), f] for d in finished for f in d.folders]
    table(["claim", "points", "folder"], cells)
    print_origins(origins)
    return 0


def _row(result: ClaimResult) -> list[str]:
    verdict = result.verdict
    ratio = math.nan if verdict.tightness is None else verdict.tightness.ratio_min
    tight = "-" if math.isnan(ratio) else short(ratio)
    return [result.claim.label(), verdict.outcome.value, "-" if verdict.grade is None else verdict.grade.value, tight]


def compare(
    spec: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC|ID",
            help="A TOML file with [[claim]] tables; with --curve the statement, <paper>/<statement>[/<reading>].",
            show_default=False,
        ),
    ],
    curve: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A curve measured elsewhere: CSV, JSON, JSON lines or Parquet.",
            show_default=False,
        ),
    ] = None,
    problem: Annotated[
        Path | None,
        typer.Option(
            metavar="SPEC",
            help="With --curve: a TOML file with a [problem], and a [method] if known, for the constants.",
            show_default=False,
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="With --curve: a constant. Repeatable.", show_default=False),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="ROLE=COLUMN",
            help="With --curve: the column of round, value, seed, key or stderr. Repeatable.",
            show_default=False,
        ),
    ] = None,
    deterministic: Annotated[
        bool, typer.Option("--deterministic", help="With --curve: nothing in the run is random.")
    ] = False,
    workers: Workers = None,
    cluster: Cluster = None,
    time_limit: TimeLimit = None,
    no_store: NoStore = False,
    explain: Explain = False,
    as_json: Json = False,
) -> int:
    """The verdict on each claim, or on a curve measured elsewhere.

    Whatever it expects: exit code 0 if all hold, 1 if one is violated, 3 otherwise. The
    tightness is the least bound over metric among the points where the bound is at most half its
    trivial value, or among all where there is no such point (1 is tight).

    A curve is a table of rounds and values (columns round and value, and seed for several runs); --column names columns
    that are called otherwise. Its verdict is SUPPORTED at most, and its reason names what was not checked.

    \b
    Example: boundcheck compare examples/scgd.toml
    Example: boundcheck compare scgd/theorem_3_3 --curve runs.csv --problem spec.toml --set eta=1/100 --set E=4
    """
    from boundcheck.cli._curve import claim_of_options, column_notes
    from boundcheck.cli._execute import Done, carry_out, results_of
    from boundcheck.errors import BadInput
    from boundcheck.evidence.spec import load_claims

    if curve is not None:
        claims = [claim_of_options(str(spec), curve, problem, sets or [], columns or [], deterministic)]
    elif problem is not None or sets or columns or deterministic:
        raise BadInput("--problem, --set, --column and --deterministic belong to --curve; give one, or a SPEC alone.")
    else:
        claims = load_claims(spec)
    store, origins = chosen_store(no_store), asked_origins(explain, no_store)
    done = carry_out(claims, store=store, where=where(workers, cluster, time_limit), origins=origins)
    results = [d.result for d in done if isinstance(d, Done)] or results_of(done)
    if as_json:
        print_json({**_json_results(results), **origins_data(origins)})
    else:
        for note in column_notes(results):
            line(note)
        table(
            ["claim", "outcome", "grade", "tightness", "reason"],
            [[*_row(r), r.verdict.reason] for r in results],
            styles=["", "outcome"],
        )
        _print_counts(results)
        print_origins(origins)
    results_of(done)  # raises for every claim that was refused, after the others
    outcomes = {r.verdict.outcome.value for r in results}
    if "VIOLATED" in outcomes:
        return 1
    return 0 if outcomes == {"HOLDS"} else 3


def _json_results(results: Sequence[ClaimResult]) -> dict[str, Any]:
    from boundcheck.report.data import claim_data
    from boundcheck.verdict import count_by

    return {"claims": [claim_data(r) for r in results], "counts": count_by(r.verdict for r in results)}


def _print_counts(results: Sequence[ClaimResult]) -> None:
    from boundcheck.verdict import count_by

    counts = count_by(r.verdict for r in results)
    line()
    for what, of in counts.items():
        line(f"{what}: " + ", ".join(f"{count} {name}" for name, count in of.items()))


def check(
    files: Annotated[
        list[Path], typer.Argument(metavar="CLAIMS...", help="TOML files with [[claim]] tables.", show_default=False)
    ],
    junit: Annotated[
        Path | None,
        typer.Option("--junit", metavar="FILE", help="Write a JUnit XML file for CI.", show_default=False),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Append a Markdown summary, such as to $GITHUB_STEP_SUMMARY.", show_default=False
        ),
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    time_limit: TimeLimit = None,
    no_store: NoStore = False,
    explain: Explain = False,
    as_json: Json = False,
) -> int:
    """The CI gate: whether every claim meets its expect.

    Exit code 0 only if every claim meets its expected outcome, tightness and rate; 3 if the others do, but a claim
    was not run because its data set or package is not on this machine. Tables of limits and studies are read and
    not carried out. A claim or a shipped witness that is VIOLATED although the
    derivation of its reading is PROVED is stated first, whatever was expected; exit code 1.

    \b
    Example: boundcheck check examples/scgd.toml --junit boundcheck.xml
    """
    from boundcheck.cli._execute import Done, Refused, carry_out
    from boundcheck.cli._files import probe_file
    from boundcheck.evidence.contradictions import contradictions
    from boundcheck.evidence.limits import load_limits
    from boundcheck.evidence.not_run import NotRun
    from boundcheck.evidence.spec import load_claims
    from boundcheck.evidence.studies import load_studies
    from boundcheck.problems._own_data import load_specification

    not_run: list[NotRun] = []
    read = [load_specification(file) for file in files]
    alone = len(read) == 1
    asked = [c for file in read for c in load_claims(file, need_expect=True, need_claims=alone, not_run=not_run)]
    if not asked and not not_run:
        load_claims(read[0], need_expect=True)  # raises: no file has a claim
    for file in read:
        load_limits(file, [])
        load_studies(file, [])
    for path, option in ((junit, "--junit"), (summary, "--summary")):
        if path is not None:
            probe_file(path, option)
    store, origins = chosen_store(no_store), asked_origins(explain, no_store)
    done = carry_out(asked, store=store, where=where(workers, cluster, time_limit), origins=origins)
    not_run += [NotRun("claim", d.claim.label(), d.problem) for d in done if isinstance(d, Refused) and d.absent]
    done = [d for d in done if not (isinstance(d, Refused) and d.absent)]
    against = contradictions((), [d.result for d in done if isinstance(d, Done)])
    if junit is not None:
        from boundcheck.cli._junit import write_junit

        write_junit(done, " ".join(map(str, files)), junit, against, not_run)
    if summary is not None:
        from boundcheck.cli._junit import append_summary

        append_summary(done, " ".join(map(str, files)), summary, not_run)
    return _print_check(done, against, not_run, origins, as_json)


def _print_check(
    done: Sequence[Done | Refused],
    against: Sequence[Contradiction],
    not_run: Sequence[NotRun],
    origins: Sequence[Origin] | None,
    as_json: bool,
) -> int:
    from boundcheck.cli._evidence import print_contradictions
    from boundcheck.cli._execute import Done, Refused

    results = [d.result for d in done if isinstance(d, Done)]
    refused = [d for d in done if isinstance(d, Refused)]
    missed = sum(bool(r.failures) for r in results)
    if as_json:
        bad = [{"claim": r.claim.label(), "problem": r.problem} for r in refused]
        met = {"met": len(results) - missed, "missed": missed, "bad input": len(bad), "not run": len(not_run)}
        absent = [{"claim": n.name, "problem": n.why} for n in not_run]
        said = [c.to_dict() for c in against]
        print_json(
            {
                "contradictions": said,
                **_json_results(results),
                "expectations": met,
                "bad_input": bad,
                "not_run": absent,
                **origins_data(origins),
            }
        )
    else:
        print_contradictions(against)
        cells = [[*_row(r), _expected(r.claim), "no" if r.failures else "yes"] for r in results]
        columns = ["claim", "outcome", "grade", "tightness", "expected", "met"]
        table(columns, cells, styles=["", "outcome", "", "", "", "outcome"])
        _print_counts(results)
        print_origins(origins)
        for r in results:
            for failure in r.failures:
                line(f"MISSED {r.claim.label()}: {failure}")
        for r in refused:
            line(f"BAD INPUT {r.claim.label()}: {r.problem}")
        for n in not_run:
            line(f"NOT RUN {n.name}: {n.why}")
        slow = [str(r.info["why_numpy"]) for r in results if "numba" in str(r.info.get("why_numpy", ""))]
        if slow:
            what = "1 claim was" if len(slow) == 1 else f"{len(slow)} claims were"
            line(f"{what} simulated in NumPy, which takes 20 to 600 times as long: {slow[0]}.")
        line(f"{len(results) - missed} of {len(done) + len(not_run)} claims met their expectation.")
    return 1 if against else 2 if refused else 1 if missed else 3 if not_run else 0


def _expected(claim: Claim) -> str:
    parts = [] if claim.expect is None else [claim.expect.value]
    least, largest = claim.tightness
    if least is not None or largest is not None:
        parts.append(f"tightness {'' if least is None else short(least)}..{'' if largest is None else short(largest)}")
    if claim.rate is not None:
        parts.append(f"slope {short(json_float(float(claim.rate.low)))}..{short(json_float(float(claim.rate.high)))}")
    return ", ".join(parts)
