"""Commands that carry out claims: run, compare, check."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from boundcheck.cli.options import (
    Cluster,
    Json,
    NoStore,
    Spec,
    TimeLimit,
    Workers,
    argument,
    chosen_store,
    option,
    pairs,
    spec_file,
    where,
)
from boundcheck.cli.output import json_float, line, print_json, progress, say, short, table
from boundcheck.cli.statements import print_contradictions
from boundcheck.core.targets import probe_file
from boundcheck.errors import BadInput, SpecError, UnknownName

if TYPE_CHECKING:
    from boundcheck.core.toml_lines import TomlFile
    from boundcheck.evidence.claim import Claim, ClaimResult
    from boundcheck.evidence.not_run import NotRun
    from boundcheck.report.ci import Finding

COLUMNS = ("claim", "outcome", "grade", "tightness")


def run(
    spec: Spec,
    out: Annotated[
        Path | None, option("-o", "--out", metavar="DIR", help="Folder for the runs.", shown="the result store")
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    time_limit: TimeLimit = None,
    as_json: Json = False,
) -> int:
    """Carries out the runs of all claims.

    Says where their curves are. What is there already is not run again; an interrupted command continues where it was.

    \b
    Example: boundcheck run examples/tour/claims.toml -o runs
    """
    from boundcheck.core.places import prepare, store_place
    from boundcheck.evidence.carry_out import Done, carry_out, results_of
    from boundcheck.evidence.spec import load_claims

    claims = load_claims(spec)
    store = store_place() if out is None else prepare(out)
    done = carry_out(claims, store=store, where=where(workers, cluster, time_limit), curves=True, progress=progress)
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
        print_json({"runs": rows})
        return 0
    cells = [[d.result.claim.label(), str(len(d.result.rounds)), f] for d in finished for f in d.folders]
    table(["claim", "points", "folder"], cells)
    return 0


def compare(
    spec: Annotated[
        Path,
        argument(
            metavar="SPEC|ID",
            parser=spec_file,
            help="A TOML file with [[claim]] tables; with --curve the id of a statement.",
        ),
    ],
    curve: Annotated[
        Path | None,
        option(metavar="FILE", parser=spec_file, help="A curve measured elsewhere: CSV, JSON, JSON lines, Parquet."),
    ] = None,
    problem: Annotated[
        Path | None,
        option(
            metavar="SPEC", parser=spec_file, help="With --curve: a TOML file with [problem], and [method] if known."
        ),
    ] = None,
    sets: Annotated[list[str] | None, option("--set", metavar="NAME=VALUE", help="With --curve: a constant.")] = None,
    columns: Annotated[
        list[str] | None,
        option("--column", metavar="ROLE=COLUMN", help="With --curve: column of round, value, seed, key or stderr."),
    ] = None,
    deterministic: Annotated[
        bool, option("--deterministic", help="With --curve: nothing in the run is random.")
    ] = False,
    workers: Workers = None,
    cluster: Cluster = None,
    time_limit: TimeLimit = None,
    no_store: NoStore = False,
    as_json: Json = False,
) -> int:
    """The verdict on each claim, or on a curve measured elsewhere.

    Exit code 0 if all hold, 1 if one is violated, 3 otherwise; what a claim expects does not count. A curve is a table
    of rounds and values (columns round and value, and seed for several runs). Its verdict is SUPPORTED at most.

    \b
    Example: boundcheck compare examples/tour/claims.toml
             boundcheck compare classics/gradient_descent_convex --deterministic
             --curve examples/tour/curve.csv --set L=1 --set eta=1 --set dist2_0=1
    """
    from boundcheck.evidence.carry_out import Done, carry_out, results_of
    from boundcheck.evidence.spec import load_claims

    if curve is not None:
        claims = [_claim_of_curve(str(spec), curve, problem, sets or [], columns or [], deterministic)]
    elif problem is not None or sets or columns or deterministic:
        raise BadInput("--problem, --set, --column and --deterministic belong to --curve; give one, or a SPEC alone.")
    else:
        claims = load_claims(spec)
    place = where(workers, cluster, time_limit)
    done = carry_out(claims, store=chosen_store(no_store), where=place, progress=progress)
    results = [d.result for d in done if isinstance(d, Done)] or results_of(done)
    if as_json:
        print_json(_json_results(results))
    else:
        for note in _column_notes(results):
            say(note)
        table([*COLUMNS, "reason"], [[*_row(r), r.verdict.reason] for r in results], coloured=[1])
        _print_counts(results)
    results_of(done)  # raises for every claim that was refused, after the others
    outcomes = {r.verdict.outcome.value for r in results}
    if "VIOLATED" in outcomes:
        return 1
    return 0 if outcomes == {"HOLDS"} else 3


def _claim_of_curve(
    id: str, curve: Path, problem: Path | None, sets: Sequence[str], columns: Sequence[str], deterministic: bool
) -> Claim:
    """The claim of the options. A --set of a parameter that the method lacks completes the method, any other one is a
    constant. Raises BadInput, UnknownName and SpecError, as for a file.
    """
    from boundcheck.evidence.spec import claim_from_table, instance_of

    named = pairs(columns, "--column", "ROLE=COLUMN, such as round=step or value=loss")
    source: dict[str, Any] = {"file": str(curve), **named, **({"deterministic": True} if deterministic else {})}
    table: dict[str, Any] = {"statement": id, "curve": source}
    table |= {} if problem is None else instance_of(problem)
    method, constants = (dict(cast("Mapping[str, Any]", table.get(key, {}))) for key in ("method", "constants"))
    for name, value in pairs(sets, "--set", "NAME=VALUE, such as eta=1/10").items():
        if name in method:
            raise BadInput(f"--set {name}: the method of {problem} has {name} already; leave one of them out.")
        if method and name in _parameters(method):
            method[name] = value
        else:
            constants[name] = value
    table |= {key: part for key, part in (("method", method), ("constants", constants)) if part}
    return claim_from_table(table, "boundcheck compare")


def _parameters(method: Mapping[str, Any]) -> tuple[str, ...]:
    """The parameters of the method's kind; none for an unknown kind, which is said later."""
    from boundcheck.methods.build import kind_of

    try:
        return tuple(kind_of(str(method.get("kind"))).parameters())
    except UnknownName:
        return ()


