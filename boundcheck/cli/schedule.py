"""The command schedule: who contributes to which aggregation, and with which delay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundcheck.cli._output import line, print_json, short, table

if TYPE_CHECKING:
    from boundcheck.methods.parts import Timed


FORMATS = (".svg", ".png", ".pdf")
SHOWN = 40  # rounds that are shown where none are asked for, unless a period is shorter
MAX_CLIENTS_SHOWN = 30

# --policy -> the kind of method
POLICIES = {"sync": "fedavg_sync", "async": "fedavg_async", "fedfix": "fedfix", "fedbuff": "fedbuff"}
NEEDS = {"fedfix": ("--dt", "dt"), "fedbuff": ("--buffer", "m")}  # the option of a policy that has no default
_OF_SCHEDULE = ("kind", "times", "dt", "m", "ties")

Named = tuple[str, "Timed", int]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(schedule)


def schedule(
    spec: Annotated[
        Path | None,
        typer.Argument(help="A TOML file with a [method] table, or with [[claim]] tables.", show_default=False),
    ] = None,
    times: Annotated[
        str,
        typer.Option(
            "--times",
            metavar="TIMES",
            help="1,2,7/2 (one a client), f0, f80, f80_literal, spread:RATIO or exponential:RATE,RATE,...",
            show_default=False,
        ),
    ] = "",
    policy: Annotated[str, typer.Option("--policy", help=f"One of {', '.join(POLICIES)}.")] = "async",
    dt: Annotated[str, typer.Option("--dt", help="The window of fedfix.", show_default=False)] = "",
    m: Annotated[str, typer.Option("--buffer", help="The buffer of fedbuff.", show_default=False)] = "",
    ties: Annotated[str, typer.Option("--ties", help="one_by_one or joint.", show_default=False)] = "",
    clients: Annotated[
        int | None, typer.Option("--clients", min=1, help="For times that fit any number.", show_default=False)
    ] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", min=1, max=1_000_000, help="Rounds to show.", show_default="a period")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of exponential times.")] = 0,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="Draw it (.svg, .png or .pdf).", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """The timetable of a method: who contributes to each aggregation, and how old its model is.

    Of the methods of a file whose clients have update times, or of --times and --policy. A contribution is written
    client:delay, the delay in rounds. --plot draws clients as rows and their work as bars.

    \b
    Example: boundcheck schedule --times 2,3,5 --policy fedfix --dt 2 --plot fedfix.svg
    """
    from boundcheck.errors import BadInput

    given = {"--dt": dt, "--buffer": m, "--ties": ties, "--times": times}
    if spec is not None:
        used = [name for name, text in given.items() if text]
        if used:
            raise BadInput(f"{used[0]} goes without a file: the method in it has its own.")
        named = _from_file(spec, clients)
    else:
        if not times:
            raise BadInput("name a TOML file, or give --times, such as --times 1,2,3.")
        named = [_from_options(times, policy, {"dt": dt, "m": m, "ties": ties}, clients)]
    target = None if plot is None else _target(plot, named)
    found = [_facts(name, timed, count, rounds, seed) for name, timed, count in named]
    if target is not None:
        _draw(named[0], found[0]["timetable"]["rounds"], seed, target)
    if as_json:
        print_json({"schedules": found})
        return 0
    for (_, timed, count), facts in zip(named, found, strict=True):
        _show(timed, count, facts, seed)
    if target is not None:
        line(f"drawn: {target}")
    return 0


def _from_options(times: str, policy: str, given: Mapping[str, str], clients: int | None) -> Named:
    from boundcheck.errors import BadInput, UnknownName

    if policy not in POLICIES:
        raise UnknownName("--policy", policy, POLICIES)
    option, name = NEEDS.get(policy, ("", ""))
    if name and not given[name]:
        raise BadInput(f"--policy {policy} needs {option}, such as {option} 2.")
    table: dict[str, Any] = {"kind": POLICIES[policy], "times": _times(times)}
    return _named(policy, table | {k: v for k, v in given.items() if v}, clients)


def _times(text: str) -> Any:
    kind, colon, values = text.partition(":")
    if colon and kind == "exponential":
        return {"kind": kind, "rates": values.split(",")}
    if colon and kind == "spread":
        return {"kind": kind, "ratio": values}
    return text.split(",") if any(c.isdigit() for c in text) and not text.startswith("f") else text


def _named(name: str, table: Mapping[str, Any], clients: int | None) -> Named:
    from boundcheck.errors import BadInput
    from boundcheck.methods.build import build
    from boundcheck.methods.parts import Timed
    from boundcheck.methods.schedules import Exponential, Fixed

    timed = build({**{k: v for k, v in table.items() if k in _OF_SCHEDULE}, "K": 1, "eta_l": 1}).participation
    assert isinstance(timed, Timed)
    own = timed.times
    count = clients
    if count is None and isinstance(own, Fixed):
        count = len(own.values)
    if count is None and isinstance(own, Exponential):
        count = len(own.rates)
    if count is None:
        raise BadInput("these update times fit any number of clients; give --clients, or clients = ... in the file.")
    timed.of(count)
    return name, timed, count


def _from_file(path: Path, clients: int | None) -> list[Named]:
    """Those of the [method] table, with `clients = ...` beside it, and of each claim whose clients have times."""
    from boundcheck.errors import BadInput
    from boundcheck.problems._own_data import load_specification

    data = load_specification(path).data
    found: list[Named] = []
    own: Any = data.get("method")
    if isinstance(own, dict) and "times" in own:
        beside = data.get("clients")
        if beside is not None and (not isinstance(beside, int) or beside < 1):
            raise BadInput(f"{path}: clients = {beside} is not allowed; it must be an integer of at least 1.")
        found.append(_named(str(own.get("kind", "method")), own, clients or beside or _clients(data)))
    claims: Any = data.get("claim", [])
    for number, claim in enumerate(claims if isinstance(claims, list) else [], 1):
        method: Any = claim.get("method") if isinstance(claim, dict) else None
        if isinstance(method, dict) and "times" in method:
            name = str(claim.get("name", f"claim {number}"))
            found.append(_named(name, method, clients or _clients(claim)))
    if not found:
        raise BadInput(f"{path} has no method with update times: none asks for 'times'.")
    return found


def _clients(table: Mapping[str, Any]) -> int | None:
    """How many clients the problem of a table has."""
    from boundcheck.problems.build import build

    problem: Any = table.get("problem")
    return build(problem).clients if isinstance(problem, dict) else None


def _target(text: str, named: list[Named]) -> Path:
    from boundcheck.cli._files import probe_file
    from boundcheck.errors import BadInput

    target = Path(text)
    if target.suffix.lower() not in FORMATS:
        raise BadInput(f"--plot '{text}' has no known ending; {', '.join(FORMATS)} are allowed.")
    if len(named) > 1:
        raise BadInput(f"--plot draws one schedule; the file has {len(named)}.")
    probe_file(target, "--plot")
    return target


def _facts(name: str, timed: Timed, count: int, rounds: int | None, seed: int) -> dict[str, Any]:
    from boundcheck.methods.schedules import Fixed

    plan = timed.plan(count)
    own = timed.of(count)
    known: dict[str, Any] = {"name": name, "policy": type(timed.policy).__name__, "period": None}
    known |= {"times": list(own.values)} if isinstance(own, Fixed) else {"rates": list(own.rates)}
    if plan is not None:
        of_plan: dict[str, Callable[[], Any]] = {
            "period": lambda: plan.period,
            "lead": lambda: plan.first,
            "period_time": lambda: plan.length,
            "window": lambda: plan.window,
            "largest_delay": lambda: plan.max_delay,
            "empty_share": lambda: plan.empty_share,
            "shares": lambda: list(plan.shares),
        }
        known |= {key: _or_none(of) for key, of in of_plan.items()}
    wanted = rounds
    if wanted is None:
        period = known["period"]
        wanted = SHOWN if period is None else min(SHOWN, known["lead"] + period)
    return {**known, "timetable": timed.timetable(count, wanted, seed).to_dict()}


def _or_none(of: Callable[[], Any]) -> Any:
    """The value, or None where the schedule is too long to tell."""
    from boundcheck.errors import Unsupported

    try:
        return of()
    except Unsupported:
        return None


def _draw(named: Named, rounds: int, seed: int, target: Path) -> None:
    from boundcheck.core.extras import needed_for
    from boundcheck.core.places import write_whole
    from boundcheck.report.figures import timetable

    name, timed, count = named
    with needed_for("a picture of a schedule"):
        drawn = timetable(timed.timetable(count, rounds, seed), target.suffix[1:].lower(), name)
    write_whole(target, drawn)


def _show(timed: Timed, count: int, facts: Mapping[str, Any], seed: int) -> None:
    from boundcheck.methods.schedules import Fixed

    line(f"{facts['name']}: {count} client{'' if count == 1 else 's'}; the server {timed.policy.words}")
    own = timed.of(count)
    if isinstance(own, Fixed):
        lead = f" after {facts['lead']} rounds" if facts.get("lead") else ""
        period, length = short(facts["period"]), short(facts["period_time"])
        every = "every round" if facts["period"] == 1 else f"every {period} rounds"
        line(f"the cohorts repeat {every}, that is every {length}{lead}")
        line(
            f"window W {short(facts['window'])}, largest delay {short(facts['largest_delay'])}, "
            f"share of empty rounds {short(facts['empty_share'])}"
        )
        shares = facts["shares"]
        if shares is not None:
            cells = [
                # the weight that makes a client of importance 1/M count as 1/M over a period
                [str(i), short(t), short(share), short(1 / (share * count))]
                for i, (t, share) in enumerate(zip(own.values, shares, strict=True))
            ]
            line()
            table(["client", "time", "share of rounds", "time-based weight"], cells[:MAX_CLIENTS_SHOWN])
            if count > MAX_CLIENTS_SHOWN:
                line(f"(and {count - MAX_CLIENTS_SHOWN} more clients)")
    else:
        line(f"exponential times, drawn with seed {seed}: delays have no bound, and nothing repeats")
    line()
    drawn = timed.timetable(count, facts["timetable"]["rounds"], seed)
    table(["round", "aggregation", "client:delay"], drawn.inspect())
    line()
