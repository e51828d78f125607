"""The command worst-case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from boundcheck.cli._output import line, print_json
from boundcheck.cli._rows import matching_ids
from boundcheck.errors import BadInput

EXITS = {"PROVED": 0, "VIOLATED": 1}


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("worst-case")(worst_case)


def worst_case(
    id: Annotated[
        str, typer.Argument(help="<paper>/<statement>[/<reading>].", show_default=False, autocompletion=matching_ids)
    ],
    sets: Annotated[list[str], typer.Option("--set", metavar="NAME=VALUE", help="A value of a symbol.")] = [],  # noqa: B006
    sweeps: Annotated[
        list[str],
        typer.Option("--sweep", metavar="NAME=VALUES", help="Values of a symbol, LOW:HIGH:COUNT[:log] or V1,V2,...."),
    ] = [],  # noqa: B006
    clients: Annotated[int | None, typer.Option(help="Number of clients.", show_default=False)] = None,
    samples: Annotated[int, typer.Option(help="Functions of each client.")] = 1,
    rounds: Annotated[int | None, typer.Option(help="Number of rounds.", show_default=False)] = None,
    method: Annotated[
        list[str], typer.Option("--method", metavar="NAME=VALUE", help="A parameter of the method; text or JSON.")
    ] = [],  # noqa: B006
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the certificate, for `verify`.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Says how loose a bound is over all instances of its class, at given constants.

    A semidefinite programme gives an upper value of the worst case; its multipliers are fractions that the verifier
    checks. An instance rebuilt from it is run and gives a lower value. Exit code 0: proved at these constants; 1: the
    instance breaks the bound; 3: neither, or out of scope. With --sweep (once or twice) a row for each point, exit
    code 0.

    \b
    Example: boundcheck worst-case classics/gradient_descent_convex --set L=1 --set eta=1 --set dist2_0=1 --set k=5
    """
    from boundcheck.cli._values import parse_values
    from boundcheck.theory.discovery import statement
    from boundcheck.worst_case.result import worst_case as compute

    claimed = statement(id)
    fixed, grids = parse_values(claimed, sets, sweeps, (), "worst case")
    sizes: dict[str, Any] = {"clients": clients, "samples": samples, "rounds": rounds}
    spec = dict(_parameter(text) for text in method)
    if grids:
        return _map(claimed, fixed, grids, sizes, spec, as_json=as_json)
    found = compute(claimed, **sizes, method=spec, **fixed)
    if certificate is not None:
        if found.certificate is None:
            raise BadInput(f"{claimed.best_id} has no certificate to write: {found.why}.")
        certificate.write_text(json.dumps(found.certificate), encoding="utf-8")
    if as_json:
        print_json(found.to_dict())
    else:
        line(claimed.best_id)
        for text in found.lines():
            line(text)
    return EXITS.get(found.outcome, 3)


def _map(claimed: Any, fixed: Any, grids: Any, sizes: Any, spec: Any, *, as_json: bool) -> int:
    """A row for each point of the grids."""
    import itertools

    from boundcheck.core.numbers import format_short
    from boundcheck.worst_case.result import worst_case as compute

    rows: list[dict[str, Any]] = []
    if not as_json:
        line("  ".join([*grids, "lower", "upper", "bound", "looseness", "outcome"]))
    for point in itertools.product(*grids.values()):
        own = dict(zip(grids, point, strict=True))
        found = compute(claimed, **sizes, method=spec, **fixed, **own)
        if as_json:
            rows.append(found.to_dict())
            continue
        low = "-" if found.lower is None else f"{found.lower:.6g}"
        upper = "-" if found.upper is None else format_short(found.upper, 6)
        numbers = [format_short(v, 6) for v in point]
        line("  ".join([*numbers, low, upper, f"{float(found.bound.value):.6g}", found.loose, found.outcome]))
    if as_json:
        print_json({"schema": 1, "rows": rows})
    return 0


def _parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise BadInput(f"--method '{text}' is not of the form NAME=VALUE, such as K=2 or participation=full.")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value.strip()
