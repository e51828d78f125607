"""Commands about proofs and counterexamples: derive, verify, falsify, replay."""

from __future__ import annotations

import json
import math
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from boundcheck.cli.options import Cluster, Id, Json, Workers, argument, option, where
from boundcheck.cli.output import json_float, line, print_json, progress, say, short, table, width
from boundcheck.core.targets import probe_file, read_text
from boundcheck.errors import BadInput

if TYPE_CHECKING:
    from boundcheck.core.executor import Where
    from boundcheck.evidence.witness import Witness
    from boundcheck.falsify.search import State
    from boundcheck.proof.derive import DerivationReport, StepResult
    from boundcheck.proof.step import Status


def derive(
    id: Id = "",
    every: Annotated[bool, option("--all", help="All derivations whose record is not accepted.")] = False,
    anew: Annotated[bool, option("--anew", help="With --all, those with an accepted record too.")] = False,
    record: Annotated[bool, option("--record", help="Also write the record beside the derivation.")] = False,
    step: Annotated[str, option("--step", metavar="NAME", help="Only this step, with its lines.")] = "",
    latex: Annotated[bool, option("--latex", help="The proof as a LaTeX proof environment.")] = False,
    as_json: Json = False,
) -> int:
    """Finds the proof record of a statement anew.

    For each step of the derivation a certificate is looked for, else values at which it fails; a step for which
    neither is found is OPEN. Only what the verifier accepts counts as PROVED. Exit code 0 when the derivation is
    proved, 1 when a step is refuted, 3 when one is open. A refuted step marks the derivation, not the statement, which
    may still be true. --record replaces the shipped record; --all: exit code 1 when one is no longer proved.

    \b
    Example: boundcheck derive scgd/lemma_3_1/corrected
             boundcheck derive scgd/lemma_3_1/sharp --latex
    """
    from boundcheck.proof.derive import derive as find

    if every == bool(id):
        raise BadInput("derive takes either the id of a statement or --all.")
    if (step or latex) and (every or record or (step and latex)):
        raise BadInput("--step and --latex are for one statement, without each other and without --record.")
    if every:
        return _derive_all(keep=record, anew=anew, as_json=as_json)
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
            _show_step(result)
        return _code(result.status)
    elif as_json:
        print_json(report.to_dict())
    else:
        _show_report(report)
    return _code(report.status)


def _code(status: Status) -> int:
    return {"PROVED": 0, "REFUTED": 1}.get(status.value, 3)


def verify(
    id: Id = "",
    every: Annotated[bool, option("--all", help="All shipped proof records, as a table.")] = False,
    record: Annotated[bool, option("--record", help="Also keep in the records what the verifier says.")] = False,
    as_json: Json = False,
) -> int:
    """Checks a proof record with the verifier.

    The verifier is one file that uses the standard library alone. It runs in a process of its own, prints the statement
    that it checked and what the proof rests on. Exit code 0 for a valid record, 1 for one that proves or refutes
    nothing. A file that ends in .json is a certificate of `worst-case`: it is checked, and held against today's
    statement. A derivation counts as PROVED where the verifier accepted its record and --record, or `derive --record`,
    kept that.

    \b
    Example: boundcheck verify scgd/lemma_3_1/corrected
    """
    from boundcheck.cli.worst import verify_certificate

    if id.endswith(".json") and not every:
        return verify_certificate(Path(id), as_json=as_json)
    if every == bool(id):
        raise BadInput("verify takes either the id of a statement or --all.")
    if record:
        from boundcheck.proof import derive, records
        from boundcheck.proof.discovery import shipped_readings
        from boundcheck.theory.discovery import statement

        records.accept(derive.cited_first(shipped_readings() if every else [statement(id).id]))
    return _verify_all(as_json) if every else _verify_one(id, as_json)


def _verify_one(id: str, as_json: bool) -> int:
    """Checks one record, compares it with today's statement and prints what it says; quotations begin with >."""
    from boundcheck.proof.discovery import folder
    from boundcheck.proof.find.record import record_file
    from boundcheck.proof.records import compared
    from boundcheck.theory.discovery import statement
    from boundcheck.verify.boundcheck_verify import account

    full = statement(id).id
    path = record_file(folder(), full)
    if not path.is_file():
        raise BadInput(f"{full} has no proof record; one would be {path.name} beside its derivation.")
    row = compared([full])[full]
    if as_json:
        print_json(row)
        return int(not row["valid"])
    _print_quoted([*row["shown"], *(f"  rests on {what}" for what in row["rests"])])
    more = account(row["rests"]) if row["valid"] else ""
    say(f"{full}: {row['verdict']}{more}  ({row['lines']} lines, {row['seconds']:.2f} s)")
    return int(not row["valid"])


def _verify_all(as_json: bool) -> int:
    """Checks all records and prints a row for each statement."""
    from boundcheck.proof.records import examined_records

    code, rows, (*found, total) = examined_records()
    if as_json:
        print_json({"records": rows, "statements": found, "total": {k: total[k] for k in list(total)[1:]}})
        return code
    names = list(total)
    table(names, [[str(row[n]) for n in names] for row in [*found, total]])
    line()
    for row in rows:
        if not row["valid"]:
            say(f"{row['id']}: {row['verdict']}")
    kinds = {kind: [r["valid"] for r in rows if r["kind"] == kind] for kind in ("proof", "refutation")}
    said = " and ".join(f"{sum(own)} of {len(own)} {kind}s" for kind, own in kinds.items())
    say(f"{said} are valid; the verifier took {total['seconds']} s.")
    return code


