"""Timetables of methods whose clients have update times: who contributes to each aggregation, and with which delay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.build import build
from boundcheck.methods.parts import Timed
from boundcheck.methods.schedules import Exponential, Fixed
from boundcheck.problems._own_data import load_specification
from boundcheck.problems.build import build as build_problem

SHOWN = 40  # rounds of a timetable by default, unless a period is shorter

# policy of the server -> the kind of method
POLICIES = {"sync": "fedavg_sync", "async": "fedavg_async", "fedfix": "fedfix", "fedbuff": "fedbuff"}
NEEDS = {"fedfix": ("--dt", "dt"), "fedbuff": ("--buffer", "m")}  # the option of a policy that has no default
_OF_SCHEDULE = ("kind", "times", "dt", "m", "ties")

Named = tuple[str, Timed, int]  # name, participation with times, number of clients


def from_options(times: str, policy: str, given: Mapping[str, str], clients: int | None) -> Named:
    """The participation of update times in text and a policy; given: dt, m and ties in text, empty where not given.

    times: "1,2,7/2" (one a client), "f0", "f80", "f80_literal", "spread:RATIO" or "exponential:RATE,RATE,...". Raises
    UnknownName and BadInput.
    """
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


def from_file(path: Path, clients: int | None) -> list[Named]:
    """Those of the [method] table, with `clients = ...` beside it, and of each claim whose clients have times."""
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
    problem: Any = table.get("problem")
    return build_problem(problem).clients if isinstance(problem, dict) else None


def facts(name: str, timed: Timed, count: int, rounds: int | None, seed: int) -> dict[str, Any]:
    """A timetable, JSON-able: times or rates, what is known of its period, and its first rounds.

    rounds: how many (None: the rounds before the period and one period, at most `SHOWN`). seed: of exponential times.
    """
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
    try:
        return of()
    except Unsupported:
        return None