def _column_notes(results: Sequence[ClaimResult]) -> list[str]:
    """Which columns were taken of each curve from outside, one line each."""
    from boundcheck.theory.discovery import statement

    notes = [
        f"{r.info['source']}: taking {r.info['columns']} as the metric {statement(r.claim.statement).metric.quantity}"
        for r in results
        if r.claim.curve is not None and "columns" in r.info
    ]
    return list(dict.fromkeys(notes))


def check(
    files: Annotated[
        list[Path], argument(metavar="CLAIMS...", parser=spec_file, help="TOML files with [[claim]] tables.")
    ],
    junit: Annotated[Path | None, option("--junit", metavar="FILE", help="Write a JUnit XML file for CI.")] = None,
    summary: Annotated[Path | None, option(metavar="FILE", help="Append a Markdown summary for CI.")] = None,
    sarif: Annotated[
        Path | None, option("--sarif", metavar="FILE", help="Write a SARIF 2.1.0 file for code scanning.")
    ] = None,
    annotate: Annotated[
        bool, option("--annotate", help="Mark claims in a pull request on GitHub, by lines on stderr.")
    ] = False,
    workers: Workers = None,
    cluster: Cluster = None,
    time_limit: TimeLimit = None,
    no_store: NoStore = False,
    as_json: Json = False,
) -> int:
    """The CI gate: whether every claim meets its expect.

    Exit code 0 only if every claim meets its expected outcome, tightness and rate; 1 also where a claim or a shipped
    witness is VIOLATED although the derivation of its reading is PROVED; 3 where a data set or package is missing.
    Tables of limits and studies are read and not carried out.

    \b
    Example: boundcheck check examples/tour/claims.toml --junit boundcheck.xml
    """
    from boundcheck.core.places import write_whole
    from boundcheck.evidence.carry_out import Done, Refused, carry_out
    from boundcheck.evidence.contradictions import contradictions
    from boundcheck.evidence.limits import load_limits
    from boundcheck.evidence.not_run import NotRun
    from boundcheck.evidence.spec import load_claims
    from boundcheck.evidence.studies import load_studies
    from boundcheck.problems._own_data import load_specification
    from boundcheck.report.ci import append_summary, findings, junit_xml, mistakes
    from boundcheck.report.ci import sarif as sarif_log

    not_run: list[NotRun] = []
    try:
        read = [load_specification(file) for file in files]
        alone = len(read) == 1
        own = [load_claims(file, need_expect=True, need_claims=alone, not_run=not_run) for file in read]
        asked = [claim for claims in own for claim in claims]
        if not asked and not not_run:
            load_claims(read[0], need_expect=True)  # raises: no file has a claim
        for file in read:
            load_limits(file, [])
            load_studies(file, [])
    except SpecError as error:
        if annotate:
            from boundcheck.report.ci import mistakes

            _annotate(mistakes(error))
        raise
    places = [_place(file, claim) for file, claims in zip(read, own, strict=True) for claim in claims]
    for path, named in ((junit, "--junit"), (summary, "--summary"), (sarif, "--sarif")):
        if path is not None:
            probe_file(path, named)
    place = where(workers, cluster, time_limit)
    done = carry_out(asked, store=chosen_store(no_store), where=place, progress=progress)
    not_run += [NotRun("claim", d.what.label(), d.problem) for d in done if isinstance(d, Refused) and d.absent]
    kept = [(d, p) for d, p in zip(done, places, strict=True) if not (isinstance(d, Refused) and d.absent)]
    done, places = [d for d, _ in kept], [place for _, place in kept]
    results = [d.result for d in done if isinstance(d, Done)]
    refused = [(d.what, d.problem) for d in done if isinstance(d, Refused)]
    against = contradictions((), results)
    suite = " ".join(map(str, files))
    settled = [d.result if isinstance(d, Done) else (d.what, d.problem) for d in done]
    if junit is not None:
        write_whole(junit, junit_xml(settled, suite, against, not_run))
    if summary is not None:
        append_summary(settled, suite, summary, not_run)
    found = findings(settled, places, against)
    if sarif is not None:
        write_whole(sarif, sarif_log(found, not_run))
    if annotate:
        _annotate(found)
    missed = sum(bool(r.failures) for r in results)
    if as_json:
        met = {"met": len(results) - missed, "missed": missed, "bad input": len(refused), "not run": len(not_run)}
        print_json(
            {
                "contradictions": [c.to_dict() for c in against],
                **_json_results(results),
                "expectations": met,
                "bad_input": [{"claim": claim.label(), "problem": problem} for claim, problem in refused],
                "not_run": [{"claim": n.name, "problem": n.why} for n in not_run],
            }
        )
    else:
        print_contradictions(against)
        _print_check(results, refused, not_run)
    return 1 if against else 2 if refused else 1 if missed else 3 if not_run else 0


