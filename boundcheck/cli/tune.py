"""The command tune: what a bound recommends for an instance, beside the best found by running."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundcheck.cli._output import print_json, progress, short, table
from boundcheck.cli._where import Cluster, Explain, NoStore, TimeLimit, Workers, where
from boundcheck.core.executor import Lost
from boundcheck.errors import BadInput, BoundcheckError, WorkerLost

if TYPE_CHECKING:
    from fractions import Fraction

    from boundcheck.evidence.claim import Claim
    from boundcheck.evidence.kept_results import Entry
    from boundcheck.evidence.tuning import Choice, Tuning


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(tune)


def tune(
    spec: Annotated[Path, typer.Argument(help="A TOML file with [[claim]] tables.", show_default=False)],
    target: Annotated[
        str, typer.Option(help="Share of the metric's value at the start that is to be reached.")
    ] = "0.01",
    local_work: Annotated[
        str | None,
        typer.Option("--local-work", metavar="LIST", help="Amounts E to choose among.", show_default="as in the file"),
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    time_limit: TimeLimit = None,
    no_store: NoStore = False,
    explain: Explain = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """The step size, local work and rounds that each claim's bound recommends, beside the best found by running.

    A step size that the claim writes as "largest" or "tuned" is chosen; numbers stay, and so does the amount of local
    work without --local-work. The ratio is that of the promised rounds to the rounds of the best choice found. Exit
    code 3 where no bound of the file recommends anything.

    \b
    Example: boundcheck tune examples/scgd.toml --target 1/100 --local-work 1,2,4,8
    """
    from boundcheck.cli._curve import of_runs
    from boundcheck.cli._execute import SERIAL, executor_for
    from boundcheck.cli.runs import asked_origins, chosen_store, origins_data, print_origins
    from boundcheck.core.numbers import as_fraction, parse_grid
    from boundcheck.evidence.kept_results import entry_of_claim, recall
    from boundcheck.evidence.rounds_to_target import is_bound
    from boundcheck.evidence.spec import load_claims
    from boundcheck.evidence.tuning import Tuning
    from boundcheck.theory.discovery import statement

    share = as_fraction(target, "--target")
    amounts = [] if local_work is None else [v.strip() for v in local_work.split(",")]
    grid = [int(v) for v in parse_grid(amounts, "--local-work", integer=True)] if amounts else []
    if not 0 < share < 1:
        raise BadInput(f"--target = {target} is not allowed; it is a share of the start, between 0 and 1.")
    if any(e < 1 for e in grid):
        raise BadInput(f"--local-work = {local_work} is not allowed; amounts of local work are integers of at least 1.")
    claims = [c for c in of_runs(load_claims(spec), "boundcheck tune") if is_bound(statement(c.statement))]
    store, origins = chosen_store(no_store), asked_origins(explain, no_store)
    entries = [entry_of_claim(c, Tuning, "tuning", target=share, local_work=grid) for c in claims]
    results: list[Any] = [k and k.result for k in recall(store, entries, origins=origins)]
    rest = [place for place, result in enumerate(results) if result is None]
    executor = executor_for(len(rest) <= SERIAL, where(workers, cluster, time_limit), store)
    shares = [float(result is not None) for result in results]
    with progress(f"{spec}: tuning", float(max(len(claims), 1))) as show:

        def progressed(place: int, done: float) -> None:
            shares[rest[place]] = done
            show(sum(shares))

        items = [(claims[place], share, grid, store, entries[place]) for place in rest]
        computed = executor.map(_tuned, items, lambda p, _: progressed(p, 1.0), progressed)
        for place, result in zip(rest, computed, strict=True):
            results[place] = result
    found = list(zip(claims, map(_unless_lost, claims, results), strict=True))
    if as_json:
        rows = [{"claim": c.label(), **_data(t)} for c, t in found]
        print_json({"target": str(share), "claims": rows, **origins_data(origins)})
    else:
        columns = ["claim", "recommended", "promised rounds", "needed so", "best found", "needed", "ratio"]
        table(columns, [[c.label(), *_cells(t)] for c, t in found])
        print_origins(origins)
    return 0 if any(t.recommended for _, t in found) else 3


@dataclass(frozen=True)
class _Absent:
    """A claim whose data set or package is not on the machine that was to tune it."""

    error: BoundcheckError

    @property
    def lacking(self) -> str:
        """For the executor."""
        return str(self.error)


def _tuned(
    item: tuple[Claim, Fraction, list[int], Path | str | None, Entry], tell: Callable[[float], None]
) -> Tuning | _Absent:
    """One claim; at the top of the module, so that worker processes find it."""
    from boundcheck.core.store import Store
    from boundcheck.evidence.kept_results import keep
    from boundcheck.evidence.not_run import is_absence
    from boundcheck.evidence.tuning import tune as tuned
    from boundcheck.problems.build import build
    from boundcheck.theory.discovery import statement

    claim, share, grid, place, entry = item
    try:
        problem = build(claim.problem)
        found = tuned(statement(claim.statement), problem, claim.method, share, claim.constants, grid, tell)
        return found if place is None else keep(Store(place), entry, found, ())
    except BoundcheckError as error:
        if is_absence(error):
            return _Absent(error)
        raise


def _unless_lost(claim: Claim, result: Tuning | _Absent | Lost) -> Tuning:
    if isinstance(result, Lost):
        raise WorkerLost(f"claim '{claim.label()}': {result.reason}")
    if isinstance(result, _Absent):
        raise result.error
    return result


def _chosen(choice: Choice | None, step: str | None) -> str:
    if choice is None:
        return "-"
    names = [name for name in (step, "E") if name is not None and name in choice.method]
    return ", ".join(f"{name} = {_number(choice.method[name])}" for name in names) or "as given"


def _number(value: Any) -> str:
    from boundcheck.core.linalg import nearest_float
    from boundcheck.core.numbers import as_fraction

    return short(nearest_float(as_fraction(value)))


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


def _data(found: Tuning) -> dict[str, Any]:
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
