"""The command conformance: the checks of a package's plug-ins."""

from __future__ import annotations

from typing import Annotated

import typer

from boundcheck.cli._output import line, print_json


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(conformance)


def conformance(
    package: Annotated[str, typer.Argument(help="An installed package with plug-ins.", show_default=False)],
    every: Annotated[bool, typer.Option("--all", help="Print the checks that passed, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Holds a package's own problems, methods and parts against the paths reader, finite differences and sampling.

    Parts and methods run on random quadratics, where every outcome is gone through in fractions; the gradients,
    constants and minimiser of problems are looked at, at sampled points. A check that cannot be asked is counted apart.
    Exit code 1 where a check fails.

    \b
    Example: boundcheck conformance own-problem
    """
    from boundcheck.judge.conformance.result import Answer
    from boundcheck.judge.conformance.suite import conformance as run

    checks = run(package)
    counts = {answer: sum(c.answer is answer for c in checks) for answer in Answer}
    if as_json:
        tally = {answer.value: count for answer, count in counts.items()}
        print_json({"package": package, "counts": tally, "checks": [c.to_dict() for c in checks]})
    else:
        for check in checks:
            if every or check.answer is not Answer.PASS:
                line(f"{check.answer.value.upper()} {check.subject}: {check.name}: {check.sentence}.")
                if check.detail:
                    line(f"    {check.detail}")
        line(f"{counts[Answer.PASS]} passed, {counts[Answer.FAIL]} failed, {counts[Answer.NOT_ASKED]} not asked.")
    return 1 if counts[Answer.FAIL] else 0
