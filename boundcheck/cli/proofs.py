"""Commands about evidence beyond runs: derive, falsify, replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundcheck.cli._output import json_float, line, print_json, progress, table
from boundcheck.cli._rows import matching_ids
from boundcheck.cli._where import Cluster, Workers, where
from boundcheck.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boundcheck.evidence.witness import Witness
    from boundcheck.proof.derivation import DerivationReport
    from boundcheck.proof.step import Status, StepResult


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Id = Annotated[
    str, typer.Argument(help="<paper>/<statement>[/<reading>].", show_default=False, autocompletion=matching_ids)
]

CLAIM_WIDTH = 100  # characters of a claim of the trusted base in the table; --json has all of it


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(derive)
    app.command()(falsify)
    app.command()(replay)
    app.command()(verify)


def derive(
    id: Annotated[
        str, typer.Argument(help="<paper>/<statement>[/<reading>].", show_default=False, autocompletion=matching_ids)
    ] = "",
    every: Annotated[bool, typer.Option("--all", help="All shipped derivations instead of one.")] = False,
    seconds: Annotated[float, typer.Option(min=0.1, max=3600, help="Limit of one solver call.")] = 10.0,
    record: Annotated[bool, typer.Option("--record", help="Also write the outcome beside the derivation.")] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="With --all, number of processes.", show_default="one a processor")
    ] = None,
    honesty: Annotated[
        bool, typer.Option("--honesty", help="Test the checker on true, false and contradictory claims instead.")
    ] = False,
    mutants: Annotated[
        str | None, typer.Option(help="Test the checker on mutants of the derivations for this processor time: 8m.")
    ] = None,
    step: Annotated[
        str, typer.Option("--step", metavar="NAME", help="Only this step, with its certificate.", show_default=False)
    ] = "",
    latex: Annotated[
        bool, typer.Option("--latex", help="The statement and its proof as LaTeX, if every step is proved.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Checks a derivation step by step.

    It prints what the proof starts from, and each step with its claim, the reason and what it uses. The
    conclusion is compared with the statement's bound; --json has the certificates. PROVED is said only
    where the verifier accepts the proof record, DERIVED where every step is proved without one. Exit code 0
    when every step is proved, 1 when one is refuted (the statement may still be true), 3 when one is
    undecided, vacuous or assumed, or the conclusion is not the bound. With --all, exit code 1 when a
    derivation that is recorded as proved no longer is, else 0. With --honesty, exit code 1 when a
    false or contradictory claim is proved or a true one refuted, else 0.

    \b
    Example: boundcheck derive scgd/lemma_3_1/as_printed_appendix
             boundcheck derive scgd/lemma_3_1/sharp --latex
             boundcheck derive --honesty
    """
    from boundcheck.cli._derivations import check_all, judged, write_report

    if honesty or mutants is not None:
        from boundcheck.cli._honesty import show_kit, show_mutants

        if id or every or record or (honesty and mutants is not None):
            raise BadInput("--honesty and --mutants are given alone: they check no statement.")
        return show_kit(as_json=as_json) if mutants is None else show_mutants(mutants, as_json=as_json)
    if every == bool(id):
        raise BadInput("derive takes either the id of a statement or --all.")
    if (step or latex) and (every or record or (step and latex)):
        raise BadInput("--step and --latex are for one statement, without each other and without --record.")
    if every:
        return check_all(seconds, workers, record=record, as_json=as_json)
    from boundcheck.proof.discovery import derivation

    if step:
        return _one_step(id, step, seconds, as_json=as_json)
    found = derivation(id)
    report = found.check(seconds)
    if record:
        write_report(report)
    if latex:
        from boundcheck.report.written import proof_latex

        line(proof_latex(report, found.statement))
        return _code(report.status)
    status, rests = judged(report)
    if as_json:
        print_json({**report.to_dict(), "status": status, "rests_on": rests})
    else:
        _derive_text(report)
        line(f"{report.statement}: {status}{_verified_words(report, status, rests)}")
    return _code(report.status)


def _derive_text(report: DerivationReport) -> None:
    from boundcheck.report.words import transcribed_words
    from boundcheck.report.written import in_words

    used = {name for r in report.results for name in r.step.uses}
    line("From")
    table(["name", "claim", "kind"], [[f.name, in_words(f.claim), f.kind] for f in report.facts if f.name in used])
    line()
    line("Proof")
    for number, result in enumerate(report.results, start=1):
        _step_text(result, f"{number}. ")
    line()
    for remark in report.remarks:
        line(remark)
    line()
    line(f"The derivation {transcribed_words(report.transcribed)}, taken over as written:")
    table(["from", "kind", "claim", "source"], [[x.name, x.kind, _cut(x.claim), x.source] for x in report.trusted])
    line()
    line(", ".join(f"{count} {status}" for status, count in report.counts.items()))