def _derive_all(*, keep: bool, anew: bool, as_json: bool) -> int:
    """Finds the records of all shipped derivations that are not accepted as they are today, and says what changed."""
    from boundcheck.proof.derive import cited_first, counts_of, derive
    from boundcheck.proof.discovery import shipped_readings
    from boundcheck.proof.records import NOT_CHECKED, record

    ids = cited_first(shipped_readings())
    rows: list[list[str]] = []
    before = {id: found.status for id in ids if (found := record(id)) is not None}
    wanted = [id for id in ids if anew or before.get(id, NOT_CHECKED) == NOT_CHECKED]
    with progress(f"{len(wanted)} derivations", float(max(len(wanted), 1))) as show:
        for k, id in enumerate(wanted, start=1):
            now = derive(id, keep=keep).status.value
            if now != before.get(id, "none"):
                rows.append([id, before.get(id, "none"), now])
            show(float(k))
    counts = counts_of(ids)
    if as_json:
        changed = [{"id": id, "recorded": old, "found": now} for id, old, now in rows]
        print_json({"counts": counts, "found": len(wanted), "changed": changed, "recorded": keep})
    else:
        if rows:
            table(["reading", "recorded", "found"], rows)
        said = ", ".join(f"{n} {status}" for status, n in sorted(counts.items()))
        say(f"{len(ids)} derivations, {len(wanted)} of them found anew. On record: {said}.")
    return int(any(old == "PROVED" for _, old, _ in rows))


def _show_report(report: DerivationReport) -> None:
    """A derivation as one reads it: what is given, the steps, what the verifier says and what it rests on."""
    from boundcheck.report.written import in_words
    from boundcheck.verify.boundcheck_verify import account

    used = {name for r in report.results for name in r.step.uses}
    line("From")
    table(["name", "claim", "kind"], [[f.name, in_words(f.claim), f.kind] for f in report.facts if f.name in used])
    line()
    line("Proof")
    for number, result in enumerate(report.results, start=1):
        _show_step(result, f"{number}. ")
    line()
    _print_rests(report.rests)
    line(", ".join(f"{count} {status}" for status, count in report.counts.items() if count))
    verified = ", verified" if report.status.value == "PROVED" else f" ({report.verdict})"
    say(f"{report.statement}: {report.status.value}{verified}{account(list(report.rests))}")


def show_rests(id: str) -> None:
    """What the record of a derivation says, and each thing that the proof rests on."""
    from boundcheck.evidence.standing import RESTS_ON, derivation_words
    from boundcheck.proof.records import record

    found = record(id)
    if found is None:
        raise BadInput(f"{id} has no derivation, so that there is nothing that its proof rests on.")
    say(f"{id}: {derivation_words(id).partition(f' {RESTS_ON}')[0]}")
    _print_rests(found.rests)


def _print_rests(rests: Iterable[str]) -> None:
    """What a proof rests on, a group for each kind, the heaviest first; quotations of records begin with >."""
    from boundcheck.evidence.standing import rests_groups

    for words, own in rests_groups(rests):
        line(f"Rests on {words}")
        _print_quoted(f"  {what}" for what in own)
        line()


def _print_quoted(texts: Iterable[str]) -> None:
    """Texts of a record as quotations, which begin with >, on lines as wide as the output."""
    from boundcheck.verify.boundcheck_verify import quoted

    for text in texts:
        indent = " " * (len(text) - len(text.lstrip()) + 2)
        parts = textwrap.wrap(text, width() - 2, subsequent_indent=indent, break_long_words=False)
        sys.stdout.write(quoted(parts))


def _show_step(result: StepResult, number: str = "") -> None:
    """A step as one reads it: what it claims, because of what, from what."""
    from boundcheck.report.words import shortened
    from boundcheck.report.written import in_words

    line(f"{number}{result.step.name}: {result.status.value}")
    say(f"   claim    {in_words(result.step.claim)}")
    say(f"   because  {result.step.text} ({result.step.by.label})")
    say(f"   from     {', '.join(result.step.uses) or 'nothing'}")
    if result.witness:
        say("   witness  " + ", ".join(f"{k} = {shortened(str(v))}" for k, v in result.witness.items()))
    if result.note:
        say(f"   note     {result.note}")


def falsify(
    id: Id = "",
    budget: Annotated[str, option(help="Time for the search, such as 60s or 10m.", shown=True)] = "60s",
    seed: Annotated[int, option(min=0, help="Seed of the search.", shown=True)] = 0,
    seeds: Annotated[int, option(min=1, help="Number of searches, with this seed and those after it.", shown=True)] = 1,
    every: Annotated[bool, option("--all", help="All readings believed true, each with the whole budget.")] = False,
    out: Annotated[
        Path | None,
        option(
            "-o",
            "--out",
            metavar="FILE",
            help="Where to write a witness, or with --all what was searched.",
            shown="made of the id and the seed",
        ),
    ] = None,
    instances: Annotated[
        int | None, option(min=1, help="Instances instead of time: the same search on every machine.")
    ] = None,
    resume: Annotated[
        Path | None, option("--resume", metavar="FILE", help="Continue the search whose --json output the file has.")
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
        place = where(workers, cluster)
        limits: dict[str, Any] = {"budget": seconds, "max_instances": instances}
        result = together(falsify_seeds(found, tried, **limits, where=place, on_progress=show, after=after))
    path = None
    if result.witness is not None:
        path = target
        save_witness(result.witness, path)
    if as_json:
        own = {"best": json_float(result.best), "best_in_words": result.best_words, "seconds": round(result.seconds, 3)}
        print_json(result.to_dict() | own | {"file": None if path is None else str(path)})
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
        str, argument(metavar="WITNESS|ID", help="A witness file, or the id of a statement that has one.")
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
