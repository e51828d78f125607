"""Commands about evidence beyond runs: derive, falsify, replay."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundcheck.cli._output import json_float, line, print_json, progress
from boundcheck.cli._rows import matching_ids
from boundcheck.cli._where import Cluster, Workers, where
from boundcheck.errors import BadInput

if TYPE_CHECKING:
    from boundcheck.evidence.witness import Witness
    from boundcheck.falsify.search import State
    from boundcheck.proof.step import Status


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Id = Annotated[
    str, typer.Argument(help="<paper>/<statement>[/<reading>].", show_default=False, autocompletion=matching_ids)
]


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
    every: Annotated[bool, typer.Option("--all", help="All shipped derivations whose record is not accepted.")] = False,
    anew: Annotated[bool, typer.Option("--anew", help="With --all, those with an accepted record too.")] = False,
    record: Annotated[bool, typer.Option("--record", help="Also write the record beside the derivation.")] = False,
    step: Annotated[
        str, typer.Option("--step", metavar="NAME", help="Only this step, with its lines.", show_default=False)
    ] = "",
    latex: Annotated[bool, typer.Option("--latex", help="The proof as a LaTeX proof environment.")] = False,
    as_json: Json = False,
) -> int:
    """Finds the proof record of a statement anew and lets the verifier check it.

    A derivation writes the steps of the proof. For each a certificate is looked for, else values at which it
    fails; a step for which neither is found is OPEN. Only what the verifier accepts counts as PROVED. Exit code 0
    when the derivation is proved, 1 when a step is refuted, 3 when one is open. A refuted step marks the derivation,
    not the statement, which may still be true. --record replaces the record that is shipped. --all finds the records
    that the verifier has not accepted as they are; exit code 1 when one is no longer proved.

    \b
    Example: boundcheck derive scgd/lemma_3_1/as_printed_appendix
             boundcheck derive scgd/lemma_3_1/sharp --latex
    """
    from boundcheck.cli._verified import derive_all, show_report, show_step
    from boundcheck.proof.derive import derive as find

    if every == bool(id):
        raise BadInput("derive takes either the id of a statement or --all.")
    if (step or latex) and (every or record or (step and latex)):
        raise BadInput("--step and --latex are for one statement, without each other and without --record.")
    if every:
        return derive_all(keep=record, anew=anew, as_json=as_json)
    report = find(id, keep=record)
    if latex:
        from boundcheck.report.written import proof_latex
        from boundcheck.theory.discovery import statement

        line(proof_latex(report, statement(report.statement)))
    elif step:
        result = report.result(step)
        if as_json:
            print_json(result.to_dict())
        else:
            show_step(result)
        return _code(result.status)
    elif as_json:
        print_json(report.to_dict())
    else:
        show_report(report)
    return _code(report.status)


def _code(status: Status) -> int:
    return {"PROVED": 0, "REFUTED": 1}.get(status.value, 3)


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
    instances: Annotated[
        int | None, typer.Option(min=1, help="Number of instances instead of time: the same search on every machine.")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", metavar="FILE", help="Go on where the search ended whose --json output the file has."),
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
    after = None if resume is None else _state(resume, found.id, seed, seeds)
    target = out or Path(f"witness-{found.id.replace('/', '-')}-seed{seed}.json")
    probe_file(target, "--out")
    tried = range(seed, seed + seeds)
    with progress(f"searching {found.id}") as show:
        result = together(
            falsify_seeds(
                found,
                tried,
                budget=seconds,
                max_instances=instances,
                where=where(workers, cluster, None),
                on_progress=show,
                after=after,
            )
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
                "nearest": dict(result.nearest),
                "epoch": result.epoch,
                "interrupted": result.interrupted,
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
            ended = "interrupted: " if result.interrupted else ""
            line(f"{found.id}: {ended}no counterexample among {searched}; {result.best_words}.")
            if result.nearest:
                line(f"nearest: {result.nearest_words}.")
        else:
            line(f"{found.id}: broken after {searched}.")
            _witness_text(result.witness)
            line(f"written: {path}; `boundcheck replay {path}` runs it again.")
        line(f"searched: {result.searched_words}.")
    return 0 if result.witness is None else 1


def _state(file: Path, id: str, seed: int, seeds: int) -> State:
    """Where the search ended of which a file has the output of --json."""
    from boundcheck.cli._files import read_text
    from boundcheck.falsify.search import State

    try:
        data = json.loads(read_text(file))
        own = data["statement"], int(data["seed"])
        best = data["best"]
        state = State(int(data["epoch"]), int(data["instances"]), -math.inf if best is None else float(best))
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"--resume '{file}' is no output of boundcheck falsify --json.") from error
    if own != (id, seed) or seeds > 1:
        raise BadInput(f"--resume '{file}' is of {own[0]} with seed {own[1]}; ask for the same statement and one seed.")
    return state


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
    record: Annotated[bool, typer.Option("--record", help="Also keep in the records what the verifier says.")] = False,
    as_json: Json = False,
) -> int:
    """Checks a proof record with the verifier, one file that uses the standard library alone.

    It runs in a process of its own, prints the statement that it checked and what the proof rests on.
    Exit code 0 for a valid record, 1 for one that proves or refutes nothing.
    --all prints a row for each statement; exit code 1 when a record is not valid.
    A file that ends in .json is a certificate of `worst-case`: it is checked, and held against today's statement.
    A derivation counts as PROVED where the verifier accepted its record and --record, or `derive --record`, kept that.

    \b
    Example: boundcheck verify scgd/lemma_3_1/corrected
    """
    from boundcheck.cli._verified import accept_all, shipped_readings, verify_all, verify_one
    from boundcheck.cli.worst import verify_certificate
    from boundcheck.theory.discovery import statement

    if id.endswith(".json") and not every:
        return verify_certificate(Path(id), as_json=as_json)
    if every == bool(id):
        raise BadInput("verify takes either the id of a statement or --all.")
    if record:
        accept_all(shipped_readings() if every else [statement(id).id])
    return verify_all(as_json=as_json) if every else verify_one(id, as_json=as_json)
