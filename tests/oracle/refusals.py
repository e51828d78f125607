"""What methods and the exact engine refuse: an input each in `refusals.json`, and the sentence.

An entry has the specification of a method (`spec`) and, where they are others than usual, the `problem` ("own", a
number of clients on the line, or a specification), and `how` it is carried out: parameters of `run`, or "limit" or
"converges". At most three entries end at one place of the code.

Not reached by a specification, and so not here:
- what `build` refuses earlier by its own checks: values that parts check again (counts below 1, words of the control
  variates, of the correction, of ties), empty updates of a client optimiser, a round that starts below 0;
- compositions that no kind has: a correction beside a momentum or models that clients keep, averaged models beside
  another part, momentum of two sorts, models that are kept under partial participation, drawn numbers of steps beside a
  further part, exact solves with a momentum;
- parts and kinds of plug-ins (`own_parts`), which need an installed package;
- timetables that are too long or large, which the sampled engine and `schedule` ask for;
- runs that take long: fractions of too many digits, too many histories or gradients of samples on other problems;
- metrics of rounds that the engine refuses after it has checked their names, where no row was found;
- states that are not unique or not enclosed, sets of cohorts without a law: no known input.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from boundcheck.engines.exact import stationary
from boundcheck.engines.exact.growing import stays_away
from boundcheck.engines.run import run
from boundcheck.errors import BoundcheckError
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem, clients_of
from tests.oracle import options
from tests.oracle.frozen import load

LONGEST = 240  # characters of a sentence that are written out
GIVEN = ("spec", "problem", "how")


@cache
def entries() -> Mapping[str, Mapping[str, Any]]:
    return load("refusals")


def _problem(given: Any, kind: str) -> Problem:
    if isinstance(given, int):
        clients = [{"components": [{"A": [[1]], "b": [i]}]} for i in range(given)]
        return build_problem({"kind": "quadratics", "clients": clients, "start": [1]})
    if isinstance(given, str):
        return options.problem_of(kind, given)
    return build_problem(given)


def sentence(entry: Mapping[str, Any]) -> str:
    """The kind of error and what it says; "carried out" if there is none."""
    given, how = entry.get("problem", "samples"), entry.get("how", {})
    try:
        method = build_method(entry["spec"])
        problem = _problem(given, entry["spec"]["kind"])
        method.check(clients_of(problem), getattr(problem, "dim", None))
        if how == "limit":
            stationary(method, problem)
        elif how == "converges":
            stays_away(method, problem)
        else:
            asked: dict[str, Any] = {"rounds": 2, "metrics": options.METRICS, "arithmetic": "rational", **how}
            run(method, problem, **asked)
    except BoundcheckError as error:
        found = f"{type(error).__name__}: {error}"
        return found if len(found) <= LONGEST else f"{found[:LONGEST]}... {options.digest_of(found)}"
    return "carried out"


def described() -> dict[str, dict[str, Any]]:
    """Entry -> its fields, carried out afresh."""
    return {
        name: {**{key: entry[key] for key in GIVEN if key in entry}, "sentence": sentence(entry)}
        for name, entry in entries().items()
    }