def _verified_words(report: DerivationReport, status: str, rests: Sequence[str]) -> str:
    """What the verifier adds to a derivation whose steps are all proved; "" for any other."""
    if report.status.value != "PROVED":
        return ""
    if status != "PROVED":
        return ", not verified: it has no proof record that the verifier accepts"
    from boundcheck.verify.boundcheck_verify import account

    return f", verified{account([*rests])}"


def _step_text(result: StepResult, number: str = "") -> None:
    """A step as one reads it: what it claims, because of what, from what."""
    from boundcheck.report.words import shortened
    from boundcheck.report.written import in_words

    finding = result.finding
    line(f"{number}{result.step.name}: {result.status.value}")
    line(f"   claim    {in_words(result.step.claim)}")
    line(f"   because  {result.step.text} ({finding.how})")
    line(f"   from     {', '.join(result.step.uses) or 'nothing'}")
    if finding.witness:
        line("   witness  " + ", ".join(f"{k} = {shortened(str(v))}" for k, v in finding.witness.items()))
    if finding.note and result.status.value != "PROVED":
        line(f"   note     {finding.note}")


def _one_step(id: str, name: str, seconds: float, *, as_json: bool) -> int:
    """One step with what it uses and its certificate."""
    from boundcheck.proof.discovery import derivation
    from boundcheck.proof.step import StepResult
    from boundcheck.report.written import in_words

    found = derivation(id)
    finding = found.check_step(name, seconds)
    step = next(s for s in found.steps if s.name == name)
    result = StepResult(step, finding, (), 0.0)
    if as_json:
        print_json(result.to_dict())
    else:
        claims = {f.name: f.claim for f in found.facts} | {s.name: s.claim for s in found.steps}
        _step_text(result)
        line()
        table(["used", "claim"], [[used, in_words(claims[used])] for used in step.uses])
        for part in (finding, *finding.parts):
            if part.certificate is not None:
                line()
                line(f"certificate of {part.claim or name}:" if part is not finding else "certificate:")
                line(json.dumps(dict(part.certificate), indent=2, default=str))
    return _code(finding.status)


def _code(status: Status) -> int:
    return {"PROVED": 0, "REFUTED": 1}.get(status.value, 3)


def _cut(claim: str) -> str:
    return claim if len(claim) <= CLAIM_WIDTH else claim[: CLAIM_WIDTH - 3] + "..."


