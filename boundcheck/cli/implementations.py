"""The commands about other people's code: power, identify and conformance."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from boundcheck.cli.output import Json, Spec, line, print_json, say, short, spec_file, table


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    for command in (power, identify, conformance):
        app.command()(command)


def power(
    spec: Spec,
    as_json: Json = False,
) -> int:
    """Which mistakes in an implementation each claim would miss.

    The claim keeps its rounds and seeds. The mistakes are made from the parts of the method (weights, steps, cohorts,
    ...) and carried out as the claim's method is. A mistake is caught where the verdict is another. Below the table
    stand, for each claim, the tightness window that catches more, and the mistakes that only a comparison with the
    reference catches (boundcheck.judge; assert_matches of the pytest plugin).

    \b
    Example: boundcheck power examples/tour/claims.toml
    """
    from boundcheck.errors import BoundcheckError
    from boundcheck.evidence.spec import load_claims
    from boundcheck.judge.power import Power, power_of

    found: list[Power] = []
    refused: list[tuple[str, str]] = []
    for claim in load_claims(spec):
        try:
            found.append(power_of(claim))
        except BoundcheckError as error:
            refused.append((claim.label(), str(error)))
    if as_json:
        print_json(
            {
                "claims": [p.to_dict() for p in found],
                "refused": [{"claim": label, "why": why} for label, why in refused],
            }
        )
        return 0
    rows = [
        [
            p.label,
            p.outcome.value,
            "-" if math.isnan(p.tightness) else short(p.tightness),
            str(len(p.judged) - len(p.not_run)),
            str(len(p.caught)),
            str(len(p.missed)),
        ]
        for p in found
    ]
    table(["claim", "outcome", "tightness", "mistakes", "caught", "missed"], rows)
    for p in found:
        say(f"{p.label}: {p.words()}")
    for label, why in refused:
        say(f"{label}: not judged. {why}")
    return 0


def identify(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", parser=spec_file, help="A Python file, which is run.", show_default=False),
    ],
    run: Annotated[str, typer.Option("--run", help="The function run(task, seed) in it.", show_default=False)],
    rounds: Annotated[int, typer.Option(help="Rounds that are compared.")] = 30,
    seeds: Annotated[int, typer.Option(help="Seeds of a run that is random.")] = 512,
    as_json: Json = False,
) -> int:
    """Which published method the code in a file is.

    It names kind, options, paper and equation. This runs the file, so take only code that you trust. The function gets
    a task with numbers by the usual names (K, E, eta, eta_l, mu, ...) and returns the iterates, as for
    boundcheck.judge. Where the runs are those of no kind, they are compared with those of kinds that have one known
    mistake. Exit code 1 where nothing agrees.

    \b
    Example: boundcheck identify examples/tour/fedavg.py --run fedavg
    """
    from boundcheck.judge.identify import function_of
    from boundcheck.judge.identify import identify as found_by

    found = found_by(function_of(file, run), rounds=rounds, seeds=seeds)
    if as_json:
        print_json({"file": str(file), "run": run, **found.to_dict()})
    else:
        say(f"{file} was run. {found.reason}")
    return 0 if found.matches else 1


def conformance(
    package: Annotated[str, typer.Argument(help="An installed package with plug-ins.", show_default=False)],
    every: Annotated[bool, typer.Option("--all", help="Print the checks that passed, too.")] = False,
    as_json: Json = False,
) -> int:
    """Checks the problems, methods and parts of a package.

    Parts and methods run on random quadratics, where every outcome is gone through in fractions; the gradients,
    constants and minimiser of problems are looked at, at sampled points. A check that cannot be asked is counted apart.
    Exit code 1 where a check fails.

    \b
    Example: boundcheck conformance own-problem
    """
    from boundcheck.judge.conformance.suite import conformance as run
    from boundcheck.judge.findings import Status

    checks = run(package)
    counts = {
        status: sum(c.status is status for c in checks) for status in (Status.PASSED, Status.FAILED, Status.NOT_ASKED)
    }
    if as_json:
        tally = {answer.value: count for answer, count in counts.items()}
        print_json({"package": package, "counts": tally, "checks": [c.to_dict() for c in checks]})
    else:
        for check in checks:
            if every or check.status is not Status.PASSED:
                say(f"{check.status.value.upper()} {check.subject}: {check.name}: {check.sentence}.")
                if check.detail:
                    say(f"    {check.detail}")
        line(f"{counts[Status.PASSED]} passed, {counts[Status.FAILED]} failed, {counts[Status.NOT_ASKED]} not asked.")
    return 1 if counts[Status.FAILED] else 0
