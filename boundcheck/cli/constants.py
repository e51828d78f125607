"""Commands about constants and what is chosen from them: constants, tune."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from boundcheck.cli.options import (
    Cluster,
    Json,
    NoStore,
    Spec,
    SpecFile,
    TimeLimit,
    Workers,
    chosen_store,
    option,
    where,
)
from boundcheck.cli.output import line, print_json, progress, say, short, table
from boundcheck.core.numbers import as_double, as_fraction, format_short, parse_grid
from boundcheck.errors import BadInput

if TYPE_CHECKING:
    from boundcheck.certified.constant import Constant
    from boundcheck.evidence.claim import Claim
    from boundcheck.evidence.claim_constants import ClaimConstants, Spread, Step
    from boundcheck.evidence.tuning import Choice, Tuning

ALL_CLIENTS = 12  # at most this many get a line each; of more, the least, median and largest are shown
HOW = 64  # characters of how a constant is known that stand in the table; what is longer is said below it


def of_runs(claims: Sequence[Claim], command: str) -> Sequence[Claim]:
    """The claims, for a command that looks at problem and method. Raises BadInput where one has a curve alone."""
    bare = next((claim for claim in claims if claim.curve is not None and not claim.method), None)
    if bare is not None:
        raise BadInput(f"{command}: {bare.label()} has a curve and no method; write the problem and the method, too.")
    return claims


def constants(
    spec: Annotated[Path | None, SpecFile] = None,
    listed: Annotated[bool, option("--list", help="Print the catalogue of all constants instead.")] = False,
    quick: Annotated[bool, option("--quick", help="Leave out the steps that work in practice.")] = False,
    as_json: Json = False,
) -> int:
    """The constants of each claim's instance.

    Those of the problem and those that it shares with the method, each with how it is known; and the largest
    step that the statement allows beside the largest that works in practice. With --list: the catalogue of constants
    that symbols of statements name by their keys.

    \b
    Example: boundcheck constants examples/tour/claims.toml
             boundcheck constants --list
    """
    if listed and spec is None:
        if as_json:
            print_json({"constants": _catalogue_rows()})
        else:
            _print_catalogue()
        return 0
    if listed or spec is None:
        raise BadInput("boundcheck constants takes either a specification file or --list.")
    from boundcheck.evidence.claim_constants import claim_constants
    from boundcheck.evidence.spec import load_claims

    with progress(f"{spec}: reading") as read:
        claims = of_runs(load_claims(spec, on_progress=read), "boundcheck constants")
    rows: list[dict[str, Any]] = []
    for number, claim in enumerate(claims, 1):
        found = claim_constants(
            claim, practice=not quick, place=f"claim {number} of {len(claims)}, ", progress=progress
        )
        if as_json:
            rows.append(found.to_dict())
        else:
            _print_constants(found)
            sys.stdout.flush()
    if as_json:
        print_json({"claims": rows})
    return 0


def _catalogue_rows() -> list[dict[str, str]]:
    """The catalogue of constants, JSON-able: one row a key."""
    from boundcheck.theory.keys import CATALOGUE

    names = ("key", "definition", "formula", "dimension", "source", "where")
    return [{name: str(getattr(k, name)) for name in names} for k in CATALOGUE.values()]


def _print_catalogue() -> None:
    """The catalogue of constants, a paragraph each."""
    for row in _catalogue_rows():
        line(row["key"])
        text = f"{row['definition']}: {row['formula']}. Dimension {row['dimension']}; {row['source']}; {row['where']}."
        say(f"  {text}")


def _print_constants(found: ClaimConstants) -> None:
    """The tables of one claim."""
    from boundcheck.report.words import shortened

    say(f"{found.claim}: {found.problem}")
    named = {key: name for name, key in found.symbols.items()}
    first, notes = _hows(found.constants)
    cells = [
        [name, named.get(name, ""), _bound(c.side) + short(c.value), c.known.value, first[name]]
        for name, c in found.constants.items()
    ]
    columns = ["constant", "in the statement", "value", "known", "how"]
    if not named:
        columns, cells = [columns[0], *columns[2:]], [[row[0], *row[2:]] for row in cells]
    table(columns, cells)
    for note, names in notes.items():
        say(f"{', '.join(names)}: {note}")
    if found.spreads:
        _print_spreads(found.spreads)
    if isinstance(found.method, str):
        say(f"method: {found.method}")
    else:
        say("method: " + ", ".join(f"{k} = {shortened(str(v))}" for k, v in found.method.items()))
    for step in found.steps:
        _print_step(step)
    if found.note:
        say(found.note)
    for name, why in found.violations.items():
        say(f"breaks assumption {name}: {why}")
    line()


def _bound(side: str) -> str:
    return {"upper": "<= ", "lower": ">= "}.get(side, "")


def _hows(constants: Mapping[str, Constant]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """How each constant is known, as short as the table wants it; and what was left out -> the names it is about."""
    first: dict[str, str] = {}
    notes: dict[str, list[str]] = {}
    for name, c in constants.items():
        start, _, rest = c.how.partition("; ")
        first[name] = c.how if len(c.how) <= HOW or not rest else start
        if first[name] != c.how:
            notes.setdefault(rest, []).append(name)
    return first, notes


def _print_spreads(spreads: tuple[Spread, ...]) -> None:
    """sigma_i and P_i of each client, or of the clients with the least, the median and the largest sigma_i."""
    chosen = list(spreads)
    if len(chosen) > ALL_CLIENTS:
        ordered = sorted(chosen, key=lambda s: s.sigma2.value)
        chosen = [ordered[0], ordered[(len(ordered) - 1) // 2], ordered[-1]]
    rows = [[str(s.client), str(s.size), _root(s.sigma2), _root(s.P2), s.sigma2.known.value] for s in chosen]
    if len(chosen) < len(spreads):
        for row, which in zip(rows, ("least", "median", "largest"), strict=True):
            row[0] += f" ({which} sigma_i)"
    say(f"samples of each of the {len(spreads)} clients, sigma_i^2 as in noise2 and P_i^2 as in P2:")
    table(["client", "samples", "sigma_i", "P_i", "known"], rows)


def _root(square: Constant) -> str:
    """The square root for people; of a bound from above it is one, to the digits shown."""
    return _bound(square.side) + short(math.sqrt(square.value))


def _print_step(step: Step) -> None:
    allowed = step.allowed
    say(allowed if isinstance(allowed, str) else f"largest {step.symbol} that the statement allows: {short(allowed)}")
    if step.prescribed is not None:
        chosen = step.prescribed
        say(chosen if isinstance(chosen, str) else f"{step.symbol} that the statement prescribes: {short(chosen)}")
    found = step.practice
    if found is None:
        return
    if isinstance(found, str):
        say(f"largest {step.symbol} in practice: {found}")
        return
    works = "no step that was tried works" if found.works is None else f"{short(found.works)} works"
    fails = "no larger one that fails was found" if found.fails is None else f"{short(found.fails)} does not"
    ratio = ""
    if found.works is not None and isinstance(allowed, Fraction) and allowed > 0:
        ratio = f", {format_short(found.works / allowed, 4)} times what is allowed"
    say(f"largest {step.symbol} in practice: {works}, {fails}{ratio}")
    say(f"  a step works where {found.how}")


def tune(
    spec: Spec,
    target: Annotated[
        str, option(help="Share of the metric's value at the start that is to be reached.", shown=True)
    ] = "0.01",
    local_work: Annotated[
        str | None, option("--local-work", metavar="LIST", help="Amounts E to choose among.", shown="as in the file")
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    time_limit: TimeLimit = None,
    no_store: NoStore = False,
    as_json: Json = False,
) -> int:
    """What each claim's bound recommends: step, local work, rounds.

    Beside it stands the best choice that is found by running. A step size that the claim writes as "largest" or "tuned"
    is chosen; numbers stay, and so does the amount of local work without --local-work. The ratio is that of the
    promised rounds to the rounds of the best choice found. Exit code 3 where no bound of the file recommends anything.

    \b
    Example: boundcheck tune examples/tour/claims.toml --target 1/10
    """
    from boundcheck.evidence.rounds_to_target import is_bound
    from boundcheck.evidence.spec import load_claims
    from boundcheck.evidence.tuning import tune_claims
    from boundcheck.theory.discovery import statement

    share = as_fraction(target, "--target")
    amounts = [] if local_work is None else [v.strip() for v in local_work.split(",")]
    grid = [int(v) for v in parse_grid(amounts, "--local-work", integer=True)] if amounts else []
    if not 0 < share < 1:
        raise BadInput(f"--target = {target} is not allowed; it is a share of the start, between 0 and 1.")
    if any(e < 1 for e in grid):
        raise BadInput(f"--local-work = {local_work} is not allowed; amounts of local work are integers of at least 1.")
    claims = [c for c in of_runs(load_claims(spec), "boundcheck tune") if is_bound(statement(c.statement))]
    with progress(f"{spec}: tuning", float(max(len(claims), 1))) as show:
        found = tune_claims(
            claims, share, grid, store=chosen_store(no_store), where=where(workers, cluster, time_limit), show=show
        )
    if as_json:
        rows = [{"claim": c.label(), **_tuning_data(t)} for c, t in zip(claims, found, strict=True)]
        print_json({"target": str(share), "claims": rows})
    else:
        columns = ["claim", "recommended", "promised rounds", "needed so", "best found", "needed", "ratio"]
        table(columns, [[c.label(), *_cells(t)] for c, t in zip(claims, found, strict=True)])
    return 0 if any(t.recommended for t in found) else 3


def _chosen(choice: Choice | None, step: str | None) -> str:
    if choice is None:
        return "-"
    names = [name for name in (step, "E") if name is not None and name in choice.method]
    return ", ".join(f"{name} = {_number(choice.method[name])}" for name in names) or "as given"


def _number(value: Any) -> str:
    return short(as_double(as_fraction(value), "the step"))


def _cells(found: Tuning) -> list[str]:
    if found.recommended is None:
        return [f"nothing: {found.why}", "-", "-", "-", "-", "-"]
    return [
        _chosen(found.recommended, found.step),
        str(found.recommended.rounds),
        "-" if found.really is None else str(found.really),
        _chosen(found.best, found.step),
        "-" if found.best is None else str(found.best.rounds),
        "-" if found.ratio is None else short(found.ratio),
    ]


def _tuning_data(found: Tuning) -> dict[str, Any]:
    def of(choice: Choice | None) -> dict[str, Any] | None:
        if choice is None:
            return None
        return {"method": {k: str(v) for k, v in choice.method.items()}, "rounds": choice.rounds}

    return {
        "statement": found.statement,
        "why": found.why,
        "target": None if found.target is None else str(found.target),
        "recommended": of(found.recommended),
        "needed": found.really,
        "best": of(found.best),
        "ratio": found.ratio,
    }
