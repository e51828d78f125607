"""The command power: which mistakes of its method a claim would miss, and what catches them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boundcheck.cli._output import line, print_json, short, table


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(power)


def power(
    spec: Annotated[Path, typer.Argument(help="A TOML file with [[claim]] tables.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Which mistakes of its method each claim would miss at its rounds and seeds.

    The mistakes are made from the parts of the method (weights, steps, cohorts, ...) and carried out as the claim's
    method is. A mistake is caught where the verdict is another. Below the table stand, for each claim, the tightness
    window that catches more, and the mistakes that only a comparison with the reference catches
    (boundcheck.compare_implementation; assert_matches of the pytest plugin).

    \b
    Example: boundcheck power examples/scgd.toml
    """
    import math

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
        line(f"{p.label}: {p.words()}")
    for label, why in refused:
        line(f"{label}: not judged. {why}")
    return 0