def falsify(
    id: Id = "",
    budget: Annotated[str, typer.Option(help="Time for the search, such as 60s or 10m.")] = "60s",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search.")] = 0,
    seeds: Annotated[
        int, typer.Option(min=1, help="Number of searches, with this seed and those after it, each with the budget.")
    ] = 1,
    every: Annotated[
        bool, typer.Option("--all", help="All readings believed true instead of one, each with the whole budget.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="Where to write a witness, with --all what was searched.",
            show_default="made of the id and the seed",
        ),
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    as_json: Json = False,
) -> int:
    """Searches for a counterexample.

    That is an instance in scope that breaks the bound: exit code 1 with one, 0 without. A search that
    finds nothing proves nothing. With --seeds, the witness of the smallest seed that finds one is taken. A witness
    is re-evaluated in exact arithmetic and written as a file that `boundcheck replay` runs. With --all the readings are
    searched one after the other, or on --workers or a --cluster; the file is written after each, and the same command
    continues from there.

    \b
    Example: boundcheck falsify scgd/theorem_3_3/as_printed_main --budget 60s --seed 1
             boundcheck falsify --all --budget 20s
    """
    from boundcheck.cli._files import probe_file
    from boundcheck.cli._searches import search_all
    from boundcheck.core.numbers import parse_seconds
    from boundcheck.evidence.witness import save_witness
    from boundcheck.falsify.seeds import falsify_seeds, together
    from boundcheck.theory.discovery import statement

    if every == bool(id):
        raise BadInput("falsify takes either the id of a statement or --all.")
    seconds = parse_seconds(budget, "--budget")
    if every:
        if seeds > 1:
            raise BadInput("--seeds belongs to the search of one statement, not to --all.")
        target = out or Path(f"searched-seed{seed}.json")
        return search_all(seconds, seed, target, where(workers, cluster, None), as_json=as_json)
    found = statement(id)
    target = out or Path(f"witness-{found.id.replace('/', '-')}-seed{seed}.json")
    probe_file(target, "--out")
    tried = range(seed, seed + seeds)
    with progress(f"searching {found.id}") as show:
        result = together(
            falsify_seeds(found, tried, budget=seconds, where=where(workers, cluster, None), on_progress=show)
        )
    path = None
    if result.witness is not None:
        path = target
        save_witness(result.witness, path)
    if as_json:
        print_json(
            {
                "statement": found.id,
                "witness": None if result.witness is None else result.witness.to_dict(),
                "file": None if path is None else str(path),
                "best": json_float(result.best),
                "best_in_words": result.best_words,
                "searched": dict(result.searched),
                "instances": result.instances,
                "seconds": round(result.seconds, 3),
                "seed": result.seed,
                "budget": result.budget,
            }
        )
    else:
        which = f"seed {result.seed}" if result.witness or seeds == 1 else f"seeds {seed} to {tried[-1]}"
        searched = f"{result.instances} instances in {result.seconds:.1f} s, {which}"
        if result.witness is None:
            line(f"{found.id}: no counterexample among {searched}; {result.best_words}.")
        else:
            line(f"{found.id}: broken after {searched}.")
            _witness_text(result.witness)
            line(f"written: {path}; `boundcheck replay {path}` runs it again.")
        line(f"searched: {result.searched_words}.")
    return 0 if result.witness is None else 1


def _witness_text(witness: Witness) -> None:
    for label, spec in (("problem", witness.problem), ("method", witness.method), ("at", witness.at)):
        if not spec:
            continue
        line(f"  {label}: {json.dumps(dict(spec), default=str)}")
    line(f"  {witness.verdict.reason}")


def replay(
    witness: Annotated[Path, typer.Argument(metavar="WITNESS", help="A witness file.", show_default=False)],
    as_json: Json = False,
) -> int:
    """Runs a witness again.

    Exit code 1 if the violation still stands, 0 if it no longer does.

    \b
    Example: boundcheck replay examples/witnesses/scgd_theorem_3_3_as_printed_main.json
    """
    from boundcheck.evidence.witness import load_witness
    from boundcheck.evidence.witness import replay as run_again
    from boundcheck.verdict import Outcome

    loaded = load_witness(witness)
    verdict = run_again(loaded)
    stands = verdict.outcome is Outcome.VIOLATED
    if as_json:
        data: dict[str, Any] = {"file": str(witness), "stands": stands, "verdict": _json_verdict(verdict.to_dict())}
        print_json(data)
    else:
        grade = "" if verdict.grade is None else f" ({verdict.grade})"
        line(f"{loaded.statement}: {verdict.outcome}{grade}. {verdict.reason}")
        line("The witness still stands." if stands else "The witness no longer stands.")
    return 1 if stands else 0


def _json_verdict(data: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in data.items() if k != "details"}


def verify(
    id: Annotated[
        str, typer.Argument(help="<paper>/<statement>/<reading>.", show_default=False, autocompletion=matching_ids)
    ] = "",
    every: Annotated[bool, typer.Option("--all", help="All shipped proof records, as a table.")] = False,
    write: Annotated[bool, typer.Option("--write", help="First write the records anew from the derivations.")] = False,
    record: Annotated[bool, typer.Option("--record", help="Also keep what the verifier says.")] = False,
    as_json: Json = False,
) -> int:
    """Checks a proof record with the verifier, one file that uses the standard library alone.

    It runs in a process of its own, prints the statement that it checked and what the proof rests on.
    Exit code 0 for a valid record, 1 for one that proves nothing or has a step without a certificate.
    --all prints a row for each statement; exit code 1 when a record is not valid.
    A derivation is PROVED where the verifier accepts its record and --record or --write kept that.

    \b
    Example: boundcheck verify scgd/lemma_3_1/corrected
    """
    from boundcheck.cli._verified import keep_verdicts, shipped_readings, verify_all, verify_one, write_records
    from boundcheck.theory.discovery import statement

    if every == bool(id):
        raise BadInput("verify takes either the id of a statement or --all.")
    if write:
        write_records(id)
    elif record:
        keep_verdicts(shipped_readings() if every else [statement(id).id])
    return verify_all(as_json=as_json) if every else verify_one(id, as_json=as_json)