def _place(file: TomlFile, claim: Claim) -> tuple[str, int]:
    """File and line of a claim that was read from it."""
    return file.path, file.line_of(("claim", (claim.number or 1) - 1))


def _annotate(found: Sequence[Finding]) -> None:
    from boundcheck.report.ci import workflow_commands

    for text in workflow_commands(found):
        typer.echo(text, err=True)


def _print_check(
    results: Sequence[ClaimResult], refused: Sequence[tuple[Claim, str]], not_run: Sequence[NotRun]
) -> None:
    cells = [[*_row(r), _expected(r.claim), "no" if r.failures else "yes"] for r in results]
    table([*COLUMNS, "expected", "met"], cells, coloured=[1, 5])
    _print_counts(results)
    for r in results:
        for failure in r.failures:
            say(f"MISSED {r.claim.label()}: {failure}")
    for claim, problem in refused:
        say(f"BAD INPUT {claim.label()}: {problem}")
    for n in not_run:
        say(f"NOT RUN {n.name}: {n.why}")
    slow = [str(r.info["why_numpy"]) for r in results if "numba" in str(r.info.get("why_numpy", ""))]
    if slow:
        what = "1 claim was" if len(slow) == 1 else f"{len(slow)} claims were"
        say(f"{what} simulated in NumPy, which takes 20 to 600 times as long: {slow[0]}.")
    met = sum(not r.failures for r in results)
    line(f"{met} of {len(results) + len(refused) + len(not_run)} claims met their expectation.")


def _expected(claim: Claim) -> str:
    parts = [] if claim.expect is None else [claim.expect.value]
    least, largest = claim.tightness
    if least is not None or largest is not None:
        parts.append(f"tightness {'' if least is None else short(least)}..{'' if largest is None else short(largest)}")
    if claim.rate is not None:
        parts.append(f"slope {short(json_float(float(claim.rate.low)))}..{short(json_float(float(claim.rate.high)))}")
    return ", ".join(parts)


def _row(result: ClaimResult) -> list[str]:
    verdict = result.verdict
    ratio = math.nan if verdict.tightness is None else verdict.tightness.ratio_min
    tight = "-" if math.isnan(ratio) else short(ratio)
    return [result.claim.label(), verdict.outcome.value, "-" if verdict.grade is None else verdict.grade.value, tight]


def _json_results(results: Sequence[ClaimResult]) -> dict[str, Any]:
    from boundcheck.report.data import claim_data
    from boundcheck.verdict import count_by

    return {"claims": [claim_data(r) for r in results], "counts": count_by(r.verdict for r in results)}


def _print_counts(results: Sequence[ClaimResult]) -> None:
    from boundcheck.verdict import count_by

    counts = count_by(r.verdict for r in results)
    line()
    for what, of in counts.items():
        say(f"{what}: " + ", ".join(f"{count} {name}" for name, count in of.items()))
