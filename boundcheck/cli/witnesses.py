"""Commands about counterexamples: falsify, replay."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from boundcheck.cli.output import (
    Cluster,
    Id,
    Json,
    Workers,
    json_float,
    line,
    print_json,
    progress,
    say,
    short,
    table,
    where,
)
from boundcheck.core.targets import probe_file, read_text
from boundcheck.errors import BadInput

if TYPE_CHECKING:
    from boundcheck.core.executor import Where
    from boundcheck.evidence.witness import Witness
    from boundcheck.falsify.search import State


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(falsify)
    app.command()(replay)


def falsify(
    id: Id = "",
    budget: Annotated[str, typer.Option(help="Time for the search, such as 60s or 10m.")] = "60s",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search.")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="Number of searches, with this seed and those after it.")] = 1,
    every: Annotated[
        bool, typer.Option("--all", help="All readings believed true, each with the whole budget.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            help="Where to write a witness, or with --all what was searched.",
            show_default="made of the id and the seed",
        ),
    ] = None,
    instances: Annotated[
        int | None, typer.Option(min=1, help="Instances instead of time: the same search on every machine.")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", metavar="FILE", help="Continue the search whose --json output the file has."),
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    as_json: Json = False,
) -> int:
    """Searches for a counterexample.

    That is an instance in scope that breaks the bound. Exit code 1 with one, 0 without; a search that finds nothing
    proves nothing. A witness is re-evaluated in exact arithmetic and written as a file that `boundcheck replay` runs.
    With --all the file is written after each reading, and the same command continues from there.

    \b
    Example: boundcheck falsify scgd/theorem_3_3/as_printed_main --budget 60s
    """
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
        return _search_all(seconds, seed, target, where(workers, cluster), as_json)
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
                where=where(workers, cluster),
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
            say(f"{found.id}: {ended}no counterexample among {searched}; {result.best_words}.")
            if result.nearest:
                say(f"nearest: {result.nearest_words}.")
        else:
            say(f"{found.id}: broken after {searched}.")
            _witness_text(result.witness)
            say(f"written: {path}; `boundcheck replay {path}` runs it again.")
        say(f"searched: {result.searched_words}.")
    return 0 if result.witness is None else 1


def _search_all(seconds: float, seed: int, target: Path, place: Where, as_json: bool) -> int:
    """Exit code 1 where a reading is broken. Raises WorkerLost, after all others, for readings that were lost twice."""
    from boundcheck.errors import WorkerLost
    from boundcheck.falsify.all_readings import search_all

    with progress("searching all readings") as show:
        found = search_all(seconds, seed, target, place, show)
    if as_json:
        counts = {"readings": len(found.results), "out_of_reach": found.out_of_reach, "instances": found.instances}
        broken = {id: str(path) for id, path in found.witnesses.items()}
        print_json({**counts, "file": str(target), "broken": broken})
    else:
        if found.witnesses:
            rows = [[id, str(found.results[id].instances), str(path)] for id, path in found.witnesses.items()]
            table(["broken", "instances", "witness"], rows)
        say(
            f"{len(found.results)} readings believed true searched, {short(seconds)} s each, seed {seed}: "
            f"{found.instances} instances, {len(found.witnesses)} broken. {found.out_of_reach} others are out of the "
            "search's reach."
        )
        say(f"kept: {target}; the same command searches what is not in it.")
    if found.lost:
        raise WorkerLost("\n".join(found.lost))
    return 1 if found.witnesses else 0


def _state(file: Path, id: str, seed: int, seeds: int) -> State:
    """Where the search ended of which a file has the output of --json."""
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
        say(f"  {label}: {json.dumps(dict(spec), default=str)}")
    say(f"  {witness.verdict.reason}")


def replay(
    witness: Annotated[
        str,
        typer.Argument(
            metavar="WITNESS|ID",
            help="A witness file, or the id of a statement that has one.",
            show_default=False,
        ),
    ],
    as_json: Json = False,
) -> int:
    """Runs a witness of a violation again.

    Exit code 1 if the violation still stands, 0 if it no longer does.

    \b
    Example: boundcheck replay scgd/theorem_3_3/as_printed_main
    """
    from boundcheck.evidence.shipped_files import witness_file
    from boundcheck.evidence.witness import load_witness
    from boundcheck.evidence.witness import replay as run_again
    from boundcheck.verdict import Outcome

    path = witness_file(witness)
    loaded = load_witness(path)
    verdict = run_again(loaded)
    stands = verdict.outcome is Outcome.VIOLATED
    if as_json:
        data = {k: v for k, v in verdict.to_dict().items() if k != "details"}
        print_json({"file": str(path), "stands": stands, "verdict": data})
    else:
        grade = "" if verdict.grade is None else f" ({verdict.grade})"
        say(f"{loaded.statement}: {verdict.outcome}{grade}. {verdict.reason}")
        line("The witness still stands." if stands else "The witness no longer stands.")
    return 1 if stands else 0
